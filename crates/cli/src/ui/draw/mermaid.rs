//! The graph as a Mermaid flowchart.
//!
//! Mermaid itself refuses charts of more than 500 edges unless its host allows more.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::chart::Chart;
use super::label::{Charset, label};

/// A flowchart from the first boxes down, without edges that others imply. The boxes of the
/// critical path are of the class `critical`, and the edges between them are drawn like it.
pub(crate) fn mermaid(chart: &Chart) -> String {
    let critical = &chart.critical;
    let mut text = "flowchart TD\n".to_owned();
    for at in 0..chart.len() {
        let label = label(chart, at, usize::MAX, Charset::Unicode);
        _ = writeln!(text, "    n{at}[\"{}\"]", escape(&label));
    }
    let steps: BTreeSet<(usize, usize)> = critical.windows(2).map(|two| (two[0], two[1])).collect();
    let mut critical_edges = Vec::new();
    let mut n_edges = 0;
    for (at, before) in chart.before.iter().enumerate() {
        for to in before {
            _ = writeln!(text, "    n{to} --> n{at}");
            if steps.contains(&(*to, at)) {
                critical_edges.push(format!("{n_edges}"));
            }
            n_edges += 1;
        }
    }
    if !critical.is_empty() {
        let members: Vec<String> = critical.iter().map(|at| format!("n{at}")).collect();
        text.push_str("    classDef critical stroke:#c00,stroke-width:3px\n");
        _ = writeln!(text, "    class {} critical", members.join(","));
    }
    if !critical_edges.is_empty() {
        _ = writeln!(
            text,
            "    linkStyle {} stroke:#c00,stroke-width:3px",
            critical_edges.join(",")
        );
    }
    text
}

// Inside a quoted label Mermaid still reads quotes, HTML, entities, Markdown and `%%{…}` directives, so
// every ASCII sign that is not surely plain is written as an entity.
fn escape(label: &str) -> String {
    let mut escaped = String::with_capacity(label.len());
    for character in label.chars() {
        let plain = !character.is_ascii()
            || character.is_ascii_alphanumeric()
            || matches!(character, ' ' | '.' | ',' | '-' | '(' | ')' | '/' | ':');
        if plain {
            escaped.push(character);
        } else {
            _ = write!(escaped, "#{};", u32::from(character));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::super::tests::chart;
    use super::*;

    #[test]
    fn a_chart_shows_sprints_edges_and_the_critical_path() {
        let title = |id: &str| {
            let title = match id {
                "1.1" => "Setup",
                "1.2a" => "UI (Parallel)",
                "1.2b" => "API",
                _ => "",
            };
            title.to_owned()
        };
        assert_eq!(
            mermaid(&chart("1.1 1.2a 1.2b 1.3", title)),
            "flowchart TD
    n0[\"1.1 Setup\"]
    n1[\"1.2a UI (Parallel)\"]
    n2[\"1.2b API\"]
    n3[\"1.3\"]
    n0 --> n1
    n0 --> n2
    n1 --> n3
    n2 --> n3
    classDef critical stroke:#c00,stroke-width:3px
    class n0,n1,n3 critical
    linkStyle 0,2 stroke:#c00,stroke-width:3px
"
        );
    }

    #[test]
    fn a_hostile_title_stays_a_title() {
        let title = "x\"]\nn0 --> n1; <b>&amp;#35;`*%%{init}%%\\";
        assert_eq!(
            mermaid(&chart("1.1", |_| title.to_owned())),
            "flowchart TD\n    n0[\"1.1 x#34;#93; n0 --#62; n1#59; #60;b#62;#38;amp#59;#35;35#59;#96;#42;\
             #37;#37;#123;init#125;#37;#37;#92;\"]\n    classDef critical stroke:#c00,stroke-width:3px\n    class n0 critical\n"
        );
    }

    #[test]
    fn an_empty_plan_is_an_empty_chart() {
        assert_eq!(mermaid(&chart("", |_| String::new())), "flowchart TD\n");
    }
}

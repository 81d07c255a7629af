//! The graph in Graphviz's language.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::chart::Chart;
use super::label::{Charset, label};

/// A digraph from the first boxes down, without edges that others imply; the critical path is red.
pub(crate) fn dot(chart: &Chart) -> String {
    const RED: &str = "color=\"#cc0000\", penwidth=2";
    let critical = &chart.critical;
    let members: BTreeSet<usize> = critical.iter().copied().collect();
    let steps: BTreeSet<(usize, usize)> = critical.windows(2).map(|two| (two[0], two[1])).collect();
    let mut text = format!("digraph {} {{\n    node [shape=box];\n", chart.name);
    for at in 0..chart.len() {
        let label = label(chart, at, usize::MAX, Charset::Unicode);
        let style = if members.contains(&at) {
            format!(", {RED}")
        } else {
            String::new()
        };
        let label = escape(&label);
        _ = writeln!(text, "    n{at} [label=\"{label}\"{style}];");
    }
    for (at, before) in chart.before.iter().enumerate() {
        for to in before {
            let style = if steps.contains(&(*to, at)) {
                format!(" [{RED}]")
            } else {
                String::new()
            };
            _ = writeln!(text, "    n{to} -> n{at}{style};");
        }
    }
    text.push_str("}\n");
    text
}

// Graphviz reads backslash escapes and HTML entities in quoted labels.
fn escape(label: &str) -> String {
    label
        .replace('&', "&amp;")
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::super::tests::chart;
    use super::*;

    #[test]
    fn a_digraph_shows_sprints_edges_and_the_critical_path() {
        let title = |id: &str| match id {
            "1.1" => "Setup".to_owned(),
            "1.2a" => "UI".to_owned(),
            _ => String::new(),
        };
        assert_eq!(
            dot(&chart("1.1 1.2a 1.2b", title)),
            r##"digraph plan {
    node [shape=box];
    n0 [label="1.1 Setup", color="#cc0000", penwidth=2];
    n1 [label="1.2a UI", color="#cc0000", penwidth=2];
    n2 [label="1.2b"];
    n0 -> n1 [color="#cc0000", penwidth=2];
    n0 -> n2;
}
"##
        );
    }

    #[test]
    fn a_hostile_title_stays_a_title() {
        let title = "x\"]; n0 -> n9 \\N \\\n&quot;";
        assert_eq!(
            dot(&chart("1.1", |_| title.to_owned())),
            r##"digraph plan {
    node [shape=box];
    n0 [label="1.1 x\"]; n0 -> n9 \\N \\ &amp;quot;", color="#cc0000", penwidth=2];
}
"##
        );
    }
}

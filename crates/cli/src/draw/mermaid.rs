//! The graph as a Mermaid flowchart.
//!
//! Mermaid itself refuses charts of more than 500 edges unless its host allows more.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use beads_ralph_core::graph::{Node, SprintGraph};

use super::label::{Charset, label};

/// A flowchart from the first sprints down, without edges that others imply. The sprints of the
/// critical path are of the class `critical`, and the edges between them are drawn like it.
pub(crate) fn mermaid(
    graph: &SprintGraph,
    critical: &[Node],
    title: impl Fn(Node) -> String,
) -> String {
    let mut chart = "flowchart TD\n".to_owned();
    for node in graph.nodes() {
        let label = label(graph, node, &title(node), usize::MAX, Charset::Unicode);
        _ = writeln!(chart, "    n{}[\"{}\"]", node.index(), escape(&label));
    }
    let steps: BTreeSet<(Node, Node)> = critical.windows(2).map(|two| (two[0], two[1])).collect();
    let mut critical_edges = Vec::new();
    let mut n_edges = 0;
    for (node, dependencies) in graph.nodes().zip(graph.reduced()) {
        for dependency in dependencies {
            _ = writeln!(chart, "    n{} --> n{}", dependency.index(), node.index());
            if steps.contains(&(dependency, node)) {
                critical_edges.push(format!("{n_edges}"));
            }
            n_edges += 1;
        }
    }
    if !critical.is_empty() {
        let members: Vec<String> = critical
            .iter()
            .map(|node| format!("n{}", node.index()))
            .collect();
        chart.push_str("    classDef critical stroke:#c00,stroke-width:3px\n");
        _ = writeln!(chart, "    class {} critical", members.join(","));
    }
    if !critical_edges.is_empty() {
        _ = writeln!(
            chart,
            "    linkStyle {} stroke:#c00,stroke-width:3px",
            critical_edges.join(",")
        );
    }
    chart
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
    use super::super::tests::{critical, graph};
    use super::*;

    #[test]
    fn a_chart_shows_sprints_edges_and_the_critical_path() {
        let graph = graph("1.1 1.2a 1.2b 1.3");
        let title = |node: Node| ["Setup", "UI (Parallel)", "API", ""][node.index()].to_owned();
        assert_eq!(
            mermaid(&graph, &critical(&graph), title),
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
        let graph = graph("1.1");
        let title = "x\"]\nn0 --> n1; <b>&amp;#35;`*%%{init}%%\\";
        assert_eq!(
            mermaid(&graph, &[], |_| title.to_owned()),
            "flowchart TD\n    n0[\"1.1 x#34;#93; n0 --#62; n1#59; #60;b#62;#38;amp#59;#35;35#59;#96;#42;\
             #37;#37;#123;init#125;#37;#37;#92;\"]\n"
        );
    }

    #[test]
    fn an_empty_plan_is_an_empty_chart() {
        assert_eq!(
            mermaid(&graph(""), &[], |_| String::new()),
            "flowchart TD\n"
        );
    }
}

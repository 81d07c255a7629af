//! The graph in Graphviz's language.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use beads_ralph_core::graph::{Node, SprintGraph};

use super::label::{Charset, label};

/// A digraph from the first sprints down, without edges that others imply; the critical path is red.
pub(crate) fn dot(
    graph: &SprintGraph,
    critical: &[Node],
    title: impl Fn(Node) -> String,
) -> String {
    const RED: &str = "color=\"#cc0000\", penwidth=2";
    let members: BTreeSet<Node> = critical.iter().copied().collect();
    let steps: BTreeSet<(Node, Node)> = critical.windows(2).map(|two| (two[0], two[1])).collect();
    let mut text = "digraph plan {\n    node [shape=box];\n".to_owned();
    for node in graph.nodes() {
        let label = label(graph, node, &title(node), usize::MAX, Charset::Unicode);
        let style = if members.contains(&node) {
            format!(", {RED}")
        } else {
            String::new()
        };
        let label = escape(&label);
        _ = writeln!(text, "    n{} [label=\"{label}\"{style}];", node.index());
    }
    for (node, dependencies) in graph.nodes().zip(graph.reduced()) {
        for dependency in dependencies {
            let style = if steps.contains(&(dependency, node)) {
                format!(" [{RED}]")
            } else {
                String::new()
            };
            _ = writeln!(
                text,
                "    n{} -> n{}{style};",
                dependency.index(),
                node.index()
            );
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
    use super::super::tests::{critical, graph};
    use super::*;

    #[test]
    fn a_digraph_shows_sprints_edges_and_the_critical_path() {
        let graph = graph("1.1 1.2a 1.2b");
        let title = |node: Node| ["Setup", "UI", ""][node.index()].to_owned();
        assert_eq!(
            dot(&graph, &critical(&graph), title),
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
            dot(&graph("1.1"), &[], |_| title.to_owned()),
            r#"digraph plan {
    node [shape=box];
    n0 [label="1.1 x\"]; n0 -> n9 \\N \\ &amp;quot;"];
}
"#
        );
    }
}

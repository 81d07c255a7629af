//! Pictures of what waits for what: for a terminal, for Mermaid and for Graphviz.
//!
//! Everything here is a function from a chart to a string. Titles are foreign text: they are made
//! harmless for each target before they are drawn, and no title can add a node, an edge or a line.
//! The critical path is handed in, because only the caller knows the weights.

mod chart;
mod dot;
mod label;
mod mermaid;
mod picture;
mod text;
mod waves;

pub(crate) use chart::{Chart, Labelled};
pub(crate) use label::{Charset, columns, cut};
pub(crate) use text::TextOptions;

use crate::args::GraphFormat;
use crate::ui::{Stream, Ui};

/// How many characters of a title a picture takes at the most.
const MAX_TITLE: usize = 200;

pub(crate) fn title(text: &str) -> String {
    text.chars().take(MAX_TITLE).collect()
}

/// A chart in the chosen form for people, or for other programs' input. The text below it is for people only.
pub(crate) fn drawn(chart: &Chart, format: GraphFormat, below: &str, ui: &Ui) -> String {
    match format {
        GraphFormat::Mermaid => mermaid::mermaid(chart),
        GraphFormat::Dot => dot::dot(chart),
        GraphFormat::Text | GraphFormat::Json => {
            let style = ui.style(Stream::Out);
            let options = TextOptions {
                width: style.width,
                unicode: style.unicode,
            };
            let mut text = text::text(chart, options);
            text.push_str(below);
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use beads_ralph_core::graph::compile;
    use beads_ralph_core::number::SprintId;

    use super::Chart;

    /// The chart of ids between spaces; the critical path is the longest chain.
    pub(super) fn chart(ids: &str, title: impl Fn(&str) -> String) -> Chart {
        let parse = |id| SprintId::parse(id).unwrap();
        let ids: Vec<SprintId> = ids.split_whitespace().map(parse).collect();
        let graph = compile(&ids).unwrap();
        let critical = graph.critical_path(|_| 1);
        Chart::of_sprints(&graph, &critical, |node| title(graph.id(node).as_str()))
    }
}

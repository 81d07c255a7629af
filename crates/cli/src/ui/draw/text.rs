//! A chart for a terminal: a picture where it fits, and always the waves and the critical path.

use super::chart::Chart;
use super::label::Charset;
use super::picture::picture;
use super::waves;

// Nothing useful fits fewer columns, so narrower terminals get wrapped lines.
const MIN_WIDTH: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextOptions {
    /// The columns that a line may take; at least 20 are used.
    pub(crate) width: usize,
    /// Whether lines and titles may leave ASCII.
    pub(crate) unicode: bool,
}

/// The picture, the table of waves and the critical path. When the chart is too large or too wide
/// for a picture, a list of the waves takes the place of picture and table.
pub(crate) fn text(chart: &Chart, options: TextOptions) -> String {
    let charset = if options.unicode {
        Charset::Unicode
    } else {
        Charset::Ascii
    };
    let width = options.width.max(MIN_WIDTH);
    let mut text = match picture(chart, width, charset) {
        Some(picture) => {
            let table = waves::table(chart, width, charset);
            format!("{picture}\n{table}")
        }
        None => waves::list(chart, width, charset),
    };
    text.push_str(&waves::critical_line(chart, width, charset));
    text
}

#[cfg(test)]
mod tests;

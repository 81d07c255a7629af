//! Tables for a terminal: one row, one line.
//!
//! Cells are foreign text, so whatever steers a terminal is escaped. On a terminal the widest column that may
//! give way is cut until the row fits; in a pipe nothing gives way, because a program reads there, but a cell
//! has a limit all the same.

use std::fmt::Display;

use beads_ralph_core::text::visible;

use crate::ui::draw::{Charset, columns, cut};
use crate::ui::{Stream, Ui, page_width};

/// What a cell takes at the most where nothing else limits it.
const MAX_CELL: usize = 200;

/// What a line outside of a table takes at the most where nothing else limits it.
const MAX_LINE: usize = 1000;

/// What a column that gives way keeps at the least.
const MIN_CELL: usize = 10;

const GAP: &str = "  ";

/// How far names push the values beside them to the right at the most.
const MAX_NAME: usize = 60;

/// Rows below a heading.
#[derive(Debug)]
pub(crate) struct Table {
    heads: Vec<Head>,
    rows: Vec<Vec<String>>,
}

#[derive(Debug, Clone)]
struct Head {
    name: &'static str,
    gives_way: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Page {
    /// The columns that a row may take; nothing limits it in a pipe.
    pub(crate) width: Option<usize>,
    pub(crate) charset: Charset,
    pub(crate) is_bold: bool,
}

impl Page {
    /// The page that standard output is.
    pub(crate) fn of(ui: &Ui) -> Self {
        let style = ui.style(Stream::Out);
        Self {
            width: page_width(),
            charset: if style.unicode {
                Charset::Unicode
            } else {
                Charset::Ascii
            },
            is_bold: style.color,
        }
    }

    /// A text of others on one line, no wider than the page.
    pub(crate) fn line(self, text: &str) -> String {
        self.shown(text, self.width.unwrap_or(MAX_LINE))
    }

    /// A text of others on one line, no wider than a limit.
    fn shown(self, text: &str, max: usize) -> String {
        // Characters take a column or more, so no more of them are looked at; a text may be huge.
        let start: String = text.chars().take(max + 1).collect();
        let text = visible(&start);
        let text = match self.charset {
            Charset::Unicode => text,
            Charset::Ascii => text.replace(|c: char| !c.is_ascii(), "?"),
        };
        cut(&text, max, self.charset)
    }
}

impl Table {
    /// A table with these columns; those whose name ends with `…` become narrower if necessary.
    pub(crate) fn new(names: &[&'static str]) -> Self {
        let head = |name: &&'static str| Head {
            name: name.trim_end_matches('…'),
            gives_way: name.ends_with('…'),
        };
        Self {
            heads: names.iter().map(head).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row with as many cells as there are columns.
    pub(crate) fn row(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.heads.len(), "a cell for each column");
        self.rows.push(cells);
    }

    /// The table as text; nothing when there are no rows.
    pub(crate) fn draw(&self, page: Page) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let mut columns = Columns::of(self.heads.clone());
        for row in &self.rows {
            columns.measure(row, page);
        }
        let mut text = columns.head(page);
        for row in &self.rows {
            text.push_str(&columns.row(row, page));
        }
        text
    }
}

/// The columns of a table whose rows are not kept: each is measured first and drawn later.
#[derive(Debug)]
pub(crate) struct Columns {
    heads: Vec<Head>,
    widths: Vec<usize>,
}

impl Columns {
    /// Columns named as those of a table are.
    pub(crate) fn new(names: &[&'static str]) -> Self {
        Self::of(Table::new(names).heads)
    }

    fn of(heads: Vec<Head>) -> Self {
        let widths = heads.iter().map(|head| columns(head.name)).collect();
        Self { heads, widths }
    }

    pub(crate) fn measure(&mut self, cells: &[String], page: Page) {
        for (width, cell) in self.widths.iter_mut().zip(cells) {
            *width = (*width).max(columns(&page.shown(cell, MAX_CELL)));
        }
    }

    /// The heading, once all rows are measured.
    pub(crate) fn head(&mut self, page: Page) -> String {
        self.give_way(page);
        let heads: Vec<String> = self.heads.iter().map(|head| head.name.to_owned()).collect();
        let head = drawn(&heads, &self.widths, page);
        if page.is_bold {
            format!("\u{1b}[1m{head}\u{1b}[0m\n")
        } else {
            format!("{head}\n")
        }
    }

    pub(crate) fn row(&self, cells: &[String], page: Page) -> String {
        let shown = cells.iter().map(|cell| page.shown(cell, MAX_CELL));
        let shown: Vec<String> = shown.collect();
        drawn(&shown, &self.widths, page) + "\n"
    }

    /// Makes columns narrower until a row fits the page.
    fn give_way(&mut self, page: Page) {
        let Some(page) = page.width else {
            return;
        };
        let gaps = GAP.len() * self.widths.len().saturating_sub(1);
        let mut excess = (self.widths.iter().sum::<usize>() + gaps).saturating_sub(page);
        while excess > 0 {
            let widest = (self.widths.iter_mut().zip(&self.heads))
                .filter(|(width, head)| head.gives_way && **width > MIN_CELL)
                .map(|(width, _)| width)
                .max();
            let Some(width) = widest else {
                break;
            };
            *width -= 1;
            excess -= 1;
        }
    }
}

/// Names and values in two columns without a heading, one pair a line.
pub(crate) fn pairs<N, V>(
    rows: impl IntoIterator<Item = (N, V)>,
    indent: &str,
    page: Page,
) -> String
where
    N: AsRef<str>,
    V: Display,
{
    let rows: Vec<(N, V)> = rows.into_iter().collect();
    let width = rows.iter().map(|(name, _)| columns(name.as_ref())).max();
    let width = width.unwrap_or(0).min(MAX_NAME);
    let line = |(name, value): &(N, V)| {
        let name = name.as_ref();
        page.line(&format!("{indent}{name:<width$}{GAP}{value}")) + "\n"
    };
    rows.iter().map(line).collect()
}

fn drawn(cells: &[String], widths: &[usize], page: Page) -> String {
    let mut line = String::new();
    for (at, (cell, width)) in cells.iter().zip(widths).enumerate() {
        if at > 0 {
            line.push_str(GAP);
        }
        let cell = cut(cell, *width, page.charset);
        let room = width.saturating_sub(columns(&cell));
        line.push_str(&cell);
        line.extend(std::iter::repeat_n(' ', room));
    }
    let line = line.trim_end();
    // Columns that do not give way can still be wider than the page.
    page.width
        .map_or_else(|| line.to_owned(), |width| cut(line, width, page.charset))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(width: Option<usize>) -> Page {
        Page {
            width,
            charset: Charset::Unicode,
            is_bold: false,
        }
    }

    fn table(rows: &[[&str; 3]]) -> Table {
        let mut table = Table::new(&["ID", "TITLE…", "TYPE"]);
        for row in rows {
            table.row(row.iter().map(|&cell| cell.to_owned()).collect());
        }
        table
    }

    #[test]
    fn a_table_fits_its_page_and_only_the_title_is_cut() {
        let table = table(&[
            ["bd-1", "A title that is rather long", "task"],
            ["bd-22", "日本語の題名です", "bug"],
        ]);
        assert_eq!(
            table.draw(page(Some(27))),
            "ID     TITLE           TYPE\n\
             bd-1   A title that…   task\n\
             bd-22  日本語の題名…   bug\n",
        );
        for width in 1..60 {
            for line in table.draw(page(Some(width))).lines() {
                assert!(columns(line) <= width, "{width}: {line}");
            }
        }
    }

    #[test]
    fn a_pipe_gets_whole_titles_up_to_a_limit() {
        let long = "x".repeat(150);
        let drawn = table(&[["a", &long, "t"]]).draw(page(None));
        assert!(drawn.contains(&long));
        let huge = "x".repeat(1_000_000);
        let drawn = table(&[["a", &huge, "t"]]).draw(page(None));
        assert!(drawn.len() < 1000 && drawn.contains('…'));
    }

    #[test]
    fn a_cell_is_one_harmless_line() {
        let drawn = table(&[["a", "x\ny\u{1b}[31m\u{202e}", "t"]]).draw(page(None));
        assert_eq!(drawn.lines().count(), 2);
        assert!(drawn.contains("x\\ny\\u{1b}[31m\\u{202e}"), "{drawn}");
    }

    #[test]
    fn no_rows_are_no_table() {
        assert_eq!(table(&[]).draw(page(Some(80))), "");
    }
}

//! How the face prints: text for people, and JSON as Go writes it.

use beads_ralph_core::text::visible_lines;
use serde::Serialize;

use super::Refusal;
use super::go_json::{SCHEMA_VERSION, encode, wrapped};
use crate::ui;

#[derive(Debug, Clone, Copy)]
pub(super) struct Output {
    pub(super) is_json: bool,
    pub(super) is_envelope: bool,
    pub(super) is_quiet: bool,
}

impl Output {
    pub(super) fn is_json(self) -> bool {
        self.is_json
    }

    /// Prints text for people. Beads hold text of others, so whatever could steer a terminal is shown escaped (C-11).
    #[expect(clippy::unused_self, reason = "whoever prints does it through this")]
    pub(super) fn text(self, text: &str) -> Result<(), Refusal> {
        Ok(ui::raw_out(&visible_lines(text))?)
    }

    /// Prints text with marks of ours for a terminal. Whoever puts text of others into it escapes that.
    #[expect(clippy::unused_self, reason = "whoever prints does it through this")]
    pub(super) fn styled(self, text: &str) -> Result<(), Refusal> {
        Ok(ui::raw_out(text)?)
    }

    /// Prints JSON that is already encoded. Programs read it, so it stays as it is.
    #[expect(clippy::unused_self, reason = "whoever prints does it through this")]
    pub(super) fn encoded(self, json: &str) -> Result<(), Refusal> {
        Ok(ui::raw_out(json)?)
    }

    /// Prints text unless nobody wants to hear it.
    pub(super) fn say(self, text: &str) -> Result<(), Refusal> {
        if self.is_quiet {
            return Ok(());
        }
        self.text(text)
    }

    /// Prints text for people on standard error, escaped as [`Output::text`] does it.
    #[expect(clippy::unused_self, reason = "whoever prints does it through this")]
    pub(super) fn aside(self, text: &str) {
        ui::raw_err(&visible_lines(text));
    }

    #[expect(clippy::unused_self, reason = "whoever prints does it through this")]
    pub(super) fn encoded_aside(self, json: &str) {
        ui::raw_err(json);
    }

    /// Prints an answer: an object or a list.
    pub(super) fn value(self, answer: impl Serialize) -> Result<(), Refusal> {
        self.encoded(&encode(&wrapped(answer, self.is_envelope)))
    }

    /// Prints an answer as JSON if that was asked for, and its text otherwise.
    pub(super) fn answer(
        self,
        answer: impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<(), Refusal> {
        if self.is_json {
            self.value(answer)
        } else {
            self.text(&text())
        }
    }

    /// Prints a list item by item, as [`value`](Self::value) would print it as a whole.
    pub(super) fn list(self) -> List {
        List {
            is_envelope: self.is_envelope,
            is_begun: false,
            pending: String::new(),
        }
    }

    /// Prints a list of which there is more than is shown.
    pub(super) fn page<T: Serialize>(self, items: &[T], total: usize) -> Result<(), Refusal> {
        #[derive(Serialize)]
        struct Page<'i, T> {
            data: &'i [T],
            pagination: Pagination,
            schema_version: u64,
        }
        #[derive(Serialize)]
        struct Pagination {
            returned: usize,
            total: usize,
            truncated: bool,
        }
        if !self.is_envelope {
            return self.value(items);
        }
        let pagination = Pagination {
            returned: items.len(),
            total,
            truncated: true,
        };
        self.encoded(&encode(&Page {
            data: items,
            pagination,
            schema_version: SCHEMA_VERSION,
        }))
    }
}

/// A list that is printed as it comes.
pub(super) struct List {
    is_envelope: bool,
    is_begun: bool,
    /// What is not printed yet: each call of the system costs.
    pending: String,
}

/// From how many bytes on a list is printed on.
const PRINTED_AT_ONCE: usize = 64 * 1024;

impl List {
    pub(super) fn items(&mut self, items: &[impl Serialize]) -> Result<(), Refusal> {
        let indent = if self.is_envelope { "    " } else { "  " };
        for item in items {
            let before = match (self.is_begun, self.is_envelope) {
                (true, _) => ",\n",
                (false, true) => "{\n  \"data\": [\n",
                (false, false) => "[\n",
            };
            self.is_begun = true;
            self.pending.push_str(before);
            let text = encode(item);
            let mut lines = text.lines();
            if let Some(first) = lines.next() {
                self.pending.push_str(indent);
                self.pending.push_str(first);
            }
            for line in lines {
                self.pending.push('\n');
                self.pending.push_str(indent);
                self.pending.push_str(line);
            }
        }
        if self.pending.len() >= PRINTED_AT_ONCE {
            ui::raw_out(&self.pending)?;
            self.pending.clear();
        }
        Ok(())
    }

    pub(super) fn end(self) -> Result<(), Refusal> {
        Ok(ui::raw_out(&self.ended())?)
    }

    fn ended(mut self) -> String {
        self.pending
            .push_str(match (self.is_begun, self.is_envelope) {
                (true, true) => "\n  ],\n  \"schema_version\": 1\n}\n",
                (true, false) => "\n]\n",
                (false, true) => "{\n  \"data\": [],\n  \"schema_version\": 1\n}\n",
                (false, false) => "[]\n",
            });
        self.pending
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_that_is_printed_as_it_comes_is_that_of_the_whole() {
        let items = [json!({"b": ["x\ny", {}, []], "a": {"c": 1}}), json!(1)];
        for is_envelope in [false, true] {
            let output = Output {
                is_json: true,
                is_envelope,
                is_quiet: false,
            };
            for n in 0..=items.len() {
                let mut list = output.list();
                list.items(&items[..n]).unwrap();
                let whole = encode(&wrapped(&items[..n], is_envelope));
                assert_eq!(list.ended(), whole);
            }
        }
    }
}

//! How the face answers: text for people, JSON as Go writes it, and errors in the real `bd`'s ways: where they are written, in which form,
//! and with which exit code.

use beads_ralph_core::text::visible_lines;
use beads_ralph_runtime::store::StoreError;
use serde::Serialize;

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

    /// Prints text unless `--quiet` was given.
    pub(super) fn say(self, text: &str) -> Result<(), Refusal> {
        if self.is_quiet {
            return Ok(());
        }
        self.text(text)
    }

    /// Prints text for people on standard error, escaped as [`Output::text`] does it.
    #[expect(clippy::unused_self, reason = "whoever prints does it through this")]
    pub(super) fn stderr(self, text: &str) {
        ui::raw_err(&visible_lines(text));
    }

    #[expect(clippy::unused_self, reason = "whoever prints does it through this")]
    pub(super) fn encoded_stderr(self, json: &str) {
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

/// Why a command did not do what was asked.
#[derive(Debug)]
pub(super) struct Refusal {
    message: String,
    hint: Option<String>,
    way: Way,
    code: u8,
}

/// Where a refusal is printed, and in which form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// `Error: …` on standard error, also when JSON was asked for.
    Plain,
    /// The same, or an object on standard output when JSON was asked for.
    Json,
    /// The same, or an object on standard error when JSON was asked for.
    JsonOnStderr,
    /// Everything was printed before.
    Silent,
}

impl Refusal {
    /// A text on standard error, whatever form was asked for.
    pub(super) fn plain(message: impl Into<String>) -> Self {
        Self::new(message.into(), Way::Plain)
    }

    /// A text on standard error, or an object on standard output.
    pub(super) fn json(message: impl Into<String>) -> Self {
        Self::new(message.into(), Way::Json)
    }

    /// A text on standard error, or an object on standard error.
    pub(super) fn json_on_stderr(message: impl Into<String>) -> Self {
        Self::new(message.into(), Way::JsonOnStderr)
    }

    /// An exit code and nothing else.
    pub(super) fn silent(code: u8) -> Self {
        Self {
            code,
            ..Self::new(String::new(), Way::Silent)
        }
    }

    /// Something that the real `bd` has and we do not.
    pub(super) fn not_served(what: &str) -> Self {
        Self::plain(format!(
            "beads-ralph's bd does not serve {what}; see `beads-ralph bd --help` for what it serves"
        ))
    }

    fn new(message: String, way: Way) -> Self {
        Self {
            message,
            hint: None,
            way,
            code: 1,
        }
    }

    /// The same as a text on standard error, whatever form was asked for.
    #[must_use]
    pub(super) fn plainly(mut self) -> Self {
        self.way = Way::Plain;
        self
    }

    /// The same as a text on standard error, or an object on standard output.
    #[must_use]
    pub(super) fn in_json(mut self) -> Self {
        self.way = Way::Json;
        self
    }

    #[must_use]
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(super) fn message(&self) -> &str {
        &self.message
    }

    /// Prints it, and gives the exit code.
    pub(super) fn print(&self, output: Output) -> u8 {
        match self.way {
            Way::Silent => {}
            // Standard output may be what is broken: then people read it.
            Way::Json if output.is_json() => {
                if output.encoded(&self.object(output)).is_err() {
                    output.encoded_stderr(&self.object(output));
                }
            }
            Way::JsonOnStderr if output.is_json() => output.encoded_stderr(&self.object(output)),
            Way::Plain | Way::Json | Way::JsonOnStderr => {
                output.stderr(&format!("Error: {}\n", self.message));
                if let Some(hint) = &self.hint {
                    output.stderr(&format!("Hint: {hint}\n"));
                }
            }
        }
        self.code
    }

    fn object(&self, output: Output) -> String {
        #[derive(Serialize)]
        struct Answer<'r> {
            error: &'r str,
            #[serde(skip_serializing_if = "Option::is_none")]
            hint: Option<&'r str>,
        }
        let answer = Answer {
            error: &self.message,
            hint: self.hint.as_deref(),
        };
        encode(&wrapped(answer, output.is_envelope))
    }
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotInitialized { .. } => Self::plain("no beads database found").hint(
                "run 'bd where' to inspect the resolved workspace, or 'bd init' to create a new database\n      or set BEADS_DIR to point to your .beads directory",
            ),
            error => Self::json(error.to_string()),
        }
    }
}

impl From<crate::failure::Failure> for Refusal {
    fn from(failure: crate::failure::Failure) -> Self {
        Self::json(failure.message().to_owned()).hint(failure.suggested_action().to_owned())
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

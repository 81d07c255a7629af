//! Errors in the real `bd`'s ways: where they are written, in which form, and with which exit code.

use beads_ralph_runtime::store::StoreError;
use serde::Serialize;

use super::Output;
use super::go_json::{encode, wrapped};

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
    JsonAside,
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
    pub(super) fn json_aside(message: impl Into<String>) -> Self {
        Self::new(message.into(), Way::JsonAside)
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
                    output.encoded_aside(&self.object(output));
                }
            }
            Way::JsonAside if output.is_json() => output.encoded_aside(&self.object(output)),
            Way::Plain | Way::Json | Way::JsonAside => {
                output.aside(&format!("Error: {}\n", self.message));
                if let Some(hint) = &self.hint {
                    output.aside(&format!("Hint: {hint}\n"));
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

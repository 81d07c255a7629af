//! `logging`, which older configurations have. It is checked and changes nothing: what a run did is kept with the run, under
//! `.beads/runs/`, and what people see goes to standard error.

use serde::Deserialize;

use super::values::Text;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LoggingKey {
    #[serde(rename = "level")]
    _level: Option<Level>,
    #[serde(rename = "format")]
    _format: Option<Format>,
    #[serde(rename = "file")]
    _file: Text,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    Json,
    Text,
}

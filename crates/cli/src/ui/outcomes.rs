//! What became of each bead of a command that takes several.
//!
//! Each bead is tried, whatever became of the others. When all went well the envelope has
//! `data.results`, else `error.results`: for each bead its `id`, whether it was done under the name of the deed (such as
//! `claimed`), and either its data or an `error` with `code` and `message`.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::failure::{ALREADY_CLAIMED, Failure};
use crate::ui::Ui;

/// A bead that something was done to: the message for people, and the data for programs.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) said: String,
    pub(crate) data: Map<String, Value>,
}

impl Done {
    /// What was done; `data` is written as an object.
    pub(crate) fn new(said: impl Into<String>, data: impl Serialize) -> Self {
        let data = match serde_json::to_value(data) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        Self {
            said: said.into(),
            data,
        }
    }
}

/// Tries each of several beads and reports on all of them.
pub(crate) fn each(
    ids: &[String],
    deed: &'static str,
    ui: &Ui,
    mut attempt: impl FnMut(&str) -> Result<Done, Failure>,
) -> Result<(), Failure> {
    let mut results = Vec::new();
    let mut failures = Vec::new();
    for id in ids {
        match attempt(id) {
            Ok(done) => {
                ui.out(&format!("{}\n", done.said))?;
                let mut result = result(id, deed, true);
                result.extend(done.data);
                results.push(Value::Object(result));
            }
            Err(failure) => {
                if ids.len() > 1 {
                    ui.complain(&failure.sentence());
                }
                let error = json!({"code": failure.code().as_str(), "message": failure.message()});
                let mut result = result(id, deed, false);
                result.insert("error".to_owned(), error);
                results.push(Value::Object(result));
                failures.push(failure);
            }
        }
    }
    let results = Value::Array(results);
    if failures.is_empty() {
        return if ui.is_json() {
            ui.data(&json!({"results": results}))
        } else {
            Ok(())
        };
    }
    Err(summary(failures, ids.len()).with_results(results))
}

fn result(id: &str, deed: &str, is_done: bool) -> Map<String, Value> {
    Map::from_iter([
        ("id".to_owned(), id.into()),
        (deed.to_owned(), is_done.into()),
    ])
}

/// One failure for all: the only one as it is, else the first with how many there are.
fn summary(failures: Vec<Failure>, n_all: usize) -> Failure {
    let n_failed = failures.len();
    let is_lost = failures
        .iter()
        .any(|failure| failure.exit_code() == ALREADY_CLAIMED);
    let details: Vec<String> = failures.iter().map(|f| f.message().to_owned()).collect();
    let Some(first) = failures.into_iter().next() else {
        unreachable!("there is a failure to sum up");
    };
    if n_all == 1 {
        return first;
    }
    let exit_code = if is_lost {
        ALREADY_CLAIMED
    } else {
        first.exit_code()
    };
    Failure::new(
        first.code(),
        format!("{n_failed} of {n_all} beads failed: {}", first.message()),
    )
    .details(details.join("\n"))
    .action(first.suggested_action())
    .exit_with(exit_code)
    .told()
}

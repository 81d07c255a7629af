//! What the checks of a bead came to, by run and attempt, and what its agents have cost.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::engine::Spent;
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::check::last_records;
use beads_ralph_runtime::run::RunDirectory;
use camino::Utf8Path;
use serde_json::{Value, json};

use crate::ui::format::milliseconds;
use crate::ui::table::Table;

/// What the beginning of the name of an attempt's directory is.
const ATTEMPT: &str = "attempt-";

/// The record of one check in one attempt of a run.
pub(super) struct Checked {
    run: String,
    attempt: u32,
    record: Value,
}

/// The checks of a bead that `run` has kept, oldest first; of an attempt those of its last verification.
pub(super) fn of_bead(beads: &Utf8Path, id: &BeadId) -> Vec<Checked> {
    let mut found = Vec::new();
    for run in RunDirectory::all(beads) {
        for attempt in attempts(&run, id) {
            let records = last_records(&run.attempt(id, attempt));
            let records = records.into_iter().flatten();
            found.extend(records.map(|record| Checked {
                run: run.id().to_owned(),
                attempt,
                record,
            }));
        }
    }
    found
}

/// The numbers of the attempts that a run kept something of.
fn attempts(run: &RunDirectory, id: &BeadId) -> Vec<u32> {
    let directory = run.attempt(id, 1);
    let entries = directory.parent().and_then(|it| it.read_dir_utf8().ok());
    let entries = entries.into_iter().flatten().flatten();
    let numbers = entries.filter_map(|it| it.file_name().strip_prefix(ATTEMPT)?.parse().ok());
    let mut numbers: Vec<u32> = numbers.collect();
    numbers.sort_unstable();
    numbers
}

impl Checked {
    fn text(&self, key: &str) -> &str {
        self.record[key].as_str().unwrap_or_default()
    }

    fn result(&self) -> &'static str {
        let is = |key: &str| self.record[key] == true;
        match (is("skipped"), is("passed"), is("timed_out")) {
            (true, _, _) => "skipped",
            (false, true, _) => "passed",
            (false, false, true) => "timed out",
            (false, false, false) => "failed",
        }
    }

    fn time_ms(&self) -> u64 {
        self.record["duration_ms"].as_u64().unwrap_or(0)
    }

    /// Why it failed, or what is worth knowing although it passed.
    fn remark(&self) -> &str {
        let said = [self.text("reason"), self.text("warning")];
        said.into_iter().find(|it| !it.is_empty()).unwrap_or("")
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "run": self.run,
            "attempt": self.attempt,
            "name": self.record["name"],
            "command": self.record["command"],
            "result": self.result(),
            "duration_ms": self.time_ms(),
            "remark": self.remark(),
        })
    }
}

pub(super) fn table(checks: &[Checked]) -> Table {
    let mut table = Table::new(&["TRY", "CHECK", "RESULT", "TIME", "COMMAND", "REMARK…"]);
    for check in checks {
        table.row(vec![
            check.attempt.to_string(),
            excerpt(check.text("name")),
            check.result().to_owned(),
            milliseconds(check.time_ms()),
            excerpt(check.text("command")),
            excerpt(check.remark()),
        ]);
    }
    table
}

pub(super) fn cost_json(spent: &Spent) -> Value {
    json!({
        "usd": spent.usd(),
        "tokens": spent.tokens,
        "turns": spent.turns,
        "time_ms": spent.time_ms,
        "n_unpriced": spent.n_unpriced,
    })
}

//! `bd export`: beads as lines of JSON.

use beads_ralph_core::issue::{Query, Record};
use beads_ralph_runtime::os::files::{self, FileError};
use camino::Utf8Path;
use serde::Serialize;

use super::filter::INFRA_TYPES;
use super::import::MEMORY;
use super::{Call, Command, Filter, Opened, Refusal, go_json, issue_json, string, switch, texts};

pub(super) const COMMAND: Command = Command {
    name: "export",
    about: "Write beads as JSON lines",
    flags: &[
        switch(
            "all",
            "Everything: bookkeeping, templates, short-lived beads, memories",
        ),
        texts("exclude-owner", "Not what somebody created"),
        switch("include-infra", "Bookkeeping too"),
        string("output", "Write into a file").short('o'),
    ],
    not_served: &["include-memories", "no-memories", "scrub"],
    run: Some(run),
    ..Command::NONE
};

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let opened = call.open()?;
    let is_all = arguments.is_on("all");
    let mut filter = Filter {
        hides_templates: !is_all,
        hides_ephemeral: !is_all,
        ..Filter::default()
    };
    if !is_all && !arguments.is_on("include-infra") {
        filter.excluded_types = INFRA_TYPES.map(str::to_owned).to_vec();
    }
    let export = Export {
        opened: &opened,
        query: filter.query(),
        strangers: arguments.texts("exclude-owner"),
        is_all,
    };
    let Some(path) = arguments.filled("output") else {
        let mut pending = String::new();
        export.each(&mut |line| {
            pending.push_str(line);
            if pending.len() >= PRINTED_AT_ONCE {
                call.output.encoded(&pending)?;
                pending.clear();
            }
            Ok(())
        })?;
        return call.output.encoded(&pending);
    };
    let (n, n_memories) = write(call, path, &export)?;
    let memories = match n_memories {
        0 => String::new(),
        n => format!(" and {n} memories"),
    };
    call.output
        .stderr(&format!("Exported {n} issues{memories} to {path}\n"));
    Ok(())
}

/// From how many bytes on lines are printed on.
const PRINTED_AT_ONCE: usize = 64 * 1024;

struct Export<'o> {
    opened: &'o Opened,
    query: Query,
    /// Who created what is left out.
    strangers: &'o [String],
    is_all: bool,
}

impl Export<'_> {
    /// Gives one line after the other, and says how many beads and memories there were.
    fn each(
        &self,
        see: &mut dyn FnMut(&str) -> Result<(), Refusal>,
    ) -> Result<(usize, usize), Refusal> {
        let mut n = 0;
        self.opened.each(&self.query, |record| {
            let by = record.issue.text("created_by").unwrap_or_default();
            if self.strangers.iter().any(|stranger| stranger == by) {
                return Ok(());
            }
            n += 1;
            see(&line(self.opened, &record)?)
        })?;
        let n_memories = if self.is_all {
            memories(self.opened, see)?
        } else {
            0
        };
        Ok((n, n_memories))
    }
}

fn line(opened: &Opened, record: &Record) -> Result<String, Refusal> {
    let id = record.issue.id();
    let counts = opened.store.count_blocked_by(std::slice::from_ref(id))?;
    let n_dependents = counts.first().copied().unwrap_or_default();
    let comments = issue_json::comments(opened, id)?;
    let line = issue_json::exported(record, comments, n_dependents);
    Ok(go_json::encode_line(&line) + "\n")
}

#[derive(Serialize)]
struct Memory<'m, V> {
    _type: &'static str,
    key: &'m str,
    value: &'m V,
}

fn memories(
    opened: &Opened,
    see: &mut dyn FnMut(&str) -> Result<(), Refusal>,
) -> Result<usize, Refusal> {
    let mut rows = opened.store.controls(MEMORY)?;
    rows.sort_by(|a, b| a.key.cmp(&b.key));
    for row in &rows {
        let key = row.key.strip_prefix(MEMORY).unwrap_or_default();
        let line = Memory {
            _type: "memory",
            key,
            value: &row.value,
        };
        see(&(go_json::encode_line(&line) + "\n"))?;
    }
    Ok(rows.len())
}

fn write(call: &Call<'_>, path: &str, export: &Export<'_>) -> Result<(usize, usize), Refusal> {
    let place = call.here.join(Utf8Path::new(path));
    let folder = place.parent().filter(|folder| !folder.is_dir());
    if folder.is_some() {
        // The name of the file that is written first, as the real `bd` makes them.
        let (before, name) = path.rsplit_once('/').unwrap_or((".", path));
        let number = std::process::id();
        return Err(Refusal::json(format!(
            "failed to create output file: atomicfile: create temp: open {before}/.~{name}.{number}: no such file or directory"
        )));
    }
    let mut counts = (0, 0);
    files::write_atomic_with(&place, |write| -> Result<(), Unwritten> {
        counts = export.each(&mut |line| write(line).map_err(unwritten))?;
        Ok(())
    })
    .map_err(|Unwritten(refusal)| refusal)?;
    Ok(counts)
}

/// Why a file was not written.
struct Unwritten(Refusal);

impl From<Refusal> for Unwritten {
    fn from(refusal: Refusal) -> Self {
        Self(refusal)
    }
}

impl From<FileError> for Unwritten {
    fn from(error: FileError) -> Self {
        Self(unwritten(error))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "errors are mapped by it")]
fn unwritten(error: FileError) -> Refusal {
    Refusal::json(format!("failed to create output file: {error}"))
}

//! `bd export`: beads as lines of JSON.

use beads_ralph_core::issue::Record;
use beads_ralph_runtime::files;
use camino::Utf8Path;
use serde_json::{Value, json};

use super::call::{Call, Opened};
use super::failure::Refusal;
use super::filter::{Filter, INFRA_TYPES};
use super::import::MEMORY;
use super::tree::{Command, switch, text, texts};
use super::{issue_json, output};

/// The command.
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
        text("output", "Write into a file").short('o'),
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
    let mut records = filter.find(&opened)?;
    let strangers = arguments.texts("exclude-owner");
    let creator = |record: &Record| {
        let by = record
            .issue
            .text("created_by")
            .unwrap_or_default()
            .to_owned();
        !strangers.contains(&by)
    };
    records.retain(creator);
    let mut lines = lines(&opened, &records)?;
    let n_memories = if is_all {
        memories(&opened, &mut lines)?
    } else {
        0
    };
    let Some(path) = arguments.filled("output") else {
        return call.output.encoded(&lines);
    };
    write(call, path, &lines)?;
    let memories = match n_memories {
        0 => String::new(),
        n => format!(" and {n} memories"),
    };
    let n = records.len();
    call.output
        .aside(&format!("Exported {n} issues{memories} to {path}\n"));
    Ok(())
}

fn lines(opened: &Opened, records: &[Record]) -> Result<String, Refusal> {
    let ids: Vec<_> = records
        .iter()
        .map(|record| record.issue.id().clone())
        .collect();
    let counts = opened.store.count_blocked_by(&ids)?;
    let mut lines = String::new();
    for (record, n_dependents) in records.iter().zip(counts) {
        let id = record.issue.id();
        let comments = opened.store.comments(id)?;
        let comments = comments.iter().enumerate();
        let comments: Vec<Value> = comments
            .map(|(index, comment)| issue_json::comment(id, comment, index))
            .collect();
        let line = issue_json::exported(record, comments, n_dependents);
        lines.push_str(&output::encode_line(&Value::Object(line)));
        lines.push('\n');
    }
    Ok(lines)
}

fn memories(opened: &Opened, lines: &mut String) -> Result<usize, Refusal> {
    let mut rows = opened.store.controls(MEMORY)?;
    rows.sort_by(|a, b| a.key.cmp(&b.key));
    for row in &rows {
        let key = row.key.strip_prefix(MEMORY).unwrap_or_default();
        let line = json!({"_type": "memory", "key": key, "value": row.value});
        lines.push_str(&output::encode_line(&line));
        lines.push('\n');
    }
    Ok(rows.len())
}

fn write(call: &Call<'_>, path: &str, lines: &str) -> Result<(), Refusal> {
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
    files::write_atomic(&place, lines.as_bytes())
        .map_err(|error| Refusal::json(format!("failed to create output file: {error}")))
}

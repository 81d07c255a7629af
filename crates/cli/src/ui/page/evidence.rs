//! What lies beside a journal: what became of each check, and what each commit changed.

use std::collections::HashMap;
use std::fmt::Write as _;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::engine::CommitId;
use beads_ralph_runtime::git::Change;

use super::words::{escaped, short};
use crate::ui::format::{counted, milliseconds};
use crate::ui::kept_check::KeptCheck;

const MAX_FILES: usize = 40;

/// How much of what a check printed is shown, of its end.
const MAX_PRINTED: usize = 1500;

/// The evidence of a run; what is not there any more is left out.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// The records of the checks, by bead and by the place of the attempt.
    pub(crate) checks: HashMap<(BeadId, usize), Vec<KeptCheck>>,
    /// What differs from what the bead began from, by commit.
    pub(crate) changes: HashMap<CommitId, Vec<Change>>,
}

pub(super) fn files(page: &mut String, changes: &[Change]) {
    let count = |which: fn((u64, u64)) -> u64| -> u64 {
        changes.iter().filter_map(|it| it.lines).map(which).sum()
    };
    _ = writeln!(
        page,
        "<details><summary>{} changed, {} lines added, {} removed</summary><ul class=\"files\">",
        counted(changes.len(), "file", "files"),
        count(|it| it.0),
        count(|it| it.1)
    );
    for change in changes.iter().take(MAX_FILES) {
        let lines = match change.lines {
            Some((added, removed)) => format!("+{added} −{removed}"),
            None => "no text".to_owned(),
        };
        _ = writeln!(
            page,
            "<li><code>{}</code> {lines}</li>",
            escaped(&change.path)
        );
    }
    if changes.len() > MAX_FILES {
        _ = writeln!(page, "<li>{} more</li>", changes.len() - MAX_FILES);
    }
    page.push_str("</ul></details>\n");
}

pub(super) fn checks(page: &mut String, records: &[KeptCheck]) {
    page.push_str("<ul class=\"checks\">\n");
    for record in records {
        let word = record.result();
        let class = match word {
            "skipped" => "",
            "passed" => "good",
            _ => "bad",
        };
        _ = write!(
            page,
            "<li class=\"{class}\"><b>{word}</b> {} <code>{}</code> {} {}",
            short(&record.name, 80),
            short(&record.command, 200),
            milliseconds(record.duration_ms),
            escaped(record.remark())
        );
        if record.has_failed() {
            printed(page, &[&record.stdout, &record.stderr]);
        }
        page.push_str("</li>\n");
    }
    page.push_str("</ul>\n");
}

fn printed(page: &mut String, streams: &[&str]) {
    let text = streams.join("\n");
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    let start = text.char_indices().rev().nth(MAX_PRINTED - 1);
    let end = &text[start.map_or(0, |(at, _)| at)..];
    _ = write!(page, "<pre>{}</pre>", escaped(end));
}

//! `export`: all beads as JSON lines, as `bd` reads them, in order of their ids; then the notes that belong to none. Wisps
//! are left out unless they are asked for (F-10).
//!
//! Data: `{"lines": […]}`, or with `-o` `{"file", "beads": n, "memories": n}`.

use beads_ralph_core::issue::{Entry, is_wisp};
use beads_ralph_runtime::{files, repo};
use serde_json::{Value, json};

use super::import::MEMORY;
use crate::args::{ExportArgs, Global};
use crate::beads::Beads;
use crate::failure::Failure;
use crate::ui::{Ui, counted};

/// How often an export starts anew because somebody wrote meanwhile.
const TRIES: usize = 3;

/// The text of an export. Each bead is written when it is read, so that only the text is held as a whole.
#[derive(Default)]
struct Exported {
    text: String,
    n_beads: usize,
    n_memories: usize,
}

pub(crate) fn run(args: &ExportArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let beads = Beads::open(global)?;
    let exported = one_state(&beads, args.all, ui)?;
    let Some(path) = &args.output else {
        if ui.is_json() {
            let lines: Vec<Value> = (exported.text.lines())
                .filter_map(|line| serde_json::from_str(line).ok())
                .collect();
            return ui.data(&json!({"lines": lines}));
        }
        return ui.out(&exported.text);
    };
    files::write_atomic(path, exported.text.as_bytes())?;
    let (n_beads, n_memories) = (exported.n_beads, exported.n_memories);
    if ui.is_json() {
        return ui.data(&json!({"file": path, "beads": n_beads, "memories": n_memories}));
    }
    ui.say(&format!(
        "wrote {} to {}\n",
        counted(n_beads, "bead", "beads"),
        repo::shown(path)
    ));
    Ok(())
}

/// Everything as it was at one moment. The beads are read in parts, so the history tells whether they belong
/// together.
fn one_state(beads: &Beads, is_all: bool, ui: &Ui) -> Result<Exported, Failure> {
    let mut left = TRIES;
    loop {
        left -= 1;
        let before = beads.last_event()?;
        let exported = export(beads, is_all)?;
        let is_one_state = beads.store.changes(before, 1)?.is_empty();
        if is_one_state || left == 0 {
            if !is_one_state {
                ui.say("note: others wrote meanwhile; every bead is whole, and some may be newer than others\n");
            }
            return Ok(exported);
        }
    }
}

fn export(beads: &Beads, is_all: bool) -> Result<Exported, Failure> {
    let mut exported = Exported::default();
    beads.each(|record| {
        if is_wisp(&record.issue) && !is_all {
            return Ok(());
        }
        let id = record.issue.id();
        let n_dependents = beads.n_dependents(id)?;
        let entry = Entry {
            comments: beads.store.comments(id)?,
            fence: record.fence,
            issue: record.issue,
        };
        exported.line(&entry.to_line(n_dependents));
        exported.n_beads += 1;
        Ok(())
    })?;
    let mut memories = beads.store.controls(MEMORY)?;
    memories.sort_by(|a, b| a.key.cmp(&b.key));
    for memory in memories {
        let key = memory.key.strip_prefix(MEMORY).unwrap_or_default();
        exported.line(&json!({"_type": "memory", "key": key, "value": memory.value}));
        exported.n_memories += 1;
    }
    Ok(exported)
}

impl Exported {
    fn line(&mut self, value: &Value) {
        self.text.push_str(&value.to_string());
        self.text.push('\n');
    }
}

//! `export`: all beads as JSON lines, as `bd` reads them, in order of their ids; then the notes that belong to none. Wisps
//! are left out unless they are asked for (F-10).
//!
//! Data: `{"lines": […]}`, or with `-o` `{"file", "beads": n, "memories": n}`.

use std::ops::ControlFlow;

use beads_ralph_core::issue::{Entry, is_wisp};
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::os::files;
use beads_ralph_runtime::repo;
use camino::Utf8PathBuf;
use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};

use super::import::MEMORY;
use crate::args::Global;
use crate::failure::Failure;
use crate::ui::{Streamed, Ui, counted};

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The file to write, in one step; without it, standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<Utf8PathBuf>,
    /// Wisps too, which are left out because they are not meant to last
    #[arg(long)]
    pub(crate) all: bool,
}

/// From how many bytes on lines are printed on.
const PRINTED_AT_ONCE: usize = 64 * 1024;

/// How much was exported.
#[derive(Default)]
struct Exported {
    n_beads: usize,
    n_memories: usize,
}

/// Who is given the lines of an export, one after the other.
type See<'s> = &'s mut dyn FnMut(Value) -> Result<ControlFlow<()>, Failure>;

pub(crate) fn run(args: &ExportArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let beads = global.open()?;
    let Some(path) = &args.output else {
        return print(&beads, args.all, ui);
    };
    let mut exported = Exported::default();
    files::write_atomic_with(path, |write| -> Result<(), Failure> {
        exported = export(&beads, args.all, &mut |line| {
            write(&format!("{line}\n"))?;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(())
    })?;
    let Exported {
        n_beads,
        n_memories,
    } = exported;
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

fn print(beads: &Beads, is_all: bool, ui: &Ui) -> Result<(), Failure> {
    if ui.is_json() {
        beads.look_over(&Beads::everything())?;
        let lines = Streamed::new(|see: &mut dyn FnMut(Value) -> ControlFlow<()>| {
            export(beads, is_all, &mut |line| Ok(see(line))).map(drop)
        });
        return lines.ended(ui.data(&Lines { lines: &lines }));
    }
    let mut text = String::new();
    export(beads, is_all, &mut |line| {
        text.push_str(&line.to_string());
        text.push('\n');
        if text.len() >= PRINTED_AT_ONCE {
            ui.out(&text)?;
            text.clear();
        }
        Ok(ControlFlow::Continue(()))
    })?;
    ui.out(&text)
}

/// The lines for programs.
#[derive(Serialize)]
struct Lines<L> {
    lines: L,
}

/// Everything as it is at one moment, bead by bead.
fn export(beads: &Beads, is_all: bool, see: See<'_>) -> Result<Exported, Failure> {
    let mut exported = Exported::default();
    let mut is_over = false;
    beads.each::<Failure>(&Beads::everything(), |record| {
        if is_wisp(&record.issue) && !is_all {
            return Ok(ControlFlow::Continue(()));
        }
        let id = record.issue.id();
        let n_dependents = beads.n_dependents(id)?;
        let entry = Entry {
            comments: beads.store.comments(id)?,
            fence: record.fence,
            issue: record.issue,
        };
        exported.n_beads += 1;
        let flow = see(entry.to_line(n_dependents))?;
        is_over = flow.is_break();
        Ok(flow)
    })?;
    let mut memories = beads.store.controls(MEMORY)?;
    memories.sort_by(|a, b| a.key.cmp(&b.key));
    for memory in memories {
        if is_over {
            break;
        }
        let key = memory.key.strip_prefix(MEMORY).unwrap_or_default();
        let line = json!({"_type": "memory", "key": key, "value": memory.value});
        exported.n_memories += 1;
        is_over = see(line)?.is_break();
    }
    Ok(exported)
}

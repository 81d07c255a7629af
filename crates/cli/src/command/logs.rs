//! `logs`: what agents and checks of a bead wrote.
//!
//! Data: `{bead, run, runs: [names], logs: [{log, bytes, path}]}` for the list, `{bead, run, log, text}` for one of them.

use beads_ralph_core::diag::{ErrorCode, did_you_mean};
use beads_ralph_core::text::{excerpt, visible, visible_lines};
use beads_ralph_runtime::files;
use beads_ralph_runtime::ralph::{Evidence, LogDirectory};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

use crate::args::{Global, LogsArgs};
use crate::failure::Failure;
use crate::table::{Page, Table};
use crate::ui::{self, Ui};
use crate::work;

struct Log {
    name: String,
    path: Utf8PathBuf,
    n_bytes: u64,
}

pub(crate) fn run(args: &LogsArgs, _: &Global, ui: &Ui) -> Result<(), Failure> {
    let ralph = work::project()?;
    beads_ralph_core::dod::check_name(&args.bead).map_err(|invalid| {
        Failure::new(ErrorCode::ValidationInvalidPattern, invalid.to_string())
    })?;
    let evidence = ralph.evidence(&args.bead);
    let (run, runs) = choose(&evidence, args)?;
    let logs = logs_in(run.path());
    let run_name = run.path().file_name().unwrap_or_default();
    let Some(wanted) = &args.log else {
        return list(&args.bead, run_name, &runs, &logs, ui);
    };
    let log = find(&logs, wanted)?;
    let bytes = files::read_kept(&log.path)?;
    let text = String::from_utf8_lossy(&bytes);
    if ui.is_json() {
        return ui
            .data(&json!({"bead": args.bead, "run": run_name, "log": log.name, "text": text}));
    }
    if ui::page_width().is_some() {
        return ui.out(&visible_lines(&text));
    }
    ui.out(&text)
}

fn choose(evidence: &Evidence, args: &LogsArgs) -> Result<(LogDirectory, Vec<String>), Failure> {
    let mut runs = evidence.runs();
    let name = |run: &LogDirectory| run.path().file_name().unwrap_or_default().to_owned();
    let names: Vec<String> = runs.iter().map(name).collect();
    let index = match &args.run {
        None => names.len().checked_sub(1),
        Some(wanted) => names.iter().position(|name| name == wanted).or_else(|| {
            let back: usize = wanted.parse().ok()?;
            names.len().checked_sub(back.checked_add(1)?)
        }),
    };
    match index {
        Some(index) => Ok((runs.swap_remove(index), names)),
        None if names.is_empty() => {
            let bead = excerpt(&args.bead);
            let message = format!("nothing was run for '{bead}' here");
            let failure = Failure::new(ErrorCode::DependencyUnresolved, message);
            Err(failure.action("run `beads-ralph verify` or `beads-ralph exec` first"))
        }
        None => {
            let message = format!(
                "there is no such run; there are {}",
                visible(&names.join(", "))
            );
            Err(Failure::new(ErrorCode::DependencyUnresolved, message)
                .action("name one of them, or count back from the last"))
        }
    }
}

/// Every file below a directory, in the order in which things ran. Links are nobody's log, and may lead anywhere.
fn logs_in(root: &Utf8Path) -> Vec<Log> {
    let mut logs = Vec::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        let entries = directory.read_dir_utf8().into_iter().flatten().flatten();
        for entry in entries {
            let path = entry.path().to_owned();
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            if metadata.is_dir() {
                pending.push(path);
            } else if let Ok(name) = path.strip_prefix(root)
                && metadata.is_file()
            {
                logs.push(Log {
                    name: files::plain_name(name.as_str()).to_owned(),
                    n_bytes: metadata.len(),
                    path,
                });
            }
        }
    }
    logs.sort_by_key(|log| order(&log.name));
    logs
}

/// What was before the first attempt comes first, the tenth after the ninth, and the agent before its checks.
fn order(name: &str) -> (Vec<(bool, String, usize)>, String) {
    let part = |part: &str| {
        let digits = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = part[digits.len()..].parse().unwrap_or(0);
        (part != "before", digits.to_owned(), number)
    };
    (name.split('/').map(part).collect(), name.to_owned())
}

fn find<'a>(logs: &'a [Log], wanted: &str) -> Result<&'a Log, Failure> {
    if let Some(log) = logs.iter().find(|log| log.name == wanted) {
        return Ok(log);
    }
    let message = format!("there is no log '{}'", excerpt(wanted));
    let failure = Failure::new(ErrorCode::DependencyUnresolved, message);
    Err(
        match did_you_mean(wanted, logs.iter().map(|log| log.name.as_str())) {
            Some(near) => failure.action(format!("did you mean {}?", visible(near))),
            None => failure.action("see `beads-ralph logs BEAD` for the names"),
        },
    )
}

fn list(bead: &str, run: &str, runs: &[String], logs: &[Log], ui: &Ui) -> Result<(), Failure> {
    if ui.is_json() {
        let log = |log: &Log| json!({"log": log.name, "bytes": log.n_bytes, "path": log.path});
        let logs: Vec<Value> = logs.iter().map(log).collect();
        return ui.data(&json!({"bead": bead, "run": run, "runs": runs, "logs": logs}));
    }
    let mut table = Table::new(&["log…", "bytes"]);
    for log in logs {
        table.row(vec![log.name.clone(), log.n_bytes.to_string()]);
    }
    ui.say(&format!(
        "run {}, {} of {}\n",
        visible(run),
        runs.iter().position(|it| it == run).map_or(0, |n| n + 1),
        runs.len()
    ));
    ui.out(&table.draw(Page::of(ui)))
}

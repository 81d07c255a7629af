//! `doctor`: checks the store and its environment, and repairs the store.

mod agents;

use std::collections::{BTreeMap, HashSet};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::issue::{Entry, Line, read_line};
use beads_ralph_core::text::visible;
use beads_ralph_runtime::app::beads::Writer;
use beads_ralph_runtime::store::{self, CheckReport, Owner, Place, RepairReport, StoreError};
use beads_ralph_runtime::{config, os::files, repo};
use camino::Utf8Path;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::import::MEMORY;
use crate::args::Global;
use crate::args::here;
use crate::command::Access;
use crate::failure::Failure;
use crate::ui::format::list;
use crate::ui::{Ui, counted, lines};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct DoctorArgs {
    #[command(subcommand)]
    pub(crate) what: Option<DoctorCommand>,
    /// Rebuild the store from what can be read; the damaged file is kept
    #[arg(long)]
    pub(crate) repair: bool,
    /// The export with the beads that cannot be read (default: .beads/issues.jsonl)
    #[arg(long, value_name = "FILE", requires = "repair")]
    pub(crate) from: Option<camino::Utf8PathBuf>,
}

#[derive(Debug, Clone, Copy, Subcommand)]
pub(crate) enum DoctorCommand {
    /// Find agents, and ask their programs what they can do
    Agents,
}

impl DoctorArgs {
    pub(crate) fn access(&self) -> Access {
        if self.repair {
            Access::Administers
        } else {
            Access::Reads
        }
    }
}

/// The export that is looked for when none is named.
const EXPORT: &str = "issues.jsonl";

pub(crate) fn run(args: &DoctorArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    match args.what {
        Some(DoctorCommand::Agents) => agents::run(ui),
        None => look_over(args, global, ui),
    }
}

fn look_over(args: &DoctorArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let here = here()?;
    let root = repo::main_root_of(&here);
    // A configuration that cannot be read is somebody's next surprise.
    config::load(root.as_deref())?;
    let place = store::find(&here)?;
    let Some(doctor) = place.kind.doctor() else {
        return of_owner(&place, args, ui);
    };
    let (path, options) = (&place.database, store::options()?);
    let report = doctor.check(&place, options)?;
    if report.is_healthy() {
        return healthy(path, &report, ui);
    }
    if !args.repair {
        return Err(sick(path, &report, ui));
    }
    let export = export(args, &place)?;
    let by = global.writer();
    let repaired = doctor
        .repair(&place, export.entries, by.stamp(), options)
        .map_err(|error| {
            let is_busy = matches!(error, StoreError::Busy { .. });
            let failure = Failure::from(error);
            if is_busy {
                failure.action("stop what uses the store, then try again")
            } else {
                failure
            }
        })?;
    // Only a store that was rebuilt can lack what the export has.
    let memories = match &repaired {
        Some(_) => remember(export.memories, &place, &by)?,
        None => Vec::new(),
    };
    let after = doctor.check(&place, options)?;
    if !after.is_healthy() {
        return Err(sick(path, &after, ui));
    }
    match repaired {
        Some(repaired) => Mended { repaired, memories }.tell(path, &report, ui),
        None => healthy(path, &after, ui),
    }
}

/// Whether the program that owns the database answers and can be worked with. It looks after its database itself.
fn of_owner(place: &Place, args: &DoctorArgs, ui: &Ui) -> Result<(), Failure> {
    let owner = place.kind.find_owner(place)?;
    if args.repair {
        let message = "the database belongs to bd, which repairs it itself";
        return Err(
            Failure::new(ErrorCode::ValidationConstraint, message).action("run `bd doctor --fix`")
        );
    }
    let Owner {
        program,
        version,
        obstacle,
    } = owner;
    if let Some(obstacle) = obstacle {
        return Err(obstacle.into());
    }
    let n_beads = place.open()?.ids_with_prefix("", usize::MAX)?.len();
    if ui.is_json() {
        return ui.data(&json!({
            "store": place.directory, "keeper": "bd", "program": program, "version": version,
            "beads": n_beads,
        }));
    }
    ui.out(&format!(
        "{} is kept by bd {version} ({}), which answers: {}; `bd doctor` looks after its database\n",
        repo::shown(&place.directory),
        repo::shown(&program),
        counted(n_beads, "bead", "beads"),
    ))
}

fn healthy(path: &Utf8Path, report: &CheckReport, ui: &Ui) -> Result<(), Failure> {
    if ui.is_json() {
        return ui.data(&to_json(path, report, None));
    }
    ui.out(&format!(
        "{} is whole: {}, {}, every row is what was written and agrees with its history\n",
        repo::shown(path),
        counted(report.n_issues, "bead", "beads"),
        counted(report.n_events, "event", "events"),
    ))
}

fn sick(path: &Utf8Path, report: &CheckReport, ui: &Ui) -> Failure {
    let shown: Vec<String> = report
        .findings
        .iter()
        .map(|finding| visible(finding))
        .collect();
    ui.complain(&lines(
        shown.iter().map(|finding| format!("damage: {finding}")),
    ));
    let unlisted = report.n_findings.saturating_sub(shown.len());
    if unlisted > 0 {
        ui.complain(&format!("damage: and {unlisted} more\n"));
    }
    let error = StoreError::Damaged {
        path: path.to_owned(),
        what: counted(report.n_findings, "finding", "findings"),
    };
    Failure::new(error.code(), error.to_string())
        .details(shown.join("\n"))
        .action("stop what uses the store, then run `beads-ralph doctor --repair`; the damaged file is kept")
}

/// What the last export has.
#[derive(Default)]
struct Export {
    entries: BTreeMap<BeadId, Entry>,
    memories: BTreeMap<String, String>,
}

/// Reads the last export: a file that was named must be there, the usual one may be.
fn export(args: &DoctorArgs, place: &Place) -> Result<Export, Failure> {
    let usual = place.directory.join(EXPORT);
    let path = match &args.from {
        Some(path) => path,
        None if usual.exists() => &usual,
        None => return Ok(Export::default()),
    };
    let bytes = files::read(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut export = Export::default();
    for (index, line) in text.lines().enumerate() {
        match read_line(line) {
            Ok(Line::Issue(entry)) => {
                drop(export.entries.insert(entry.issue.id().clone(), *entry));
            }
            Ok(Line::Memory { key, value }) => drop(export.memories.insert(key, value)),
            Ok(Line::Nothing) => {}
            Err(errors) => {
                let what = errors.first().map_or_else(String::new, ToString::to_string);
                let message = format!("{}:{}: {what}", repo::shown(path), index + 1);
                return Err(Failure::new(ErrorCode::ValidationBeadSchema, message)
                    .action("correct the line, or name another export with --from"));
            }
        }
    }
    Ok(export)
}

/// Puts back the notes that belong to no bead and are gone. One that is there may be newer than the export.
fn remember(
    memories: BTreeMap<String, String>,
    place: &Place,
    by: &Writer,
) -> Result<Vec<String>, Failure> {
    if memories.is_empty() {
        return Ok(Vec::new());
    }
    let mut store = place.open()?;
    let known = store.controls(MEMORY)?.into_iter().map(|row| row.key);
    let known: HashSet<String> = known.collect();
    let mut brought = Vec::new();
    for (name, value) in memories {
        let key = format!("{MEMORY}{name}");
        if !known.contains(&key) {
            store.set_control(&key, &Value::from(value), 0, by.stamp())?;
            brought.push(name);
        }
    }
    Ok(brought)
}

/// What was brought back.
struct Mended {
    repaired: RepairReport,
    memories: Vec<String>,
}

impl Mended {
    /// Says what came back. What did not is a failure, although the store is whole again.
    fn tell(&self, path: &Utf8Path, before: &CheckReport, ui: &Ui) -> Result<(), Failure> {
        let found = to_json(path, before, Some(self));
        ui.out(&told(path, self))?;
        match missing(&self.repaired) {
            Some(failure) => Err(failure.with_results(found)),
            None if ui.is_json() => ui.data(&found),
            None => Ok(()),
        }
    }
}

/// The failure that a store amounts to from which beads are gone.
fn missing(repaired: &RepairReport) -> Option<Failure> {
    let message = match repaired.lost.len() {
        0 if repaired.n_issues > 0 => return None,
        0 => "no bead was left to bring back: the store is empty".to_owned(),
        n => format!(
            "{} lost, and nothing but the names is left: {}",
            counted(n, "bead is", "beads are"),
            named(&repaired.lost)
        ),
    };
    let lost = repaired.lost.iter().map(|id| visible(id.as_str()));
    let lost: Vec<String> = lost.collect();
    Some(
        Failure::new(ErrorCode::DependencyUnresolved, message)
            .details(lost.join("\n"))
            .action(
                "import an older export with `beads-ralph import`, or apply the plans again with `beads-ralph plan apply`",
            ),
    )
}

/// Some ids, so that no line grows without end.
fn named(ids: &[BeadId]) -> String {
    list(ids.iter().map(BeadId::as_str))
}

/// What was brought back, for people.
fn told(path: &Utf8Path, mended: &Mended) -> String {
    let repaired = &mended.repaired;
    let whole = format!(
        "{} is whole again: {}",
        repo::shown(path),
        counted(repaired.n_issues, "bead", "beads")
    );
    let from_history = if repaired.is_history_whole {
        "brought back from their history"
    } else {
        "brought back from what is left of their history; what was done to them last may be missing"
    };
    let brought = [
        (&repaired.from_history, from_history),
        (
            &repaired.from_export,
            "brought back from the export, as they were then",
        ),
    ];
    let brought = brought
        .into_iter()
        .filter(|(ids, _)| !ids.is_empty())
        .map(|(ids, what)| format!("  {} {what}: {}", ids.len(), named(ids)));
    let n_memories = mended.memories.len();
    let memories = (n_memories > 0).then(|| {
        let memories = counted(n_memories, "memory", "memories");
        format!("  {memories} brought back from the export")
    });
    let kept = repaired.kept.iter();
    let kept = kept.map(|kept| format!("  the damaged file is kept as {}", repo::shown(kept)));
    lines(
        [whole]
            .into_iter()
            .chain(brought)
            .chain(memories)
            .chain(kept),
    )
}

fn to_json(path: &Utf8Path, report: &CheckReport, mended: Option<&Mended>) -> Value {
    let repaired = mended.map(|mended| &mended.repaired);
    json!({
        "store": path,
        "is_healthy": report.is_healthy() || repaired.is_some(),
        "beads": repaired.map_or(report.n_issues, |repaired| repaired.n_issues),
        "events": report.n_events,
        "findings": report.findings,
        "n_findings": report.n_findings,
        "repaired": mended.map(|Mended { repaired, memories }| json!({
            "from_history": repaired.from_history,
            "is_history_whole": repaired.is_history_whole,
            "from_export": repaired.from_export,
            "memories": memories,
            "lost": repaired.lost,
            "kept": repaired.kept,
        })),
    })
}

//! The commands that work on beads, and the bead that they work on: where it is kept, where its commands run, and what became of its checks.

pub(crate) mod clean;
mod dispatching;
pub(crate) mod drive;
pub(crate) mod exec;
pub(crate) mod implement;
pub(crate) mod patrol;
pub(crate) mod pause;
pub(crate) mod run;
pub(crate) mod stop;
pub(crate) mod verify;
pub(crate) mod watchdog;

use std::fmt::Write as _;

use beads_ralph_core::bead::{FieldError, Verifier};
use beads_ralph_core::check::CheckRecord;
use beads_ralph_core::diag::{ErrorCode, did_you_mean};
use beads_ralph_core::dod::{self, DodBead};
use beads_ralph_core::issue::Record;
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::bead_files::{BeadFile, BeadFileError, Ralph};
use beads_ralph_runtime::{os::limits, repo, store};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

use crate::args::here;
use crate::args::{BeadChoice, Global};
use crate::failure::Failure;
use crate::ui::format::milliseconds;
use crate::ui::table::{Page, Table};
use crate::ui::{Ui, lines};

/// How many lines of a failed check's output are shown; `logs` has all of them.
const MAX_LINES: usize = 10;

/// The project: the root of the repository, or else the working directory.
pub(crate) fn project() -> Result<Ralph, Failure> {
    let here = here()?;
    let root = repo::root_of(&here).unwrap_or_else(|| here.clone());
    Ok(match store::find(&here) {
        Ok(place) => Ralph::with_store(&root, &place.directory),
        Err(_) => Ralph::new(&root),
    })
}

/// The root of the main worktree: what decides about all of them is there, and not on the branch of an agent.
pub(crate) fn main_root(root: &Utf8Path) -> Utf8PathBuf {
    repo::main_root_of(root).unwrap_or_else(|| root.to_owned())
}

/// The root of the main worktree that a store belongs to, or the directory that the store lies in.
pub(crate) fn store_root(beads: &Beads) -> Utf8PathBuf {
    let root = beads.directory.parent().unwrap_or(&beads.directory);
    main_root(&repo::root_of(root).unwrap_or_else(|| root.to_owned()))
}

/// A bead to work on.
pub(crate) enum Target {
    /// One in a file.
    File(Box<BeadFile>),
    /// One of the store.
    Stored(Box<Stored>),
}

/// A bead of the store.
pub(crate) struct Stored {
    pub(crate) beads: Beads,
    pub(crate) record: Record,
    pub(crate) bead: DodBead,
}

impl Target {
    /// Finds the bead that somebody named (V-17); `defaults` are the checks that hold for every bead.
    pub(crate) fn find(
        choice: &BeadChoice,
        ralph: &Ralph,
        defaults: &[Verifier],
        global: &Global,
    ) -> Result<Self, Failure> {
        if let Some(path) = &choice.bead_file {
            return Self::file(path, defaults);
        }
        let name = choice.bead.as_deref().unwrap_or_default();
        let path = Utf8Path::new(name);
        if path.extension() == Some("json") && (path.is_file() || name.contains('/')) {
            return Self::file(path, defaults);
        }
        if let Some(path) = ralph.find(name) {
            return Self::file(&path, defaults);
        }
        match (
            Self::stored(name, ralph, defaults, global),
            ralph.find_completed(name),
        ) {
            (Err(failure), Some(path)) if failure.code() == ErrorCode::DependencyUnresolved => {
                Self::file(&path, defaults)
            }
            (found, _) => found,
        }
    }

    /// The bead in a file.
    pub(crate) fn file(path: &Utf8Path, defaults: &[Verifier]) -> Result<Self, Failure> {
        let file = BeadFile::read(path)?.with_checks(defaults);
        Ok(Self::File(Box::new(file)))
    }

    fn stored(
        name: &str,
        ralph: &Ralph,
        defaults: &[Verifier],
        global: &Global,
    ) -> Result<Self, Failure> {
        let beads = match global.open() {
            Ok(beads) => beads,
            Err(failure) if failure.code() == ErrorCode::DatabaseNotInitialized => {
                return Err(nowhere(name, ralph));
            }
            Err(failure) => return Err(failure),
        };
        let record = beads.resolve(name)?;
        let bead = dod::of_issue(&record.issue, defaults).map_err(|errors| {
            let id = excerpt(record.issue.id().as_str());
            not_executable(&format!("{id} cannot be worked on"), &errors)
        })?;
        Ok(Self::Stored(Box::new(Stored {
            beads,
            record,
            bead,
        })))
    }

    pub(crate) fn bead(&self) -> &DodBead {
        match self {
            Self::File(file) => file.bead(),
            Self::Stored(stored) => &stored.bead,
        }
    }

    /// The worktree that the bead names, if it names one (Z-29).
    pub(crate) fn worktree(&self, root: &Utf8Path) -> Option<Utf8PathBuf> {
        let Self::Stored(stored) = self else {
            return None;
        };
        let metadata = stored.record.issue.metadata()?;
        let path = metadata.get("worktree_path")?.as_str()?;
        Some(main_root(root).join(path))
    }

    /// The commit that the work on it began from (Z-6); only what has a worktree has one.
    pub(crate) fn base_commit(&self) -> Option<String> {
        let Self::Stored(stored) = self else {
            return None;
        };
        let metadata = stored.record.issue.metadata()?;
        metadata.get("worktree_path")?;
        Some(metadata.get("base_commit")?.as_str()?.to_owned())
    }

    /// Where its commands run: its worktree, which must be there, or the project's root (V-3).
    pub(crate) fn workplace(&self, root: &Utf8Path) -> Result<Utf8PathBuf, Failure> {
        match self.worktree(root) {
            None => Ok(root.to_owned()),
            Some(worktree) if worktree.is_dir() => Ok(worktree),
            Some(worktree) => {
                let path = repo::shown(&worktree);
                let message = format!("the bead's worktree {path} is not there");
                let failure = Failure::new(ErrorCode::ValidationConstraint, message);
                Err(failure.action(format!("make it first: git worktree add {path} -b BRANCH")))
            }
        }
    }
}

fn nowhere(name: &str, ralph: &Ralph) -> Failure {
    let message = format!(
        "unknown bead '{}': it is not in .ralph/beads, .ralph/gates or .beads/active, and there is no store",
        excerpt(name)
    );
    let failure = Failure::new(ErrorCode::DependencyUnresolved, message);
    let ids = ralph.ids();
    match did_you_mean(name, ids.iter().map(String::as_str)) {
        Some(id) => failure.action(format!("did you mean {}?", excerpt(id))),
        None => failure.action(
            "name a file that ends in .json, or write a bead with `beads-ralph create-bead`",
        ),
    }
}

impl From<BeadFileError> for Failure {
    fn from(error: BeadFileError) -> Self {
        match error {
            BeadFileError::File(error) => error.into(),
            BeadFileError::Invalid { path, errors } => {
                let message = format!("{} is not a valid bead", repo::shown(&path));
                not_executable(&message, &errors)
            }
        }
    }
}

/// That a bead has no usable Definition of Done, with everything that is wrong (V-1).
fn not_executable(message: &str, errors: &[FieldError]) -> Failure {
    let listed: Vec<String> = errors.iter().map(FieldError::to_string).collect();
    let message = format!("{message}:\n  {}", listed.join("\n  "));
    // The contract wants 1, whichever code the errors amount to.
    Failure::new(beads_ralph_core::bead::error_code(errors), message)
        .details(lines(&listed).trim_end())
        .action("correct the listed fields; `beads-ralph schema dod` has the shape of the checks")
        .exit_with(1)
}

/// What became of the checks, as people read it.
pub(crate) fn show(records: &[CheckRecord], ui: &Ui) -> Result<(), Failure> {
    let mut table = Table::new(&["check…", "result", "time", "why…"]);
    for record in records {
        table.row(vec![
            record.name.clone(),
            word(record).to_owned(),
            if record.skipped {
                String::new()
            } else {
                milliseconds(record.duration_ms)
            },
            record.remark().unwrap_or_default().to_owned(),
        ]);
    }
    let page = Page::of(ui);
    let mut text = table.draw(page);
    for record in records.iter().filter(|it| !it.passed && !it.skipped) {
        push_output(&mut text, record, page);
    }
    ui.out(&text)
}

/// The last lines of what a failed check wrote; nobody should have to look for them.
fn push_output(text: &mut String, record: &CheckRecord, page: Page) {
    for (stream, output) in [("stdout", &record.stdout), ("stderr", &record.stderr)] {
        let lines: Vec<&str> = output
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        let start = lines.len().saturating_sub(MAX_LINES);
        if !lines.is_empty() {
            let more = if start > 0 { "the end of " } else { "" };
            let head = format!("{}: {more}{stream}", record.name);
            _ = writeln!(text, "\n{}", page.line(&head));
        }
        for line in &lines[start..] {
            _ = writeln!(text, "  {}", page.line(line));
        }
    }
}

/// How a check ended, in one word.
pub(crate) fn word(record: &CheckRecord) -> &'static str {
    match record {
        CheckRecord { skipped: true, .. } => "skipped",
        CheckRecord { passed: true, .. } => "passed",
        CheckRecord {
            timed_out: true, ..
        } => "timed out",
        CheckRecord { .. } => "failed",
    }
}

/// What the checks came to, for programs.
pub(crate) fn results(bead: &DodBead, records: &[CheckRecord]) -> Value {
    json!({"bead": bead.id, "results": records})
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let message = format!(
            "the system refuses what is needed to run programs: {}",
            limits::explain(&error)
        );
        Self::new(ErrorCode::IoPermissionDenied, message)
            .action("look whether too many files or processes are open")
    }
}

//! The patrol: what is looked at in a project again and again, and what is written down when it breaks (contracts §8.6).
//!
//! Nothing here runs a command. Whoever does hands in the names of the files at the project's root and what became of
//! each check, and learns what to file and what to close.

use std::time::Duration;

use serde_json::{Value, json};

use crate::bead::{BeadId, Timestamp};
use crate::issue::{Claim, Record};
use crate::vocabulary::{IssueType, Status, label};

/// The first wait between two cycles; it doubles while nothing happens (G-6).
const BASE: Duration = Duration::from_secs(30);

crate::text::word_enum! {
    /// What the patrol looks at, in the order in which it does.
    #[derive(PartialOrd, Ord)]
    pub enum PatrolCheck {
        /// The unit tests.
        Unit = "unit",
        /// The build.
        Build = "build",
        /// The tests from end to end.
        E2e = "e2e",
    }
}

impl PatrolCheck {
    /// The title of the bead about its failure (G-7).
    pub fn title(self) -> &'static str {
        match self {
            Self::Unit => "[PATROL] Unit tests failing",
            Self::Build => "[PATROL] Build failure",
            Self::E2e => "[PATROL] E2E tests failing",
        }
    }
}

/// What the user says about the commands: nothing leaves it to what is found, an empty text is no such check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wishes {
    /// What runs the unit tests.
    pub unit: Option<String>,
    /// What builds.
    pub build: Option<String>,
    /// What runs the tests from end to end.
    pub e2e: Option<String>,
    /// Whether tests from end to end are run; without a word they are where `e2e` names a command.
    pub e2e_enabled: Option<bool>,
}

impl Wishes {
    fn of(&self, watched: PatrolCheck) -> Option<&str> {
        match watched {
            PatrolCheck::Unit => self.unit.as_deref(),
            PatrolCheck::Build => self.build.as_deref(),
            PatrolCheck::E2e => self.e2e.as_deref(),
        }
    }

    fn wants(&self, watched: PatrolCheck) -> bool {
        watched != PatrolCheck::E2e || self.e2e_enabled.unwrap_or(self.e2e.is_some())
    }
}

/// A check of the patrol: what it looks at, and the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// What it looks at.
    pub watched: PatrolCheck,
    /// The command line.
    pub command: String,
}

/// The checks of a project with these files at its root (G-6). A project of several kinds must do for all of them.
pub fn checks(names: &[String], wishes: &Wishes) -> Vec<Check> {
    let wanted = PatrolCheck::ALL.into_iter().filter(|it| wishes.wants(*it));
    let check = |watched| {
        let command = match wishes.of(watched) {
            Some(own) => own.trim().to_owned(),
            None => found(names, watched).join(" && "),
        };
        (!command.is_empty()).then_some(Check { watched, command })
    };
    wanted.filter_map(check).collect()
}

/// The commands that the files at the root ask for.
fn found(names: &[String], watched: PatrolCheck) -> Vec<&'static str> {
    let has = |name: &str| names.iter().any(|it| it == name);
    let has_playwright = names.iter().any(|it| it.starts_with("playwright.config."));
    let kinds = match watched {
        PatrolCheck::Unit => vec![
            (has("go.mod"), "go test ./..."),
            (has("package.json"), "npm test"),
            (has("Cargo.toml"), "cargo test"),
        ],
        PatrolCheck::Build => vec![
            (has("go.mod"), "go build ./..."),
            (has("package.json"), "npm run build"),
            (has("Cargo.toml"), "cargo build"),
        ],
        PatrolCheck::E2e => vec![(has_playwright, "npx playwright test")],
    };
    let there = kinds.into_iter().filter(|(is_there, _)| *is_there);
    there.map(|(_, command)| command).collect()
}

/// What to do about a check, by its result and the beads that are not finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Measure {
    /// Nothing.
    Nothing,
    /// File a bead.
    File,
    /// Nothing, because this bead says it already.
    Known(BeadId),
    /// Close these, which the patrol filed, and let those alone on which somebody works.
    Close {
        /// What to close.
        closed: Vec<BeadId>,
        /// What somebody holds.
        held: Vec<BeadId>,
    },
}

/// What to do about a check (G-7). `unfinished` are beads that are not finished, whatever their titles; `is_abandoned` knows whether the holder of a
/// claim is gone, so that nobody works on the bead.
pub fn measure(
    watched: PatrolCheck,
    passed: bool,
    unfinished: &[Record],
    is_abandoned: impl Fn(&Claim) -> bool,
) -> Measure {
    let titled = unfinished
        .iter()
        .filter(|record| record.issue.title() == watched.title());
    if !passed {
        let known = titled.map(|record| record.issue.id()).next();
        return known.map_or(Measure::File, |id| Measure::Known(id.clone()));
    }
    let own = titled.filter(|record| record.issue.has_label(label::PATROL));
    let (held, free): (Vec<&Record>, Vec<&Record>) =
        own.partition(|it| it.claim.as_ref().is_some_and(|claim| !is_abandoned(claim)));
    if held.is_empty() && free.is_empty() {
        return Measure::Nothing;
    }
    let ids = |records: Vec<&Record>| records.iter().map(|it| it.issue.id().clone()).collect();
    Measure::Close {
        closed: ids(free),
        held: ids(held),
    }
}

/// What a bead about a failure says.
#[derive(Debug, Clone, Copy)]
pub struct Bug<'a> {
    /// Its id.
    pub id: &'a BeadId,
    /// What failed.
    pub check: &'a Check,
    /// Why.
    pub reason: &'a str,
    /// Where the output is, from the project's root.
    pub log: &'a str,
    /// How long the check may take.
    pub limit: Duration,
    /// Who files it.
    pub actor: &'a str,
    /// When.
    pub now: &'a Timestamp,
}

impl Bug<'_> {
    /// The document of the bead: its Definition of Done is that the check passes (G-7, Z-28).
    pub fn document(&self) -> Value {
        let Check { watched, command } = self.check;
        let description = format!(
            "The patrol ran `{command}`, and it failed: {}.\nWhat it wrote is in {}.\nMake it pass again, without weakening what it checks.",
            self.reason, self.log
        );
        json!({
            "id": self.id,
            "title": watched.title(),
            "description": description,
            "status": Status::Open,
            "priority": 0,
            "issue_type": IssueType::Bug,
            "labels": [label::PATROL],
            "metadata": {
                "lane": "patrol",
                "dod": {
                    "verifiers": [{
                        "name": watched.as_str(),
                        "command": command,
                        "timeout_seconds": self.limit.as_secs().max(1),
                    }],
                    "evidence_required": true,
                },
                "patrol": {"check": watched.as_str(), "log": self.log},
            },
            "created_at": self.now,
            "created_by": self.actor,
            "updated_at": self.now,
        })
    }
}

/// How long to wait for the next cycle after some cycles in a row that changed nothing: from half a minute, twice as long each
/// time, up to the interval (G-6).
pub fn wait(n_idle: u32, interval: Duration) -> Duration {
    let grown = BASE.saturating_mul(2_u32.saturating_pow(n_idle));
    grown.min(interval)
}

#[cfg(test)]
mod tests;

//! What `implement` and `drive` have in common: the place of the work, what is said about a stage, and what is said when it cannot be done.

use std::fmt::Write as _;

use beads_ralph_core::agent::Permissions;
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::engine::IntegrationMode;
use beads_ralph_core::implement::report::{EvidenceGate, ReportStatus};
use beads_ralph_core::implement::{Mode, Stage};
use beads_ralph_core::issue::Holder;
use beads_ralph_core::text::visible;
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::config;
use beads_ralph_runtime::forge::GitHub;
use beads_ralph_runtime::formulas::Formulas;
use beads_ralph_runtime::git::Git;
use beads_ralph_runtime::implement::{Dispatched, Ending, ImplementError, Site};
use beads_ralph_runtime::os::host;
use beads_ralph_runtime::os::process::{Cancel, Mark};
use beads_ralph_runtime::ports::Forge;
use beads_ralph_runtime::store::StoreError;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

use crate::args::PermissionsArg;
use crate::command::{Place, main_root};
use crate::failure::Failure;
use crate::ui::quoted;

/// Everything that a dispatcher works with.
pub(crate) struct Shop {
    place: Place,
    git: Git,
    formulas: Formulas,
    cancel: Cancel,
    beads: Utf8PathBuf,
    actor: String,
    permissions: Option<Permissions>,
}

impl Shop {
    /// Makes everything ready; what is in the way of all stages is said here.
    pub(crate) fn open(
        beads: &Beads,
        permissions: Option<PermissionsArg>,
    ) -> Result<Self, Failure> {
        if let Some(obstacle) = beads.store.obstacle() {
            return Err(obstacle.into());
        }
        let root = main_root(&beads.directory)?;
        let config = config::load(Some(&root))?;
        let permissions = permissions.map(Permissions::from).or(config.permissions);
        let place = Place::new(root, config)?;
        Ok(Self {
            git: place.git()?,
            formulas: Formulas::of(Some(&beads.directory), Some(&place.root)),
            cancel: Cancel::on_signals()?,
            beads: beads.directory.clone(),
            actor: beads.by.actor().to_owned(),
            permissions,
            place,
        })
    }

    /// The configuration.
    pub(crate) fn config(&self) -> &config::Config {
        &self.place.config
    }

    /// Where pull requests are made, if they are, and what becomes of finished work.
    pub(crate) fn integration(&self) -> Result<(Option<GitHub<'_>>, IntegrationMode), Failure> {
        self.place.integration(None, &self.git)
    }

    /// Where and with what a dispatcher works.
    pub(crate) fn site<'s>(
        &'s self,
        forge: Option<&'s GitHub<'s>>,
        integration: IntegrationMode,
    ) -> Site<'s> {
        Site {
            units: &self.place.units,
            cancel: &self.cancel,
            config: &self.place.config,
            root: &self.place.root,
            beads: &self.beads,
            formulas: &self.formulas,
            git: &self.git,
            forge: forge.map(|forge| forge as &dyn Forge),
            integration,
            permissions: self.permissions,
            holder: Holder {
                run: "implement".to_owned(),
                host: host::name(),
                process: host::process(std::process::id()),
            },
            actor: &self.actor,
            mark: Mark::unique(),
        }
    }
}

/// A stage for programs.
pub(crate) fn to_json(told: &Dispatched) -> Value {
    let decisions = told.decisions.iter();
    let decisions = decisions.map(|it| json!({"rule": it.rule, "text": it.text}));
    json!({
        "source": told.source,
        "ending": told.ending.as_str(),
        "message": message(&told.ending),
        "molecule": told.molecule,
        "step": told.step,
        "stage": told.stage.map(Stage::as_str),
        "mode": told.mode.map(Mode::as_str),
        "shape": told.shape,
        "worker": told.worker,
        "session": told.session,
        "report": told.report,
        "status": told.status.map(ReportStatus::as_str),
        "gate": told.gate.map(EvidenceGate::as_str),
        "discovered": told.discovered,
        "aggregate": told.aggregate,
        "warnings": told.warnings,
        "decisions": decisions.collect::<Vec<Value>>(),
    })
}

fn message(ending: &Ending) -> Option<&str> {
    match ending {
        Ending::Waiting(text) | Ending::Complete(text) | Ending::Human(text) => Some(text),
        Ending::SourceClosed | Ending::Paused | Ending::MoleculeDone | Ending::DryRun => None,
    }
}

/// A stage for people.
pub(crate) fn words(told: &Dispatched) -> String {
    let id = visible(told.source.as_str());
    let name = quoted(Utf8Path::new(told.source.as_str()));
    let stage = told.stage.map(|stage| format!(" {}", stage.as_str()));
    let stage = stage.unwrap_or_default();
    let mut text = match &told.ending {
        Ending::SourceClosed => format!("{id} is closed: nothing to do\n"),
        Ending::Paused => {
            format!("{id} waits for a person: paused\n  beads-ralph human show {name}\n")
        }
        Ending::MoleculeDone => format!("{id}: every stage is done: nothing to do\n"),
        Ending::Waiting(why) => format!("{id}: {}\n", visible(why)),
        Ending::Complete(reason) => format!("{id}: {}\n", visible(reason)),
        Ending::Human(note) => format!(
            "{id}{stage}: a person is needed\n{}  beads-ralph human show {name}\n",
            indented(note)
        ),
        Ending::DryRun => String::new(),
    };
    for warning in &told.warnings {
        _ = writeln!(text, "  warning: the report: {}", visible(warning));
    }
    for discovered in &told.discovered {
        _ = writeln!(text, "  discovered work: {}", visible(discovered.as_str()));
    }
    text
}

/// Every decision. Its rule is for programs.
pub(crate) fn explained(told: &Dispatched) -> String {
    let mut text = String::new();
    for decision in &told.decisions {
        _ = writeln!(text, "  - {}", visible(&decision.text));
    }
    text
}

fn indented(note: &str) -> String {
    let lines = note.lines().map(|line| format!("  {}\n", visible(line)));
    lines.collect()
}

impl From<ImplementError> for Failure {
    fn from(error: ImplementError) -> Self {
        let message = error.to_string();
        let failure =
            |action: &str| Self::new(ErrorCode::ValidationConstraint, &*message).action(action);
        match error {
            ImplementError::Store(error @ StoreError::Held { .. }) => {
                let action = "somebody else does this stage; wait for them, or see `beads-ralph drive`, which waits by itself";
                Self::from(error).action(action)
            }
            ImplementError::Store(error) => error.into(),
            ImplementError::File(error) => error.into(),
            ImplementError::Agent(_) => failure("see `beads-ralph doctor agents`"),
            ImplementError::Trouble(_) => failure(
                "see `git status`, `git worktree list` and `worktrees.source_branch` in beads-ralph.yaml, then try again",
            ),
            ImplementError::NotReady { action, .. } => failure(&action),
            ImplementError::Limit { until, .. } => failure(&match until {
                Some(until) => {
                    format!("try again after {until}; `beads-ralph drive` waits by itself")
                }
                None => "try again later; `beads-ralph drive` waits by itself".to_owned(),
            }),
            ImplementError::NotRun(_) => failure(
                "see to it that these commands can be run here, then run the same command again",
            ),
            ImplementError::NoReviewer(_) => failure(
                "see `beads-ralph doctor agents`; the work of the cycle is kept, and the same command resumes it",
            ),
            ImplementError::Interrupted => failure("run the same command again").exit_with(130),
        }
    }
}

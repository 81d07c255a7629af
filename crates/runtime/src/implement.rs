//! `implement`: one stage of the work on one bead (contracts §9).
//!
//! A [`Dispatcher`] finds the molecule of a bead and its current step, decides from labels and metadata who does it and how, lets them
//! work, reads their report, and writes what follows from it in one batch. What is decided is decided in `core::implement`; every
//! decision is kept with the number of its rule, so that it can be explained. All state is in the store and in the reports, so that a
//! dispatcher which is killed is simply started again (Z-36).
//!
//! Nothing here talks to people, and nobody but the dispatcher changes beads.

mod assign;
mod calling;
mod claim;
pub mod drive;
mod ending;
mod find;
mod finish;
mod native;
mod ralf;
mod record;
mod report;
mod watch;
mod worker;

use std::time::Duration;

use beads_ralph_core::agent::Permissions;
use beads_ralph_core::bead::BeadId;
use beads_ralph_core::engine::IntegrationMode;
use beads_ralph_core::gate::Gates;
use beads_ralph_core::implement::{Outcome, outcome_of};
use beads_ralph_core::issue::Holder;
use camino::Utf8Path;

use self::assign::{Assignment, Shape};
use self::claim::Held;
use self::ending::Stop;
pub use self::ending::{Decision, Dispatched, Ending, ImplementError};
use self::find::TURNS;
use self::finish::Settlement;
pub use self::ralf::LoopSummary;
pub use self::record::{own_place, reviews_of, session_id, target_of, work_of};
use crate::bead_files::Ralph;
use crate::config::Config;
use crate::formulas::Formulas;
use crate::gate;
use crate::git::Git;
use crate::os::clock;
use crate::os::process::{Cancel, Mark, Units};
use crate::ports::Forge;
use crate::progress::Listener;
use crate::run::crash_points;
use crate::run::main_checkout::MainCheckout;
use crate::store::{Stamp, Store, StoreError};

pub struct Dispatcher<'a> {
    store: &'a mut dyn Store,
    site: &'a Site<'a>,
    listener: &'a mut dyn Listener,
    /// The user's own checkout, which no worker changes (Z-17).
    main: MainCheckout,
    /// What was noticed while agents worked, for the notes of the step.
    strays: Vec<String>,
    is_dry: bool,
    told: Dispatched,
}

impl std::fmt::Debug for Dispatcher<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dispatcher")
            .field("told", &self.told)
            .finish_non_exhaustive()
    }
}

impl<'a> Dispatcher<'a> {
    pub fn new(
        store: &'a mut dyn Store,
        site: &'a Site<'a>,
        source: &BeadId,
        listener: &'a mut dyn Listener,
    ) -> Self {
        Self {
            store,
            site,
            listener,
            main: MainCheckout::new(site.root),
            strays: Vec::new(),
            is_dry: false,
            told: Dispatched::new(source.clone()),
        }
    }

    /// The same, which only explains what it would do.
    #[must_use]
    pub fn dry(self) -> Self {
        Self {
            is_dry: true,
            ..self
        }
    }

    /// Does the current stage and returns its outcome. Needing a person is an outcome, not an error.
    pub fn implement(mut self) -> Result<Dispatched, ImplementError> {
        match self.dispatch() {
            Ok(ending) | Err(Stop::Ended(ending)) => {
                self.told.ending = ending;
                Ok(self.told)
            }
            Err(Stop::Human { rule, note }) => {
                self.decide(rule, format!("needs attention: {note}"));
                self.flag(&note, None)?;
                self.told.ending = Ending::Human(note);
                Ok(self.told)
            }
            Err(Stop::Error(error)) => Err(*error),
        }
    }

    fn dispatch(&mut self) -> Result<Ending, Stop> {
        let mut turn = 1;
        loop {
            let source = self.source()?;
            self.permit(&source)?;
            let molecule = self.molecule(&source)?;
            let step = self.step(&molecule)?;
            let assignment = self.assign(source, step)?;
            if self.is_dry {
                return Ok(Ending::DryRun);
            }
            match self.take(&assignment) {
                Ok(held) => return self.dispatched(&assignment, held),
                Err(stop) if turn < TURNS && self.is_outdated(&assignment, &stop)? => {
                    self.decide("Z-36", "another process did the step; looking again");
                    turn += 1;
                }
                Err(stop) => return Err(stop),
            }
        }
    }

    /// Does the step that is held, and gives it back where that does not work.
    fn dispatched(&mut self, assignment: &Assignment, mut held: Held) -> Result<Ending, Stop> {
        // Somebody may have asked a person, or closed the bead, before the step was ours.
        if let Err(stop) = self.source() {
            self.let_go(assignment, &held);
            return Err(stop);
        }
        match self.perform(assignment, &mut held) {
            Ok(ending) => Ok(ending),
            // Whoever has the step now decides about it.
            Err(Stop::Error(error)) if error.is_lost() => Err(Stop::Error(error)),
            Err(Stop::Error(error)) => {
                self.let_go(assignment, &held);
                Err(Stop::Error(error))
            }
            Err(Stop::Human { rule, note }) => {
                self.decide(rule, format!("needs attention: {note}"));
                self.flag(&note, Some(held.fence))?;
                Ok(Ending::Human(note))
            }
            Err(stop @ Stop::Ended(_)) => Err(stop),
        }
    }

    fn perform(&mut self, assignment: &Assignment, held: &mut Held) -> Result<Ending, Stop> {
        let settlement = match &assignment.shape {
            Shape::Skip(why) => Settlement::skipped(assignment, why),
            Shape::Native => match self.native(assignment, held)? {
                Some(settlement) => settlement,
                None => self.direct(assignment, held)?,
            },
            Shape::Direct => self.direct(assignment, held)?,
            Shape::RalfImplement => self.ralf_implement(assignment, held)?,
            Shape::RalfReview => self.ralf_review(assignment, held)?,
        };
        let mut settlement = settlement;
        settlement.notes.append(&mut self.strays);
        self.settle(assignment, held, settlement)
    }

    /// One worker, one report.
    fn direct(&mut self, assignment: &Assignment, held: &mut Held) -> Result<Settlement, Stop> {
        let done = self.work(assignment, held, None)?;
        let outcome = outcome_of(assignment.stage, &done.report, done.gate);
        let mut settlement = Settlement::new(outcome);
        settlement.audit_label = self.audit_label(assignment, None);
        settlement.faults = done.faults;
        if !done.is_synthetic {
            settlement.discovered = done.report.discovered;
        }
        Ok(settlement)
    }

    /// Keeps a decision. Tests kill the process between two of them.
    fn decide(&mut self, rule: &'static str, text: impl Into<String>) {
        let text = text.into();
        self.told.decisions.push(Decision { rule, text });
        crash_points::die_if_foretold(self.told.decisions.len());
    }
}

impl Settlement {
    fn skipped(assignment: &Assignment, why: &str) -> Self {
        let stage = assignment.stage.as_str();
        Self::new(Outcome::Complete(format!("{stage} skipped: {why}")))
    }
}

/// How long a claim on a step lasts without a sign of life.
const LEASE: Duration = Duration::from_mins(10);

#[derive(Clone)]
pub struct Site<'a> {
    pub units: &'a Units,
    pub cancel: &'a Cancel,
    pub config: &'a Config,
    pub root: &'a Utf8Path,
    /// The directory of the store, in which reports are kept.
    pub beads: &'a Utf8Path,
    pub formulas: &'a Formulas,
    pub git: &'a Git,
    /// Where pull requests are made, if they are.
    pub forge: Option<&'a dyn Forge>,
    pub integration: IntegrationMode,
    pub permissions: Option<Permissions>,
    pub holder: Holder,
    pub actor: &'a str,
    pub mark: Mark,
}

impl std::fmt::Debug for Site<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Site")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

impl Site<'_> {
    pub(super) fn stamp(&self) -> Stamp<'_> {
        Stamp {
            actor: self.actor,
            at: clock::now(),
        }
    }

    pub(super) fn lease_until() -> jiff::Timestamp {
        let until = clock::now().checked_add(LEASE);
        until.unwrap_or(jiff::Timestamp::MAX)
    }

    pub fn gates(&self, store: &dyn Store) -> Result<Gates, StoreError> {
        gate::gates(&Ralph::with_store(self.root, self.beads), Some(store))
    }

    pub(super) fn commands(&self) -> Vec<(&'static str, &str)> {
        self.config.gates.commands().collect()
    }
}

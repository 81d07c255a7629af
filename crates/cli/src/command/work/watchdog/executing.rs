//! The beads in files that nobody has begun, worked on one after the other as `exec` does, in the order of G-5 (G-8).
//!
//! Beads of the store are not begun here: they belong to `run`, `drive` and whoever claims them.

use std::collections::BTreeMap;

use beads_ralph_core::bead::Verifier;
use beads_ralph_core::dod::DodStatus;
use beads_ralph_core::gate::{Applicant, Gates};
use beads_ralph_core::text::visible;
use beads_ralph_runtime::bead_files::BeadFile;
use beads_ralph_runtime::exec::Ending;
use beads_ralph_runtime::os::process::Units;
use beads_ralph_runtime::store::Store;
use beads_ralph_runtime::watchdog::{Watchdog, WatchdogError};
use beads_ralph_runtime::{config, gate, os::clock};
use camino::Utf8PathBuf;
use serde_json::{Value, json};

use super::super::exec::{Exec, word};
use crate::command::work::Target;
use crate::command::work::exec::ExecArgs;
use crate::failure::Failure;
use crate::ui::Ui;

/// Begins what is pending.
pub(super) struct Executor<'a> {
    dog: Watchdog<'a>,
    ui: &'a Ui,
    /// What works; nothing where it is only said what would be done.
    hands: Option<Hands<'a>>,
}

struct Hands<'a> {
    exec: Exec<'a>,
    units: Units,
    /// The checks that hold for every bead.
    checks: Vec<Verifier>,
}

/// A bead that was pending, and what became of it.
pub(super) struct Executed {
    id: String,
    status: &'static str,
    why: Option<String>,
}

impl Executed {
    fn new(id: &str, status: &'static str, why: Option<String>) -> Self {
        let id = id.to_owned();
        Self { id, status, why }
    }

    pub(super) fn to_json(&self) -> Value {
        json!({"id": self.id, "status": self.status, "why": self.why})
    }

    fn text(&self) -> String {
        let id = visible(&self.id);
        let what = match self.status {
            "pending" => "would be worked on",
            "held_back" => "is held back",
            "busy" => "is worked on by somebody else",
            "invalid" => "cannot be worked on",
            "error" => "could not be begun",
            ended => &format!("was worked on: {ended}"),
        };
        match &self.why {
            Some(why) => format!("{id} {what}: {}\n", visible(why)),
            None => format!("{id} {what}\n"),
        }
    }
}

impl<'a> Executor<'a> {
    pub(super) fn new(
        dog: Watchdog<'a>,
        options: &'a ExecArgs,
        ui: &'a Ui,
    ) -> Result<Self, Failure> {
        let mut hands = None;
        if !dog.is_dry_run {
            let config = config::load(Some(dog.ralph.root()))?;
            hands = Some(Hands {
                checks: config.default_checks.clone(),
                exec: Exec::new(options, ui, dog.ralph.clone(), config),
                units: Units::own()?,
            });
        }
        Ok(Self { dog, ui, hands })
    }

    /// Works on everything that is pending; what becomes of each bead is told when it is known. What goes wrong with one of them is no reason to
    /// leave the others.
    pub(super) fn all(
        &self,
        store: Option<&dyn Store>,
        tell: &mut dyn FnMut(Executed),
    ) -> Result<(), WatchdogError> {
        let mut tell = |executed: Executed| {
            // What cannot be written here will not be written at the end either, where it is an error.
            drop(self.ui.out(&executed.text()));
            tell(executed);
        };
        let (pending, invalid) = self.pending(&self.gates(store)?);
        invalid.into_iter().for_each(&mut tell);
        for (applicant, path) in pending {
            if self.dog.cancel.is_cancelled() {
                return Err(WatchdogError::Interrupted);
            }
            // The work before it may have taken hours, and mended or broken a gate.
            let denied = self.gates(store)?.permission(&applicant).err();
            let executed = match denied {
                Some(denied) => {
                    let why = Some(denied.to_string());
                    Some(Executed::new(&applicant.id, "held_back", why))
                }
                None => self.one(&applicant.id, &path)?,
            };
            executed.into_iter().for_each(&mut tell);
        }
        if self.dog.cancel.is_cancelled() {
            return Err(WatchdogError::Interrupted);
        }
        Ok(())
    }

    fn gates(&self, store: Option<&dyn Store>) -> Result<Gates, WatchdogError> {
        Ok(gate::gates(self.dog.ralph, store)?)
    }

    /// What is pending, in the order of work, and what cannot be read. Of two beads with one id the first counts, as it is the one that is found by
    /// its id.
    fn pending(&self, gates: &Gates) -> (Vec<(Applicant, Utf8PathBuf)>, Vec<Executed>) {
        let mut paths = BTreeMap::new();
        let (mut applicants, mut invalid) = (Vec::new(), Vec::new());
        for path in self.dog.ralph.todo_files() {
            match BeadFile::read(&path) {
                Ok(file) => {
                    let bead = file.bead();
                    let is_new = !paths.contains_key(&bead.id);
                    if is_new && bead.status == DodStatus::Pending && !bead.is_gate {
                        applicants.push(Applicant::of_bead(bead));
                    }
                    paths.entry(bead.id.clone()).or_insert(path);
                }
                Err(error) => {
                    let id = path.file_stem().unwrap_or_default();
                    let why = Failure::from(error).message().to_owned();
                    invalid.push(Executed::new(id, "invalid", Some(why)));
                }
            }
        }
        gates.order(&mut applicants);
        let found = |it: Applicant| paths.remove(&it.id).map(|path| (it, path));
        (applicants.into_iter().filter_map(found).collect(), invalid)
    }

    /// Works on one bead; nothing where it is not pending any more.
    fn one(&self, id: &str, path: &Utf8PathBuf) -> Result<Option<Executed>, WatchdogError> {
        let Some(hands) = &self.hands else {
            return Ok(Some(Executed::new(id, "pending", None)));
        };
        match BeadFile::read(path) {
            Ok(file) if file.bead().status != DodStatus::Pending => return Ok(None),
            Ok(file) if matches!(file.is_held(), Ok(true)) => {
                return Ok(Some(Executed::new(id, "busy", None)));
            }
            // Whatever is wrong with it is said by whoever works on it.
            Ok(_) | Err(_) => {}
        }
        self.ui.say(&format!("{} is worked on\n", visible(id)));
        let done = Target::file(path, &hands.checks)
            .and_then(|target| hands.exec.work(target, &hands.units, self.dog.cancel));
        Ok(match done {
            Ok(None) => None,
            Ok(Some(done)) => {
                let why = match &done.report.ending {
                    Ending::Failed(reason) => Some(reason.clone()),
                    Ending::Completed | Ending::Red | Ending::Interrupted => None,
                };
                self.dog.executed(why.is_some(), clock::now())?;
                Some(Executed::new(id, word(&done.report.ending), why))
            }
            Err(failure) => Some(Executed::new(
                id,
                "error",
                Some(failure.message().to_owned()),
            )),
        })
    }
}

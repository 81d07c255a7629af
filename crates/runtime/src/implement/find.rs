//! From a source bead to its molecule, which is poured if there is none, and to the current step (I-1…I-5, I-7…I-9, Z-36).

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::engine::Trouble;
use beads_ralph_core::formula::{self, Compilation, Finding, Given, Strictness, compile};
use beads_ralph_core::gate::Applicant;
use beads_ralph_core::implement::{
    Choice, Mode, Policy, Resolution, choose_formula, link_label, linked_source, molecule_to_use,
    pour_values,
};
use beads_ralph_core::issue::{ALL_STEPS_COMPLETE, Edit, Query, Record, Standing, StatusFilter};
use beads_ralph_core::molecule::{Molecule, Step};
use beads_ralph_core::vocabulary::{IssueType, Status, label};

use super::Dispatcher;
use super::ending::{Ending, ImplementError, Stop};
use super::native::REQUIRED;
use crate::pour::{Order, PourError, pour};
use crate::store::{self, Guard, StoreError, Write};

/// How often a molecule or a step is looked for again, because somebody else was faster.
pub(super) const TURNS: usize = 10;

#[derive(Debug)]
pub(super) struct Found {
    pub(super) molecule: Molecule,
    /// Its steps, for whoever looks for another one among them.
    pub(super) steps: Vec<Record>,
}

impl Dispatcher<'_> {
    /// The source, if there is something to do for it (I-1).
    pub(super) fn source(&mut self) -> Result<Record, Stop> {
        let id = self.told.source.clone();
        let record = self.store.get(std::slice::from_ref(&id))?.pop();
        let source = record.ok_or(StoreError::NotFound(id))?;
        if source.issue.standing() == Standing::Closed {
            self.decide("I-1", "the bead is closed: nothing to do");
            return Err(Stop::Ended(Ending::SourceClosed));
        }
        if source.issue.has_label(label::HUMAN) {
            self.decide("I-1", "the bead is labelled `human`: paused");
            return Err(Stop::Ended(Ending::Paused));
        }
        if source.is_blocked && source.issue.status() == Status::Open {
            let why = self.what_it_waits_for(&source)?;
            self.decide("I-40", why.clone());
            return Err(Stop::Ended(Ending::Waiting(why)));
        }
        self.refuse_parts(&source)?;
        Ok(source)
    }

    fn what_it_waits_for(&self, source: &Record) -> Result<String, Stop> {
        let blockers = self.store.blockers(source.issue.id())?;
        let ids: Vec<&str> = blockers.iter().map(|it| it.id.as_str()).take(5).collect();
        Ok(format!("the bead waits for {}", ids.join(", ")))
    }

    /// Steps and roots of molecules are what is done for a bead, and no beads to be implemented themselves.
    fn refuse_parts(&self, source: &Record) -> Result<(), Stop> {
        let parents: Vec<BeadId> = source.issue.parents().cloned().collect();
        let parents = self.store.get(&parents)?;
        let own = std::iter::once(source).chain(&parents);
        let root = own
            .map(|it| &it.issue)
            .find(|it| it.issue_type() == IssueType::Molecule);
        let Some(root) = root else {
            return Ok(());
        };
        let bead = linked_source(root).map(|id| id.to_string());
        let action = match bead {
            Some(bead) => format!("run `beads-ralph implement {bead}`"),
            None => "name the bead that is to be implemented".to_owned(),
        };
        Err(ImplementError::NotReady {
            message: format!(
                "{} is a part of the molecule {}",
                source.issue.id(),
                root.id()
            ),
            action,
        }
        .into())
    }

    /// Red gates hold back a feature that nobody has begun (G-3). What was begun goes on, unless it was stopped since.
    pub(super) fn permit(&mut self, source: &Record) -> Result<(), Stop> {
        let applicant = Applicant::of_issue(&source.issue);
        if !applicant.is_feature || self.is_begun(source)? {
            return Ok(());
        }
        let gates = self.site.gates(&*self.store)?;
        let Err(denied) = gates.permission(&applicant) else {
            self.decide("G-3", "no gate that counts for it is red");
            return Ok(());
        };
        self.decide("G-3", format!("the bead is not taken: {denied}"));
        Err(Stop::Ended(Ending::Waiting(denied.to_string())))
    }

    /// Whether a bead was begun here: whoever sets the status by hand has not begun it.
    fn is_begun(&self, source: &Record) -> Result<bool, StoreError> {
        let is_open = |root: &Record| root.issue.standing() != Standing::Closed;
        Ok(source.issue.status() == Status::InProgress
            && self.molecules(source)?.iter().any(is_open))
    }

    /// The molecule to continue; one is poured if there is none (I-2…I-4).
    pub(super) fn molecule(&mut self, source: &Record) -> Result<Record, Stop> {
        let mut source = source.clone();
        for _ in 0..TURNS {
            let molecules = self.molecules(&source)?;
            match molecule_to_use(&molecules) {
                Resolution::Use { root, reason } => {
                    let why = reason.unwrap_or_else(|| "the only open molecule".to_owned());
                    let id = root.issue.id().clone();
                    self.decide("I-4", format!("molecule {id}: {why}"));
                    self.told.molecule = Some(id);
                    return Ok(root.clone());
                }
                Resolution::Human(note) => return Err(Stop::human("I-4", note)),
                Resolution::Pour => {
                    self.refuse_what_is_done(&molecules)?;
                    self.pour(&source)?;
                    source = self.source()?;
                }
            }
        }
        let id = source.issue.id();
        let message = format!("bead {id} keeps changing: other processes write to it; try again");
        Err(Trouble::passing(message).into())
    }

    /// Every molecule of the source, closed ones too.
    fn molecules(&self, source: &Record) -> Result<Vec<Record>, StoreError> {
        self.store.find(&Query {
            status: StatusFilter::Any,
            types: vec![IssueType::Molecule.into()],
            labels_all: vec![link_label(source.issue.id())],
            ..Query::default()
        })
    }

    /// A root closes with its last step, so that a molecule which is complete is a closed one: it is not poured again (I-5).
    fn refuse_what_is_done(&mut self, molecules: &[Record]) -> Result<(), Stop> {
        let is_work = |root: &&Record| Mode::parse(root.issue.title()).is_some();
        for root in molecules.iter().filter(is_work) {
            let steps = store::below(&*self.store, root.issue.id())?;
            let is_closed = |step: &Record| step.issue.standing() == Standing::Closed;
            if !steps.is_empty() && steps.iter().all(is_closed) {
                let id = root.issue.id().clone();
                let text = format!(
                    "molecule {id} is complete: nothing to do; `beads-ralph mol burn {id}` to start over"
                );
                self.decide("I-5", text);
                self.told.molecule = Some(id);
                return Err(Stop::Ended(Ending::MoleculeDone));
            }
        }
        Ok(())
    }

    /// The step that is current (I-5).
    pub(super) fn step(&mut self, root: &Record) -> Result<(Found, Record), Stop> {
        let steps = store::below(&*self.store, root.issue.id())?;
        // What a step leaves on the root is written with its end, so that a root which is read after the steps has all of it, whoever did them.
        let id = root.issue.id().clone();
        let root = self.store.get(std::slice::from_ref(&id))?.pop();
        let root = root.ok_or(StoreError::NotFound(id))?;
        let molecule = Molecule::new(root.clone(), steps.clone());
        let current = molecule.current();
        let Some(step) = current.first() else {
            self.decide("I-5", "no step can be started");
            if molecule.unfinished().count() > 1 {
                return Err(Stop::Ended(Ending::Waiting(waiting(&molecule))));
            }
            self.close_root(&root)?;
            return Err(Stop::Ended(Ending::MoleculeDone));
        };
        let step = step.record().clone();
        let id = step.issue.id().clone();
        self.decide("I-5", format!("the current step is {id}"));
        self.told.step = Some(id);
        Ok((Found { molecule, steps }, step))
    }

    /// Closes a root that is open although its last step is closed: whoever closed that one was cut off.
    fn close_root(&mut self, root: &Record) -> Result<(), Stop> {
        if self.is_dry {
            return Ok(());
        }
        let write = Write::Update {
            id: root.issue.id().clone(),
            edits: vec![Edit::Close(ALL_STEPS_COMPLETE.to_owned())],
            guard: Guard::default(),
        };
        self.store.write(&[write], self.site.stamp())?;
        self.decide("I-5", "every step is closed, and now the molecule is too");
        Ok(())
    }
}

/// What is in the way of a molecule without a step that can be started.
fn waiting(molecule: &Molecule) -> String {
    let open = molecule.steps().iter().map(Step::record);
    let open = open.filter(|record| record.issue.standing() != Standing::Closed);
    let named: Vec<String> = open
        .map(|record| format!("{} ({})", record.issue.id(), record.issue.status()))
        .take(5)
        .collect();
    format!("no step can be started; open are {}", named.join(", "))
}

impl Dispatcher<'_> {
    /// Pours, unless somebody else changed the source meanwhile: then whoever calls looks again.
    fn pour(&mut self, source: &Record) -> Result<(), Stop> {
        let name = match choose_formula(&source.issue) {
            Choice::Formula(name) => name,
            Choice::Human(note) => return Err(Stop::human("I-7", note)),
        };
        self.decide("I-7", format!("no molecule yet; the formula is {name}"));
        let molecule = self.compiled(source, &name)?;
        let stages: Vec<&str> = molecule.steps.iter().map(|step| step.id.as_str()).collect();
        self.decide("I-8", format!("it makes {}", stages.join(", ")));
        if self.is_dry {
            self.warn_of_labels(source);
            return Err(Stop::Ended(Ending::DryRun));
        }
        let labels = [link_label(source.issue.id())];
        let order = Order {
            molecule: &molecule,
            attached: &[],
            assignee: None,
            labels: &labels,
            is_wisp: false,
            for_bead: Some(source),
        };
        match pour(self.store, &order, self.site.stamp()) {
            Ok(poured) => {
                let root = poured.first().map(|main| main.root.to_string());
                let root = root.unwrap_or_default();
                self.decide("I-3", format!("poured {root}, labelled {}", labels[0]));
                Ok(())
            }
            Err(PourError::Store(StoreError::Guard { .. })) => {
                self.decide("Z-36", "another process changed the bead; looking again");
                Ok(())
            }
            Err(PourError::Store(error)) => Err(error.into()),
            Err(error @ PourError::Invalid(_)) => Err(refused(&name, &error.to_string())),
        }
    }

    /// What a person would be asked about before anything is done.
    fn warn_of_labels(&mut self, source: &Record) {
        if let Err(conflict) = Policy::of(&source.issue) {
            self.decide("§9.13", format!("would need attention: {conflict}"));
        }
        let missing: Vec<&str> = (REQUIRED.into_iter())
            .filter(|label| !source.issue.has_label(label))
            .collect();
        if !missing.is_empty() {
            let text = format!("would need attention: it lacks {}", missing.join(", "));
            self.decide("§9.13", text);
        }
    }

    fn compiled(&self, source: &Record, name: &str) -> Result<formula::Molecule, Stop> {
        let values = pour_values(&source.issue);
        let given = Given::Offered(&values);
        let compilation = compile(self.site.formulas, name, given, Strictness::Strict)
            .map_err(|absent| refused(name, &absent.to_string()))?;
        let errors = errors(&compilation);
        match compilation.molecule {
            Some(molecule) => Ok(molecule),
            None => Err(refused(name, &errors)),
        }
    }
}

/// A formula that cannot be poured is for a person, and nothing was written (I-9).
fn refused(name: &str, why: &str) -> Stop {
    Stop::human(
        "I-9",
        format!("implement-bead: the formula {name} cannot be poured: {why}"),
    )
}

fn errors(compilation: &Compilation) -> String {
    let findings = compilation.findings.iter().filter(|it| it.is_error());
    let messages: Vec<String> = findings.map(message).collect();
    messages.join("; ")
}

fn message(finding: &Finding) -> String {
    finding.diagnostic.message.to_string()
}

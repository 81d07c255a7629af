//! What follows from a report, written in one batch: discovered work, labels, notes, the end of the step, the flag of the source
//! (I-22, I-26…I-30, §9.10). Nothing is half done.

use std::time::Duration;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::engine::Trouble;
use beads_ralph_core::implement::discovered::{Placement, document, unfiled};
use beads_ralph_core::implement::report::Discovered;
use beads_ralph_core::implement::{Outcome, flag, flag_step};
use beads_ralph_core::issue::{Edit, Entry, Fence, Label, Record};
use beads_ralph_core::vocabulary::{EdgeType, Status as IssueStatus};

use super::Dispatcher;
use super::assign::Assignment;
use super::claim::{Held, left_by};
use super::ending::{Ending, ImplementError, Stop};
use crate::os::digest;
use crate::os::process::{Ending as UnitEnding, Environment, Limits, Silent, Spec, Stdin};
use crate::store::{Guard, StoreError, Write};

/// How long the user's own word on where discovered work belongs may take.
const SIBLING_LIMIT: Duration = Duration::from_mins(1);

/// The lengths of the hash in the id of a new bead, the shortest that is free first.
const ID_LENGTHS: [usize; 4] = [6, 10, 16, 32];

#[derive(Debug)]
pub(super) struct Settlement {
    pub(super) outcome: Outcome,
    pub(super) audit_label: Option<String>,
    pub(super) faults: Vec<String>,
    pub(super) discovered: Vec<Discovered>,
    pub(super) notes: Vec<String>,
    pub(super) root: Vec<Edit>,
    pub(super) source: Vec<Edit>,
    pub(super) starts_source: bool,
}

impl Settlement {
    pub(super) fn new(outcome: Outcome) -> Self {
        Self {
            outcome,
            audit_label: None,
            faults: Vec::new(),
            discovered: Vec::new(),
            notes: Vec::new(),
            root: Vec::new(),
            source: Vec::new(),
            starts_source: false,
        }
    }
}

pub(super) fn label(text: &str) -> Result<Edit, Stop> {
    let label = Label::parse(text).map_err(|error| {
        let message = format!("invalid label `{text}`: {error}");
        ImplementError::Trouble(Trouble::for_bead(message))
    })?;
    Ok(Edit::AddLabel(label))
}

impl Dispatcher<'_> {
    pub(super) fn settle(
        &mut self,
        assignment: &Assignment,
        held: &mut Held,
        settlement: Settlement,
    ) -> Result<Ending, Stop> {
        let source = self.source_again(assignment)?;
        let (inserts, ids) = self.filed(assignment, &settlement.discovered)?;
        let mut batch = inserts;
        if !settlement.root.is_empty() {
            batch.push(update(assignment.root(), settlement.root.clone()));
        }
        batch.extend(source_updates(&source, &settlement));
        // Where a store tells a batch change by change, the step is not closed before everything else is said.
        batch.push(step_update(assignment, held, &settlement)?);
        self.write_settlement(&batch, held)?;
        for id in &ids {
            self.decide("I-26", format!("discovered work became {id}"));
        }
        self.told.discovered.extend(ids);
        if let Some(label) = &settlement.audit_label {
            self.decide("I-22", format!("label {label} on the step"));
        }
        match settlement.outcome {
            Outcome::Complete(reason) => {
                self.decide("§9.10", format!("the step is closed: {reason}"));
                Ok(Ending::Complete(reason))
            }
            Outcome::Human(note) => {
                self.decide(
                    "§9.10",
                    "the step is closed, and both beads wait for a person",
                );
                Ok(Ending::Human(note))
            }
        }
    }

    /// Writes it. If the store refuses the report for good, the same report is not used again: the worker does its work anew.
    fn write_settlement(&mut self, batch: &[Write], held: &mut Held) -> Result<(), Stop> {
        match self.store.write(batch, self.site.stamp()) {
            Ok(_) => Ok(()),
            Err(error) => {
                let error = ImplementError::from(error);
                if !error.is_passing() {
                    held.is_refused = true;
                }
                Err(error.into())
            }
        }
    }

    /// The source as it is now, so that nothing is noted twice.
    fn source_again(&self, assignment: &Assignment) -> Result<Record, StoreError> {
        let id = assignment.source.issue.id();
        let record = self.store.get(std::slice::from_ref(id))?.pop();
        record.ok_or_else(|| StoreError::NotFound(id.clone()))
    }

    /// Makes the source wait for a person, and the step if there is one (I-30). With a fence the step is given back as well.
    pub(super) fn flag(&mut self, note: &str, fence: Option<Fence>) -> Result<(), ImplementError> {
        if self.is_dry {
            return Ok(());
        }
        let mut batch = Vec::new();
        let ids = [Some(self.told.source.clone()), self.told.step.clone()];
        for (at, id) in ids.into_iter().flatten().enumerate() {
            let Some(record) = self.store.get(std::slice::from_ref(&id))?.pop() else {
                continue;
            };
            let is_step = at > 0;
            // A dispatcher that is gone does not keep the step from being open again.
            let fence = fence.or_else(|| left_by(&record).map(|(fence, _)| fence));
            let (edits, guard) = match fence.filter(|_| is_step) {
                Some(fence) => {
                    let mut edits = flag(&record.issue, note);
                    edits.push(Edit::Reopen);
                    (edits, Guard::fenced(fence))
                }
                None if is_step && record.claim.is_none() => {
                    (flag_step(&record.issue, note), Guard::default())
                }
                None => (flag(&record.issue, note), Guard::default()),
            };
            batch.push(Write::Update { id, edits, guard });
        }
        self.store.write(&batch, self.site.stamp())?;
        Ok(())
    }

    /// The beads of discovered work that has none yet (I-26, I-27).
    pub(super) fn filed(
        &self,
        assignment: &Assignment,
        items: &[Discovered],
    ) -> Result<(Vec<Write>, Vec<BeadId>), Stop> {
        if items.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let source = assignment.source.issue.id();
        let dependents = self.store.dependents(source)?.into_iter();
        let found = dependents.filter(|(_, kind)| kind == EdgeType::DiscoveredFrom);
        let ids: Vec<BeadId> = found.map(|(id, _)| id).collect();
        let known = self.store.get(&ids)?;
        let mut made = (Vec::new(), Vec::new());
        for item in unfiled(items, source, &known) {
            let Some(id) = self.free_id(source, item, &known)? else {
                continue;
            };
            let epic = self.epic(assignment, item)?;
            let placement = match &epic {
                Some(epic) => Placement::Sibling(epic),
                None => Placement::Orphan,
            };
            let document = document(item, &id, source, placement);
            let entry = Entry::from_document(document).map_err(|errors| StoreError::Invalid {
                id: id.to_string(),
                errors,
            })?;
            made.0.push(Write::Insert(Box::new(entry)));
            made.1.push(id);
        }
        Ok(made)
    }

    /// An id that follows from what was found and where, so that it is the same whenever the report is looked at; none when the bead is
    /// there and only its title was changed.
    fn free_id(
        &self,
        source: &BeadId,
        item: &Discovered,
        known: &[Record],
    ) -> Result<Option<BeadId>, Stop> {
        let prefix = prefix_of(source.as_str());
        let hex = digest::sha256(format!("{source}\n{}", item.title).as_bytes());
        for length in ID_LENGTHS {
            let Ok(id) = BeadId::parse(&format!("{prefix}-{}", &hex[..length])) else {
                break;
            };
            if known.iter().any(|record| *record.issue.id() == id) {
                return Ok(None);
            }
            if self.store.get(std::slice::from_ref(&id))?.is_empty() {
                return Ok(Some(id));
            }
        }
        let message = format!("no id is free for the discovered work `{}`", item.title);
        Err(ImplementError::Trouble(Trouble::for_bead(message)).into())
    }

    /// The epic beside whose other parts an item belongs, if the user's own command says so.
    fn epic(&self, assignment: &Assignment, item: &Discovered) -> Result<Option<BeadId>, Stop> {
        let Some(command) = &self.site.config.implement.sibling else {
            return Ok(None);
        };
        let parents: Vec<BeadId> = assignment.source.issue.parents().cloned().collect();
        let parents = self.store.get(&parents)?;
        let mut epics = parents.iter().filter(|it| it.issue.issue_type() == "epic");
        let Some(epic) = epics.next() else {
            return Ok(None);
        };
        Ok(self
            .is_sibling(command, item, epic)
            .then(|| epic.issue.id().clone()))
    }

    fn is_sibling(&self, command: &[String], item: &Discovered, epic: &Record) -> bool {
        let with = [
            ("BEADS_RALPH_TITLE", item.title.clone()),
            ("BEADS_RALPH_DETAIL", item.detail.clone()),
            ("BEADS_RALPH_EPIC", epic.issue.id().to_string()),
        ];
        let spec = Spec {
            mark: self.site.mark.below(),
            argv: command.to_vec(),
            cwd: self.site.root.to_owned(),
            env: Environment {
                without: self.site.config.agents.withhold_env.clone(),
                with: (with.into_iter())
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect(),
            },
            stdin: Stdin::Closed,
            limits: Limits {
                wall: Some(SIBLING_LIMIT),
                ..Limits::default()
            },
            output: None,
        };
        let ended = self.site.units.run(&spec, self.site.cancel, &mut Silent);
        ended.is_ok_and(|ended| {
            ended.ending == UnitEnding::Exited(0) && ended.stdout.text().trim() == "sibling"
        })
    }
}

fn step_update(
    assignment: &Assignment,
    held: &Held,
    settlement: &Settlement,
) -> Result<Write, Stop> {
    let step = &assignment.step.issue;
    let mut edits = Vec::new();
    if let Some(text) = &settlement.audit_label {
        edits.push(label(text)?);
    }
    let notes = settlement.notes.iter().cloned();
    edits.extend(notes.map(Edit::AppendNotes));
    if !settlement.faults.is_empty() {
        let faults = settlement.faults.join("\n- ");
        let note = format!("implement-bead: problems in the report:\n- {faults}");
        edits.push(Edit::AppendNotes(note));
    }
    match &settlement.outcome {
        Outcome::Complete(reason) => edits.push(Edit::Close(reason.clone())),
        Outcome::Human(note) => {
            edits.extend(flag(step, note));
            let reason = note.lines().next().unwrap_or_default();
            edits.push(Edit::Close(reason.to_owned()));
        }
    }
    Ok(Write::Update {
        id: step.id().clone(),
        edits,
        guard: Guard::fenced(held.fence),
    })
}

/// The project's prefix in an id: all before the last `-`, without the numbers of parts.
fn prefix_of(id: &str) -> &str {
    let whole = id.split('.').next().unwrap_or(id);
    whole.rsplit_once('-').map_or(whole, |(prefix, _)| prefix)
}

fn update(record: &Record, edits: Vec<Edit>) -> Write {
    Write::Update {
        id: record.issue.id().clone(),
        edits,
        guard: Guard::default(),
    }
}

/// What is done to the source: what the stage says, and the flag where a person is needed.
fn source_updates(source: &Record, settlement: &Settlement) -> Vec<Write> {
    let noted = source.issue.text("notes").unwrap_or_default();
    let is_new = |edit: &Edit| !matches!(edit, Edit::AppendNotes(text) if noted.contains(text));
    let edits = settlement.source.iter().filter(|edit| is_new(edit));
    let mut edits: Vec<Edit> = edits.cloned().collect();
    if let Outcome::Human(note) = &settlement.outcome {
        edits.extend(flag(&source.issue, note));
    }
    let mut updates = Vec::new();
    if settlement.starts_source && source.issue.status() == IssueStatus::Open {
        updates.push(Write::Update {
            id: source.issue.id().clone(),
            edits: vec![Edit::Status(IssueStatus::InProgress.into())],
            // Nobody holds the source; what is held is the step.
            guard: Guard {
                status: Some(IssueStatus::Open.into()),
                ..Guard::forced()
            },
        });
    }
    if !edits.is_empty() {
        updates.push(update(source, edits));
    }
    updates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i_26_new_beads_have_the_prefix_of_their_project() {
        for (id, prefix) in [
            ("proj-42", "proj"),
            ("my-proj-7f3", "my-proj"),
            ("proj-1.2", "proj"),
            ("7bk.19.3", "7bk"),
        ] {
            assert_eq!(prefix_of(id), prefix, "{id}");
        }
    }
}

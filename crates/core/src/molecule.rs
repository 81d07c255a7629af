//! A molecule as it stands (F-12, F-13): its steps in the order of their formula, where each of them is, and how far the whole is.
//!
//! A molecule is a root and everything below it. What its formula said is found in the root: `metadata.steps` has the ids of the steps in
//! their order. Steps that it does not name, which came later or from another formula, come after them in the order of
//! their ids; the gate of a step stands before the step. Nothing here changes anything; when a root closes is decided in
//! [`issue`](crate::issue::close_completed).

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use crate::bead::BeadId;
use crate::issue::{Issue, Record, Standing, is_wisp};
use crate::vocabulary::{EdgeType, IssueType, Status, metadata};

/// Where a step stands among the others: those that the formula names, then the rest by id.
type Rank = (usize, bool, BeadId);

/// A root with its steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Molecule {
    root: Record,
    steps: Vec<Step>,
}

/// How far a molecule is. Gates count, as they do for its end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MoleculeProgress {
    /// Everything below the root.
    pub total: usize,
    /// What is closed.
    pub done: usize,
    /// What is in progress.
    pub current: usize,
    /// What can be started.
    pub ready: usize,
}

impl MoleculeProgress {
    /// The part that is done, in hundredths; a molecule without steps is at its beginning.
    pub fn percent(self) -> u64 {
        let hundredths = (self.done as u64).saturating_mul(100);
        hundredths.checked_div(self.total as u64).unwrap_or(0)
    }
}

/// Whether an issue is the root of a molecule.
pub fn is_root(issue: &Issue) -> bool {
    issue.issue_type() == IssueType::Molecule
}

impl Molecule {
    /// Puts a root and everything below it in order.
    pub fn new(root: Record, below: Vec<Record>) -> Self {
        let known = formula_order(&root.issue);
        let unfinished = with_unfinished_parts(&below);
        let mut ranked: BTreeMap<Rank, Step> = BTreeMap::new();
        for record in below {
            let is_parent = unfinished.contains(record.issue.id());
            let step = Step::new(&root.issue, record, is_parent);
            ranked.insert(rank(&step, &known), step);
        }
        Self {
            root,
            steps: ranked.into_values().collect(),
        }
    }

    /// The root.
    pub fn root(&self) -> &Record {
        &self.root
    }

    /// Its steps and gates, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The formula that it was made from, where the root says so.
    pub fn formula(&self) -> Option<&str> {
        self.root.issue.metadata()?.get(metadata::FORMULA)?.as_str()
    }

    /// Whether it is short-lived.
    pub fn is_wisp(&self) -> bool {
        is_wisp(&self.root.issue)
    }

    /// Where one is in it (F-13): the steps that are in progress, else those that can be started; none when all is done.
    pub fn current(&self) -> Vec<&Step> {
        let at = |place: StepState| -> Vec<&Step> {
            let steps = self.steps.iter().filter(|step| !step.is_gate());
            steps.filter(|step| step.place() == place).collect()
        };
        let current = at(StepState::Current);
        if current.is_empty() {
            at(StepState::Ready)
        } else {
            current
        }
    }

    /// How far it is.
    pub fn progress(&self) -> MoleculeProgress {
        let mut progress = MoleculeProgress {
            total: self.steps.len(),
            ..MoleculeProgress::default()
        };
        for step in &self.steps {
            match step.place() {
                StepState::Done => progress.done += 1,
                StepState::Current => progress.current += 1,
                StepState::Ready => progress.ready += 1,
                StepState::Blocked | StepState::Pending => {}
            }
        }
        progress
    }

    /// Everything of it that is not closed: the steps, then the root.
    pub fn unfinished(&self) -> impl Iterator<Item = &Record> {
        self.all()
            .filter(|record| record.issue.standing() != Standing::Closed)
    }

    /// Everything of it: the steps, then the root.
    pub fn all(&self) -> impl Iterator<Item = &Record> {
        let steps = self.steps.iter().map(Step::record);
        steps.chain([&self.root])
    }
}

/// The places of the steps that the formula names.
fn formula_order(root: &Issue) -> HashMap<&str, usize> {
    let steps = root.metadata().and_then(|map| map.get(metadata::STEPS));
    let steps = steps.and_then(Value::as_array).into_iter().flatten();
    let mut order = HashMap::new();
    for (at, step) in steps.filter_map(Value::as_str).enumerate() {
        order.entry(step).or_insert(at);
    }
    order
}

fn rank(step: &Step, known: &HashMap<&str, usize>) -> Rank {
    let named = step.own_name().and_then(|name| match step.gated() {
        Some(gated) => known.get(gated),
        None => known.get(name),
    });
    let at = named.copied().unwrap_or(usize::MAX);
    (at, !step.is_gate(), step.id().clone())
}

/// The issues of which a part is not closed.
fn with_unfinished_parts(below: &[Record]) -> HashSet<BeadId> {
    let unfinished = below
        .iter()
        .filter(|record| record.issue.standing() != Standing::Closed);
    let edges = unfinished.flat_map(|record| record.issue.dependencies());
    edges
        .filter(|edge| edge.kind() == EdgeType::ParentChild)
        .map(|edge| edge.target().clone())
        .collect()
}

crate::text::word_enum! {
    /// Where a step is, in the words of `bd`.
    pub enum StepState {
        /// It is closed.
        Done = "done",
        /// Somebody works on it.
        Current = "current",
        /// It can be started.
        Ready = "ready",
        /// Its status says that it is blocked: a person is needed.
        Blocked = "blocked",
        /// It waits for other steps, for its own parts, or for its time.
        Pending = "pending",
    }
}

/// A step, or the gate of one.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    record: Record,
    role: String,
    is_own: bool,
    place: StepState,
}

impl Step {
    /// A step of a root; whether parts of it are open keeps it from being started.
    pub(super) fn new(root: &Issue, record: Record, has_open_parts: bool) -> Self {
        let issue = &record.issue;
        let rest = issue.id().as_str().strip_prefix(root.id().as_str());
        let own = rest.and_then(|rest| rest.strip_prefix('-'));
        let stage = issue
            .metadata()
            .and_then(|map| map.get(metadata::STAGE))
            .and_then(serde_json::Value::as_str);
        let role = stage.or(own).unwrap_or(issue.id().as_str()).to_owned();
        Self {
            is_own: own.is_some(),
            place: place(&record, has_open_parts),
            role,
            record,
        }
    }

    /// Its record.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Its bead's id.
    pub fn id(&self) -> &BeadId {
        self.record.issue.id()
    }

    /// The id that it has in its formula.
    pub fn role(&self) -> &str {
        &self.role
    }

    /// Where it is.
    pub fn place(&self) -> StepState {
        self.place
    }

    /// Whether nobody works on it: others wait for what it stands for.
    pub fn is_gate(&self) -> bool {
        self.record.issue.issue_type() == IssueType::Gate
    }

    /// The id that it has in the formula of this very molecule; the steps of another one that is attached have none here.
    pub(super) fn own_name(&self) -> Option<&str> {
        self.is_own.then_some(&self.role)
    }

    /// The step that it is the gate of.
    pub(super) fn gated(&self) -> Option<&str> {
        self.role.strip_prefix("gate-").filter(|_| self.is_gate())
    }
}

fn place(record: &Record, has_open_parts: bool) -> StepState {
    match (
        record.issue.standing(),
        Status::known(record.issue.status()),
    ) {
        (Standing::Closed, _) => StepState::Done,
        (_, Some(Status::InProgress)) => StepState::Current,
        (_, Some(Status::Blocked)) => StepState::Blocked,
        (_, Some(Status::Open)) if !record.is_blocked && !has_open_parts => StepState::Ready,
        _ => StepState::Pending,
    }
}

#[cfg(test)]
mod tests;

//! What a pour makes: one root and a bead for each step and each gate (F-6).

use std::collections::{BTreeSet, HashMap, HashSet};

use super::model::{Children, Phase, Step};
use super::molecule_json::{BeadDocument, Edge, RootMetadata, Waiting};
use super::place::{Findings, Place};
use crate::bead::{FieldError, FieldErrorKind, Timestamp};
use crate::issue::{Document, Issue, Label, check_title};
use crate::text::excerpt;
use crate::vocabulary::{EdgeType, IssueType, label, metadata};

/// The type of a gate's bead.
pub const GATE: &str = "gate";

/// A compiled formula.
#[derive(Debug, Clone, PartialEq)]
pub struct Molecule {
    /// The formula's name, which is the root's title (F-6).
    pub formula: String,
    /// What it does.
    pub description: String,
    /// Whether it is to last.
    pub phase: Phase,
    /// A word of its author.
    pub intent: Option<String>,
    /// Its steps and gates in the order of the formula; parents before their children.
    pub steps: Vec<StepBead>,
}

impl Molecule {
    /// Turns types that a store does not take into `epic` for steps with children and `task` for others, and gives their names.
    pub fn flatten_types(&mut self, is_known: impl Fn(&str) -> bool) -> BTreeSet<String> {
        let parents: HashSet<String> = (self.steps.iter())
            .filter_map(|step| step.parent.clone())
            .collect();
        let mut flattened = BTreeSet::new();
        for step in &mut self.steps {
            if !is_known(&step.issue_type) {
                let plain = if parents.contains(&step.id) {
                    IssueType::Epic
                } else {
                    IssueType::Task
                };
                flattened.insert(std::mem::replace(&mut step.issue_type, plain.into()));
            }
        }
        flattened
    }
}

/// A bead of a molecule without its id.
#[derive(Debug, Clone, PartialEq)]
pub struct StepBead {
    /// Its name in the molecule.
    pub id: String,
    /// The step that it is a part of; none for a part of the molecule itself.
    pub parent: Option<String>,
    /// What it is about.
    pub title: String,
    /// What is to be done.
    pub description: String,
    /// More about it.
    pub notes: String,
    /// Its type.
    pub issue_type: String,
    /// How urgent it is.
    pub priority: u8,
    /// Tags.
    pub labels: Vec<String>,
    /// Who is to do it.
    pub assignee: Option<String>,
    /// What its author added.
    pub metadata: Document,
    /// What must be done before.
    pub needs: Vec<Need>,
    /// What is waited for, if it is a gate.
    pub gate: Option<Awaited>,
}

/// Something that a step waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// The other step.
    pub step: String,
    /// In which way.
    pub wait: Wait,
}

/// In which way a step waits for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Until it is closed.
    ForIt,
    /// Until its children are closed.
    ForChildren(Children),
    /// Until it and its children are closed.
    ForBoth(Children),
}

/// What a gate waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Awaited {
    /// What sort of thing.
    pub kind: String,
    /// Which one.
    pub id: Option<String>,
    /// How long.
    pub timeout: Option<std::time::Duration>,
}

/// The beads of steps whose variables are filled in.
pub(super) fn step_beads(steps: &[Step], findings: &mut Findings) -> Vec<StepBead> {
    let mut beads = Vec::new();
    for step in steps {
        add(step, None, &mut beads, findings);
    }
    beads
}

fn add(step: &Step, parent: Option<&str>, beads: &mut Vec<StepBead>, findings: &mut Findings) {
    let mut bead = bead(step, parent, findings);
    let gate = gate(step, parent);
    if let Some(gate) = &gate {
        bead.needs.push(Need {
            step: gate.id.clone(),
            wait: Wait::ForIt,
        });
    }
    beads.push(bead);
    beads.extend(gate);
    for child in &step.children {
        add(child, Some(&step.id.value), beads, findings);
    }
}

fn bead(step: &Step, parent: Option<&str>, findings: &mut Findings) -> StepBead {
    let id = &step.id.value;
    if step.title.value.trim().is_empty() {
        let message = format!("the title of the step `{}` is empty", excerpt(id));
        findings.refuse(step.title.place, message, "");
    }
    let kind = match &step.kind {
        Some(kind) => kind.value.trim().to_owned(),
        None if step.children.is_empty() => IssueType::Task.into(),
        None => IssueType::Epic.into(),
    };
    let text = |text: &Option<super::place::Placed<String>>| {
        text.as_ref()
            .map_or_else(String::new, |text| text.value.clone())
    };
    StepBead {
        id: id.clone(),
        parent: parent.map(str::to_owned),
        title: step.title.value.clone(),
        description: text(&step.description),
        notes: text(&step.notes),
        issue_type: kind,
        priority: step.priority.unwrap_or(2),
        labels: labels(step, findings),
        assignee: (step.assignee.as_ref())
            .map(|assignee| assignee.value.clone())
            .filter(|assignee| !assignee.is_empty()),
        metadata: metadata(step, findings),
        needs: needs(step),
        gate: None,
    }
}

fn labels(step: &Step, findings: &mut Findings) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    let mut add = |label: String, place: Place| {
        if let Err(wrong) = Label::parse(&label) {
            findings.refuse(place, wrong.message, "");
        } else if !labels.contains(&label) {
            labels.push(label);
        }
    };
    for label in &step.labels {
        add(label.value.clone(), label.place);
    }
    if let Some(waits_for) = &step.waits_for {
        let label = format!("gate:{}", waits_for.written());
        add(label, waits_for.place);
    }
    add(
        format!("{}{}", label::STAGE_PREFIX, step.id.value),
        step.id.place,
    );
    labels
}

fn metadata(step: &Step, findings: &mut Findings) -> Document {
    let mut metadata = Document::new();
    if let Some(own) = &step.metadata {
        if own.value.contains_key(metadata::STAGE) {
            let message = format!(
                "`metadata.{}` is the name of the step and cannot be set",
                metadata::STAGE
            );
            findings.refuse(own.place, message, "give the key another name");
        }
        metadata.extend(own.value.clone());
    }
    if let Some(name) = &step.name {
        let kept = metadata.entry("name");
        kept.or_insert_with(|| name.value.as_str().into());
    }
    metadata.insert(metadata::STAGE.to_owned(), step.id.value.as_str().into());
    metadata
}

/// There is one edge to each other step: waiting for its children takes the place of waiting for it alone.
fn needs(step: &Step) -> Vec<Need> {
    let spawner = step.waits_for.as_ref().map(|waits_for| {
        let is_needed = (step.needs.iter()).any(|need| need.value == waits_for.spawner);
        let wait = if is_needed {
            Wait::ForBoth(waits_for.children)
        } else {
            Wait::ForChildren(waits_for.children)
        };
        Need {
            step: waits_for.spawner.clone(),
            wait,
        }
    });
    let others = step.needs.iter().map(|need| need.value.clone());
    let mut needs: Vec<Need> = others
        .filter(|need| spawner.as_ref().is_none_or(|spawner| spawner.step != *need))
        .map(|step| Need {
            step,
            wait: Wait::ForIt,
        })
        .collect();
    needs.extend(spawner);
    needs
}

/// The name of a step's gate.
pub(super) fn gate_id(step: &str) -> String {
    format!("gate-{step}")
}

/// The bead of a step's gate, beside the step.
fn gate(step: &Step, parent: Option<&str>) -> Option<StepBead> {
    let gate = step.gate.as_ref()?;
    let id = gate.await_id.as_ref().map(|id| id.value.clone());
    let title = match &id {
        Some(id) => format!("Gate: {} {id}", gate.kind.value),
        None => format!("Gate: {}", gate.kind.value),
    };
    let mut metadata = Document::new();
    if let Some(repo) = &gate.repo {
        metadata.insert("repo".to_owned(), repo.value.as_str().into());
    }
    Some(StepBead {
        id: gate_id(&step.id.value),
        parent: parent.map(str::to_owned),
        title,
        description: format!("Async gate for step {}", step.id.value),
        notes: String::new(),
        issue_type: GATE.to_owned(),
        priority: 2,
        labels: Vec::new(),
        assignee: None,
        metadata,
        needs: Vec::new(),
        gate: Some(Awaited {
            kind: gate.kind.value.clone(),
            id,
            timeout: gate.timeout,
        }),
    })
}

/// How a molecule becomes beads.
#[derive(Debug, Clone)]
pub struct Pouring<'a> {
    /// The root's id.
    pub root: &'a str,
    /// Who is to look after the root.
    pub assignee: Option<&'a str>,
    /// Tags of the root.
    pub labels: &'a [String],
    /// The bead that the root is a part of.
    pub parent: Option<&'a str>,
    /// Whether it vanishes (F-10).
    pub is_wisp: bool,
    /// When, and who.
    pub now: &'a Timestamp,
    /// Who pours.
    pub actor: &'a str,
}

impl Molecule {
    /// The id of a step's bead.
    pub fn bead_id(root: &str, step: &str) -> String {
        format!("{root}-{step}")
    }

    /// The steps without the gates.
    pub fn work(&self) -> impl Iterator<Item = &StepBead> {
        self.steps.iter().filter(|step| step.gate.is_none())
    }

    /// For each bead the places of those that it waits for: what it needs, what the steps that it is a part of need, and its
    /// children, because a step with children ends after them. Waiting for the children of a step is taken as waiting for the step.
    pub fn waits(&self) -> Vec<Vec<usize>> {
        let places: HashMap<&str, usize> = (self.steps.iter().enumerate())
            .map(|(at, step)| (step.id.as_str(), at))
            .collect();
        let mut waits: Vec<Vec<usize>> = Vec::with_capacity(self.steps.len());
        let mut children = vec![Vec::new(); self.steps.len()];
        let mut inherited: Vec<Vec<usize>> = Vec::with_capacity(self.steps.len());
        for (at, step) in self.steps.iter().enumerate() {
            let own = step.needs.iter();
            let own = own.filter_map(|need| places.get(need.step.as_str()).copied());
            // Parents come before their children, so that what they inherit is known.
            let parent = step.parent.as_deref().and_then(|parent| places.get(parent));
            let mut needs = parent.map_or_else(Vec::new, |parent| inherited[*parent].clone());
            needs.extend(own);
            if let Some(parent) = parent {
                children[*parent].push(at);
            }
            inherited.push(needs.clone());
            waits.push(needs);
        }
        for (waits, children) in waits.iter_mut().zip(children) {
            waits.extend(children);
            waits.sort_unstable();
            waits.dedup();
        }
        waits
    }

    /// The beads, the root first. A variable can make a title longer than titles may be.
    pub fn issues(&self, pouring: &Pouring<'_>) -> Result<Vec<Issue>, Vec<FieldError>> {
        let root = std::iter::once(self.root(pouring).to_value());
        let steps = self
            .steps
            .iter()
            .map(|step| step.document(pouring).to_value());
        let issues = root.chain(steps).map(Issue::without_comments);
        let issues = issues.collect::<Result<Vec<_>, _>>()?;
        let long: Vec<FieldError> = issues.iter().filter_map(long_title).collect();
        if long.is_empty() {
            Ok(issues)
        } else {
            Err(long)
        }
    }

    fn root<'a>(&'a self, pouring: &'a Pouring<'_>) -> BeadDocument<'a, RootMetadata<'a>> {
        let parent = pouring
            .parent
            .map(|parent| Edge::new(parent.to_owned(), EdgeType::ParentChild, pouring));
        BeadDocument {
            title: &self.formula,
            description: &self.description,
            assignee: pouring.assignee.filter(|assignee| !assignee.is_empty()),
            labels: pouring.labels,
            metadata: Some(RootMetadata {
                formula: &self.formula,
                steps: self.work().map(|step| step.id.as_str()).collect(),
                intent: self.intent.as_deref(),
            }),
            dependencies: parent.into_iter().collect(),
            ..BeadDocument::new(
                pouring.root.to_owned(),
                IssueType::Molecule.as_str(),
                pouring,
            )
        }
    }
}

fn long_title(issue: &Issue) -> Option<FieldError> {
    let long = check_title(issue.title()).err()?;
    Some(FieldError {
        path: format!("{}.title", issue.id()),
        message: long.to_string(),
        kind: FieldErrorKind::Value,
    })
}

impl StepBead {
    fn document<'a>(&'a self, pouring: &'a Pouring<'_>) -> BeadDocument<'a, &'a Document> {
        let parent = match &self.parent {
            Some(parent) => Molecule::bead_id(pouring.root, parent),
            None => pouring.root.to_owned(),
        };
        let needs = self.needs.iter().map(|need| need.edge(pouring));
        let parent = Edge::new(parent, EdgeType::ParentChild, pouring);
        let timeout = self.gate.as_ref().and_then(|gate| gate.timeout);
        let id = Molecule::bead_id(pouring.root, &self.id);
        BeadDocument {
            title: &self.title,
            description: &self.description,
            notes: &self.notes,
            priority: self.priority,
            assignee: self
                .assignee
                .as_deref()
                .filter(|assignee| !assignee.is_empty()),
            labels: &self.labels,
            metadata: Some(&self.metadata).filter(|metadata| !metadata.is_empty()),
            await_type: self.gate.as_ref().map(|gate| gate.kind.as_str()),
            await_id: self.gate.as_ref().and_then(|gate| gate.id.as_deref()),
            timeout: timeout.map(|timeout| u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX)),
            dependencies: std::iter::once(parent).chain(needs).collect(),
            ..BeadDocument::new(id, &self.issue_type, pouring)
        }
    }
}

impl Need {
    fn edge<'a>(&self, pouring: &'a Pouring<'_>) -> Edge<'a> {
        let target = Molecule::bead_id(pouring.root, &self.step);
        let (children, also_blocks) = match self.wait {
            Wait::ForIt => return Edge::new(target, EdgeType::Blocks, pouring),
            Wait::ForChildren(children) => (children, false),
            Wait::ForBoth(children) => (children, true),
        };
        Edge {
            waiting: Some(
                Waiting {
                    gate: children.as_str(),
                    also_blocks,
                }
                .to_text(),
            ),
            ..Edge::new(target, EdgeType::WaitsFor, pouring)
        }
    }
}

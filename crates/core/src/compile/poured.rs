//! Sprints with a formula (F-16, Z-27): the beads of a molecule in the place of one bead.
//!
//! The steps that begin take the sprint's type and metadata and wait for what the sprint waits for. Steps that come later and are
//! ordinary tasks take them too, with their own text as their task, so that the loop can do them; others stay as the formula has
//! them. Whoever waits for the sprint waits for the molecule's root.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value};

use crate::bead::{ASSIGNEE, BeadId, FieldError, Priority, RalphBead, to_value};
use crate::formula::distill::offered;
use crate::formula::{Molecule, Need, Pouring, StepBead, Values, Wait};
use crate::graph::in_order;
use crate::issue::{Dependency, Issue};
use crate::vocabulary::{EdgeType, metadata};

/// The key of the values in the root's metadata.
const VALUES: &str = "values";

/// The keys of a root's metadata that follow the plan and the formula.
pub const ROOT_KEYS: [&str; 4] = ["plan_file", "sprint", "steps", VALUES];

/// The values that were given when a molecule was poured.
pub fn remembered_values(root: &Issue) -> Values {
    let mut values = Values::default();
    let kept = root
        .metadata()
        .and_then(|metadata| metadata.get(VALUES)?.as_object());
    for (name, value) in kept.into_iter().flatten() {
        values.set(name, value.as_str().unwrap_or_default());
    }
    values
}

/// What a bead of a molecule has beyond a bead of the loop.
#[derive(Debug, Clone, PartialEq)]
pub struct MoleculePart {
    /// The molecule's root.
    pub root: BeadId,
    /// The bead that it is a part of.
    pub parent: BeadId,
    /// What the formula adds to the metadata; what the sprint says comes before it.
    pub metadata: Map<String, Value>,
    /// Its notes, which may be empty.
    pub notes: String,
    /// Edges that wait for children.
    pub edges: Vec<Dependency>,
}

/// What a sprint with a formula becomes.
#[derive(Debug)]
pub struct PouredSprint {
    /// The root's id.
    pub root: BeadId,
    /// The beads that the loop does.
    pub work: Vec<RalphBead>,
    /// What these have besides, by id.
    pub parts: BTreeMap<BeadId, MoleculePart>,
    /// The root, and what the loop does not do.
    pub rest: Vec<Issue>,
}

/// The values that a sprint offers to its formula (F-16), under the names of both seeds (Z-27), and every other text of its bead
/// under the name that `distill` gives it. Those that were given win.
pub fn sprint_values(bead: &RalphBead, given: &Values) -> Values {
    let mut values = given.clone();
    values.offer("worktree", &bead.metadata.worktree_path);
    if let Some(agent) = bead.metadata.dev_agents.first() {
        values.offer("dev_agent", name_of(agent.agent.as_str()));
    }
    // `sprint_id`, `sprint_title`, `title`, `worktree_path`, `branch`, `dev_model` and the rest.
    offered(bead, &mut values);
    values
}

/// The name of an agent: its file without directory and ending.
fn name_of(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.strip_suffix(".md").unwrap_or(file)
}

/// Puts a molecule in the place of a sprint's bead, whose id is the root's.
pub fn poured_sprint(
    bead: &RalphBead,
    molecule: &Molecule,
    given: &Values,
    actor: &str,
) -> Result<PouredSprint, Vec<FieldError>> {
    let root = bead.id.as_str();
    let pouring = Pouring {
        root,
        assignee: None,
        labels: &[],
        parent: None,
        is_wisp: false,
        now: &bead.created_at,
        actor,
    };
    let outline = Outline::of(molecule);
    let mut poured = PouredSprint {
        root: bead.id.clone(),
        work: Vec::new(),
        parts: BTreeMap::new(),
        rest: Vec::new(),
    };
    let issues = molecule.issues(&pouring)?;
    let mut issues = issues.into_iter();
    if let Some(issue) = issues.next() {
        poured.rest.push(with_identity(issue, bead, given)?);
    }
    for (step, issue) in molecule.steps.iter().zip(issues) {
        if outline.is_work(step) {
            let id = issue.id().clone();
            let part = part(step, &issue, &bead.id);
            poured.parts.insert(id.clone(), part);
            let is_first = outline.begins(step);
            let mut work = step_bead(bead, step, id, is_first);
            work.estimated_minutes = outline.share(bead.estimated_minutes, step);
            poured.work.push(work);
        } else {
            poured.rest.push(issue);
        }
    }
    Ok(poured)
}

/// The steps of a molecule by their names, and those that have parts.
struct Outline<'m> {
    steps: HashMap<&'m str, &'m StepBead>,
    parents: HashSet<&'m str>,
    /// How many steps of the loop stand before each of them, at the most.
    depths: HashMap<&'m str, u32>,
}

impl<'m> Outline<'m> {
    fn of(molecule: &'m Molecule) -> Self {
        let steps = molecule.steps.iter();
        let mut outline = Self {
            steps: steps.clone().map(|step| (step.id.as_str(), step)).collect(),
            parents: steps.filter_map(|step| step.parent.as_deref()).collect(),
            depths: HashMap::new(),
        };
        outline.measure(molecule);
        outline
    }

    /// Finds how many steps of the loop stand before each of them, at the most.
    fn measure(&mut self, molecule: &'m Molecule) {
        let steps = &molecule.steps;
        let places: HashMap<&str, usize> = (steps.iter().enumerate())
            .map(|(at, step)| (step.id.as_str(), at))
            .collect();
        let needs = |step: &StepBead| {
            let needs = step.needs.iter().map(|need| need.step.as_str());
            needs.filter_map(|id| places.get(id).copied()).collect()
        };
        let needs: Vec<Vec<usize>> = steps.iter().map(needs).collect();
        let mut depths = vec![0; steps.len()];
        for at in in_order(&needs) {
            let before = needs[at].iter();
            let before = before.map(|to| depths[*to] + u32::from(self.is_work(&steps[*to])));
            depths[at] = before.max().unwrap_or(0);
        }
        let pairs = steps.iter().zip(depths);
        let pairs = pairs.filter(|(step, _)| self.is_work(step));
        let pairs: Vec<(&str, u32)> = pairs.map(|(step, n)| (step.id.as_str(), n)).collect();
        self.depths.extend(pairs);
    }

    /// The part of a sprint's estimate that falls to one of its steps: the longest chain of steps takes as long as the sprint is
    /// thought to take (Z-41).
    fn share(&self, minutes: Option<u32>, step: &StepBead) -> Option<u32> {
        let minutes = minutes?;
        let depth = *self.depths.get(step.id.as_str())?;
        let longest = self.depths.values().max()? + 1;
        let (each, rest) = (minutes / longest, minutes % longest);
        Some((each + u32::from(depth < rest)).max(1))
    }

    /// A step begins when it waits for nothing of its molecule but a gate, and neither does what it is a part of.
    fn begins(&self, step: &StepBead) -> bool {
        let waits = step.needs.iter();
        let mut waits = waits.filter_map(|need| self.steps.get(need.step.as_str()));
        let is_first = !waits.any(|other| other.gate.is_none());
        let parent = step.parent.as_deref().and_then(|id| self.steps.get(id));
        is_first && parent.is_none_or(|parent| self.begins(parent))
    }

    /// Whether the loop does a step: one that has no parts, and that begins or is an ordinary task.
    fn is_work(&self, step: &StepBead) -> bool {
        let is_for_agents = step.assignee.as_deref().is_none_or(|name| name == ASSIGNEE);
        step.gate.is_none()
            && !self.parents.contains(step.id.as_str())
            && (self.begins(step) || (step.issue_type == "task" && is_for_agents))
    }
}

/// The root is found again by the sprint's plan and number (Z-10), and remembers the values that people gave.
fn with_identity(root: Issue, bead: &RalphBead, given: &Values) -> Result<Issue, Vec<FieldError>> {
    let mut document = root.into_document();
    let metadata = document
        .entry("metadata")
        .or_insert_with(|| Map::new().into());
    metadata["plan_file"] = bead.metadata.plan_file.as_str().into();
    metadata["sprint"] = bead.metadata.sprint.as_str().into();
    if let Some(map) = &bead.metadata.source_map {
        metadata[metadata::SOURCE_MAP] = to_value(map);
    }
    let pairs = given.names().filter_map(|name| {
        let value = given.get(name)?;
        Some((name.to_owned(), Value::from(value)))
    });
    let values: Map<String, Value> = pairs.collect();
    if !values.is_empty() {
        metadata[VALUES] = Value::Object(values);
    }
    document.insert("labels".to_owned(), bead.labels.clone().into());
    Issue::without_comments(Value::Object(document))
}

fn part(step: &StepBead, issue: &Issue, root: &BeadId) -> MoleculePart {
    let edges = issue.dependencies().iter();
    MoleculePart {
        root: root.clone(),
        parent: (issue.parents().next()).map_or_else(|| issue.id().clone(), Clone::clone),
        metadata: step.metadata.clone(),
        notes: step.notes.clone(),
        edges: edges
            .filter(|edge| edge.kind() == EdgeType::WaitsFor)
            .cloned()
            .collect(),
    }
}

/// The bead of a step that the loop does.
fn step_bead(sprint: &RalphBead, step: &StepBead, id: BeadId, is_first: bool) -> RalphBead {
    let mut bead = sprint.clone();
    let root = sprint.id.as_str();
    let blocks = |need: &&Need| need.wait == Wait::ForIt;
    let needs = step.needs.iter().filter(blocks);
    let needs: Vec<BeadId> = needs
        .filter_map(|need| BeadId::parse(&Molecule::bead_id(root, &need.step)).ok())
        .collect();
    if is_first {
        bead.dependencies.extend(needs);
    } else {
        let text = if step.description.trim().is_empty() {
            step.title.clone()
        } else {
            step.description.clone()
        };
        bead.metadata.dev_prompts = vec![text];
        bead.dependencies = needs;
    }
    for label in &step.labels {
        if !bead.labels.contains(label) {
            bead.labels.push(label.clone());
        }
    }
    bead.priority = Priority::new(step.priority.into()).unwrap_or(Priority::PLANNED);
    bead.title.clone_from(&step.title);
    bead.description.clone_from(&step.description);
    bead.id = id;
    bead
}

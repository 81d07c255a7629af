//! Which bead of a store belongs to which sprint (Z-10): the plan's file and the number decide, then the
//! annotation in the plan.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use crate::bead::BeadId;
use crate::compile::KnownIds;
use crate::diag::{Diagnostic, WarningCode};
use crate::issue::{Record, Standing, is_step};
use crate::number::SprintId;
use crate::plan::{Annotation, Plan, Sprint};
use crate::text::excerpt;

/// Whose bead a record is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BeadOwner {
    /// A sprint of a plan.
    Sprint {
        /// The plan's file.
        plan_file: String,
        /// The sprint.
        sprint: SprintId,
    },
    /// No plan made it.
    NoPlan,
}

impl fmt::Display for BeadOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sprint { plan_file, sprint } => {
                write!(f, "sprint {sprint} of {}", excerpt(plan_file))
            }
            Self::NoPlan => f.write_str("no sprint: it was not made from a plan"),
        }
    }
}

impl BeadOwner {
    /// Reads whose bead a record is from its metadata.
    pub fn of(record: &Record) -> Self {
        let text = |key: &str| record.issue.metadata()?.get(key)?.as_str();
        let sprint = text("sprint").and_then(SprintId::parse);
        match (text("plan_file"), sprint) {
            (Some(plan_file), Some(sprint)) => Self::Sprint {
                plan_file: plan_file.to_owned(),
                sprint,
            },
            _ => Self::NoPlan,
        }
    }

    /// The plan whose sprint has the bead.
    pub fn plan_file(&self) -> Option<&str> {
        match self {
            Self::Sprint { plan_file, .. } => Some(plan_file),
            Self::NoPlan => None,
        }
    }

    /// Whether it is this sprint of this plan.
    pub(super) fn is(&self, file: &str, number: &SprintId) -> bool {
        match self {
            Self::Sprint { plan_file, sprint } => plan_file == file && sprint == number,
            Self::NoPlan => false,
        }
    }

    /// The sprint, if it is one of this plan.
    pub(super) fn sprint_of(self, file: &str) -> Option<SprintId> {
        match self {
            Self::Sprint { plan_file, sprint } if plan_file == file => Some(sprint),
            _ => None,
        }
    }
}

/// The beads that sprints have already, and what is odd about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownBeads {
    /// The ids, for the compiler's settings.
    pub ids: KnownIds,
    /// Warnings, in the order of the document.
    pub findings: Vec<Diagnostic>,
}

/// The beads that a plan's annotations name: what must be fetched, besides the beads of the plan, for
/// [`known_ids`].
pub fn annotated_ids(plan: &Plan) -> BTreeSet<BeadId> {
    let annotations = plan.unique().filter_map(Sprint::annotation);
    annotations
        .filter_map(|annotation| annotation.id.clone())
        .collect()
}

/// Finds the beads of a plan's sprints among some records: those of the plan, and those that its
/// annotations name.
///
/// An annotation counts where no record has the sprint's number, so that a renumbered sprint and a plan that
/// was moved keep their beads. It does not count when another sprint has the bead, nor when the bead is of
/// another plan that still exists: such an annotation was copied. `plan_exists` says whether there is a plan
/// under the name that a record has for it.
pub fn known_ids(
    plan: &Plan,
    plan_file: &str,
    records: &[Record],
    plan_exists: impl Fn(&str) -> bool,
) -> KnownBeads {
    let mut known = KnownBeads::default();
    let by_id: BTreeMap<&BeadId, &Record> = records.iter().map(|r| (r.issue.id(), r)).collect();
    let mut by_number: BTreeMap<SprintId, Vec<&Record>> = BTreeMap::new();
    for record in by_id.values().filter(|record| !is_step(&record.issue)) {
        if let Some(sprint) = BeadOwner::of(record).sprint_of(plan_file) {
            by_number.entry(sprint).or_default().push(record);
        }
    }
    let mut holders: HashMap<BeadId, &Sprint> = HashMap::new();
    for sprint in plan.unique() {
        let candidates = by_number.get(&sprint.id.value).map(Vec::as_slice);
        if let Some(id) = choose(sprint, candidates.unwrap_or_default(), &mut known.findings) {
            holders.insert(id.clone(), sprint);
            known.ids.insert(sprint.id.value.clone(), id);
        }
    }
    for sprint in plan.unique() {
        let id = known.ids.get(&sprint.id.value);
        match adopt(sprint, id, &by_id, &holders, |owner| {
            is_copied(owner, plan_file, &plan_exists)
        }) {
            Adoption::Nothing => {}
            Adoption::Take(id) => drop(known.ids.insert(sprint.id.value.clone(), id)),
            Adoption::Ignore(finding) => known.findings.push(*finding),
        }
    }
    known
}

/// The bead of a sprint among those that have its number: the annotated one, else one that is not done. The
/// candidates are in the order of their ids.
fn choose(
    sprint: &Sprint,
    candidates: &[&Record],
    findings: &mut Vec<Diagnostic>,
) -> Option<BeadId> {
    let annotated = sprint
        .annotation()
        .and_then(|annotation| annotation.id.as_ref());
    let rank = |record: &&&Record| {
        let is_annotated = Some(record.issue.id()) == annotated;
        (!is_annotated, record.issue.standing() == Standing::Closed)
    };
    let chosen = candidates.iter().min_by_key(rank)?.issue.id();
    if candidates.len() > 1 {
        findings.push(several_beads(sprint, chosen, candidates.len()));
    }
    Some(chosen.clone())
}

/// What an annotation comes to.
enum Adoption {
    Nothing,
    Take(BeadId),
    Ignore(Box<Diagnostic>),
}

fn adopt(
    sprint: &Sprint,
    known: Option<&BeadId>,
    by_id: &BTreeMap<&BeadId, &Record>,
    holders: &HashMap<BeadId, &Sprint>,
    is_copied: impl Fn(&BeadOwner) -> bool,
) -> Adoption {
    let Some((annotation, named)) = sprint.annotation().and_then(|a| Some((a, a.id.as_ref()?)))
    else {
        return Adoption::Nothing;
    };
    let ignore = |finding| Adoption::Ignore(Box::new(finding));
    if let Some(known) = known {
        return if known == named {
            Adoption::Nothing
        } else {
            ignore(stale_annotation(sprint, annotation, known))
        };
    }
    let Some(record) = by_id.get(named) else {
        return Adoption::Nothing;
    };
    let owner = BeadOwner::of(record);
    if let Some(holder) = holders.get(named) {
        return ignore(taken_bead(annotation, named, holder));
    }
    match &owner {
        BeadOwner::Sprint { plan_file, .. } if is_copied(&owner) => {
            ignore(bead_of_other_plan(annotation, named, plan_file))
        }
        _ => Adoption::Take(named.clone()),
    }
}

/// Whether an annotation that names this owner's bead was copied from another plan.
fn is_copied(owner: &BeadOwner, own_file: &str, plan_exists: &impl Fn(&str) -> bool) -> bool {
    match owner {
        BeadOwner::Sprint { plan_file, .. } => plan_file != own_file && plan_exists(plan_file),
        BeadOwner::NoPlan => false,
    }
}

/// An annotation that names another bead than the store has under the sprint's number.
fn stale_annotation(sprint: &Sprint, annotation: &Annotation, known: &BeadId) -> Diagnostic {
    let message = format!(
        "sprint {} is bead {} in the store, so its annotation is ignored",
        sprint.id.value,
        excerpt(known.as_str())
    );
    Diagnostic::new(WarningCode::IgnoredBeadId, annotation.line, message)
        .label("not the id that the store has")
        .help("the number of a sprint decides before its annotation; if that is right, `plan annotate` corrects the line")
}

/// An annotation that names the bead of another sprint of the plan.
fn taken_bead(annotation: &Annotation, id: &BeadId, holder: &Sprint) -> Diagnostic {
    let message = format!(
        "bead {} belongs to sprint {} in the store, so this annotation is ignored",
        excerpt(id.as_str()),
        holder.id.value
    );
    Diagnostic::new(WarningCode::IgnoredBeadId, annotation.line, message)
        .label("another sprint's bead")
        .also(holder.heading.span, "the sprint that has it")
        .help("the number of a sprint decides before its annotation; remove this line if the sprint is a new one")
}

/// An annotation that names the bead of another plan.
fn bead_of_other_plan(annotation: &Annotation, id: &BeadId, plan_file: &str) -> Diagnostic {
    let message = format!(
        "bead {} belongs to the plan {}, so this annotation is ignored",
        excerpt(id.as_str()),
        excerpt(plan_file)
    );
    Diagnostic::new(WarningCode::IgnoredBeadId, annotation.line, message)
        .label("another plan's bead")
        .help("an annotation moves a bead to this plan only when the other plan is gone; remove this line")
}

/// A sprint that has more than one bead.
fn several_beads(sprint: &Sprint, chosen: &BeadId, n_beads: usize) -> Diagnostic {
    let message = format!(
        "sprint {} has {n_beads} beads in the store; {} is used and the rest left alone",
        sprint.id.value,
        excerpt(chosen.as_str())
    );
    Diagnostic::new(WarningCode::SeveralBeads, sprint.heading.span, message)
        .label("more than one bead")
        .help("close or delete those that are not meant; an annotation decides which one is used")
}

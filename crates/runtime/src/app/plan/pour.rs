//! Sprints with a formula (F-16, Z-27): their numbers, their molecules, and the findings about them, at the place where the plan
//! names the formula.

use std::collections::{BTreeMap, HashMap};

use crate::formulas::Formulas;
use crate::pour::Numbers;
use crate::store::{Store, StoreError};
use beads_ralph_core::bead::{BeadId, RalphBead};
use beads_ralph_core::compile::{
    Compiled, KnownIds, MoleculePart, PouredSprint, poured_sprint, remembered_values, sprint_values,
};
use beads_ralph_core::diag::{Code, Diagnostic, ErrorCode};
use beads_ralph_core::formula::{
    Absent, Compilation, Finding, Given, Molecule, Strictness, Values, compile,
};
use beads_ralph_core::issue::{Issue, Record, Standing};
use beads_ralph_core::number::SprintId;
use beads_ralph_core::plan::{Filter, Plan, Sprint};
use beads_ralph_core::text::{Spanned, excerpt};
use beads_ralph_core::vocabulary::IssueType;

/// Sprints of a plan that have a formula, by their numbers.
pub(super) fn formulas_of(plan: &Plan) -> BTreeMap<&SprintId, &Spanned<String>> {
    let with_formula = plan.unique().filter_map(|sprint| {
        let formula = sprint.body().formula.as_ref()?;
        Some((&sprint.id.value, formula))
    });
    with_formula.collect()
}

/// Gives the next numbers to the molecules of selected sprints that have none yet.
pub(super) fn number(
    plan: &Plan,
    filter: &Filter,
    known: &mut KnownIds,
    store: &dyn Store,
) -> Result<(), StoreError> {
    let mut numbers = Numbers::default();
    for sprint in plan.unique() {
        let id = &sprint.id.value;
        let body = sprint.body();
        let is_fixed = known.contains_key(id) || body.bead_id.is_some();
        if let Some(formula) = &body.formula
            && filter.selects(id)
            && !is_fixed
        {
            known.insert(id.clone(), numbers.next(store, &formula.value)?);
        }
    }
    Ok(())
}

/// What the formulas of a plan make.
#[derive(Debug, Default)]
pub(super) struct Pours {
    /// What beads of the loop have besides.
    pub(super) parts: BTreeMap<BeadId, MoleculePart>,
    /// The roots of molecules, and what the loop does not do of them; those that the store has too.
    pub(super) rest: Vec<(SprintId, Issue)>,
    /// The roots of molecules that are new.
    pub(super) roots: Vec<BeadId>,
}

/// Puts molecules in the place of the beads of sprints with a formula. A molecule that is done is left alone.
pub(super) fn pour(
    plan: &Plan,
    compiled: &mut Compiled,
    formulas: &Formulas,
    given: &Values,
    records: &[Record],
    actor: &str,
) -> Result<Pours, Vec<Diagnostic>> {
    let with_formula = formulas_of(plan);
    let records = by_id(records);
    let sprints: BTreeMap<&SprintId, &Sprint> = (plan.unique())
        .map(|sprint| (&sprint.id.value, sprint))
        .collect();
    let mut pours = Pours::default();
    let mut findings = Vec::new();
    let mut beads = Vec::with_capacity(compiled.beads.len());
    for bead in std::mem::take(&mut compiled.beads) {
        let known = records
            .get(&bead.id)
            .zip(sprints.get(&bead.metadata.sprint));
        findings.extend(known.and_then(|(record, sprint)| changed_kind(record, sprint)));
        let Some(name) = with_formula.get(&bead.metadata.sprint) else {
            beads.push(bead);
            continue;
        };
        let given = given_to(given, records.get(&bead.id).copied());
        let Some(molecule) = molecule_of(&bead, name, formulas, &given, &mut findings) else {
            continue;
        };
        match poured_sprint(&bead, &molecule, &given, actor) {
            Ok(poured) => beads.extend(pours.add(poured, &bead.metadata.sprint, &records)),
            Err(errors) => {
                let first = errors.first().map(ToString::to_string).unwrap_or_default();
                findings.push(refusal(ErrorCode::FormulaPourFailed, name, &first));
            }
        }
    }
    compiled.beads = beads;
    if beads_ralph_core::diag::has_errors(&findings) {
        return Err(findings);
    }
    compiled.findings.extend(findings);
    Ok(pours)
}

/// Records by their ids: plans and stores may have ten thousands.
fn by_id(records: &[Record]) -> HashMap<&BeadId, &Record> {
    let pairs = records.iter().map(|record| (record.issue.id(), record));
    pairs.collect()
}

/// The values that people give, and those that they gave when the molecule was poured.
fn given_to(given: &Values, root: Option<&Record>) -> Values {
    let mut values = given.clone();
    if let Some(root) = root {
        let remembered = remembered_values(&root.issue);
        for name in remembered.names() {
            values.offer(name, remembered.get(name).unwrap_or_default());
        }
    }
    values
}

/// A bead cannot become a molecule, nor a molecule a bead, once it is in the store.
fn changed_kind(record: &Record, sprint: &Sprint) -> Option<Diagnostic> {
    let formula = sprint.body().formula.as_ref();
    let is_molecule = record.issue.issue_type() == IssueType::Molecule;
    if record.issue.standing() == Standing::Closed {
        return None;
    }
    let id = excerpt(record.issue.id().as_str());
    let poured = record
        .issue
        .metadata()
        .and_then(|map| map.get("formula")?.as_str());
    if let (true, Some(formula), Some(poured)) = (is_molecule, formula, poured) {
        let message = format!(
            "sprint {} was poured from `{}` as {id}, and cannot become a molecule of another formula",
            sprint.id.value,
            excerpt(poured)
        );
        let help = "name that formula again, or burn the molecule with `beads-ralph mol burn --force` and apply the plan again";
        let is_same = formula.value == poured;
        return (!is_same).then(|| {
            Diagnostic::new(ErrorCode::ValidationConstraint, formula.span, message).help(help)
        });
    }
    if is_molecule == formula.is_some() {
        return None;
    }
    let (span, message, help) = match formula {
        Some(formula) => (
            formula.span,
            format!(
                "sprint {} is the bead {id} already, which cannot become a molecule",
                sprint.id.value
            ),
            "remove **Formula**, or delete the bead and apply the plan again",
        ),
        None => (
            sprint.id.span,
            format!(
                "sprint {} was poured as {id}, which cannot become a bead",
                sprint.id.value
            ),
            "write **Formula** again, or burn the molecule with `beads-ralph mol burn --force` and apply the plan again",
        ),
    };
    let code = ErrorCode::ValidationConstraint;
    Some(Diagnostic::new(code, span, message).help(help))
}

impl Pours {
    /// Takes what a sprint became; the beads of the loop come back.
    fn add(
        &mut self,
        poured: PouredSprint,
        sprint: &SprintId,
        records: &HashMap<&BeadId, &Record>,
    ) -> Vec<RalphBead> {
        let root = records.get(&poured.root);
        self.parts.extend(poured.parts);
        if root.is_some_and(|root| root.issue.standing() == Standing::Closed) {
            // A closed molecule is compared, so that changes are reported, and gets no new steps.
            let mut work = poured.work;
            work.retain(|bead| records.contains_key(&bead.id));
            return work;
        }
        if root.is_none() {
            self.roots.push(poured.root);
        }
        let rest = poured.rest.into_iter();
        self.rest.extend(rest.map(|issue| (sprint.clone(), issue)));
        poured.work
    }
}

/// What a sprint's formula makes of its values; what is wrong is said at the formula's name in the plan.
fn molecule_of(
    bead: &RalphBead,
    name: &Spanned<String>,
    formulas: &Formulas,
    given: &Values,
    findings: &mut Vec<Diagnostic>,
) -> Option<Molecule> {
    let values = sprint_values(bead, given);
    let given = Given::Offered(&values);
    match compile(formulas, &name.value, given, Strictness::Strict) {
        Ok(compilation) => {
            findings.extend(told(&compilation, name));
            compilation.molecule
        }
        Err(absent) => {
            let finding = refusal(absent.code(), name, &absent.to_string());
            findings.push(match absent {
                Absent::NotFound {
                    near: Some(near), ..
                } => finding.help(format!("did you mean `{near}`?")),
                _ => finding.help("`beads-ralph formula list` shows those that there are"),
            });
            None
        }
    }
}

/// The findings about a formula at the place where a plan names it.
fn told(compilation: &Compilation, name: &Spanned<String>) -> Vec<Diagnostic> {
    let told = |finding: &Finding| {
        let own = &finding.diagnostic;
        let message = format!("formula `{}`: {}", excerpt(&name.value), own.message);
        let help = match own.code {
            Code::Error(ErrorCode::FormulaMissingVar | ErrorCode::FormulaInvalidVar) => {
                match &own.help {
                    Some(help) => help.clone().into_owned(),
                    None => String::new(),
                }
            }
            _ => format!("see `beads-ralph formula check {}`", excerpt(&name.value)),
        };
        Diagnostic::new(own.code, name.span, message).help(help)
    };
    compilation.findings.iter().map(told).collect()
}

fn refusal(code: ErrorCode, name: &Spanned<String>, message: &str) -> Diagnostic {
    Diagnostic::new(code, name.span, message.to_owned())
}

/// A selected sprint cannot wait for a molecule that has no number yet: whoever pours it later would give it another name.
pub(super) fn unpoured_dependency(
    plan: &Plan,
    known: &KnownIds,
    compiled: &Compiled,
) -> Option<Diagnostic> {
    plan.unique().find_map(|sprint| {
        let formula = sprint.body().formula.as_ref()?;
        let has_id = known.contains_key(&sprint.id.value) || sprint.body().bead_id.is_some();
        let derived = BeadId::derive(&sprint.id.value, &sprint.title.value);
        (!has_id && compiled.external.contains(&derived)).then(|| {
            let message = format!(
                "a selected sprint depends on sprint {}, whose formula is not poured yet",
                sprint.id.value
            );
            refusal(ErrorCode::DependencyUnresolved, formula, &message)
                .help("select that sprint too, or apply it first")
        })
    })
}

//! A plan beside the store: what `plan apply` and `plan diff` both find out (contracts §4.4, Z-10).
//!
//! The order is that of E-10: everything that is wrong with the plan comes before anything that the store says, so
//! that plan errors need no store (E-11), and nothing is written before every selected bead is valid.

use std::collections::BTreeSet;

use beads_ralph_core::apply::{
    Context, Difference, Owner, Reconciliation, Scope, Unfit, annotated_ids, known_ids, reconcile,
};
use beads_ralph_core::bead::{BeadId, BeadShape};
use beads_ralph_core::compile::{
    Compiled, FormulaSprints, KnownIds, Refusal, Settings, build, plan_graph,
};
use beads_ralph_core::diag::{ErrorCode, sort_by_place};
use beads_ralph_core::formula::Values;
use beads_ralph_core::issue::{Query, Record, StatusFilter};
use beads_ralph_core::plan::{Filter, Plan};
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::formulas::Formulas;
use beads_ralph_runtime::removed_sprints;
use beads_ralph_runtime::store::{self, Store};

use crate::args::{Global, SelectionArgs};
use crate::beads::{Beads, here};
use crate::failure::Failure;
use crate::formula_sprints::{Pours, differences, number, pour, unpoured_dependency};
use crate::plan_source::{PlanSource, Surroundings};
use crate::ui::format::list;
use crate::ui::{Stream, Ui, quoted, render};

/// A plan that was read, and the repository around it.
pub(crate) struct Mason {
    pub(crate) source: PlanSource,
    pub(crate) plan: Plan,
    pub(crate) filter: Filter,
    surroundings: Surroundings,
}

/// What a plan is beside a store, at one moment.
pub(crate) struct Comparison {
    pub(crate) compiled: Compiled,
    pub(crate) reconciliation: Reconciliation,
    /// The ids of all sprints, for annotations.
    pub(crate) ids: KnownIds,
    /// The roots of molecules that would be new.
    pub(crate) molecules: Vec<BeadId>,
    /// Every bead of molecules.
    pub(crate) poured: BTreeSet<BeadId>,
}

impl Mason {
    /// Reads a plan.
    pub(crate) fn read(args: &SelectionArgs) -> Result<Self, Failure> {
        let source = PlanSource::read(&args.plan)?;
        Ok(Self {
            surroundings: Surroundings::of(&source)?,
            filter: Filter::parse(args.sprint_filter.as_deref().unwrap_or_default())?,
            plan: source.parse(),
            source,
        })
    }

    /// The name that beads have for this repository.
    pub(crate) fn rig(&self) -> &str {
        self.surroundings.rig()
    }

    /// Opens the store, but only after the plan was found to be free of errors (E-11).
    pub(crate) fn open(
        &self,
        args: &SelectionArgs,
        global: &Global,
        ui: &Ui,
    ) -> Result<Beads, Failure> {
        Beads::open(global).map_err(|failure| self.plan_first(args, ui, failure))
    }

    /// What to say when the store cannot be used: what is wrong with the plan comes first.
    fn plan_first(&self, args: &SelectionArgs, ui: &Ui, failure: Failure) -> Failure {
        self.compile(args, KnownIds::new(), ui)
            .err()
            .unwrap_or(failure)
    }

    fn settings(&self, args: &SelectionArgs, known_ids: KnownIds) -> Settings<'_> {
        Settings {
            known_ids,
            formula_sprints: FormulaSprints::Poured,
            ..self
                .surroundings
                .settings(&self.source, &args.rules, args.skip_completed)
        }
    }

    fn compile(&self, args: &SelectionArgs, known: KnownIds, ui: &Ui) -> Result<Compiled, Failure> {
        build(&self.plan, &self.filter, &self.settings(args, known)).map_err(
            |refusal| match refusal {
                Refusal::Findings(findings) => ui.refuse(&self.source, findings),
                Refusal::Filter(fault) => fault.into(),
            },
        )
    }

    /// Compares the plan with what the store holds now.
    pub(crate) fn compare(
        &self,
        args: &SelectionArgs,
        beads: &Beads,
        ui: &Ui,
    ) -> Result<Comparison, Failure> {
        let store = &*beads.store;
        let plan_file = self.surroundings.plan_file();
        let mut records = Records::of_plan(store, plan_file, annotated_ids(&self.plan))
            .map_err(|failure| self.plan_first(args, ui, failure))?;
        // A copied plan is not taken for a moved one.
        let mut known = known_ids(&self.plan, plan_file, &records.0, |other| {
            self.surroundings.has_plan(other)
        });
        number(&self.plan, &self.filter, &mut known.ids, store)?;
        let mut compiled = self.compile(args, known.ids.clone(), ui)?;
        compiled.findings.splice(0..0, known.findings);
        if let Some(finding) = unpoured_dependency(&self.plan, &known.ids, &compiled) {
            return Err(ui.refuse(&self.source, vec![finding]));
        }
        records.add(store, known.ids.values().cloned())?;
        let pours = self.pour(args, &mut compiled, &records.0, beads, ui)?;
        let rest = pours.rest.iter().map(|(_, issue)| issue.id().clone());
        let poured: BTreeSet<BeadId> = pours.parts.keys().cloned().chain(rest.clone()).collect();
        let work = compiled.beads.iter().map(|bead| bead.id.clone());
        records.add(store, rest.chain(work))?;
        let settings = self.settings(args, known.ids);
        let context = Context {
            plan: &self.plan,
            settings: &settings,
            scope: if self.filter.is_everything() {
                Scope::Whole
            } else {
                Scope::Filtered
            },
            shape: BeadShape::Both,
            actor: beads.by.actor(),
            parts: &pours.parts,
        };
        let mut reconciliation =
            reconcile(&compiled.beads, &records.0, &context).map_err(|unfit| refused(&unfit))?;
        let rest = differences(pours.rest, &records.0);
        reconciliation.differences.splice(0..0, rest);
        let ids = plan_graph(&self.plan, &settings.known_ids)
            .map(|graph| graph.ids())
            .unwrap_or_default();
        Ok(Comparison {
            compiled,
            reconciliation,
            ids,
            molecules: pours.roots,
            poured,
        })
    }

    /// Puts molecules in the place of sprints with a formula.
    fn pour(
        &self,
        args: &SelectionArgs,
        compiled: &mut Compiled,
        records: &[Record],
        beads: &Beads,
        ui: &Ui,
    ) -> Result<Pours, Failure> {
        let given = Values::parse(args.var.iter().map(String::as_str))?;
        let formulas = Formulas::of(Some(&beads.directory), self.surroundings.root());
        let actor = beads.by.actor();
        pour(&self.plan, compiled, &formulas, &given, records, actor)
            .map_err(|findings| ui.refuse(&self.source, findings))
    }

    /// The name of the plan in its beads.
    pub(crate) fn plan_file(&self) -> &str {
        self.surroundings.plan_file()
    }

    /// What a comparison says about the sprints that the plan has, and those that it no longer has (Z-44).
    pub(crate) fn sprints(&self, comparison: &Comparison) -> removed_sprints::Applied {
        if self.filter.is_everything() {
            let differences = comparison.reconciliation.differences.iter();
            let gone = differences.filter_map(|difference| match difference {
                Difference::Removed(removed) => Some(removed.sprint.to_string()),
                Difference::New { .. } | Difference::Changed(_) | Difference::Conflict { .. } => {
                    None
                }
            });
            return removed_sprints::Applied::Whole(gone.collect());
        }
        let beads = comparison.compiled.beads.iter();
        removed_sprints::Applied::Some(beads.map(|bead| bead.metadata.sprint.to_string()).collect())
    }

    /// Says what was found in the plan beside its beads.
    pub(crate) fn say_findings(&self, compiled: &mut Compiled, ui: &Ui) {
        sort_by_place(&mut compiled.findings);
        ui.say(&render(
            &self.source,
            &compiled.findings,
            ui.style(Stream::Err),
        ));
    }
}

/// The beads that a plan's sprints have in the store, as far as there is one.
pub(crate) fn ids_in_store(source: &PlanSource, plan: &Plan) -> Result<KnownIds, Failure> {
    let Ok(place) = store::find(&here()?) else {
        return Ok(KnownIds::new());
    };
    let surroundings = Surroundings::of(source)?;
    let plan_file = surroundings.plan_file();
    let records = Records::of_plan(place.open()?.as_ref(), plan_file, annotated_ids(plan))?;
    let known = known_ids(plan, plan_file, &records.0, |other| {
        surroundings.has_plan(other)
    });
    Ok(known.ids)
}

/// Records of the store, each once.
struct Records(Vec<Record>);

impl Records {
    /// The beads of a plan, and those that it names.
    fn of_plan(
        store: &dyn Store,
        plan_file: &str,
        named: impl IntoIterator<Item = BeadId>,
    ) -> Result<Self, Failure> {
        let query = Query {
            status: StatusFilter::Any,
            metadata: vec![("plan_file".to_owned(), plan_file.to_owned())],
            includes_hidden: true,
            ..Query::default()
        };
        let mut records = Self(store.find(&query)?);
        records.add(store, named)?;
        Ok(records)
    }

    fn add(
        &mut self,
        store: &dyn Store,
        ids: impl IntoIterator<Item = BeadId>,
    ) -> Result<(), Failure> {
        let known: std::collections::HashSet<&BeadId> =
            self.0.iter().map(|record| record.issue.id()).collect();
        let missing: Vec<BeadId> = ids.into_iter().filter(|id| !known.contains(id)).collect();
        self.0.extend(store.get(&missing)?);
        Ok(())
    }
}

/// A bead that a store would not take stops everything, and all of them are named (E-10).
fn refused(unfit: &[Unfit]) -> Failure {
    let lines: Vec<String> = (unfit.iter())
        .map(|unfit| format!("{}: {}", unfit.id, unfit.error))
        .collect();
    let code = unfit
        .first()
        .map_or(ErrorCode::ValidationBeadSchema, |unfit| unfit.error.code());
    let message = lines.first().map_or_else(String::new, Clone::clone);
    Failure::new(code, message).details(lines.join("\n"))
}

impl Mason {
    /// Refuses ids that belong to other beads already.
    pub(crate) fn check_conflicts(&self, reconciliation: &Reconciliation) -> Result<(), Failure> {
        let taken: Vec<(String, &Owner)> = (reconciliation.differences.iter())
            .filter_map(|difference| match difference {
                Difference::Conflict { id, sprint, owner } => {
                    let id = excerpt(id.as_str());
                    Some((format!("{id} of sprint {sprint} belongs to {owner}"), owner))
                }
                Difference::New { .. } | Difference::Changed(_) | Difference::Removed(_) => None,
            })
            .collect();
        let Some((first, owner)) = taken.first() else {
            return Ok(());
        };
        let lines: Vec<&str> = taken.iter().map(|(line, _)| line.as_str()).collect();
        let message = match lines.len() {
            1 => format!("duplicate key: bead {first}"),
            n => format!("duplicate key: {n} ids are taken; bead {first}"),
        };
        Err(Failure::new(ErrorCode::DependencyDuplicateId, message)
            .details(lines.join("\n"))
            .action(self.way_out(owner)))
    }

    /// What can be done about an id that belongs to somebody.
    fn way_out(&self, owner: &Owner) -> String {
        let own = "give the sprint a **Bead ID** of its own";
        let annotate = format!("`beads-ralph plan annotate {}`", quoted(self.source.path()));
        match owner {
            _ if self.source.is_stdin() => own.to_owned(),
            Owner::Sprint { plan_file, .. } if self.surroundings.has_plan(plan_file) => {
                format!("{own}, or another title")
            }
            Owner::Sprint { plan_file, .. } => format!(
                "if this is {} under a new name, run {annotate} and apply again; else {own}",
                excerpt(plan_file)
            ),
            Owner::NoPlan => format!(
                "to make it the bead of this sprint, run {annotate} and apply again; else {own}"
            ),
        }
    }
}

/// Refuses beads that wait for something that the store does not have, when that was asked for.
pub(crate) fn check_external(store: &dyn Store, compiled: &Compiled) -> Result<(), Failure> {
    let external: Vec<BeadId> = compiled.external.clone();
    let found = store.get(&external)?;
    let is_there = |id: &BeadId| found.iter().any(|record| record.issue.id() == id);
    let missing: Vec<String> = external
        .iter()
        .filter(|id| !is_there(id))
        .map(|id| excerpt(id.as_str()))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let named = list(&missing);
    Err(Failure::new(
        ErrorCode::DependencyUnresolved,
        format!("the store has no bead {named}"),
    )
    .details(missing.join("\n"))
    .action("apply the sprints that these wait for first, or leave out --require-deps-in-store"))
}

//! `formula graph`: the steps that a formula makes, and what waits for what.
//!
//! Data: `{formula, steps: [{id, title, type, parent, needs}], waves, critical_path, warnings}`; gates are steps of type `gate`.

use beads_ralph_core::formula::{Given, Molecule, StepBead};
use clap::Args;
use serde::Serialize;

use crate::args::{GraphFormat, ReadingArgs};
use crate::command::formula::findings::{Said, compiled, formulas, values};
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::draw::{self, Chart, Labelled};

#[derive(Debug, Args)]
pub(crate) struct FormulaGraphArgs {
    /// The formula
    pub(crate) name: String,
    /// What to print
    #[arg(long, value_enum, default_value_t = GraphFormat::Text)]
    pub(crate) format: GraphFormat,
    /// A value for a variable, as with a pour; without any, steps with a condition are all there and placeholders stay
    #[arg(long = "var", value_name = "NAME=VALUE")]
    pub(crate) vars: Vec<String>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

pub(crate) fn run(args: &FormulaGraphArgs, ui: &Ui) -> Result<(), Failure> {
    let formulas = formulas()?;
    let values = values(&args.vars)?;
    let given = if args.vars.is_empty() {
        Given::NotYet
    } else {
        Given::Values(&values)
    };
    let compilation = compiled(&formulas, &args.name, given, args.reading)?;
    let said = Said::of(&compilation).settle(ui)?;
    let Some(molecule) = &compilation.molecule else {
        return Err(no_steps(&args.name, compilation.formula.as_ref()));
    };
    let chart = chart(molecule);
    if ui.is_json() {
        return ui.data(&to_json(molecule, &chart, &said));
    }
    ui.out(&draw::drawn(&chart, args.format, "", ui))
}

/// A formula of another type makes no steps.
fn no_steps(name: &str, formula: Option<&beads_ralph_core::formula::Formula>) -> Failure {
    let kind = formula.map_or("another", |formula| formula.kind.as_str());
    let message = format!("`{name}` is of type {kind}: only a workflow makes steps");
    Failure::new(
        beads_ralph_core::diag::ErrorCode::FormulaPourFailed,
        message,
    )
    .action(format!("see it with `beads-ralph formula show {name}`"))
}

fn chart(molecule: &Molecule) -> Chart {
    let labelled = |step: &StepBead| Labelled {
        id: step.id.clone(),
        title: draw::title(&step.title),
    };
    Chart::of_steps(
        molecule.steps.iter().map(labelled).collect(),
        molecule.waits(),
    )
}

#[derive(Serialize)]
struct GraphJson<'g> {
    formula: &'g str,
    steps: Vec<StepJson<'g>>,
    waves: Vec<Vec<&'g str>>,
    critical_path: Vec<&'g str>,
    warnings: Vec<&'g str>,
}

#[derive(Serialize)]
struct StepJson<'g> {
    id: &'g str,
    title: &'g str,
    #[serde(rename = "type")]
    kind: &'g str,
    parent: Option<&'g str>,
    needs: Vec<&'g str>,
}

fn to_json<'g>(molecule: &'g Molecule, chart: &'g Chart, said: &'g Said) -> GraphJson<'g> {
    let step = |step: &'g StepBead| StepJson {
        id: &step.id,
        title: &step.title,
        kind: &step.issue_type,
        parent: step.parent.as_deref(),
        needs: step.needs.iter().map(|need| need.step.as_str()).collect(),
    };
    GraphJson {
        formula: &molecule.formula,
        steps: molecule.steps.iter().map(step).collect(),
        waves: chart.wave_ids(),
        critical_path: chart.critical_ids(),
        warnings: said.messages(),
    }
}

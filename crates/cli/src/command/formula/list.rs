//! `formula list`: every formula that can be asked for, also those that cannot be used.
//!
//! Data: `{formulas: [{name, type, owner, file, steps, variables, description, error}], warnings: […]}`; what a file that cannot be
//! read does not say is null.

use beads_ralph_core::diag::Severity;
use beads_ralph_core::formula::{AdviceStep, Compilation, Formula, Given, Kind, Step};
use beads_ralph_runtime::formulas::{Formulas, Found};
use serde::Serialize;
use serde_json::json;

use crate::args::ReadingArgs;
use crate::command::formula::findings::{compiled, formulas};
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::table::{Page, Table};

#[derive(Serialize)]
struct Row {
    name: String,
    #[serde(rename = "type")]
    kind: Option<&'static str>,
    owner: &'static str,
    file: String,
    steps: Option<usize>,
    variables: Option<usize>,
    description: Option<String>,
    error: Option<String>,
}

pub(crate) fn run(ui: &Ui) -> Result<(), Failure> {
    let formulas = formulas()?;
    let (found, troubles) = formulas.list();
    let rows: Vec<Row> = found.into_iter().map(|one| row(&formulas, one)).collect();
    let warnings: Vec<String> = troubles.iter().map(ToString::to_string).collect();
    if ui.is_json() {
        return ui.data(&json!({"formulas": rows, "warnings": warnings}));
    }
    for warning in &warnings {
        ui.complain(&format!("warning: {warning}\n"));
    }
    let mut table = Table::new(&[
        "NAME",
        "TYPE",
        "OWNER",
        "STEPS",
        "VARIABLES",
        "DESCRIPTION…",
    ]);
    let number = |number: Option<usize>| number.map_or_else(|| "-".to_owned(), |n| n.to_string());
    for row in rows {
        let about = match row.error {
            Some(error) => format!("error: {error}"),
            None => row.description.unwrap_or_default(),
        };
        table.row(vec![
            row.name,
            row.kind.unwrap_or("-").to_owned(),
            row.owner.to_owned(),
            number(row.steps),
            number(row.variables),
            about,
        ]);
    }
    ui.out(&table.draw(Page::of(ui)))?;
    ui.say("next: beads-ralph formula show NAME\n");
    Ok(())
}

/// What one formula says about itself, or what is wrong with it.
fn row(formulas: &Formulas, found: Found) -> Row {
    let reading = ReadingArgs { lenient: false };
    let compiled = compiled(formulas, &found.name, Given::NotYet, reading);
    let (formula, error) = match &compiled {
        Ok(compilation) => (compilation.formula.as_ref(), first_error(compilation)),
        Err(failure) => (None, Some(failure.message().to_owned())),
    };
    Row {
        name: found.name,
        kind: formula.map(|formula| formula.kind.as_str()),
        owner: found.owner.as_str(),
        file: found.path,
        steps: formula.map(n_steps),
        variables: formula.map(|formula| formula.variables.len()),
        description: formula.map(|formula| {
            let description = formula.description.as_ref();
            description.map_or_else(String::new, |text| text.value.clone())
        }),
        error,
    }
}

fn first_error(compilation: &Compilation) -> Option<String> {
    let mut findings = compilation.findings.iter();
    let is_error = |severity| severity == Severity::Error;
    let first = findings.find(|finding| is_error(finding.diagnostic.severity()))?;
    Some(first.diagnostic.message.to_string())
}

/// How many steps are written down, with those of loops and below others.
pub(crate) fn n_steps(formula: &Formula) -> usize {
    let steps = match formula.kind {
        Kind::Expansion => &formula.template,
        Kind::Aspect => return formula.advice.iter().map(n_advised).sum(),
        Kind::Workflow | Kind::Convoy | Kind::Task | Kind::Patrol => &formula.steps,
    };
    steps.iter().map(n_within).sum()
}

fn n_within(step: &Step) -> usize {
    let body = step.repeat.iter().flat_map(|repeat| &repeat.body);
    let below = step.children.iter().chain(body);
    1 + below.map(n_within).sum::<usize>()
}

fn n_advised(advice: &beads_ralph_core::formula::Advice) -> usize {
    let steps: [&[AdviceStep]; 2] = [&advice.before, &advice.after];
    steps.iter().map(|steps| steps.len()).sum()
}

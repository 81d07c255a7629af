//! `mol pour` and `mol wisp NAME`: a formula becomes the beads of a molecule (F-6…F-10).
//!
//! Data: E-4 with `id` and `steps_created` of the seeds (F-7), `phase`, and `steps` with the name of each bead in its formula.

use std::collections::BTreeSet;

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::formula::{Given, Molecule, Values, vapor_warning};
use beads_ralph_core::text::visible;
use beads_ralph_runtime::formulas::Formulas;
use beads_ralph_runtime::pour::{Order, PourError, Poured, draft, pour};
use clap::Args;
use serde_json::{Value, json};

use crate::args::{Global, ReadingArgs};

use crate::failure::Failure;
use crate::formulas::{Said, compiled, formulas, values};
use crate::registered_types::RegisteredTypes;
use crate::ui::{Ui, counted, lines};

#[derive(Debug, Args)]
pub(crate) struct PourArgs {
    /// The formula
    pub(crate) formula: String,
    /// A value for a variable (repeatable)
    #[arg(long = "var", value_name = "NAME=VALUE")]
    pub(crate) vars: Vec<String>,
    /// Who is to look after the molecule
    #[arg(long, value_name = "NAME")]
    pub(crate) assignee: Option<String>,
    /// Another formula that becomes a part of the molecule, with the same values (repeatable)
    #[arg(long, value_name = "FORMULA")]
    pub(crate) attach: Vec<String>,
    /// Say what would happen, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

#[derive(Debug, Args)]
pub(crate) struct WispMakeArgs {
    /// The formula
    pub(crate) formula: String,
    #[command(flatten)]
    pub(crate) making: MakingArgs,
}

/// How a wisp is made.
#[derive(Debug, Args)]
pub(crate) struct MakingArgs {
    /// A value for a variable (repeatable)
    #[arg(long = "var", value_name = "NAME=VALUE")]
    pub(crate) vars: Vec<String>,
    /// Say what would happen, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

/// What is asked for, by either command.
struct Wish<'a> {
    formula: &'a str,
    attached: &'a [String],
    vars: &'a [String],
    assignee: Option<&'a str>,
    reading: ReadingArgs,
    is_wisp: bool,
    is_dry: bool,
}

/// Pours a formula to stay.
pub(super) fn run(args: &PourArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let wish = Wish {
        formula: &args.formula,
        attached: &args.attach,
        vars: &args.vars,
        assignee: args.assignee.as_deref(),
        reading: args.reading,
        is_wisp: false,
        is_dry: args.dry_run,
    };
    make(&wish, global, ui)
}

/// Makes a wisp.
pub(super) fn wisp(
    formula: &str,
    making: &MakingArgs,
    global: &Global,
    ui: &Ui,
) -> Result<(), Failure> {
    let wish = Wish {
        formula,
        attached: &[],
        vars: &making.vars,
        assignee: None,
        reading: making.reading,
        is_wisp: true,
        is_dry: making.dry_run,
    };
    make(&wish, global, ui)
}

/// Everything that is wrong with the formulas and the values is said before the store is opened, and then nothing was written.
fn make(wish: &Wish<'_>, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let formulas = formulas()?;
    let values = values(wish.vars)?;
    let mut warnings = Vec::new();
    let mut main = molecule(wish.formula, wish, &formulas, &values, &mut warnings, ui)?;
    let mut attached = (wish.attached.iter())
        .map(|name| molecule(name, wish, &formulas, &values, &mut warnings, ui))
        .collect::<Result<Vec<Molecule>, Failure>>()?;
    let mut beads = global.open()?;
    let types = RegisteredTypes::of(&*beads.store)?;
    let flattened: BTreeSet<String> = std::iter::once(&mut main)
        .chain(&mut attached)
        .flat_map(|molecule| molecule.flatten_types(|kind| types.is_known(kind)))
        .collect();
    if !flattened.is_empty() {
        let warning = RegisteredTypes::flattened(&flattened);
        ui.say(&format!("warning: {}\n", visible(&warning)));
        warnings.push(warning);
    }
    let order = Order {
        molecule: &main,
        attached: &attached,
        assignee: wish.assignee,
        labels: &[],
        is_wisp: wish.is_wisp,
        for_bead: None,
    };
    let poured = if wish.is_dry {
        draft(&*beads.store, &order, beads.by.stamp()).map(|draft| draft.poured)
    } else {
        pour(&mut *beads.store, &order, beads.by.stamp())
    };
    let poured = poured.map_err(refused)?;
    if ui.is_json() {
        return ui.data(&data(wish, &poured, &warnings));
    }
    ui.out(&picture(wish, &main, &attached, &poured))?;
    ui.say(&advice(wish, &poured));
    Ok(())
}

/// What a formula makes of the values; the warnings about it are said, and kept for programs.
fn molecule(
    name: &str,
    wish: &Wish<'_>,
    formulas: &Formulas,
    values: &Values,
    warnings: &mut Vec<String>,
    ui: &Ui,
) -> Result<Molecule, Failure> {
    // A value that only one of several formulas declares is no fault of the others.
    let given = if wish.attached.is_empty() {
        Given::Values(values)
    } else {
        Given::Offered(values)
    };
    let mut compilation = compiled(formulas, name, given, wish.reading)?;
    if !wish.is_wisp {
        let warning = vapor_warning(&compilation);
        compilation.findings.extend(warning);
    }
    let said = Said::of(&compilation).settle(ui)?;
    warnings.extend(said.messages().into_iter().map(str::to_owned));
    compilation.molecule.ok_or_else(|| {
        Failure::new(
            ErrorCode::FormulaPourFailed,
            format!("the formula `{name}` makes no steps"),
        )
    })
}

/// A store that refuses a pour has changed nothing.
fn refused(error: PourError) -> Failure {
    match error {
        PourError::Invalid(errors) => {
            let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
            let message = PourError::Invalid(errors).to_string();
            Failure::new(ErrorCode::FormulaPourFailed, message).details(lines.join("\n"))
        }
        PourError::Store(error) => {
            let cause = Failure::from(error);
            let message = format!("nothing was poured: {}", cause.message());
            Failure::new(ErrorCode::FormulaPourFailed, message)
                .details(format!("{}: {}", cause.code(), cause.message()))
                .action(cause.suggested_action())
        }
    }
}

fn data(wish: &Wish<'_>, poured: &[Poured], warnings: &[String]) -> Value {
    let parts = || poured.iter().flat_map(|one| &one.parts);
    let ids: Vec<&str> = parts().map(|(_, id)| id.as_str()).collect();
    let steps: Vec<Value> = parts()
        .map(|(step, id)| json!({ "step": step, "id": id }))
        .collect();
    let mut data = json!({
        "mode": "formula",
        "id": poured[0].root,
        "steps_created": ids.len(),
        "formulas_created": 0,
        "formulas_poured": poured.len(),
        "molecules_created": poured.iter().map(|one| &one.root).collect::<Vec<_>>(),
        "beads_created": ids.len(),
        "bead_ids": ids,
        "steps": steps,
        "phase": if wish.is_wisp { "vapor" } else { "liquid" },
        "database_status": if wish.is_dry { "dry_run" } else { "poured" },
        "warnings": warnings,
    });
    if wish.is_dry {
        data["dry_run"] = true.into();
    }
    data
}

fn picture(wish: &Wish<'_>, main: &Molecule, attached: &[Molecule], poured: &[Poured]) -> String {
    let mut text = Vec::new();
    for (molecule, one) in std::iter::once(main).chain(attached).zip(poured) {
        let kind = if wish.is_wisp { "wisp" } else { "molecule" };
        text.push(format!("{}  {kind} of {}", one.root, one.formula));
        for (step, (_, id)) in molecule.steps.iter().zip(&one.parts) {
            let needs: Vec<&str> = step.needs.iter().map(|need| need.step.as_str()).collect();
            let waits = if needs.is_empty() {
                String::new()
            } else {
                format!("  after {}", needs.join(", "))
            };
            text.push(format!("  {id}  {}{waits}", visible(&step.title)));
        }
    }
    lines(text)
}

fn advice(wish: &Wish<'_>, poured: &[Poured]) -> String {
    let n_steps: usize = poured.iter().map(|one| one.parts.len()).sum();
    let steps = counted(n_steps, "step", "steps");
    if wish.is_dry {
        return format!("{steps} would be made; nothing was written\n");
    }
    format!(
        "{steps} made; see them with `beads-ralph mol show {}`\n",
        poured[0].root
    )
}

//! `formula new`: a formula to begin with, or one that is made from sprints of a plan (FR-6, F-15).
//!
//! Data: `{mode: "formula", formulas_created, formula, path, variables, values}`, where `values` has for each sprint what gives its
//! bead back.

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::formula::distill::{Distilled, distill};
use beads_ralph_core::formula::{Format, FormulaName};
use beads_ralph_core::number::SprintId;
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::app::plan::{PlanInput, PlanOptions};
use beads_ralph_runtime::formulas::{BUILT_IN, DIRECTORY};
use beads_ralph_runtime::os::files::{self, FileError};
use beads_ralph_runtime::{repo, store};
use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use serde_json::{Map, Value, json};

use crate::args::here;
use crate::command::plan::error;
use crate::failure::Failure;
use crate::ui::{Ui, counted, quoted};

#[derive(Debug, Args)]
pub(crate) struct FormulaNewArgs {
    /// The name of the new formula
    pub(crate) name: String,
    /// The plan to make it from
    #[arg(long, value_name = "PLAN")]
    pub(crate) from_plan: Option<Utf8PathBuf>,
    /// The sprints that have it in common, such as 2.1,2.2; without any, all of the plan
    #[arg(long, value_name = "IDS", requires = "from_plan")]
    pub(crate) sprints: Option<String>,
    /// Replace a formula of the same name
    #[arg(long)]
    pub(crate) force: bool,
    /// Print it, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// The formula that a new one without a plan is like (F-15).
const PATTERN: &str = "sprint-work-pattern.formula.json";

pub(crate) fn run(args: &FormulaNewArgs, ui: &Ui) -> Result<(), Failure> {
    let name = FormulaName::parse(&args.name).map_err(|wrong| {
        Failure::new(ErrorCode::FormulaPourFailed, wrong.to_string()).action("choose another name")
    })?;
    let made = match &args.from_plan {
        Some(plan) => from_plan(&name, plan, args, ui)?,
        None => pattern(&name),
    };
    let here = here()?;
    let directory = directory(&here);
    let path = directory.join(format!("{}{}", name.as_str(), Format::Json.ending()));
    if !args.dry_run {
        write(&directory, &path, &name, &made.formula, args.force)?;
    }
    let path = path.strip_prefix(&here).unwrap_or(&path);
    if ui.is_json() {
        return ui.data(&data(&name, path, &made, args.dry_run));
    }
    if args.dry_run {
        let text = serde_json::to_string_pretty(&made.formula).unwrap_or_default();
        ui.out(&format!("{text}\n"))?;
        ui.say("nothing was written; run it without --dry-run to write\n");
        return Ok(());
    }
    ui.out(&format!("{}\n", repo::shown(path)))?;
    ui.say(&advice(&name, &made, args.from_plan.as_deref()));
    Ok(())
}

/// S1's formula under another name.
fn pattern(name: &FormulaName) -> Distilled {
    let text = BUILT_IN.iter().find(|(file, _)| *file == PATTERN);
    let formula = text.and_then(|(_, text)| serde_json::from_str(text).ok());
    let mut formula: Value = formula.expect("the formula that comes with the program is JSON");
    formula["formula"] = name.as_str().into();
    Distilled {
        formula,
        values: std::collections::BTreeMap::new(),
    }
}

/// What some sprints have in common.
fn from_plan(
    name: &FormulaName,
    plan: &Utf8Path,
    args: &FormulaNewArgs,
    ui: &Ui,
) -> Result<Distilled, Failure> {
    let options = PlanOptions {
        sprint_filter: args.sprints.clone(),
        ..PlanOptions::default()
    };
    let input = PlanInput::read(plan, options)?;
    let compiled = (input.compile()).map_err(|error| error::failure(error, &input.source, ui))?;
    let beads: Vec<_> = compiled.beads.iter().collect();
    if beads.is_empty() {
        let message = "no sprint is selected";
        return Err(Failure::new(ErrorCode::DependencyUnresolved, message)
            .action("name sprints of the plan with --sprints"));
    }
    distill(name.as_str(), &beads).map_err(|unlike| {
        Failure::new(ErrorCode::FormulaPourFailed, unlike.to_string())
            .action("a formula varies texts only: leave that sprint out, or make the sprints alike")
    })
}

/// Where formulas of the project are written: beside its store, or where its store would be.
fn directory(here: &Utf8Path) -> Utf8PathBuf {
    let beads = match store::find(here) {
        Ok(place) => place.directory,
        Err(_) => repo::root_of(here)
            .unwrap_or_else(|| here.to_owned())
            .join(".beads"),
    };
    beads.join(DIRECTORY)
}

/// Writes the file, unless there is one of the name, in either language.
fn write(
    directory: &Utf8Path,
    path: &Utf8Path,
    name: &FormulaName,
    formula: &Value,
    is_forced: bool,
) -> Result<(), Failure> {
    files::create_directory(directory)?;
    let text = files::to_json(formula);
    if is_forced {
        return Ok(files::write_atomic(path, &text)?);
    }
    let toml = directory.join(format!("{}{}", name.as_str(), Format::Toml.ending()));
    let exists = |path: &Utf8Path| {
        let message = format!("{} exists already", repo::shown(path));
        Failure::new(ErrorCode::IoPermissionDenied, message)
            .action("choose another name, or pass --force to replace it")
    };
    if toml.exists() {
        return Err(exists(&toml));
    }
    match files::create_new(path, &text) {
        Err(FileError::Exists { .. }) => Err(exists(path)),
        written => Ok(written?),
    }
}

fn data(name: &FormulaName, path: &Utf8Path, made: &Distilled, is_dry: bool) -> Value {
    let mut values = Map::new();
    for (sprint, of_sprint) in &made.values {
        let pairs = of_sprint.names().map(|name| {
            let value = of_sprint.get(name).unwrap_or_default();
            (name.to_owned(), Value::from(value))
        });
        values.insert(sprint.to_string(), Value::Object(pairs.collect()));
    }
    let variables: Vec<&String> = (made.formula["vars"].as_object().into_iter())
        .flat_map(Map::keys)
        .collect();
    json!({
        "mode": "formula",
        "formulas_created": usize::from(!is_dry),
        "formula": made.formula,
        "name": name.as_str(),
        "path": repo::shown(path),
        "variables": variables,
        "values": values,
        "database_status": if is_dry { "dry_run" } else { "unchanged" },
    })
}

fn advice(name: &FormulaName, made: &Distilled, plan: Option<&Utf8Path>) -> String {
    let name = name.as_str();
    let variables = made.formula["vars"].as_object().map_or(0, Map::len);
    let variables = counted(variables, "variable", "variables");
    match plan {
        None => {
            format!("{variables}; change it as you like, then `beads-ralph formula check {name}`\n")
        }
        Some(plan) => {
            let sprints: Vec<&str> = made.values.keys().map(SprintId::as_str).collect();
            format!(
                "{variables}, from sprints {}; write **Formula**: {name} into sprints of {} to pour it\n\
                 the values of each sprint: the same command with --json --dry-run\n",
                excerpt(&sprints.join(", ")),
                quoted(plan)
            )
        }
    }
}

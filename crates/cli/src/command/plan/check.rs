//! `plan check`: every mistake in some plans, with places and fixes.

use beads_ralph_core::diag::{Diagnostic, ErrorCode};
use beads_ralph_core::formula::distill::Alike;
use beads_ralph_core::number::SprintId;
use beads_ralph_runtime::app::plan::{self, CheckReport, PlanInput, PlanOptions, PlanSource};
use beads_ralph_runtime::store;
use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use serde::Serialize;

use super::error;
use crate::args::{CheckFormat, RuleArgs, here};
use crate::failure::Failure;
use crate::ui::format::list;
use crate::ui::{
    JsonDiagnostic, Stream, Ui, counted, counts, diagnostics_json, failure_of, quoted, render,
    render_short,
};

#[derive(Debug, Args)]
pub(crate) struct PlanCheckArgs {
    /// The plans; `-` is standard input
    #[arg(required = true)]
    pub(crate) plans: Vec<Utf8PathBuf>,
    /// How to report
    #[arg(long, value_enum, default_value_t = CheckFormat::Human)]
    pub(crate) format: CheckFormat,
    /// Apply the fixes that are certain, then report what is left
    #[arg(long)]
    pub(crate) fix: bool,
    /// A value for the formulas of sprints (repeatable)
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) var: Vec<String>,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
}

/// What became of one plan.
struct CheckedPlan {
    source: PlanSource,
    n_sprints: usize,
    n_fixed: usize,
    findings: Vec<Diagnostic>,
    /// Sprints that could be one formula (FR-6).
    alike: Vec<Alike>,
}

pub(crate) fn run(args: &PlanCheckArgs, ui: &Ui) -> Result<(), Failure> {
    let mut failures: Vec<Failure> = Vec::new();
    let mut checked: Vec<CheckedPlan> = Vec::new();
    for plan in &args.plans {
        match check_one(plan, args, ui) {
            Ok(one) => {
                failures.extend(failure_of(&one.source, &one.findings).map(Failure::told));
                if !ui.is_json() {
                    show(&one, args.format, ui)?;
                }
                checked.push(one);
            }
            Err(failure) => failures.push(failure),
        }
    }
    match ui.worst(failures) {
        Some(failure) if ui.is_json() => Err(failure.with_diagnostics(all_diagnostics(&checked))),
        Some(failure) => Err(failure),
        None if ui.is_json() => ui.data(&summary(&checked)),
        None => Ok(()),
    }
}

fn check_one(path: &Utf8Path, args: &PlanCheckArgs, ui: &Ui) -> Result<CheckedPlan, Failure> {
    let options = PlanOptions {
        variables: args.var.clone(),
        ..args.rules.options()
    };
    let mut input = PlanInput::read(path, options.clone())?;
    if args.fix && input.source.is_stdin() {
        let message = "standard input cannot be fixed in place";
        return Err(
            Failure::new(ErrorCode::IoPermissionDenied, message).action("name the plan's file")
        );
    }
    let n_fixed = if args.fix { plan::fix(&input)? } else { 0 };
    if n_fixed > 0 {
        input = PlanInput::read(path, options)?;
    }
    let store = store::find(&here()?).ok().map(|place| place.directory);
    let CheckReport { findings, alike } = plan::check(&input, store.as_deref())
        .map_err(|error| error::failure(error, &input.source, ui))?;
    Ok(CheckedPlan {
        n_sprints: input.plan.unique().count(),
        n_fixed,
        findings,
        source: input.source,
        alike,
    })
}

fn show(checked: &CheckedPlan, format: CheckFormat, ui: &Ui) -> Result<(), Failure> {
    let (source, findings) = (&checked.source, &checked.findings);
    ui.out(&match format {
        CheckFormat::Short => render_short(source, findings),
        CheckFormat::Human | CheckFormat::Json => render(source, findings, ui.style(Stream::Out)),
    })?;
    if checked.n_fixed > 0 {
        ui.say(&format!(
            "{}: {} applied\n",
            source.shown(),
            counted(checked.n_fixed, "fix", "fixes")
        ));
    }
    let (errors, warnings) = counts(findings);
    let sprints = counted(checked.n_sprints, "sprint", "sprints");
    let (errors_said, warnings_said) = (
        counted(errors, "error", "errors"),
        counted(warnings, "warning", "warnings"),
    );
    ui.say(&match (errors, warnings) {
        (0, 0) => format!("{}: {sprints}, no problems\n", source.shown()),
        (0, _) => format!("{}: {sprints}, {warnings_said}\n", source.shown()),
        _ => format!(
            "{}: {sprints}, {errors_said}, {warnings_said}\n",
            source.shown()
        ),
    });
    for group in &checked.alike {
        ui.say(&note(group, source));
    }
    let fixable = findings
        .iter()
        .filter(|finding| finding.fix.as_ref().is_some_and(|fix| fix.certain))
        .count();
    let is_fixable = fixable > 0 && !source.is_stdin() && source.is_exact();
    let command_line = quoted(source.path());
    if is_fixable {
        ui.say(&format!(
            "{fixable} can be fixed for you: beads-ralph plan check --fix {command_line}\n"
        ));
    } else if errors == 0 && !source.is_stdin() {
        ui.say(&format!("next: beads-ralph plan graph {command_line}\n"));
    }
    Ok(())
}

/// What sprints that share their shape could become (Z-47).
fn note(group: &Alike, source: &PlanSource) -> String {
    let sprints: Vec<&str> = group.sprints.iter().map(SprintId::as_str).collect();
    let named = list(&sprints);
    let how = if group.is_exact {
        "differ only in number, title, branch and worktree"
    } else {
        "share their shape: the same agents, and tasks that differ in a few words"
    };
    format!(
        "note: sprints {named} {how}; they could be one formula:\n  \
         beads-ralph formula new NAME --from-plan {} --sprints {}\n",
        quoted(source.path()),
        sprints.join(",")
    )
}

fn all_diagnostics(checked: &[CheckedPlan]) -> Vec<JsonDiagnostic> {
    checked
        .iter()
        .flat_map(|one| diagnostics_json(&one.source, &one.findings))
        .collect()
}

/// The envelope's data for plans without errors.
#[derive(Serialize)]
struct Summary {
    plans: Vec<PlanSummary>,
    diagnostics: Vec<JsonDiagnostic>,
}

#[derive(Serialize)]
struct PlanSummary {
    file: String,
    sprints: usize,
    errors: usize,
    warnings: usize,
    fixed: usize,
    /// Sprints that could be one formula.
    could_be_formulas: Vec<Vec<String>>,
}

fn summary(checked: &[CheckedPlan]) -> Summary {
    let plan = |one: &CheckedPlan| {
        let (errors, warnings) = counts(&one.findings);
        let file = one.source.shown().to_owned();
        PlanSummary {
            file,
            sprints: one.n_sprints,
            errors,
            warnings,
            fixed: one.n_fixed,
            could_be_formulas: (one.alike.iter())
                .map(|group| group.sprints.iter().map(ToString::to_string).collect())
                .collect(),
        }
    };
    Summary {
        plans: checked.iter().map(plan).collect(),
        diagnostics: all_diagnostics(checked),
    }
}

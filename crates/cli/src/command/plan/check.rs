//! `plan check`: every mistake in some plans, with places and fixes.

use std::borrow::Cow;

use beads_ralph_core::compile::{FormulaSprints, Refusal, Settings, build, check};
use beads_ralph_core::diag::{Diagnostic, ErrorCode, apply_fixes, sort_by_place};
use beads_ralph_core::formula::Values;
use beads_ralph_core::formula::distill::{Alike, alike};
use beads_ralph_core::number::SprintId;
use beads_ralph_core::plan::{Filter, Plan, parse};
use beads_ralph_runtime::formulas::Formulas;
use beads_ralph_runtime::{os::files, store};
use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use serde::Serialize;

use crate::args::{CheckFormat, RuleArgs};
use crate::beads::here;
use crate::failure::Failure;
use crate::formula_sprints::{formulas_of, pour};
use crate::formulas::values;
use crate::plan_source::{PlanSource, Surroundings};
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

/// How often fixes may reveal more fixes; in practice a heading's fix reveals those of its body.
const MAX_FIX_ROUNDS: usize = 32;

/// What became of one plan.
struct Checked {
    source: PlanSource,
    n_sprints: usize,
    n_fixed: usize,
    findings: Vec<Diagnostic>,
    /// Sprints that could be one formula (FR-6).
    alike: Vec<Alike>,
}

pub(crate) fn run(args: &PlanCheckArgs, ui: &Ui) -> Result<(), Failure> {
    let mut failures: Vec<Failure> = Vec::new();
    let mut checked: Vec<Checked> = Vec::new();
    for plan in &args.plans {
        match check_one(plan, args) {
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

fn check_one(path: &Utf8Path, args: &PlanCheckArgs) -> Result<Checked, Failure> {
    let mut source = PlanSource::read(path)?;
    let surroundings = Surroundings::of(&source)?;
    let n_fixed = if args.fix {
        fix(&source, &surroundings.settings(&source, &args.rules, false))?
    } else {
        0
    };
    if n_fixed > 0 {
        source = PlanSource::read(path)?;
    }
    let settings = surroundings.settings(&source, &args.rules, false);
    let plan = source.parse();
    let given = values(&args.var)?;
    let (mut findings, alike) = look_at(&plan, &settings, &surroundings, &given)?;
    sort_by_place(&mut findings);
    Ok(Checked {
        n_sprints: plan.unique().count(),
        n_fixed,
        findings,
        source,
        alike,
    })
}

/// Everything that can be said about a plan, its formulas too, and which of its sprints could be one formula.
fn look_at(
    plan: &Plan,
    settings: &Settings<'_>,
    surroundings: &Surroundings,
    given: &Values,
) -> Result<(Vec<Diagnostic>, Vec<Alike>), Failure> {
    let settings = Settings {
        formula_sprints: FormulaSprints::Poured,
        ..settings.clone()
    };
    let mut compiled = match build(plan, &Filter::default(), &settings) {
        Ok(compiled) => compiled,
        Err(Refusal::Findings(findings)) => return Ok((findings, Vec::new())),
        // No filter, nothing to refuse.
        Err(Refusal::Filter(_)) => return Ok((Vec::new(), Vec::new())),
    };
    let with_formula = formulas_of(plan);
    let plain = compiled.beads.iter();
    let plain = plain.filter(|bead| !with_formula.contains_key(&bead.metadata.sprint));
    let alike = alike(plain);
    let store = store::find(&here()?).ok().map(|place| place.directory);
    let formulas = Formulas::of(store.as_deref(), surroundings.root());
    if let Err(findings) = pour(plan, &mut compiled, &formulas, given, &[], "") {
        compiled.findings.extend(findings);
    }
    Ok((compiled.findings, alike))
}

/// Applies what can be fixed for certain, again as long as that reveals more, and writes the result once.
fn fix(source: &PlanSource, settings: &Settings<'_>) -> Result<usize, Failure> {
    if source.is_stdin() {
        let message = "standard input cannot be fixed in place";
        return Err(
            Failure::new(ErrorCode::IoPermissionDenied, message).action("name the plan's file")
        );
    }
    // A text that is not what the file holds is never written back.
    if !source.is_exact() {
        return Ok(0);
    }
    let mut text = Cow::Borrowed(source.text());
    let mut n_fixed = 0;
    for _ in 0..MAX_FIX_ROUNDS {
        let settings = Settings {
            text: Some(&text),
            ..settings.clone()
        };
        let (fixed, n) = apply_fixes(&text, &check(&parse(&text), &settings));
        if n == 0 {
            break;
        }
        n_fixed += n;
        text = Cow::Owned(fixed);
    }
    if n_fixed > 0 {
        files::replace(source.path(), source.text().as_bytes(), text.as_bytes())?;
    }
    Ok(n_fixed)
}

fn show(checked: &Checked, format: CheckFormat, ui: &Ui) -> Result<(), Failure> {
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

fn all_diagnostics(checked: &[Checked]) -> Vec<JsonDiagnostic> {
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

fn summary(checked: &[Checked]) -> Summary {
    let plan = |one: &Checked| {
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

//! `formula show`: a formula with what it extends, as it is written: variables, steps as a tree, rules, advice, files.
//!
//! Data: `{formula, type, phase, version, owner, description, intent, extends, variables, steps, template, compose, advice, files,
//! makes, warnings}`; `makes` is the number of steps that a pour makes as far as that is known without values, null for what cannot
//! be poured.

mod json;
mod words;

use std::fmt::Write as _;

use beads_ralph_core::formula::{Compilation, Formula, Given, Kind, Phase, Step, Variable};
use beads_ralph_core::text::visible;
use beads_ralph_runtime::formulas::Formulas;
use clap::Args;

use crate::args::ReadingArgs;
use crate::command::formula::findings::{Said, compiled, formulas};
use crate::failure::Failure;
use crate::ui::table::{Page, Table};
use crate::ui::{Ui, counted};

#[derive(Debug, Args)]
pub(crate) struct FormulaShowArgs {
    /// The formula
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
}

pub(crate) fn run(args: &FormulaShowArgs, ui: &Ui) -> Result<(), Failure> {
    let formulas = formulas()?;
    let compilation = compiled(&formulas, &args.name, Given::NotYet, args.reading)?;
    let said = Said::of(&compilation).settle(ui)?;
    let formula = (compilation.formula.as_ref()).expect("what has no errors was read");
    let shown = Shown {
        formula,
        owner: owner(&formulas, &args.name),
        n_made: compilation
            .molecule
            .as_ref()
            .map(|made| made.work().count()),
        compilation: &compilation,
    };
    if ui.is_json() {
        return ui.data(&shown.to_json(&said));
    }
    ui.out(&shown.text(Page::of(ui)))
}

fn owner(formulas: &Formulas, name: &str) -> &'static str {
    let (found, _) = formulas.list();
    let own = found.into_iter().find(|one| one.name == name);
    own.map_or("unknown", |one| one.owner.as_str())
}

/// A formula and what is known beside its text.
struct Shown<'c> {
    formula: &'c Formula,
    owner: &'static str,
    n_made: Option<usize>,
    compilation: &'c Compilation,
}

impl Shown<'_> {
    fn text(&self, page: Page) -> String {
        let formula = self.formula;
        let mut text = String::new();
        let phase = formula.phase.unwrap_or(Phase::Liquid).as_str();
        _ = writeln!(
            text,
            "{} ({}, {phase}, version {}, {})",
            formula.name.value,
            formula.kind.as_str(),
            formula.version,
            self.owner
        );
        if let Some(description) = &formula.description {
            for line in description.value.trim_end().lines() {
                _ = writeln!(text, "{}", visible(line));
            }
        }
        let extends: Vec<&str> = (formula.extends.iter())
            .map(|name| name.value.as_str())
            .collect();
        if !extends.is_empty() {
            _ = writeln!(text, "extends {}", extends.join(", "));
        }
        section(&mut text, &variables(&formula.variables, page));
        let steps = match formula.kind {
            Kind::Expansion => &formula.template,
            Kind::Workflow | Kind::Aspect | Kind::Convoy | Kind::Task | Kind::Patrol => {
                &formula.steps
            }
        };
        section(&mut text, &tree(steps, page));
        let rules = words::rules(formula);
        let rules: Vec<String> = rules.iter().map(|rule| page.line(rule) + "\n").collect();
        section(&mut text, &rules.concat());
        let mut last = String::new();
        if let Some(n_made) = self.n_made {
            _ = writeln!(last, "makes {}", counted(n_made, "step", "steps"));
        }
        for sheet in &self.compilation.files {
            _ = writeln!(last, "file {}", sheet.path);
        }
        section(&mut text, &last);
        text
    }
}

/// Adds a part after an empty line, unless it is empty.
fn section(text: &mut String, part: &str) {
    if !part.is_empty() {
        text.push('\n');
        text.push_str(part);
    }
}

fn variables(variables: &[Variable], page: Page) -> String {
    let mut table = Table::new(&["VARIABLE", "VALUES…", "DESCRIPTION…"]);
    for variable in variables {
        table.row(vec![
            variable.name.value.clone(),
            words::values(variable),
            variable.description.clone(),
        ]);
    }
    table.draw(page)
}

fn tree(steps: &[Step], page: Page) -> String {
    let mut table = Table::new(&["STEP", "TITLE…", "NEEDS…", "MORE…"]);
    add_rows(&mut table, steps, 0);
    table.draw(page)
}

fn add_rows(table: &mut Table, steps: &[Step], depth: usize) {
    for step in steps {
        let needs: Vec<&str> = step.needs.iter().map(|need| need.value.as_str()).collect();
        table.row(vec![
            format!("{}{}", "  ".repeat(depth), step.id.value),
            step.title.value.clone(),
            needs.join(", "),
            words::more(step),
        ]);
        add_rows(table, &step.children, depth + 1);
        if let Some(repeat) = &step.repeat {
            add_rows(table, &repeat.body, depth + 1);
        }
    }
}

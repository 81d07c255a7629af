//! From the tree of a file to a formula. Everything that is wrong is said at once.

pub(super) use steps::GATES;
use table::Table;

use super::fields::Object;
use super::model::{
    Advice, AdviceStep, Branch, Compose, Expand, Formula, FormulaName, GateRule, Kind, Phase,
    Variable, VariableType, is_variable_name,
};
use super::place::{FileId, Findings, Format, FormulaFile, Place, Placed};
use crate::diag::{ErrorCode, WarningCode};
use crate::text::{Span, excerpt};
use crate::tree::{Node, parse_json, parse_toml};

mod steps;
mod table;

/// How foreign a file may be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Strictness {
    /// An unknown field is an error.
    #[default]
    Strict,
    /// It is a warning, and so is a placeholder that nobody declares (`--lenient`).
    Lenient,
    /// As strict, and a placeholder that nobody declares is an error too (`formula check --strict`).
    Exact,
}

/// Reads one file. `stem` is the name under which it was found.
pub(super) fn read(
    sheet: &FormulaFile,
    file: FileId,
    stem: &str,
    strictness: Strictness,
    findings: &mut Findings,
) -> Option<Formula> {
    let parsed = match sheet.format {
        Format::Json => parse_json(&sheet.text),
        Format::Toml => parse_toml(&sheet.text),
    };
    let node = match parsed {
        Ok(node) => node,
        Err(unreadable) => {
            let place = Place {
                file,
                span: unreadable.span,
            };
            findings.refuse(place, unreadable.message, "");
            return None;
        }
    };
    let mut reader = Reader {
        file,
        strictness,
        findings,
    };
    reader.formula(&node, stem)
}

struct Reader<'f> {
    file: FileId,
    strictness: Strictness,
    findings: &'f mut Findings,
}

impl Reader<'_> {
    fn place(&self, span: Span) -> Place {
        Place {
            file: self.file,
            span,
        }
    }

    fn refuse(&mut self, span: Span, message: impl Into<String>, help: &str) {
        let place = self.place(span);
        self.findings.refuse(place, message, help);
    }

    /// An error in a file of ours, a warning in a foreign one.
    fn object_to(&mut self, span: Span, message: String, help: &str) {
        let place = self.place(span);
        match self.strictness {
            Strictness::Strict | Strictness::Exact => self.findings.refuse(place, message, help),
            Strictness::Lenient => {
                self.findings
                    .warn(WarningCode::FormulaField, place, message, help);
            }
        }
    }

    fn formula(&mut self, node: &Node, stem: &str) -> Option<Formula> {
        // What is never poured here is for other programs, which know more fields.
        if self.strictness == Strictness::Strict && is_for_others(node) {
            self.strictness = Strictness::Lenient;
        }
        let table = self.table(node, Object::Formula)?;
        let name = self.formula_name(table, stem);
        let formula = Formula {
            description: self.text(table, "description"),
            version: self.version(table),
            kind: self.kind(table),
            phase: self.phase(table),
            intent: self.text(table, "intent").map(|text| text.value),
            extends: self.texts(table, "extends"),
            variables: self.variables(table),
            steps: self.steps(table, "steps", steps::Ids::Plain),
            template: self.steps(table, "template", steps::Ids::Template),
            compose: table
                .get("compose")
                .and_then(|node| self.compose(node))
                .unwrap_or_default(),
            advice: self.advice(table),
            name: name?,
        };
        self.check_purpose(&formula);
        Some(formula)
    }

    fn formula_name(&mut self, table: Table<'_>, stem: &str) -> Option<Placed<String>> {
        let name = self.required_text(table, "formula")?;
        if let Err(wrong) = FormulaName::parse(&name.value) {
            self.refuse(name.place.span, wrong.to_string(), "");
            return None;
        }
        if name.value != stem {
            let message = format!(
                "the formula is called `{}`, but its file is called `{}`",
                excerpt(&name.value),
                excerpt(stem)
            );
            self.object_to(name.place.span, message, "give both the same name");
            return Some(name.with(stem.to_owned()));
        }
        Some(name)
    }

    fn version(&mut self, table: Table<'_>) -> u64 {
        let version = self.number(table, "version", 1, u64::from(u32::MAX));
        version.unwrap_or(1)
    }

    fn kind(&mut self, table: Table<'_>) -> Kind {
        let kind = self.word(table, "type", Kind::ALL, Kind::as_str);
        kind.unwrap_or(Kind::Workflow)
    }

    fn phase(&mut self, table: Table<'_>) -> Option<Phase> {
        self.word(table, "phase", Phase::ALL, Phase::as_str)
    }

    /// A workflow has its own or inherited steps, an expansion a template.
    fn check_purpose(&mut self, formula: &Formula) {
        let span = formula.name.place.span;
        match formula.kind {
            Kind::Workflow if formula.steps.is_empty() && formula.extends.is_empty() => {
                self.refuse(span, "the formula has no steps", "add `steps`");
            }
            Kind::Workflow => {}
            Kind::Convoy | Kind::Task | Kind::Patrol => {
                let message = not_poured(formula.kind);
                let place = formula.name.place;
                (self.findings).warn(WarningCode::FormulaField, place, message, NOT_POURED_HELP);
            }
            Kind::Expansion if formula.template.is_empty() && formula.extends.is_empty() => {
                let message = "the expansion has no template";
                self.refuse(span, message, "write its steps under `template`");
            }
            Kind::Expansion => {}
            Kind::Aspect if formula.advice.is_empty() && formula.extends.is_empty() => {
                self.refuse(span, "the aspect has no advice", "add `advice`");
            }
            Kind::Aspect => {}
        }
        self.say_unused(formula);
    }

    /// What a formula of its type has no use for.
    fn say_unused(&mut self, formula: &Formula) {
        let has_rules = formula.compose != Compose::default();
        let (steps, template) = (!formula.steps.is_empty(), !formula.template.is_empty());
        let unused = match formula.kind {
            Kind::Workflow | Kind::Convoy | Kind::Task | Kind::Patrol => {
                vec![("template", template)]
            }
            Kind::Expansion => vec![
                ("steps", steps),
                ("compose", has_rules),
                ("advice", !formula.advice.is_empty()),
            ],
            Kind::Aspect => vec![
                ("steps", steps),
                ("template", template),
                ("compose", has_rules),
                ("vars", !formula.variables.is_empty()),
            ],
        };
        for (field, _) in unused.into_iter().filter(|(_, is_there)| *is_there) {
            let message = format!(
                "`{field}` means nothing in a formula of type {}",
                formula.kind.as_str()
            );
            (self.findings).warn(WarningCode::FormulaField, formula.name.place, message, "");
        }
    }

    fn variables(&mut self, table: Table<'_>) -> Vec<Variable> {
        let Some(node) = table.get("vars") else {
            return Vec::new();
        };
        let Some(entries) = node.as_table() else {
            let message = format!("`vars` is a table, not {}", node.kind());
            self.refuse(node.span, message, "");
            return Vec::new();
        };
        let mut variables = Vec::new();
        for (key, node) in entries {
            let name = Placed::new(key.value.clone(), self.place(key.span));
            if !is_variable_name(&name.value) {
                let message = format!(
                    "`{}` cannot be the name of a variable",
                    excerpt(&name.value)
                );
                let help = "letters, digits, `_` and `-`, beginning with a letter or `_`";
                self.refuse(key.span, message, help);
                continue;
            }
            variables.extend(self.variable(&name, node));
        }
        variables
    }

    fn variable(&mut self, name: &Placed<String>, node: &Node) -> Option<Variable> {
        let plain = |default| Variable {
            name: name.clone(),
            description: String::new(),
            is_required: false,
            default,
            pattern: None,
            allowed: Vec::new(),
            kind: VariableType::String,
        };
        // A bare value is the default.
        if let Some(text) = node.scalar() {
            let default = Placed::new(text, self.place(node.span));
            return Some(plain(Some(default)));
        }
        let table = self.table(node, Object::Variable)?;
        let variable = Variable {
            description: (self.text(table, "description"))
                .map(|text| text.value)
                .unwrap_or_default(),
            is_required: self.switch(table, "required").unwrap_or(false),
            default: self.scalar(table, "default"),
            pattern: self.text(table, "pattern"),
            allowed: self.scalars(table, "enum"),
            kind: self
                .word(table, "type", VariableType::ALL, VariableType::as_str)
                .unwrap_or(VariableType::String),
            ..plain(None)
        };
        self.check_variable(&variable);
        Some(variable)
    }

    fn check_variable(&mut self, variable: &Variable) {
        let name = &variable.name.value;
        if let Some(pattern) = &variable.pattern
            && let Err(error) = regex::Regex::new(&pattern.value)
        {
            let message = format!("the pattern of `{name}` is not a regular expression: {error}");
            self.refuse(pattern.place.span, message, "");
            return;
        }
        if let Some(default) = &variable.default
            && let Err(wrong) = super::values::check(variable, &default.value)
        {
            let message = format!("the default of `{name}` {wrong}");
            self.findings
                .error(ErrorCode::FormulaInvalidVar, default.place, message, "");
        }
    }

    fn compose(&mut self, node: &Node) -> Option<Compose> {
        let table = self.table(node, Object::Compose)?;
        Some(Compose {
            expand: self.each(table, "expand", Self::expand_rule),
            map: self.each(table, "map", Self::map_rule),
            branch: self.each(table, "branch", Self::branch),
            gate: self.each(table, "gate", Self::gate_rule),
            aspects: self.texts(table, "aspects"),
        })
    }
}

/// Why a formula of this kind cannot be poured (Z-43).
pub(super) fn not_poured(kind: Kind) -> String {
    format!("a formula of type {} cannot be poured", kind.as_str())
}

/// What can be done about it.
pub(super) const NOT_POURED_HELP: &str =
    "only a workflow can; others use it with `extends`, `expand` or `aspects`";

/// Whether a file says that it is of a kind that only other programs work with.
fn is_for_others(node: &Node) -> bool {
    let kind = node.get("type").and_then(Node::as_text);
    let others = [Kind::Convoy, Kind::Task, Kind::Patrol];
    others.iter().any(|other| kind == Some(other.as_str()))
}

impl Reader<'_> {
    pub(super) fn expand_rule(&mut self, node: &Node) -> Option<Expand> {
        self.expansion(node, Object::Expand, "target")
    }

    pub(super) fn map_rule(&mut self, node: &Node) -> Option<Expand> {
        self.expansion(node, Object::Map, "select")
    }

    fn expansion(&mut self, node: &Node, object: Object, chosen_by: &str) -> Option<Expand> {
        let table = self.table(node, object)?;
        let target = self.required_text(table, chosen_by);
        let with = self.required_text(table, "with");
        let vars = self.pairs(table, "vars");
        Some(Expand {
            target: target?,
            with: with?,
            vars,
        })
    }

    pub(super) fn branch(&mut self, node: &Node) -> Option<Branch> {
        let table = self.table(node, Object::Branch)?;
        let (from, join) = (
            self.required_text(table, "from"),
            self.required_text(table, "join"),
        );
        let steps = self.texts(table, "steps");
        if steps.is_empty() {
            self.refuse(table.span, "a branch needs `steps`", "");
            return None;
        }
        Some(Branch {
            from: from?,
            steps,
            join: join?,
        })
    }

    pub(super) fn gate_rule(&mut self, node: &Node) -> Option<GateRule> {
        let table = self.table(node, Object::GateRule)?;
        let before = self.required_text(table, "before");
        let condition = self.required_text(table, "condition");
        Some(GateRule {
            before: before?,
            condition: condition?,
        })
    }

    pub(super) fn advice(&mut self, table: Table<'_>) -> Vec<Advice> {
        self.each(table, "advice", Self::one_advice)
    }

    fn one_advice(&mut self, node: &Node) -> Option<Advice> {
        let table = self.table(node, Object::Advice)?;
        let target = self.required_text(table, "target");
        let mut before: Vec<AdviceStep> = Vec::new();
        let mut after: Vec<AdviceStep> = Vec::new();
        before.extend(table.get("before").and_then(|node| self.advice_step(node)));
        after.extend(table.get("after").and_then(|node| self.advice_step(node)));
        let around = table.get("around");
        if let Some(around) = around.and_then(|node| self.table(node, Object::Around)) {
            before.extend(self.each(around, "before", Self::advice_step));
            after.extend(self.each(around, "after", Self::advice_step));
        }
        Some(Advice {
            target: target?,
            before,
            after,
        })
    }

    fn advice_step(&mut self, node: &Node) -> Option<AdviceStep> {
        let table = self.table(node, Object::AdviceStep)?;
        let id = self.required_text(table, "id");
        let step = AdviceStep {
            title: self.filled_text(table, "title"),
            description: self.text(table, "description"),
            kind: self.filled_text(table, "type"),
            id: id?,
        };
        Some(step)
    }
}

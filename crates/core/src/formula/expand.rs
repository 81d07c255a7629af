//! Expansions: the steps of a template in the place of one step.

use super::budget::{Budget, MAX_TEXT, text_size};
use super::compose::is_step;
use super::compose::matches_pattern;
use super::library::Library;
use super::model::{Expand, Formula, Kind, Step};
use super::place::{Place, Placed};
use super::repeat;
use super::rewrite::substitute_names;
use super::rewrite::{self, Group};
use super::template::substitute;
use super::values::{Bindings, Given, Values, bind};
use crate::text::excerpt;

/// So deep can expansions be in expansions, as with the real `bd`.
const MAX_DEPTH: usize = 5;

/// Replaces steps that name an expansion, and those that `expand` and `map` choose.
pub(super) fn expand(
    formula: &Formula,
    steps: Vec<Step>,
    bindings: &Bindings,
    library: &mut Library<'_>,
    budget: &mut Budget,
) -> Vec<Step> {
    let mut expander = Expander {
        bindings,
        library,
        budget,
        depth: 0,
        replaced: Vec::new(),
    };
    let steps = expander.inline(steps);
    let mut steps = expander.settled(steps);
    for rule in &formula.compose.expand {
        if is_step(&steps, &rule.target, &mut expander.library.findings) {
            steps = expander.all(steps, rule, |id| id == rule.target.value);
        }
    }
    for rule in &formula.compose.map {
        let mut is_used = false;
        steps = expander.all(steps, rule, |id| {
            let is_match = matches_pattern(&rule.target.value, id);
            is_used |= is_match;
            is_match
        });
        if !is_used {
            let message = format!("no step matches `{}`", excerpt(&rule.target.value));
            let code = crate::diag::WarningCode::FormulaField;
            (expander.library.findings).warn(code, rule.target.place, message, "");
        }
    }
    steps
}

struct Expander<'a, 's> {
    bindings: &'a Bindings,
    library: &'a mut Library<'s>,
    budget: &'a mut Budget,
    depth: usize,
    replaced: Vec<(String, Place, Group)>,
}

impl Expander<'_, '_> {
    /// Lets others need what came in the place of a step.
    fn settled(&mut self, mut steps: Vec<Step>) -> Vec<Step> {
        let findings = &mut self.library.findings;
        for (id, place, group) in std::mem::take(&mut self.replaced) {
            if !rewrite::point_to(&mut steps, &id, &group.ends, place, self.budget, findings) {
                return Vec::new();
            }
        }
        steps
    }

    /// Replaces steps that name an expansion themselves.
    fn inline(&mut self, steps: Vec<Step>) -> Vec<Step> {
        let mut all = Vec::with_capacity(steps.len());
        for mut step in steps {
            if let Some(name) = step.expand.take() {
                let vars = std::mem::take(&mut step.expand_vars);
                all.extend(self.replaced_by(&step, &name, &vars));
            } else {
                step.children = self.inline(std::mem::take(&mut step.children));
                all.push(step);
            }
        }
        all
    }

    /// Replaces every step whose name is chosen.
    fn all(
        &mut self,
        steps: Vec<Step>,
        rule: &Expand,
        mut is_chosen: impl FnMut(&str) -> bool,
    ) -> Vec<Step> {
        let steps = self.chosen(steps, rule, &mut is_chosen);
        self.settled(steps)
    }

    fn chosen(
        &mut self,
        steps: Vec<Step>,
        rule: &Expand,
        is_chosen: &mut impl FnMut(&str) -> bool,
    ) -> Vec<Step> {
        let mut all = Vec::with_capacity(steps.len());
        for mut step in steps {
            if is_chosen(&step.id.value) {
                all.extend(self.replaced_by(&step, &rule.with, &rule.vars));
            } else {
                let children = std::mem::take(&mut step.children);
                step.children = self.chosen(children, rule, is_chosen);
                all.push(step);
            }
        }
        all
    }

    /// The steps of an expansion in the place of one step.
    fn replaced_by(
        &mut self,
        target: &Step,
        name: &Placed<String>,
        vars: &[(String, String)],
    ) -> Vec<Step> {
        if self.depth == MAX_DEPTH {
            let message = format!("expansions are nested more than {MAX_DEPTH} deep");
            self.library.findings.refuse(name.place, message, "");
            return Vec::new();
        }
        let Some(expansion) = self.library.load_whole(name) else {
            return Vec::new();
        };
        if expansion.kind != Kind::Expansion {
            let message = format!(
                "`{}` is a formula of type {}, not an expansion",
                excerpt(&name.value),
                expansion.kind.as_str()
            );
            self.library.findings.refuse(name.place, message, "");
            return Vec::new();
        }
        let Some(mut steps) = self.filled(target, &expansion, vars, name) else {
            return Vec::new();
        };
        self.depth += 1;
        steps = self.inline(steps);
        self.depth -= 1;
        let group = Group::of(&steps);
        let n_needs = group.begins.len() * target.needs.len();
        let findings = &mut self.library.findings;
        if !self.budget.take_needs(n_needs, name.place, findings) {
            return Vec::new();
        }
        rewrite::inherit_needs(&mut steps, &group, target);
        for step in &mut steps {
            let conditions = target.conditions.iter().cloned();
            step.conditions.splice(0..0, conditions);
        }
        let id = target.id.value.clone();
        self.replaced.push((id, name.place, group));
        self.budget.give_back_step();
        steps
    }

    /// The template with the target's texts and the expansion's values, its loops unrolled.
    fn filled(
        &mut self,
        target: &Step,
        expansion: &Formula,
        vars: &[(String, String)],
        name: &Placed<String>,
    ) -> Option<Vec<Step>> {
        let values = self.values(expansion, vars, name);
        let mut steps = expansion.template.clone();
        let findings = &mut self.library.findings;
        if !self.budget.take(&steps, name.place, findings) {
            return None;
        }
        let description = target.description.as_ref();
        let left = self.budget.text_left();
        let filled = substitute_names(&mut steps, left, |name| match name {
            "target" | "target.id" => Some(&target.id.value),
            "target.title" => Some(&target.title.value),
            "target.description" => {
                Some(description.map_or("", |description| description.value.as_str()))
            }
            // A variable in a given value is filled with all others, once (F-2).
            name => (vars.iter().find(|(variable, _)| variable == name))
                .map(|(_, value)| value.as_str())
                .or_else(|| values.get(name)),
        });
        let grown = if filled.is_ok() {
            text_size(&steps)
        } else {
            usize::MAX
        };
        if !self.budget.take_text(grown, name.place, findings) {
            return None;
        }
        Some(repeat::unroll(steps, &values, self.budget, findings))
    }

    /// The values of the expansion's own variables, with those of the formula filled in: for its checks and its loops.
    fn values(
        &mut self,
        expansion: &Formula,
        vars: &[(String, String)],
        name: &Placed<String>,
    ) -> Bindings {
        let mut values = Values::default();
        for (variable, value) in vars {
            let filled = substitute(value, MAX_TEXT, |name| self.bindings.get(name));
            values.set(variable, &filled.unwrap_or_default());
        }
        if self.bindings.is_partial() {
            let defaults = expansion.variables.iter().filter_map(|variable| {
                let default = variable.default.as_ref()?;
                Some((variable.name.value.as_str(), default.value.as_str()))
            });
            let given: Vec<(&str, &str)> = (values.names())
                .filter_map(|name| Some((name, values.get(name)?)))
                .collect();
            return Bindings::with(defaults.chain(given));
        }
        let given = Given::Values(&values);
        bind(
            &expansion.variables,
            given,
            name.place,
            &mut self.library.findings,
        )
    }
}

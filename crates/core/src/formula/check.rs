//! What must be true of the steps before anything is written (F-3, F-5).

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use super::library::Library;
use super::model::StepId;
use super::model::{Formula, Step, parts};
use super::molecule::gate_id;
use super::place::{Findings, Place, Placed, suggestion};
use super::read::Strictness;
use super::rewrite::each_bead_text;
use super::template;
use super::values::Bindings;
use crate::diag::{ErrorCode, WarningCode};
use crate::issue::find_cycle;
use crate::text::{Span, excerpt};

/// No two steps of a file have one name, and what is needed is there, also before anything is put in the place of a step.
pub(super) fn sources(steps: &[Step], findings: &mut Findings) {
    let ids = unique(steps, findings);
    for repeat in parts(steps).filter_map(|part| part.repeat.as_ref()) {
        let mut inner = unique(&repeat.body, findings);
        inner.extend(&ids);
        needs(&repeat.body, &inner, findings);
    }
}

/// The steps that will be: names that are safe and unique, needs that exist, no circle.
pub(super) fn steps(steps: &[Step], whole: Place, findings: &mut Findings) {
    let ids = unique(steps, findings);
    for part in parts(steps) {
        if let Err(wrong) = StepId::parse(&part.id.value) {
            findings.refuse(part.id.place, wrong.to_string(), "");
        }
    }
    needs(steps, &ids, findings);
    if steps.is_empty() {
        findings.refuse(whole, "the formula makes no steps", "");
    }
    if !findings.has_errors() {
        circle(steps, findings);
    }
}

fn unique<'s>(steps: &'s [Step], findings: &mut Findings) -> HashSet<&'s str> {
    let mut ids = HashSet::new();
    let mut gates = Vec::new();
    for part in parts(steps) {
        if part.gate.is_some() {
            gates.push((gate_id(&part.id.value), part.id.place));
        }
        if !ids.insert(part.id.value.as_str()) {
            let message = format!("there are two steps `{}`", excerpt(&part.id.value));
            findings.refuse(part.id.place, message, "");
        }
    }
    for (gate, place) in gates {
        if ids.contains(gate.as_str()) {
            let message = format!(
                "the gate of the step would have the name of the step `{}`",
                excerpt(&gate)
            );
            findings.refuse(place, message, "give that step another name");
        }
    }
    ids
}

/// For how many unknown names a neighbour is looked for.
const MAX_SUGGESTED: usize = 20;

fn needs(steps: &[Step], ids: &HashSet<&str>, findings: &mut Findings) {
    let mut n_suggested = 0;
    for part in parts(steps) {
        let spawner = part.waits_for.as_ref();
        let spawner = spawner.map(|waits| Placed::new(waits.spawner.clone(), waits.place));
        for need in part.needs.iter().chain(&spawner) {
            need_is_there(part, need, ids, &mut n_suggested, findings);
        }
    }
}

fn need_is_there(
    step: &Step,
    need: &Placed<String>,
    ids: &HashSet<&str>,
    n_suggested: &mut usize,
    findings: &mut Findings,
) {
    if need.value == step.id.value {
        let message = format!("the step `{}` needs itself", excerpt(&step.id.value));
        findings.refuse(need.place, message, "");
    } else if !ids.contains(need.value.as_str()) {
        let message = format!(
            "the step `{}` needs `{}`, which does not exist",
            excerpt(&step.id.value),
            excerpt(&need.value)
        );
        let mut help = String::new();
        // Looking for a neighbour looks at every name.
        if *n_suggested < MAX_SUGGESTED {
            *n_suggested += 1;
            let mut names: Vec<&str> = ids.iter().copied().collect();
            names.sort_unstable();
            help = suggestion(&need.value, &names, String::new);
        }
        findings.refuse(need.place, message, &help);
    }
}

/// Steps that wait for each other. A step also waits for what its parents need and for the children that it names, and a step with
/// children ends after them.
fn circle(steps: &[Step], findings: &mut Findings) {
    let mut waits: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut order = Vec::new();
    let by_id: HashMap<&str, &Step> = parts(steps)
        .map(|part| (part.id.value.as_str(), part))
        .collect();
    for step in steps {
        gather(step, &[], &by_id, &mut waits, &mut order);
    }
    let targets =
        |step: &&str| -> Result<_, Infallible> { Ok(waits.get(step).cloned().unwrap_or_default()) };
    let Ok(Some(circle)) = find_cycle(order, targets) else {
        return;
    };
    if let Some(first) = by_id.get(circle[0]) {
        let place = first.id.place;
        let message = format!("steps wait for each other: {}", circle.join(" -> "));
        findings.refuse(place, message, "remove one of these needs");
    }
}

fn gather<'s>(
    step: &'s Step,
    above: &[&'s str],
    parts: &HashMap<&'s str, &'s Step>,
    waits: &mut HashMap<&'s str, Vec<&'s str>>,
    order: &mut Vec<&'s str>,
) {
    let own = step.needs.iter().map(|need| need.value.as_str());
    let spawner = (step.waits_for.as_ref()).and_then(|waits| parts.get(waits.spawner.as_str()));
    let awaited = spawner.into_iter().flat_map(|spawner| &spawner.children);
    let awaited = awaited.map(|child| child.id.value.as_str());
    let needs: Vec<&str> = above.iter().copied().chain(own).chain(awaited).collect();
    order.push(&step.id.value);
    for child in &step.children {
        gather(child, &needs, parts, waits, order);
    }
    let children = step.children.iter().map(|child| child.id.value.as_str());
    let all = needs.into_iter().chain(children).collect();
    waits.insert(&step.id.value, all);
}

/// A placeholder that nobody declares and nobody gave a value stays in the text as it is written. Where the formula declares
/// variables at all, or is read leniently, that is a warning: texts have double braces for other reasons too (Z-43). Where it
/// declares none, its author forgot to (F-3). What a condition asks for must always be there.
pub(super) fn placeholders(
    formula: &Formula,
    steps: &[Step],
    bindings: &Bindings,
    library: &mut Library<'_>,
) {
    let declared: Vec<&str> = (formula.variables.iter())
        .map(|variable| variable.name.value.as_str())
        .collect();
    let is_known = |name: &str| bindings.get(name).is_some() || declared.contains(&name);
    let mut asked: Vec<Unknown> = Vec::new();
    let mut said: Vec<Unknown> = Vec::new();
    let look = |place: Place, text: &str, unknown: &mut Vec<Unknown>| {
        for placeholder in template::placeholders(text) {
            if !is_known(placeholder.name) {
                unknown.push(Unknown {
                    place,
                    written: placeholder.written.to_owned(),
                    name: placeholder.name.to_owned(),
                });
            }
        }
    };
    if let Some(description) = &formula.description {
        look(description.place, &description.value, &mut said);
    }
    for part in parts(steps) {
        for condition in &part.conditions {
            let variable = format!("{{{{{}}}}}", condition.value.variable);
            look(condition.place, &variable, &mut asked);
        }
        let mut part = part.clone();
        each_bead_text(&mut part, &mut |text, place| look(place, text, &mut said));
    }
    let is_error = match library.strictness {
        Strictness::Exact => true,
        Strictness::Strict => declared.is_empty(),
        Strictness::Lenient => false,
    };
    for unknown in asked {
        unknown.tell(&declared, true, library);
    }
    for unknown in said {
        unknown.tell(&declared, is_error, library);
    }
}

/// A placeholder without a variable.
struct Unknown {
    place: Place,
    written: String,
    name: String,
}

impl Unknown {
    fn tell(&self, declared: &[&str], is_error: bool, library: &mut Library<'_>) {
        let name = &self.name;
        let place = narrowed(self.place, &self.written, library);
        if is_error {
            let message = format!("the formula has no variable `{}`", excerpt(name));
            let help = suggestion(name, declared, || {
                format!("declare it under `vars`, or pass --var {name}=VALUE")
            });
            (library.findings).error(ErrorCode::FormulaMissingVar, place, message, &help);
            return;
        }
        let written = excerpt(&self.written);
        let message = format!("`{written}` names no variable of the formula and stays as it is");
        let help = suggestion(name, declared, || {
            format!("if it is meant to be filled in, declare `{name}` under `vars`")
        });
        (library.findings).warn(WarningCode::UndeclaredPlaceholder, place, message, &help);
    }
}

/// The place of a placeholder within a text, where the file has it as it is written.
fn narrowed(place: Place, written: &str, library: &Library<'_>) -> Place {
    let text = library.text(place.file);
    let within = place.span.slice(text).find(written);
    within.map_or(place, |at| {
        let start = place.span.start() + at;
        Place {
            file: place.file,
            span: Span::new(start, start + written.len()),
        }
    })
}

//! `bd mol pour`, `bd mol wisp NAME` and `bd mol wisp create`: formulas become molecules (F-6…F-10).
//!
//! The words are the real `bd`'s, and so are the errors that it has. What it accepts and we refuse has our own words.
//! Ids are those of the contracts (F-6), and the answer also has the fields of the seeds (F-7). `--attach` names a formula (F-8).

use beads_ralph_core::formula::{
    Absent, Compilation, Given, Molecule, Phase, Strictness, Values, Variable, compile,
};
use beads_ralph_runtime::formulas::Formulas;
use beads_ralph_runtime::pour::{Order, Poured, pour};
use beads_ralph_runtime::repo;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::bd::{Call, Opened, Refusal, go_json, help, quoted, tree};
use crate::formulas::Said;
use crate::registered_types::RegisteredTypes;

struct Wish<'c> {
    call: &'c Call<'c>,
    formulas: Formulas,
    values: Values,
    types: RegisteredTypes,
    is_wisp: bool,
}

pub(super) fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let mut opened = call.open()?;
    let wish = Wish::read(call, &opened, false)?;
    let name = call.arguments.words[0].as_str();
    let main = wish.molecule(name, || {
        Refusal::plain(format!("{name} not found as formula or proto ID"))
    })?;
    if main.phase == Phase::Vapor {
        warn_of_vapor(call, name);
    }
    let mut attached = Vec::new();
    for other in call.arguments.list("attach") {
        attached.push(wish.molecule(&other, || {
            let other = quoted(&other);
            let bare = other.trim_matches('"');
            Refusal::plain(format!(
                "resolving attachment ID {bare}: no issue found matching {other}"
            ))
        })?);
    }
    if call.arguments.is_on("dry-run") {
        return call.output.text(&poured_dry(call, &main, &attached));
    }
    let poured = wish.pour(&mut opened, &main, &attached)?;
    let n_attached: usize = poured.iter().skip(1).map(|one| one.parts.len() + 1).sum();
    if call.output.is_json() {
        let answer = answer(&main, &poured, "liquid", Some(n_attached));
        return call.output.value(answer);
    }
    let mut page = format!(
        "✓ Poured mol: created {} issues\n  Root issue: {}\n  Phase: liquid (persistent in the issue database)\n",
        main.steps.len() + 1,
        poured[0].root
    );
    if n_attached > 0 {
        let n = attached.len();
        push!(page, "  Attached: {n_attached} issues from {n} protos\n");
    }
    call.output.text(&page)
}

/// `bd mol wisp NAME`; without a name the help.
pub(super) fn wisp_or_help(call: &mut Call<'_>) -> Result<(), Refusal> {
    if !call.arguments.words.is_empty() {
        return wisp(call);
    }
    let path = ["mol", "wisp"];
    let group = tree::named(super::COMMAND.children, "wisp");
    let help = group.map_or_else(String::new, |group| help::of(group, &path));
    call.output.text(&help)
}

/// `bd mol wisp NAME` and `bd mol wisp create NAME`.
pub(super) fn wisp(call: &mut Call<'_>) -> Result<(), Refusal> {
    let mut opened = call.open()?;
    let wish = Wish::read(call, &opened, true)?;
    let name = call.arguments.words[0].as_str();
    let mut main = wish.molecule(name, || {
        if name.starts_with("mol-") {
            Refusal::json_on_stderr(format!("'{name}' not found as formula or proto"))
                .hint("run 'bd formula list' to see available formulas")
        } else {
            Refusal::plain(format!("proto not found: {name}"))
        }
    })?;
    let n_steps = main.steps.len();
    if call.arguments.is_on("root-only") {
        main.steps.clear();
    }
    if call.arguments.is_on("dry-run") {
        return call.output.text(&wisp_dry(call, &main, n_steps));
    }
    let poured = wish.pour(&mut opened, &main, &[])?;
    if call.output.is_json() {
        return call.output.value(answer(&main, &poured, "vapor", None));
    }
    let root = &poured[0].root;
    call.output.text(&format!(
        "✓ Created wisp: {} issues\n  Root issue: {root}\n  Phase: vapor (ephemeral, not synced via git)\n\n\
         Next steps:\n  bd close {root}.<step>       # Complete steps\n  \
         bd mol squash {root}         # Condense to digest (promotes to persistent)\n  \
         bd mol burn {root}           # Discard without creating digest\n",
        main.steps.len() + 1
    ))
}

impl<'c> Wish<'c> {
    fn read(call: &'c Call<'c>, opened: &Opened, is_wisp: bool) -> Result<Self, Refusal> {
        let texts = call.arguments.texts("var");
        if let Some(bad) = texts.iter().find(|text| !text.contains('=')) {
            let message = format!("invalid variable format '{bad}', expected 'key=value'");
            return Err(Refusal::plain(message));
        }
        let values = Values::parse(texts.iter().map(String::as_str))
            .map_err(|bad| Refusal::plain(bad.to_string()))?;
        let checkout = repo::root_of(&call.here);
        Ok(Self {
            call,
            formulas: Formulas::of(Some(&opened.directory), checkout.as_deref()),
            values,
            types: RegisteredTypes::of(&*opened.store)?,
            is_wisp,
        })
    }

    /// What a formula makes of the values. A value that it does not declare is allowed, as in the real `bd`.
    fn molecule(&self, name: &str, absent: impl Fn() -> Refusal) -> Result<Molecule, Refusal> {
        let given = Given::Offered(&self.values);
        let compiled = compile(&self.formulas, name, given, Strictness::Strict);
        let compilation = match compiled {
            Ok(compilation) => compilation,
            Err(Absent::NotFound { .. } | Absent::Name(_)) => return Err(absent()),
            Err(error) => return Err(Refusal::plain(error.to_string())),
        };
        if let Some(refusal) = self.refused(name, &compilation) {
            return Err(refusal);
        }
        let said = Said::of(&compilation);
        for warning in said.messages() {
            self.call.output.stderr(&format!("Warning: {warning}\n"));
        }
        let nothing = || Refusal::plain(format!("the formula {name} makes no steps"));
        let mut molecule = compilation.molecule.ok_or_else(nothing)?;
        let flattened = molecule.flatten_types(|kind| self.types.is_known(kind));
        if !flattened.is_empty() && !self.call.arguments.is_on("dry-run") {
            let warning = RegisteredTypes::flattened(&flattened);
            self.call.output.stderr(&format!("Warning: {warning}\n"));
        }
        Ok(molecule)
    }

    /// What is wrong, in the words of the real `bd` where it has some.
    fn refused(&self, name: &str, compilation: &Compilation) -> Option<Refusal> {
        let variables = compilation.variables();
        let misfits: Vec<String> = (variables.iter())
            .filter_map(|variable| misfit(variable, self.values.get(&variable.name.value)?))
            .collect();
        if !misfits.is_empty() {
            let misfits = misfits.join("\n  - ");
            let message = format!(
                "formula {}: variable validation failed:\n  - {misfits}",
                quoted(name)
            );
            return Some(Refusal::plain(message));
        }
        let missing: Vec<&str> = (variables.iter())
            .filter(|variable| variable.must_be_given())
            .map(|variable| variable.name.value.as_str())
            .filter(|name| self.values.get(name).is_none())
            .collect();
        if let Some(first) = missing.first() {
            let message = format!("missing required variables: {}", missing.join(", "));
            let hint = format!("Provide them with: --var {first}=<value>");
            return Some(Refusal::json_on_stderr(message).hint(hint));
        }
        // The real `bd` would say that there is no such formula, or let it pass.
        let found = Said::of(compilation).short();
        let found: Vec<&str> = found.lines().collect();
        (compilation.has_errors()).then(|| {
            let found = found.join("\n  - ");
            Refusal::plain(format!(
                "formula {} cannot be poured:\n  - {found}",
                quoted(name)
            ))
        })
    }

    fn pour(
        &self,
        opened: &mut Opened,
        main: &Molecule,
        attached: &[Molecule],
    ) -> Result<Vec<Poured>, Refusal> {
        let order = Order {
            molecule: main,
            attached,
            assignee: self.call.arguments.filled("assignee"),
            labels: &[],
            is_wisp: self.is_wisp,
            for_bead: None,
        };
        let doing = if self.is_wisp {
            "creating wisp"
        } else {
            "pouring proto"
        };
        opened
            .signed(|store, by| pour(store, &order, by))
            .map_err(|error| Refusal::plain(format!("{doing}: {error}")))
    }
}

/// What the real `bd` says of a value that it refuses.
fn misfit(variable: &Variable, value: &str) -> Option<String> {
    let name = quoted(&variable.name.value);
    if variable.is_required && value.is_empty() {
        return Some(format!("variable {name} is required and cannot be empty"));
    }
    if !variable.allowed.is_empty() && !variable.allowed.iter().any(|word| word == value) {
        return Some(format!(
            "variable {name}: value {} not in allowed values [{}]",
            quoted(value),
            variable.allowed.join(" ")
        ));
    }
    let pattern = variable.pattern.as_ref()?;
    (!variable.has_pattern(value)).then(|| {
        format!(
            "variable {name}: value {} does not match pattern {}",
            quoted(value),
            quoted(&pattern.value)
        )
    })
}

fn warn_of_vapor(call: &Call<'_>, name: &str) {
    let mut text = format!(
        "⚠ Formula {} recommends vapor phase (ephemeral)\n  Consider using: bd mol wisp {name}",
        quoted(name)
    );
    for var in call.arguments.texts("var") {
        push!(text, " --var {var}");
    }
    text.push_str(
        "\n  Pour creates persistent issues that sync like any other bead.\n  Wisp creates ephemeral issues that auto-cleanup.\n\n",
    );
    call.output.stderr(&text);
}

/// What the real `bd` calls the beads of a formula: the names on the way down from the root.
fn keys(molecule: &Molecule) -> Vec<String> {
    let root = &molecule.formula;
    let mut keys: Vec<String> = Vec::with_capacity(molecule.steps.len());
    for step in &molecule.steps {
        // Parents come before their children.
        let above = (step.parent.as_deref())
            .and_then(|parent| molecule.steps.iter().position(|other| other.id == parent))
            .and_then(|at| keys.get(at));
        let key = format!("{}.{}", above.unwrap_or(root), step.id);
        keys.push(key);
    }
    keys
}

/// The answer: the fields of the real `bd`, then ours (F-7).
#[derive(Serialize)]
struct Answer<'p> {
    created: usize,
    id_mapping: Map<String, Value>,
    new_epic_id: &'p str,
    phase: &'static str,
    id: &'p str,
    steps_created: usize,
    bead_ids: Vec<&'p str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attached: Option<usize>,
}

fn answer<'p>(
    main: &Molecule,
    poured: &'p [Poured],
    phase: &'static str,
    attached: Option<usize>,
) -> Answer<'p> {
    let own = &poured[0];
    let names = std::iter::once(main.formula.clone()).chain(keys(main));
    let ids = std::iter::once(&own.root).chain(own.parts.iter().map(|(_, id)| id));
    let mapping: Map<_, _> = names.zip(ids.map(go_json::value)).collect();
    let parts = poured.iter().flat_map(|one| &one.parts);
    let bead_ids: Vec<&str> = parts.map(|(_, id)| id.as_str()).collect();
    Answer {
        created: mapping.len(),
        id_mapping: mapping,
        new_epic_id: own.root.as_str(),
        phase,
        id: own.root.as_str(),
        steps_created: bead_ids.len(),
        bead_ids,
        attached,
    }
}

/// The beads that there would be, a line for each.
fn beads(molecule: &Molecule, of_root: &str) -> String {
    let name = &molecule.formula;
    let mut page = format!("  - {name} (from {name}){of_root}\n");
    for (step, key) in molecule.steps.iter().zip(keys(molecule)) {
        push!(page, "  - {} (from {key})\n", step.title);
    }
    page
}

fn poured_dry(call: &Call<'_>, main: &Molecule, attached: &[Molecule]) -> String {
    let assignee = call.arguments.filled("assignee");
    let of_root = assignee.map_or_else(String::new, |name| format!(" (assignee: {name})"));
    let mut page = format!(
        "\nDry run: would pour {} issues from proto {}\n\nStorage: permanent (.beads/)\n\n{}",
        main.steps.len() + 1,
        main.formula,
        beads(main, &of_root)
    );
    if !attached.is_empty() {
        page.push_str("\nAttachments (sequential bonding):\n");
    }
    for other in attached {
        let n = other.steps.len() + 1;
        push!(page, "  + {} ({n} issues)\n", other.formula);
    }
    page
}

fn wisp_dry(call: &Call<'_>, main: &Molecule, n_steps: usize) -> String {
    let name = &main.formula;
    let mut page = if call.arguments.is_on("root-only") {
        let mut page =
            format!("\nDry run: would create wisp with 1 issue (root only) from proto {name}\n");
        if n_steps > 0 {
            push!(
                page,
                "  Note: {n_steps} child step(s) skipped (--root-only)\n"
            );
        }
        page
    } else {
        let n = n_steps + 1;
        format!("\nDry run: would create wisp with {n} issues from proto {name}\n\n")
    };
    page.push_str("Storage: main database (ephemeral=true, not synced via git)\n\n");
    page.push_str(&beads(main, ""));
    page
}

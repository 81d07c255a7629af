//! `bd mol show`: a molecule with its steps.

use std::collections::HashSet;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::Record;
use beads_ralph_core::vocabulary::EdgeType;
use serde::Serialize;
use serde_json::Value;

use super::family::Family;
use super::found;
use crate::bd::issue_json::{EdgeJson, IssueJson};
use crate::bd::{Call, Refusal, issue_json, title_of};

/// Texts in which variables may stand, in this order.
const TEXTS: [&str; 4] = ["description", "design", "acceptance_criteria", "notes"];

/// Words of a template language that look like variables.
const KEYWORDS: [&str; 7] = ["else", "this", "root", "index", "key", "first", "last"];

/// The answer in JSON, with null for what there is not.
#[derive(Serialize)]
struct Shown {
    root: IssueJson,
    issues: Vec<IssueJson>,
    dependencies: Option<Vec<EdgeJson>>,
    variables: Option<Vec<String>>,
    is_compound: bool,
    bonded_from: Option<Value>,
}

pub(super) fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    let root = found(&opened, &call.arguments.words[0])?;
    let bonded = root.issue.document().get("bonded_from").cloned();
    let is_compound = bonded
        .as_ref()
        .and_then(Value::as_array)
        .is_some_and(|list| !list.is_empty());
    let family = Family::load(&opened, root)?;
    if call.output.is_json() {
        let edges = family.edges();
        let edges = edges
            .iter()
            .map(|(issue, edge)| issue_json::edge(issue, edge));
        return call.output.value(Shown {
            root: issue_json::issue(family.root()),
            issues: issue_json::issues(&family.all),
            dependencies: Some(edges.collect()).filter(|edges: &Vec<_>| !edges.is_empty()),
            variables: Some(all_variables(&family)).filter(|names| !names.is_empty()),
            is_compound,
            bonded_from: bonded,
        });
    }
    if is_compound {
        return Err(Refusal::not_served("the text of a bonded molecule"));
    }
    let (root, n_beads) = (&family.root().issue, family.all.len());
    let mut page = format!(
        "\n🧪 Molecule: {}\n   ID: {}\n   Steps: {n_beads}\n",
        title_of(root),
        root.id()
    );
    let variables = all_variables(&family);
    if !variables.is_empty() {
        page.push_str("\n📝 Variables:\n");
        for name in variables {
            push!(page, "   {{{{{name}}}}}\n");
        }
    }
    push!(page, "\n🌲 Structure:\n   {} (root)\n", title_of(root));
    tree(&family, &mut page);
    page.push('\n');
    call.output.text(&page)
}

/// The steps below each other, each once.
fn tree(family: &Family, page: &mut String) {
    let edges = family.edges();
    let children = |id: &BeadId| -> Vec<&Record> {
        let own = edges
            .iter()
            .filter(|(_, edge)| edge.kind() == EdgeType::ParentChild && edge.target() == id);
        let ids: Vec<&BeadId> = own.map(|(issue, _)| issue.id()).collect();
        let all = family.all.iter();
        all.filter(|record| ids.contains(&record.issue.id()))
            .collect()
    };
    let mut seen = HashSet::from([family.root().issue.id()]);
    let mut left: Vec<(usize, bool, &Record)> = Vec::new();
    let below = |depth: usize, id: &BeadId| {
        let parts = children(id).into_iter().rev().enumerate();
        parts
            .map(move |(at, part)| (depth, at == 0, part))
            .collect::<Vec<_>>()
    };
    left.extend(below(0, family.root().issue.id()));
    while let Some((depth, is_last, record)) = left.pop() {
        let indent = "  ".repeat(depth);
        let connector = if is_last { "└──" } else { "├──" };
        let title = title_of(&record.issue);
        let names = variables(&title);
        let names = if names.is_empty() {
            String::new()
        } else {
            format!(" [{}]", names.join(", "))
        };
        if !seen.insert(record.issue.id()) {
            push!(
                page,
                "{indent}   {connector} {title}{names} (cycle detected, skipping)\n"
            );
            continue;
        }
        push!(page, "{indent}   {connector} {title}{names}\n");
        left.extend(below(depth + 1, record.issue.id()));
    }
}

fn all_variables(family: &Family) -> Vec<String> {
    let mut all = String::new();
    for record in &family.all {
        let texts = TEXTS.map(|key| record.issue.text(key).unwrap_or_default());
        for text in [record.issue.title()].into_iter().chain(texts) {
            all.push_str(text);
            all.push(' ');
        }
    }
    variables(&all)
}

/// The names in double braces, each once.
fn variables(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for rest in text.split("{{").skip(1) {
        let Some((name, _)) = rest.split_once("}}") else {
            continue;
        };
        let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
        let is_name = name.starts_with(is_first)
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_name && !KEYWORDS.contains(&name) && !names.iter().any(|own| own == name) {
            names.push(name.to_owned());
        }
    }
    names
}

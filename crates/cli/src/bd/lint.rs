//! `bd lint`: sections that the description of a bead should have, by its type.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Issue, Query, Record};
use serde_json::{Value, json};

use super::call::{Call, Opened};
use super::failure::Refusal;
use super::filter::Filter;
use super::output;
use super::text::{line, push};
use super::tree::{Arity, Command, Positional, text};

/// The command.
pub(super) const COMMAND: Command = Command {
    name: "lint",
    about: "Find descriptions that lack a section",
    positionals: &[Positional {
        name: "id",
        is_required: false,
        is_many: true,
    }],
    arity: Arity::Any,
    flags: &[
        text("status", "Those with this status, or all (default: open)").short('s'),
        text("type", "Those of a type").short('t'),
    ],
    run: Some(run),
    ..Command::NONE
};

/// The sections that a field of the bead stands for as well.
const CRITERIA: [&str; 2] = ["Acceptance Criteria", "Success Criteria"];

/// The sections of a type.
fn sections(kind: &str) -> &'static [&'static str] {
    match kind {
        "bug" => &["Steps to Reproduce", "Acceptance Criteria"],
        "task" | "feature" | "story" => &["Acceptance Criteria"],
        "epic" => &["Success Criteria"],
        "decision" => &["Decision", "Rationale", "Alternatives Considered"],
        "spike" => &["Goal", "Findings"],
        _ => &[],
    }
}

/// The sections that a bead lacks.
fn missing(issue: &Issue) -> Vec<&'static str> {
    let text = |key: &str| issue.text(key).unwrap_or_default();
    let acceptance = text("acceptance_criteria");
    let all = format!("{}\n{acceptance}", text("description")).to_lowercase();
    let has = |section: &str| {
        let is_criteria = CRITERIA.contains(&section);
        all.contains(&section.to_lowercase())
            || is_criteria && !acceptance.is_empty()
            || section == "Success Criteria" && all.contains("acceptance criteria")
    };
    let sections = sections(issue.issue_type()).iter().copied();
    sections.filter(|section| !has(section)).collect()
}

/// What is said about a bead that lacks something.
struct Found {
    id: String,
    title: String,
    kind: String,
    missing: Vec<&'static str>,
}

impl Found {
    fn of(issue: &Issue) -> Option<Self> {
        let missing = missing(issue);
        (!missing.is_empty()).then(|| Self {
            id: issue.id().to_string(),
            title: issue.title().to_owned(),
            kind: issue.issue_type().to_owned(),
            missing,
        })
    }
}

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    let (mut found, mut n_checked) = (Vec::new(), 0);
    let mut check = |record: &Record| {
        n_checked += 1;
        found.extend(Found::of(&record.issue));
    };
    if call.arguments.words.is_empty() {
        opened.each(&all(call), |record| {
            check(&record);
            Ok(())
        })?;
    } else {
        named(call, &opened)?.iter().for_each(check);
    }
    let n_missing: usize = found.iter().map(|it| it.missing.len()).sum();
    if call.output.is_json() {
        return call
            .output
            .encoded(&output::encode(&report(&found, n_missing)));
    }
    if found.is_empty() {
        return call.output.text(&format!(
            "✓ No template warnings found ({n_checked} issues checked)\n"
        ));
    }
    let n = found.len();
    let mut page = format!("Template warnings ({n} issues, {n_missing} warnings):\n\n");
    for found in &found {
        let (id, kind, title) = (&found.id, &found.kind, line(&found.title));
        push(&mut page, format_args!("{id} [{kind}]: {title}\n"));
        for section in &found.missing {
            push(&mut page, format_args!("  ⚠ Missing: ## {section}\n"));
        }
        page.push('\n');
    }
    call.output.text(&page)?;
    Err(Refusal::silent(1))
}

/// The answer in JSON, which nothing stands around and whose list is null when it is empty.
fn report(found: &[Found], n_missing: usize) -> Value {
    let results = found.iter().map(|found| {
        let headings: Vec<String> = (found.missing.iter())
            .map(|section| format!("## {section}"))
            .collect();
        json!({
            "id": found.id,
            "title": found.title,
            "type": found.kind,
            "missing": headings,
            "warnings": found.missing.len(),
        })
    });
    let results: Vec<Value> = results.collect();
    let n = results.len();
    let results = match results.as_slice() {
        [] => Value::Null,
        some => some.into(),
    };
    json!({"total": n_missing, "issues": n, "results": results})
}

fn all(call: &Call<'_>) -> Query {
    let status = call.arguments.filled("status").unwrap_or("open");
    let filter = Filter {
        statuses: match status {
            "all" => Vec::new(),
            status => vec![status.to_owned()],
        },
        issue_type: call.arguments.filled("type").map(str::to_owned),
        ..Filter::default()
    };
    filter.query()
}

/// Beads by their whole ids; those that are not there are named and left out.
fn named(call: &Call<'_>, opened: &Opened) -> Result<Vec<Record>, Refusal> {
    let mut records = Vec::new();
    for word in &call.arguments.words {
        let id = BeadId::parse(word).ok();
        match id.map(|id| opened.record(&id)).transpose()?.flatten() {
            Some(record) => records.push(record),
            None => call
                .output
                .aside(&format!("Error getting {word}: not found: issue {word}\n")),
        }
    }
    Ok(records)
}

//! `bd lint`: beads whose descriptions lack the sections that their type should have.

use beads_ralph_core::issue::{Issue, Query, Record};
use beads_ralph_core::vocabulary::Status;
use serde::Serialize;

use super::types::sections_of;
use super::{Call, Command, Filter, Opened, Refusal, any, go_json, line, string};

pub(super) const LINT: Command = Command {
    name: "lint",
    about: "Find descriptions that lack a section",
    positionals: &[any("id")],
    flags: &[
        string("status", "Those with this status, or all (default: open)").short('s'),
        string("type", "Those of a type").short('t'),
    ],
    run: Some(lint),
    ..Command::NONE
};

/// The sections that a field of the bead stands for as well.
const CRITERIA: [&str; 2] = ["Acceptance Criteria", "Success Criteria"];

/// The sections that a bead lacks.
fn missing(issue: &Issue) -> Vec<&'static str> {
    let text = |key: &str| issue.text(key).unwrap_or_default();
    let acceptance = text("acceptance_criteria");
    let texts = format!("{}\n{acceptance}", text("description")).to_lowercase();
    let has = |section: &str| {
        let is_criteria = CRITERIA.contains(&section);
        texts.contains(&section.to_lowercase())
            || is_criteria && !acceptance.is_empty()
            || section == "Success Criteria" && texts.contains("acceptance criteria")
    };
    let sections = sections_of(issue.issue_type()).iter().copied();
    sections.filter(|section| !has(section)).collect()
}

/// A bead whose description lacks something.
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

fn lint(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    let (mut found, mut n_checked) = (Vec::new(), 0);
    let mut check = |record: &Record| {
        n_checked += 1;
        found.extend(Found::of(&record.issue));
    };
    if call.arguments.words.is_empty() {
        opened.each(&query(call), |record| {
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
            .encoded(&go_json::encode(&report(&found, n_missing)));
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
        push!(page, "{id} [{kind}]: {title}\n");
        for section in &found.missing {
            push!(page, "  ⚠ Missing: ## {section}\n");
        }
        page.push('\n');
    }
    call.output.text(&page)?;
    Err(Refusal::silent(1))
}

/// The answer in JSON, which nothing stands around.
#[derive(Serialize)]
struct Report<'f> {
    total: usize,
    issues: usize,
    /// Null where there are none.
    results: Option<Vec<LintResult<'f>>>,
}

#[derive(Serialize)]
struct LintResult<'f> {
    id: &'f str,
    title: &'f str,
    r#type: &'f str,
    missing: Vec<String>,
    warnings: usize,
}

fn report(found: &[Found], n_missing: usize) -> Report<'_> {
    let results = found.iter().map(|found| LintResult {
        id: &found.id,
        title: &found.title,
        r#type: &found.kind,
        missing: (found.missing.iter())
            .map(|section| format!("## {section}"))
            .collect(),
        warnings: found.missing.len(),
    });
    Report {
        total: n_missing,
        issues: found.len(),
        results: Some(results.collect()).filter(|_| !found.is_empty()),
    }
}

fn query(call: &Call<'_>) -> Query {
    let status = call
        .arguments
        .filled("status")
        .unwrap_or(Status::Open.as_str());
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
        match opened.exact(word)? {
            Some(record) => records.push(record),
            None => call
                .output
                .stderr(&format!("Error getting {word}: not found: issue {word}\n")),
        }
    }
    Ok(records)
}

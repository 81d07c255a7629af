//! `bd types`, `bd statuses` and `bd lint`: the words that beads can have, and the sections that their descriptions should have.

use beads_ralph_core::issue::{Issue, Query, Record};
use beads_ralph_core::vocabulary::{IssueType, Status};
use serde::Serialize;

use super::{Call, Command, Filter, Opened, Refusal, any, go_json, icon, line, string, switch};

/// The command about types.
pub(super) const TYPES: Command = Command {
    name: "types",
    about: "The types that beads can have",
    flags: &[switch(
        "sections",
        "The sections that the descriptions of each should have",
    )],
    run: Some(types),
    ..Command::NONE
};

/// The command about statuses.
pub(super) const STATUSES: Command = Command {
    name: "statuses",
    about: "The statuses that beads can have",
    run: Some(statuses),
    ..Command::NONE
};

/// A type, what it is for, and the sections that its descriptions should have.
const TYPES_OF_WORK: [(IssueType, &str, &[&str]); 9] = [
    (
        IssueType::Task,
        "General work item (default)",
        &["Acceptance Criteria"],
    ),
    (
        IssueType::Bug,
        "Bug report or defect",
        &["Steps to Reproduce", "Acceptance Criteria"],
    ),
    (
        IssueType::Feature,
        "New feature or enhancement",
        &["Acceptance Criteria"],
    ),
    (IssueType::Chore, "Maintenance or housekeeping", &[]),
    (
        IssueType::Epic,
        "Large body of work spanning multiple issues",
        &["Success Criteria"],
    ),
    (
        IssueType::Decision,
        "Architecture decision record (ADR)",
        &["Decision", "Rationale", "Alternatives Considered"],
    ),
    (
        IssueType::Spike,
        "Timeboxed investigation to reduce uncertainty before committing to a story",
        &["Goal", "Findings"],
    ),
    (
        IssueType::Story,
        "User story describing a feature from the user's perspective",
        &["Acceptance Criteria"],
    ),
    (
        IssueType::Milestone,
        "Marks completion of a set of related issues (contains no work itself)",
        &[],
    ),
];

/// The sections that the description of a bead should have, by its type.
pub(super) fn sections_of(kind: &str) -> &'static [&'static str] {
    let mut types = TYPES_OF_WORK.iter();
    let found = types.find(|(own, ..)| kind == *own);
    found.map_or(&[], |(_, _, sections)| sections)
}

/// What a status counts as, and what it means.
fn meaning(status: Status) -> (&'static str, &'static str) {
    match status {
        Status::Open => ("active", "Available to work (default)"),
        Status::InProgress => ("wip", "Actively being worked on"),
        Status::Blocked => ("wip", "Blocked by a dependency"),
        Status::Deferred => ("frozen", "Deliberately put on ice for later"),
        Status::Closed => ("done", "Completed"),
        Status::Pinned => ("frozen", "Persistent, stays open indefinitely"),
        Status::Hooked => ("wip", "Attached to an agent's hook"),
    }
}

#[derive(Serialize)]
struct Types {
    core_types: Vec<Type>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    custom_types: Vec<String>,
}

#[derive(Serialize)]
struct Type {
    name: IssueType,
    description: &'static str,
}

#[derive(Serialize)]
struct SectionsAnswer {
    name: IssueType,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    sections: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
}

#[derive(Serialize)]
struct Statuses {
    built_in_statuses: Vec<BuiltIn>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    custom_statuses: Vec<Custom>,
}

#[derive(Serialize)]
struct BuiltIn {
    name: Status,
    category: &'static str,
    icon: &'static str,
    description: &'static str,
}

#[derive(Serialize)]
struct Custom {
    name: String,
    category: String,
}

fn types(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    if call.arguments.is_on("sections") {
        return sections(call);
    }
    let custom = opened.custom_types()?;
    if call.output.is_json() {
        let known = TYPES_OF_WORK.iter();
        let known = known.map(|&(name, description, _)| Type { name, description });
        return call.output.value(Types {
            core_types: known.collect(),
            custom_types: custom,
        });
    }
    let mut text = "Core work types (built-in):\n".to_owned();
    for (name, about, _) in TYPES_OF_WORK {
        push!(text, "  {name:<14} {about}\n");
    }
    if custom.is_empty() {
        text.push_str(
            "\nNo custom types configured.\nConfigure with: bd config set types.custom \"type1,type2,...\"\n",
        );
    } else {
        text.push_str("\nConfigured custom types:\n");
        for name in custom {
            push!(text, "  {name}\n");
        }
    }
    call.output.text(&text)
}

fn sections(call: &Call<'_>) -> Result<(), Refusal> {
    let headings = |sections: &[&str]| -> Vec<String> {
        sections.iter().map(|name| format!("## {name}")).collect()
    };
    if call.output.is_json() {
        let all = TYPES_OF_WORK
            .iter()
            .map(|&(name, _, sections)| SectionsAnswer {
                name,
                sections: headings(sections),
                hint: sections.is_empty().then_some("no required sections"),
            });
        return call.output.value(all.collect::<Vec<_>>());
    }
    let mut text = "Required sections by type:\n".to_owned();
    for (name, _, sections) in TYPES_OF_WORK {
        let sections = match sections {
            [] => "(none)".to_owned(),
            sections => headings(sections).join(", "),
        };
        push!(text, "  {name:<14} {sections}\n");
    }
    call.output.text(&text)
}

fn statuses(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    let mut custom = opened.custom_statuses()?;
    custom.sort();
    let built_in = Status::ALL.iter().map(|&name| {
        let (category, description) = meaning(name);
        BuiltIn {
            name,
            category,
            icon: icon(name.as_str()),
            description,
        }
    });
    if call.output.is_json() {
        let custom = custom.into_iter();
        return call.output.value(Statuses {
            built_in_statuses: built_in.collect(),
            custom_statuses: custom
                .map(|(name, category)| Custom { name, category })
                .collect(),
        });
    }
    let mut text = "Built-in statuses:\n".to_owned();
    for status in built_in {
        let (icon, name, about) = (status.icon, status.name, status.description);
        push!(
            text,
            "  {icon} {name:<14} [{:<6}]  {about}\n",
            status.category
        );
    }
    if custom.is_empty() {
        text.push_str("\nNo custom statuses configured.\nConfigure with: bd config set status.custom \"name:category,...\"\nCategories: active, wip, done, frozen\n");
    } else {
        text.push_str("\nCustom statuses:\n");
        for (name, category) in custom {
            let icon = match category.as_str() {
                "active" => "○",
                "wip" => "◐",
                "done" => "✓",
                "frozen" => "❄",
                _ => "◇",
            };
            push!(text, "  {icon} {name:<14} [{category:<6}]\n");
        }
    }
    call.output.text(&text)
}

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

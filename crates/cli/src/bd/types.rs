//! `bd types` and `bd statuses`: the words that beads can have, and the sections that descriptions should have.

use beads_ralph_core::vocabulary::{IssueType, Status};
use serde::Serialize;

use super::{Call, Command, Refusal, icon, switch};

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

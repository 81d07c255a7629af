//! `bd types` and `bd statuses`: the words that beads can have.

use serde_json::{Value, json};

use super::call::Call;
use super::failure::Refusal;
use super::text::{icon, push};
use super::tree::{Command, switch};

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

/// A type, what it is for, and the sections of its descriptions.
const BUILT_IN: [(&str, &str, &[&str]); 9] = [
    (
        "task",
        "General work item (default)",
        &["## Acceptance Criteria"],
    ),
    (
        "bug",
        "Bug report or defect",
        &["## Steps to Reproduce", "## Acceptance Criteria"],
    ),
    (
        "feature",
        "New feature or enhancement",
        &["## Acceptance Criteria"],
    ),
    ("chore", "Maintenance or housekeeping", &[]),
    (
        "epic",
        "Large body of work spanning multiple issues",
        &["## Success Criteria"],
    ),
    (
        "decision",
        "Architecture decision record (ADR)",
        &["## Decision", "## Rationale", "## Alternatives Considered"],
    ),
    (
        "spike",
        "Timeboxed investigation to reduce uncertainty before committing to a story",
        &["## Goal", "## Findings"],
    ),
    (
        "story",
        "User story describing a feature from the user's perspective",
        &["## Acceptance Criteria"],
    ),
    (
        "milestone",
        "Marks completion of a set of related issues (contains no work itself)",
        &[],
    ),
];

/// A status, what it counts as, and what it means.
const BUILT_IN_STATUSES: [(&str, &str, &str); 7] = [
    ("open", "active", "Available to work (default)"),
    ("in_progress", "wip", "Actively being worked on"),
    ("blocked", "wip", "Blocked by a dependency"),
    ("deferred", "frozen", "Deliberately put on ice for later"),
    ("closed", "done", "Completed"),
    ("pinned", "frozen", "Persistent, stays open indefinitely"),
    ("hooked", "wip", "Attached to an agent's hook"),
];

fn types(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    if call.arguments.is_on("sections") {
        return sections(call);
    }
    let custom = opened.custom_types()?;
    if call.output.is_json() {
        let known = BUILT_IN.iter();
        let known = known.map(|(name, about, _)| json!({"name": name, "description": about}));
        let mut answer = json!({"core_types": known.collect::<Vec<Value>>()});
        if !custom.is_empty() {
            answer["custom_types"] = custom.into();
        }
        return call.output.value(answer);
    }
    let mut text = "Core work types (built-in):\n".to_owned();
    for (name, about, _) in BUILT_IN {
        push(&mut text, format_args!("  {name:<14} {about}\n"));
    }
    if custom.is_empty() {
        text.push_str(
            "\nNo custom types configured.\nConfigure with: bd config set types.custom \"type1,type2,...\"\n",
        );
    } else {
        text.push_str("\nConfigured custom types:\n");
        for name in custom {
            push(&mut text, format_args!("  {name}\n"));
        }
    }
    call.output.text(&text)
}

fn sections(call: &Call<'_>) -> Result<(), Refusal> {
    if call.output.is_json() {
        let value = |(name, _, sections): &(&str, &str, &[&str])| match sections {
            [] => json!({"name": name, "hint": "no required sections"}),
            sections => json!({"name": name, "sections": sections}),
        };
        return call.output.value(BUILT_IN.iter().map(value).collect());
    }
    let mut text = "Required sections by type:\n".to_owned();
    for (name, _, sections) in BUILT_IN {
        let sections = match sections {
            [] => "(none)".to_owned(),
            sections => sections.join(", "),
        };
        push(&mut text, format_args!("  {name:<14} {sections}\n"));
    }
    call.output.text(&text)
}

fn statuses(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    let mut custom = opened.custom_statuses()?;
    custom.sort();
    if call.output.is_json() {
        let known = BUILT_IN_STATUSES.iter().map(|(name, category, about)| {
            json!({"name": name, "category": category, "icon": icon(name), "description": about})
        });
        let mut answer = json!({"built_in_statuses": known.collect::<Vec<Value>>()});
        if !custom.is_empty() {
            let custom = custom.iter();
            let custom = custom.map(|(name, category)| json!({"name": name, "category": category}));
            answer["custom_statuses"] = custom.collect();
        }
        return call.output.value(answer);
    }
    let mut text = "Built-in statuses:\n".to_owned();
    for (name, category, about) in BUILT_IN_STATUSES {
        let icon = icon(name);
        push(
            &mut text,
            format_args!("  {icon} {name:<14} [{category:<6}]  {about}\n"),
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
            push(
                &mut text,
                format_args!("  {icon} {name:<14} [{category:<6}]\n"),
            );
        }
    }
    call.output.text(&text)
}

//! `bd config`: settings of the store.
//!
//! The real `bd` keeps some settings in a file, about things that are not here: those are not served.

use beads_ralph_core::vocabulary::Status;

use std::collections::BTreeMap;

use beads_ralph_runtime::os::env::{self, Variable};
use serde::Serialize;

use super::{Access, Call, Command, Opened, Refusal, one, quoted};

pub(super) const COMMAND: Command = Command {
    name: "config",
    about: "Settings of the store",
    not_served: &["apply", "drift", "set-many", "show", "validate"],
    children: &[
        &Command {
            name: "get",
            about: "Print a setting",
            positionals: &[one("key")],
            run: Some(get),
            ..Command::NONE
        },
        &Command {
            name: "list",
            about: "Print all settings",
            run: Some(list),
            ..Command::NONE
        },
        &Command {
            name: "set",
            about: "Change a setting",
            positionals: &[one("key"), one("value")],
            not_served: &["force-git-tracked"],
            access: Access::Writes,
            run: Some(set),
            ..Command::NONE
        },
        &Command {
            name: "unset",
            about: "Remove a setting",
            positionals: &[one("key")],
            access: Access::Writes,
            run: Some(unset),
            ..Command::NONE
        },
    ],
    ..Command::NONE
};

/// What the keys begin with that the real `bd` knows, in its order.
#[rustfmt::skip]
const KNOWN: [&str; 29] = [
    "export.", "import.", "dolt.", "custom.", "status.", "types.", "doctor.suppress.", "routing.", "sync.", "git.",
    "directory.", "repos.", "external_projects.", "validation.", "lint.", "hierarchy.", "ai.", "backup.", "federation.",
    "metrics.", "agent.", "claim.", "storage-class.", "ado.", "github.", "gitlab.", "jira.", "linear.", "notion.",
];

/// Whole keys that it knows.
#[rustfmt::skip]
const KNOWN_KEYS: [&str; 18] = [
    "no-db", "json", "db", "actor", "identity", "no-push", "no-git-ops", "node_id", "create.require-description", "beads.role",
    "auto_compact_enabled", "schema_version", "output.title-length", "prime.max-memories", "prime.max-memory-chars",
    "events-journal", "events-journal-auto-prune", "events-journal-retain-days",
];

/// What the keys begin with that it keeps in its own file, and whole keys of that file.
#[rustfmt::skip]
const ELSEWHERE: [&str; 18] = [
    "routing.", "sync.", "git.", "directory.", "repos.", "external_projects.", "validation.", "lint.", "hierarchy.", "ai.",
    "backup.", "export.", "dolt.", "federation.", "metrics.", "list.", "audit.", "storage-class.",
];
#[rustfmt::skip]
const ELSEWHERE_KEYS: [&str; 14] = [
    "no-db", "json", "db", "actor", "identity", "node_id", "no-push", "no-git-ops", "agent.profile",
    "create.require-description", "prime.max-memories", "prime.max-memory-chars", "import.auto", "import.path",
];

/// One setting, as the commands answer.
#[derive(Serialize)]
struct Setting<'s> {
    key: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'s str>,
}

fn set(call: &mut Call<'_>) -> Result<(), Refusal> {
    let [key, value] = &call.arguments.words[..] else {
        unreachable!("the number of words was checked");
    };
    if matches!(key.as_str(), "issue_prefix" | "issue-prefix") {
        return Err(Refusal::plain(
            "issue_prefix cannot be set via 'bd config set'.\n  - New project:       bd init --prefix <prefix>\n  - Fresh clone:       bd bootstrap\n  - Rename existing:   bd rename-prefix <new-prefix>",
        ));
    }
    call.output.stderr(&warning(key));
    check_served(key)?;
    if key == "status.custom" {
        check_statuses(value).map_err(|why| {
            Refusal::plain(format!(
                "setting config: validation failed: invalid status.custom value: {why}"
            ))
        })?;
    }
    let mut opened = call.open()?;
    opened.set_config(key, Some(value))?;
    let answer = Setting {
        key,
        value: Some(value),
    };
    call.output
        .answer(answer, || format!("Set {key} = {value}\n"))
}

fn unset(call: &mut Call<'_>) -> Result<(), Refusal> {
    let key = &call.arguments.words[0];
    check_served(key)?;
    let mut opened = call.open()?;
    if opened.config(key)?.is_some() {
        opened.set_config(key, None)?;
    }
    let answer = Setting { key, value: None };
    call.output.answer(answer, || format!("Unset {key}\n"))
}

fn get(call: &mut Call<'_>) -> Result<(), Refusal> {
    let key = &call.arguments.words[0];
    check_served(key)?;
    let opened = call.open()?;
    let value = if key == "issue_prefix" {
        opened.prefix()?
    } else {
        opened.config(key)?.unwrap_or_default()
    };
    let answer = Setting {
        key,
        value: Some(&value),
    };
    call.output.answer(answer, || match value.as_str() {
        "" => format!("{key} (not set)\n"),
        value => format!("{value}\n"),
    })
}

fn list(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    let settings = settings(&opened)?;
    if call.output.is_json() {
        return call.output.value(settings);
    }
    let mut text = "\nConfiguration:\n".to_owned();
    for (key, value) in &settings {
        push!(text, "  {key} = {value}\n");
    }
    if let Some(actor) = env::get(Variable::BeadsActor) {
        let actor = quoted(&actor);
        push!(
            text,
            "\n⚠ Environment variable overrides detected:\n  actor: env BEADS_ACTOR={actor} overrides config\n"
        );
    }
    text.push_str("\nTip: Run 'bd config show' for all effective config with provenance.\n");
    call.output.text(&text)
}

/// All settings, in order of their keys.
pub(super) fn settings(opened: &Opened) -> Result<BTreeMap<String, String>, Refusal> {
    let mut settings: BTreeMap<String, String> = opened.all_config()?.into_iter().collect();
    settings.insert("issue_prefix".to_owned(), opened.prefix()?);
    Ok(settings)
}

fn check_served(key: &str) -> Result<(), Refusal> {
    let is_elsewhere = ELSEWHERE.iter().any(|start| key.starts_with(start))
        || ELSEWHERE_KEYS.contains(&key)
        || key == "beads.role"
        || key.starts_with("events-journal");
    if is_elsewhere {
        return Err(Refusal::not_served(&format!("the setting {key}")));
    }
    Ok(())
}

/// The warning about an unknown key.
fn warning(key: &str) -> String {
    let is_known = KNOWN.iter().any(|start| key.starts_with(start))
        || KNOWN_KEYS.contains(&key)
        || key == "events-journal-retain-rows";
    if is_known {
        return String::new();
    }
    let guess = key.split_once('.').and_then(|(first, rest)| {
        let distance = |start: &&str| distance(first, start.trim_end_matches('.'));
        let near = KNOWN
            .iter()
            .filter(|start| (1..3).contains(&distance(start)));
        // The first of the nearest, in the order in which they are known.
        let start = near.min_by_key(|start| distance(start))?;
        Some(format!("{start}{rest}"))
    });
    let hint = guess.map_or_else(
        || "Use 'custom.*' for user-defined keys.".to_owned(),
        |guess| format!("Did you mean {}?", quoted(&guess)),
    );
    let key = quoted(key);
    format!(
        "Warning: {key} is not a recognized config key. {hint}\nRun 'bd config --help' for valid namespaces.\n"
    )
}

/// How many letters must change to make one word of another.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let change = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

fn check_statuses(value: &str) -> Result<(), String> {
    let mut names = Vec::new();
    for part in value
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let (name, category) = match part.split_once(':') {
            Some((_, "")) => {
                let part = quoted(part);
                return Err(format!(
                    "invalid custom status {part}: trailing colon with empty category"
                ));
            }
            Some((name, category)) => (name, Some(category)),
            None => (part, None),
        };
        let quoted_name = quoted(name);
        if let Some(category) = category
            && !["active", "wip", "done", "frozen"].contains(&category)
        {
            let category = quoted(category);
            return Err(format!(
                "invalid category {category} for status {quoted_name}: must be one of active, wip, done, frozen"
            ));
        }
        let is_plain =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
        if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(is_plain) {
            return Err(format!(
                "invalid status name {quoted_name}: must match [a-z][a-z0-9_-]* (lowercase, letter-first, no spaces)"
            ));
        }
        if Status::known(name).is_some() {
            return Err(format!(
                "custom status {quoted_name} collides with built-in status"
            ));
        }
        if names.contains(&name) {
            return Err(format!("duplicate custom status name {quoted_name}"));
        }
        names.push(name);
    }
    Ok(())
}

#[test]
fn keys_that_nobody_knows_are_guessed() {
    assert_eq!(distance("kitten", "sitting"), 3);
    assert!(warning("my.key").contains("Did you mean \"ai.key\"?"));
    assert!(warning("other.key").contains("Use 'custom.*'"));
    assert_eq!(warning("types.custom"), "");
}

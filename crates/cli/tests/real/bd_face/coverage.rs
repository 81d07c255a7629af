//! Whether the cases reach everything that the face's argument tree has.
//!
//! Each command needs a call that succeeds and one that fails; each flag one that succeeds, and one that fails if it takes a value
//! that can be wrong. Which values cannot be wrong is in `free-values`.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::script::{Scenario, Step, folder};

/// What `beads-ralph bd __tree` prints.
#[derive(Debug, Deserialize)]
pub(crate) struct Tree {
    commands: Vec<Command>,
    global_flags: Vec<Flag>,
    /// Those of a call without a command.
    #[serde(default)]
    root_flags: Vec<Flag>,
}

#[derive(Debug, Deserialize)]
struct Command {
    path: Vec<String>,
    #[serde(default)]
    aliases: Vec<String>,
    #[serde(default)]
    flags: Vec<Flag>,
}

#[derive(Debug, Deserialize)]
struct Flag {
    long: String,
    short: Option<char>,
    takes_value: bool,
}

/// One thing that was called: a command, or one of its flags.
type Reached = BTreeSet<(String, Option<String>, bool)>;

/// What the tree has and no case reaches, in words.
pub(crate) fn missing(tree: &Tree, scenarios: &[Scenario]) -> Vec<String> {
    let reached = reached(tree, scenarios);
    let free = std::fs::read_to_string(folder().join("free-values")).unwrap();
    let free: BTreeSet<&str> = free
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let mut known_free: BTreeSet<String> = BTreeSet::new();
    let mut missing = Vec::new();
    let has = |command: &str, flag: Option<&str>, is_success: bool| {
        reached.contains(&(command.to_owned(), flag.map(str::to_owned), is_success))
    };
    let mut look = |command: &str, flag: &Flag| {
        let name = format!("{command} --{}", flag.long);
        if !has(command, Some(&flag.long), true) {
            missing.push(format!("{name} has no call that succeeds"));
        }
        if free.contains(name.as_str()) {
            known_free.insert(name);
        } else if flag.takes_value && !has(command, Some(&flag.long), false) {
            missing.push(format!("{name} has no call that fails"));
        }
    };
    for command in &tree.commands {
        for flag in &command.flags {
            look(&command.path.join(" "), flag);
        }
    }
    for flag in tree.global_flags.iter().chain(&tree.root_flags) {
        look("bd", flag);
    }
    for command in &tree.commands {
        let name = command.path.join(" ");
        for (is_success, end) in [(true, "succeeds"), (false, "fails")] {
            if !has(&name, None, is_success) {
                missing.push(format!("{name} has no call that {end}"));
            }
        }
    }
    for name in free {
        if !known_free.contains(name) {
            missing.push(format!("free-values has `{name}`, which the tree has not"));
        }
    }
    missing
}

fn reached(tree: &Tree, scenarios: &[Scenario]) -> Reached {
    let mut reached = Reached::new();
    for scenario in scenarios {
        for step in &scenario.steps {
            if let Step::Call(call) = step {
                let (command, flags) = understood(tree, &call.words);
                for (owner, flag) in flags {
                    reached.insert((owner, Some(flag), call.is_success));
                }
                if let Some(command) = command {
                    reached.insert((command, None, call.is_success));
                }
            }
        }
    }
    reached
}

/// The command of a call, and its flags with whom they belong to.
fn understood(tree: &Tree, words: &[String]) -> (Option<String>, Vec<(String, String)>) {
    let mut path: Vec<String> = Vec::new();
    let mut flags = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        let command = tree.commands.iter().find(|command| command.path == path);
        let found: Vec<(String, &Flag, bool)> = if let Some(long) = word.strip_prefix("--") {
            let (name, value) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            let found = flag(tree, command, |flag| flag.long == name);
            let found = found.map(|(owner, flag)| (owner, flag, value.is_some()));
            found.into_iter().collect()
        } else if let Some(shorts) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
            short_flags(tree, command, shorts)
        } else {
            path = deeper(tree, &path, word).unwrap_or(path);
            Vec::new()
        };
        for (owner, flag, has_value) in found {
            flags.push((owner, flag.long.clone()));
            if flag.takes_value && !has_value {
                words.next();
            }
        }
    }
    let is_command = tree.commands.iter().any(|command| command.path == path);
    (is_command.then(|| path.join(" ")), flags)
}

fn short_flags<'a>(
    tree: &'a Tree,
    command: Option<&'a Command>,
    shorts: &str,
) -> Vec<(String, &'a Flag, bool)> {
    let mut found = Vec::new();
    for (index, short) in shorts.char_indices() {
        let Some((owner, flag)) = flag(tree, command, |flag| flag.short == Some(short)) else {
            break;
        };
        let has_value = index + short.len_utf8() < shorts.len();
        let is_last = flag.takes_value;
        found.push((owner, flag, has_value));
        if is_last {
            break;
        }
    }
    found
}

fn flag<'a>(
    tree: &'a Tree,
    command: Option<&'a Command>,
    is_it: impl Fn(&Flag) -> bool,
) -> Option<(String, &'a Flag)> {
    let own = command.and_then(|command| {
        let flag = command.flags.iter().find(|flag| is_it(flag))?;
        Some((command.path.join(" "), flag))
    });
    let mut global = tree.global_flags.iter().chain(&tree.root_flags);
    own.or_else(|| Some(("bd".to_owned(), global.find(|flag| is_it(flag))?)))
}

/// The path that a word leads to from another: to a command, or to a group of them.
fn deeper(tree: &Tree, path: &[String], word: &str) -> Option<Vec<String>> {
    let below = tree.commands.iter().filter_map(|command| {
        let (next, rest) = command.path.strip_prefix(path)?.split_first()?;
        let is_alias = rest.is_empty() && command.aliases.iter().any(|alias| alias == word);
        (next == word || is_alias).then(|| next.clone())
    });
    let next = below.into_iter().next()?;
    Some(path.iter().cloned().chain([next]).collect())
}

#[test]
fn what_no_case_reaches_is_named() {
    let tree = r#"{"commands": [
        {"path": ["dep"]},
        {"path": ["human", "list"]},
        {"path": ["dep", "add"], "aliases": ["new"], "flags": [{"long": "type", "short": "t", "takes_value": true}]}
    ], "global_flags": [{"long": "json", "takes_value": false}]}"#;
    let tree: Tree = serde_json::from_str(tree).unwrap();
    let read = |text: &str| super::script::read("f", &format!("== s\n{text}"));
    let none = missing(&tree, &read("$ x\n"));
    let ours = |line: &&String| !line.starts_with("free-values");
    assert_eq!(
        none.iter().filter(ours).collect::<Vec<_>>(),
        [
            "dep add --type has no call that succeeds",
            "dep add --type has no call that fails",
            "bd --json has no call that succeeds",
            "dep has no call that succeeds",
            "dep has no call that fails",
            "human list has no call that succeeds",
            "human list has no call that fails",
            "dep add has no call that succeeds",
            "dep add has no call that fails",
        ]
    );
    let all = "$ dep\n! dep x\n$ human list\n! human list x\n$ dep new a -tb --json\n! dep add --type=c\n";
    assert_eq!(missing(&tree, &read(all)).iter().find(ours), None);
    // What follows a flag that takes a value is neither a command nor a flag.
    let value = understood(
        &tree,
        &["dep".into(), "add".into(), "-t".into(), "--json".into()],
    );
    assert_eq!(value.1, [("dep add".to_owned(), "type".to_owned())]);
}

//! Values as `create`, `update` and the lists take them: texts from files, priorities, types, statuses, labels,
//! metadata.

use std::io::{self, BufRead as _, Read as _};

use beads_ralph_core::issue::Label;
use beads_ralph_core::vocabulary::{IssueType, Status};
use beads_ralph_runtime::os::{env, files};
use beads_ralph_runtime::store::StoreError;
use camino::Utf8Path;
use serde_json::Value;

use super::{Arguments, Flag, Opened, Refusal, number, quoted, string, switch};
use crate::registered_types::RegisteredTypes;

/// Flags about what a bead says.
pub(super) const DESCRIBING: &[Flag] = &[
    string("acceptance", "What must be true in the end"),
    switch(
        "allow-empty-description",
        "Take an empty description from a file or a pipe",
    ),
    string("body", "The same as --description"),
    string(
        "body-file",
        "Take the description from a file, or from - for standard input",
    ),
    string("description", "What is to be done").short('d'),
    string("description-file", "The same as --body-file"),
    string("design", "How it is to be done"),
    string(
        "design-file",
        "Take the design from a file, or from - for standard input",
    ),
    number("estimate", "How many minutes it takes").short('e'),
    string("external-ref", "What it is called elsewhere"),
    string("message", "The same as --description").short('m'),
    string("priority", "0-4 or P0-P4, 0 is most urgent").short('p'),
    string("spec-id", "The specification it follows"),
    switch("stdin", "Take the description from standard input"),
    string("title", "Its title"),
    string("type", "Its type").short('t'),
];

pub(super) const DESCRIPTION_FLAGS: [&str; 6] = [
    "description",
    "body",
    "message",
    "body-file",
    "description-file",
    "stdin",
];

/// The description that was given, if any, by whichever of its flags.
pub(super) fn description(arguments: &Arguments) -> Result<Option<String>, Refusal> {
    if !DESCRIPTION_FLAGS.iter().any(|flag| arguments.has(flag)) {
        return Ok(None);
    }
    let (text, is_outside) = given_description(arguments)?;
    if is_outside && text.is_empty() && !arguments.is_on("allow-empty-description") {
        return Err(Refusal::json(
            "empty description from stdin/file requires --allow-empty-description (or use an explicit inline empty value like --description \"\")",
        ));
    }
    Ok(Some(text))
}

/// The text, and whether it came from a file or a pipe.
fn given_description(arguments: &Arguments) -> Result<(String, bool), Refusal> {
    if arguments.is_on("stdin") {
        let text = body("-").map_err(|why| Refusal::plain(format!("reading from stdin: {why}")))?;
        return Ok((text, true));
    }
    let inline = ["description", "body", "message"].map(|flag| (flag, arguments.text(flag)));
    let given: Vec<(&str, &str)> = (inline.into_iter())
        .filter_map(|(flag, text)| Some((flag, text?)))
        .collect();
    let files = ["body-file", "description-file"].map(|flag| arguments.text(flag));
    if let [Some(a), Some(b)] = files
        && a != b
    {
        return Err(Refusal::plain(
            "cannot specify both --body-file and --description-file with different values",
        ));
    }
    if let Some(file) = files.into_iter().flatten().next() {
        if !given.is_empty() {
            return Err(Refusal::plain(
                "cannot specify both --body-file and --description/--body/--message",
            ));
        }
        let text = body(file).map_err(|why| Refusal::plain(format!("reading body file: {why}")))?;
        return Ok((text, true));
    }
    let Some(((first, text), others)) = given.split_first().map(|(first, rest)| (*first, rest))
    else {
        return Ok((String::new(), false));
    };
    if given.iter().any(|(_, text)| *text == "-") {
        let text = body("-").map_err(|why| Refusal::plain(format!("reading from stdin: {why}")))?;
        return Ok((text, true));
    }
    for (flag, other) in others {
        if *other != text {
            let lines = [(first, text), (*flag, *other)].map(|(flag, text)| {
                let flag = format!("--{flag}:");
                format!("\n  {flag:<14} {}", quoted(text))
            });
            return Err(Refusal::plain(format!(
                "cannot specify both --{first} and --{flag} with different values{}",
                lines.concat()
            )));
        }
    }
    Ok((text.to_owned(), false))
}

/// The design that was given, by either of its flags.
pub(super) fn design(arguments: &Arguments) -> Result<Option<String>, Refusal> {
    match arguments.text("design-file") {
        Some(path) => body(path)
            .map(Some)
            .map_err(|why| Refusal::plain(format!("reading from stdin: {why}"))),
        None => Ok(arguments.text("design").map(str::to_owned)),
    }
}

/// The text of a file, or of standard input.
pub(super) fn body(path: &str) -> Result<String, String> {
    let bytes = if path == "-" {
        let mut bytes = Vec::new();
        let read = io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(|error| format!("failed to read file: {error}"))?;
        bytes
    } else {
        read_file(path).map_err(|why| format!("failed to open file: {why}"))?
    };
    String::from_utf8(bytes).map_err(|_| "failed to read file: it is not UTF-8".to_owned())
}

/// The first word of a line of standard input; nothing where there is none.
pub(super) fn word() -> String {
    let mut line = String::new();
    // Whoever cannot be asked has not agreed.
    drop(io::stdin().lock().read_line(&mut line));
    line.split_whitespace()
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// The bytes of a file; errors are worded as in Go.
pub(super) fn read_file(path: &str) -> Result<Vec<u8>, String> {
    let here = env::current_dir().unwrap_or_default();
    let place = here.join(Utf8Path::new(path));
    if !place.exists() {
        return Err(format!("open {path}: no such file or directory"));
    }
    files::read(&place).map_err(|error| error.to_string())
}

/// A priority: `0` to `4`, or `P0` to `P4`. The error is a sentence.
pub(super) fn priority(text: &str) -> Result<i64, String> {
    let trimmed = text.trim();
    let digits = trimmed.strip_prefix(['P', 'p']).unwrap_or(trimmed);
    // Only the number at the beginning counts, as in Go.
    let digits: String = digits.chars().take_while(char::is_ascii_digit).collect();
    match digits.parse::<i64>() {
        Ok(number @ 0..=4) => Ok(number),
        _ => Err(format!(
            "invalid priority {} (expected 0-4 or P0-P4, not words like high/medium/low)",
            quoted(text)
        )),
    }
}

/// A type by its short names, as `create` takes it.
pub(super) fn new_type(text: &str) -> String {
    match text.to_lowercase().as_str() {
        "enhancement" | "feat" => IssueType::Feature.into(),
        "dec" | "adr" => IssueType::Decision.into(),
        "investigation" | "timebox" => IssueType::Spike.into(),
        "user-story" | "user_story" => IssueType::Story.into(),
        "ms" => IssueType::Milestone.into(),
        _ => text.to_owned(),
    }
}

/// A type by its short names, as everything else takes it.
pub(super) fn known_type(text: &str) -> String {
    match text.to_lowercase().as_str() {
        "mr" => "merge-request".to_owned(),
        "feat" | "enhancement" => IssueType::Feature.into(),
        "mol" => IssueType::Molecule.into(),
        "dec" | "adr" => IssueType::Decision.into(),
        _ => text.to_owned(),
    }
}

pub(super) fn is_type(opened: &Opened, kind: &str) -> Result<bool, Refusal> {
    Ok(RegisteredTypes::of(&*opened.store)?.is_known(kind))
}

const LONGEST_TITLE: usize = 500;

/// What is wrong with a title, in the words of the real `bd`, which counts bytes and calls them characters.
pub(super) fn wrong_title(title: &str) -> Option<String> {
    let n = title.len();
    (n > LONGEST_TITLE)
        .then(|| format!("title must be {LONGEST_TITLE} characters or less (got {n})"))
}

pub(super) fn is_status(opened: &Opened, status: &str) -> Result<bool, Refusal> {
    Ok(Status::known(status).is_some()
        || (opened.custom_statuses()?.iter()).any(|(name, _)| name == status))
}

/// Whether a status was added by the settings, in a category.
pub(super) fn has_category(
    opened: &Opened,
    status: &str,
    category: &str,
) -> Result<bool, StoreError> {
    let custom = opened.custom_statuses()?;
    Ok(custom
        .iter()
        .any(|(name, own)| name == status && own == category))
}

/// Labels without spaces around them, each once.
pub(super) fn labels(given: Vec<String>) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for label in given {
        let label = label.trim();
        if !label.is_empty() && !labels.iter().any(|own| own == label) {
            labels.push(label.to_owned());
        }
    }
    labels
}

/// Labels that a store takes.
pub(super) fn checked_labels(given: &[String]) -> Result<Vec<Label>, Refusal> {
    let parse = |label: &String| {
        Label::parse(label).map_err(|error| Refusal::json(format!("validation failed: {error}")))
    };
    given.iter().map(parse).collect()
}

/// The warning about labels with a space in them.
pub(super) fn warn_of_spaces(labels: &[String], is_quiet: bool) -> Option<String> {
    let mut text = String::new();
    for label in labels {
        if label.contains(char::is_whitespace) {
            text.push_str("⚠ Stored ");
            text.push_str(&quoted(label));
            text.push_str(" as ONE label — it contains a space.\n");
        }
    }
    if text.is_empty() || is_quiet {
        return None;
    }
    text.push_str(
        "  If you meant several labels, separate them with commas (a,b) or repeat the flag.\n",
    );
    Some(text)
}

/// The metadata that was given, from the command line or from a file.
pub(super) fn metadata(arguments: &Arguments) -> Result<Option<Value>, String> {
    let Some(given) = arguments.text("metadata") else {
        return Ok(None);
    };
    let text = match given.strip_prefix('@') {
        Some(path) => {
            let bytes = read_file(path)
                .map_err(|why| format!("failed to read metadata file {path}: {why}"))?;
            String::from_utf8_lossy(&bytes).into_owned()
        }
        None => given.to_owned(),
    };
    match serde_json::from_str(&text) {
        Ok(value) => Ok(Some(value)),
        Err(_) => Err("invalid JSON in --metadata: must be valid JSON".to_owned()),
    }
}

/// Whether a key of metadata can be asked for. The error is a sentence.
pub(super) fn metadata_key(key: &str) -> Result<(), String> {
    let is_first = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_other = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '/');
    if key.starts_with(is_first) && key.chars().all(is_other) {
        return Ok(());
    }
    Err(format!(
        "invalid metadata key {}: must match ^[a-zA-Z_][a-zA-Z0-9_./]*$",
        quoted(key)
    ))
}

/// The text that was given, or none. `flag` is the one that takes the text itself. The error is a sentence.
pub(super) fn given_text(
    arguments: &Arguments,
    words: &[String],
    flag: Option<&str>,
) -> Result<Option<String>, String> {
    let words = words.join(" ");
    let mut ways = Vec::new();
    if !words.trim().is_empty() {
        ways.push(format!("positional text {}", quoted(&words)));
    }
    for name in ["stdin", "file"] {
        let is_given = if name == "stdin" {
            arguments.is_on(name)
        } else {
            arguments.filled(name).is_some()
        };
        if is_given {
            ways.push(format!("--{name}"));
        }
    }
    let by_flag = flag.and_then(|flag| arguments.text(flag));
    if let (Some(flag), Some(_)) = (flag, by_flag) {
        ways.push(format!("--{flag}"));
    }
    if ways.len() > 1 {
        return Err(format!("cannot combine {}", ways.join(" with ")));
    }
    if arguments.is_on("stdin") {
        let mut text = String::new();
        let read = io::stdin().lock().read_to_string(&mut text);
        read.map_err(|error| format!("reading from stdin: {error}"))?;
        return Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()));
    }
    if let Some(file) = arguments.filled("file") {
        return body(file).map(Some);
    }
    if let Some(text) = by_flag {
        return Ok(Some(text.to_owned()));
    }
    Ok((!ways.is_empty()).then_some(words))
}

/// The text that was given. `noun` is what it is, and `hint` how to give it.
pub(super) fn required_text(
    arguments: &Arguments,
    words: &[String],
    flag: Option<&str>,
    (noun, hint): (&str, &str),
) -> Result<String, String> {
    match given_text(arguments, words, flag)? {
        Some(text) if !text.trim().is_empty() => Ok(text),
        None if words.is_empty() => Err(format!("no {noun} provided ({hint})")),
        _ => Err(format!("{noun} cannot be empty")),
    }
}

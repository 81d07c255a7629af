//! Reads arguments the way the real `bd` does: flags anywhere, `--flag=value`, `--flag value` whatever the value looks
//! like, letters bundled, `--` ends the flags, and errors have the same words.

use std::collections::HashMap;

use jiff::SignedDuration;

use super::tree::{COMMANDS, GLOBAL_FLAGS, GLOBAL_NOT_SERVED, Kind, NOT_SERVED, ROOT_FLAGS};
use super::{Arity, Command, Flag, Refusal, tree};

/// What was typed: a command, its flags, and the words beside them.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    values: HashMap<&'static str, Vec<String>>,
    pub(super) words: Vec<String>,
    /// The word that the command was called by.
    pub(super) called_as: String,
}

/// A command that was found, with what was typed.
pub(super) struct Read {
    /// None when only the program itself was called.
    pub(super) command: Option<&'static Command>,
    pub(super) path: Vec<&'static str>,
    pub(super) arguments: Arguments,
}

impl Arguments {
    pub(super) fn has(&self, long: &str) -> bool {
        self.values.contains_key(long)
    }

    pub(super) fn is_on(&self, long: &str) -> bool {
        self.last(long)
            .is_some_and(|value| is_true(value) == Some(true))
    }

    /// The text of a flag; the last one counts.
    pub(super) fn text(&self, long: &str) -> Option<&str> {
        self.last(long)
    }

    /// The text of a flag, where an empty one is as good as none.
    pub(super) fn filled(&self, long: &str) -> Option<&str> {
        self.last(long).filter(|value| !value.is_empty())
    }

    pub(super) fn number(&self, long: &str) -> Option<i64> {
        self.last(long).and_then(|value| value.parse().ok())
    }

    /// The number of `--limit`, or else the usual one; nothing where all are wanted.
    pub(super) fn limit(&self, usual: i64) -> Option<usize> {
        let limit = self.number("limit").unwrap_or(usual);
        usize::try_from(limit).ok().filter(|limit| *limit > 0)
    }

    /// Everything that was given for a flag with a list, split at its commas.
    pub(super) fn list(&self, long: &str) -> Vec<String> {
        let given = self.values.get(long).into_iter().flatten();
        given.flat_map(|value| split_list(value)).collect()
    }

    /// Everything that was given for a flag, as it is.
    pub(super) fn texts(&self, long: &str) -> &[String] {
        self.values.get(long).map_or(&[], Vec::as_slice)
    }

    fn last(&self, long: &str) -> Option<&str> {
        self.values.get(long)?.last().map(String::as_str)
    }

    fn add(&mut self, long: &'static str, value: String) {
        self.values.entry(long).or_default().push(value);
    }
}

/// Whether the answer to wrong arguments is wanted in JSON: the real `bd` knows only what it read before.
pub(super) fn read(words: &[String]) -> Result<Read, Refusal> {
    let (command, path, called_as, rest) = find_command(words)?;
    let mut arguments = Arguments {
        called_as,
        ..Arguments::default()
    };
    read_flags(command, &rest, &mut arguments)?;
    if let Some(command) = command {
        if !arguments.is_on("help") {
            check_arity(command, &path, &arguments)?;
            check_exclusive(command, &arguments)?;
        }
    } else if let Some(word) = arguments.words.first() {
        return Err(unknown_command(word, "bd"));
    }
    Ok(Read {
        command,
        path,
        arguments,
    })
}

/// A command, the way to it, the word that it was called by, and everything that was typed beside.
type Found = (
    Option<&'static Command>,
    Vec<&'static str>,
    String,
    Vec<String>,
);

/// Walks down the tree by the words that are no flags, and leaves all the rest.
fn find_command(words: &[String]) -> Result<Found, Refusal> {
    let mut command: Option<&'static Command> = None;
    let mut path = Vec::new();
    let mut called_as = String::new();
    let mut rest = Vec::new();
    let mut words = words.iter().peekable();
    let mut is_walking = true;
    while let Some(word) = words.next() {
        let is_flag = word.starts_with('-') && word.len() > 1;
        if !is_walking || is_flag {
            if is_walking {
                check_served(command, word)?;
            }
            let takes_next = is_walking && takes_next_word(command, word);
            is_walking &= word != "--";
            rest.push(word.clone());
            if takes_next {
                rest.extend(words.next().cloned());
            }
            continue;
        }
        let below = command.map_or(COMMANDS, |command| command.children);
        match tree::named(below, word) {
            Some(found) => {
                path.push(found.name);
                called_as.clone_from(word);
                command = Some(found);
            }
            None if command.is_none() => return Err(unknown_command(word, "bd")),
            None => {
                is_walking = false;
                rest.push(word.clone());
            }
        }
    }
    Ok((command, path, called_as, rest))
}

/// Refuses a global flag that is not served. Whether it takes the next word is unknown, so nothing after it can be read.
fn check_served(command: Option<&'static Command>, word: &str) -> Result<(), Refusal> {
    let long = word.strip_prefix("--").unwrap_or_default();
    let long = long.split_once('=').map_or(long, |(long, _)| long);
    let is_own = find_flag(command, |flag| flag.long == long).is_some();
    if is_own || !GLOBAL_NOT_SERVED.contains(&long) {
        return Ok(());
    }
    Err(unknown_flag(command, long))
}

fn unknown_command(word: &str, parent: &str) -> Refusal {
    if parent == "bd" && NOT_SERVED.contains(&word) {
        return Refusal::not_served(&format!("the command {word}"));
    }
    let hint = match parent {
        "bd" => "\nRun 'bd --help' for usage.",
        _ => "",
    };
    Refusal::plain(format!(
        "unknown command {} for {}{hint}",
        quoted(word),
        quoted(parent)
    ))
}

/// Whether a flag on the way to the command takes the word after it. One that is not known here takes it, as in the real `bd`: it may
/// be a flag of the command that follows.
fn takes_next_word(command: Option<&'static Command>, word: &str) -> bool {
    if word.contains('=') || word == "--" {
        return false;
    }
    let flag = if let Some(long) = word.strip_prefix("--") {
        find_flag(command, |flag| flag.long == long)
    } else {
        let mut letters = word.chars().skip(1);
        match (letters.next(), letters.next()) {
            (Some(letter), None) => find_flag(command, |flag| flag.short == Some(letter)),
            _ => return false,
        }
    };
    flag.is_none_or(|flag| flag.kind != Kind::Switch)
}

fn find_flag(
    command: Option<&'static Command>,
    is_wanted: impl Fn(&Flag) -> bool,
) -> Option<&'static Flag> {
    let own = command.map_or(ROOT_FLAGS, |command| command.flags);
    let shared = command.map_or(&[] as &[Flag], |command| command.shared);
    // A flag of the command that is not served is not taken for a global one with the same name.
    let not_served = command.map_or(&[] as &[&str], |command| command.not_served);
    let global = GLOBAL_FLAGS
        .iter()
        .filter(|flag| !not_served.contains(&flag.long));
    own.iter()
        .chain(shared)
        .chain(global)
        .find(|flag| is_wanted(flag))
}

fn read_flags(
    command: Option<&'static Command>,
    words: &[String],
    arguments: &mut Arguments,
) -> Result<(), Refusal> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word == "--" {
            arguments.words.extend(words.by_ref().cloned());
        } else if let Some(long) = word.strip_prefix("--") {
            read_long(command, long, &mut words, arguments)?;
        } else if word.starts_with('-') && word.len() > 1 {
            read_letters(command, word, &mut words, arguments)?;
        } else {
            arguments.words.push(word.clone());
        }
    }
    Ok(())
}

fn read_long<'w>(
    command: Option<&'static Command>,
    word: &str,
    rest: &mut impl Iterator<Item = &'w String>,
    arguments: &mut Arguments,
) -> Result<(), Refusal> {
    let (long, given) = match word.split_once('=') {
        Some((long, value)) => (long, Some(value.to_owned())),
        None => (word, None),
    };
    if long.is_empty() || long.starts_with('-') {
        return Err(Refusal::plain(format!("bad flag syntax: --{word}")));
    }
    let Some(flag) = find_flag(command, |flag| flag.long == long) else {
        return Err(unknown_flag(command, long));
    };
    let value = match (given, flag.kind) {
        (Some(value), _) => value,
        (None, Kind::Switch) => "true".to_owned(),
        (None, _) => match rest.next() {
            Some(value) => value.clone(),
            None => {
                return Err(Refusal::plain(format!("flag needs an argument: --{long}")));
            }
        },
    };
    take(flag, value, arguments)
}

fn unknown_flag(command: Option<&'static Command>, long: &str) -> Refusal {
    let own = command.map_or(&[] as &[&str], |command| command.not_served);
    if own.contains(&long) || GLOBAL_NOT_SERVED.contains(&long) {
        return Refusal::not_served(&format!("--{long}"));
    }
    Refusal::plain(format!("unknown flag: --{long}"))
}

fn read_letters<'w>(
    command: Option<&'static Command>,
    word: &str,
    rest: &mut impl Iterator<Item = &'w String>,
    arguments: &mut Arguments,
) -> Result<(), Refusal> {
    let letters: Vec<char> = word.chars().skip(1).collect();
    for (index, letter) in letters.iter().enumerate() {
        let Some(flag) = find_flag(command, |flag| flag.short == Some(*letter)) else {
            let shown: String = letters[index..].iter().collect();
            return Err(Refusal::plain(format!(
                "unknown shorthand flag: '{letter}' in -{shown}"
            )));
        };
        let after: String = letters[index + 1..].iter().collect();
        if let Some(value) = after.strip_prefix('=') {
            return take(flag, value.to_owned(), arguments);
        }
        if flag.kind == Kind::Switch {
            take(flag, "true".to_owned(), arguments)?;
            continue;
        }
        if !after.is_empty() {
            return take(flag, after, arguments);
        }
        let Some(value) = rest.next() else {
            let shown: String = letters[index..].iter().collect();
            return Err(Refusal::plain(format!(
                "flag needs an argument: '{letter}' in -{shown}"
            )));
        };
        return take(flag, value.clone(), arguments);
    }
    Ok(())
}

fn take(flag: &'static Flag, value: String, arguments: &mut Arguments) -> Result<(), Refusal> {
    let wrong = |why: &str| {
        let name = match flag.short {
            Some(short) => format!("-{short}, --{}", flag.long),
            None => format!("--{}", flag.long),
        };
        Refusal::plain(format!(
            "invalid argument {} for \"{name}\" flag: {why}",
            quoted(&value)
        ))
    };
    let syntax = |what: &str| {
        wrong(&format!(
            "{what}: parsing {}: invalid syntax",
            quoted(&value)
        ))
    };
    match flag.kind {
        Kind::Switch if is_true(&value).is_none() => return Err(syntax("strconv.ParseBool")),
        Kind::Number if value.parse::<i64>().is_err() => return Err(syntax("strconv.ParseInt")),
        Kind::Duration if go_duration(&value).is_none() => {
            return Err(wrong(&format!("time: invalid duration {}", quoted(&value))));
        }
        _ => {}
    }
    arguments.add(flag.long, value);
    Ok(())
}

fn check_arity(
    command: &'static Command,
    path: &[&str],
    arguments: &Arguments,
) -> Result<(), Refusal> {
    let n = arguments.words.len();
    let wrong = match command.n_words() {
        Arity::None => {
            let Some(word) = arguments.words.first() else {
                return Ok(());
            };
            let parent = format!("bd {}", path.join(" "));
            return Err(unknown_command(word, &parent));
        }
        Arity::Exactly(wanted) if n != wanted => {
            Some(format!("accepts {wanted} arg(s), received {n}"))
        }
        Arity::AtLeast(wanted) if n < wanted => Some(format!(
            "requires at least {wanted} arg(s), only received {n}"
        )),
        Arity::AtMost(wanted) if n > wanted => {
            Some(format!("accepts at most {wanted} arg(s), received {n}"))
        }
        _ => None,
    };
    wrong.map_or(Ok(()), |wrong| Err(Refusal::plain(wrong)))
}

fn check_exclusive(command: &'static Command, arguments: &Arguments) -> Result<(), Refusal> {
    for group in command.exclusive {
        let mut given: Vec<&str> = (group.iter().copied())
            .filter(|flag| arguments.has(flag))
            .collect();
        if given.len() > 1 {
            given.sort_unstable();
            return Err(Refusal::plain(format!(
                "if any flags in the group [{}] are set none of the others can be; [{}] were all set",
                group.join(" "),
                given.join(" ")
            )));
        }
    }
    Ok(())
}

/// A time span, as Go reads it: `1h30m`, `45s`, `0`.
pub(super) fn go_duration(text: &str) -> Option<SignedDuration> {
    let (is_negative, mut rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if rest == "0" {
        return Some(SignedDuration::ZERO);
    }
    let mut seconds = 0.0_f64;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let amount: f64 = rest[..end].parse().ok()?;
        let after = &rest[end..];
        let units = [("ms", 0.001), ("h", 3600.0), ("m", 60.0), ("s", 1.0)];
        let (unit, factor) = units
            .into_iter()
            .find(|(unit, _)| after.starts_with(unit))?;
        seconds += amount * factor;
        rest = &after[unit.len()..];
    }
    let span = SignedDuration::try_from_secs_f64(seconds).ok()?;
    Some(if is_negative { -span } else { span })
}

/// A switch's value, as Go reads it.
fn is_true(value: &str) -> Option<bool> {
    match value {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

/// A text in quotation marks, as Go writes it.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => {
                quoted.push_str("\\x");
                for digit in [u32::from(c) >> 4, u32::from(c) & 15] {
                    quoted.extend(char::from_digit(digit, 16));
                }
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Splits a list at its commas; a part may be quoted.
fn split_list(value: &str) -> Vec<String> {
    if value.is_empty() {
        return Vec::new();
    }
    let mut parts = vec![String::new()];
    let mut is_quoted = false;
    let mut characters = value.chars().peekable();
    while let Some(c) = characters.next() {
        let part = parts.last_mut().expect("there is always a part");
        match c {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                part.push('"');
            }
            '"' if is_quoted || part.is_empty() => is_quoted = !is_quoted,
            ',' if !is_quoted => parts.push(String::new()),
            c => part.push(c),
        }
    }
    parts
}

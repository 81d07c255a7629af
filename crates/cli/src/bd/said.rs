//! Text that is said in one of several ways: as words, by a flag, in a file, or on standard input; never in two.

use std::io::{self, Read as _};

use super::{Arguments, input, quoted};

/// The text that was given, or none. `flag` is the one that takes the text itself. The error is a sentence.
pub(super) fn optional(
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
        return input::body(file).map(Some);
    }
    if let Some(text) = by_flag {
        return Ok(Some(text.to_owned()));
    }
    Ok((!ways.is_empty()).then_some(words))
}

/// The text that was given. `noun` is what it is, and `hint` how to give it.
pub(super) fn required(
    arguments: &Arguments,
    words: &[String],
    flag: Option<&str>,
    (noun, hint): (&str, &str),
) -> Result<String, String> {
    match optional(arguments, words, flag)? {
        Some(text) if !text.trim().is_empty() => Ok(text),
        None if words.is_empty() => Err(format!("no {noun} provided ({hint})")),
        _ => Err(format!("{noun} cannot be empty")),
    }
}

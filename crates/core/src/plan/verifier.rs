//! Verifier items: the commands of a machine-checked Definition of Done.
//!
//! An item is `` name: `command` `` or `` `command` ``; bullets nested below it set its time limit, its
//! expectations and what happens after a failure. Anything else is reported, because a check that is
//! not understood is a check that does not run.

use std::time::Duration;

use super::diagnostics;
use super::list::{Item, ItemPart, trimmed};
use crate::bead::{OnFailure, Pattern};
use crate::diag::Diagnostic;
use crate::text::{Span, Spanned, first_code_span, parse_duration};

/// A verifier that a plan asks for.
#[derive(Debug, Clone)]
pub struct VerifierItem {
    /// Its name, if the plan gives one.
    pub name: Option<Spanned<String>>,
    /// The command.
    pub command: Spanned<String>,
    /// The time limit in seconds.
    pub timeout_seconds: Option<u64>,
    /// The expected exit code.
    pub exit_code: Option<i32>,
    /// Text that standard output must contain.
    pub stdout_contains: Option<String>,
    /// Text that standard error must contain.
    pub stderr_contains: Option<String>,
    /// What a line of standard output must match.
    pub stdout_matches: Option<Pattern>,
    /// What a line of standard error must match.
    pub stderr_matches: Option<Pattern>,
    /// How many tests must have run.
    pub min_tests: Option<u64>,
    /// What happens after a failure.
    pub on_failure: Option<OnFailure>,
}

/// Reads a verifier item. Malformed parts are reported; without a command nothing is returned.
pub(super) fn parse_verifier(
    text: &str,
    item: &Item,
    problems: &mut Vec<Diagnostic>,
) -> Option<VerifierItem> {
    let place = item.place(text);
    let line = place.slice(text);
    let Some(code) = first_code_span(line) else {
        problems.push(diagnostics::malformed_verifier(place));
        return None;
    };
    let before = line[..code.whole.start()].trim();
    let command = trimmed(text, shifted(code.content, place.start()));
    let is_named = before.is_empty() || (before.len() > 1 && before.ends_with(':'));
    if !is_named || !line[code.whole.end()..].trim().is_empty() || command.is_empty() {
        problems.push(diagnostics::malformed_verifier(place));
        return None;
    }
    if let Some(stray) = item.continuation.first() {
        problems.push(diagnostics::stray_verifier_text(trimmed(text, *stray)));
    }
    let name = before
        .strip_suffix(':')
        .map(str::trim)
        .filter(|name| !name.is_empty());
    let mut verifier = VerifierItem {
        name: name.map(|name| {
            Spanned::new(
                name.to_owned(),
                Span::new(place.start(), place.start() + name.len()),
            )
        }),
        command: Spanned::new(command.slice(text).to_owned(), command),
        timeout_seconds: None,
        exit_code: None,
        stdout_contains: None,
        stderr_contains: None,
        stdout_matches: None,
        stderr_matches: None,
        min_tests: None,
        on_failure: None,
    };
    for part in &item.parts {
        read_part(text, part, &mut verifier, problems);
    }
    Some(verifier)
}

fn read_part(
    text: &str,
    part: &ItemPart,
    verifier: &mut VerifierItem,
    problems: &mut Vec<Diagnostic>,
) {
    match part {
        ItemPart::Nested(lines) => {
            for (n, line) in lines.iter().enumerate() {
                let span = trimmed(text, *line);
                if n > 0 {
                    problems.push(diagnostics::stray_verifier_text(span));
                } else if !span.is_empty() {
                    problems.extend(verifier.set(text, span));
                }
            }
        }
        ItemPart::Code { lines, .. } => {
            problems.extend(
                lines
                    .first()
                    .map(|line| diagnostics::stray_verifier_text(trimmed(text, *line))),
            );
        }
    }
}

impl VerifierItem {
    /// Reads one nested bullet, and reports what is wrong with it.
    fn set(&mut self, text: &str, span: Span) -> Option<Diagnostic> {
        let line = span.slice(text);
        let Some((key, value)) = line.split_once(':') else {
            return Some(diagnostics::unknown_verifier_option(span, line));
        };
        let key_span = Span::new(span.start(), span.start() + key.trim_end().len());
        let value = trimmed(text, Span::new(span.end() - value.len(), span.end()));
        let words = unquoted(value.slice(text));
        let bad =
            |expected: &str| Some(diagnostics::bad_verifier_value(value, key.trim(), expected));
        let is_repeated = match key.trim().to_lowercase().as_str() {
            "timeout" => {
                let seconds = parse_duration(words).and_then(whole_seconds);
                let Some(seconds) = seconds else {
                    return bad("whole seconds such as `90s` or `5m`");
                };
                self.timeout_seconds.replace(seconds).is_some()
            }
            "exit" => {
                let Some(exit_code) = words.parse().ok().filter(|code| (0..=255).contains(code))
                else {
                    return bad("an exit code from 0 to 255");
                };
                self.exit_code.replace(exit_code).is_some()
            }
            "on failure" => {
                let on_failure = match words {
                    "stop" => OnFailure::Stop,
                    "continue" => OnFailure::Continue,
                    _ => return bad("`stop` or `continue`"),
                };
                self.on_failure.replace(on_failure).is_some()
            }
            "stdout contains" if words.is_empty() => return bad("some text"),
            "stderr contains" if words.is_empty() => return bad("some text"),
            "stdout contains" => self.stdout_contains.replace(words.to_owned()).is_some(),
            "stderr contains" => self.stderr_contains.replace(words.to_owned()).is_some(),
            "stdout matches" => match pattern(words) {
                Some(pattern) => self.stdout_matches.replace(pattern).is_some(),
                None => return bad("a regular expression"),
            },
            "stderr matches" => match pattern(words) {
                Some(pattern) => self.stderr_matches.replace(pattern).is_some(),
                None => return bad("a regular expression"),
            },
            "min tests" => {
                let Some(n_tests) = words.parse().ok().filter(|n_tests| *n_tests > 0) else {
                    return bad("a number of tests, at least 1");
                };
                self.min_tests.replace(n_tests).is_some()
            }
            other => return Some(diagnostics::unknown_verifier_option(key_span, other)),
        };
        is_repeated.then(|| diagnostics::repeated_verifier_option(key_span, key.trim()))
    }
}

fn pattern(words: &str) -> Option<Pattern> {
    let is_there = !words.is_empty();
    is_there.then(|| Pattern::parse(words).ok()).flatten()
}

fn whole_seconds(duration: Duration) -> Option<u64> {
    (duration.subsec_millis() == 0).then_some(duration.as_secs())
}

/// A value without the backticks around it, when it is one code span.
fn unquoted(value: &str) -> &str {
    match first_code_span(value) {
        Some(code) if code.whole == Span::new(0, value.len()) => code.content.slice(value),
        _ => value,
    }
}

fn shifted(span: Span, by: usize) -> Span {
    Span::new(span.start() + by, span.end() + by)
}

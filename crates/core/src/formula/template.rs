//! Placeholders in texts: `{{name}}` for variables (F-2), `{name}` for what a loop or an expansion brings.
//!
//! A text is scanned once. What is put in is never scanned again, so a value that looks like a placeholder stays as it is.

use super::model::is_variable_name;

/// A placeholder in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Placeholder<'t> {
    /// With its braces.
    pub(super) written: &'t str,
    /// The name inside.
    pub(super) name: &'t str,
    start: usize,
}

/// The variables of a text, in order.
pub(super) fn placeholders(text: &str) -> impl Iterator<Item = Placeholder<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(found) = text[at..].find("{{") {
            let start = at + found;
            if let Some(placeholder) = placeholder_at(text, start) {
                at = start + placeholder.written.len();
                return Some(placeholder);
            }
            at = start + 1;
        }
        at = text.len();
        None
    })
}

/// Whether a text has a variable in it.
pub fn has_placeholder(text: &str) -> bool {
    placeholders(text).next().is_some()
}

/// The placeholder that begins here. Inner spaces are allowed; what no name has ends the search, so that a text of many braces is
/// looked at once.
fn placeholder_at(text: &str, start: usize) -> Option<Placeholder<'_>> {
    let rest = text[start..].strip_prefix("{{")?;
    let name = rest.trim_start_matches(' ');
    let length = name
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        .count();
    let (name, tail) = name.split_at(length);
    let tail = tail.trim_start_matches(' ').strip_prefix("}}")?;
    let end = text.len() - tail.len();
    is_variable_name(name).then_some(Placeholder {
        written: &text[start..end],
        name,
        start,
    })
}

/// A text that has become longer than it may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLong;

/// Adds to a text that may have so many bytes.
fn push(text: &mut String, more: &str, limit: usize) -> Result<(), TooLong> {
    if text.len() + more.len() > limit {
        return Err(TooLong);
    }
    text.push_str(more);
    Ok(())
}

/// The longest name in single braces that is looked for.
const MAX_NAME: usize = 128;

/// Puts values in the place of variables; those without a value stay as they are. The result has at most `limit` bytes.
pub(super) fn substitute<'v>(
    text: &str,
    limit: usize,
    value_of: impl Fn(&str) -> Option<&'v str>,
) -> Result<String, TooLong> {
    let mut filled = String::new();
    let mut done = 0;
    for placeholder in placeholders(text) {
        if let Some(value) = value_of(placeholder.name) {
            push(&mut filled, &text[done..placeholder.start], limit)?;
            push(&mut filled, value, limit)?;
            done = placeholder.start + placeholder.written.len();
        }
    }
    push(&mut filled, &text[done..], limit)?;
    Ok(filled)
}

/// Puts values in the place of names in single braces. What stands in double braces is a variable and left alone.
pub(super) fn substitute_single<'v>(
    text: &str,
    limit: usize,
    value_of: impl Fn(&str) -> Option<&'v str>,
) -> Result<String, TooLong> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        push(&mut filled, &rest[..at], limit)?;
        rest = &rest[at..];
        if let Some(variable) = placeholder_at(rest, 0) {
            push(&mut filled, variable.written, limit)?;
            rest = &rest[variable.written.len()..];
            continue;
        }
        let inner = rest.as_bytes()[1..].iter().take(MAX_NAME);
        let end = inner.enumerate().find(|(_, byte)| **byte == b'}');
        let inner = end.map(|(end, _)| &rest[1..=end]);
        if let Some((name, value)) = inner.and_then(|name| Some((name, value_of(name)?))) {
            push(&mut filled, value, limit)?;
            rest = &rest[name.len() + 2..];
        } else {
            push(&mut filled, "{", limit)?;
            rest = &rest[1..];
        }
    }
    push(&mut filled, rest, limit)?;
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f_2_placeholders_are_filled_in_one_pass() {
        let value_of = |name: &str| match name {
            "a" => Some("{{b}}"),
            "b" => Some("two"),
            "bead-id" => Some("bd-1"),
            _ => None,
        };
        for (text, filled) in [
            ("{{a}} {{ b }}", "{{b}} two"),
            ("{b} {{b} {{b}}", "{b} {{b} two"),
            ("{{bead-id}}", "bd-1"),
            ("{{unknown}} {{#if b}} {{}}", "{{unknown}} {{#if b}} {{}}"),
            ("{{{b}}}", "{two}"),
            ("é{{b}}é", "étwoé"),
            ("{{", "{{"),
        ] {
            assert_eq!(substitute(text, 100, value_of).unwrap(), filled, "{text}");
        }
    }

    #[test]
    fn single_braces_are_for_loops_and_expansions() {
        let value_of = |name: &str| (name == "i").then_some("1");
        for (text, filled) in [
            ("{i} of {n}", "1 of {n}"),
            ("{{i}} {i}", "{{i}} 1"),
            ("{{i} {", "{1 {"),
            ("{{{i}}}", "{{{i}}}"),
        ] {
            assert_eq!(
                substitute_single(text, 100, value_of).unwrap(),
                filled,
                "{text}"
            );
        }
    }

    #[test]
    fn a_text_is_not_longer_than_it_may_be() {
        let value_of = |_: &str| Some("0123456789");
        assert_eq!(substitute("{{a}}{{a}}", 19, value_of), Err(TooLong));
        assert_eq!(substitute_single("{a}{a}", 19, value_of), Err(TooLong));
        assert!(substitute("{{a}}{{a}}", 20, value_of).is_ok());
    }

    #[test]
    fn many_braces_are_looked_at_once() {
        let braces = "{".repeat(300_000);
        assert_eq!(placeholders(&braces).count(), 0);
        assert_eq!(
            substitute_single(&braces, usize::MAX, |_| None).unwrap(),
            braces
        );
    }
}

//! Acceptance lines: what a machine can check, and what a person looks at (§9.13, Z-35).

use crate::text::first_code_span;

/// Who can judge a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judge {
    /// A machine.
    Machine,
    /// A person.
    Human,
}

/// One acceptance criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptanceLine {
    /// Who can judge it.
    pub judge: Judge,
    /// What must be true.
    pub text: String,
    /// The command that shows it, where the line is one code span (Z-35).
    pub command: Option<String>,
}

/// The lines of a bead's acceptance criteria; blank ones are skipped.
pub fn acceptance_lines(text: &str) -> Vec<AcceptanceLine> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(line).collect()
}

fn line(line: &str) -> AcceptanceLine {
    let tagged = |tag: &str| {
        let rest = line.strip_prefix(tag)?;
        rest.strip_prefix(char::is_whitespace)
    };
    let (judge, text) = match (tagged("[m]"), tagged("[h]")) {
        (_, Some(text)) => (Judge::Human, text),
        (Some(text), None) => (Judge::Machine, text),
        (None, None) => (Judge::Machine, line),
    };
    AcceptanceLine {
        judge,
        text: text.to_owned(),
        command: match judge {
            Judge::Machine => whole_code_span(bare(text)),
            Judge::Human => None,
        },
    }
}

/// A line without what people put around a command: a mark of a list, a box to tick, a tag that is not quite one, a full stop.
fn bare(text: &str) -> &str {
    let mut text = text.trim();
    if let Some(rest) = text
        .strip_prefix(['-', '*', '+'])
        .filter(|rest| rest.starts_with(' '))
    {
        text = rest.trim_start();
    } else if let Some((number, rest)) = text.split_once(['.', ')'])
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        text = rest.trim_start();
    }
    for tag in ["[m]", "[M]", "[ ]", "[x]", "[X]"] {
        text = text.strip_prefix(tag).unwrap_or(text).trim_start();
    }
    text.trim_start_matches(':').trim().trim_end_matches('.')
}

/// The inside of a text that is one code span and nothing else.
fn whole_code_span(text: &str) -> Option<String> {
    let text = text.trim();
    let span = first_code_span(text)?;
    let is_whole = span.whole.start() == 0 && span.whole.end() == text.len();
    is_whole.then(|| span.content.slice(text).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acceptance_lines_are_for_machines_unless_they_say_otherwise() {
        let lines = acceptance_lines(
            "[m] it builds\n\n[h] it is pretty\n[x] done\n[M] a\nplain\n[m]tight\n[m] `cargo test`\n[m] run `x` now",
        );
        let judged: Vec<(Judge, &str, Option<&str>)> = lines
            .iter()
            .map(|line| (line.judge, line.text.as_str(), line.command.as_deref()))
            .collect();
        assert_eq!(
            judged,
            [
                (Judge::Machine, "it builds", None),
                (Judge::Human, "it is pretty", None),
                (Judge::Machine, "[x] done", None),
                (Judge::Machine, "[M] a", None),
                (Judge::Machine, "plain", None),
                (Judge::Machine, "[m]tight", None),
                (Judge::Machine, "`cargo test`", Some("cargo test")),
                (Judge::Machine, "run `x` now", None),
            ]
        );
    }

    #[test]
    fn z_35_a_command_is_one_however_it_is_written_down() {
        for line in [
            "[m] `false`",
            "`false`",
            "- [m] `false`",
            "* [m] `false`",
            "  [m] `false`",
            "[M] `false`",
            "[m]: `false`",
            "[m] `false`.",
            "1. `false`",
            "- [ ] `false`",
        ] {
            let lines = acceptance_lines(line);
            assert_eq!(lines[0].command.as_deref(), Some("false"), "{line}");
        }
        for words in ["[h] `false`", "run `false`", "`a` and `b`", "1.5 times"] {
            assert_eq!(acceptance_lines(words)[0].command, None, "{words}");
        }
    }
}

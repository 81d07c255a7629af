//! The differences that remain: which there are, and what is still the same where they show.
//!
//! docs/bd-compatibility.md has one row for each, with its reason.

use std::collections::BTreeSet;

use camino::Utf8Path;
use regex::Regex;

use super::pair::Seen;

/// How many differences there may be.
pub(crate) const MAX: usize = 20;

/// What is still compared where a difference shows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rest {
    /// Nothing: one side does what the other refuses.
    Nothing,
    /// The exit code.
    Code,
    /// The exit code and the error.
    Verdict,
    /// The words, without what stands between them.
    Words,
    /// Everything but the order of lines, and what they are indented with.
    Lines,
    /// Everything but what matches one of these, and lines that are empty then.
    Without(&'static [&'static str]),
}

/// The differences by number.
pub(crate) const ALL: &[(u8, Rest)] = &[
    (
        1,
        Rest::Without(&[r#""updated_at": ?"[^"]*",?"#, "Updated: [^ ]+"]),
    ),
    (2, Rest::Words),
    (3, Rest::Verdict),
    (
        4,
        Rest::Without(&[
            "(?m)^.*(compact|daemon_running|Git hooks not installed|bd hooks install).*$",
            "(?m)^Debug: loaded config .*$",
        ]),
    ),
    (5, Rest::Without(&[r#"(?m)^ *"unknown_key": .*$"#])),
    (6, Rest::Without(&["dev|beads-ralph"])),
    (7, Rest::Code),
    (8, Rest::Lines),
    (9, Rest::Code),
    (10, Rest::Code),
    (11, Rest::Code),
    (12, Rest::Nothing),
    (
        13,
        Rest::Without(&[
            r#"events(_removed)?": [0-9]+"#,
            r"[0-9]+ event(s|\(s\))",
            "Events( removed)?: +[0-9]+",
        ]),
    ),
    (
        14,
        Rest::Without(&[
            r#"(?m)^    "(id|status|title|role)": .*$"#,
            r#"(?ms)^  "bead_ids": \[.*?\],$"#,
            r#"(?m)^  "id": .*$"#,
            r#",\s*"steps_created": [0-9]+"#,
        ]),
    ),
    (15, Rest::Code),
    (
        16,
        Rest::Without(&[
            r#""assignee": ?"[^"]*","#,
            r#""held_by": ?"[^"]*","#,
            "Assignee: [^ ]+ · (Held by: [^ ]+ · )?",
        ]),
    ),
    (17, Rest::Code),
    (18, Rest::Without(&["[\u{7}\u{1b}]", r"\\u\{(7|1b)\}"])),
    (19, Rest::Nothing),
    (20, Rest::Code),
];

/// What is compared of a call that differs so.
pub(crate) fn rest(number: u8, seen: &Seen) -> Seen {
    let found = ALL.iter().find(|(known, _)| *known == number);
    let (_, rest) = found.unwrap_or_else(|| panic!("there is no difference {number}"));
    let both = |change: &dyn Fn(&str) -> String| Seen {
        code: seen.code,
        stdout: change(&seen.stdout),
        stderr: change(&seen.stderr),
    };
    match rest {
        Rest::Nothing => Seen {
            code: None,
            stdout: String::new(),
            stderr: String::new(),
        },
        Rest::Code => both(&|_| String::new()),
        Rest::Verdict => Seen {
            code: seen.code,
            stdout: String::new(),
            stderr: {
                let errors = seen
                    .stderr
                    .lines()
                    .filter(|line| line.starts_with("Error:"));
                errors.collect::<Vec<_>>().join("\n")
            },
        },
        Rest::Words => both(&|text| {
            let words = text.split(|letter: char| !letter.is_alphanumeric());
            let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
            words.join(" ")
        }),
        Rest::Lines => both(&|text| {
            let glyphs = ['│', '├', '└', '─', ' '];
            let mut lines: Vec<&str> = text
                .lines()
                .map(|line| line.trim_start_matches(glyphs))
                .collect();
            lines.sort_unstable();
            lines.join("\n")
        }),
        Rest::Without(patterns) => both(&|text| without(patterns, text)),
    }
}

fn without(patterns: &[&str], text: &str) -> String {
    let mut text = text.to_owned();
    for pattern in patterns {
        text = Regex::new(pattern)
            .unwrap()
            .replace_all(&text, "")
            .into_owned();
    }
    let lines: Vec<&str> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    lines.join("\n")
}

/// The numbers of the rows of the table in docs/bd-compatibility.md.
pub(crate) fn documented() -> BTreeSet<u8> {
    let path = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/bd-compatibility.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| "));
    rows.filter_map(|row| row.split(" | ").next()?.trim().parse().ok())
        .collect()
}

#[test]
fn a_difference_hides_only_what_it_is_about() {
    let seen = |stdout: &str, stderr: &str| Seen {
        code: Some(0),
        stdout: stdout.to_owned(),
        stderr: stderr.to_owned(),
    };
    let is_same = |number: u8, left: &Seen, right: &Seen| rest(number, left) == rest(number, right);
    let time = |time: &str, title: &str| {
        seen(
            &format!("{{\n  \"title\": \"{title}\",\n  \"updated_at\": \"{time}\",\n}}"),
            "",
        )
    };
    assert!(is_same(1, &time("1", "a"), &time("2", "a")));
    assert!(!is_same(1, &time("1", "a"), &time("1", "b")));
    assert!(is_same(2, &seen("\n  a\n  b", ""), &seen("a b\n", "")));
    assert!(!is_same(2, &seen("a b", ""), &seen("a c", "")));
    assert!(is_same(
        3,
        &seen("a", "Error: x\nmore"),
        &seen("b", "Error: x")
    ));
    assert!(!is_same(3, &seen("a", "Error: x"), &seen("a", "Error: y")));
    assert!(is_same(
        8,
        &seen("├── a\n└── b", ""),
        &seen("├── b\n└── a", "")
    ));
    assert!(!is_same(
        8,
        &seen("├── a\n└── b", ""),
        &seen("├── a\n└── a", "")
    ));
    assert!(is_same(7, &seen("a", "b"), &seen("c", "d")));
}

//! The pages of `docs/spec`: which rules there are, and where each one stands.

use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use regex::Regex;

use crate::tidy::root;

/// The number of a rule, such as `P-12` or `L-3a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Number {
    pub(super) family: char,
    pub(super) count: u32,
    letter: Option<char>,
}

impl Number {
    pub(super) fn of(family: &str, count: &str, letter: &str) -> Self {
        Self {
            family: family.chars().next().unwrap(),
            count: count.parse().unwrap(),
            letter: letter.chars().next(),
        }
    }

    /// The number that a text begins with, and where it ends.
    pub(super) fn at_start(text: &str) -> Option<(Self, usize)> {
        let family = text.chars().next()?;
        let count = text.strip_prefix(family)?.strip_prefix('-')?;
        let after = count.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let count = count.strip_suffix(after)?.parse().ok()?;
        let letter = after.chars().next().filter(char::is_ascii_lowercase);
        let number = Self {
            family,
            count,
            letter,
        };
        let rest = &after[usize::from(letter.is_some())..];
        let is_word = rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
        (!is_word && number.is_of_a_family()).then_some((number, text.len() - rest.len()))
    }

    /// Whether there are rules of its letter at all.
    pub(super) fn is_of_a_family(self) -> bool {
        "ABCDEFGIJLMNPRSTUVWXZ".contains(self.family)
    }

    /// This number and those that follow up to a count.
    pub(super) fn to(self, last: u32) -> Vec<Self> {
        let following = (self.count + 1)..=last;
        let following = following.map(|count| Self {
            count,
            letter: None,
            ..self
        });
        [self].into_iter().chain(following).collect()
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.family, self.count)?;
        self.letter.map_or(Ok(()), |letter| write!(f, "{letter}"))
    }
}

/// A rule as its page defines it.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) number: Number,
    pub(super) standing: Standing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// The program keeps it, and a test shows that.
    Holds,
    /// The program keeps a part of it. Tests may name that part.
    PartlyPlanned,
    /// `*Planned.*`
    Planned,
    /// `Not tested: …`
    Untested,
}

/// Where a rule is defined: `- **P-12** …`, or a row of a table of test cases.
fn definition() -> Regex {
    Regex::new(r"(?m)^(?:- \*\*([A-Z])-(\d+)([a-z]?)\*\*|\| ([ST])-(\d+) \|)").unwrap()
}

/// Every rule, in the order of the pages.
pub(super) fn rules() -> Vec<Rule> {
    pages()
        .iter()
        .flat_map(|(_, text)| rules_of(text))
        .collect()
}

pub(super) fn rules_of(text: &str) -> Vec<Rule> {
    let found: Vec<_> = definition().captures_iter(text).collect();
    let starts: Vec<usize> = found.iter().map(|it| it.get(0).unwrap().start()).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let entries = starts
        .iter()
        .zip(ends)
        .map(|(start, end)| &text[*start..end]);
    let rule = |captures: &regex::Captures<'_>, entry: &str| {
        let part = |n| captures.get(n).map_or("", |it| it.as_str());
        let number = match captures.get(1) {
            Some(_) => Number::of(part(1), part(2), part(3)),
            None => Number::of(part(4), part(5), ""),
        };
        Rule {
            number,
            standing: standing(entry, captures[0].len()),
        }
    };
    found
        .iter()
        .zip(entries)
        .map(|(captures, entry)| rule(captures, entry))
        .collect()
}

/// What the text of a rule says about it. It ends at the next blank line that no indented text follows, or at a heading.
fn standing(entry: &str, start: usize) -> Standing {
    let own: String = entry
        .lines()
        .enumerate()
        .take_while(|(n, line)| *n == 0 || line.is_empty() || line.starts_with("  "))
        .map(|(_, line)| line)
        .flat_map(str::split_whitespace)
        .collect::<Vec<_>>()
        .join(" ");
    let said = own[start..].trim_start();
    if said.starts_with("*Planned.*") {
        return Standing::Planned;
    }
    if said.starts_with("*Partly planned.*") {
        return Standing::PartlyPlanned;
    }
    let why = own.split_once("Not tested: ").map(|(_, why)| why);
    if why.is_some_and(|why| why.split_whitespace().count() > 2) {
        return Standing::Untested;
    }
    Standing::Holds
}

/// The pages with their names, without the index.
pub(super) fn pages() -> Vec<(String, String)> {
    let mut pages = Vec::new();
    for entry in root().join("docs/spec").read_dir_utf8().unwrap() {
        let path = entry.unwrap().into_path();
        let name = path.file_name().unwrap().to_owned();
        if name != "README.md" {
            pages.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
    pages.sort();
    pages
}

/// Every other text of the repository that cites rules: markdown at the root and below `docs`, without the index of the rules.
pub(super) fn documents() -> Vec<(Utf8PathBuf, String)> {
    let mut documents = Vec::new();
    for folder in ["", "docs", "docs/spec"] {
        for entry in root().join(folder).read_dir_utf8().unwrap() {
            let path = entry.unwrap().into_path();
            if path.extension() == Some("md") && !path.ends_with("docs/spec/README.md") {
                let text = std::fs::read_to_string(&path).unwrap();
                documents.push((path.strip_prefix(root()).unwrap().to_owned(), text));
            }
        }
    }
    assert!(documents.len() > 20, "the documents are found");
    documents.sort();
    documents
}

/// A text of markdown without its code spans, which quote others.
pub(super) fn without_code(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts
        .filter(|(n, _)| n % 2 == 0)
        .map(|(_, part)| part)
        .collect::<Vec<_>>()
        .join("` `")
}

pub(super) fn is_for_developers(path: &Utf8Path) -> bool {
    path.starts_with("docs/spec")
        || [
            "ARCHITECTURE.md",
            "CONTRIBUTING.md",
            "CHANGELOG.md",
            "docs/decisions.md",
        ]
        .iter()
        .any(|name| path == Utf8Path::new(name))
}

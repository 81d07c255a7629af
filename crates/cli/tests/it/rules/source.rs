//! Rust files taken apart, as far as the tests of the repository need it: code, comments, string literals, test code.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use camino::{Utf8Path, Utf8PathBuf};
use regex::Regex;

use crate::tidy;

/// One Rust file.
pub(crate) struct Source {
    pub(crate) path: Utf8PathBuf,
    /// The text with comments and literals blanked; places are those of the file.
    pub(crate) code: String,
    pub(crate) comments: Vec<Piece>,
    pub(crate) strings: Vec<Piece>,
    /// Which parts are test code.
    tests: Vec<Range<usize>>,
}

/// A comment, or what is between the quotes of a string literal.
pub(crate) struct Piece {
    pub(crate) start: usize,
    pub(crate) text: String,
}

impl Source {
    pub(crate) fn is_test(&self, place: usize) -> bool {
        self.tests.iter().any(|range| range.contains(&place))
    }

    /// File and line of a place, as editors take them.
    pub(crate) fn line(&self, place: usize) -> String {
        let n_lines = self.code[..place].matches('\n').count();
        format!("{}:{}", self.path, n_lines + 1)
    }
}

/// Every Rust file below `crates/`.
pub(crate) static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(sources);

fn sources() -> Vec<Source> {
    let mut sources: Vec<Source> = tidy::sources()
        .into_iter()
        .map(|(path, text)| take_apart(path, &text))
        .collect();
    let modules: BTreeSet<Utf8PathBuf> = sources.iter_mut().flat_map(test_modules).collect();
    for source in &mut sources {
        let is_of_module =
            |module: &Utf8PathBuf| source.path.with_extension("").starts_with(module);
        if is_only_for_tests(&source.path) || modules.iter().any(is_of_module) {
            source.tests.push(0..source.code.len());
        }
    }
    sources
}

fn is_only_for_tests(path: &Utf8Path) -> bool {
    let has = |name| path.components().any(|part| part.as_str() == name);
    has("tests") || has("benches") || path.starts_with("crates/testkit")
}

static TEST_MODULE: LazyLock<Regex> = LazyLock::new(|| {
    let text =
        r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*([;{])";
    Regex::new(text).unwrap()
});

/// Notes the test modules that stand in a file, and returns the folders of those that are only declared there.
pub(super) fn test_modules(source: &mut Source) -> Vec<Utf8PathBuf> {
    let folder = match source.path.file_stem() {
        Some("lib" | "main" | "mod") => source.path.parent().unwrap().to_owned(),
        _ => source.path.with_extension(""),
    };
    let mut declared = Vec::new();
    for found in TEST_MODULE.captures_iter(&source.code) {
        let end = found.get(0).unwrap().end();
        if &found[2] == ";" {
            declared.push(folder.join(&found[1]));
        } else {
            let start = found.get(0).unwrap().start();
            source.tests.push(start..end_of_block(&source.code, end));
        }
    }
    declared
}

/// Where the block ends whose opening brace is just before a place.
fn end_of_block(code: &str, start: usize) -> usize {
    let mut depth = 1;
    for (at, byte) in code.bytes().enumerate().skip(start) {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    code.len()
}

pub(super) fn take_apart(path: Utf8PathBuf, text: &str) -> Source {
    let mut source = Source {
        path,
        code: String::with_capacity(text.len()),
        comments: Vec::new(),
        strings: Vec::new(),
        tests: Vec::new(),
    };
    let mut at = 0;
    while at < text.len() {
        let token = token(text, at);
        let (end, inner) = match token {
            Token::Code(end) => {
                source.code.push_str(&text[at..end]);
                at = end;
                continue;
            }
            Token::Comment(end) => (end, Some((&mut source.comments, at..end))),
            Token::String { end, inner } => (end, Some((&mut source.strings, inner))),
            Token::Character(end) => (end, None),
        };
        if let Some((pieces, range)) = inner {
            pieces.push(Piece {
                start: at,
                text: text[range].to_owned(),
            });
        }
        let blank = |byte| if byte == b'\n' { '\n' } else { ' ' };
        source.code.extend(text[at..end].bytes().map(blank));
        at = end;
    }
    source
}

/// What begins at a place, and where it ends.
enum Token {
    Code(usize),
    Comment(usize),
    String { end: usize, inner: Range<usize> },
    Character(usize),
}

fn token(text: &str, at: usize) -> Token {
    let rest = &text[at..];
    let after = |pattern: &str| {
        let found = rest.find(pattern);
        found.map_or(text.len(), |n| at + n + pattern.len())
    };
    if rest.starts_with("//") {
        return Token::Comment(at + rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return Token::Comment(after("*/"));
    }
    if rest.starts_with('"') {
        return string(text, at);
    }
    if let Some(token) = raw_string(text, at) {
        return token;
    }
    if let Some(quoted) = rest.strip_prefix('\'') {
        let mut letters = quoted.char_indices();
        let first = letters.next().map(|(_, letter)| letter);
        if first == Some('\\') {
            let end = rest[3..].find('\'').expect("a character literal ends");
            return Token::Character(at + 3 + end + 1);
        }
        if let Some((n, '\'')) = letters.next() {
            return Token::Character(at + 1 + n + 1);
        }
    }
    let next = rest
        .char_indices()
        .skip(1)
        .find(|(_, letter)| matches!(letter, '/' | '"' | '\'' | 'r'));
    Token::Code(next.map_or(text.len(), |(n, _)| at + n))
}

fn string(text: &str, at: usize) -> Token {
    let mut is_escaped = false;
    for (n, byte) in text[at + 1..].bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => {
                let end = at + 1 + n;
                return Token::String {
                    end: end + 1,
                    inner: at + 1..end,
                };
            }
            _ => {}
        }
    }
    Token::Code(text.len())
}

/// A raw string literal, if one begins here: `r"…"` or `r#"…"#`.
fn raw_string(text: &str, at: usize) -> Option<Token> {
    let before = text[..at].chars().next_back();
    if before.is_some_and(|letter| letter.is_alphanumeric() && letter != 'b' || letter == '_') {
        return None;
    }
    let marked = text[at..].strip_prefix('r')?;
    let marks = &marked[..marked.len() - marked.trim_start_matches('#').len()];
    marked[marks.len()..].strip_prefix('"')?;
    let start = at + 1 + marks.len() + 1;
    let closing = format!("\"{marks}");
    let end = start + text[start..].find(&closing)?;
    Some(Token::String {
        end: end + closing.len(),
        inner: start..end,
    })
}

#[test]
fn a_file_is_taken_apart() {
    let text = r##"fn a<'x>() { let b = '"'; } // c "d"
const E: &str = r#"f // "g" "#;
#[cfg(test)]
mod tests { fn h() { "}\"" } }
fn i() { "j" }
"##;
    let mut source = take_apart("crates/a/src/b.rs".into(), text);
    assert_eq!(source.code.len(), text.len());
    let texts = |pieces: &[Piece]| -> Vec<String> {
        pieces.iter().map(|piece| piece.text.clone()).collect()
    };
    assert_eq!(texts(&source.comments), ["// c \"d\""]);
    assert_eq!(texts(&source.strings), ["f // \"g\" ", "}\\\"", "j"]);
    assert_eq!(test_modules(&mut source), Vec::<Utf8PathBuf>::new());
    let is_test = |word: &str| source.is_test(text.find(word).unwrap());
    assert!(is_test("fn h") && !is_test("fn a") && !is_test("fn i"));
    assert_eq!(
        source.line(text.find("fn i").unwrap()),
        "crates/a/src/b.rs:5"
    );
}

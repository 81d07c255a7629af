//! The cases as text: scenarios, each a list of steps that are done on both sides in order.
//!
//! ```text
//! # a comment
//! == name of the scenario            begins one, on a store with the prefix `tt`; `(seed)` behind the name: the store also has
//!                                    the issues of seed.jsonl; `(bare)`: there is no store
//! > plan.json                        writes a file, whose lines follow behind `| `
//! | {"nodes": []}
//! tick                               waits for the next second, so that times that are shown in seconds differ
//! $ create "First" --id tt-a1        a call that succeeds; lines behind `| ` are its standard input
//! ! BD_JSON_ENVELOPE=1 show tt-z     a call that fails, with more in its environment
//! $~3 info                           a call that differs, as entry 3 of docs/bd-compatibility.md says
//! $ show {1}                         the first id that was made up and printed on this side
//! $ -C {work}/sub where              the folder of this side
//! ```

use camino::Utf8PathBuf;

/// What the store of a scenario is at its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// None.
    Bare,
    /// An empty one.
    Empty,
    /// One with the issues of `seed.jsonl`.
    Seed,
}

/// A list of steps on a separate store.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    /// The name of the file and of the scenario.
    pub(crate) name: String,
    pub(crate) beginning: Beginning,
    pub(crate) steps: Vec<Step>,
}

/// Something to do on both sides.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Write { path: String, text: String },
    Tick,
    Call(Call),
}

/// One call of `bd`.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// The line of the file, from 1.
    pub(crate) line: usize,
    /// The text of the line, for people.
    pub(crate) text: String,
    pub(crate) is_success: bool,
    /// The entry of docs/bd-compatibility.md that says how the sides differ.
    pub(crate) difference: Option<u8>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) words: Vec<String>,
    pub(crate) input: String,
}

/// The scenarios of every file of cases.
pub(crate) fn all() -> Vec<Scenario> {
    let mut paths: Vec<Utf8PathBuf> = folder()
        .read_dir_utf8()
        .unwrap()
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| path.extension() == Some("txt"))
        .collect();
    paths.sort();
    let mut scenarios = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        scenarios.extend(read(path.file_stem().unwrap(), &text));
    }
    scenarios
}

/// Where the cases are.
pub(crate) fn folder() -> Utf8PathBuf {
    Utf8PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/real/bd_face/cases")
}

/// The scenarios of one file.
pub(crate) fn read(file: &str, text: &str) -> Vec<Scenario> {
    let mut scenarios: Vec<Scenario> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let place = format!("{file}.txt:{}", index + 1);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix("== ") {
            scenarios.push(scenario(file, name));
            continue;
        }
        let scenario = scenarios.last_mut();
        let scenario = scenario.unwrap_or_else(|| panic!("{place}: there is no scenario yet"));
        if let Some(more) = line.strip_prefix('|') {
            let more = more.strip_prefix(' ').unwrap_or(more);
            let text = match scenario.steps.last_mut() {
                Some(Step::Write { text, .. }) => text,
                Some(Step::Call(call)) => &mut call.input,
                Some(Step::Tick) | None => panic!("{place}: text that belongs to nothing"),
            };
            text.push_str(more);
            text.push('\n');
        } else {
            scenario.steps.push(step(index + 1, line, &place));
        }
    }
    scenarios
}

fn scenario(file: &str, name: &str) -> Scenario {
    let (name, beginning) = if let Some(name) = name.strip_suffix(" (seed)") {
        (name, Beginning::Seed)
    } else if let Some(name) = name.strip_suffix(" (bare)") {
        (name, Beginning::Bare)
    } else {
        (name, Beginning::Empty)
    };
    Scenario {
        name: format!("{file}: {name}"),
        beginning,
        steps: Vec::new(),
    }
}

fn step(line: usize, text: &str, place: &str) -> Step {
    if text == "tick" {
        return Step::Tick;
    }
    if let Some(path) = text.strip_prefix("> ") {
        return Step::Write {
            path: path.to_owned(),
            text: String::new(),
        };
    }
    let mut words = split(text, place).into_iter();
    let sign = words.next().unwrap_or_default();
    let (is_success, rest) = match sign.split_at_checked(1) {
        Some(("$", rest)) => (true, rest),
        Some(("!", rest)) => (false, rest),
        _ => panic!("{place}: a line begins with $, !, >, |, == or #, or is `tick`"),
    };
    let difference = (!rest.is_empty()).then(|| {
        let number = rest
            .strip_prefix('~')
            .and_then(|number| number.parse().ok());
        number.unwrap_or_else(|| panic!("{place}: {sign} is no sign"))
    });
    let mut environment = Vec::new();
    let mut arguments: Vec<String> = Vec::new();
    for word in words {
        match word.split_once('=') {
            Some((name, value)) if arguments.is_empty() && is_variable(name) => {
                environment.push((name.to_owned(), value.to_owned()));
            }
            _ => arguments.push(word),
        }
    }
    Step::Call(Call {
        line,
        text: text.to_owned(),
        is_success,
        difference,
        environment,
        words: arguments,
        input: String::new(),
    })
}

fn is_variable(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|letter| letter.is_ascii_uppercase() || letter == '_')
}

/// The words of a line. `'…'` is taken as it is; in `"…"` there are `\n`, `\t`, `\"` and `\\`.
fn split(text: &str, place: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        Some('\'') => break,
                        Some(letter) => word.push(letter),
                        None => panic!("{place}: a quotation has no end"),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match letters.next() {
                        Some('"') => break,
                        Some('\\') => word.push(match letters.next() {
                            Some('n') => '\n',
                            Some('t') => '\t',
                            Some(letter) => letter,
                            None => panic!("{place}: a quotation has no end"),
                        }),
                        Some(letter) => word.push(letter),
                        None => panic!("{place}: a quotation has no end"),
                    }
                }
            }
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[test]
fn a_script_is_read() {
    let scenarios = read(
        "f",
        "# x\n== first (seed)\n> a b\n| 1\n|\n$~2 A=1 create \"a\\n\" 'b=\"' {1}\n| in\ntick\n! x\n",
    );
    assert_eq!(scenarios.len(), 1);
    assert_eq!(scenarios[0].name, "f: first");
    assert_eq!(scenarios[0].beginning, Beginning::Seed);
    let [
        Step::Write { path, text },
        Step::Call(call),
        Step::Tick,
        Step::Call(last),
    ] = &scenarios[0].steps[..]
    else {
        panic!("{scenarios:#?}");
    };
    assert_eq!((path.as_str(), text.as_str()), ("a b", "1\n\n"));
    assert_eq!(call.words, ["create", "a\n", "b=\"", "{1}"]);
    assert_eq!(call.environment, [("A".to_owned(), "1".to_owned())]);
    assert_eq!(
        (call.line, call.difference, call.is_success),
        (6, Some(2), true)
    );
    assert_eq!(call.input, "in\n");
    assert!(!last.is_success);
}

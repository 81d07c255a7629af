//! The rules in `docs/spec` and what cites them: every number that is cited exists, every rule has a test, and no user meets a number.

mod architecture;
mod module_order;
pub(crate) mod source;
mod spec;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use camino::Utf8Path;

use crate::env::TestEnv;
use crate::tidy::root;
use source::{SOURCES, Source};
use spec::{Number, Rule, Standing};

/// One number in the name of a test.
static NAMED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(to_)?([a-z])_(\d+)([a-z]?)(?:_(?:and_)?|$)").unwrap());

static FUNCTION: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\bfn\s+(\w+)").unwrap());

/// The numbers that a text cites, ranges (`S-1 to S-8`) in full, with their places. What is before a number keeps out words such as `UTF-8`.
fn cited(text: &str) -> Vec<(usize, Number)> {
    let mut found: Vec<(usize, Number)> = Vec::new();
    let mut last_end = 0;
    for (hyphen, _) in text.match_indices('-') {
        let is_inside = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '_';
        let Some(start) = hyphen.checked_sub(1) else {
            continue;
        };
        if !text.is_char_boundary(start) || text[..start].ends_with(is_inside) {
            continue;
        }
        let Some((number, end)) = Number::at_start(&text[start..]) else {
            continue;
        };
        match (found.last(), &text[last_end..start]) {
            (Some((_, first)), " to " | "…") if first.family == number.family => {
                let following = first.to(number.count).into_iter().skip(1);
                found.extend(following.map(|number| (start, number)));
            }
            _ => found.push((start, number)),
        }
        last_end = start + end;
    }
    found
}

/// The numbers that the name of a test begins with: `p_7_n_5_…`, `t_9_to_t_33_…`.
fn named(name: &str) -> Vec<Number> {
    let mut rest = name;
    let mut numbers: Vec<Number> = Vec::new();
    while let Some(captures) = NAMED.captures(rest) {
        let number = Number::of(&captures[2].to_uppercase(), &captures[3], &captures[4]);
        match numbers.pop() {
            Some(first) if captures.get(1).is_some() => numbers.extend(first.to(number.count)),
            before => numbers.extend(before.into_iter().chain([number])),
        }
        rest = &rest[captures[0].len()..];
    }
    numbers.retain(|number| number.is_of_a_family());
    numbers
}

/// The functions in the test code of a file, with their places.
fn test_functions(source: &Source) -> Vec<(usize, String)> {
    let all = FUNCTION.captures_iter(&source.code);
    all.map(|captures| captures.get(1).unwrap())
        .filter(|name| source.is_test(name.start()))
        .map(|name| (name.start(), name.as_str().to_owned()))
        .collect()
}

/// Which rules tests name, each with a place that does.
fn tested() -> BTreeMap<Number, (&'static Source, usize)> {
    let mut tested = BTreeMap::new();
    for source in SOURCES.iter() {
        for (place, name) in test_functions(source) {
            let numbers = named(&name).into_iter();
            tested.extend(numbers.map(|number| (number, (source, place))));
        }
        for comment in source.comments.iter().filter(|it| source.is_test(it.start)) {
            let numbers = cited(&comment.text).into_iter();
            tested.extend(numbers.map(|(_, number)| (number, (source, comment.start))));
        }
    }
    tested
}

#[test]
fn numbers_are_found_where_they_are_cited() {
    let numbers = |text: &str| -> Vec<String> {
        let found = cited(text).into_iter();
        found.map(|(_, number)| number.to_string()).collect()
    };
    assert_eq!(
        numbers("P-1/P-5 and L-3a; UTF-8, B-x, `T-9 to T-11`: (Z-2)"),
        ["P-1", "P-5", "L-3a", "T-9", "T-10", "T-11", "Z-2"]
    );
    let numbers = |name: &str| -> Vec<String> {
        let found = named(name).into_iter();
        found.map(|number| number.to_string()).collect()
    };
    assert_eq!(numbers("p_7_n_5_a_number_stands_twice"), ["P-7", "N-5"]);
    assert_eq!(
        numbers("t_9_to_t_11_and_l_3a_hold"),
        ["T-9", "T-10", "T-11", "L-3a"]
    );
    assert!(numbers("a_number_p_7").is_empty());
}

#[test]
fn every_rule_that_is_cited_exists() {
    let rules: BTreeSet<Number> = spec::rules().iter().map(|rule| rule.number).collect();
    let mut n_citations = 0;
    let mut unknown = Vec::new();
    let mut is_known = |number: &Number| {
        n_citations += 1;
        rules.contains(number)
    };
    for source in SOURCES.iter() {
        let comments = source.comments.iter();
        let in_comments = comments.flat_map(|it| {
            cited(&it.text)
                .into_iter()
                .map(|(n, number)| (it.start + n, number))
        });
        let functions = test_functions(source).into_iter();
        let in_names = functions
            .flat_map(|(place, name)| named(&name).into_iter().map(move |number| (place, number)));
        let found = in_comments
            .chain(in_names)
            .filter(|(_, number)| !is_known(number));
        unknown.extend(found.map(|(place, number)| format!("{number} in {}", source.line(place))));
    }
    for (path, text) in spec::documents() {
        let found = cited(&spec::without_code(&text)).into_iter();
        let found = found.filter(|(_, number)| !is_known(number));
        unknown.extend(found.map(|(_, number)| format!("{number} in {path}")));
    }
    assert!(n_citations > 1000, "the citations are found");
    assert!(
        unknown.is_empty(),
        "docs/spec has none of these: {unknown:#?}"
    );
}

#[test]
fn the_index_says_where_the_rules_of_the_family_z_are() {
    let index = std::fs::read_to_string(root().join("docs/spec/README.md")).unwrap();
    for (page, text) in spec::pages() {
        let numbers = spec::rules_of(&text).into_iter().map(|rule| rule.number);
        let on_page: BTreeSet<Number> = numbers.filter(|number| number.family == 'Z').collect();
        let row = format!("| [{page}]({page}) | ");
        let listed = index.lines().find_map(|line| line.strip_prefix(&row));
        let listed = cited(listed.unwrap_or_default()).into_iter();
        let listed: BTreeSet<Number> = listed.map(|(_, number)| number).collect();
        assert_eq!(on_page, listed, "{page}");
    }
}

#[test]
fn every_rule_is_defined_once() {
    let mut numbers: Vec<Number> = spec::rules().iter().map(|rule| rule.number).collect();
    numbers.sort();
    let twice = numbers.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None);
}

#[test]
fn every_rule_has_a_test_or_says_why_not() {
    let tested = tested();
    let mut wrong = Vec::new();
    for Rule { number, standing } in spec::rules() {
        let place = tested
            .get(&number)
            .map(|(source, place)| source.line(*place));
        wrong.extend(match (standing, place) {
            (Standing::Holds, None) => Some(format!(
                "{number} is named by no test: name it in the test that covers it, or say `Not tested: …` in docs/spec"
            )),
            (Standing::Planned, Some(place)) => Some(format!(
                "{number} is marked as planned, and {place} tests it: let docs/spec say what holds now"
            )),
            (Standing::Untested, Some(place)) => {
                Some(format!("{number} says `Not tested`, and {place} tests it"))
            }
            _ => None,
        });
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Texts that users meet; a rule number in one of them says nothing to its reader.
fn shown() -> Vec<(String, String)> {
    let mut shown = Vec::new();
    for source in SOURCES.iter() {
        for string in source.strings.iter().filter(|it| !source.is_test(it.start)) {
            // A number alone is a value for programs, as in the decisions of `implement --json`.
            let is_alone =
                Number::at_start(&string.text).is_some_and(|(_, end)| end == string.text.len());
            if !is_alone {
                shown.push((source.line(string.start), string.text.clone()));
            }
        }
    }
    let documents = spec::documents().into_iter();
    let documents = documents.filter(|(path, _)| !spec::is_for_developers(path));
    shown.extend(documents.map(|(path, text)| (path.to_string(), text)));
    for folder in [
        "schemas",
        "examples",
        "crates/cli/assets",
        "crates/cli/src",
        "crates/core/src",
        "crates/runtime/src",
    ] {
        shown.extend(files_beside_the_source(&root().join(folder)));
    }
    let manual = TestEnv::new().run(&["man"]).exits(0).stdout;
    assert!(
        manual.contains("beads\\-ralph plan check"),
        "the manual has every command"
    );
    shown.push(("the manual".to_owned(), manual));
    shown
}

/// What the program carries along: schemas, formulas, adapters, instructions of agents.
fn files_beside_the_source(folder: &Utf8Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for entry in folder.read_dir_utf8().unwrap() {
        let path = entry.unwrap().into_path();
        if path.is_dir() {
            files.extend(files_beside_the_source(&path));
        } else if path.extension() != Some("rs") {
            files.push((path.to_string(), std::fs::read_to_string(&path).unwrap()));
        }
    }
    files
}

#[test]
fn no_user_meets_the_number_of_a_rule() {
    let shown = shown();
    assert!(shown.len() > 1000, "the texts are found");
    let numbers = shown.iter().filter_map(|(place, text)| {
        let (_, number) = cited(text).into_iter().next()?;
        Some(format!("{number} in {place}"))
    });
    let numbers: Vec<String> = numbers.collect();
    assert!(numbers.is_empty(), "say it in words: {numbers:#?}");
}

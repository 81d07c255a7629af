//! The order of the top-level modules of core and of runtime: each `lib.rs` lists them bottom-up, and a module uses only those above its line.

use std::sync::LazyLock;

use regex::Regex;

use super::source::{SOURCES, Source, take_apart};

static DECLARED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^(?:pub )?mod (\w+);").unwrap());

/// The beginning of a path that may leave its module.
static ROOTED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(?:(crate)|super(?:::super)*)::\s*").unwrap());

static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\w+|[{},;]|::").unwrap());

/// The first names of the path, or of the group of paths, at the beginning of a text: `a::b` or `{a::b, c::{d, e}}`.
fn first_names(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut depth = 0;
    let mut is_first = true;
    for word in WORD.find_iter(text) {
        match word.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            "," if depth == 1 => is_first = true,
            ";" => break,
            "::" | "," => {}
            name if is_first => {
                names.push(name);
                is_first = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    names
}

/// The uses in a file that go against the order of its crate.
fn against_the_order(order: &[&str], root: &str, file: &Source) -> Vec<String> {
    let inside = file.path.strip_prefix(root).unwrap().with_extension("");
    let inside: Vec<&str> = inside.iter().collect();
    let place_of = |name: &str| order.iter().position(|module| *module == name);
    let Some(own) = place_of(inside[0]) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for captures in ROOTED.captures_iter(&file.code) {
        let path = captures.get(0).unwrap();
        let n_supers = path.as_str().matches("super").count();
        let leaves = captures.get(1).is_some() || n_supers == inside.len();
        if !leaves || file.is_test(path.start()) {
            continue;
        }
        for name in first_names(&file.code[path.end()..]) {
            if place_of(name).is_some_and(|place| place > own) {
                let line = file.line(path.start());
                found.push(format!("{line}: `{}` uses `{name}`", inside[0]));
            }
        }
    }
    found
}

/// The modules of a crate as its `lib.rs` lists them.
pub(super) fn declared(krate: &str) -> Vec<&'static str> {
    let lib = format!("crates/{krate}/src/lib.rs");
    let lib = SOURCES.iter().find(|source| source.path == lib).unwrap();
    let names = DECLARED.captures_iter(&lib.code);
    names.map(|name| name.get(1).unwrap().as_str()).collect()
}

#[test]
fn a_module_uses_only_those_listed_above_it() {
    for krate in ["core", "runtime"] {
        let root = format!("crates/{krate}/src");
        let order = declared(krate);
        assert!(order.len() > 20, "the modules of {krate} are found");
        let files = SOURCES.iter().filter(|it| it.path.starts_with(&root));
        let wrong: Vec<String> = files
            .flat_map(|file| against_the_order(&order, &root, file))
            .collect();
        assert!(
            wrong.is_empty(),
            "{root}/lib.rs lists its modules bottom-up; these use a module that is listed below them: {wrong:#?}"
        );
    }
}

#[test]
fn a_use_against_the_order_is_found() {
    let order = ["low", "middle", "high"];
    let check = |path: &str, text: &str| {
        let mut file = take_apart(format!("crates/a/src/{path}").into(), text);
        super::source::test_modules(&mut file);
        against_the_order(&order, "crates/a/src", &file)
    };
    let text = "use crate::low;\nuse crate::{\n    low::{high, x},\n    high::y,\n};\n";
    assert_eq!(
        check("middle.rs", text),
        ["crates/a/src/middle.rs:2: `middle` uses `high`"]
    );
    assert_eq!(
        check("low/inner.rs", "fn f() { super::super::middle::g() }"),
        ["crates/a/src/low/inner.rs:1: `low` uses `middle`"]
    );
    for text in [
        "use crate::low::high;\nuse super::low::{self, high};",
        "use super::middle::high;\n// crate::high\n",
        "const A: &str = \"crate::high\";",
        "#[cfg(test)]\nmod tests { use crate::high; }",
    ] {
        assert_eq!(check("middle.rs", text), [""; 0], "{text}");
    }
}

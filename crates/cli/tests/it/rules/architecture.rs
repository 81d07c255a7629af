//! ARCHITECTURE.md fits two screens, names every top-level module in its order, and names nothing that does not exist.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::module_order::declared;
use super::source::SOURCES;
use crate::tidy::root;

const MAX_LINES: usize = 120;
const MAX_COLUMNS: usize = 120;

/// A path in a code span: `plan::parse`, `core::engine`, `runtime::os::files`.
static PATH: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"`((?:[a-z_]+::)+[A-Za-z_]+)(?:\([^`]*\))?`").unwrap());

static NAME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"`([a-z_]+)`").unwrap());

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

/// The names in code spans of the paragraph about a crate.
fn listed(krate: &str) -> Vec<String> {
    let text = page("ARCHITECTURE.md");
    let start = format!("**{krate}**");
    let paragraph = text.split("\n\n").find(|it| it.starts_with(&start));
    let paragraph = paragraph.unwrap_or_else(|| panic!("no paragraph begins with {start}"));
    let names = NAME.captures_iter(paragraph);
    names.map(|name| name[1].to_owned()).collect()
}

/// The modules beside the root of a crate.
fn top_level(krate: &str) -> BTreeSet<String> {
    let folder = format!("crates/{krate}/src");
    let inside = SOURCES
        .iter()
        .filter_map(|source| source.path.strip_prefix(&folder).ok());
    let first = inside.filter_map(|path| path.components().next());
    first
        .map(|it| it.as_str().trim_end_matches(".rs").to_owned())
        .filter(|name| !matches!(name.as_str(), "lib" | "main"))
        .collect()
}

/// Whether a path names a module, or something that a module declares.
fn exists(path: &str) -> bool {
    let parts: Vec<&str> = path.split("::").collect();
    let is_crate = matches!(parts[0], "core" | "runtime" | "cli" | "testkit");
    let (crates, parts) = if is_crate {
        (vec![parts[0]], &parts[1..])
    } else {
        (vec!["core", "runtime", "cli"], &parts[..])
    };
    let Some((last, modules)) = parts.split_last() else {
        return false;
    };
    let declares = Regex::new(&format!(
        r"\b(?:fn|struct|enum|trait|mod|type|const)\s+{last}\b|\b{last} \{{"
    ));
    let declares = declares.unwrap();
    crates.iter().any(|krate| {
        let inside = [&["crates", krate, "src"], modules].concat().join("/");
        let own = format!("{inside}/{last}");
        SOURCES.iter().any(|source| {
            let place = source.path.with_extension("");
            let is_module = place.starts_with(&own);
            is_module || (place.starts_with(&inside) && declares.is_match(&source.code))
        })
    })
}

#[test]
fn the_page_fits_two_screens() {
    let text = page("ARCHITECTURE.md");
    let n_lines = text.lines().count();
    assert!(n_lines <= MAX_LINES, "{n_lines} lines");
    for line in text.lines() {
        let n_columns = line.chars().count();
        assert!(n_columns <= MAX_COLUMNS, "{n_columns} columns: {line}");
    }
}

#[test]
fn it_lists_the_modules_of_core_and_of_runtime_in_their_order() {
    for krate in ["core", "runtime"] {
        assert_eq!(listed(krate), declared(krate), "the modules of {krate}");
    }
}

#[test]
fn it_names_every_module_of_every_crate() {
    for krate in ["core", "runtime", "cli", "testkit"] {
        let listed: BTreeSet<String> = listed(krate).into_iter().collect();
        assert_eq!(listed, top_level(krate), "the modules of {krate}");
    }
}

#[test]
fn what_it_names_exists() {
    for name in ["ARCHITECTURE.md", "docs/internals.md", "CONTRIBUTING.md"] {
        let text = page(name);
        for path in PATH.captures_iter(&text) {
            assert!(exists(&path[1]), "{name} names {}", &path[1]);
        }
    }
}

#[test]
fn the_files_that_a_change_touches_exist() {
    let text = page("CONTRIBUTING.md");
    let spans = text.split('`').skip(1).step_by(2);
    let is_file = |span: &&str| {
        let crates = ["core/", "runtime/", "cli/", "testkit/"];
        crates.iter().any(|krate| span.starts_with(krate)) && !span.contains(['<', '*'])
    };
    for file in spans.filter(is_file) {
        let path = root().join("crates").join(file);
        assert!(path.exists(), "CONTRIBUTING.md names {file}");
    }
}

//! The rules of the repository that no compiler checks.

use beads_ralph_core::diag::{ErrorCode, WarningCode};
use camino::{Utf8Path, Utf8PathBuf};

/// How long a source file may be.
const MAX_LINES: usize = 800;

pub(crate) fn root() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize_utf8()
        .unwrap()
}

/// Every Rust file below `crates/`, with its text.
pub(crate) fn sources() -> Vec<(Utf8PathBuf, String)> {
    let root = root();
    let mut found = Vec::new();
    let mut pending = vec![root.join("crates")];
    while let Some(folder) = pending.pop() {
        for entry in folder.read_dir_utf8().unwrap() {
            let path = entry.unwrap().into_path();
            if path.is_dir() && path.file_name() != Some("target") {
                pending.push(path);
            } else if path.extension() == Some("rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(&root).unwrap().to_owned(), text));
            }
        }
    }
    assert!(found.len() > 100, "the sources are found");
    found
}

#[test]
fn no_file_is_too_long() {
    for (path, text) in sources() {
        let n_lines = text.lines().count();
        assert!(
            n_lines <= MAX_LINES,
            "{path} has {n_lines} lines; split it by what it does"
        );
    }
}

#[test]
fn every_file_says_what_it_is() {
    for (path, text) in sources() {
        let is_said = text.starts_with("//! ");
        assert!(
            is_said,
            "{path} does not start with a `//!` line that says what it holds"
        );
    }
}

#[test]
fn nothing_is_left_undone() {
    for (path, text) in sources() {
        for mark in ["todo!", "unimplemented!", "dbg!"] {
            let call = format!("{mark}(");
            assert!(!text.contains(&call), "{path} has {mark}");
        }
    }
}

#[test]
fn every_test_runs_unless_it_needs_a_program_that_we_do_not_ship() {
    let ignored = ["#[ig", "nore"].concat();
    for (path, text) in sources() {
        for line in text.lines().filter(|line| line.contains(&ignored)) {
            let is_real = ["crates/cli/tests/real", "crates/cli/tests/bd/"]
                .iter()
                .any(|folder| path.starts_with(folder));
            assert!(
                is_real && line.contains("scripts/real-tools"),
                "{path} has a test that does not run: {line}"
            );
        }
    }
}

#[test]
fn e_2_every_code_is_documented_once() {
    let text = std::fs::read_to_string(root().join("docs/diagnostics.md")).unwrap();
    let errors = ErrorCode::ALL.iter().map(|code| code.as_str());
    let warnings = WarningCode::ALL.iter().map(|code| code.as_str());
    let codes: Vec<&str> = errors.chain(warnings).collect();
    let rows: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(code, _)| code)
        .collect();
    for code in &codes {
        let n_rows = rows.iter().filter(|row| row == &code).count();
        assert_eq!(
            n_rows, 1,
            "docs/diagnostics.md has {n_rows} rows for {code}"
        );
    }
    for row in rows {
        assert!(
            codes.contains(&row),
            "docs/diagnostics.md describes {row}, which does not exist"
        );
    }
}

#[test]
fn ci_never_writes_a_snapshot() {
    let ci = std::fs::read_to_string(root().join(".ci/run")).unwrap();
    let before_tests = ci.split("cargo test").next().unwrap();
    assert!(
        before_tests
            .lines()
            .any(|line| line == "export INSTA_UPDATE=no")
    );
}

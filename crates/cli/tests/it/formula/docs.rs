//! `docs/formulas.md` says what is true: its table is the program's, its bounds too, and its examples are formulas.

use std::fmt::Write as _;

use beads_ralph_core::formula::{FIELDS, MAX_STEPS, MAX_TEXT};
use camino::{Utf8Path, Utf8PathBuf};

use super::own;
use crate::env::{TestEnv, same_as_file};

const BEGIN: &str = "<!-- fields: written by the tests -->\n";
const END: &str = "<!-- /fields -->\n";

fn page() -> (Utf8PathBuf, String) {
    let path = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formulas.md");
    let text = std::fs::read_to_string(&path).unwrap();
    (path, text)
}

#[test]
fn z_38_the_table_has_every_field() {
    let (path, text) = page();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let mut table = "\n| Of | Field | What becomes of it | |\n|---|---|---|---|\n".to_owned();
    for field in FIELDS {
        let (object, treatment) = (field.object.as_str(), field.treatment.as_str());
        // A bar would end the cell.
        let about = field.about.replace('|', "\\|");
        writeln!(
            table,
            "| {object} | `{}` | {treatment} | {about} |",
            field.name
        )
        .unwrap();
    }
    same_as_file(&path, &format!("{before}{BEGIN}{table}\n{END}{after}"));
}

#[test]
fn the_bounds_are_the_programs() {
    let (_, text) = page();
    let steps = format!("{},{:03}", MAX_STEPS / 1000, MAX_STEPS % 1000);
    let bounds = format!(
        "more than {steps} steps or more than {} MiB of text",
        MAX_TEXT >> 20
    );
    assert!(text.contains(&bounds), "{bounds}");
}

#[test]
fn the_examples_are_formulas_without_a_finding() {
    let (_, text) = page();
    let env = TestEnv::new();
    let mut names = Vec::new();
    for block in text.split("```toml\n").skip(1) {
        let (toml, _) = block.split_once("```").unwrap();
        let name = toml
            .strip_prefix("formula = \"")
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        env.write(&own(&format!("{name}.formula.toml")), toml);
        names.push(name);
    }
    assert_eq!(
        names,
        ["release", "rollout", "reviewed", "logged", "handbook"]
    );
    let output = env.run(&["formula", "check"]).exits(0);
    assert_eq!(output.stdout, "");
    let made = |args: &[&str]| {
        let data = env
            .run(&[&["formula", "graph", "--json"], args].concat())
            .exits(0)
            .data();
        let steps = data["steps"].as_array().unwrap().clone();
        steps
            .iter()
            .map(|step| step["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        made(&["release", "--var", "version=1.2.0", "--var", "channel=beta"]),
        ["tests", "build"]
    );
    assert_eq!(made(&["rollout", "--var", "regions=2"]).len(), 5);
    assert_eq!(
        made(&["handbook"]),
        [
            "outline",
            "guide.draft",
            "guide.review",
            "guide.review-log",
            "reference",
            "publish"
        ]
    );
}

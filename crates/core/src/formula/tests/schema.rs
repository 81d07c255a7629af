//! The schema takes every formula that is right, and refuses what it can see to be wrong.

use super::*;

fn validator() -> jsonschema::Validator {
    let (_, schema) = schemas().pop().unwrap();
    assert!(jsonschema::meta::is_valid(&schema));
    jsonschema::draft202012::new(&schema).unwrap()
}

fn faults(text: &str, format: Format) -> Vec<String> {
    let value = match format {
        Format::Json => crate::tree::parse_json(text),
        Format::Toml => crate::tree::parse_toml(text),
    }
    .unwrap()
    .to_value();
    let validator = validator();
    let errors = validator.iter_errors(&value);
    errors.map(|error| error.to_string()).collect()
}

macro_rules! shipped {
    ($($path:literal),* $(,)?) => {
        [$(($path, include_str!(concat!("../../../../runtime/src/", $path)))),*]
    };
}

/// The formulas that come with the program; a test of the program counts them.
const SHIPPED: [(&str, &str); 7] = shipped![
    "formulas/docs-only.formula.toml",
    "formulas/fix-bug.formula.toml",
    "formulas/implement-feature.formula.toml",
    "formulas/sprint-work-pattern.formula.json",
    "bead_files/formulas/molecule-ralph-gate.formula.toml",
    "bead_files/formulas/molecule-ralph-patrol.formula.toml",
    "bead_files/formulas/molecule-ralph-work.formula.toml",
];

#[test]
fn every_formula_that_comes_with_the_program_validates() {
    for (path, text) in SHIPPED {
        let (_, format) = Format::of_file(path).unwrap();
        assert_eq!(faults(text, format), [""; 0], "{path}");
    }
}

#[test]
fn z_38_every_field_has_its_place_in_the_schema() {
    let (_, schema) = schemas().pop().unwrap();
    let text = schema.to_string();
    for field in FIELDS {
        let about = serde_json::to_string(field.about).unwrap();
        assert!(text.contains(about.trim_matches('"')), "{}", field.name);
    }
    let n_properties: usize = (schema["$defs"].as_object().unwrap().values())
        .map(|one| {
            if one["anyOf"][1]["properties"].is_object() {
                &one["anyOf"][1]
            } else {
                one
            }
        })
        .map(|one| one["properties"].as_object().unwrap().len())
        .sum();
    assert_eq!(n_properties, FIELDS.len());
}

/// All constructs in one file.
const ALL: &str = r#"
formula = "main"
description = "d"
version = 2
type = "workflow"
phase = "vapor"
extends = ["base"]
intent = "i"
pour = true
vars = { bare = 3, full = { description = "d", required = true, pattern = "x", enum = ["x", 1], type = "int" } }
steps = [
    { id = "a", name = "A", notes = "n", type = "bug", priority = 0, labels = ["l"], metadata = { k = [1, { x = "y" }] }, assignee = "me", condition = "{{bare}}" },
    { id = "b", title = "B", depends_on = ["a"], waits_for = "children-of(a)", children = [{ id = "c", title = "C" }], gate = { type = "gh:run", await_id = "1", timeout = "1h", repo = "r" } },
    { id = "d", expand = "x", expand_vars = { v = 1 }, needs = ["b"] },
    { id = "l", title = "L", loop = { until = "x", max = 3, var = "i", body = [{ id = "e", title = "E" }] } },
]
[compose]
expand = [{ target = "a", with = "x", vars = { v = "w" } }]
map = [{ select = "*", with = "x" }]
branch = [{ from = "a", steps = ["b"], join = "c" }]
gate = [{ before = "a", condition = "x" }]
aspects = ["y"]
[[advice]]
target = "*"
before = { id = "p" }
around = { before = [], after = [{ id = "q", title = "Q", description = "d", type = "task" }] }
"#;

#[test]
fn every_construct_validates() {
    assert_eq!(faults(ALL, Format::Toml), [""; 0]);
}

#[test]
fn f_5_what_is_wrong_in_itself_is_refused_by_both() {
    let step = "[[steps]]\nid = 'a'\ntitle = 'A'\n";
    for rest in [
        "tags = []\n",
        "version = 0\n",
        "type = 'flow'\n",
        "phase = 'solid'\n",
        "extends = 'base'\n",
        "[vars]\n'1a' = 'x'\n",
        "[vars.v]\nrequired = 'yes'\n",
        "[vars.v]\ntype = 'float'\n",
        "[[steps]]\nid = 'b'\n",
        "[[steps]]\ntitle = 'B'\n",
        "[[steps]]\nid = 'b'\ntitle = 'B'\npriority = 9\n",
        "[[steps]]\nid = 'b'\ntitle = 'B'\nneeds = 'a'\n",
        "[[steps]]\nid = 'b'\ntitle = 'B'\nmetadata = 'a'\n",
        "[[steps]]\nid = 'b'\ntitle = 'B'\ngate = { type = 'nobody' }\n",
        "[[steps]]\nid = 'b'\ntitle = 'B'\nloop = { count = 1 }\n",
        "[[steps]]\nid = 'b'\ntitle = 'B'\nloop = { count = 1, range = '1..2', body = [] }\n",
        "[[compose.branch]]\nfrom = 'a'\nsteps = []\njoin = 'a'\n",
        "[[compose.map]]\ntarget = 'a'\nwith = 'x'\n",
        "[[advice]]\ntarget = 'a'\nbefore = [{ id = 'x' }]\n",
    ] {
        // Keys of the formula itself come before its steps.
        let text = if rest.contains('[') && rest.starts_with('[') {
            format!("formula = 'main'\n{step}{rest}")
        } else {
            format!("formula = 'main'\n{rest}{step}")
        };
        assert!(!faults(&text, Format::Toml).is_empty(), "{rest}");
        assert!(
            pour(&Texts::default().toml("main", &text), &[]).has_errors(),
            "{rest}"
        );
    }
}

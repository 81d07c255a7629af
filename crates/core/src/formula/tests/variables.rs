//! Values of variables.

use super::*;

const SPRINT: &str = r#"{
  "formula": "main", "description": "Standard work sprint pattern", "version": 1, "type": "workflow", "phase": "liquid",
  "vars": {
    "sprint_id": {"description": "Sprint identifier", "required": true, "pattern": "^\\d+[a-z]*\\.\\d+[a-z]*$"},
    "sprint_title": {"required": true},
    "worktree_path": {"required": true},
    "dev_model": {"default": "sonnet", "enum": ["haiku", "sonnet", "opus"]},
    "note": {"description": "not needed"}
  },
  "steps": [{"id": "work", "title": "{{sprint_title}}", "description": "Sprint {{sprint_id}} in {{worktree_path}}{{note}}",
             "labels": ["sprint-{{sprint_id}}"], "assignee": "{{dev_model}}", "priority": 1,
             "metadata": {"model": "{{ dev_model }}"}}]
}"#;

fn sprint(values: &[&str]) -> Compilation {
    pour(&Texts::default().json("main", SPRINT), values)
}

#[test]
fn f_2_variables_are_filled_wherever_a_bead_has_texts() {
    let molecule = sprint(&[
        "sprint_id=1.2a",
        "sprint_title=T {{sprint_id}} {x}",
        "worktree_path=../w",
    ])
    .molecule
    .unwrap();
    let step = &molecule.steps[0];
    assert_eq!(
        step.title, "T {{sprint_id}} {x}",
        "a value is never scanned again"
    );
    assert_eq!(
        step.description, "Sprint 1.2a in ../w",
        "what is not required is empty"
    );
    assert_eq!(step.labels, ["sprint-1.2a", "stage-work"]);
    assert_eq!(step.assignee.as_deref(), Some("sonnet"));
    assert_eq!(step.metadata["model"], "sonnet");
}

#[test]
fn f_3_everything_that_is_missing_is_said_at_once() {
    let said = said(&sprint(&["sprint_id=1.2", "sprint_title="]));
    assert_eq!(
        said,
        [
            "FORMULA.MISSING_VAR [\"sprint_title\"] the variable `sprint_title` is required, and its value is empty; pass --var sprint_title=VALUE",
            "FORMULA.MISSING_VAR [\"worktree_path\"] the variable `worktree_path` is required and has no value; pass --var worktree_path=VALUE",
        ]
    );
}

#[test]
fn f_4_values_that_do_not_fit_are_said_at_once() {
    let said = said(&sprint(&[
        "sprint_id=1-2",
        "sprint_title=t",
        "worktree_path=w",
        "dev_model=gpt",
    ]));
    assert_eq!(
        said,
        [
            "FORMULA.INVALID_VAR [\"sprint_id\"] the value of `sprint_id` does not match ^\\d+[a-z]*\\.\\d+[a-z]*$: `1-2`; sprint_id: Sprint identifier",
            "FORMULA.INVALID_VAR [\"dev_model\"] the value of `dev_model` is one of haiku, sonnet, opus, not `gpt`",
        ]
    );
}

#[test]
fn f_4_a_pattern_is_searched_and_defaults_are_checked() {
    let step = "[[steps]]\nid = 'a'\ntitle = 'A'\n";
    let shelf = main_with(&format!("[vars.v]\npattern = 'b'\nrequired = true\n{step}"));
    assert!(
        pour(&shelf, &["v=abc"]).molecule.is_some(),
        "it is not anchored"
    );
    for (declaration, code) in [
        (
            "[vars.v]\ndefault = 'x'\nenum = ['y']\n",
            "FORMULA.INVALID_VAR",
        ),
        (
            "[vars.v]\ndefault = 'x'\npattern = 'y'\n",
            "FORMULA.INVALID_VAR",
        ),
        (
            "[vars.v]\ndefault = 'x'\ntype = 'int'\n",
            "FORMULA.INVALID_VAR",
        ),
        ("[vars.v]\npattern = '('\n", "FORMULA.POUR_FAILED"),
        ("[vars.v]\ntype = 'strng'\n", "FORMULA.POUR_FAILED"),
        ("[vars]\n'a b' = 'x'\n", "FORMULA.POUR_FAILED"),
    ] {
        let compilation = pour(&main_with(&format!("{declaration}{step}")), &[]);
        assert!(compilation.molecule.is_none(), "{declaration}");
        assert!(
            said(&compilation)[0].starts_with(code),
            "{:?}",
            said(&compilation)
        );
    }
}

#[test]
fn f_4_types_are_checked() {
    let shelf = main_with(
        "[vars]\nn = { type = 'int', default = 1 }\nb = { type = 'bool', default = false }\n[[steps]]\nid = 'a'\ntitle = '{{n}} {{b}}'\n",
    );
    assert_eq!(
        pour(&shelf, &["n=-7", "b=true"]).molecule.unwrap().steps[0].title,
        "-7 true"
    );
    let said = said(&pour(&shelf, &["n=1.5", "b=yes"]));
    assert!(
        said[0].contains("is a whole number, not `1.5`")
            && said[1].contains("is `true` or `false`, not `yes`"),
        "{said:?}"
    );
}

/// A formula with placeholders that it does not declare, in a text, a label and a condition.
const ODD: &str = "[[steps]]\nid = 'a'\ntitle = 'A {{ nmae }} {{#if x}}'\nlabels = ['{{l}}']\n";

#[test]
fn f_3_a_placeholder_of_a_formula_without_variables_is_an_error_at_its_place() {
    let shelf = main_with(&format!("description = 'of {{{{gone}}}}'\n{ODD}"));
    let missing = said(&pour(&shelf, &["extra=1"]));
    let lines = [
        "undeclared-variable [\"main\"] the formula declares no variable `extra`; it declares none",
        "FORMULA.MISSING_VAR [{{gone}}] the formula has no variable `gone`; declare it under `vars`, or pass --var gone=VALUE",
        "FORMULA.MISSING_VAR [{{ nmae }}] the formula has no variable `nmae`; declare it under `vars`, or pass --var nmae=VALUE",
        "FORMULA.MISSING_VAR [{{l}}] the formula has no variable `l`; declare it under `vars`, or pass --var l=VALUE",
    ];
    assert_eq!(missing, lines);
    let given = pour(&shelf, &["gone=1", "nmae=2", "l=3"]);
    assert_eq!(
        given.molecule.as_ref().unwrap().steps[0].title,
        "A 2 {{#if x}}",
        "what is given is enough: {:?}",
        said(&given)
    );
}

#[test]
fn z_43_a_placeholder_that_is_not_declared_stays_where_others_are() {
    let shelf = main_with(&format!(
        "[vars]\nname = 'n'\n{ODD}description = '{{{{name}}}}'\n"
    ));
    let poured = pour(&shelf, &[]);
    assert_eq!(
        said(&poured),
        [
            "undeclared-placeholder [{{ nmae }}] `{{ nmae }}` names no variable of the formula and stays as it is; did you mean `name`?",
            "undeclared-placeholder [{{l}}] `{{l}}` names no variable of the formula and stays as it is; if it is meant to be filled in, declare `l` under `vars`",
        ]
    );
    let step = &poured.molecule.as_ref().unwrap().steps[0];
    assert_eq!(step.title, "A {{ nmae }} {{#if x}}");
    assert_eq!(step.description, "n");
    assert!(step.labels.contains(&"{{l}}".to_owned()));
    let exact = compile(&shelf, "main", Given::NotYet, Strictness::Exact).unwrap();
    assert!(exact.has_errors(), "--strict refuses them");
}

#[test]
fn z_43_a_lenient_reader_lets_placeholders_stay_also_without_any_variable() {
    let shelf = main_with(ODD);
    let none = Values::default();
    let poured = compile(&shelf, "main", Given::Values(&none), Strictness::Lenient).unwrap();
    assert!(!poured.has_errors(), "{:?}", said(&poured));
    assert!(poured.molecule.is_some());
    assert!(pour(&shelf, &[]).molecule.is_none(), "others do not");
}

#[test]
fn z_43_a_condition_needs_its_variable_in_any_case() {
    let shelf =
        main_with("[vars]\nname = 'n'\n[[steps]]\nid = 'a'\ntitle = 'A'\ncondition = '{{c}}'\n");
    let none = Values::default();
    let poured = compile(&shelf, "main", Given::Values(&none), Strictness::Lenient).unwrap();
    assert_eq!(
        said(&poured),
        [
            "FORMULA.MISSING_VAR [{{c}}] the formula has no variable `c`; declare it under `vars`, or pass --var c=VALUE"
        ]
    );
}

#[test]
fn z_43_a_required_variable_with_a_default_is_not_missing() {
    let with = |declaration: &str| {
        main_with(&format!(
            "[vars.v]\nrequired = true\n{declaration}\n[[steps]]\nid = 'a'\ntitle = 'A {{{{v}}}}'\n"
        ))
    };
    assert_eq!(molecule(&with("default = 'x'")).steps[0].title, "A x");
    let empty = pour(&with("default = ''"), &[]);
    assert!(
        said(&empty)[0].contains("is required and has no value"),
        "an empty default is none"
    );
}

#[test]
fn z_43_a_step_keeps_its_name_beside_its_title() {
    let shelf = main_with(
        "[vars]\nbug = 'B'\n[[steps]]\nid = 'a'\nname = 'red-tests {{bug}}'\ntitle = 'Write tests for {{bug}}'\n\
         [[steps]]\nid = 'b'\nname = 'only'\n\
         [[steps]]\nid = 'c'\nname = 'n'\ntitle = 'C'\nmetadata = { name = 'own' }\n",
    );
    let steps = molecule(&shelf).steps;
    let seen: Vec<(&str, Option<&str>)> = (steps.iter())
        .map(|step| {
            (
                step.title.as_str(),
                step.metadata.get("name").and_then(|name| name.as_str()),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("Write tests for B", Some("red-tests B")),
            ("only", None),
            ("C", Some("own"))
        ]
    );
}

#[test]
fn z_43_what_cannot_be_poured_is_told_so_by_its_kind() {
    for (kind, rest) in [
        ("convoy", "[[legs]]\nid = 'x'\n"),
        ("expansion", ""),
        ("aspect", ""),
        ("patrol", ""),
    ] {
        let shelf = main_with(&format!("type = '{kind}'\n{rest}"));
        let said = said(&pour(&shelf, &[]));
        let wanted =
            format!("FORMULA.POUR_FAILED [\"main\"] a formula of type {kind} cannot be poured;");
        assert!(said.len() == 1 && said[0].starts_with(&wanted), "{said:?}");
    }
    let convoy = main_with("type = 'convoy'\n[[legs]]\nid = 'x'\n");
    let looked_at = compile(&convoy, "main", Given::NotYet, Strictness::Strict).unwrap();
    assert!(
        !looked_at.has_errors(),
        "its fields are for others to know: {:?}",
        said(&looked_at)
    );
}

#[test]
fn a_formula_can_be_looked_at_without_values() {
    let shelf = Texts::default().json("main", SPRINT);
    let compilation = compile(&shelf, "main", Given::NotYet, Strictness::Strict).unwrap();
    assert!(said(&compilation).is_empty(), "{:?}", said(&compilation));
    assert_eq!(
        compilation.molecule.as_ref().unwrap().steps[0].title,
        "{{sprint_title}}"
    );
    assert_eq!(compilation.variables().len(), 5);
}

#[test]
fn f_16_what_is_offered_need_not_be_declared() {
    let mut values = Values::parse(["extra=1"]).unwrap();
    values.offer("extra", "2");
    let shelf = main_with("[[steps]]\nid = 'a'\ntitle = '{{extra}}'\n");
    let compilation = compile(&shelf, "main", Given::Offered(&values), Strictness::Strict).unwrap();
    assert!(said(&compilation).is_empty());
    assert_eq!(compilation.molecule.unwrap().steps[0].title, "1");
}

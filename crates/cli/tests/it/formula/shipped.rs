//! The formulas that come with the program (contracts §9.14, F-15).

use std::collections::BTreeMap;

use beads_ralph_core::formula::{Compilation, Given, Molecule, Strictness, Values, compile};
use beads_ralph_runtime::formulas::{BUILT_IN, Formulas};
use camino::Utf8Path;

use super::own;
use crate::env::{TestEnv, strings};

/// Those of §9.14 with the variables and the steps that they must have, in order.
const STAGES: [(&str, &str, &[&str]); 3] = [
    (
        "implement-feature",
        "feature",
        &[
            "preflight",
            "red-tests",
            "green-loop",
            "quality-sweep",
            "verify-ac",
            "create-pr",
            "review-cycle",
            "merge-or-handoff",
        ],
    ),
    (
        "fix-bug",
        "bug",
        &[
            "preflight",
            "diagnose",
            "red-tests",
            "green-loop",
            "quality-sweep",
            "verify-ac",
            "create-pr",
            "review-cycle",
            "merge-or-handoff",
        ],
    ),
    (
        "docs-only",
        "topic",
        &[
            "preflight",
            "apply-edits",
            "review",
            "verify-ac",
            "create-pr",
            "review-cycle",
            "merge-or-handoff",
        ],
    ),
];

fn poured(name: &str, values: &[&str]) -> Molecule {
    let values = Values::parse(values.iter().copied()).unwrap();
    let formulas = Formulas::of(None, None);
    let compilation = compile(&formulas, name, Given::Values(&values), Strictness::Strict).unwrap();
    assert!(
        compilation.findings.is_empty(),
        "{:?}",
        compilation.findings
    );
    compilation.molecule.unwrap()
}

#[test]
fn i_8_the_shipped_formulas_have_their_stages_in_order() {
    for (name, variable, stages) in STAGES {
        let value = format!("{variable}=Rate limits");
        let molecule = poured(name, &[&value, "bead-id=proj-42"]);
        let ids: Vec<&str> = molecule.steps.iter().map(|step| step.id.as_str()).collect();
        assert_eq!(ids, stages, "{name}");
        for (at, step) in molecule.steps.iter().enumerate() {
            let needs: Vec<&str> = step.needs.iter().map(|need| need.step.as_str()).collect();
            let before = at.checked_sub(1).map(|before| stages[before]);
            assert_eq!(
                needs,
                Vec::from_iter(before),
                "{name}: each needs the previous one"
            );
            assert_eq!(step.issue_type, "task");
            for word in [
                "`needs_human`",
                "`discovered_work`",
                "Report in the YAML file",
            ] {
                assert!(
                    step.description.contains(word),
                    "{name} {}: {word}",
                    step.id
                );
            }
            assert!(!step.description.contains("{{"), "{name} {}", step.id);
        }
        assert!(molecule.steps[0].title.contains("Rate limits"));
    }
}

#[test]
fn i_12_preflight_makes_the_worktree_in_the_root_and_labels_the_molecule() {
    for (name, variable, folder) in [
        ("implement-feature", "feature", "feat"),
        ("fix-bug", "bug", "fix"),
        ("docs-only", "topic", "docs"),
    ] {
        let value = format!("{variable}=x");
        let molecule = poured(name, &[&value, "bead-id=proj-42"]);
        let text = &molecule.steps[0].description;
        let path = format!("`.claude/worktrees/{folder}/proj-42-<slug>`");
        assert!(
            text.contains(&path) && text.contains("`worktree-path-<path>`"),
            "{text}"
        );
        assert!(
            text.starts_with("You are in the root of the repository"),
            "{text}"
        );
        let last = &molecule.steps.last().unwrap().description;
        assert!(
            last.starts_with("You are in the root of the repository"),
            "{last}"
        );
    }
}

#[test]
fn w_6_failing_tests_are_the_success_of_red_tests() {
    for (name, variable) in [("implement-feature", "feature"), ("fix-bug", "bug")] {
        let value = format!("{variable}=x");
        let molecule = poured(name, &[&value, "bead-id=proj-42"]);
        let red = molecule
            .steps
            .iter()
            .find(|step| step.id == "red-tests")
            .unwrap();
        assert!(
            red.description
                .contains("Failing tests are the success of this step")
        );
        assert!(red.description.contains("`red-tests-passed-unexpectedly`"));
    }
    let molecule = poured("fix-bug", &["bug=x", "bead-id=proj-42"]);
    assert!(
        molecule.steps[1]
            .description
            .contains("`root_cause_note`, which must not be empty")
    );
}

#[test]
fn f_15_the_sprint_formula_has_the_variables_of_the_first_specification() {
    let molecule = poured(
        "sprint-work-pattern",
        &[
            "sprint_id=1.2a",
            "sprint_title=Rate limits",
            "worktree_path=../w",
            "branch=feature/x",
        ],
    );
    assert_eq!(molecule.steps.len(), 1);
    let work = &molecule.steps[0];
    assert_eq!(
        (work.id.as_str(), work.title.as_str()),
        ("work", "Rate limits")
    );
    assert_eq!(work.labels, ["sprint-1.2a", "stage-work"]);
}

/// Compiles every formula of a directory.
fn compiled(beads: &Utf8Path) -> BTreeMap<String, Compilation> {
    let formulas = Formulas::of(Some(beads), None);
    let (found, troubles) = formulas.list();
    assert!(troubles.is_empty(), "{troubles:?}");
    let compile = |name: String| {
        let compilation = compile(&formulas, &name, Given::NotYet, Strictness::Strict).unwrap();
        (name, compilation)
    };
    found.into_iter().map(|one| compile(one.name)).collect()
}

#[test]
fn everything_that_init_writes_compiles_without_a_finding() {
    let env = TestEnv::new();
    env.run(&["init", "--formulas"]).exits(0);
    let all = compiled(&env.path(".beads"));
    assert_eq!(all.len(), BUILT_IN.len() + 3, "{:?}", all.keys());
    assert_eq!(
        all.len(),
        7,
        "name a new one also where the schema is tested"
    );
    for (name, compilation) in all {
        assert!(
            compilation.findings.is_empty(),
            "{name}: {:?}",
            compilation.findings
        );
        assert!(compilation.molecule.is_some(), "{name}");
    }
    env.run(&["formula", "check"]).exits(0);
}

#[test]
fn init_writes_the_formulas_once_and_over_nothing() {
    let env = TestEnv::new();
    let mine = "formula = 'fix-bug'\n[[steps]]\nid = 'a'\ntitle = 'A'\n";
    env.write(&own("fix-bug.formula.toml"), mine);
    env.write(
        &own("sprint-work-pattern.formula.toml"),
        "mine, in the other language",
    );
    let data = env.run(&["init", "--formulas", "--json"]).exits(0).data();
    let written: Vec<&str> = (strings(&data["formulas_written"]).into_iter())
        .map(|path| Utf8Path::new(path).file_name().unwrap())
        .collect();
    assert_eq!(
        written,
        ["docs-only.formula.toml", "implement-feature.formula.toml"]
    );
    assert_eq!(env.text(&own("fix-bug.formula.toml")), mine);
    assert!(!env.path(&own("sprint-work-pattern.formula.json")).exists());
    let output = env.run(&["init", "--formulas"]).exits(0);
    assert!(
        output.stdout.contains("The formulas were there already"),
        "{}",
        output.stdout
    );
    let output = env.run(&["init"]).exits(0);
    assert!(
        !output.stdout.contains("formulas were there"),
        "{}",
        output.stdout
    );
    let fresh = TestEnv::new();
    let output = fresh.run(&["init", "--formulas"]).exits(0);
    assert!(
        output.stdout.contains(&format!(
            "wrote {}\n",
            fresh.path(&own("docs-only.formula.toml"))
        )),
        "{}",
        output.stdout
    );
}

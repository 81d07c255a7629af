//! Plans to formulas and back.

use proptest::prelude::*;

use super::*;
use crate::bead::Timestamp;
use crate::compile::{
    AgentCatalog, AgentCheck, CompileSettings, FormulaSprints, KnownIds, MergeDetection, build,
};
use crate::formula::{
    Format, FormulaFile, FormulaName, FormulaSource, Given, Pouring, Strictness, compile,
};
use crate::plan::{Filter, parse};

fn beads(text: &str) -> Vec<RalphBead> {
    let agents = AgentCatalog::default();
    let settings = CompileSettings {
        plan_file: "plan.md",
        text: None,
        rig: "r",
        now: Timestamp::parse("2026-01-01T00:00:00Z").unwrap(),
        agents: &agents,
        agent_check: AgentCheck::Off,
        merge_detection: MergeDetection::Both,
        skip_completed: false,
        has_default_check: false,
        require_machine_check: false,
        known_ids: KnownIds::new(),
        formula_sprints: FormulaSprints::Ordinary,
    };
    build(&parse(text), &Filter::default(), &settings)
        .unwrap()
        .beads
}

fn sprint(id: &str, title: &str, model: &str, tasks: &[&str]) -> String {
    let slug = id.replace('.', "-");
    let tasks: Vec<String> = tasks.iter().map(|task| format!("- {task}\n")).collect();
    format!(
        "### Sprint {id}: {title}\n\n**Worktree**: `../wt/{slug}`\n**Branch**: `feature/{slug}-x`\n**Source Branch**: `main`\n\n\
         **Dev Agents**:\n- `dev` ({model}) - do {title}\n\n**QA Agents**:\n- `qa` (haiku) - judge {title}\n\n**Tasks**:\n{}\n\
         **Verifiers**:\n- there: `test -f {id}`\n\n",
        tasks.concat()
    )
}

struct One(FormulaFile);

impl FormulaSource for One {
    fn fetch(&self, _: &FormulaName) -> Result<Option<FormulaFile>, String> {
        Ok(Some(self.0.clone()))
    }

    fn names(&self) -> Vec<String> {
        Vec::new()
    }
}

/// The document of the step that a formula gives with some values.
fn poured(formula: &Value, values: &Values) -> Value {
    let shelf = One(FormulaFile {
        path: "f.formula.json".to_owned(),
        format: Format::Json,
        text: formula.to_string(),
        remark: None,
    });
    let compilation = compile(&shelf, "f", Given::Values(values), Strictness::Strict).unwrap();
    assert!(
        compilation.findings.is_empty(),
        "{:#?}",
        compilation.findings
    );
    let now = Timestamp::parse("2026-01-01T00:00:00Z").unwrap();
    let pouring = Pouring {
        root: "bd-f-001",
        assignee: None,
        labels: &[],
        parent: None,
        is_wisp: false,
        now: &now,
        actor: "me",
    };
    let issues = compilation.molecule.unwrap().issues(&pouring).unwrap();
    assert_eq!(issues.len(), 2);
    let mut document = Value::Object(issues[1].document().clone());
    document["metadata"]
        .as_object_mut()
        .unwrap()
        .shift_remove("stage");
    document["labels"]
        .as_array_mut()
        .unwrap()
        .retain(|label| label != "stage-work");
    comparable(&document)
}

/// Without id, parent and root, and what only a store gives.
fn comparable(document: &Value) -> Value {
    let mut map = document.as_object().unwrap().clone();
    map.retain(|key, value| {
        !matches!(
            key.as_str(),
            "id" | "dependencies"
                | "created_by"
                | "comments"
                | "owner"
                | "external_ref"
                | "closed_at"
        ) && !value.is_null()
            && value.as_str() != Some("")
    });
    let sorted: BTreeMap<String, Value> = map.into_iter().collect();
    serde_json::to_value(sorted).unwrap()
}

fn round_trip(beads: &[RalphBead]) -> Distilled {
    let distilled = distill("f", &beads.iter().collect::<Vec<_>>()).unwrap();
    for bead in beads {
        let values = &distilled.values[&bead.metadata.sprint];
        let wanted = comparable(&bead.to_document(BeadShape::Both));
        assert_eq!(poured(&distilled.formula, values), wanted);
        let mut offered = Values::default();
        super::offered(bead, &mut offered);
        for name in values.names() {
            assert_eq!(
                offered.get(name),
                values.get(name),
                "a plan's sprint can fill {name} itself"
            );
        }
    }
    distilled
}

#[test]
fn f_15_what_differs_becomes_a_variable() {
    let plan = sprint("2.1", "Backend API", "sonnet", &["Write 2.1", "test it"])
        + &sprint("2.2", "Frontend", "opus", &["Write 2.2", "look at it"]);
    let distilled = round_trip(&beads(&plan));
    let vars: Vec<&String> = distilled.formula["vars"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(
        vars[..5],
        [
            "sprint_id",
            "sprint_title",
            "worktree_path",
            "branch",
            "sprint_dashed"
        ]
    );
    assert!(
        vars.iter().any(|name| *name == "dev_model")
            && vars.iter().any(|name| *name == "dev_prompts_2"),
        "{vars:?}"
    );
    let step = &distilled.formula["steps"][0];
    assert_eq!(step["title"], "{{sprint_title}}");
    assert_eq!(
        step["metadata"]["plan_section"],
        "### Sprint {{sprint_id}}: {{sprint_title}}"
    );
    assert_eq!(step["metadata"]["dev_prompts"][0], "Write {{sprint_id}}");
    assert_eq!(
        step["labels"],
        serde_json::json!(["{{phase_label}}", "sprint-{{sprint_dashed}}"])
    );
    assert_eq!(
        distilled.formula["vars"]["dev_model"]["enum"],
        serde_json::json!(["haiku", "sonnet", "opus"])
    );
}

#[test]
fn f_15_one_sprint_is_a_formula_too() {
    let distilled = round_trip(&beads(&sprint("1.1", "Alone", "sonnet", &["do it"])));
    assert_eq!(
        distilled.formula["vars"]["sprint_id"]["pattern"],
        r"^\d+[a-z]*\.\d+[a-z]*$"
    );
}

#[test]
fn a_text_that_looks_like_a_placeholder_is_a_value() {
    let tasks = ["render {{name}} and {{ x }}"];
    let plan = sprint("1.1", "One", "sonnet", &tasks) + &sprint("1.2", "Two", "sonnet", &tasks);
    round_trip(&beads(&plan));
}

#[test]
fn sprints_that_are_not_alike_are_told_apart() {
    let plan =
        sprint("1.1", "One", "sonnet", &["a"]) + &sprint("1.2", "Two", "sonnet", &["a", "b"]);
    let beads = beads(&plan);
    let unlike = distill("f", &[&beads[0], &beads[1]]).unwrap_err();
    assert_eq!(
        unlike.to_string(),
        "sprint 1.2 is not like sprint 1.1: metadata.dev_prompts has another number of items"
    );
}

#[test]
fn three_sprints_that_say_the_same_are_alike() {
    let same =
        |id: &str, title: &str| sprint(id, title, "sonnet", &["Write the tests", "make them pass"]);
    let plan = same("1.1", "One")
        + &same("1.2", "Two")
        + &same("1.3", "Three")
        + &sprint("1.4", "Four", "opus", &["else"]);
    let groups = alike(&beads(&plan));
    assert_eq!(numbers(&groups), [["1.1", "1.2", "1.3"]]);
    assert!(groups[0].is_exact);
    assert!(alike(&beads(&(same("1.1", "One") + &same("1.2", "Two")))).is_empty());
}

fn numbers(groups: &[Alike]) -> Vec<Vec<&str>> {
    let groups = groups.iter().map(|group| group.sprints.iter());
    groups
        .map(|sprints| sprints.map(SprintId::as_str).collect())
        .collect()
}

#[test]
fn z_47_sprints_of_one_shape_with_most_words_in_common_are_alike() {
    let of = |id: &str, title: &str, what: &str, model: &str| {
        let tasks = [
            format!("Write the failing tests for the {what}"),
            format!("Make the tests of the {what} pass"),
        ];
        sprint(id, title, model, &tasks.each_ref().map(String::as_str))
    };
    let plan = of("1.1", "One", "parser", "sonnet")
        + &of("1.2", "Two", "lexer and the scanner", "sonnet")
        + &of("1.3", "Three", "printer", "sonnet")
        + &of("1.4", "Four", "linter", "opus");
    let found = beads(&plan);
    let groups = alike(&found);
    assert_eq!(
        numbers(&groups),
        [["1.1", "1.2", "1.3"]],
        "the fourth has another model"
    );
    assert!(!groups[0].is_exact);
    let members: Vec<&RalphBead> = found.iter().take(3).collect();
    assert!(distill("f", &members).is_ok(), "the formula can be made");
}

#[test]
fn z_47_sprints_that_only_begin_alike_are_not_told_of() {
    let plan = sprint(
        "1.1",
        "One",
        "sonnet",
        &["Write a parser", "Test all of it"],
    ) + &sprint(
        "1.2",
        "Two",
        "sonnet",
        &["Write down the results", "Test with people"],
    ) + &sprint(
        "1.3",
        "Three",
        "sonnet",
        &["Write less code", "Test Windows"],
    );
    assert!(alike(&beads(&plan)).is_empty());
    let one_task = |id: &str, title: &str, what: &str| {
        let task = format!("Write the {what}");
        sprint(id, title, "sonnet", &[task.as_str()])
    };
    let plan =
        one_task("1.1", "One", "a") + &one_task("1.2", "Two", "b") + &one_task("1.3", "Three", "c");
    assert!(
        alike(&beads(&plan)).is_empty(),
        "one task says too little about a shape"
    );
}

proptest! {
    // Each case compiles plans over and over.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, ..ProptestConfig::default() })]

    #[test]
    fn z_27_a_plan_becomes_a_formula_that_gives_its_beads_back(
        titles in proptest::collection::vec("[A-Za-z][A-Za-z0-9 .{}-]{0,12}[a-z]", 1..6),
        tasks in proptest::collection::vec("[a-zA-Z0-9][ -~]{0,20}[a-z]", 1..4),
        own in proptest::collection::vec("[a-z]{1,8}", 6),
        models in proptest::collection::vec(0..3_usize, 6),
    ) {
        let text: String = titles.iter().enumerate().map(|(at, title)| {
            let mut tasks: Vec<String> = tasks.clone();
            tasks.push(format!("{} of {title}", own[at]));
            let tasks: Vec<&str> = tasks.iter().map(String::as_str).collect();
            sprint(&format!("3.{}", at + 1), title, ["haiku", "sonnet", "opus"][models[at]], &tasks)
        }).collect();
        let plan = parse(&text);
        prop_assume!(!crate::diag::has_errors(&plan.problems));
        round_trip(&beads(&text));
    }
}

//! A feature, through every stage of `implement-feature`, with agents that are files of the repository.

use serde_json::{Value, json};

use super::ground::{
    GREEN, Ground, RED, TESTS, Terms, commits, has_label, notes, nothing, report, reports, worker,
};

const TITLE: &str = "Add two numbers";
const BRANCH: &str = "feat/proj-1-add-two-numbers";

/// Who does which stage.
const WORKERS: [(&str, &str); 5] = [
    ("red-tests", "tdd-red-team"),
    ("green-loop", "tdd-green-team"),
    ("quality-sweep", "general-purpose"),
    ("verify-ac", "general-purpose"),
    ("review-cycle", "general-purpose"),
];

/// What the file of an agent tells it, and no other agent.
fn told_by(name: &str) -> String {
    format!("You are the {name} of this house.")
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn i_19_a_feature_goes_through_every_stage_with_the_agents_of_the_repository() {
    let mut checked = report("complete", &json!({}));
    checked["discovered_work"] =
        json!([{"title": "Numbers may be words", "type": "task", "priority": 3, "detail": "Two."}]);
    let done = [
        commits(RED, 1),
        commits(GREEN, 0),
        nothing(),
        reports(TESTS, &checked),
        nothing(),
    ];
    let rules = WORKERS.iter().zip(done);
    let rules: Vec<Value> = rules
        .map(|((stage, _), turns)| worker(stage, TITLE, &[turns]))
        .collect();
    let terms = Terms {
        has_agents: true,
        ..Terms::default()
    };
    let ground = Ground::with(&rules, &terms);
    own_agents(&ground);
    let criteria = "[m] it adds whatever it is given\n[h] it is pretty";
    ground.create("feature", TITLE, "", criteria);
    for stage in ["preflight", "red-tests", "green-loop", "quality-sweep"] {
        ground.completes(stage);
    }
    let checked = ground.completes("verify-ac");
    discovered(&ground, &checked);
    for stage in ["create-pr", "review-cycle", "merge-or-handoff"] {
        ground.completes(stage);
    }
    for (stage, name) in WORKERS {
        let asked = &ground.asked(stage)[0];
        let told = told_by(name);
        assert!(asked.system.contains(&told), "{stage}: {}", asked.system);
        assert!(!asked.prompt.contains(&told), "{stage}: {}", asked.prompt);
    }
    let tests = &ground.asked("red-tests")[0].prompt;
    assert!(tests.contains("it adds whatever it is given"), "{tests}");
    assert!(
        !tests.contains("it is pretty"),
        "that is for people: {tests}"
    );
    let source = ground.source();
    assert!(has_label(&source, "merge-ready"), "{source:#}");
    assert!(notes(&source).contains("to review: it is pretty"));
    let mended = ground.real.git(&["show", &format!("{BRANCH}:sum.sh")]);
    assert_eq!(mended, "echo $(($1 + $2))");
}

/// Makes the agents that were written say who they are.
#[track_caller]
fn own_agents(ground: &Ground) {
    for name in ["tdd-red-team", "tdd-green-team", "general-purpose"] {
        let path = format!(".claude/agents/{name}.md");
        let text = ground.real.text(&path);
        ground
            .real
            .write(&path, &format!("{text}\n{}\n", told_by(name)));
    }
    ground
        .real
        .git(&["commit", "--all", "--quiet", "--message=our agents"]);
}

/// What was found on the way became a bead of its own.
#[track_caller]
fn discovered(ground: &Ground, told: &Value) {
    let id = told["discovered"][0]
        .as_str()
        .unwrap_or_else(|| panic!("{told:#}"));
    let found = ground.bead(id);
    assert_eq!(found["title"], "Numbers may be words");
    let from = &found["dependencies"][0];
    assert_eq!(from["depends_on_id"], "proj-1", "{found:#}");
    assert_eq!(from["type"], "discovered-from", "{found:#}");
}

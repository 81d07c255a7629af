//! Workers that need a person: an answer lets the stage be done again, and acceptance goes past it.

use serde_json::json;

use super::ground::{GREEN, Ground, RED, commits, has_label, notes, report, reports, worker};

const TITLE: &str = "Sum is wrong";

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn z_36_a_person_answers_and_the_stage_is_done_again_or_gone_past() {
    let mut question = report("needs_human", &json!({}));
    question["escalations"] =
        json!([{"reason": "unclear", "detail": "Is the sum of nothing nothing?"}]);
    let mut diagnosis = report("complete", &json!({}));
    diagnosis["root_cause_note"] = json!("one is added too many in sum.sh");
    let diagnoses = [reports("true", &question), reports("true", &diagnosis)];
    // The tests pass, although they should not.
    let mut passed = question.clone();
    passed["escalations"] =
        json!([{"reason": "red-tests-passed-unexpectedly", "detail": "All of them."}]);
    passed["commits"] = json!(["$(git rev-parse HEAD)"]);
    let red = format!("{RED} && git commit --all --quiet --message=Red");
    let ground = Ground::new(&[
        worker("diagnose", TITLE, &diagnoses),
        worker("red-tests", TITLE, &[reports(&red, &passed)]),
        worker("green-loop", TITLE, &[commits(GREEN, 0)]),
    ]);
    ground.create("bug", TITLE, "", "");
    ground.completes("preflight");

    let told = ground.needs_human("diagnose");
    let message = told["message"].as_str().unwrap();
    assert!(
        message.contains("Is the sum of nothing nothing?"),
        "{message}"
    );
    ground.resolve(&["--answer", "It is zero."]);
    let again = ground.completes("diagnose");
    assert_eq!(again["step"], told["step"]);
    let asked = ground.asked("diagnose");
    assert_ne!(asked[0].session, asked[2].session);
    assert!(!asked[0].prompt.contains("It is zero."));
    assert!(
        asked[2].prompt.contains("It is zero."),
        "{}",
        asked[2].prompt
    );

    let told = ground.needs_human("red-tests");
    ground.resolve(&["--accept", "--answer", "They are right."]);
    let step = ground.bead(told["step"].as_str().unwrap());
    assert_eq!(step["status"], "closed");
    assert!(!has_label(&step, "human"), "{step:#}");
    assert!(notes(&step).contains("They are right."), "{step:#}");
    ground.completes("green-loop");
    assert_eq!(ground.asked("red-tests").len(), 2, "it is not done again");
}

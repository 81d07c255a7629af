//! Documents, through every stage of `docs-only`, written by the real `codex`.

use beads_ralph_testkit::scripted_model::Protocol;
use serde_json::json;

use super::ground::{Ground, Terms, has_label, nothing, report, reports, worker};

const TITLE: &str = "Say how to add";
const BRANCH: &str = "docs/proj-1-say-how-to-add";

#[test]
#[ignore = "needs the real codex: scripts/real-tools codex"]
fn i_19_documents_go_through_every_stage_with_another_agent() {
    let mut edited = report("complete", &json!({}));
    edited["files_changed"] = json!(["README.md"]);
    edited["commit_sha"] = json!("$(git rev-parse HEAD)");
    edited["summary"] = json!("It says how to add.");
    let edit = "echo 'sh sum.sh 2 3' >README.md && git add README.md && git commit --quiet --message='Say it'";
    let rules = [
        worker("apply-edits", TITLE, &[reports(edit, &edited)]),
        worker("review", TITLE, &[nothing()]),
        worker("review-cycle", TITLE, &[nothing()]),
    ];
    let terms = Terms {
        agent: "codex",
        ..Terms::default()
    };
    let ground = Ground::with(&rules, &terms);
    ground.create("task", TITLE, "formula-docs-only", "");
    for stage in [
        "preflight",
        "apply-edits",
        "review",
        "verify-ac",
        "create-pr",
        "review-cycle",
        "merge-or-handoff",
    ] {
        let told = ground.completes(stage);
        assert_eq!(told["mode"], "docs-only");
        if stage == "apply-edits" {
            assert_eq!(told["worker"], "docs-edits-team", "{told:#}");
        }
    }
    let mut asked = ground.real.model().asked().into_iter();
    assert!(asked.all(|asked| asked.protocol == Protocol::Responses));
    assert!(has_label(&ground.source(), "merge-ready"));
    let written = ground.real.git(&["show", &format!("{BRANCH}:README.md")]);
    assert_eq!(written, "sh sum.sh 2 3");
}

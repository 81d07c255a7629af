//! `plan diff`: what would change, in words and for programs, and nothing changes.

use serde_json::json;

use super::{applied, differences, events, export, plan, sprint, unapplied};
use crate::env::keys;
use crate::store::data;

#[test]
fn z_10_the_picture_says_what_would_happen_to_whom() {
    let env = applied(
        &(sprint("1.1", "One", "**Labels**: red\n")
            + &plan(&[("1.2", "Two"), ("1.3", "Three"), ("1.5", "Five")])),
    );
    data(&env, &["claim", "bd-1-1-one"]);
    env.command(&["import", "-"])
        .stdin(r#"{"id":"bd-2-1-new","title":"h"}"#)
        .run()
        .exits(0);
    let edited = sprint("1.1", "Uno", "**Labels**: blue\n")
        + &sprint("1.2", "Two", "**Labels**: green\n")
        + &plan(&[("1.3", "Three"), ("1.4", "Four"), ("2.1", "New")]);
    env.write("plan.md", edited);
    let (log, before) = (events(&env), export(&env));
    let said = env.run(&["plan", "diff", "plan.md"]).exits(0);
    let expected = "\
! bd-1-1-one  sprint 1.1: refused, because the bead is claimed
    title: \"One\" → \"Uno\"
    metadata.team_name: \"sprint-1-1-one\" → \"sprint-1-1-uno\"
    metadata.plan_section: \"### Sprint 1.1: One\" → \"### Sprint 1.1: Uno\"
    metadata.scrum_master_agent.context: \"Sprint 1.1 - One\" → \"Sprint 1.1 - Uno\"
    label - red
    label + blue
";
    assert!(said.stdout.starts_with(expected), "{said:#?}");
    for line in [
        "~ bd-1-2-two  sprint 1.2: changed\n    label + green\n",
        "+ bd-1-4-four  sprint 1.4: new\n",
        "! bd-2-1-new  sprint 2.1: the id belongs to no sprint: it was not made from a plan\n",
        "- bd-1-5-five  sprint 1.5: no longer in the plan; the bead stays open; close it if it is no longer needed, a molecule with `mol squash`\n",
    ] {
        assert!(said.stdout.contains(line), "{line}: {}", said.stdout);
    }
    let summary = "plan.md: 1 new, 1 changed, 1 refused, 1 no longer in the plan, 1 in conflict, 1 unchanged\n";
    let advice = said.stderr.strip_prefix(summary);
    assert!(
        advice.is_some_and(|advice| advice.contains("then apply again")),
        "{said:#?}"
    );
    assert_eq!((events(&env), export(&env)), (log, before));
}

#[test]
fn z_20_programs_get_the_same() {
    let env = applied(&plan(&[("1.1", "One"), ("1.2", "Two")]));
    env.write(
        "plan.md",
        plan(&[("1.1", "Uno"), ("1.2", "Two"), ("1.3", "Three")]),
    );
    let found = data(&env, &["plan", "diff", "plan.md"]);
    assert_eq!(keys(&found), ["differences", "counts", "unchanged"]);
    assert_eq!(
        differences(&found),
        ["changed bd-1-1-one", "new bd-1-3-three"]
    );
    let changed = &found["differences"][0];
    assert_eq!(
        keys(changed),
        ["id", "sprint", "kind", "is_safe", "refused", "details"]
    );
    assert_eq!(
        changed["details"][0],
        json!({"field": "title", "before": "One", "after": "Uno"})
    );
    assert_eq!(
        found["counts"],
        json!({"new": 1, "changed": 1, "refused": 0, "removed": 0, "conflicts": 0, "unchanged": 1})
    );
    let applied = data(&env, &["plan", "apply", "plan.md"]);
    assert_eq!(
        applied["differences"], found["differences"],
        "what was announced was done"
    );
}

#[test]
fn z_10_a_plan_that_was_never_applied_is_all_new() {
    let env = unapplied(&plan(&[("1.1", "One"), ("1.2", "Two")]));
    let found = data(&env, &["plan", "diff", "plan.md"]);
    assert_eq!(differences(&found), ["new bd-1-1-one", "new bd-1-2-two"]);
    assert_eq!(export(&env), "");
}

#[test]
fn z_10_odd_words_of_a_plan_cannot_steer_the_terminal() {
    let env = applied(&plan(&[("1.1", "One")]));
    env.write("plan.md", plan(&[("1.1", "One \u{1b}[31m\u{202e}red")]));
    let said = env.run(&["plan", "diff", "plan.md"]);
    assert!(
        !said.stdout.contains('\u{1b}') && !said.stderr.contains('\u{1b}'),
        "{said:#?}"
    );
    assert!(!said.stdout.contains('\u{202e}'), "{said:#?}");
}

//! Several processes at once, and plans that are large (NFR-2).

use std::collections::BTreeMap;

use beads_ralph_testkit::generated_plan;
use serde_json::Value;

use super::{applied, apply, differences, events, export, plan, unapplied};
use crate::env::{Output, TestEnv, strings};
use crate::store::data;

const AT_ONCE: usize = 6;

/// Runs commands at the same time, to their ends.
fn at_once(env: &TestEnv, commands: &[Vec<String>]) -> Vec<Output> {
    let spawn = |args: &Vec<String>| {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        (env.command(&args).spawn(), args.join(" "))
    };
    let children: Vec<_> = commands.iter().map(spawn).collect();
    let ends = children
        .into_iter()
        .map(|(child, said)| Output::of(child, said));
    ends.collect()
}

fn words(args: &[&str]) -> Vec<String> {
    args.iter().map(|word| (*word).to_owned()).collect()
}

/// How often each bead was created.
fn creations(env: &TestEnv) -> BTreeMap<String, usize> {
    let mut creations = BTreeMap::new();
    for event in events(env).as_array().unwrap() {
        if event["kind"] == "created" {
            *creations
                .entry(event["id"].as_str().unwrap().to_owned())
                .or_default() += 1;
        }
    }
    creations
}

/// Sprints that do not wait for each other.
fn side_by_side(title: &str) -> String {
    let ids: Vec<String> = ('a'..='l').map(|letter| format!("1.1{letter}")).collect();
    let sprints: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), title)).collect();
    plan(&sprints)
}

#[test]
fn nfr_2_one_plan_applied_by_many_at_once_is_there_once() {
    for (more, is_shared) in [
        ("--json", true),
        ("--check-existing", true),
        ("--insert-only", false),
    ] {
        let env = unapplied(&generated_plan(60));
        let args = [
            "plan",
            "apply",
            "plan.md",
            "--no-agent-check",
            "--json",
            more,
        ];
        let args = if more == "--json" {
            &args[..5]
        } else {
            &args[..]
        };
        let ends = at_once(&env, &vec![words(args); AT_ONCE]);
        let (done, refused): (Vec<&Output>, Vec<&Output>) =
            ends.iter().partition(|end| end.code == Some(0));
        let n_created = |end: &&Output| end.data()["beads_created"].as_u64().unwrap();
        assert_eq!(done.iter().map(n_created).sum::<u64>(), 60);
        assert_eq!(done.len(), if is_shared { AT_ONCE } else { 1 }, "{ends:#?}");
        for end in refused {
            assert_eq!(end.error_code(), "DEPENDENCY.DUPLICATE_ID");
        }
        let created = creations(&env);
        assert_eq!(created.len(), 60);
        assert!(created.values().all(|n| *n == 1), "{created:?}");
        assert_eq!(export(&env).lines().count(), 60);
        env.run(&["doctor"]).exits(0);
    }
}

#[test]
fn nfr_2_a_plan_is_applied_beside_claims() {
    let env = applied(&side_by_side("Before"));
    env.write("plan.md", side_by_side("After"));
    let created = creations(&env);
    let apply_it = words(&["plan", "apply", "plan.md", "--json"]);
    let claims = created.keys().map(|id| words(&["claim", id, "--json"]));
    let mut commands: Vec<Vec<String>> = claims.collect();
    commands.insert(0, apply_it.clone());
    commands.insert(5, apply_it.clone());
    commands.push(apply_it);
    for end in at_once(&env, &commands) {
        assert_eq!(end.code, Some(0), "{end:#?}");
    }
    // Each bead is held, and was changed before that or not at all.
    for bead in data(&env, &["list"])["beads"].as_array().unwrap() {
        assert_eq!(bead["status"], "in_progress");
        let log = data(&env, &["log", bead["id"].as_str().unwrap()]);
        let kinds: Vec<&Value> = log["events"]
            .as_array()
            .unwrap()
            .iter()
            .map(|e| &e["kind"])
            .collect();
        let expected: &[&str] = match bead["title"].as_str().unwrap() {
            "After" => &["created", "updated", "claimed"],
            _ => &["created", "claimed"],
        };
        assert_eq!(kinds, expected);
    }
    let left = apply(&env, "plan.md");
    assert!(
        differences(&left)
            .iter()
            .all(|left| left.starts_with("refused (claimed)")),
        "{left}"
    );
    assert_eq!(creations(&env), created);
    env.run(&["doctor"]).exits(0);
}

#[test]
fn nfr_2_two_plans_applied_at_once_do_not_mind_each_other() {
    let env = unapplied("");
    let mut commands = Vec::new();
    for phase in 1..=AT_ONCE {
        let ids: Vec<String> = (1..=5).map(|n| format!("{phase}.{n}")).collect();
        let sprints: Vec<(&str, &str)> = ids.iter().map(|id| (id.as_str(), "S")).collect();
        let file = format!("plan-{phase}.md");
        env.write(&file, plan(&sprints));
        commands.push(words(&["plan", "apply", &file, "--json", "--annotate"]));
    }
    for end in at_once(&env, &commands) {
        assert_eq!(end.exits(0).data()["plan_file_updated"], true);
    }
    assert_eq!(export(&env).lines().count(), 5 * AT_ONCE);
}

#[test]
fn a_8_one_plan_annotated_by_many_at_once_is_annotated_once() {
    let text = plan(&[("1.1", "One"), ("1.2", "Two"), ("1.3", "Three")]);
    let env = unapplied(&text);
    let args = words(&["plan", "apply", "plan.md", "--annotate", "--json"]);
    for end in at_once(&env, &vec![args; AT_ONCE]) {
        // Whoever comes second to the file is told so, and what it did to the store stands.
        if end.code != Some(0) {
            assert_eq!(end.error_code(), "PLAN.CONCURRENT_EDIT");
            assert!(
                end.error()["details"]
                    .as_str()
                    .unwrap()
                    .contains("the plan was applied")
            );
        }
    }
    let annotated = env.text("plan.md");
    assert_eq!(annotated.matches("<!-- beads-ralph: ").count(), 3);
    let lines = annotated.lines().filter(|line| !line.starts_with("<!--"));
    assert!(lines.eq(text.lines()));
    assert_eq!(export(&env).lines().count(), 3);
}

#[test]
fn e_10_a_large_plan_is_applied_and_found_again() {
    const N: usize = 2_000;
    let env = unapplied(&generated_plan(N));
    let args = ["plan", "apply", "plan.md", "--no-agent-check"];
    let answer = data(&env, &args);
    assert_eq!(answer["beads_created"], N);
    assert_eq!(strings(&answer["bead_ids"]).len(), N);
    let again = data(&env, &args);
    assert_eq!(again["counts"]["unchanged"], N);
    assert_eq!(differences(&again), [""; 0]);
}

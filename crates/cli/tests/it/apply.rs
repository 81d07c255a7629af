//! Plans and the store: `plan apply`, `plan diff` and the seeds' own spelling of it.

mod diff;
mod formula;
mod identity;
mod laws;
mod mason;
mod minimum;
mod order;
mod rewritten;
mod source;
mod together;

use serde_json::Value;

use crate::env::{Output, TestEnv};
use crate::store::{data, with_json};

/// A sprint that is complete and without a finding.
pub(crate) fn sprint(id: &str, title: &str, more: &str) -> String {
    let dashed = id.replace('.', "-");
    format!(
        "### Sprint {id}: {title}\n\n\
         **Worktree**: `../wt/{dashed}`\n**Branch**: `feature/{dashed}`\n**Source Branch**: `main`\n{more}\n\
         **Dev Agents**:\n- `claude` (sonnet) - do it\n\n\
         **QA Agents**:\n- `claude` (haiku) - judge it\n\n\
         **Tasks**:\n- work on {id}\n\n\
         **Verifiers**:\n- check: `true`\n\n"
    )
}

/// A plan of sprints with a number and a title each.
pub(crate) fn plan(sprints: &[(&str, &str)]) -> String {
    let sprints = sprints.iter().map(|(id, title)| sprint(id, title, ""));
    sprints.collect()
}

/// A repository with a store and a plan that is not applied yet.
#[track_caller]
pub(crate) fn unapplied(text: &str) -> TestEnv {
    let env = TestEnv::new();
    env.make_directory(".git");
    env.run(&["init"]).exits(0);
    env.write("plan.md", text);
    env
}

/// A repository with a store that a plan was applied to.
#[track_caller]
pub(crate) fn applied(text: &str) -> TestEnv {
    let env = unapplied(text);
    apply(&env, "plan.md");
    env
}

/// Applies a plan, which must succeed.
#[track_caller]
pub(crate) fn apply(env: &TestEnv, plan: &str) -> Value {
    data(env, &["plan", "apply", plan])
}

/// Applies a plan and gives the code that it is refused with; nothing may change.
#[track_caller]
pub(crate) fn refused(env: &TestEnv, args: &[&str]) -> String {
    let before = events(env);
    let output = with_json(env, args);
    assert_ne!(output.code, Some(0), "{output:#?}");
    assert_eq!(events(env), before, "{output:#?}");
    output.error_code()
}

/// The whole history of the store: two are equal when nothing happened in between.
#[track_caller]
pub(crate) fn events(env: &TestEnv) -> Value {
    data(env, &["log", "--limit", "0"])["events"].take()
}

/// Everything that the store holds.
#[track_caller]
pub(crate) fn export(env: &TestEnv) -> String {
    env.run(&["export"]).exits(0).stdout
}

/// The differences of an answer, each as `kind id`.
#[track_caller]
pub(crate) fn differences(data: &Value) -> Vec<String> {
    let differences = data["differences"].as_array().expect("differences").iter();
    differences
        .map(|difference| {
            let text = |key: &str| difference[key].as_str().unwrap_or_default().to_owned();
            let kind = match difference["refused"].as_str() {
                Some(why) => format!("refused ({why})"),
                None => text("kind"),
            };
            format!("{kind} {}", text("id"))
        })
        .collect()
}

/// The targets of a bead's edges, as the store has them.
#[track_caller]
pub(crate) fn waits_for(env: &TestEnv, id: &str) -> Vec<String> {
    let bead = crate::store::shown(env, id);
    let edges = bead["dependencies"].as_array().expect("edges").iter();
    let target = |edge: &Value| edge["depends_on_id"].as_str().expect("a target").to_owned();
    edges.map(target).collect()
}

/// The answer inside the fence of the seeds' spelling (E-1).
#[track_caller]
pub(crate) fn unfenced(output: &Output) -> Value {
    let inside = output.stdout.strip_prefix("```json\n");
    let inside = inside.and_then(|text| text.strip_suffix("\n```\n"));
    let inside = inside.unwrap_or_else(|| panic!("not fenced: {output:#?}"));
    serde_json::from_str(inside).unwrap()
}

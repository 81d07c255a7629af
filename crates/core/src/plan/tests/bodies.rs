//! What is read from a section's body.

use crate::bead::{OnFailure, Pattern};
use crate::plan::fixture::{check, complete_plan, sprint};
use crate::plan::{Plan, Sprint, SprintKind, parse};

fn only(text: &str) -> Sprint {
    let plan = parse(text);
    assert_eq!(plan.sprints.len(), 1, "{:?}", plan.problems);
    plan.sprints.into_iter().next().unwrap()
}

fn tasks(list: &str) -> Vec<String> {
    let sprint = only(&format!("### Sprint 1.1: A\n**Tasks**:\n{list}"));
    sprint
        .body()
        .tasks
        .iter()
        .map(|task| task.value.clone())
        .collect()
}

fn ids(plan: &Plan) -> Vec<&str> {
    plan.unique()
        .map(|sprint| sprint.id.value.as_str())
        .collect()
}

#[test]
fn p_1_example_1_a_heading_with_crlf() {
    let text = "### Sprint 1.2a: UI (Parallel)\r\n";
    let sprint = only(text);
    assert_eq!(
        (sprint.id.value.as_str(), sprint.title.value.as_str()),
        ("1.2a", "UI (Parallel)")
    );
    assert_eq!(
        sprint.heading.span.slice(text),
        "### Sprint 1.2a: UI (Parallel)"
    );
}

#[test]
fn p_4_titles_are_verbatim() {
    assert_eq!(
        only("### Sprint 1.1:  `A` — ü ✅ \n").title.value,
        "`A` — ü ✅"
    );
}

#[test]
fn x_1_a_byte_order_mark_is_no_content() {
    assert_eq!(only("\u{feff}### Sprint 1.1: A\n").line, 1);
}

#[test]
fn p_5_example_2_headings_in_fences_do_not_count() {
    let plan = parse(
        "### Sprint 1.1: A\n```markdown\n### Sprint 1.2: B\n```\n<!--\n### Sprint 1.3: C\n-->\n",
    );
    assert_eq!(ids(&plan), ["1.1"]);
}

#[test]
fn p_9_document_order_is_kept_and_p_25_line_ends_do_not_matter() {
    let plan = parse("### Sprint 2.1: B\r\n### Sprint 1.1: A\n### Sprint 1.2: C\r\n");
    assert_eq!(ids(&plan), ["2.1", "1.1", "1.2"]);
    let lf = complete_plan("");
    let (lf, crlf) = (parse(&lf), parse(&lf.replace('\n', "\r\n")));
    let values = |plan: &Plan| {
        let body = &plan.sprints[0].body();
        let tasks: Vec<_> = body.tasks.iter().map(|task| task.value.clone()).collect();
        (
            body.worktree.as_ref().unwrap().value.clone(),
            tasks,
            body.qa_agents[0].text.clone(),
        )
    };
    assert_eq!(values(&lf), values(&crlf));
}

#[test]
fn p_10_a_section_ends_at_the_next_heading_of_level_one_to_three() {
    let text = "### Sprint 1.1: A\n**Tasks**:\n- a\n#### Sub\n- not a task\n**Branch**: `b`\n## Next\n- [ ] leak\n**Worktree**: `w`\n";
    let sprint = only(text);
    assert_eq!(sprint.body().tasks.len(), 1);
    assert!(sprint.body().branch.is_some() && sprint.body().worktree.is_none());
    assert!(sprint.section.slice(text).ends_with("**Branch**: `b`\n"));
}

#[test]
fn p_12_example_3_a_note_is_never_part_of_the_value() {
    let value = |line: &str| {
        only(&format!("### Sprint 1.1: A\n{line}\n"))
            .body()
            .source_branch
            .clone()
            .map(|v| v.value)
    };
    assert_eq!(
        value("**Source Branch**: `develop` (after 1.1 merged)").as_deref(),
        Some("develop")
    );
    assert_eq!(
        value("**Source Branch**: develop (after 1.1 merged)").as_deref(),
        Some("develop")
    );
    assert_eq!(
        value("**source branch:** develop").as_deref(),
        Some("develop")
    );
    assert_eq!(value("**Source Branch**:"), None);
    assert_eq!(
        value("**Source Branch**: ``"),
        None,
        "empty backticks are no value"
    );
}

#[test]
fn p_12_optional_single_fields() {
    let text = "### Sprint 1.1: A\n**Team**: `core`\n**Labels**: `x`, y z,, w\n**Formula**: work\n**Bead ID**: `bd-1-1-a`\n**Type**: merge\n**Estimate**: 45m\n";
    let body = only(text).body().clone();
    assert_eq!(body.team.unwrap().value, "core");
    assert_eq!(
        body.labels
            .iter()
            .map(|label| label.value.as_str())
            .collect::<Vec<_>>(),
        ["x", "y z", "w"]
    );
    assert_eq!(body.labels[1].span.slice(text), "y z");
    assert_eq!(body.formula.unwrap().value, "work");
    assert_eq!(body.bead_id.unwrap().value.as_str(), "bd-1-1-a");
    assert_eq!(body.kind.unwrap().value, SprintKind::Merge);
    assert_eq!(body.estimate.unwrap().value.minutes(), 45);
}

#[test]
fn p_13_a_list_ends_where_it_must() {
    assert_eq!(tasks("- a\n\n- b\n**Goal**: x\n- c\n"), ["a", "b"]);
    assert_eq!(tasks("- a\n---\n- b\n"), ["a"]);
    assert_eq!(tasks("- a\n* * *\n- b\n"), ["a"]);
    assert_eq!(tasks("- a\n##### H\n- b\n"), ["a"]);
}

#[test]
fn p_14_ignored_fields_keep_their_lists_to_themselves() {
    let sprint = only(
        "### Sprint 1.1: A\n**Status**: ✅ COMPLETED\n- x\n**Tasks**:\n- a\n**PR**: 12\n- b\n",
    );
    assert!(sprint.body().is_completed);
    assert_eq!(sprint.body().tasks.len(), 1);
    assert!(
        !only("### Sprint 1.1: A\n**Status**: INCOMPLETED\n")
            .body()
            .is_completed
    );
    assert!(
        only("### Sprint 1.1: A\n**Status**:\n- COMPLETED 2026\n")
            .body()
            .is_completed
    );
}

#[test]
fn p_14_p_15_a_status_may_stand_twice() {
    check(
        &(complete_plan("") + "\n**Status**: a\n**Status**: b\n"),
        &[],
    );
}

#[test]
fn p_16_p_17_p_18_b_11_example_4_items_are_folded() {
    assert_eq!(
        tasks("- [x] Create `a.py`\n  - add tests\n"),
        ["Create a.py\n- add tests"]
    );
    assert_eq!(
        tasks("1. a\n   more\nlazy\n2) b\n\n   after a blank\n"),
        ["a more lazy", "b after a blank"]
    );
    assert_eq!(
        tasks("* a\n\t- [ ] nested `x`\n\t  and more\n + b\n"),
        ["a\n- nested x and more", "b"]
    );
    assert_eq!(tasks("- a\n\nA paragraph.\n\n- b\n"), ["a", "b"]);
    // B-11: blank bullets are dropped.
    assert_eq!(tasks("- a\n- \n-\n  - \n"), ["a"]);
}

#[test]
fn p_16_a_code_block_in_an_item_is_kept_as_it_is() {
    let list =
        "- Run this:\n  ```sh\n  a `b`\n    c\n  ```\n  then stop\n- next\n```\nnot a task\n```\n";
    assert_eq!(
        tasks(list),
        ["Run this:\n```sh\na `b`\n  c\n```\n- then stop", "next"]
    );
}

#[test]
fn p_19_p_21_agents_of_a_body() {
    let sprint = only(
        "### Sprint 1.1: A\n**QA Agents**:\n- `qa-go` (haiku) - Run tests (shared - once)\n  on all `crates`\n  - twice\n",
    );
    let agent = &sprint.body().qa_agents[0];
    assert_eq!(agent.name.value, "qa-go");
    assert_eq!(
        agent.text.as_deref(),
        Some("Run tests (shared - once) on all crates\n- twice")
    );
}

#[test]
fn verifiers_are_read_with_their_options() {
    let text = "### Sprint 1.1: A\n**Verifiers**:\n- unit tests: `cargo test`\n  - timeout: 90s\n  - exit: 2\n  - stdout contains: `ok`\n  - stderr contains: all good\n  - stdout matches: `^ok: [0-9]+$`\n  - stderr matches: warn\n  - min tests: 3\n  - on failure: continue\n- `` echo `x` ``\n";
    let sprint = only(text);
    assert_eq!(sprint.problems, []);
    let [first, second] = &sprint.body().verifiers[..] else {
        panic!("{sprint:?}")
    };
    assert_eq!(first.name.as_ref().unwrap().value, "unit tests");
    assert_eq!(
        (first.timeout_seconds, first.exit_code),
        (Some(90), Some(2))
    );
    assert_eq!(first.stdout_contains.as_deref(), Some("ok"));
    assert_eq!(first.stderr_contains.as_deref(), Some("all good"));
    let pattern = first.stdout_matches.as_ref().map(Pattern::as_str);
    assert_eq!(pattern, Some("^ok: [0-9]+$"));
    let pattern = first.stderr_matches.as_ref().map(Pattern::as_str);
    assert_eq!((pattern, first.min_tests), (Some("warn"), Some(3)));
    assert_eq!(first.on_failure, Some(OnFailure::Continue));
    assert!(second.name.is_none());
    assert_eq!(second.command.value, "echo `x`");
    assert_eq!(second.command.span.slice(text), "echo `x`");
}

#[test]
fn p_22_an_acceptance_section_is_optional_and_a_complete_sprint_is_clean() {
    check(&complete_plan(""), &[]);
    check(
        &(complete_plan("") + "**Acceptance Criteria**:\n- all green\n"),
        &[],
    );
}

#[test]
fn t_33_the_real_plan_has_24_sprints() {
    let ids_of_the_plan = "1.1 1.2a 1.2b 1.3 2.1 2.2a 2.2b 2.3 3.1a 3.1b 3.2 4.1 4.2a 4.2b 4.2c 4.3 5.1 5.2 5.3 6.1a 6.1b 6.1c 6.2 6.3";
    let mut text = String::from(
        "# Plan\n## Completed\n### ✅ Sprint 1.1: Core\n### ✅ Sprint 4.1a: Gone\n## Phases\n",
    );
    for id in ids_of_the_plan.split(' ') {
        text += &sprint(id, "Work");
        if id == "3.2" {
            text += "### ~~Sprint 3.1a: Old~~ (SKIPPED)\n### ~~Sprint 3.2: Old~~ (SKIPPED)\n### Phase Summary\n";
        }
    }
    text += "\n---\n\n## Success Metrics\n- [ ] must not leak\n";
    let plan = parse(&text);
    assert_eq!(ids(&plan).join(" "), ids_of_the_plan);
    assert_eq!(plan.sprints.last().unwrap().body().tasks.len(), 1);
    check(&text, &[]);
}

#[test]
fn a_field_is_recorded_once_however_often_it_stands() {
    let text = format!(
        "### Sprint 1.1: A\n{}{}",
        "**Status**: x\n".repeat(500),
        "**Branch**: `b`\n".repeat(500)
    );
    let sprint = only(&text);
    assert_eq!(sprint.body().fields.len(), 2);
    assert_eq!(sprint.problems.len(), 499);
}

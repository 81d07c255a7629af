//! What agents are asked in the loop (L-3a, Z-9).
//!
//! A prompt says what is to be done, where, and what the answer looks like; nothing in it is a decision of the loop.

use std::fmt::Write as _;

use serde::Serialize;

use crate::bead::{AgentSpec, BranchName, QaAgent, RalphBead, Verifier};
use crate::dod;
use crate::text::visible;

/// The longest feedback that goes into a prompt; all of it is in the evidence.
const MAX_FEEDBACK: usize = 8000;

/// What a dev agent is asked: the tasks, where to do them, when they count as done, and what went wrong before.
pub fn develop(
    bead: &RalphBead,
    agent: &AgentSpec,
    worktree: &str,
    checks: &[Verifier],
    feedback: Option<&str>,
) -> String {
    let mut text = head(bead, worktree);
    push_part(&mut text, bead, agent);
    text.push_str("\n## Tasks\n\n");
    push_tasks(&mut text, bead);
    push_criteria(&mut text, bead);
    push_checks(&mut text, checks);
    text.push_str("\nWork only inside the worktree. Commit all of your work to the branch; do not push, do not merge, do not touch other branches or beads.\n");
    push_feedback(&mut text, feedback);
    text
}

/// What a dev agent is asked when two branches do not fit together.
pub fn resolve(bead: &RalphBead, worktree: &str, merging: &str, files: &[String]) -> String {
    let mut text = head(bead, worktree);
    _ = writeln!(
        text,
        "\n## A merge with conflicts\n\nGit is in the middle of merging {merging} into this branch. These files have conflicts:\n"
    );
    for file in files {
        _ = writeln!(text, "- {file}");
    }
    text.push_str("\nSolve every conflict so that both sides keep their meaning, remove all conflict markers, `git add` the files and commit the merge. Do nothing else.\n");
    push_criteria(&mut text, bead);
    text
}

/// What a QA agent is asked: its own prompt, its input, and the shape of its answer (L-16.3).
pub fn judge(
    bead: &RalphBead,
    agent: &QaAgent,
    worktree: &str,
    changed_files: &[String],
) -> String {
    let mut text = format!("# QA: {}\n\n{}\n", bead.title.trim(), agent.prompt.trim());
    let context = agent.spec.context.as_deref();
    if let Some(context) = context.filter(|context| *context != agent.prompt) {
        _ = writeln!(text, "\n{context}");
    }
    let input = QaInput {
        worktree_path: worktree,
        branch: &bead.metadata.branch,
        changed_files,
        acceptance_criteria: bead.metadata.acceptance_criteria.as_deref(),
    };
    let input = serde_json::to_string_pretty(&input).expect("texts can be written as JSON");
    _ = writeln!(text, "\n## Input\n\n```json\n{input}\n```");
    text.push_str("\n## What the developers were asked to do\n\n");
    push_tasks(&mut text, bead);
    push_criteria(&mut text, bead);
    text.push_str("\nChange nothing in the worktree. Answer with one fenced `json` block of this shape, and nothing after it:\n");
    text.push_str("\n```json\n{\"status\": \"pass\" | \"fail\" | \"stop\", \"message\": \"why, in a sentence or two\"}\n```\n\n`fail` sends it back to the developer; `stop` stops everything, for a person to look at.\n");
    text
}

/// What a leading agent is asked: the whole sprint (L-3a).
pub fn lead(
    bead: &RalphBead,
    worktree: &str,
    checks: &[Verifier],
    feedback: Option<&str>,
) -> String {
    let mut text = head(bead, worktree);
    _ = writeln!(
        text,
        "\nTeam: {}\nPlan: {}, section {}\n\n{}",
        bead.metadata.team_name,
        bead.metadata.plan_file,
        bead.metadata.plan_section,
        bead.description
    );
    text.push_str("\n## Tasks\n\n");
    push_tasks(&mut text, bead);
    push_criteria(&mut text, bead);
    push_checks(&mut text, checks);
    text.push_str("\nYou lead this sprint: let the dev agents do the tasks, let the QA agents judge, repeat until all pass, commit everything to the branch, push it and open a pull request where the repository has a remote.\n");
    push_feedback(&mut text, feedback);
    push_result_shape(&mut text, bead);
    text
}

/// What a leading agent is asked that forgot the pull request (L-19).
pub fn propose(bead: &RalphBead, worktree: &str) -> String {
    let mut text = head(bead, worktree);
    _ = writeln!(
        text,
        "\nThe work is done and verified, and there is no pull request for {} into {} yet. Push the branch as it is and create that pull request. Do nothing else.",
        bead.metadata.branch, bead.metadata.source_branch
    );
    push_result_shape(&mut text, bead);
    text
}

fn head(bead: &RalphBead, worktree: &str) -> String {
    let metadata = &bead.metadata;
    format!(
        "# {}\n\nBead: {}\nSprint: {}\nWorktree: {worktree}\nBranch: {}\nSource branch: {}\n",
        bead.title.trim(),
        bead.id,
        metadata.sprint,
        metadata.branch,
        metadata.source_branch
    )
}

fn push_tasks(text: &mut String, bead: &RalphBead) {
    for (n, task) in bead.metadata.dev_prompts.iter().enumerate() {
        _ = writeln!(text, "{}. {task}", n + 1);
    }
}

/// What this agent is there for, where a plan says more of it than the sprint's title.
fn push_part(text: &mut String, bead: &RalphBead, agent: &AgentSpec) {
    let part = agent.context.as_deref().map(str::trim).unwrap_or_default();
    if !part.is_empty() && part != bead.title.trim() {
        _ = writeln!(text, "\nYour part: {part}");
    }
}

fn push_criteria(text: &mut String, bead: &RalphBead) {
    let criteria = bead.metadata.acceptance_criteria.iter().flatten();
    for (at, criterion) in criteria.enumerate() {
        if at == 0 {
            text.push_str("\n## Acceptance criteria\n\n");
        }
        _ = writeln!(text, "- {criterion}");
    }
}

fn push_checks(text: &mut String, checks: &[Verifier]) {
    if !checks.is_empty() {
        dod::prompt::push_checks(text, checks);
    }
}

fn push_feedback(text: &mut String, feedback: Option<&str>) {
    let Some(feedback) = feedback else { return };
    text.push_str("\n## What went wrong before\n\nWhat was done so far is on the branch, or lies uncommitted in the worktree. It was sent back:\n\n");
    let cut = &feedback[..feedback.floor_char_boundary(MAX_FEEDBACK)];
    for line in cut.lines() {
        _ = writeln!(text, "    {}", visible(line));
    }
    text.push_str(dod::prompt::FIND_THE_CAUSE);
}

/// What a QA agent is given.
#[derive(Serialize)]
struct QaInput<'a> {
    worktree_path: &'a str,
    branch: &'a BranchName,
    changed_files: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    acceptance_criteria: Option<&'a [String]>,
}

fn push_result_shape(text: &mut String, bead: &RalphBead) {
    text.push_str("\nAt the end answer with one fenced `json` block of this shape:\n");
    let id = serde_json::to_string(&bead.id).expect("an id can be written as JSON");
    _ = writeln!(
        text,
        r#"
```json
{{"bead_id":{id},"success":true,"pr_url":null,"pr_number":null,"bead_updated":false,"attempt_count":1,"qa_results":[],"error":null,"fatal":false}}
```"#
    );
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::bead::{Rules, standard_output_schema, validate};

    /// A sprint with two developers.
    fn login() -> RalphBead {
        let agent = |name: &str, context: &str| {
            let path = format!(".claude/agents/{name}.md");
            json!({"role": "polecat", "agent": path, "model": "sonnet", "context": context})
        };
        let document = json!({
            "id": "bd-1", "title": "Login", "description": "", "status": "open", "priority": 1,
            "issue_type": "beads-ralph-work", "assignee": "beads-ralph-scrum-master",
            "metadata": {
                "rig": "beads-ralph", "worktree_path": "../w", "branch": "feature/x", "source_branch": "main",
                "phase": "1", "sprint": "1.2", "plan_file": "p.md", "plan_section": "### Sprint 1.2: Login",
                "plan_sprint_id": "1.2", "team_name": "t", "dev_prompts": ["Check passwords", "Check tokens"],
                "acceptance_criteria": ["Nobody gets in without one"],
                "dev_agents": [agent("back", "The server's side"), agent("front", "Login")],
                "scrum_master_agent": agent("beads-ralph-scrum-master", "x"),
                "qa_agents": [{
                    "role": "polecat", "agent": ".claude/agents/qa.md", "model": "haiku", "context": "Check it",
                    "output_schema": *standard_output_schema(),
                }],
            },
            "created_at": "2026-02-07T10:00:00Z", "updated_at": "2026-02-07T10:00:00Z",
        });
        validate(&document, &Rules::default()).unwrap()
    }

    #[test]
    fn z_9_acceptance_criteria_are_in_every_prompt_and_in_the_input_of_judges() {
        let bead = login();
        let criterion = "- Nobody gets in without one\n";
        let asked = develop(&bead, &bead.metadata.dev_agents[0], "/w", &[], None);
        assert!(asked.contains(criterion), "{asked}");
        let asked = resolve(&bead, "/w", "main", &["a".to_owned()]);
        assert!(asked.contains(criterion), "{asked}");
        let asked = judge(&bead, &bead.metadata.qa_agents[0], "/w", &[]);
        assert!(asked.contains(criterion), "{asked}");
        let (_, input) = asked.split_once("## Input").unwrap();
        let (_, input) = input.split_once("```json\n").unwrap();
        let (input, _) = input.split_once("```").unwrap();
        let input: Value = serde_json::from_str(input).unwrap();
        assert_eq!(
            input["acceptance_criteria"],
            json!(["Nobody gets in without one"])
        );
    }

    #[test]
    fn l_3a_each_dev_agent_is_told_the_tasks_and_its_own_part() {
        let bead = login();
        let asked = |n: usize| develop(&bead, &bead.metadata.dev_agents[n], "/w", &[], None);
        let back = asked(0);
        for words in [
            "\nYour part: The server's side\n",
            "\nSprint: 1.2\nWorktree: /w\nBranch: feature/x\n",
            "\n1. Check passwords\n2. Check tokens\n",
            "Commit all of your work",
        ] {
            assert!(back.contains(words), "{words}: {back}");
        }
        let front = asked(1);
        assert!(!front.contains("Your part"), "the title is there: {front}");
    }
}

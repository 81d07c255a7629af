//! The prompts of workers and reviewers (I-19, I-20, R-3).
//!
//! A worker learns everything from its prompt and from the repository, and nothing of beads, other workers or earlier cycles.

use std::fmt::Write as _;

use super::acceptance::{AcceptanceLine, Judge};
use super::choice::Mode;
use super::stage::Diagnosis;
use super::stage::Stage;
use super::worker::Agent;
use crate::issue::Issue;
use crate::vocabulary::field;

/// What a stage asks of a worker.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The stage.
    pub stage: Stage,
    /// How the bead is worked.
    pub mode: Mode,
    /// The bead that is worked on.
    pub source: &'a Issue,
    /// The step of its molecule.
    pub step: &'a Issue,
    /// Who works.
    pub agent: &'a Agent,
    /// Where.
    pub worktree: &'a str,
    /// The file that the report goes to; absolute.
    pub report: &'a str,
    /// The commands that show whether the project holds, each with its name.
    pub commands: &'a [(&'static str, &'a str)],
    /// The acceptance criteria of the bead.
    pub acceptance: &'a [AcceptanceLine],
    /// The cause of the bug, where an earlier stage found it.
    pub diagnosis: Option<&'a Diagnosis>,
    /// What people answered when this stage was done before.
    pub answers: &'a [String],
}

impl Task<'_> {
    /// The text for the worker.
    pub fn to_prompt(&self) -> String {
        let mut text = format!(
            "# {}: {}\n\nYou do one stage of a larger piece of work, alone. Work only in the directory {}, which is a git worktree of its own. Start no other agents. When you are done, write the report that is described at the end; nothing that you say elsewhere is read.\n\n- stage: {}\n- mode: {}\n- worktree: {}\n- report: {}\n",
            self.stage.as_str(),
            self.source.title(),
            self.worktree,
            self.stage.as_str(),
            self.mode.as_str(),
            self.worktree,
            self.report,
        );
        section(&mut text, "This stage", description(self.step));
        section(&mut text, "The work", description(self.source));
        section(&mut text, "Acceptance criteria", &self.criteria());
        if let Some(diagnosis) = self.diagnosis {
            let cause = &diagnosis.root_cause_note;
            section(&mut text, "The cause of the bug", cause);
            let steps = diagnosis.reproduction_steps.as_deref().unwrap_or_default();
            section(&mut text, "How to see the bug", steps);
        }
        let answers = self.answers.join("\n\n");
        section(&mut text, "What a person answered", &answers);
        section(&mut text, "Commands of the project", &listed(self.commands));
        section(&mut text, "The report", &self.report_contract());
        text
    }

    /// Those who write tests for a feature get what a machine can check, each line for one test or more; everybody else gets all.
    fn criteria(&self) -> String {
        let only_machine = self.stage == Stage::RedTests && self.mode == Mode::ImplementFeature;
        let lines = self.acceptance.iter();
        let lines = lines.filter(|line| !only_machine || line.judge == Judge::Machine);
        criteria(lines)
    }

    fn report_contract(&self) -> String {
        let own = match self.agent {
            Agent::BugDiagnoser => {
                "root_cause_note: |        # required: the defect, its path to the symptom, the direction of the mend\n  …\nreproduction_steps: |     # optional\n  …\n"
            }
            Agent::DocsEditsTeam => {
                "files_changed: []         # paths from the root of the worktree\ncommit_sha: \"\"            # 40 hexadecimal digits, or empty\nsummary: …\nskipped_items: []         # {path, reason}\n"
            }
            Agent::PrCommentFixerTeam => {
                "comment_id: …\nclassification: FIX       # FIX, SKIP or ESCALATE\naction: COMMITTED_FIX     # COMMITTED_FIX, ALREADY_ADDRESSED or NO_ACTION\n"
            }
            Agent::TddRedTeam | Agent::TddGreenTeam | Agent::Other(_) => "",
        };
        format!(
            "Write one YAML document to {}:\n\n```yaml\nstatus: complete          # or needs_human, or failed\nevidence:                 # only what you ran; leave a block out otherwise\n  tests: {{command: …, exit_code: 0, skipped: false, passing: 0, failing: 0}}\n  build: {{command: …, exit_code: 0, skipped: false}}\n  lint: {{command: …, exit_code: 0, skipped: false}}\n  typecheck: {{command: …, exit_code: 0, skipped: false}}\nescalations: []           # {{reason, detail}}: what a person must know\ndiscovered_work: []       # {{title, type: bug|task|chore, priority: 0..4, detail}}\ncommits: []               # the full ids of your commits\n{own}```\n\n{}",
            self.report,
            self.success()
        )
    }

    /// What `complete` means (W-6).
    fn success(&self) -> &'static str {
        match self.agent {
            Agent::TddRedTeam => {
                "`complete` means that your new tests are committed and fail because the work is not done yet: failing tests are the success of this stage. Commit test files only. If they pass, say `needs_human` with the reason `red-tests-passed-unexpectedly`."
            }
            Agent::TddGreenTeam => {
                "`complete` means that your work is finished and committed; the evidence says what the commands showed."
            }
            Agent::BugDiagnoser => {
                "`complete` means that the note names the defect, its path to the symptom and the direction of the mend. Change nothing and commit nothing. If the cause is not clear, say `needs_human` with what you know."
            }
            Agent::DocsEditsTeam => "`complete` means that the edits are committed.",
            Agent::PrCommentFixerTeam | Agent::Other(_) => {
                "`complete` means that this stage is done, and what you changed is committed."
            }
        }
    }
}

/// What a reviewer looks at. It is never told what others found, nor how often somebody looked before.
#[derive(Debug, Clone, Copy)]
pub struct Inspection<'a> {
    /// The bead that was worked on.
    pub source: &'a Issue,
    /// Where the work is.
    pub worktree: &'a str,
    /// The commit that the work started from.
    pub base: &'a str,
    /// The acceptance criteria of the bead.
    pub acceptance: &'a [AcceptanceLine],
    /// The commands that show whether the project holds, each with its name.
    pub commands: &'a [(&'static str, &'a str)],
    /// What to look for especially.
    pub focus: Focus,
}

/// What a reviewer looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// Whether the work does what it is to do.
    Work,
    /// Whether it is well made.
    Quality,
    /// Both, by somebody who tries hard to break it.
    Deep,
}

impl Inspection<'_> {
    /// The text for the reviewer.
    pub fn to_prompt(&self) -> String {
        let focus = match self.focus {
            Focus::Work => {
                "Find out whether it does what it is to do, and what is wrong with it. Do not take its word: read it, run it."
            }
            Focus::Quality => {
                "Find out whether it is well made: correct at its edges, tested by tests that can fail, simple, without leftovers."
            }
            Focus::Deep => {
                "Try to break it: odd input, empty and huge input, two at once, failure half-way, names that are hostile. Also look whether it is well made."
            }
        };
        let mut text = format!(
            "# Review: {}\n\nSomebody did the work below in the git worktree {}; it is everything after the commit {}. You have not seen it before. {focus} Change nothing.\n",
            self.source.title(),
            self.worktree,
            self.base,
        );
        section(&mut text, "The work", description(self.source));
        let criteria = criteria(self.acceptance.iter());
        section(&mut text, "Acceptance criteria", &criteria);
        section(&mut text, "Commands of the project", &listed(self.commands));
        section(
            &mut text,
            "Your answer",
            "One JSON object: `{\"findings\": [{\"severity\": \"blocking|critical|major|minor\", \"title\": \"…\", \"detail\": \"…\", \"file\": \"…\"}], \"summary\": \"…\"}`. `blocking` and `critical` must be mended, `major` should be, `minor` may be. No findings are an empty list.",
        );
        text
    }
}

/// The prompt of an agent that simplifies finished work (R-8).
pub fn simplify_prompt(source: &Issue, worktree: &str, base: &str) -> String {
    format!(
        "# Simplify: {}\n\nThe work in the git worktree {worktree} is done and its tests pass; it is everything after the commit {base}. Make it plainer where that is clearly better: fewer lines, better names, no leftovers. Change nothing that it does, and no test. Commit what you change; if there is nothing to gain, change nothing.\n",
        source.title()
    )
}

fn description(issue: &Issue) -> &str {
    issue.text(field::DESCRIPTION).unwrap_or_default()
}

fn section(text: &mut String, title: &str, content: &str) {
    let content = content.trim();
    if !content.is_empty() {
        _ = write!(text, "\n## {title}\n\n{content}\n");
    }
}

fn criteria<'l>(lines: impl Iterator<Item = &'l AcceptanceLine>) -> String {
    let mut text = String::new();
    for line in lines {
        let by = match line.judge {
            Judge::Machine => "",
            Judge::Human => " (a person looks at it)",
        };
        _ = writeln!(text, "- {}{by}", line.text.trim());
    }
    text
}

fn listed(commands: &[(&'static str, &str)]) -> String {
    let mut text = String::new();
    for (name, command) in commands {
        _ = writeln!(text, "- {name}: `{command}`");
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::implement::acceptance_lines;

    fn issue(description: &str) -> Issue {
        Issue::without_comments(json!({"id": "p-1", "title": "Log in", "description": description}))
            .unwrap()
    }

    fn prompt(stage: Stage, mode: Mode, agent: &Agent, diagnosis: Option<&Diagnosis>) -> String {
        let acceptance = acceptance_lines("[m] it says hello\n[h] it is pretty");
        Task {
            stage,
            mode,
            source: &issue("People log in."),
            step: &issue("Do this stage."),
            agent,
            worktree: "/w t",
            report: "/r/.beads/worker-audit/s/tdd-red-team.yaml",
            commands: &[("tests", "cargo test")],
            acceptance: &acceptance,
            diagnosis,
            answers: &["use port 8080 (ann)".to_owned()],
        }
        .to_prompt()
    }

    #[test]
    fn i_20_a_worker_is_told_where_what_and_how_to_report() {
        let text = prompt(
            Stage::GreenLoop,
            Mode::ImplementFeature,
            &Agent::TddGreenTeam,
            None,
        );
        for part in [
            "/w t",
            "/r/.beads/worker-audit/s/tdd-red-team.yaml",
            "People log in.",
            "Do this stage.",
            "- tests: `cargo test`",
            "it says hello",
            "it is pretty (a person looks at it)",
            "status: complete",
            "use port 8080 (ann)",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        assert!(!text.replace(".beads", "").contains("bead"), "{text}");
    }

    #[test]
    fn i_19_tests_for_a_feature_are_for_what_a_machine_can_check_and_for_a_bug_come_from_its_cause()
    {
        let feature = prompt(
            Stage::RedTests,
            Mode::ImplementFeature,
            &Agent::TddRedTeam,
            None,
        );
        assert!(feature.contains("it says hello") && !feature.contains("it is pretty"));
        let diagnosis = Diagnosis {
            root_cause_note: "the clock is read twice".to_owned(),
            reproduction_steps: Some("run it at midnight".to_owned()),
        };
        let bug = prompt(
            Stage::RedTests,
            Mode::FixBug,
            &Agent::TddRedTeam,
            Some(&diagnosis),
        );
        assert!(bug.contains("the clock is read twice") && bug.contains("run it at midnight"));
    }

    #[test]
    fn r_3_a_reviewer_is_told_of_the_work_and_of_nobody_before_it() {
        let text = Inspection {
            source: &issue("People log in."),
            worktree: "/w",
            base: "abc",
            acceptance: &acceptance_lines("[m] `cargo test`"),
            commands: &[],
            focus: Focus::Work,
        }
        .to_prompt();
        assert!(text.contains("People log in.") && text.contains("after the commit abc"));
        assert!(text.contains("Change nothing") && !text.to_lowercase().contains("cycle"));
    }
}

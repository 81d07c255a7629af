//! What is implemented: a small program with a fault, beads about it, and what the model does as worker and as reviewer.

use beads_ralph_testkit::github::GitHub;
use beads_ralph_testkit::scripted_model::{Asked, Login};
use serde_json::{Value, json};

use crate::remote;
use crate::world::{Ended, Invocation, RealWorld};

/// The command that shows whether the project holds.
pub(super) const TESTS: &str = "sh t.sh";

/// A program that is wrong by one, and tests that do not see it.
const SUM: &str = "echo $(($1 + $2 + 1))\n";
const NO_TESTS: &str = "exit 0\n";

/// What makes the tests see it.
pub(super) const RED: &str = r#"echo 'test "$(sh sum.sh 2 3)" = 5' >t.sh"#;

/// What makes them pass.
pub(super) const GREEN: &str = r"echo 'echo $(($1 + $2))' >sum.sh";

/// A rule for the workers of a stage, each session of which is a list of turns.
pub(super) fn worker(stage: &str, title: &str, sessions: &[Vec<Value>]) -> Value {
    let words = format!("# {stage}: {title}\n");
    json!({"name": stage, "contains": [words], "sessions": sessions})
}

/// A rule for whoever looks at the work.
pub(super) fn reviewer(title: &str, sessions: &[Vec<Value>]) -> Value {
    let words = format!("# Review: {title}\n");
    json!({"name": "review", "contains": [words], "sessions": sessions})
}

/// A rule for whoever makes it plainer, and finds nothing to do.
pub(super) fn simplifier(title: &str) -> Value {
    let words = format!("# Simplify: {title}\n");
    json!({"name": "simplify", "contains": [words], "sessions": [[{"say": "It is plain."}]]})
}

/// Finds these faults.
pub(super) fn finds(findings: &Value) -> Vec<Value> {
    let report = json!({"findings": findings, "summary": "I looked at it."});
    vec![json!({"run": "cat sum.sh"}), json!({"report": report})]
}

/// A worker that runs a command and reports. The report may hold commands, as `$(…)`.
pub(super) fn reports(command: &str, report: &Value) -> Vec<Value> {
    let write = format!("cat >\"$BEADS_RALPH_REPORT\" <<END\n{report:#}\nEND");
    vec![
        json!({"run": format!("{command} && {write}")}),
        json!({"say": "Done."}),
    ]
}

/// A report without work.
pub(super) fn report(status: &str, evidence: &Value) -> Value {
    json!({
        "status": status, "evidence": evidence, "escalations": [], "discovered_work": [], "commits": [],
    })
}

/// A report about the last commit, with tests that ended so.
pub(super) fn committed(exit_code: i32) -> Value {
    let failing = i32::from(exit_code != 0);
    let tests = json!({
        "command": TESTS, "exit_code": exit_code, "skipped": false, "passing": 1 - failing, "failing": failing,
    });
    let mut report = report("complete", &json!({"tests": tests}));
    report["commits"] = json!(["$(git rev-parse HEAD)"]);
    report
}

/// A worker that changes something, commits it, and reports how the tests ended.
pub(super) fn commits(change: &str, exit_code: i32) -> Vec<Value> {
    let command = format!("{change} && git add --all && git commit --quiet --message='A change'");
    reports(&command, &committed(exit_code))
}

/// A worker that has nothing to do.
pub(super) fn nothing() -> Vec<Value> {
    reports("true", &report("complete", &json!({})))
}

/// What differs from ground to ground.
pub(super) struct Terms {
    /// Who works.
    pub(super) agent: &'static str,
    pub(super) login: Login,
    /// Whether there is a remote, in which pull requests are made.
    pub(super) has_remote: bool,
    /// Whether the agents' files are in the repository.
    pub(super) has_agents: bool,
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            agent: "claude",
            login: Login::Key,
            has_remote: false,
            has_agents: false,
        }
    }
}

/// A repository with the program and a store.
pub(super) struct Ground {
    pub(super) real: RealWorld,
    pub(super) github: Option<GitHub>,
}

impl Ground {
    /// With a model that acts by these rules.
    #[track_caller]
    pub(super) fn new(rules: &[Value]) -> Self {
        Self::with(rules, &Terms::default())
    }

    #[track_caller]
    pub(super) fn with(rules: &[Value], terms: &Terms) -> Self {
        // Every JSON document is a YAML document.
        let real = RealWorld::new(&json!({"rules": rules}).to_string());
        let github = terms.has_remote.then(|| remote::add(&real));
        let ground = Self { real, github };
        let config = ground.config(terms).to_string();
        for (name, text) in [
            ("beads-ralph.yaml", config.as_str()),
            ("sum.sh", SUM),
            ("t.sh", NO_TESTS),
        ] {
            ground.real.write(name, text);
        }
        let init: &[&str] = if terms.has_agents {
            &["init", "--agents"]
        } else {
            &["init"]
        };
        ground.program(init).run().exits(0);
        ground.real.git(&["add", "--all"]);
        ground.real.git(&["commit", "--quiet", "--message=a sum"]);
        if terms.has_remote {
            ground.real.git(&["push", "--quiet", "origin", "main"]);
        }
        ground
    }

    fn config(&self, terms: &Terms) -> Value {
        let login = terms.login;
        json!({
            "permissions": "bypass",
            "agents": {"default": terms.agent, "adapters": {
                "claude": self.real.adapter("claude", login),
                "codex": self.real.adapter("codex", login),
                // Whatever this machine has.
                "gemini": {"executable": "/nowhere/gemini"},
            }},
            "gates": {"test": TESTS},
            "worktrees": {"source_branch": "main"},
            "disk": {"min_free_gb": 0},
        })
    }

    /// Our own program, with a `gh` that talks to the stand-in.
    #[must_use]
    #[track_caller]
    pub(super) fn program(&self, args: &[&str]) -> Invocation {
        let mut program = self.real.with_tools(args);
        for (name, value) in self.github.iter().flat_map(GitHub::env) {
            program = program.env(&name, &value);
        }
        program
    }

    /// Makes the bead, with acceptance criteria beside the tests.
    #[track_caller]
    pub(super) fn create(&self, kind: &str, title: &str, labels: &str, criteria: &str) {
        let labels = format!("implementation-ready,brainstormed,{labels}");
        let criteria = format!("[m] `{TESTS}`\n{criteria}");
        let words = ["bd", "create", title, "--type", kind, "--id", "proj-1"];
        let more = ["--labels", &labels, "--acceptance", &criteria, "--force"];
        self.program(&[&words[..], &more].concat()).run().exits(0);
    }

    /// The next stage, and what came of it.
    #[track_caller]
    pub(super) fn implement(&self) -> Value {
        data(&self.program(&["implement", "proj-1", "--json"]).run())
    }

    /// The next stage, which is this one and is completed.
    #[track_caller]
    pub(super) fn completes(&self, stage: &str) -> Value {
        let told = self.implement();
        let asked = || self.real.model().asked();
        assert_eq!(told["stage"], stage, "{told:#}");
        assert_eq!(told["ending"], "complete", "{told:#}\n{:#?}", asked());
        let step = self.bead(told["step"].as_str().unwrap());
        assert_eq!(step["status"], "closed", "{step:#}");
        assert!(!has_label(&step, "human"), "{step:#}");
        assert!(!has_label(&self.source(), "human"));
        told
    }

    /// The next stage, which is this one and ends with the need of a person.
    #[track_caller]
    pub(super) fn needs_human(&self, stage: &str) -> Value {
        let told = self.implement();
        assert_eq!(told["stage"], stage, "{told:#}");
        assert_eq!(told["ending"], "needs_human", "{told:#}");
        let step = self.bead(told["step"].as_str().unwrap());
        assert_eq!(step["status"], "closed", "{step:#}");
        for bead in [step, self.source()] {
            assert!(has_label(&bead, "human"), "{bead:#}");
            let note = told["message"].as_str().unwrap();
            assert!(notes(&bead).contains(note), "{note}\n{bead:#}");
        }
        let paused = self.implement();
        assert_eq!(paused["ending"], "paused", "nothing goes on: {paused:#}");
        told
    }

    /// A person's answer.
    #[track_caller]
    pub(super) fn resolve(&self, more: &[&str]) {
        let words = ["human", "resolve", "proj-1", "--json"];
        let resolved = data(&self.program(&[&words[..], more].concat()).run());
        assert_eq!(resolved["resolved"], true, "{resolved:#}");
        assert!(!has_label(&self.source(), "human"));
    }

    /// A bead as the store has it.
    #[track_caller]
    pub(super) fn bead(&self, id: &str) -> Value {
        let shown = data(&self.program(&["show", id, "--json"]).run());
        shown["beads"][0].clone()
    }

    /// The bead that is implemented.
    #[track_caller]
    pub(super) fn source(&self) -> Value {
        self.bead("proj-1")
    }

    /// The questions of one rule.
    pub(super) fn asked(&self, rule: &str) -> Vec<Asked> {
        let asked = self.real.model().asked().into_iter();
        let is_of = |asked: &Asked| asked.done.as_ref().is_some_and(|done| done.rule == rule);
        asked.filter(is_of).collect()
    }
}

/// The data of the envelope of a command that ended well.
#[track_caller]
pub(super) fn data(ended: &Ended) -> Value {
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    let envelope: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(envelope["success"], true, "{envelope:#}");
    envelope["data"].clone()
}

/// Whether a bead has a label.
pub(super) fn has_label(bead: &Value, label: &str) -> bool {
    let labels = bead["labels"].as_array();
    labels.is_some_and(|labels| labels.iter().any(|it| it == label))
}

/// The notes of a bead.
pub(super) fn notes(bead: &Value) -> &str {
    bead["notes"].as_str().unwrap_or_default()
}

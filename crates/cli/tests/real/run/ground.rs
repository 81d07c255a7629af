//! What the runs work on: a repository with a remote, a plan, agents, and what the model does about each sprint.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use beads_ralph_testkit::github::GitHub;
use beads_ralph_testkit::scripted_model::Login;
use camino::Utf8PathBuf;
use serde_json::{Value, json};

use crate::remote;
use crate::world::{Ended, Invocation, RealWorld};

/// No run takes this long, also on a small machine that does other things.
pub(super) const MAX_RUN: Duration = Duration::from_mins(15);

/// The plan's file.
pub(super) const PLAN: &str = "plan.md";

/// Which real agent works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Agent {
    Claude,
    Codex,
}

impl Agent {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }
}

/// A sprint of a plan.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sprint {
    pub(super) number: &'static str,
    pub(super) title: &'static str,
    pub(super) developer: Agent,
    pub(super) judge: Agent,
    /// The numbers of the sprints that it waits for.
    pub(super) after: &'static [&'static str],
}

impl Sprint {
    fn dashed(&self) -> String {
        self.number.replace('.', "-")
    }

    pub(super) fn branch(&self) -> String {
        format!("feature/{}", self.dashed())
    }

    pub(super) fn bead(&self) -> String {
        let title = self.title.to_lowercase().replace(' ', "-");
        format!("bd-{}-{title}", self.dashed())
    }

    /// The file that shows that the sprint was worked on.
    pub(super) fn file(&self) -> String {
        format!("sprints/{}.txt", self.number)
    }

    fn section(&self) -> String {
        let Self {
            number,
            title,
            developer,
            judge,
            ..
        } = self;
        let (branch, file) = (self.branch(), self.file());
        let (developer, judge) = (developer.name(), judge.name());
        format!(
            "### Sprint {number}: {title}

**Worktree**: `../worktrees/{branch}`
**Branch**: `{branch}`
**Source Branch**: `main`

**Dev Agents**:
- `dev` (sonnet, {developer}) - Do {number}

**QA Agents**:
- `qa` (haiku, {judge}) - Look whether `{file}` is right

**Tasks**:
- Write `{file}`

**Acceptance Criteria**:
- `{file}` names the sprint

**Verifiers**:
- names the sprint: `grep -qx {number} {file}`

"
        )
    }
}

/// A plan of these sprints.
pub(super) fn plan(sprints: &[Sprint]) -> String {
    let sections: String = sprints.iter().map(Sprint::section).collect();
    format!("# A plan\n\n{sections}")
}

/// A rule by which the model answers prompts that have all of these words. Each session is a list of turns.
pub(super) fn rule(name: &str, words: &[&str], sessions: &[Vec<Value>]) -> Value {
    json!({"name": name, "contains": words, "sessions": sessions})
}

/// Runs a command, and ends with a text.
pub(super) fn does(command: &str) -> Vec<Value> {
    vec![json!({"run": command}), json!({"say": "Done."})]
}

/// Looks at a sprint's file, and gives a verdict.
pub(super) fn judges(sprint: &Sprint, status: &str, message: &str) -> Vec<Value> {
    vec![
        json!({"run": format!("cat {}", sprint.file())}),
        json!({"report": {"status": status, "message": message}}),
    ]
}

/// What a developer does: `claude` commits its work, `codex` leaves that to others.
pub(super) fn develops(sprint: &Sprint, command: &str) -> Vec<Value> {
    let number = sprint.number;
    match sprint.developer {
        Agent::Claude => does(&format!(
            "{command} && git add --all && git commit --quiet --message='Sprint {number}'"
        )),
        Agent::Codex => does(command),
    }
}

/// What a developer and a judge do about a sprint when all goes well.
pub(super) fn goes_well(sprint: &Sprint) -> [Value; 2] {
    let (number, file) = (sprint.number, sprint.file());
    let command = format!("mkdir -p sprints && echo {number} >{file}");
    let (asked, judged) = (prompt_of(sprint), judgement_of(sprint));
    [
        rule(
            &format!("dev {number}"),
            &[&asked],
            &[develops(sprint, &command)],
        ),
        rule(
            &format!("qa {number}"),
            &[&judged],
            &[judges(sprint, "pass", "It is right.")],
        ),
    ]
}

/// What stands in the prompt of a developer of a sprint, and in no other.
pub(super) fn prompt_of(sprint: &Sprint) -> String {
    format!("Sprint: {}\n", sprint.number)
}

/// What stands in the prompt of a judge of a sprint, and in no other.
pub(super) fn judgement_of(sprint: &Sprint) -> String {
    format!("# QA: {}\n", sprint.title)
}

/// A repository with a plan, a store and a remote.
pub(super) struct Ground {
    pub(super) real: RealWorld,
    pub(super) github: GitHub,
}

impl Ground {
    /// With a plan of these sprints, and a model that acts by these rules.
    #[track_caller]
    pub(super) fn new(sprints: &[Sprint], rules: &[Value], login: Login, more: &Value) -> Self {
        // Every JSON document is a YAML document.
        let real = RealWorld::new(&json!({"rules": rules}).to_string());
        let github = remote::add(&real);
        let ground = Self { real, github };
        let agent =
            |name: &str| format!("---\nname: {name}\ndescription: {name}\n---\nYou are {name}.\n");
        for name in ["dev", "qa", "beads-ralph-scrum-master"] {
            let path = format!(".claude/agents/{name}.md");
            ground.real.write(&path, &agent(name));
        }
        ground.real.write(PLAN, &plan(sprints));
        ground
            .real
            .write("beads-ralph.yaml", &ground.config(login, more).to_string());
        ground.program(&["init"]).run().exits(0);
        let git = |args: &[&str]| ground.real.git(args);
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "--message=the plan"]);
        git(&["push", "--quiet", "origin", "main"]);
        ground
    }

    fn config(&self, login: Login, more: &Value) -> Value {
        let mut config = json!({
            "permissions": "bypass",
            "agents": {"default": "claude", "adapters": {
                "claude": self.real.adapter("claude", login),
                "codex": self.real.adapter("codex", login),
            }},
            "ralph": {"poll_interval": "200ms", "max_parallel_sessions": 4},
            "disk": {"min_free_gb": 0},
            "verify": {"default": ["test -d sprints"]},
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            config[key] = value.clone();
        }
        config
    }

    /// Our own program, with a `gh` that talks to the stand-in.
    #[must_use]
    #[track_caller]
    pub(super) fn program(&self, args: &[&str]) -> Invocation {
        let mut program = self.real.with_tools(args);
        for (name, value) in self.github.env() {
            program = program.env(&name, &value);
        }
        program
    }

    /// The whole plan, to the end.
    #[must_use]
    #[track_caller]
    pub(super) fn run_plan(&self) -> Invocation {
        self.program(&["run", PLAN, "--annotate", "--integration", "pr", "--json"])
    }

    /// The data of a command.
    #[track_caller]
    pub(super) fn data(&self, args: &[&str]) -> Value {
        data(&self.program(args).run().exits(0))
    }

    /// A bead as the store has it, with its comments.
    #[track_caller]
    pub(super) fn bead(&self, sprint: &Sprint) -> Bead {
        let shown = self.data(&["show", &sprint.bead(), "--json"]);
        Bead(shown["beads"][0].clone())
    }

    /// All beads, by the numbers of their sprints.
    #[track_caller]
    pub(super) fn beads(&self, sprints: &[Sprint]) -> BTreeMap<&'static str, Bead> {
        let beads = sprints
            .iter()
            .map(|sprint| (sprint.number, self.bead(sprint)));
        beads.collect()
    }

    /// What the branch of a sprint is in the remote.
    #[track_caller]
    pub(super) fn pushed(&self, sprint: &Sprint) -> String {
        remote::pushed(&self.real, &sprint.branch())
    }

    /// The entries of the journal of the only run.
    #[track_caller]
    pub(super) fn journal(&self) -> Vec<Value> {
        let runs = self.real.work().join(".beads/runs");
        let runs: Vec<Utf8PathBuf> = (runs.read_dir_utf8().unwrap())
            .map(|run| run.unwrap().into_path())
            .collect();
        let [run] = runs.as_slice() else {
            panic!("{runs:?}");
        };
        let text = std::fs::read_to_string(run.join("journal.jsonl")).unwrap();
        let entries = text.lines().skip(1);
        entries
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// How often another process has gone on with the only run so far; it may be writing just now.
    pub(super) fn n_adoptions(&self) -> usize {
        let runs = self.real.work().join(".beads/runs");
        let runs = runs.read_dir_utf8().into_iter().flatten().flatten();
        let texts = runs.map(|run| std::fs::read_to_string(run.path().join("journal.jsonl")));
        let texts = texts.map(Result::unwrap_or_default);
        texts
            .map(|text| text.matches("\"adopted\":{").count())
            .sum()
    }

    #[track_caller]
    pub(super) fn is_ancestor(&self, earlier: &str, later: &str) -> bool {
        let base = self.real.git(&["merge-base", earlier, later]);
        base == earlier
    }
}

/// A bead as `show` gives it.
#[derive(Debug, Clone)]
pub(super) struct Bead(pub(super) Value);

impl Bead {
    pub(super) fn metadata(&self, key: &str) -> &Value {
        &self.0["metadata"][key]
    }

    /// The commit that was verified.
    #[track_caller]
    pub(super) fn verified(&self) -> &str {
        let commit = self.metadata("verified_commit").as_str();
        commit.unwrap_or_else(|| panic!("{:#}", self.0))
    }

    /// The texts of its comments, oldest first.
    #[track_caller]
    pub(super) fn comments(&self) -> Vec<&str> {
        let comments = self.0["comments"].as_array().unwrap().iter();
        comments
            .map(|comment| comment["text"].as_str().unwrap())
            .collect()
    }
}

/// The data of the envelope.
#[track_caller]
pub(super) fn data(ended: &Ended) -> Value {
    let envelope: Value =
        serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{ended:#?}"));
    assert_eq!(envelope["success"], true, "{envelope:#}");
    envelope["data"].clone()
}

/// Everything that the model was asked, for the message of a test that fails.
#[must_use]
pub(super) fn prompts(world: &RealWorld) -> String {
    let mut text = String::new();
    for asked in world.model().asked() {
        _ = writeln!(text, "{:?}\n{}\n", asked.done, asked.prompt);
    }
    text
}

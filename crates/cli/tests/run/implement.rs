//! `implement` and `drive` with the real program, real git, and workers and reviewers that are shell scripts (contracts §9).

mod answers;
mod driving;
mod examples;
mod finding;
mod flakes;
mod killed;
mod liars;
mod looking;
mod loops;
mod places;
mod reports;
mod reviews;
mod stages;
mod together;

use serde_json::Value;

use crate::world::{Output, Setup, World};

/// What every worker here knows: who it is, and how to write a report. `report STATUS [MORE…]` writes one; what follows are whole lines.
const KNOWS: &str = r#"
agent=$BEADS_RALPH_AGENT
echo "$role $agent $attempt $bead" >>"$base/ran"
report() {
  status=$1; shift
  printf 'status: %s\n' "$status" >"$BEADS_RALPH_REPORT.new"
  for line in "$@"; do printf '%s\n' "$line" >>"$BEADS_RALPH_REPORT.new"; done
  for key in 'evidence: {}' 'escalations: []' 'discovered_work: []' 'commits: []'; do
    grep -q "^${key%%:*}:" "$BEADS_RALPH_REPORT.new" || echo "$key" >>"$BEADS_RALPH_REPORT.new"
  done
  mv "$BEADS_RALPH_REPORT.new" "$BEADS_RALPH_REPORT"
}
tests() { echo "evidence: {tests: {command: \"sh t.sh\", exit_code: $1, skipped: false, passing: $2, failing: $3}}"; }
commit() { git add --all && git commit --quiet -m "$1" >/dev/null 2>&1; echo "commits: [$(git rev-parse HEAD)]"; }
diligent() {
  case "$role:$agent" in
    worker:bug-diagnoser) report complete 'root_cause_note: the sum is off by one' ;;
    worker:tdd-red-team) echo 'exit 1' >t.sh; report complete "$(tests 1 0 1)" "$(commit red)" ;;
    worker:tdd-green-team) echo 'exit 0' >t.sh; echo "$attempt" >>n; report complete "$(tests 0 1 0)" "$(commit green)" ;;
    worker:docs-edits-team) echo text >doc.md; commit docs >/dev/null; report complete 'files_changed: [doc.md]' ;;
    worker:simplifier) ;;
    worker:*) report complete ;;
    reviewer:*) clean ;;
  esac
}
clean() { echo '{"findings": [], "summary": "fine"}'; }
finds() { echo '{"findings": [{"severity": "'"$1"'", "title": "it is '"$1"'", "detail": "d", "file": ""}], "summary": "no"}'; }
"#;

/// What is said about reviewers where nothing else is: all of them are our script.
const REVIEWERS: &str = "reviewers: {codex: worker, gemini: worker}, poll_interval: 1s";

/// The source of most tests.
const SOURCE: &str = "proj-1";

/// A repository with an empty store, and scripts that work and review.
struct Bench {
    world: World,
}

impl Bench {
    /// Workers do what the script says, and everything else as they should.
    #[track_caller]
    fn new(script: &str) -> Self {
        Self::with(script, REVIEWERS, "gates: {test: sh t.sh}\n")
    }

    #[track_caller]
    fn with(script: &str, implement: &str, config: &str) -> Self {
        Self::named("repo", script, implement, config)
    }

    #[track_caller]
    fn named(name: &'static str, script: &str, implement: &str, config: &str) -> Self {
        let world = World::bare(&Setup {
            name,
            agent: format!("{KNOWS}{script}\n"),
            config: format!(
                "worktrees: {{source_branch: main}}\nimplement: {{{implement}}}\n{config}"
            ),
            ..Setup::default()
        });
        Self { world }
    }

    /// What workers do from now on.
    #[track_caller]
    fn agent(&self, script: &str) {
        self.world.agent(&format!("{KNOWS}{script}\n"));
    }

    /// The source, ready to be worked on.
    #[track_caller]
    fn source(&self, kind: &str, labels: &str) {
        self.create(
            SOURCE,
            kind,
            &format!("implementation-ready,brainstormed,{labels}"),
        );
    }

    #[track_caller]
    fn create(&self, id: &str, kind: &str, labels: &str) {
        self.bd(&[
            "create",
            "Sum is wrong",
            "-t",
            kind,
            "--id",
            id,
            "-l",
            labels.trim_end_matches(','),
            "--acceptance",
            "[m] `sh t.sh`",
            "--force",
        ]);
    }

    #[track_caller]
    fn bd(&self, args: &[&str]) -> String {
        self.world.run(&[&["bd"], args].concat()).exits(0).stdout
    }

    /// One stage of the source.
    #[track_caller]
    fn implement(&self) -> Value {
        self.world.data(&["implement", SOURCE])
    }

    /// One stage, in words.
    #[track_caller]
    fn run(&self) -> Output {
        self.world.run(&["implement", SOURCE])
    }

    /// Stages until one does not simply end well; the last answer.
    #[track_caller]
    fn implement_all(&self) -> Value {
        for _ in 0..20 {
            let told = self.implement();
            if told["ending"] != "complete" {
                return told;
            }
        }
        panic!("it never ends");
    }

    /// Brings the source to a stage: `preflight` and `diagnose` are done, everything else before it is closed by hand.
    #[track_caller]
    fn bring_to(&self, stage: &str) {
        for _ in 0..12 {
            let told = self.world.data(&["implement", SOURCE, "--dry-run"]);
            let now = told["stage"].as_str().unwrap_or("preflight");
            if now == stage && !told["step"].is_null() {
                return;
            }
            match now {
                "preflight" | "diagnose" => assert_eq!(self.implement()["ending"], "complete"),
                _ => drop(self.bd(&["close", told["step"].as_str().unwrap(), "--force"])),
            }
        }
        panic!("there is no stage {stage}");
    }

    /// Adds a step to the molecule, before another one.
    #[track_caller]
    fn extra(&self, id: &str, title: &str, before: &str) {
        let root = self.molecules()[0]["id"].as_str().unwrap().to_owned();
        self.bd(&["create", title, "--id", id, "--force"]);
        self.bd(&["update", id, "--parent", &root]);
        self.bd(&["dep", "add", before, id]);
    }

    /// The step of a stage is done once more, as if nothing had been.
    #[track_caller]
    fn again(&self, stage: &str) {
        let step = self.step(stage);
        if is_human(&self.bead(SOURCE)) {
            self.answer("again", &[]);
        }
        let id = step["id"].as_str().unwrap();
        if self.step(stage)["status"] == "closed" {
            self.bd(&["reopen", id]);
        }
        self.bd(&["update", id, "--notes", ""]);
        self.bd(&["update", SOURCE, "--notes", ""]);
        drop(std::fs::remove_file(self.world.base.join("ran")));
    }

    /// A person answers.
    #[track_caller]
    fn answer(&self, text: &str, more: &[&str]) {
        let args = ["human", "resolve", SOURCE, "--answer", text];
        self.world.run(&[&args, more].concat()).exits(0);
    }

    /// Everything in the store.
    #[track_caller]
    fn export(&self) -> String {
        self.world.run(&["export"]).exits(0).stdout
    }

    #[track_caller]
    fn beads(&self) -> Vec<Value> {
        let lines = self.export();
        lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    #[track_caller]
    fn bead(&self, id: &str) -> Value {
        let found = self.beads().into_iter().find(|bead| bead["id"] == id);
        found.unwrap_or_else(|| panic!("there is no {id}"))
    }

    /// The step of a stage.
    #[track_caller]
    fn step(&self, stage: &str) -> Value {
        let mut found = self.beads();
        found.retain(|bead| bead["metadata"]["stage"] == stage);
        assert_eq!(found.len(), 1, "{stage}: {found:#?}");
        found.remove(0)
    }

    /// The molecules of the source.
    #[track_caller]
    fn molecules(&self) -> Vec<Value> {
        let mut found = self.beads();
        found.retain(|bead| labels(bead).iter().any(|label| label == "for-bead-proj-1"));
        found
    }

    /// The worktree of the source, as its molecule has it.
    #[track_caller]
    fn worktree(&self) -> String {
        let all = self.world.git(&["worktree", "list", "--porcelain"]);
        let mut paths = all
            .lines()
            .filter_map(|line| line.strip_prefix("worktree "));
        let path = paths.find(|path| path.contains(".claude/worktrees/"));
        path.unwrap_or_else(|| panic!("{all}")).to_owned()
    }

    /// Who ran so far: `worker tdd-red-team 1 bd-fix-bug-001-red-tests`.
    fn ran(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.world.base.join("ran")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// The step and the source wait for a person, each with a note; the step has this status.
    #[track_caller]
    fn asks(&self, stage: &str, status: &str, note: &str) {
        let (source, step) = (self.bead(SOURCE), self.step(stage));
        for bead in [&source, &step] {
            assert!(is_human(bead), "{bead:#}");
            assert!(notes(bead).contains(note), "{note:?} is not in {bead:#}");
        }
        assert_eq!(step["status"], status, "{step:#}");
    }

    /// Only the source waits for a person.
    #[track_caller]
    fn asks_before_a_step(&self, note: &str) {
        let source = self.bead(SOURCE);
        assert!(
            is_human(&source) && notes(&source).contains(note),
            "{source:#}"
        );
        let flagged = self.beads().iter().filter(|bead| is_human(bead)).count();
        assert_eq!(flagged, 1, "only the source");
    }
}

fn labels(bead: &Value) -> Vec<String> {
    let labels = bead["labels"].as_array().into_iter().flatten();
    labels
        .map(|label| label.as_str().unwrap().to_owned())
        .collect()
}

fn has(bead: &Value, label: &str) -> bool {
    labels(bead).iter().any(|own| own == label)
}

fn is_human(bead: &Value) -> bool {
    has(bead, "human")
}

fn notes(bead: &Value) -> &str {
    bead["notes"].as_str().unwrap_or_default()
}

/// The rules by which something was decided.
fn rules(told: &Value) -> Vec<&str> {
    let decisions = told["decisions"].as_array().into_iter().flatten();
    decisions.map(|it| it["rule"].as_str().unwrap()).collect()
}

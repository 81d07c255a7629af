//! What other programs rely on by name, kept in golden files: keys of JSON, codes, environment variables, files, labels.
//!
//! Inside the program everything may be renamed. A difference in one of these files is a change that users notice.

mod project;
mod shape;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use beads_ralph_core::diag::{ErrorCode, WarningCode};
use regex::Regex;
use serde_json::json;

use crate::env::{TestEnv, golden};
use crate::rules::source::SOURCES;
use crate::store::{FIVE, seeded};
use shape::Shape;

const WORK: &str = include_str!("../../../core/testdata/beads/worked-example.json");
const TWO: &str = "formula = 'two'\ndescription = 'Two steps'\n[vars.v]\ndefault = 'x'\n[[steps]]\nid = 'a'\ntitle = 'A {{v}}'\n[[steps]]\nid = 'b'\ntitle = 'B'\nneeds = ['a']\n";

/// Calls commands, and notes the shape of what they answer with `--json`.
struct Recorder<'a> {
    env: &'a TestEnv,
    text: String,
}

impl<'a> Recorder<'a> {
    fn new(env: &'a TestEnv) -> Self {
        Self {
            env,
            text: String::new(),
        }
    }

    /// Notes what each command answers, and its exit code.
    #[track_caller]
    fn record(&mut self, calls: &[&str]) {
        for call in calls {
            let args: Vec<&str> = call.split(' ').chain(["--json"]).collect();
            let answer = self.env.run(&args);
            let code = answer.code.expect("it ends by itself");
            self.note(
                &format!("{call} (exit code {code})"),
                &Shape::of(&answer.json()),
            );
        }
    }

    fn note(&mut self, title: &str, shape: &Shape) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        _ = write!(self.text, "## {title}\n{}", shape.lines());
    }

    #[track_caller]
    fn compare(&self, name: &str) {
        golden(&format!("surface/{name}.txt"), &self.text);
    }
}

#[test]
fn the_keys_of_plans_and_bead_documents() {
    let env = TestEnv::with_demo();
    env.write("bad.md", "### Sprint 1.1 - A\n");
    env.write("bead.json", WORK);
    env.write("bad.json", "{}");
    let mut recorder = Recorder::new(&env);
    recorder.record(&[
        "init",
        "plan new new.md",
        "plan check plan.md",
        "plan check bad.md",
        "plan check --fix new.md",
        "plan graph plan.md",
        "plan graph bad.md",
        "plan graph absent.md",
        "plan build --out-dir out plan.md",
        "plan diff plan.md",
        "plan apply --sprint-filter 1.1,1.2a plan.md",
        "plan apply plan.md",
        "plan apply --annotate plan.md",
        "plan annotate --dry-run plan.md",
        "bead validate bead.json",
        "bead validate bad.json",
        "bead migrate --to v1 bead.json",
        "schema",
    ]);
    let changed = env
        .text("plan.md")
        .replacen("### Sprint 1.1: ", "### Sprint 1.1: New ", 1);
    env.write("plan.md", changed);
    recorder.record(&["plan diff plan.md", "simulate --rounds 2 plan.md"]);
    recorder.compare("plans");
}

#[test]
fn the_keys_of_the_store() {
    let env = seeded(FIVE);
    env.write("more.jsonl", FIVE);
    let mut recorder = Recorder::new(&env);
    recorder.record(&[
        "ready",
        "list --all",
        "show bd-a bd-b bd-e",
        "show bd-absent",
        "search alpha",
        "stats",
        "status",
        "blocked",
        "claim bd-a --actor ada",
        "claim bd-a --actor bob",
        "show bd-a",
        "heartbeat bd-a --fence 1",
        "release bd-a --actor ada",
        "update bd-a --title New --priority 3",
        "label add bd-a z",
        "label remove bd-a z",
        "label list bd-a",
        "dep add bd-d bd-b",
        "dep list bd-d",
        "dep remove bd-d bd-b",
        "dep add bd-a bd-b",
        "comment bd-a words",
        "close bd-a --reason done",
        "reopen bd-a",
        "log",
        "import more.jsonl",
        "recover",
        "doctor",
        "label add bd-d human",
        "human list",
        "human show bd-d",
        "blocked",
        "human resolve bd-d --answer yes",
        "qa-report",
        "pause",
        "stop",
        "show",
    ]);
    recorder.compare("store");
}

#[test]
fn the_keys_of_formulas_and_molecules() {
    let env = TestEnv::new();
    env.make_directory(".git");
    env.run(&["init"]).exits(0);
    env.write(".beads/formulas/two.formula.toml", TWO);
    let mut recorder = Recorder::new(&env);
    recorder.record(&[
        "formula list",
        "formula show two",
        "formula check two",
        "formula check absent",
        "formula graph two",
        "formula new fresh",
        "mol pour two --dry-run",
        "mol pour two",
        "mol pour implement-feature",
        "mol current bd-two-001",
        "mol show bd-two-001",
        "mol progress",
        "mol ready",
        "mol wisp two",
        "mol wisp list",
        "mol squash bd-two-001 --summary done",
        "mol burn bd-two-002",
        "mol wisp gc",
    ]);
    recorder.compare("formulas");
}

#[test]
fn the_keys_of_checks_gates_and_what_watches() {
    let env = TestEnv::new();
    crate::dod::git_repository(&env);
    env.run(&["init"]).exits(0);
    env.write(
        "beads-ralph.yaml",
        "patrol: {unit: 'test -e good', build: 'true'}\npermissions: bypass\n\
         agents: {default: mine, adapters: {mine: {kind: command, executable: ./agent.sh}}}\n",
    );
    env.write("agent.sh", "#!/bin/sh\ntouch done\n");
    env.tool("chmod", &["+x", "agent.sh"]).run().exits(0);
    let silent = json!({"id": "bd-s", "title": "Silent", "status": "in_progress", "assignee": "somebody",
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"});
    let bug = json!({"id": "bd-i", "title": "Sum", "issue_type": "bug", "labels": ["implementation-ready", "brainstormed"],
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"});
    let lines = format!("{silent}\n{bug}\n");
    env.command(&["import", "-"]).stdin(lines).run().exits(0);
    let mut recorder = Recorder::new(&env);
    recorder.record(&[
        "create-bead --intent work --verifier true",
        "verify gt-ralph-0001",
        "exec gt-ralph-0001",
        "logs gt-ralph-0001",
        "gate create smoke --verifier true",
        "gate list",
        "gate check",
        "gate run smoke",
        "gate check",
        "gate enforce",
        "watchdog --once --no-exec",
        "patrol --once",
        "implement bd-i --dry-run",
        "drive --dry-run",
    ]);
    let kept = project::contents(&env.path(".ralph"));
    _ = write!(recorder.text, "\n{kept}");
    recorder.compare("checks");
}

#[test]
fn error_codes_and_their_exit_codes() {
    let mut text = String::new();
    for code in ErrorCode::ALL {
        let exit_code = if code.recoverable() { 1 } else { 3 };
        _ = writeln!(text, "{} {exit_code}", code.as_str());
    }
    for code in WarningCode::ALL {
        _ = writeln!(text, "{}", code.as_str());
    }
    golden("surface/codes.txt", &text);
}

#[test]
fn environment_variables_that_are_read_or_set() {
    let name = Regex::new(r"\b(?:BEADS|BD)_[A-Z][A-Z_]*[A-Z]\b").unwrap();
    let literals = SOURCES
        .iter()
        .flat_map(|source| source.strings.iter().filter(|it| !source.is_test(it.start)));
    let names: BTreeSet<&str> = literals
        .flat_map(|literal| name.find_iter(&literal.text))
        .map(|found| found.as_str())
        .collect();
    let names: Vec<&str> = names.into_iter().collect();
    golden("surface/environment.txt", &(names.join("\n") + "\n"));
}

/// Labels that the program gives or obeys, as far as they are fixed; what follows a hyphen or a colon is a value.
const LABELS: [&str; 26] = [
    "auto-mergeable",
    "brainstormed",
    "coverage-threshold-",
    "for-bead-",
    "foreign-eyes-degraded:",
    "formula-",
    "gate",
    "group-",
    "human",
    "implementation-ready",
    "iteration-cap-",
    "lane-feature",
    "merge-ready",
    "patrol",
    "phase-",
    "pr-url-",
    "ralf:cycles=",
    "ralf:required",
    "review-exit-copilot-only",
    "review-exit-human-approvers-",
    "review-level:",
    "sprint-",
    "stage-",
    "verified-by-human",
    "worker-audit-",
    "worktree-path-",
];

/// Statuses of issues, of beads with a Definition of Done, of worker reports and of judges.
const STATUSES: [&str; 17] = [
    "open",
    "in_progress",
    "blocked",
    "deferred",
    "closed",
    "pinned",
    "hooked",
    "pending",
    "completed",
    "failed",
    "RED",
    "GREEN",
    "complete",
    "needs_human",
    "pass",
    "fail",
    "stop",
];

const ISSUE_TYPES: [&str; 10] = [
    "beads-ralph-work",
    "beads-ralph-merge",
    "molecule",
    "task",
    "bug",
    "feature",
    "chore",
    "epic",
    "gate",
    "message",
];

#[test]
fn labels_statuses_and_types_keep_their_names() {
    let literals: Vec<&str> = SOURCES
        .iter()
        .flat_map(|source| source.strings.iter().filter(|it| !source.is_test(it.start)))
        .map(|literal| literal.text.as_str())
        .collect();
    let is_used = |label: &&str| {
        let is_prefix = label.ends_with(['-', ':', '=']);
        let mut found = literals.iter();
        found.any(|text| text == label || is_prefix && text.starts_with(label))
    };
    let words = LABELS.into_iter().chain(STATUSES).chain(ISSUE_TYPES);
    let lost: Vec<&str> = words.filter(|word| !is_used(word)).collect();
    assert!(lost.is_empty(), "no literal of the program says {lost:?}");
}

//! Projects that were worked on, by `run` and by the dispatcher, with their stores and what else they leave.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use std::sync::LazyLock;

use camino::{Utf8Path, Utf8PathBuf};
use regex::Regex;
use serde_json::Value;

use super::Shape;
use crate::env::{TestEnv, golden};

const PLAN: &str = "# Plan: a test\n\n";

/// Agents of both kinds of work. The judge of 1.1 finds something at first.
const AGENT: &str = r#"#!/bin/sh
commit() { git add --all && git commit --quiet -m "$1" >/dev/null 2>&1; git rev-parse HEAD; }
report() { printf '%s\n' "status: $1" "evidence: {$2}" 'escalations: []' 'discovered_work: []' "commits: [$3]" "$4" >"$BEADS_RALPH_REPORT"; }
tests() { echo "tests: {command: sh t.sh, exit_code: $1, skipped: false, passing: $2, failing: $3}"; }
env | sed -n "s/^\(BEADS[A-Z_]*\)=.*/$BEADS_RALPH_ROLE \1/p" >>"$(dirname "$0")/environment"
case "$BEADS_RALPH_ROLE:$BEADS_RALPH_AGENT" in
  dev:*) mkdir -p work && echo "$BEADS_RALPH_ATTEMPT" >"work/$BEADS_RALPH_SPRINT.txt" ;;
  qa:*)
    verdict=pass
    [ "$BEADS_RALPH_SPRINT:$BEADS_RALPH_ATTEMPT" = 1.1:1 ] && verdict=fail
    echo "{\"status\": \"$verdict\", \"message\": \"said\"}" ;;
  worker:bug-diagnoser) report complete '' '' 'root_cause_note: the sum is off by one' ;;
  worker:tdd-red-team) echo 'exit 1' >t.sh; report complete "$(tests 1 0 1)" "$(commit red)" ;;
  worker:tdd-green-team) echo 'exit 0' >t.sh; report complete "$(tests 0 1 0)" "$(commit green)" ;;
  worker:*) report complete ;;
  reviewer:*) echo '{"findings": [], "summary": "fine"}' ;;
esac
"#;

const CONFIG: &str = "permissions: bypass\ndisk: {check_before_start: false}\nintegration: merge\nworktrees: {source_branch: main}\n\
    ralph: {poll_interval: 1h}\ngates: {test: sh t.sh}\nimplement: {reviewers: {codex: worker, gemini: worker}}\n\
    agents: {default: worker, adapters: {worker: {kind: command, executable: ../agent.sh}}}\n";

fn sprint(number: &str) -> String {
    format!(
        "### Sprint {number}: Part {number}\n\n**Worktree**: `../worktrees/{number}`\n**Branch**: `feature/{}`\n\
         **Source Branch**: `main`\n**Estimate**: 5m\n\n**Dev Agents**:\n- `claude` (sonnet) - Do it\n\n\
         **QA Agents**:\n- `claude` (haiku) - Look\n\n**Tasks**:\n- Write work/{number}.txt\n\n\
         **Acceptance Criteria**:\n- It is there\n\n**Verifiers**:\n- there: `test -f work/{number}.txt`\n\n",
        number.replace('.', "-")
    )
}

/// A repository with an empty store, in `repo`.
fn repository() -> (TestEnv, Utf8PathBuf) {
    let env = TestEnv::new();
    let root = env.path("repo");
    env.write("repo/beads-ralph.yaml", CONFIG);
    env.write(
        "repo/plan.md",
        format!("{PLAN}{}{}", sprint("1.1"), sprint("1.2")),
    );
    env.write("agent.sh", AGENT);
    env.tool("chmod", &["+x", "agent.sh"]).run().exits(0);
    let git = |args: &[&str]| drop(env.tool("git", args).at(&root).run().exits(0));
    git(&["init", "-q", "-b", "main"]);
    git(&["config", "user.name", "x"]);
    git(&["config", "user.email", "x@x"]);
    env.command(&["init"]).at(&root).run().exits(0);
    git(&["add", "--all"]);
    git(&["commit", "-q", "-m", "first"]);
    (env, root)
}

/// The text of a golden file: the shape of what each command answers in a directory.
fn answers(env: &TestEnv, root: &Utf8Path, calls: &[&str]) -> String {
    let mut text = String::new();
    for call in calls {
        let args: Vec<&str> = call.split(' ').chain(["--json"]).collect();
        let answer = env.command(&args).at(root).run().exits(0).json();
        _ = write!(text, "## {call}\n{}\n", Shape::of(&answer).lines());
    }
    text
}

/// Every file below a directory, as a path from there.
fn files(root: &Utf8Path) -> BTreeSet<Utf8PathBuf> {
    let mut found = BTreeSet::new();
    let mut pending = vec![root.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in folder.read_dir_utf8().unwrap() {
            let path = entry.unwrap().into_path();
            if path.is_dir() {
                pending.push(path);
            } else {
                found.insert(path.strip_prefix(root).unwrap().to_owned());
            }
        }
    }
    found
}

static ID: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:(?:bd|run)-.*?|[0-9a-f]{16})(\.[a-z]+)?$").unwrap());
static NUMBER: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"-[0-9]+$").unwrap());

/// A path with a star for what differs from project to project: ids and numbers.
fn general(path: &Utf8Path) -> String {
    let parts = path.components().map(|part| part.as_str());
    let parts = parts.map(|part| {
        let part = ID.replace(part, "*$1");
        NUMBER.replace(&part, "-*").into_owned()
    });
    parts.collect::<Vec<_>>().join("/")
}

/// The names of the files below a directory, and what is in those that programs read.
pub(super) fn contents(folder: &Utf8Path) -> String {
    let mut text = format!("## files below {}\n", folder.file_name().unwrap());
    let mut shapes: BTreeMap<String, Shape> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for path in files(folder) {
        let name = general(&path);
        let read = || std::fs::read_to_string(folder.join(&path)).unwrap();
        let documents: Vec<String> = match path.extension() {
            Some("json") => vec![read()],
            Some("jsonl") => read().lines().map(ToOwned::to_owned).collect(),
            _ => Vec::new(),
        };
        for document in documents {
            let value: Value = serde_json::from_str(&document).unwrap();
            shapes.entry(name.clone()).or_default().add(&value);
        }
        names.insert(name);
    }
    for name in names {
        _ = writeln!(text, "{name}");
    }
    for (name, shape) in shapes {
        _ = write!(text, "\n## {name}\n{}", shape.lines());
    }
    text
}

/// What is below `.beads`, and the lines of an export.
fn kept(env: &TestEnv, root: &Utf8Path) -> String {
    let mut text = contents(&root.join(".beads"));
    let mut shapes: BTreeMap<String, Shape> = BTreeMap::new();
    let exported = env.command(&["export"]).at(root).run().exits(0).stdout;
    for line in exported.lines() {
        let bead: Value = serde_json::from_str(line).unwrap();
        let kind = bead["issue_type"].as_str().unwrap_or_default();
        let title = format!("a line of export, type {kind}");
        shapes.entry(title).or_default().add(&bead);
    }
    for (title, shape) in shapes {
        _ = write!(text, "\n## {title}\n{}", shape.lines());
    }
    text
}

/// What agents found in their environment: a line for each role and variable.
fn environment(env: &TestEnv) -> String {
    let seen = env.text("environment");
    let seen: BTreeSet<&str> = seen.lines().collect();
    seen.into_iter().flat_map(|line| [line, "\n"]).collect()
}

#[test]
fn the_keys_and_files_of_a_run() {
    let (env, root) = repository();
    env.command(&["plan", "apply", "plan.md"])
        .at(&root)
        .run()
        .exits(0);
    let first = ["run", "plan.md", "--sprint", "1.1", "--events"];
    let events = env.command(&first).at(&root).run().exits(0).stdout;
    let mut event = Shape::default();
    for line in events.lines() {
        event.add(&serde_json::from_str(line).unwrap());
    }
    let events = format!("## a line of run --events\n{}\n", event.lines());
    let calls = [
        "run plan.md",
        "status",
        "status --metrics",
        "status --bead bd-1-1-part-11",
        "show bd-1-1-part-11",
        "list --all",
        "qa-report",
        "stats",
        "log bd-1-1-part-11",
        "logs bd-1-1-part-11",
        "replay latest",
        "report latest --output ../report.html",
        "metrics latest",
        "recover --dry-run",
        "clean --dry-run",
    ];
    golden("surface/run.txt", &(events + &answers(&env, &root, &calls)));
    golden("surface/run-files.txt", &kept(&env, &root));
    golden("surface/run-environment.txt", &environment(&env));
}

#[test]
fn the_keys_and_files_of_the_dispatcher() {
    let (env, root) = repository();
    let bug = "bd create Sum -t bug --id bd-i -l implementation-ready,brainstormed,ralf:required --acceptance [m]`sh_t.sh` --force";
    let args: Vec<String> = bug.split(' ').map(|arg| arg.replace('_', " ")).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    env.command(&args).at(&root).run().exits(0);
    let calls = [
        "implement bd-i",
        "drive",
        "status",
        "status --bead bd-i",
        "show bd-i",
        "logs bd-i",
        "mol progress",
        "human list",
    ];
    golden("surface/dispatcher.txt", &answers(&env, &root, &calls));
    golden("surface/dispatcher-files.txt", &kept(&env, &root));
    golden("surface/dispatcher-environment.txt", &environment(&env));
}

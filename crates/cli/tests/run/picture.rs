//! What a run leaves behind, in a form in which two runs of the same plan are equal: no times, no sessions, no names of commits.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::world::World;

/// Everything that must come out the same however often the orchestrator was killed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Picture {
    /// Of each sprint: status, attempts, labels.
    beads: BTreeMap<String, String>,
    /// Of each sprint, sorted: the history as it is written into the bead.
    executions: BTreeMap<String, Vec<String>>,
    comments: BTreeMap<String, Vec<String>>,
    /// The tree of each branch, the target's too.
    trees: BTreeMap<String, String>,
    /// The merges in the target, sorted.
    merges: Vec<String>,
    worktrees: usize,
}

impl Picture {
    #[track_caller]
    pub(crate) fn of(world: &World, target: Option<&str>) -> Self {
        let beads = world.beads();
        let of = |what: fn(&Value) -> Vec<String>| {
            let of = |(sprint, bead): (&String, &Value)| (sprint.clone(), what(bead));
            beads.iter().map(of).collect::<BTreeMap<_, _>>()
        };
        let short = |bead: &Value| {
            format!(
                "{} after {}, labels {}, error {}",
                bead["status"],
                bead["metadata"]["attempt_count"],
                bead["labels"],
                bead["metadata"]["scrum_result"]["error"]
            )
        };
        Self {
            executions: of(executions),
            comments: of(comments),
            trees: trees(world),
            merges: target.map_or_else(Vec::new, |target| merges(world, target)),
            worktrees: world.git(&["worktree", "list"]).lines().count(),
            beads: beads
                .iter()
                .map(|(sprint, bead)| (sprint.clone(), short(bead)))
                .collect(),
        }
    }
}

/// The lines of two texts that are not in the other.
pub(crate) fn difference(before: &str, after: &str) -> String {
    let missing = |sign: &str, here: &str, there: &str| -> String {
        let there: BTreeSet<&str> = there.lines().collect();
        let lines = here.lines().filter(|line| !there.contains(line));
        lines
            .map(|line| format!("{sign} {}\n", line.trim()))
            .collect()
    };
    missing("-", before, after) + &missing("+", after, before)
}

fn list<'v>(bead: &'v Value, key: &str) -> &'v [Value] {
    bead["metadata"][key].as_array().map_or(&[], Vec::as_slice)
}

/// Every execution that is recorded, each with a session of its own.
fn executions(bead: &Value) -> Vec<String> {
    let all = || {
        list(bead, "dev_agent_executions")
            .iter()
            .chain(list(bead, "qa_agent_executions"))
    };
    let sessions: BTreeSet<&str> = all().filter_map(|it| it["session_id"].as_str()).collect();
    assert_eq!(
        sessions.len(),
        all().count(),
        "each has a session of its own: {bead:#}"
    );
    let mut said: Vec<String> = all()
        .map(|it| {
            format!(
                "{} {} {} {}",
                it["attempt"], it["agent_path"], it["status"], it["message"]
            )
        })
        .collect();
    said.sort();
    said
}

fn comments(bead: &Value) -> Vec<String> {
    let comments = bead["comments"].as_array().map_or(&[][..], Vec::as_slice);
    let mut said: Vec<String> = comments
        .iter()
        .map(|comment| without_hashes(comment["text"].as_str().unwrap_or_default()))
        .collect();
    said.sort();
    said
}

/// Names of commits depend on the time.
fn without_hashes(text: &str) -> String {
    let is_hash =
        |word: &&str| word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words = text.split_inclusive([' ', ':', '\n']).map(|word| {
        let bare = word.trim_end_matches([' ', ':', '\n']);
        if is_hash(&bare) {
            word.replace(bare, "…")
        } else {
            word.to_owned()
        }
    });
    words.collect()
}

fn trees(world: &World) -> BTreeMap<String, String> {
    let branches = world.git(&[
        "for-each-ref",
        "--format=%(refname:short) %(tree)",
        "refs/heads",
    ]);
    let lines = branches.lines().filter_map(|line| line.split_once(' '));
    lines
        .map(|(name, tree)| (name.to_owned(), tree.to_owned()))
        .collect()
}

fn merges(world: &World, target: &str) -> Vec<String> {
    let said = world.git(&["log", "--first-parent", "--merges", "--format=%s", target]);
    let mut merges: Vec<String> = said.lines().map(str::to_owned).collect();
    merges.sort();
    merges
}

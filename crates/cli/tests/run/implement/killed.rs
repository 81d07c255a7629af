//! A dispatcher that is killed between any two of its decisions, and started again, comes to the same end as one that never was (Z-36).
//!
//! Every test run has some places, drawn from a fixed seed; `BEADS_RALPH_KILL_EVERYWHERE=1` takes all of them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::Signal;
use serde_json::Value;

use super::{Bench, SOURCE, labels, notes};
use crate::kill::{DIE_AT, Dice, is_everywhere};
use crate::picture::difference;
use crate::world::{LONG, wait_until};

/// How many are killed at the same time.
const AT_ONCE: usize = 3;

/// How many places are tried where not all of them are.
const SAMPLED: usize = 9;

/// Two cycles, the first of which is rejected; discovered work in a direct stage and in both cycles.
const SCRIPT: &str = r#"
case "$role:$agent:$attempt" in
  worker:tdd-red-team:*) echo 'exit 1' >t.sh; report complete "$(tests 1 0 1)" "$(commit red)" 'discovered_work: [{title: Look at dates, type: bug, priority: 2}]' ;;
  worker:tdd-green-team:*) echo 'exit 0' >t.sh; echo "$attempt" >>n; report complete "$(tests 0 1 0)" "$(commit green)" "discovered_work: [{title: Cycle $attempt, type: chore, priority: 3}]" ;;
  reviewer:fresh-eyes-reviewer:1) finds critical ;;
  *) diligent ;;
esac
"#;

fn bench() -> Bench {
    let bench = Bench::new(SCRIPT);
    bench.source("bug", "ralf:required,ralf:cycles=2");
    bench
}

/// What must come out the same: no times, no fences, no names of commits or directories.
#[derive(Debug, PartialEq, Eq)]
struct Picture {
    beads: BTreeMap<String, String>,
    commits: Vec<String>,
    /// How often each worker ran; reviewers and the simplifier may look again.
    workers: BTreeMap<String, usize>,
}

impl Picture {
    fn of(bench: &Bench) -> Self {
        let base = bench.world.base.as_str();
        let encoded = base.replace('_', "_u").replace('/', "__");
        let plain =
            |text: &str| without_hashes(&text.replace(base, "BASE").replace(&encoded, "BASE"));
        let told = |bead: &Value| {
            let edges = bead["dependencies"].as_array().into_iter().flatten();
            let edges: Vec<String> = edges
                .map(|edge| format!("{} {}", edge["type"], edge["depends_on_id"]))
                .collect();
            let mut labels = labels(bead);
            labels.sort();
            let reason = bead["close_reason"].as_str().unwrap_or_default();
            plain(&format!(
                "{} {} {labels:?} {:?} {reason:?} {edges:?}",
                bead["title"],
                bead["status"],
                notes(bead),
            ))
        };
        let beads = bench.beads();
        let beads = beads
            .iter()
            .map(|bead| (bead["id"].as_str().unwrap().to_owned(), told(bead)));
        let mut workers = BTreeMap::new();
        for line in bench.ran() {
            if line.starts_with("worker") && !line.contains("simplifier") {
                *workers.entry(line).or_default() += 1;
            }
        }
        let commits = bench
            .world
            .git(&["log", "--format=%s", "fix/proj-1-sum-is-wrong"]);
        Self {
            beads: beads.collect(),
            commits: commits.lines().map(str::to_owned).collect(),
            workers,
        }
    }
}

/// Names of commits depend on the time.
fn without_hashes(text: &str) -> String {
    let is_hash = |word: &str| word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words = text.split_inclusive(|it: char| !it.is_ascii_alphanumeric());
    let words = words.map(|word| {
        let bare = word.trim_end_matches(|it: char| !it.is_ascii_alphanumeric());
        if is_hash(bare) {
            word.replace(bare, "HASH")
        } else {
            word.to_owned()
        }
    });
    words.collect()
}

/// Goes through all stages; one process is killed after a decision, and the ones after it each after another.
fn play(deaths: &[(usize, usize)]) -> (Picture, Vec<usize>) {
    let bench = bench();
    let mut decisions = Vec::new();
    let mut deaths = deaths.iter().peekable();
    for _ in 0..40 {
        let n = decisions.len();
        if let Some((_, place)) = deaths.next_if(|(dispatch, _)| *dispatch == n) {
            let dying = bench.world.command(&["implement", SOURCE]);
            let ended = dying.env(DIE_AT, &place.to_string()).output(LONG);
            assert!(ended.code.is_none() || ended.code == Some(0), "{ended:#?}");
            if ended.code.is_none() {
                continue;
            }
        }
        let told = bench.implement();
        let ending = told["ending"].as_str().unwrap();
        assert!(
            ending == "complete" || ending == "molecule_done",
            "{told:#}"
        );
        decisions.push(told["decisions"].as_array().unwrap().len());
        if ending == "molecule_done" {
            wait_until("nobody is left", || bench.world.processes().is_empty());
            return (Picture::of(&bench), decisions);
        }
    }
    panic!("it never ends");
}

fn play_all(all: &[Vec<(usize, usize)>], undisturbed: &Picture) {
    let next = AtomicUsize::new(0);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let player = || {
            let mut wrong = Vec::new();
            while let Some(deaths) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
                let (picture, _) = play(deaths);
                if picture != *undisturbed {
                    let difference =
                        difference(&format!("{undisturbed:#?}"), &format!("{picture:#?}"));
                    wrong.push(format!("killed at {deaths:?}\n{difference}"));
                }
            }
            wrong
        };
        let players: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(player)).collect();
        players
            .into_iter()
            .flat_map(|player| player.join().unwrap())
            .collect()
    });
    assert!(
        wrong.is_empty(),
        "{} of {} went wrong:\n{}",
        wrong.len(),
        all.len(),
        wrong.join("\n")
    );
}

#[test]
fn z_36_killed_after_any_decision_a_dispatch_comes_to_the_same_end() {
    let (undisturbed, decisions) = play(&[]);
    let places = decisions.iter().enumerate();
    let mut all: Vec<Vec<(usize, usize)>> = places
        .flat_map(|(dispatch, n)| (1..=*n).map(move |place| vec![(dispatch, place)]))
        .collect();
    let n_places = all.len();
    // Killed again while it is still busy with the consequences of having been killed.
    let mut dice = Dice(36);
    let mut roll = |n: usize| usize::try_from(dice.roll(n as u64)).unwrap();
    for _ in 0..n_places / 2 {
        let one = all[roll(n_places)][0];
        all.push(vec![
            one,
            (one.0, 1 + roll(one.1 + 3)),
            (one.0, 1 + roll(12)),
        ]);
    }
    if !is_everywhere() {
        all = (0..SAMPLED)
            .map(|_| all.swap_remove(roll(all.len())))
            .collect();
    }
    play_all(&all, &undisturbed);
}

#[test]
fn z_36_a_report_that_was_there_is_used_however_often_the_dispatcher_is_killed() {
    let bench = Bench::new("diligent");
    bench.source("bug", "");
    bench.bring_to("diagnose");
    let dies = |place: &str| {
        let dying = bench
            .world
            .command(&["implement", SOURCE])
            .env(DIE_AT, place);
        assert_eq!(dying.output(LONG).code, None);
    };
    // After the worker, while its step is closed: only then there is a report and no decision.
    bench.agent("diligent; kill -9 $(cat \"$base/dispatcher\"); sleep 5");
    let dying = bench.world.tool(
        "sh",
        &[
            "-c",
            "echo $$ >../dispatcher; exec \"$0\" implement proj-1",
            env!("CARGO_BIN_EXE_beads-ralph"),
        ],
    );
    assert_eq!(dying.output(LONG).code, None);
    bench.agent("diligent");
    // Killed as soon as it has claimed the step, twice, and interrupted by its own hand.
    dies("8");
    dies("8");
    let told = bench.implement();
    assert_eq!(told["ending"], "complete", "{told:#}");
    assert!(
        told["decisions"]
            .to_string()
            .contains("is there and is used"),
        "{told:#}"
    );
    assert_eq!(bench.ran().len(), 1, "{:?}", bench.ran());
}

#[test]
fn z_36_what_a_worker_that_was_cut_off_had_committed_is_a_part_of_the_same_work() {
    for signal in [Signal::KILL, Signal::INT] {
        let bench = Bench::new("diligent");
        bench.source("feature", "");
        bench.bring_to("red-tests");
        bench.agent("echo 'exit 1' >t.sh; commit red; touch \"$base/working\"; sleep 60");
        let dying = bench.world.command(&["implement", SOURCE]).start();
        bench.world.wait_for("working");
        dying.signal(signal);
        assert_ne!(dying.end().code, Some(0));
        // The next worker finds everything done, and commits nothing.
        bench.agent("diligent");
        let told = bench.implement();
        assert_eq!(told["ending"], "complete", "{signal:?}: {told:#}");
        assert_eq!(bench.ran().len(), 2);
    }
}

//! Processes that open a store, do one thing and end: ours against the bare program.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use beads_ralph_core::bead::BeadId;
use beads_ralph_runtime::store::{SqliteStore, Store as _, Write, find, init};
use camino::{Utf8Path, Utf8PathBuf};

use crate::data::{Sizes, entries, ready_query};
use crate::{Verdicts, median, millis, stamp, timed};

/// How many processes run at a time.
const AT_A_TIME: usize = 40;

/// This benchmark as the bare program, and what it prints.
pub(crate) fn output(arguments: &[&str]) -> String {
    let own = std::env::current_exe().expect("this program has a path");
    let output = command(
        own.to_str().expect("a plain path"),
        Utf8Path::new("."),
        arguments,
    )
    .output();
    String::from_utf8(output.expect("it can be started").stdout).expect("it prints text")
}

#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark starts the programs that it measures"
)]
fn command(program: &str, directory: &Utf8Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(directory)
        .stderr(Stdio::null());
    command
}

/// The time from the start of a process to its end.
fn run(program: &str, directory: &Utf8Path, arguments: &[&str]) -> (bool, Duration) {
    let mut command = command(program, directory, arguments);
    command.stdout(Stdio::null());
    let (status, time) = timed(|| command.status());
    (status.is_ok_and(|status| status.success()), time)
}

/// A directory with a store of many beads.
fn store(root: &Utf8Path, name: &str, n_beads: usize) -> (Utf8PathBuf, SqliteStore) {
    let directory = root.join(name);
    std::fs::create_dir(&directory).expect("a new directory");
    init(&directory).expect("a new store");
    let file = find(&directory).expect("it was just made").database;
    let mut store = SqliteStore::open(&file).expect("it was just made");
    let batch: Vec<Write> = entries(n_beads)
        .map(|entry| Write::Insert(Box::new(entry)))
        .collect();
    store.write(&batch, stamp()).expect("the beads are new");
    (directory, store)
}

fn our_program() -> &'static str {
    env!("CARGO_BIN_EXE_beads-ralph")
}

fn bare_program() -> String {
    let own = std::env::current_exe().expect("this program has a path");
    own.to_str().expect("a plain path").to_owned()
}

/// Cold `ready --json --limit 20` and `show --json` on a store of many beads.
pub(crate) fn queries(root: &Utf8Path, n_beads: usize, sizes: &Sizes, verdicts: &mut Verdicts) {
    let (directory, store) = store(root, &format!("queries-{n_beads}"), n_beads);
    let path = store.path().to_string();
    let id = store.find(&ready_query()).expect("beads")[0]
        .issue
        .id()
        .to_string();
    drop(store);
    let bare = bare_program();
    let subjects: [(&str, &str, Vec<&str>); 6] = [
        ("empty run", our_program(), vec!["--version"]),
        ("empty run, bare", &bare, vec!["--bare", "nothing"]),
        (
            "ready",
            our_program(),
            vec!["ready", "--json", "--limit", "20"],
        ),
        ("ready, bare", &bare, vec!["--bare", "ready", &path, "20"]),
        ("show", our_program(), vec!["show", "--json", &id]),
        ("show, bare", &bare, vec!["--bare", "show", &path, &id]),
    ];
    let mut times: [Vec<Duration>; 6] = Default::default();
    for _ in 0..sizes.n_runs {
        for ((what, program, arguments), times) in subjects.iter().zip(&mut times) {
            let (is_done, time) = run(program, &directory, arguments);
            assert!(is_done, "{what} failed");
            times.push(time);
        }
    }
    println!(
        "processes on {n_beads} beads, milliseconds (medians of {} runs)\n",
        sizes.n_runs
    );
    println!(
        "{:>10} {:>8} {:>8} {:>8} {:>12} {:>12} {:>14}",
        "", "ours", "bare", "ratio", "ours - empty", "bare - empty", "ratio of those"
    );
    let medians = times.each_mut().map(|times| median(times));
    println!(
        "{:>10} {:>8.2} {:>8.2} {:>8.2}",
        "empty run",
        millis(medians[0]),
        millis(medians[1]),
        medians[0].div_duration_f64(medians[1])
    );
    for (what, at) in [("ready", 2), ("show", 4)] {
        let (ours, theirs) = (medians[at], medians[at + 1]);
        let net = [
            ours.saturating_sub(medians[0]),
            theirs.saturating_sub(medians[1]),
        ];
        let ratio = net[0].div_duration_f64(net[1]);
        println!(
            "{what:>10} {:>8.2} {:>8.2} {:>8.2} {:>12.2} {:>12.2} {ratio:>14.2}",
            millis(ours),
            millis(theirs),
            ours.div_duration_f64(theirs),
            millis(net[0]),
            millis(net[1]),
        );
        verdicts.add(
            format!("{what} on {n_beads} beads, without the empty run"),
            ratio,
        );
    }
    println!();
}

/// One claim for each process, forty at a time.
pub(crate) fn claims(root: &Utf8Path, sizes: &Sizes, verdicts: &mut Verdicts) {
    let bare = bare_program();
    let n_beads = sizes.n_claims;
    let (mut ours, mut theirs, mut empty, mut bare_empty) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..sizes.n_rounds.min(3) {
        let (directory, store) = store(root, &format!("claims-{round}"), n_beads);
        let ids: Vec<BeadId> = entries(n_beads)
            .map(|entry| entry.issue.id().clone())
            .collect();
        drop(store);
        let (copy, other) = self::store(root, &format!("claims-{round}-bare"), n_beads);
        let other_path = other.path().to_string();
        drop(other);
        ours.push(all(&ids, |id| {
            run(our_program(), &directory, &["claim", "--force", id]).0
        }));
        theirs.push(all(&ids, |id| {
            run(&bare, &copy, &["--bare", "claim", &other_path, id]).0
        }));
        empty.push(all(&ids, |_| {
            run(our_program(), &directory, &["--version"]).0
        }));
        bare_empty.push(all(&ids, |_| {
            run(&bare, &directory, &["--bare", "nothing"]).0
        }));
    }
    let [ours, theirs, empty, bare_empty] =
        [ours, theirs, empty, bare_empty].map(|mut times| median(&mut times));
    let net = [
        ours.saturating_sub(empty),
        theirs.saturating_sub(bare_empty),
    ];
    let ratio = net[0].div_duration_f64(net[1]);
    println!(
        "{n_beads} processes, one claim each, {AT_A_TIME} at a time, milliseconds (medians)\n"
    );
    println!("{:>22} {:>10} {:>10} {:>8}", "", "ours", "bare", "ratio");
    println!(
        "{:>22} {:>10.0} {:>10.0} {:>8.2}",
        "claims",
        millis(ours),
        millis(theirs),
        ours.div_duration_f64(theirs)
    );
    println!(
        "{:>22} {:>10.0} {:>10.0} {:>8.2}",
        "empty runs",
        millis(empty),
        millis(bare_empty),
        empty.div_duration_f64(bare_empty)
    );
    println!(
        "{:>22} {:>10.0} {:>10.0} {ratio:>8.2}",
        "claims without those",
        millis(net[0]),
        millis(net[1])
    );
    verdicts.add(
        format!("{n_beads} one-claim processes"),
        ours.div_duration_f64(theirs),
    );
    verdicts.add(
        format!("{n_beads} one-claim processes, without the empty runs"),
        ratio,
    );
}

/// The time until all of them are done, so many at a time.
fn all(ids: &[BeadId], one: impl Fn(&str) -> bool + Sync) -> Duration {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(id) = ids.get(next.fetch_add(1, Ordering::Relaxed)) {
            assert!(one(id.as_str()), "{id} failed");
        }
    };
    let ((), time) = timed(|| {
        std::thread::scope(|scope| {
            for _ in 0..AT_A_TIME {
                scope.spawn(work);
            }
        });
    });
    time
}

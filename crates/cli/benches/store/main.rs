//! How fast the store is, against a bare program that does the same with the same schema and the same rows.
//!
//! `cargo bench` prints the figures, `cargo bench -- --check` also fails when a target is missed; what they mean
//! is in `docs/benchmarks.md`. The bare program is this benchmark itself, started with `--bare`. Both sides take
//! turns, so that a machine that slows down for a while slows both, and medians are compared.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod bare;
mod data;
#[path = "../common/figures.rs"]
mod figures;
mod processes;

use std::process::ExitCode;
use std::time::Duration;

use beads_ralph_runtime::store::{SqliteStore, Stamp, Store as _, Write};
use camino::{Utf8Path, Utf8PathBuf};

use crate::data::{Sizes, entries};
use crate::figures::{Verdicts, median, millis, timed};

/// How much longer than the bare program anything may take.
const MAX_RATIO: f64 = 2.0;

/// The argument with which the benchmark runs itself to measure memory.
const PEAK_MEMORY: &str = "--peak-memory";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |wanted: &str| arguments.iter().any(|argument| argument == wanted);
    match arguments.first().map(String::as_str) {
        Some("--bare") => return bare::main(&arguments[1..]),
        Some(PEAK_MEMORY) => return peak_memory_of(&arguments[1..]),
        _ => {}
    }
    // Cargo passes `--bench` when it benches; figures of an unoptimised build would mislead.
    let sizes = if has("--bench") {
        Sizes::FULL
    } else {
        Sizes::SMALL
    };
    let directory = tempfile::tempdir().expect("there is room for temporary files");
    let root = Utf8PathBuf::from_path_buf(directory.path().to_owned()).expect("a plain path");
    let mut verdicts = Verdicts::default();
    insertion(&root, &sizes, &mut verdicts);
    for n_beads in sizes.stores {
        processes::queries(&root, n_beads, &sizes, &mut verdicts);
    }
    processes::claims(&root, &sizes, &mut verdicts);
    report_memory(&root, &sizes);
    if !verdicts.report(MAX_RATIO) && has("--check") {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn stamp() -> Stamp<'static> {
    Stamp {
        actor: "bench",
        at: jiff::Timestamp::from_second(1_790_000_000).expect("a time"),
    }
}

/// Puts beads into a new store in one batch.
fn insert(path: &Utf8Path, n_beads: usize) -> Duration {
    let batch: Vec<Write> = entries(n_beads)
        .map(|entry| Write::Insert(Box::new(entry)))
        .collect();
    let (mut store, _) = SqliteStore::open_or_create(path).expect("a new store");
    let (written, time) = timed(|| store.write(&batch, stamp()));
    written.expect("the beads are new");
    time
}

fn insertion(root: &Utf8Path, sizes: &Sizes, verdicts: &mut Verdicts) {
    println!(
        "insertion in one batch, milliseconds (medians of {} runs)\n",
        sizes.n_rounds
    );
    println!(
        "{:>9} {:>10} {:>10} {:>8}",
        "beads", "store", "bare", "ratio"
    );
    for n_beads in sizes.insertions {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..sizes.n_rounds {
            let path = root.join(format!("insert-{n_beads}-{round}.db"));
            ours.push(insert(&path, n_beads));
            let copy = root.join(format!("bare-{n_beads}-{round}.db"));
            theirs.push(bare::copy(&path, &copy));
            for path in [path, copy] {
                std::fs::remove_file(path).expect("the file is there");
            }
        }
        let (ours, theirs) = (median(&mut ours), median(&mut theirs));
        let ratio = ours.div_duration_f64(theirs);
        println!(
            "{n_beads:>9} {:>10.1} {:>10.1} {ratio:>8.2}",
            millis(ours),
            millis(theirs)
        );
        if n_beads == 10_000 {
            verdicts.add("inserting 10,000 beads", ratio);
        }
    }
    println!();
}

/// Memory of processes of their own, which have done nothing else.
fn report_memory(root: &Utf8Path, sizes: &Sizes) {
    println!("\npeak memory, MiB\n");
    for [what, n_beads] in [
        ["nothing", "0"],
        [
            "insert",
            &sizes.insertions[sizes.insertions.len() - 1].to_string(),
        ],
        ["ready", &sizes.stores[sizes.stores.len() - 1].to_string()],
        ["list", &sizes.stores[sizes.stores.len() - 1].to_string()],
    ] {
        let path = match what {
            "insert" => root.join("memory.db"),
            _ => root.join(format!("queries-{n_beads}/.beads/beads-ralph.db")),
        };
        let peak = processes::output(&[PEAK_MEMORY, what, n_beads, path.as_str()]);
        println!("{what:>9} {n_beads:>9} {:>8}", peak.trim());
    }
}

fn peak_memory_of(arguments: &[String]) -> ExitCode {
    let [what, n_beads, path] = arguments else {
        return ExitCode::FAILURE;
    };
    let path = Utf8Path::new(path);
    match what.as_str() {
        "insert" => drop(insert(path, n_beads.parse().expect("a number"))),
        "ready" => drop(SqliteStore::open(path).and_then(|store| store.find(&data::ready_query()))),
        "list" => drop(SqliteStore::open(path).and_then(|store| store.find(&data::everything()))),
        _ => {}
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes: Option<f64> =
        line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok());
    println!("{:.1}", kibibytes.unwrap_or(f64::NAN) / 1024.0);
    ExitCode::SUCCESS
}

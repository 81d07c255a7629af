//! How long it takes to compile a formula and to pour it, against inserting beads that are ready, with the growth from 10 to 1,000
//! steps. A pour is one batch, whatever its size.
//!
//! `cargo bench --bench pour` prints the figures, `-- --check` also fails when a target is missed; see `docs/benchmarks.md`.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "../common/figures.rs"]
mod figures;

use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use beads_ralph_core::formula::{
    Format, FormulaFile, FormulaName, FormulaSource, Given, Molecule, Strictness, Values, compile,
};
use beads_ralph_core::issue::Entry;
use beads_ralph_runtime::pour::{Order, draft, pour};
use beads_ralph_runtime::store::{SqliteStore, Stamp, Store as _, Write};
use camino::{Utf8Path, Utf8PathBuf};

use crate::figures::{Verdicts, median, millis, timed};

/// How much longer than inserting its beads a pour may take.
const MAX_RATIO: f64 = 1.5;

/// A formula that is only a text.
struct Text(String);

impl FormulaSource for Text {
    fn fetch(&self, _: &FormulaName) -> Result<Option<FormulaFile>, String> {
        Ok(Some(FormulaFile {
            path: "bench.formula.toml".to_owned(),
            format: Format::Toml,
            text: self.0.clone(),
            remark: None,
        }))
    }

    fn names(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A formula of so many steps, each of which needs one or two before it and says something with a variable in it.
fn formula(n_steps: usize) -> Text {
    let mut text = "formula = 'bench'\n[vars]\nwhat = 'work'\n".to_owned();
    for at in 0..n_steps {
        let needs: Vec<String> = [at.checked_sub(1), at.checked_sub(7)]
            .into_iter()
            .flatten()
            .map(|need| format!("'s{need}'"))
            .collect();
        write!(
            text,
            "[[steps]]\nid = 's{at}'\ntitle = 'Step {at} of the {{{{what}}}}'\n\
             description = 'Do the {{{{what}}}} as the plan says, and report.'\nlabels = ['area-{}', '{{{{what}}}}']\n\
             needs = [{}]\nmetadata = {{ size = {at}, what = '{{{{what}}}}' }}\n",
            at % 10,
            needs.join(", ")
        )
        .expect("a text can be written to");
    }
    Text(text)
}

fn compiled(text: &Text) -> Molecule {
    let values = Values::parse(["what=bench"]).expect("a value");
    let compilation = compile(text, "bench", Given::Values(&values), Strictness::Strict);
    let compilation = compilation.expect("the formula is there");
    compilation.molecule.expect("the formula has no mistakes")
}

fn stamp() -> Stamp<'static> {
    Stamp {
        actor: "bench",
        at: jiff::Timestamp::from_second(1_790_000_000).expect("a time"),
    }
}

fn order(molecule: &Molecule) -> Order<'_> {
    Order {
        molecule,
        attached: &[],
        assignee: None,
        labels: &[],
        is_wisp: false,
        for_bead: None,
    }
}

fn store(path: &Utf8Path) -> SqliteStore {
    SqliteStore::open_or_create(path).expect("a new store").0
}

/// A pour into a new store, and its beads into another one.
fn both(root: &Utf8Path, molecule: &Molecule, round: usize) -> (Duration, Duration) {
    let paths = ["pour", "bare"].map(|kind| root.join(format!("{kind}-{round}.db")));
    let mut poured = store(&paths[0]);
    let (made, ours) = timed(|| pour(&mut poured, &order(molecule), stamp()));
    made.expect("there is room");
    let mut bare = store(&paths[1]);
    let issues = draft(&bare, &order(molecule), stamp())
        .expect("it is valid")
        .issues;
    let batch: Vec<Write> = issues
        .into_iter()
        .map(|issue| Write::Insert(Box::new(Entry::new(issue))))
        .collect();
    let (written, theirs) = timed(|| bare.write(&batch, stamp()));
    written.expect("the beads are new");
    drop((poured, bare));
    for path in paths {
        std::fs::remove_file(path).expect("the file is there");
    }
    (ours, theirs)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |wanted: &str| arguments.iter().any(|argument| argument == wanted);
    // Cargo passes `--bench` when it benches; figures of an unoptimised build would mislead.
    let (sizes, n_rounds): (&[usize], usize) = if has("--bench") {
        (&[10, 100, 1000], 9)
    } else {
        (&[10, 100], 1)
    };
    let directory = tempfile::tempdir().expect("there is room for temporary files");
    let root = Utf8PathBuf::from_path_buf(directory.path().to_owned()).expect("a plain path");
    let mut verdicts = Verdicts::default();
    println!("pouring a formula, milliseconds (medians of {n_rounds} runs)\n");
    println!(
        "{:>7} {:>10} {:>10} {:>10} {:>8} {:>14}",
        "steps", "compile", "pour", "insert", "ratio", "µs per step"
    );
    for n_steps in sizes {
        let text = formula(*n_steps);
        let (mut compiling, mut ours, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..n_rounds {
            let (molecule, time) = timed(|| compiled(&text));
            compiling.push(time);
            let (pouring, inserting) = both(&root, &molecule, round);
            ours.push(pouring);
            theirs.push(inserting);
        }
        let compiling = median(&mut compiling);
        let (ours, theirs) = (median(&mut ours), median(&mut theirs));
        let ratio = ours.div_duration_f64(theirs);
        let per_step = (compiling + ours) / u32::try_from(*n_steps).unwrap_or(u32::MAX);
        println!(
            "{n_steps:>7} {:>10.2} {:>10.2} {:>10.2} {ratio:>8.2} {:>14.0}",
            millis(compiling),
            millis(ours),
            millis(theirs),
            millis(per_step) * 1000.0
        );
        if *n_steps == 1000 {
            verdicts.add("pouring 1,000 steps", ratio);
        }
    }
    println!();
    if !verdicts.report(MAX_RATIO) && has("--check") {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

//! What our pours make beside what the real `bd` makes of the same formulas: a file for each construct of the format.
//!
//! The files are in `formulas/constructs`; [`fixture`] says how they are written. Each formula is poured by both programs into stores
//! of their own, and the beads are compared by the names of their steps ([`shape`]). A difference that is meant stands in the file
//! with its reason. One that does not show any more fails the test, so that nothing is excused for nothing.

use std::sync::OnceLock;

use beads_ralph_runtime::os::files;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value;
use tempfile::TempDir;

use self::fixture::{Difference, Fixture, Pour};
use self::shape::Shape;
use crate::world::{Ended, process, real};

mod fixture;
mod shape;

/// A test for each file.
macro_rules! constructs {
    ($($test:ident $file:literal),* $(,)?) => {
        const FILES: &[&str] = &[$($file),*];

        $(
            #[test]
            #[ignore = "needs the real bd: scripts/real-tools bd"]
            fn $test() {
                compare($file);
            }
        )*
    };
}

constructs! {
    f_6_needs "needs",
    f_6_children "children",
    f_6_what_a_step_is "step",
    f_6_what_a_root_is "root",
    f_3_variables "variables",
    f_4_values_that_do_not_fit "values",
    z_38_conditions "condition",
    z_38_gates_of_steps "gate",
    z_38_waiting_for_children "waits-for",
    z_38_loops_by_count "loop-count",
    z_38_loops_over_a_range "loop-range",
    z_38_loops_until "loop-until",
    z_38_loops_in_loops "loop-nested",
    z_38_expansions_of_a_step "expand",
    z_38_expansions_by_rule "compose-expand",
    z_38_expansions_of_many "compose-map",
    z_38_branches "compose-branch",
    z_38_gates_by_rule "compose-gate",
    z_38_aspects "aspects",
    z_38_advice "advice",
    z_38_extends "extends",
    f_1_formats "formats",
    f_9_phases "phase",
    f_10_wisps "wisp",
}

#[test]
fn every_file_is_compared() {
    let mut found: Vec<String> = (fixture::folder().read_dir_utf8().unwrap())
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_owned())
        .collect();
    found.sort();
    let mut known = FILES.to_vec();
    known.sort_unstable();
    assert_eq!(found, known);
}

/// A program with a store and a home of its own.
struct Side {
    program: Program,
    root: Utf8PathBuf,
    _guard: TempDir,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Program {
    Real,
    Ours,
}

/// What a side made of a pour, or what it said instead.
type Made = Result<Shape, String>;

#[track_caller]
fn compare(name: &str) {
    let fixture = Fixture::read(name);
    let [theirs, ours] = [Program::Real, Program::Ours].map(|program| {
        let side = Side::new(program);
        side.put(&fixture);
        side.made(&fixture.pours)
    });
    let mut complaints = Vec::new();
    for ((pour, theirs), ours) in fixture.pours.iter().zip(theirs).zip(ours) {
        complaints.extend(judge(pour, &theirs, &ours));
    }
    assert!(
        complaints.is_empty(),
        "{name}:\n{}",
        complaints.join("\n\n")
    );
}

/// What is wrong with a pour, in words.
fn judge(pour: &Pour, theirs: &Made, ours: &Made) -> Vec<String> {
    let call = format!("{} {:?}", pour.formula, pour.vars);
    let mut complaints = Vec::new();
    for (who, made, expected) in [
        ("the real bd", theirs, &pour.refused_by_real),
        ("ours", ours, &pour.refused_by_ours),
    ] {
        match (made, expected) {
            (Ok(_), None) => {}
            (Err(said), Some(part)) if said.contains(part.as_str()) => {}
            (Ok(_), Some(part)) => {
                complaints.push(format!("{call}: {who} pours, and should say: {part}"));
            }
            (Err(said), _) => complaints.push(format!("{call}: {who} says: {said}")),
        }
    }
    if let (Ok(theirs), Ok(ours)) = (theirs, ours) {
        complaints.extend(unexpected(&call, pour, &shape::differences(theirs, ours)));
    }
    let needs_reason = pour.refused_by_real.is_some() != pour.refused_by_ours.is_some();
    if needs_reason && pour.why.is_empty() {
        complaints.push(format!("{call}: why does only one of them pour?"));
    }
    complaints
}

/// Differences that are not named, and names of differences that do not show.
fn unexpected(call: &str, pour: &Pour, found: &[Difference]) -> Vec<String> {
    let is_new = |difference: &&Difference| !pour.differs.iter().any(|one| one.is(difference));
    let is_gone = |difference: &&Difference| !found.iter().any(|one| one.is(difference));
    let new = found.iter().filter(is_new);
    let gone = pour.differs.iter().filter(is_gone);
    let unexplained = (pour.differs.iter()).filter(|difference| difference.why.is_empty());
    new.map(|one| format!("{call}: a difference that is not named:\n{one}"))
        .chain(gone.map(|one| format!("{call}: no difference any more:\n{one}")))
        .chain(unexplained.map(|one| format!("{call}: a difference without a reason:\n{one}")))
        .collect()
}

/// A store without beads: making one takes the real program seconds.
fn template(program: Program) -> &'static Side {
    static REAL: OnceLock<Side> = OnceLock::new();
    static OURS: OnceLock<Side> = OnceLock::new();
    let template = match program {
        Program::Real => &REAL,
        Program::Ours => &OURS,
    };
    template.get_or_init(|| {
        let side = Side::bare(program);
        for name in ["work", "home"] {
            std::fs::create_dir(side.root.join(name)).unwrap();
        }
        for args in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["config", "user.name", "Test"],
            &["config", "user.email", "test@example.org"],
            &["commit", "--quiet", "--allow-empty", "--message=start"],
        ] {
            let (work, home) = (side.root.join("work"), side.root.join("home"));
            process("git".into(), args, &work, &home).run().exits(0);
        }
        let init = ["init", "--non-interactive", "--prefix=tt", "--skip-hooks"];
        side.bd(&[&init[..], &["--skip-agents"]].concat()).exits(0);
        side
    })
}

impl Side {
    fn bare(program: Program) -> Self {
        let guard = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let root = Utf8PathBuf::from_path_buf(guard.path().canonicalize().unwrap()).unwrap();
        Self {
            program,
            root,
            _guard: guard,
        }
    }

    fn new(program: Program) -> Self {
        let side = Self::bare(program);
        let from = template(program).root.join(".");
        let root = Utf8Path::new("/");
        process(
            "cp".into(),
            &["-a", from.as_str(), side.root.as_str()],
            root,
            root,
        )
        .run()
        .exits(0);
        side
    }

    /// Puts the formulas where both programs look for them.
    fn put(&self, fixture: &Fixture) {
        let folder = self.root.join("work/.beads/formulas");
        std::fs::create_dir_all(&folder).unwrap();
        for (name, text) in &fixture.files {
            files::write_atomic(&folder.join(name), text.as_bytes()).unwrap();
        }
    }

    fn run(&self, program: Utf8PathBuf, words: &[&str]) -> Ended {
        let (work, home) = (self.root.join("work"), self.root.join("home"));
        process(program, words, &work, &home)
            .env("BEADS_ACTOR", "tester")
            .env("BD_NON_INTERACTIVE", "1")
            .env("BD_DISABLE_METRICS", "1")
            .run()
    }

    /// A call in the words of `bd`.
    fn bd(&self, words: &[&str]) -> Ended {
        match self.program {
            Program::Real => self.run(real("bd"), words),
            Program::Ours => self.ours(&[&["bd"], words].concat()),
        }
    }

    fn ours(&self, words: &[&str]) -> Ended {
        self.run(env!("CARGO_BIN_EXE_beads-ralph").into(), words)
    }

    /// Pours, and looks at all beads once.
    fn made(&self, pours: &[Pour]) -> Vec<Made> {
        let answers: Vec<Result<Value, String>> =
            pours.iter().map(|pour| self.pour(pour)).collect();
        let exported = self.bd(&["export", "--all"]).exits(0);
        let beads = exported.events();
        let shape = |answer: Value| match self.program {
            Program::Real => Shape::of_real(&answer, &beads),
            Program::Ours => Shape::of_ours(&answer, &beads),
        };
        answers
            .into_iter()
            .map(|answer| answer.map(shape))
            .collect()
    }

    fn pour(&self, pour: &Pour) -> Result<Value, String> {
        let verb = if pour.wisp { "wisp" } else { "pour" };
        let mut words = vec!["mol", verb, &pour.formula, "--json"];
        for var in &pour.vars {
            words.extend(["--var", var]);
        }
        let ended = match self.program {
            Program::Real => self.bd(&words),
            Program::Ours => self.ours(&words),
        };
        match (ended.code, serde_json::from_str(&ended.stdout)) {
            (Some(0), Ok(answer)) => Ok(answer),
            _ => Err(ended.stderr + &ended.stdout),
        }
    }
}

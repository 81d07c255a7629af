//! Two hundred units of the worst kinds, many at once, ended at random, and whoever runs them killed in some rounds.
//!
//! Everything is drawn from one seed, which a failure names and `BEADS_RALPH_TORTURE_SEED` sets. `BEADS_RALPH_TORTURE_ROUNDS` asks for
//! more than the four rounds that every test run has.

use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use beads_ralph_runtime::os::clock;
use beads_ralph_runtime::os::process::{
    self, Cancel, Ending, Limits, Mark, Silent, Spec, Stdin, UnitError, Units,
};
use camino::Utf8Path;

use crate::tools::{LONG, Place, again, mark, part, peak_memory, processes_with, spec, units};

const SEED: &str = "BEADS_RALPH_TORTURE_SEED";
const ROUNDS: &str = "BEADS_RALPH_TORTURE_ROUNDS";

const TEST: &str = "torture::z_19_two_hundred_units_of_the_worst_kinds";

/// How many units a round has, and how many of them are under way at once.
const N_UNITS: usize = 50;
const AT_ONCE: usize = 16;

/// How much memory a round may take, in KiB: a unit keeps up to two MiB.
const MAX_MEMORY: u64 = 96 << 10;

const GRACE: Duration = Duration::from_millis(250);

/// Numbers that look random and are the same for the same seed (`SplitMix64`).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, n_sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (value ^ (value >> 31)) % n_sides
    }
}

/// The kinds of units. `TOKEN` stands for what the command lines of a round have in common: a process that has dropped its mark is
/// found by that.
const KINDS: &[&str] = &[
    // It ends as it should.
    "echo fine; echo fine >&2; exit 3",
    // It leaves children.
    "for i in 1 2 3 4 5; do sleep 1000.TOKEN & done; exit 0",
    // It leaves a daemon: another session, nothing open.
    "(setsid sh -c 'exec >/dev/null 2>&1 </dev/null; sleep 1000.TOKEN & wait' &); sleep 0.05",
    // It leaves a daemon that has no mark.
    "(env -i setsid sleep 1000.TOKEN >/dev/null 2>&1 &); sleep 0.05",
    // It does not listen.
    "trap '' TERM HUP INT; while :; do sleep 1000.TOKEN; done",
    // It never stops talking.
    "exec yes TOKEN",
    "while :; do echo TOKEN; echo TOKEN >&2; done",
    "yes TOKEN | head -c 20000000; yes TOKEN | head -c 20000000 >&2",
    // It says half of a character.
    r"printf 'TOKEN\303'; exec sleep 1000.TOKEN",
    // It closes what it should write to, and goes on.
    "exec >&- 2>&-; sleep 1000.TOKEN",
    // Its grandchild does not listen and holds the pipe.
    "(trap '' TERM; sleep 1000.TOKEN) & sleep 1000.TOKEN",
    // It dies and leaves somebody.
    "sleep 1000.TOKEN & kill -9 $$",
    // It stops.
    "sleep 1000.TOKEN & kill -STOP $$",
    // It runs away, from process to process.
    "exec ./runaway TOKEN",
    // It is deep.
    "exec ./deep 20 TOKEN",
    // It wants its shim to end.
    "sleep 1000.TOKEN & kill $PPID; sleep 1000.TOKEN",
    // It never reads.
    "sleep 0.1; exit 0",
];

/// Kills its shim. Not where we are killed too: then only the next run can sweep.
const PATRICIDE: &str =
    "setsid sleep 1000.TOKEN & env -i sleep 1000.TOKEN & kill -9 $PPID; sleep 1000.TOKEN";

const RUNAWAY: &str = "#!/bin/sh\nsleep 0.01\nsetsid \"$0\" \"$1\" &\n";
const DEEP: &str =
    "#!/bin/sh\n[ \"$1\" -gt 0 ] && \"$0\" $(($1 - 1)) \"$2\" &\nsleep \"1000.$2\"\n";

/// One round: its units, and whether whoever runs them is killed.
struct Round {
    /// The seed of the whole, for whoever must see a failure again.
    origin: u64,
    seed: u64,
    is_killed: bool,
}

impl Round {
    /// What its command lines have in common: digits, for `sleep`.
    fn token(&self) -> String {
        format!("{}{:07}", std::process::id(), self.seed % 10_000_000)
    }
}

/// A unit of a round, and when it is cancelled.
fn draw(
    dice: &mut Dice,
    token: &str,
    place: &Utf8Path,
    is_killed: bool,
) -> (Spec, Option<Duration>) {
    let n_kinds = KINDS.len() as u64 + u64::from(!is_killed);
    let kind = usize::try_from(dice.roll(n_kinds)).unwrap();
    let text = KINDS
        .get(kind)
        .unwrap_or(&PATRICIDE)
        .replace("TOKEN", token);
    let mut spec = spec(&["/bin/sh", "-c", &text]);
    spec.cwd = place.to_owned();
    spec.stdin = Stdin::File(place.join("input"));
    spec.limits = Limits {
        wall: Some(Duration::from_millis(100 + dice.roll(700))),
        idle: (dice.roll(3) == 0).then(|| Duration::from_millis(300)),
        grace: GRACE,
    };
    if dice.roll(2) == 0 {
        let output = place.join(&spec.mark.0);
        std::fs::create_dir(&output).unwrap();
        spec.output = Some(output);
    }
    if dice.roll(20) == 0 {
        spec.argv = vec!["no-such-program-anywhere".to_owned()];
    }
    let cancelled_after = dice.roll(2) == 0;
    let cancelled_after = cancelled_after.then(|| Duration::from_micros(dice.roll(400_000)));
    (spec, cancelled_after)
}

/// Runs a unit and demands that nothing of it is left.
fn run(units: &Units, spec: &Spec, cancelled_after: Option<Duration>) {
    let cancel = Cancel::new().unwrap();
    let ended = std::thread::scope(|scope| {
        if let Some(time) = cancelled_after {
            let cancel = &cancel;
            scope.spawn(move || {
                std::thread::sleep(time);
                cancel.cancel();
            });
        }
        units.run(spec, &cancel, &mut Silent)
    });
    match ended {
        Ok(ended) => {
            assert!(ended.survivors.is_empty(), "{spec:?}: {ended:?}");
            let is_lost = ended.ending == Ending::Unknown;
            let is_patricide = spec.argv.iter().any(|text| text.contains("kill -9 $PPID"));
            assert!(!is_lost || is_patricide, "{spec:?}: {ended:?}");
        }
        Err(UnitError::Program { is_missing, .. }) => assert!(is_missing, "{spec:?}"),
        Err(error) => panic!("{spec:?}: {error}"),
    }
    let left = process::find(&spec.mark);
    assert!(left.is_empty(), "{left:?} are left of {spec:?}");
}

/// Ends this process when the round does not.
fn abort_when_stuck() {
    std::thread::spawn(|| {
        std::thread::sleep(2 * LONG);
        eprintln!("the round is stuck");
        std::process::abort();
    });
}

/// The round itself, in a process of its own.
fn play(round: &Round, token: &str, place: &Utf8Path) {
    let units = units().with_max_file(1 << 20);
    let mut dice = Dice(round.seed);
    // Whoever is to be killed must not be done before.
    let n_units = N_UNITS * if round.is_killed { 20 } else { 1 };
    let jobs: Vec<(Spec, Option<Duration>)> = (0..n_units)
        .map(|_| draw(&mut dice, token, place, round.is_killed))
        .collect();
    // The first unit makes what stays for good.
    run(&units, &spec(&["true"]), None);
    let n_files = n_open_files();
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((spec, cancelled_after)) =
                    jobs.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    run(&units, spec, *cancelled_after);
                }
            });
        }
    });
    drop(units);
    assert_eq!(
        children(),
        Vec::<String>::new(),
        "neither shims nor zombies"
    );
    assert!(
        n_open_files() < n_files,
        "{} and {n_files} files",
        n_open_files()
    );
    let memory = peak_memory();
    assert!(memory < MAX_MEMORY, "{memory} KiB");
}

fn n_open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// The children of this process, zombies too.
fn children() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let lists = tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("children")));
    let lists: Vec<String> = lists.map(Result::unwrap_or_default).collect();
    let children = lists.iter().flat_map(|list| list.split_whitespace());
    children.map(str::to_owned).collect()
}

/// The processes of a round that are there: by its mark, or by what their command lines have in common.
fn processes(mark: &Mark, token: &str) -> Vec<String> {
    let marked = process::find(mark).into_iter().map(|pid| pid.to_string());
    marked.chain(processes_with(token)).collect()
}

/// Lets a process of its own play a round, and looks for what is left.
fn referee(round: &Round) {
    let (mark, token) = (mark(), round.token());
    let seed = round.seed;
    let place = Place::new();
    place.file("input", &vec![b'x'; 10_000_000]);
    place.program("runaway", RUNAWAY);
    place.program("deep", DEEP);
    let part = format!("{seed} {} {token} {}", round.is_killed, place.root());
    let mut command = again(TEST, &part);
    command.env(Mark::VARIABLE, &mark.0);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut player = command.spawn().unwrap();
    if round.is_killed {
        let mut dice = Dice(!seed);
        std::thread::sleep(Duration::from_millis(300 + dice.roll(900)));
        player.kill().unwrap();
    }
    let output = player.wait_with_output().unwrap();
    let talk = [output.stdout, output.stderr].concat();
    let talk = String::from_utf8_lossy(&talk);
    let is_right = if round.is_killed {
        output.status.code().is_none()
    } else {
        output.status.success()
    };
    let origin = round.origin;
    assert!(is_right, "{SEED}={origin}: {}: {talk}", output.status);
    let until: Instant = clock::monotonic() + LONG;
    loop {
        let left = processes(&mark, &token);
        if left.is_empty() {
            return;
        }
        // Who was there when we were killed is given its grace; otherwise all is over with the unit.
        let is_late = !round.is_killed || clock::monotonic() > until;
        assert!(!is_late, "{SEED}={origin}: {left:?} are left");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn number_in(variable: &str) -> Option<u64> {
    #[expect(clippy::disallowed_methods, reason = "whoever runs the tests sets it")]
    let value = std::env::var(variable);
    value.ok()?.parse().ok()
}

#[test]
fn z_19_two_hundred_units_of_the_worst_kinds() {
    if let Some(part) = part() {
        let words: Vec<&str> = part.split(' ').collect();
        let round = Round {
            origin: 0,
            seed: words[0].parse().unwrap(),
            is_killed: words[1] == "true",
        };
        abort_when_stuck();
        play(&round, words[2], Utf8Path::new(words[3]));
        return;
    }
    let origin = number_in(SEED).unwrap_or(4);
    let mut dice = Dice(origin);
    let n_rounds = number_in(ROUNDS).unwrap_or(4);
    for number in 0..n_rounds {
        referee(&Round {
            origin,
            seed: dice.roll(1 << 48),
            is_killed: false,
        });
        if number % 2 == 1 {
            referee(&Round {
                origin,
                seed: dice.roll(1 << 48),
                is_killed: true,
            });
        }
    }
}

//! Our `bd` beside the real one: every command and flag of the face's argument tree, called on both with equal data.
//!
//! The cases are text, in `bd_face/cases`; [`script`] says how it is written. What both print and how they end is compared after
//! ids, times and paths were given names ([`normal`]). Where they differ, the case names the entry of docs/bd-compatibility.md that
//! says so. `BEADS_RALPH_CASES=label` in the environment plays only the scenarios whose names have that in them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::thread;

use camino::Utf8Path;

use self::coverage::Tree;
use self::pair::{Compared, Program, Seen, Templates};
use self::script::Scenario;
use crate::world::process;

mod coverage;
mod difference;
mod normal;
mod pair;
mod script;

/// How many scenarios are played at once. Each call of the real program keeps more than one core busy.
const N_THREADS: usize = 3;

/// Plays scenarios on two programs, several at once.
fn play(programs: [Program; 2], scenarios: &[Scenario]) -> Vec<Compared> {
    let templates = Templates::new(programs);
    let waiting = Mutex::new(scenarios.iter());
    let compared = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..N_THREADS {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().unwrap().next();
                    let Some(scenario) = next else { break };
                    let played = templates.play(scenario);
                    compared.lock().unwrap().extend(played);
                }
            });
        }
    });
    let mut compared = compared.into_inner().unwrap();
    compared.sort_by(|a, b| (&a.scenario, a.call.line).cmp(&(&b.scenario, b.call.line)));
    compared
}

/// What is wrong with the calls, in words, and which differences showed.
fn judge(compared: &[Compared]) -> (Vec<String>, BTreeSet<u8>) {
    let mut complaints = Vec::new();
    let mut shown = BTreeSet::new();
    for Compared {
        scenario,
        call,
        left,
        right,
    } in compared
    {
        let place = format!("{scenario}, line {}: {}", call.line, call.text);
        if (left.code == Some(0)) != call.is_success {
            complaints.push(format!(
                "{place}\n    the real one ends with {:?}\n{}",
                left.code, left.stderr
            ));
        }
        if left == right {
            continue;
        }
        let number = call.difference;
        let is_same = number.is_some_and(|number| {
            difference::rest(number, left) == difference::rest(number, right)
        });
        if is_same {
            shown.extend(number);
        } else {
            complaints.push(format!("{place}\n{}", told(left, right)));
        }
    }
    (complaints, shown)
}

/// Where two sides differ, line by line.
fn told(left: &Seen, right: &Seen) -> String {
    let mut text = String::new();
    if left.code != right.code {
        writeln!(
            text,
            "    exit code: real {:?}, ours {:?}",
            left.code, right.code
        )
        .unwrap();
    }
    for (name, left, right) in [
        ("stdout", &left.stdout, &right.stdout),
        ("stderr", &left.stderr, &right.stderr),
    ] {
        if left != right {
            writeln!(text, "    {name}:").unwrap();
            for line in lines_that_differ(left, right) {
                writeln!(text, "    {line}").unwrap();
            }
        }
    }
    text
}

/// The lines between the common beginning and the common end of two texts.
fn lines_that_differ(left: &str, right: &str) -> Vec<String> {
    let left: Vec<&str> = left.split('\n').collect();
    let right: Vec<&str> = right.split('\n').collect();
    let shorter = left.len().min(right.len());
    let start = (0..shorter)
        .take_while(|&index| left[index] == right[index])
        .count();
    let end = (1..=shorter - start)
        .take_while(|&index| left[left.len() - index] == right[right.len() - index])
        .count();
    let mut lines = vec![format!("@ line {}", start + 1)];
    lines.extend(
        left[start..left.len() - end]
            .iter()
            .map(|line| format!("- {line}")),
    );
    lines.extend(
        right[start..right.len() - end]
            .iter()
            .map(|line| format!("+ {line}")),
    );
    lines
}

fn tree() -> Tree {
    let here = Utf8Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = env!("CARGO_BIN_EXE_beads-ralph").into();
    let ended = process(program, &["bd", "__tree"], here, here)
        .run()
        .exits(0);
    serde_json::from_str(&ended.stdout).unwrap()
}

/// A part of the names of the scenarios to play, if not all are asked for.
fn asked_part() -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "which cases to play is asked of the test, not of the program"
    )]
    std::env::var("BEADS_RALPH_CASES").ok()
}

/// The scenarios with a text in their names.
fn with_name(part: &str) -> Vec<Scenario> {
    let mut scenarios = script::all();
    scenarios.retain(|scenario| scenario.name.contains(part));
    scenarios
}

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn every_command_and_flag_of_the_face_does_what_the_real_bd_does() {
    let scenarios = with_name(&asked_part().unwrap_or_default());
    let compared = play([Program::Real, Program::Ours], &scenarios);
    let (mut complaints, shown) = judge(&compared);
    if asked_part().is_none() {
        for (number, _) in difference::ALL {
            if !shown.contains(number) {
                complaints.push(format!("difference {number} does not show any more"));
            }
        }
    }
    assert!(
        complaints.is_empty(),
        "{} calls, {} complaints:\n{}",
        compared.len(),
        complaints.len(),
        complaints.join("\n")
    );
}

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn the_real_bd_does_not_differ_from_itself() {
    // Some scenarios prove the point; with `BEADS_RALPH_CASES=:` all of them do.
    let scenarios = with_name(asked_part().as_deref().unwrap_or("comments:"));
    let compared = play([Program::Real, Program::Real], &scenarios);
    let (complaints, _) = judge(&compared);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn every_command_and_flag_of_the_face_has_its_cases() {
    let missing = coverage::missing(&tree(), &script::all());
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn the_differences_are_few_and_documented() {
    let numbers: BTreeSet<u8> = difference::ALL.iter().map(|(number, _)| *number).collect();
    assert_eq!(
        numbers.len(),
        difference::ALL.len(),
        "each number is there once"
    );
    assert_eq!(
        numbers,
        difference::documented(),
        "docs/bd-compatibility.md has the same"
    );
    assert!(numbers.len() <= difference::MAX);
}

#[test]
fn a_difference_is_noticed() {
    let seen = |code: i32, stdout: &str, stderr: &str| Seen {
        code: Some(code),
        stdout: stdout.to_owned(),
        stderr: stderr.to_owned(),
    };
    let compared = |text: &str, left: &Seen, right: &Seen| {
        let scenario = script::read("f", &format!("== s\n{text}")).remove(0);
        let Some(script::Step::Call(call)) = scenario.steps.first().cloned() else {
            panic!("{text} is no call");
        };
        let (left, right) = (left.clone(), right.clone());
        judge(&[Compared {
            scenario: scenario.name,
            call,
            left,
            right,
        }])
        .0
    };
    let real = seen(0, "a\nb\nc", "");
    assert!(compared("$ x", &real, &real).is_empty());
    assert!(compared("! x", &real, &real)[0].contains("the real one ends with Some(0)"));
    let text = &compared("$ x", &real, &seen(0, "a\nd\nc", "warn"))[0];
    assert!(text.contains("@ line 2\n    - b\n    + d\n"), "{text}");
    assert!(
        text.contains("stderr:\n    @ line 1\n    - \n    + warn\n"),
        "{text}"
    );
    let text = &compared("$ x", &real, &seen(1, "a\nb\nc", ""))[0];
    assert!(
        text.contains("exit code: real Some(0), ours Some(1)"),
        "{text}"
    );
}

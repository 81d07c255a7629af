//! The board without a terminal: what is drawn, and what keys do.

use jiff::{SignedDuration, Timestamp};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::{Value, json};

use super::*;
use crate::ui::draw::Charset;
use beads_ralph_core::engine::{CommitId, Outcome, Phase, RunState, Spent, Task};
use beads_ralph_core::history::{Attempt, RunKind};

fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
}

fn id(name: &str) -> BeadId {
    BeadId::parse(name).unwrap()
}

fn story(sprint: &str, title: &str, waits_for: &[&str], state: BeadState) -> Story {
    let name = |sprint: &str| format!("bd-{}", sprint.replace('.', "-"));
    let waits_for: Vec<Value> = waits_for.iter().map(|it| json!(name(it))).collect();
    let spent = serde_json::to_value(Spent::default()).unwrap();
    let task: Task = serde_json::from_value(json!({
        "id": name(sprint), "title": title, "sprint": sprint, "team": format!("team-{}", &sprint[..1]), "priority": 1, "weight": 1,
        "branch": format!("feature/{sprint}"), "worktree": "../w", "is_merge": false, "standing": "open", "waits_for": waits_for,
        "developers": ["claude"], "judges": ["claude"], "attempts": 0, "max_attempts": 3, "spent": spent,
    }))
    .unwrap();
    let mut story = Story::of(task);
    (story.state, story.attempt) = (state, 1);
    story
}

fn closed() -> BeadState {
    BeadState::Ended(End::Closed {
        commit: CommitId("c".to_owned()),
        pull: None,
    })
}

fn person(reason: &str) -> BeadState {
    BeadState::Ended(End::NeedsPerson {
        reason: reason.to_owned(),
    })
}

fn working(waiting: Option<&str>) -> BeadState {
    BeadState::Working {
        phase: Phase::Developing,
        since: at(60),
        waiting: waiting.map(str::to_owned),
    }
}

fn told() -> Chronicle {
    let waiting = |on: &[&str]| BeadState::Waiting {
        on: on.iter().map(|it| (*it).to_owned()).collect(),
    };
    Chronicle {
        run: "run-1".to_owned(),
        version: "0".to_owned(),
        began: at(0),
        last: at(90),
        outcome: None,
        state: RunState::Running,
        is_left: false,
        n_adopted: 0,
        width: 2,
        stories: vec![
            story("1.1", "Skeleton", &[], closed()),
            story("1.10", "Bytes", &["1.1"], person("QA failed: \u{1b}[31mno")),
            story("1.2", "Words", &["1.1"], working(None)),
            story(
                "2.1",
                "Release",
                &["1.2", "1.10"],
                waiting(&["bd-1-2", "bd-1-10"]),
            ),
            story("2.2", "News", &["2.1"], waiting(&["bd-2-1"])),
        ],
        spent: Spent {
            micros: 1_500_000,
            ..Spent::default()
        },
    }
}

/// The screen as text.
#[track_caller]
fn drawn(board: &mut Board, (width, height): (u16, u16), charset: Charset) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let look = Look {
        charset,
        has_color: true,
    };
    let mut log_end = 0;
    terminal
        .draw(|frame| log_end = draw(frame, board, look, at(100)))
        .unwrap();
    board.was_drawn(log_end);
    let lines = terminal.backend().to_string();
    let lines = lines.lines().map(|line| line.trim_matches('"').trim_end());
    lines.collect::<Vec<_>>().join("\n")
}

fn key(code: KeyCode) -> KeyEvent {
    KeyEvent::new(code, KeyModifiers::NONE)
}

fn press(board: &mut Board, keys: &str) -> Wish {
    let pressed = keys.chars().map(|c| board.press(key(KeyCode::Char(c))));
    pressed.last().unwrap_or(Wish::Nothing)
}

fn log(lines: &[&str], n_logs: usize) -> Log {
    Log {
        name: "attempt-1/dev-1/stdout".to_owned(),
        lines: lines.iter().map(|it| (*it).to_owned()).collect(),
        n_logs,
    }
}

#[test]
fn the_screen_shows_beads_the_log_and_what_holds_the_run_up() {
    let mut board = Board::new(told());
    board.show_log(log(&["Edit: src/lib.rs", "Bash: cargo test"], 2));
    assert_eq!(
        drawn(&mut board, (100, 16), Charset::Unicode),
        "\
run-1  running  1 of 5 closed, 1 working, 1 for a person  $1.50  1m40s
┌ teams ────────────────────────────────────┐┌ 1.2 Words ──────────────────────────────────────────┐
│team-1                                     ││bd-1-2, attempt 1/3, feature/1.2, team-1             │
│✓ 1.1 Skeleton                       closed││developing since 40s                                 │
│▶ 1.2 Words              developing 1/3 40s││after 1.1 (closed)                                   │
│! 1.10 Bytes                needs attention││before 2.1 (waits for 2 beads)                       │
│team-2                                     │└─────────────────────────────────────────────────────┘
│· 2.1 Release             waits for 2 beads│┌ attempt-1/dev-1/stdout (2 of 2) ────────────────────┐
│· 2.2 News                    waits for 2.1││Edit: src/lib.rs                                     │
│                                           ││Bash: cargo test                                     │
│                                           ││                                                     │
└───────────────────────────────────────────┘└─────────────────────────────────────────────────────┘
┌ what holds it up (1) ────────────────────────────────────────────────────────────────────────────┐
│1.10 Bytes: QA failed: \\u{1b}[31mno (2 behind it)                                                 │
└──────────────────────────────────────────────────────────────────────────────────────────────────┘
q quit  ? help  up/down bead  enter log  r retry  p pause  s stop  g graph  f filter  [ ] other log"
    );
}

#[test]
fn a_narrow_terminal_without_unicode_shows_the_graph() {
    let mut board = Board::new(told());
    press(&mut board, "g");
    board.press(key(KeyCode::End));
    assert_eq!(
        drawn(&mut board, (50, 22), Charset::Ascii),
        "\
run-1  running  1 of 5 closed, 1 working, 1 for..
+ graph -----------------------------------------+
|! 1.10 Bytes            needs attention, after..|
|wave 3                                          |
|. 2.1 Release                     after 1.2 1.10|
|wave 4                                          |
|. 2.2 News                             after 2.1|
+------------------------------------------------+
+ 2.2 News --------------------------------------+
|bd-2-2, attempt 1/3, feature/2.2, team-2        |
|waits for bd-2-1                                |
|after 2.1 (waits for 2 beads)                   |
+------------------------------------------------+
+ nothing was written yet -----------------------+
|                                                |
|                                                |
|                                                |
+------------------------------------------------+
+ what holds it up (1) --------------------------+
|1.10 Bytes: QA failed: \\u{1b}[31mno (2 behind.. |
+------------------------------------------------+
q quit  ? help  up/down bead  enter log  r retry.."
    );
}

#[test]
fn every_size_can_be_drawn_on() {
    let mut board = Board::new(told());
    board.show_log(log(&["日本語のとても長い行です", ""], 1));
    for keys in ["", "g", "?", "\n"] {
        for c in keys.chars() {
            let code = if c == '\n' {
                KeyCode::Enter
            } else {
                KeyCode::Char(c)
            };
            board.press(key(code));
        }
        for width in 1..40 {
            for height in 1..20 {
                drawn(&mut board, (width, height), Charset::Unicode);
            }
        }
    }
}

#[test]
fn keys_choose_beads_and_what_is_worked_on_is_shown_until_then() {
    let mut board = Board::new(told());
    let selected = |board: &Board| board.selected.as_ref().map(ToString::to_string);
    assert_eq!(selected(&board).as_deref(), Some("bd-1-2"));
    let mut later = told();
    later.stories[2].state = closed();
    later.stories[3].state = working(None);
    board.tell(later.clone());
    assert_eq!(selected(&board).as_deref(), Some("bd-2-1"));
    board.press(key(KeyCode::Home));
    board.tell(told());
    assert_eq!(selected(&board).as_deref(), Some("bd-1-1"), "it was chosen");
    press(&mut board, "jj");
    assert_eq!(
        selected(&board).as_deref(),
        Some("bd-1-10"),
        "numbers, not letters"
    );
    board.press(key(KeyCode::End));
    press(&mut board, "jk");
    assert_eq!(selected(&board).as_deref(), Some("bd-2-1"));
    press(&mut board, "ff");
    assert_eq!(selected(&board).as_deref(), Some("bd-1-10"), "the only one");
    press(&mut board, "j");
    board.press(key(KeyCode::Esc));
    assert_eq!(selected(&board).as_deref(), Some("bd-1-2"));
    assert_eq!(board.filter, Filter::All);
}

#[test]
fn what_changes_something_is_asked_for_twice() {
    let mut board = Board::new(told());
    assert_eq!(press(&mut board, "r"), Wish::Nothing);
    assert!(board.said.as_ref().unwrap().contains("is not blocked"));
    press(&mut board, "j");
    assert_eq!(press(&mut board, "rn"), Wish::Nothing);
    assert_eq!(press(&mut board, "ry"), Wish::Retry(id("bd-1-10")));
    assert_eq!(
        press(&mut board, "sq"),
        Wish::Nothing,
        "a no leaves nothing"
    );
    assert_eq!(
        press(&mut board, "sn"),
        Wish::Nothing,
        "nor does what means no"
    );
    assert_eq!(press(&mut board, "sy"), Wish::Stop { now: false });
    assert_eq!(press(&mut board, "s!"), Wish::Stop { now: true });
    assert_eq!(press(&mut board, "p"), Wish::Pause);
    board.note_left(true);
    assert_eq!(press(&mut board, "sy"), Wish::Nothing);
    let mut over = told();
    over.outcome = Some(Outcome::Done);
    board.tell(over);
    assert_eq!(press(&mut board, "p"), Wish::Nothing);
    assert_eq!(press(&mut board, "sy"), Wish::Nothing);
    assert_eq!(
        press(&mut board, "?q"),
        Wish::Nothing,
        "any key leaves the help"
    );
    assert_eq!(press(&mut board, "q"), Wish::Quit);
    let control = |c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL);
    press(&mut board, "s");
    assert_eq!(board.press(control('c')), Wish::Quit);
    assert_eq!(board.press(control('z')), Wish::Suspend);
}

#[test]
fn a_log_that_is_read_stays_where_it_is_while_it_grows() {
    let mut board = Board::new(told());
    let lines: Vec<String> = (1..=50).map(|n| format!("line {n}.")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    board.show_log(log(&lines[..30], 3));
    board.press(key(KeyCode::Enter));
    let shown = |board: &mut Board| drawn(board, (40, 12), Charset::Ascii);
    assert!(shown(&mut board).contains("line 30."));
    board.press(key(KeyCode::PageUp));
    let before = shown(&mut board);
    assert!(
        before.contains("line 20.") && !before.contains("line 21."),
        "{before}"
    );
    board.show_log(log(&lines, 3));
    assert_eq!(shown(&mut board), before);
    board.press(key(KeyCode::Home));
    assert!(shown(&mut board).contains("line 1."));
    board.press(key(KeyCode::End));
    assert!(shown(&mut board).contains("line 50."));
    let long: Vec<String> = (0..30)
        .map(|n| format!("LINE{n:02} {}", "x".repeat(90)))
        .collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    board.show_log(log(&long, 3));
    shown(&mut board);
    board.press(key(KeyCode::Home));
    assert!(shown(&mut board).contains("LINE00"), "long lines too");
    board.press(key(KeyCode::Up));
    board.press(key(KeyCode::Down));
    assert!(!shown(&mut board).contains("LINE00"), "a line further");
    press(&mut board, "[[[[");
    assert_eq!(board.wanted_log(), Some((&id("bd-1-2"), 2)));
    press(&mut board, "]");
    assert_eq!(board.wanted_log(), Some((&id("bd-1-2"), 1)));
}

#[test]
fn the_head_says_what_the_run_does() {
    let mut told = told();
    let state = |told: &Chronicle, is_left: bool| {
        let mut board = Board::new(told.clone());
        board.note_left(is_left);
        let screen = drawn(&mut board, (120, 20), Charset::Unicode);
        screen.lines().next().unwrap().to_owned()
    };
    assert!(state(&told, true).contains("left: beads-ralph run resumes it"));
    told.state = RunState::Paused;
    assert!(state(&told, false).contains("paused"));
    told.state = RunState::Stopping;
    assert!(state(&told, false).contains("stopping"));
    told.outcome = Some(Outcome::Fatal("no\u{7} disk".to_owned()));
    let head = state(&told, true);
    assert!(head.contains("stopped: no\\u{7} disk"), "{head}");
    assert!(
        head.contains("1m30s"),
        "the clock of what is over stands still: {head}"
    );
}

#[test]
fn attempts_are_told_with_what_went_wrong() {
    let mut told = told();
    let run = |kind, is_good, message: &str| beads_ralph_core::history::Run {
        kind,
        agent: "claude".to_owned(),
        model: None,
        began: at(10),
        ended: at(12),
        is_good,
        status: if is_good { "ok" } else { "fail" }.to_owned(),
        message: message.to_owned(),
        spent: Spent::default(),
        evidence: None,
    };
    told.stories[2].attempts = vec![Attempt {
        number: 1,
        runs: vec![
            run(RunKind::Prepare, true, "main"),
            run(RunKind::Develop, true, "fine"),
            run(RunKind::Judge, false, "no tests\nat all"),
        ],
        ..Attempt::default()
    }];
    let screen = drawn(&mut Board::new(told), (120, 20), Charset::Unicode);
    assert!(
        screen.contains("attempt 1: develop claude ok 2.0s; judge claude fail"),
        "{screen}"
    );
    assert!(screen.contains("tests\\nat all"), "{screen}");
}

//! The human flag (I-30): labels and notes by which a bead and its step wait for a person; and what the person's answer does (Z-36).

use super::ralf;
use crate::issue::{Edit, Issue, Label, Standing};
use crate::text::excerpt;
use crate::vocabulary::{Status, field, label};

/// What makes a bead wait for a person, with the note that says why. A note from before the last answer is said again.
pub fn flag(issue: &Issue, note: &str) -> Vec<Edit> {
    let mut edits = Vec::new();
    if !issue.has_label(label::HUMAN) {
        let label = Label::parse(label::HUMAN).expect("the word is a label");
        edits.push(Edit::AddLabel(label));
    }
    if !since_answer(notes(issue)).contains(note) {
        edits.push(Edit::AppendNotes(note.to_owned()));
    }
    edits
}

/// The same for a step that was not done: it is open again, so that it is found when the person has answered.
pub fn flag_step(step: &Issue, note: &str) -> Vec<Edit> {
    let mut edits = flag(step, note);
    if step.status() != Status::Open && step.status() != Status::Closed {
        edits.push(Edit::Status(Status::Open.into()));
    }
    edits
}

/// What a line of the notes begins with that holds an answer.
const ANSWER: &str = "human: ";

/// What a line of the notes begins with that says why a person is needed.
const FLAGGED: &str = "implement-bead:";

/// An answer as notes have it, with who gave it.
pub fn answer_note(answer: &str, actor: &str) -> String {
    let answer = answer.trim().replace('\n', "\n  ");
    format!("{ANSWER}{answer} ({})", excerpt(actor))
}

/// What was noted since the last answer.
fn since_answer(notes: &str) -> &str {
    let last = starts(notes).filter(|(_, line)| line.starts_with(ANSWER));
    let start = last.last().map_or(0, |(at, line)| at + line.len());
    notes[start..].trim_start_matches(['\r', '\n'])
}

/// What people answered so far, each with who did, the first one first.
pub fn answers(notes: &str) -> Vec<String> {
    let mut answers: Vec<String> = Vec::new();
    let mut is_answer = false;
    for line in notes.lines() {
        if let Some(answer) = line.strip_prefix(ANSWER) {
            answers.push(answer.to_owned());
            is_answer = true;
        } else if let (true, Some(more), Some(last)) =
            (is_answer, line.strip_prefix("  "), answers.last_mut())
        {
            last.push('\n');
            last.push_str(more);
        } else {
            is_answer = false;
        }
    }
    answers
}

/// Why a person is needed now: what the dispatcher noted since the last answer, or else what it noted last. Notes without a word of the
/// dispatcher are the reason themselves.
pub fn reason(notes: &str) -> &str {
    let flags = |(_, line): &(usize, &str)| line.starts_with(FLAGGED);
    let recent = since_answer(notes);
    if let Some((at, _)) = starts(recent).find(flags) {
        return recent[at..].trim_end();
    }
    let Some((at, _)) = starts(notes).filter(flags).last() else {
        return if recent.trim().is_empty() {
            notes.trim()
        } else {
            recent.trim()
        };
    };
    let told = &notes[at..];
    let end = starts(told).find(|(_, line)| line.starts_with(ANSWER));
    told[..end.map_or(told.len(), |(at, _)| at)].trim_end()
}

/// Whether the dispatcher noted something on a bead.
pub fn is_noted(issue: &Issue) -> bool {
    notes(issue).lines().any(|line| line.starts_with(FLAGGED))
}

/// The lines of a text, and where each of them starts.
fn starts(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let at = start;
        start += line.len();
        (at, line)
    })
}

fn notes(issue: &Issue) -> &str {
    issue.text(field::NOTES).unwrap_or_default()
}

/// The flag goes, and the answer is noted.
fn answered(note: String) -> Vec<Edit> {
    vec![
        Edit::RemoveLabel(label::HUMAN.to_owned()),
        Edit::AppendNotes(note),
    ]
}

/// What an answer does to the bead that was flagged. One that was also set to `blocked` is open again.
pub fn answer_source(source: &Issue, note: &str) -> Vec<Edit> {
    let mut edits = answered(note.to_owned());
    if source.status() == Status::Blocked {
        edits.push(Edit::Reopen);
    }
    edits
}

/// What an answer does to the flagged step so that it is done again: it is open, and the cycles of its loop start over.
pub fn redo_step(step: &Issue, note: &str) -> Vec<Edit> {
    let mut edits = answered(match ralf::completed_cycles(notes(step)) {
        0 => note.to_owned(),
        _ => format!("{note}\n{}", ralf::marker(0, 0)),
    });
    if step.status() != Status::Open {
        edits.push(Edit::Reopen);
    }
    edits
}

/// What an answer does to the flagged step so that the work skips it: it is closed.
pub fn accept_step(step: &Issue, note: &str, answer: &str) -> Vec<Edit> {
    let mut edits = answered(note.to_owned());
    if step.standing() != Standing::Closed {
        edits.push(Edit::Close(format!("accepted: {}", answer.trim())));
    }
    edits
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::bead::Timestamp;
    use crate::issue::apply;

    #[test]
    fn i_30_a_flag_is_set_once() {
        let issue = Issue::without_comments(
            json!({"id": "x", "title": "t", "status": "in_progress", "notes": "before"}),
        )
        .unwrap();
        let now = Timestamp::parse("2026-01-01T00:00:00Z").unwrap();
        let change = apply(&issue, &flag_step(&issue, "why"), &now)
            .unwrap()
            .unwrap();
        let flagged = change.issue;
        assert!(flagged.has_label(label::HUMAN));
        assert_eq!(flagged.text("notes"), Some("before\nwhy"));
        assert_eq!(flagged.status(), "open");
        assert!(
            flag_step(&flagged, "why").is_empty(),
            "doing it again changes nothing"
        );
        assert_eq!(flag(&flagged, "another").len(), 1);
    }
}

#[cfg(test)]
mod answer_tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::bead::Timestamp;
    use crate::issue::apply;

    fn step(more: &Value) -> Issue {
        let mut document = json!({"id": "s", "title": "t", "labels": ["stage-x", "human"]});
        let fields = document.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        Issue::without_comments(document).unwrap()
    }

    fn after(issue: &Issue, edits: &[Edit]) -> Issue {
        let now = Timestamp::parse("2026-01-01T00:00:00Z").unwrap();
        apply(issue, edits, &now).unwrap().unwrap().issue
    }

    #[test]
    fn z_36_an_answer_has_a_step_done_again_or_gone_past() {
        let closed = step(
            &json!({"status": "closed", "closed_at": "2026-01-01T00:00:00Z", "notes": "why\nRALF-IT-ITER:3/3"}),
        );
        let note = answer_note(" fix it ", "ann");
        assert_eq!(note, "human: fix it (ann)");
        let redone = after(&closed, &redo_step(&closed, &note));
        assert_eq!(redone.status(), "open");
        assert!(!redone.has_label(label::HUMAN) && redone.has_label("stage-x"));
        let notes = redone.text("notes").unwrap();
        assert_eq!(
            notes,
            "why\nRALF-IT-ITER:3/3\nhuman: fix it (ann)\nRALF-IT-ITER:0/0"
        );
        assert_eq!(ralf::completed_cycles(notes), 0);
        let accepted = after(&closed, &accept_step(&closed, &note, "fine"));
        assert_eq!(accepted.status(), "closed");
        assert!(!accepted.has_label(label::HUMAN));
        let open = step(&json!({"notes": "why"}));
        let accepted = after(&open, &accept_step(&open, &note, "fine"));
        assert_eq!(accepted.text("close_reason"), Some("accepted: fine"));
        let redone = after(&open, &redo_step(&open, &note));
        assert_eq!(redone.text("notes"), Some("why\nhuman: fix it (ann)"));
        let blocked = step(&json!({"status": "blocked"}));
        assert_eq!(
            after(&blocked, &answer_source(&blocked, &note)).status(),
            "open"
        );
    }

    #[test]
    fn i_30_the_reason_is_what_was_noted_since_the_last_answer() {
        for (notes, expected) in [
            ("", ""),
            ("please look", "please look"),
            ("mine\nimplement-bead: a\n- b\n", "implement-bead: a\n- b"),
            (
                "implement-bead: a\nhuman: go (ann)\nimplement-bead: b\n- c",
                "implement-bead: b\n- c",
            ),
            (
                "mine\nimplement-bead: a\n- b\nhuman: go (ann)\nRALF-IT-ITER:0/0",
                "implement-bead: a\n- b",
            ),
            ("mine\nhuman: go (ann)", "mine\nhuman: go (ann)"),
            ("mine\nhuman: go (ann)\nyours", "yours"),
        ] {
            assert_eq!(reason(notes), expected, "{notes}");
        }
    }

    #[test]
    fn i_30_what_fails_again_after_an_answer_is_noted_again() {
        let issue = step(&json!({"notes": "implement-bead: a\nhuman: go (ann)"}));
        let flagged = after(&issue, &flag(&issue, "implement-bead: a"));
        assert_eq!(
            flagged.text("notes"),
            Some("implement-bead: a\nhuman: go (ann)\nimplement-bead: a")
        );
        assert!(flag(&flagged, "implement-bead: a").is_empty());
    }

    #[test]
    fn z_36_answers_are_read_back_whatever_a_worker_says() {
        let note = answer_note("use port 8080\nand no other", "ann");
        let notes = format!(
            "implement-bead: which port?\n- why: x\n  human: forged\n{note}\nRALF-IT-ITER:0/0\n  human: no\n"
        );
        assert_eq!(answers(&notes), ["use port 8080\nand no other (ann)"]);
    }
}

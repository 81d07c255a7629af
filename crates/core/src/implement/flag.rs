//! The human flag (I-30): labels and notes by which a bead and its step wait for a person. Doing it again changes nothing.

use super::answer::since_answer;
use crate::issue::{Edit, Issue, Label};
use crate::vocabulary::label;

/// What makes a bead wait for a person, with the note that says why. A note from before the last answer is said again.
pub fn flag(issue: &Issue, note: &str) -> Vec<Edit> {
    let mut edits = Vec::new();
    if !issue.has_label(label::HUMAN) {
        let label = Label::parse(label::HUMAN).expect("the word is a label");
        edits.push(Edit::AddLabel(label));
    }
    let is_noted = issue
        .text("notes")
        .is_some_and(|notes| since_answer(notes).contains(note));
    if !is_noted {
        edits.push(Edit::AppendNotes(note.to_owned()));
    }
    edits
}

/// The same for a step that was not done: it is open again, so that it is found when the person has answered.
pub fn flag_step(step: &Issue, note: &str) -> Vec<Edit> {
    let mut edits = flag(step, note);
    if step.status() != "open" && step.status() != "closed" {
        edits.push(Edit::Status("open".to_owned()));
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

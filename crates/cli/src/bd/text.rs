//! Beads in the real `bd`'s words for people: marks, one-line forms, and what commands say when they are done.

use beads_ralph_core::issue::Issue;
use beads_ralph_core::text::visible;
use beads_ralph_core::vocabulary::{IssueType, Status};

/// The longest title in a line of feedback.
const TITLE_LENGTH: usize = 255;

/// A text of others that belongs on one line: a line end in it would look like a line of ours.
pub(super) fn line(text: &str) -> String {
    visible(text)
}

/// The title of a bead on one line.
pub(super) fn title_of(issue: &Issue) -> String {
    line(issue.title())
}

/// The mark of a status.
pub(super) fn icon(status: &str) -> &'static str {
    match Status::known(status) {
        Some(Status::Open) => "○",
        Some(Status::InProgress) => "◐",
        Some(Status::Blocked) => "●",
        Some(Status::Closed) => "✓",
        Some(Status::Deferred) => "❄",
        Some(Status::Pinned) => "📌",
        Some(Status::Hooked) | None => "◇",
    }
}

/// An id with its title, as commands tell it back.
pub(super) fn feedback(issue: &Issue) -> String {
    let (id, title) = (issue.id(), title_of(issue));
    if title.is_empty() {
        return id.to_string();
    }
    format!("{id} — {}", shortened(&title, TITLE_LENGTH))
}

/// An id with its title in brackets, for commands about several beads.
pub(super) fn feedback_in_brackets(issue: &Issue) -> String {
    let (id, title) = (issue.id(), title_of(issue));
    if title.is_empty() {
        return id.to_string();
    }
    format!("{id} ({})", shortened(&title, TITLE_LENGTH))
}

/// A text of so many characters at the most.
fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{head}…")
}

/// An issue on one line.
pub(super) fn one_line(issue: &Issue) -> String {
    let (icon, id, priority) = (icon(issue.status()), issue.id(), issue.priority());
    let (kind, title) = (issue.issue_type(), title_of(issue));
    if issue.status() == Status::Closed {
        return format!("{icon} {id} P{priority} {kind} {title}");
    }
    let badge = match IssueType::known(kind) {
        Some(IssueType::Epic) => "[epic] ",
        Some(IssueType::Bug) => "[bug] ",
        _ => "",
    };
    format!("{icon} {id} P{priority} {badge}{title}")
}

/// What stands below lists for people.
pub(super) fn legend() -> &'static str {
    "Status: ○ open  ◐ in_progress  ● blocked  ✓ closed  ❄ deferred\nPriority: P0–P4 (label only; not a status icon)\n"
}

/// The line between a list and its count.
pub(super) fn rule() -> String {
    "-".repeat(80)
}

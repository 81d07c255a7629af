//! Beads in the real `bd`'s words for people: marks, one-line forms, and texts as it prints them without a terminal: wrapped, indented
//! and filled up to one width.
//!
//! Of markdown, paragraphs, lists, headings and code are known; the rest is printed as it stands. An agent gets the text as it is
//! (`BD_AGENT_MODE`, `CLAUDE_CODE`).

use beads_ralph_core::issue::{Issue, Record};
use beads_ralph_core::text::visible;
use beads_ralph_core::vocabulary::{IssueType, Status};
use beads_ralph_runtime::os::env::{self, Variable};
use unicode_width::UnicodeWidthStr as _;

use super::issue_json::sorted_labels;

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

/// The beads that were found: a line for each, or several for `--long`.
pub(super) fn found(
    records: &[Record],
    by: &str,
    is_long: bool,
    line: impl Fn(&Issue) -> String,
) -> String {
    let n = records.len();
    let issues = records.iter().map(|record| &record.issue);
    if is_long {
        let entries: String = issues.map(long_entry).collect();
        return format!("\nFound {n} issues{by}:\n\n{entries}");
    }
    format!("Found {n} issues{by}:\n") + &issues.map(line).collect::<String>()
}

/// A bead on several lines, with an empty one below.
fn long_entry(issue: &Issue) -> String {
    let (id, priority, kind) = (issue.id(), issue.priority(), issue.issue_type());
    let (status, title) = (issue.status(), title_of(issue));
    let mut entry = format!("{id} [P{priority}] [{kind}] {status}\n  {title}\n");
    if let Some(assignee) = issue.assignee().filter(|name| !name.is_empty()) {
        push!(entry, "  Assignee: {}\n", line(assignee));
    }
    let labels = sorted_labels(issue).join(" ");
    if !labels.is_empty() {
        push!(entry, "  Labels: [{labels}]\n");
    }
    entry + "\n"
}

/// Who a bead is for and its labels, as they stand before a title.
pub(super) fn marks(issue: &Issue) -> (String, String) {
    let assignee = issue.assignee().filter(|name| !name.is_empty());
    let assignee = assignee.map_or(String::new(), |name| format!(" @{}", line(name)));
    let labels = match sorted_labels(issue).as_slice() {
        [] => String::new(),
        labels => format!(" [{}]", labels.join(" ")),
    };
    (assignee, labels)
}

/// What stands below lists for people.
pub(super) fn legend() -> &'static str {
    "Status: ○ open  ◐ in_progress  ● blocked  ✓ closed  ❄ deferred\nPriority: P0–P4 (label only; not a status icon)\n"
}

/// The line between a list and its count.
pub(super) fn rule() -> String {
    "-".repeat(80)
}

/// The width of a text without its margins.
const WIDTH: usize = 76;

/// What stands before each line.
const MARGIN: &str = "  ";

/// Whether an agent reads along, who wants texts as they are.
pub(super) fn is_agent() -> bool {
    env::get(Variable::BdAgentMode).as_deref() == Some("1")
        || env::get(Variable::ClaudeCode).is_some()
}

/// A text for people.
pub(super) fn rendered(text: &str) -> String {
    if is_agent() {
        return text.to_owned();
    }
    let mut page = String::from("\n");
    for line in blocks(text) {
        let gap = WIDTH.saturating_sub(line.width());
        page.push_str(MARGIN);
        page.push_str(&line);
        page.push_str(&" ".repeat(gap));
        page.push('\n');
    }
    page.push('\n');
    page
}

/// The lines of a text, wrapped, with one empty line between its parts.
fn blocks(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut is_code = false;
    let part = |lines: &mut Vec<String>| {
        if lines.last().is_some_and(|last| !last.is_empty()) {
            lines.push(String::new());
        }
    };
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            is_code = !is_code;
            part(&mut lines);
        } else if is_code {
            lines.push(format!("{MARGIN}{line}"));
        } else if trimmed.is_empty() {
            part(&mut lines);
        } else if trimmed.starts_with('#') {
            part(&mut lines);
            lines.extend(wrapped(trimmed, ""));
            lines.push(String::new());
        } else if let Some(code) = indented(line, &lines) {
            lines.push(format!("{MARGIN}{code}"));
        } else if let Some(item) = trimmed
            .strip_prefix("- ")
            .or_else(|| trimmed.strip_prefix("* "))
        {
            lines.extend(wrapped(&format!("• {item}"), MARGIN));
        } else {
            lines.extend(wrapped(trimmed, ""));
        }
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Code by its indentation, which needs an empty line before it.
fn indented<'l>(line: &'l str, before: &[String]) -> Option<&'l str> {
    let is_begun = before
        .last()
        .is_none_or(|last| last.is_empty() || last.starts_with(MARGIN));
    line.strip_prefix("    ").filter(|_| is_begun)
}

/// A line in pieces that fit; marks of code within it are left out.
fn wrapped(line: &str, hanging: &str) -> Vec<String> {
    let line = line.replace('`', "");
    let mut pieces = vec![String::new()];
    for word in line.split(' ') {
        let last = pieces.last_mut().expect("there is always a piece");
        if last.is_empty() {
            last.push_str(word);
        } else if last.width() + 1 + word.width() <= WIDTH {
            last.push(' ');
            last.push_str(word);
        } else {
            pieces.push(format!("{hanging}{word}"));
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z_24_texts_are_wrapped_and_filled_up() {
        let long = "word ".repeat(20);
        let lines = blocks(&format!("{long}\n\n- one\n\n```\nx `y`\n```\n"));
        assert_eq!(lines[0].width(), 74);
        assert_eq!(&lines[2..], ["", "• one", "", "  x `y`"]);
    }
}

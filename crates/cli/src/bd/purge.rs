//! `bd purge`: deletes closed beads that were not meant to last.

use std::collections::HashSet;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Moment, Record};
use beads_ralph_core::vocabulary::Status;
use beads_ralph_runtime::store::Write;
use jiff::{Timestamp, ToSpan as _};
use serde::Serialize;

use super::{Access, Arguments, Call, Command, Filter, Opened, Refusal, quoted, string, switch};

pub(super) const COMMAND: Command = Command {
    name: "purge",
    about: "Delete closed beads that do not last",
    flags: &[
        switch("dry-run", "Show what would be deleted"),
        switch("force", "Delete; without it only say how many there are").short('f'),
        string(
            "older-than",
            "Only those that were closed so long ago: 7d, 2w, 24h",
        ),
        string("pattern", "Only those whose ids match, such as *-wisp-*"),
    ],
    access: Access::Writes,
    run: Some(run),
    ..Command::NONE
};

struct Sweep {
    records: Vec<Record>,
    n_pinned: usize,
    n_edges: usize,
    n_labels: usize,
    n_events: usize,
}

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let mut opened = call.open()?;
    let sweep = Sweep::new(&opened, arguments)?;
    if sweep.records.is_empty() {
        return nothing(call);
    }
    if arguments.is_on("dry-run") {
        return preview(call, &sweep);
    }
    if !arguments.is_on("force") {
        return Err(unconfirmed(call, &sweep)?);
    }
    let batch: Vec<Write> = (sweep.records.iter())
        .map(|record| opened.deletion(record))
        .collect();
    opened
        .write(&batch)
        .map_err(|error| Refusal::json(format!("purge failed: {error}")))?;
    purged(call, &sweep)
}

impl Sweep {
    fn new(opened: &Opened, arguments: &Arguments) -> Result<Self, Refusal> {
        let before = arguments.filled("older-than");
        let before = before.map(|age| cutoff(opened.by.now, age)).transpose()?;
        let pattern = arguments.filled("pattern").unwrap_or("*");
        if !is_pattern(pattern) {
            return Err(Refusal::json(format!(
                "purge failed: validation failed: --pattern {} is not a valid glob: syntax error in pattern",
                quoted(pattern)
            )));
        }
        let filter = Filter {
            statuses: vec![Status::Closed.into()],
            before: before.map(|at| (Moment::Closed, at)).into_iter().collect(),
            ..Filter::default()
        };
        let mut records = filter.find(opened)?;
        records.retain(|record| {
            let issue = &record.issue;
            let is_short_lived = issue.flag("ephemeral") || issue.text("wisp_type").is_some();
            is_short_lived && matches_pattern(pattern, issue.id().as_str())
        });
        let n_all = records.len();
        records.retain(|record| !record.issue.flag("pinned"));
        let mut sweep = Self {
            n_pinned: n_all - records.len(),
            n_edges: 0,
            n_labels: 0,
            n_events: 0,
            records,
        };
        sweep.count(opened)?;
        Ok(sweep)
    }

    fn count(&mut self, opened: &Opened) -> Result<(), Refusal> {
        let going: HashSet<&BeadId> = self.records.iter().map(|r| r.issue.id()).collect();
        for record in &self.records {
            let issue = &record.issue;
            self.n_labels += issue.labels().count();
            self.n_events += opened.store.events(Some(issue.id()), 0, usize::MAX)?.len();
            self.n_edges += issue.dependencies().len();
            let others = opened.store.dependents(issue.id())?;
            self.n_edges += others.iter().filter(|(id, _)| !going.contains(id)).count();
        }
        Ok(())
    }
}

/// The moment before which a bead must have been closed.
fn cutoff(now: Timestamp, age: &str) -> Result<Timestamp, Refusal> {
    let wrong =
        |why: String| Refusal::json(format!("invalid --older-than value {}: {why}", quoted(age)));
    let days = days(age.trim()).map_err(wrong)?;
    let utc = now.to_zoned(jiff::tz::TimeZone::UTC);
    let then = utc.checked_sub(days.days());
    then.map(|then| then.timestamp())
        .map_err(|_| wrong("duration is out of range".to_owned()))
}

/// A number of days: `7d`, `2w`, `48h`, `30`. The error is a sentence.
fn days(text: &str) -> Result<i64, String> {
    let positive = |n: i64| match n {
        1.. => Ok(n),
        _ => Err("duration must be positive".to_owned()),
    };
    if let Ok(days) = text.parse::<i64>() {
        return positive(days).and_then(in_range);
    }
    let Some(unit) = text.chars().next_back() else {
        return Err("empty duration".to_owned());
    };
    let amount = &text[..text.len() - unit.len_utf8()];
    let n = amount
        .parse::<i64>()
        .map_err(|_| format!("invalid number {}", quoted(amount)))?;
    let n = positive(n)?;
    match unit {
        'h' | 'H' => Ok((n / 24).max(1)),
        'd' | 'D' => Ok(n),
        'w' | 'W' => Ok(n.saturating_mul(7)),
        unit => Err(format!(
            "unknown unit {} (use h, d, or w)",
            quoted(&unit.to_string())
        )),
    }
    .and_then(in_range)
}

fn in_range(days: i64) -> Result<i64, String> {
    const LONGEST: i64 = 1_000_000;
    if days > LONGEST {
        return Err(format!("duration is over {LONGEST} days"));
    }
    Ok(days)
}

fn nothing(call: &Call<'_>) -> Result<(), Refusal> {
    let message = "No closed ephemeral beads to purge";
    if call.output.is_json() {
        return call.output.value(Nothing {
            message,
            purged_count: 0,
        });
    }
    let mut message = message.to_owned();
    if let Some(age) = call.arguments.filled("older-than") {
        push!(message, " (older than {age})");
    }
    if let Some(pattern) = call.arguments.filled("pattern") {
        push!(message, " (matching {})", quoted(pattern));
    }
    call.output.text(&format!("{message}\n"))
}

/// What was deleted, or would be.
#[derive(Default, Serialize)]
struct Figures {
    dependencies: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    dry_run: Option<bool>,
    events: usize,
    labels: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pinned_skipped: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    purge_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    purged_count: Option<usize>,
}

#[derive(Serialize)]
struct Nothing {
    message: &'static str,
    purged_count: usize,
}

fn figures(sweep: &Sweep) -> Figures {
    Figures {
        dependencies: sweep.n_edges,
        labels: sweep.n_labels,
        events: sweep.n_events,
        pinned_skipped: Some(sweep.n_pinned).filter(|n| *n > 0),
        ..Figures::default()
    }
}

fn preview(call: &Call<'_>, sweep: &Sweep) -> Result<(), Refusal> {
    let n = sweep.records.len();
    if call.output.is_json() {
        return call.output.value(Figures {
            dry_run: Some(true),
            purge_count: Some(n),
            ..figures(sweep)
        });
    }
    let (edges, labels, events) = (sweep.n_edges, sweep.n_labels, sweep.n_events);
    let pinned = match sweep.n_pinned {
        0 => String::new(),
        n => format!("  Pinned (skipped): {n}\n"),
    };
    call.output.text(&format!(
        "Would purge {n} closed ephemeral bead(s)\n  Dependencies: {edges}\n  Labels:       {labels}\n  Events:       {events}\n{pinned}\n(Dry-run mode — no changes made)\n"
    ))
}

/// Asks for --force.
fn unconfirmed(call: &Call<'_>, sweep: &Sweep) -> Result<Refusal, Refusal> {
    let n = sweep.records.len();
    let mut page = format!("Found {n} closed ephemeral bead(s) to purge\n");
    if sweep.n_pinned > 0 {
        push!(page, "Skipping {} pinned bead(s)\n", sweep.n_pinned);
    }
    call.output.text(&page)?;
    let mut again = "bd purge --force".to_owned();
    for flag in ["older-than", "pattern"] {
        if let Some(value) = call.arguments.filled(flag) {
            push!(again, " --{flag} {value}");
        }
    }
    let hint = format!("Use --force to confirm or --dry-run to preview.\n  {again}");
    Ok(Refusal::json_on_stderr(format!("would purge {n} bead(s)")).hint(hint))
}

fn purged(call: &Call<'_>, sweep: &Sweep) -> Result<(), Refusal> {
    let n = sweep.records.len();
    if call.output.is_json() {
        return call.output.value(Figures {
            purged_count: Some(n),
            ..figures(sweep)
        });
    }
    let (edges, labels, events) = (sweep.n_edges, sweep.n_labels, sweep.n_events);
    let pinned = match sweep.n_pinned {
        0 => String::new(),
        n => format!("  Pinned (skipped):     {n}\n"),
    };
    call.output.text(&format!(
        "✓ Purged {n} closed ephemeral bead(s)\n  Dependencies removed: {edges}\n  Labels removed:       {labels}\n  Events removed:       {events}\n{pinned}"
    ))
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Any,
    One,
    Letter(char),
    Class {
        is_turned: bool,
        ranges: Vec<(char, char)>,
    },
}

/// Whether a pattern is one.
pub(super) fn is_pattern(pattern: &str) -> bool {
    parse(pattern).is_some()
}

/// Whether a text is as a pattern says; nothing is as a pattern says that is none.
pub(super) fn matches_pattern(pattern: &str, text: &str) -> bool {
    let letters: Vec<char> = text.chars().collect();
    parse(pattern).is_some_and(|parts| matches_parts(&parts, &letters))
}

fn parse(pattern: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut letters = pattern.chars().peekable();
    while let Some(letter) = letters.next() {
        parts.push(match letter {
            '*' => Part::Any,
            '?' => Part::One,
            '\\' => Part::Letter(letters.next()?),
            '[' => {
                let is_turned = letters.next_if_eq(&'^').is_some();
                let mut ranges = Vec::new();
                while ranges.is_empty() || letters.peek() != Some(&']') {
                    let low = class_letter(&mut letters)?;
                    let high = match letters.next_if_eq(&'-') {
                        Some(_) => class_letter(&mut letters)?,
                        None => low,
                    };
                    ranges.push((low, high));
                }
                letters.next()?;
                Part::Class { is_turned, ranges }
            }
            letter => Part::Letter(letter),
        });
    }
    Some(parts)
}

fn class_letter(letters: &mut impl Iterator<Item = char>) -> Option<char> {
    match letters.next()? {
        '-' | ']' => None,
        '\\' => letters.next(),
        letter => Some(letter),
    }
}

/// Goes on greedily, and back to the last `*` where that fails.
fn matches_parts(parts: &[Part], letters: &[char]) -> bool {
    let (mut part, mut at) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while at < letters.len() || part < parts.len() {
        let is_ahead = match (parts.get(part), letters.get(at)) {
            (Some(Part::Any), _) => {
                star = Some((part, at));
                part += 1;
                continue;
            }
            (Some(wanted), Some(letter)) => is_one(wanted, *letter),
            _ => false,
        };
        if is_ahead {
            (part, at) = (part + 1, at + 1);
            continue;
        }
        match star {
            Some((behind, begun)) if begun < letters.len() && letters[begun] != '/' => {
                star = Some((behind, begun + 1));
                (part, at) = (behind + 1, begun + 1);
            }
            _ => return false,
        }
    }
    true
}

fn is_one(part: &Part, letter: char) -> bool {
    match part {
        Part::Any => false,
        Part::One => letter != '/',
        Part::Letter(own) => *own == letter,
        Part::Class { is_turned, ranges } => {
            let is_in = ranges
                .iter()
                .any(|(low, high)| (*low..=*high).contains(&letter));
            is_in != *is_turned
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_match_patterns() {
        for (pattern, text, is_so) in [
            ("*", "tt-a1", true),
            ("*-wisp-*", "tt-wisp-9x", true),
            ("*-wisp-*", "tt-a1", false),
            ("tt-?1", "tt-a1", true),
            ("tt-[a-c]1", "tt-b1", true),
            ("tt-[^a-c]1", "tt-b1", false),
            ("tt-\\*", "tt-*", true),
            ("tt-*1*", "tt-a1.2", true),
            ("a*b*c", "axxbxxb", false),
            ("*", "a/b", false),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(matches_pattern(pattern, text), is_so, "{pattern} {text}");
        }
        for pattern in ["[", "[a", "[]", "a\\", "[a-]"] {
            assert!(!is_pattern(pattern), "{pattern}");
        }
    }
}

//! `bd gate check`: closes gates whose condition is met: a time that is over, or a bead that is closed.

use beads_ralph_core::issue::{Edit, Issue, Record};
use beads_ralph_core::vocabulary::{IssueType, Status};
use jiff::SignedDuration;
use serde::Serialize;

use super::{go_text, nanoseconds};
use crate::bd::{Access, Call, Command, Filter, Opened, Refusal, number, quoted, string, switch};

const LIMIT: i64 = 100;

pub(super) const COMMAND: Command = Command {
    name: "check",
    about: "Close the gates whose condition is met",
    flags: &[
        switch("dry-run", "Only say what would be closed"),
        number("limit", "Look at so many at the most (default 100)").short('l'),
        string("type", "Only gates of a type: timer, bead, all").short('t'),
    ],
    not_served: &["escalate"],
    access: Access::Writes,
    run: Some(run),
    ..Command::NONE
};

/// What a look at a gate found.
enum Found {
    /// Its condition is met, and how.
    Met(String),
    /// Not yet.
    Pending(String),
    /// It cannot be decided here.
    Unknown(String),
}

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let mut opened = call.open()?;
    let is_dry = call.arguments.is_on("dry-run");
    let wanted = call.arguments.filled("type");
    let gates = gates(call, &opened, wanted)?;
    if gates.is_empty() {
        return call.output.text(&match wanted {
            Some(kind) => format!("No open gates of type '{kind}' found.\n"),
            None => "No open gates found.\n".to_owned(),
        });
    }
    let (mut n_checked, mut n_met, mut n_errors) = (0, 0, 0);
    for gate in &gates {
        let Some(found) = look(&opened, &gate.issue)? else {
            continue;
        };
        n_checked += 1;
        let id = gate.issue.id();
        match found {
            Found::Pending(why) => call.output.text(&format!("○ {id}: pending - {why}\n"))?,
            Found::Unknown(why) => {
                n_errors += 1;
                call.output
                    .stderr(&format!("✗ {id}: error checking - {why}\n"));
            }
            Found::Met(why) => {
                n_met += 1;
                if is_dry {
                    call.output
                        .text(&format!("✓ {id}: would resolve - {why}\n"))?;
                    continue;
                }
                match opened.update(gate, vec![Edit::Close(why.clone())]) {
                    Ok(()) => call.output.text(&format!("✓ {id}: resolved - {why}\n"))?,
                    Err(why) => {
                        n_errors += 1;
                        call.output
                            .stderr(&format!("✗ {id}: error closing - {why}\n"));
                    }
                }
            }
        }
    }
    call.output.text(&format!(
        "\nChecked {n_checked} gates: {n_met} resolved, 0 escalated, {n_errors} errors\n"
    ))?;
    if !call.output.is_json() {
        return Ok(());
    }
    call.output.value(CheckedAnswer {
        checked: n_checked,
        dry_run: is_dry,
        errors: n_errors,
        escalated: 0,
        resolved: n_met,
    })
}

#[derive(Serialize)]
struct CheckedAnswer {
    checked: usize,
    dry_run: bool,
    errors: usize,
    escalated: usize,
    resolved: usize,
}

fn gates(call: &Call<'_>, opened: &Opened, wanted: Option<&str>) -> Result<Vec<Record>, Refusal> {
    let filter = Filter {
        issue_type: Some(IssueType::Gate.into()),
        excluded_statuses: vec![Status::Closed.into()],
        ..Filter::default()
    };
    let mut gates = filter.find(opened)?;
    let limit = call.arguments.number("limit").unwrap_or(LIMIT);
    if let Ok(limit @ 1..) = usize::try_from(limit) {
        gates.truncate(limit);
    }
    gates.retain(|gate| {
        let kind = gate.issue.text("await_type").unwrap_or_default();
        match wanted {
            None | Some("all") => true,
            Some("gh") => kind.starts_with("gh:"),
            Some(wanted) => wanted == kind,
        }
    });
    Ok(gates)
}

/// Looks at a gate; nothing comes back for those that only a person opens.
fn look(opened: &Opened, gate: &Issue) -> Result<Option<Found>, Refusal> {
    let kind = gate.text("await_type").unwrap_or_default();
    Ok(match kind {
        "timer" => Some(timer(opened, gate)),
        "bead" => Some(bead(opened, gate)?),
        kind if kind.starts_with("gh:run") || kind.starts_with("gh:pr") => {
            let why = format!(
                "beads-ralph's bd does not ask GitHub; close it with `bd gate resolve {}` once you know",
                gate.id()
            );
            Some(Found::Unknown(why))
        }
        _ => None,
    })
}

fn timer(opened: &Opened, gate: &Issue) -> Found {
    let timeout = nanoseconds(gate);
    if timeout == 0 {
        return Found::Unknown("no timeout set".to_owned());
    }
    let created = gate.time("created_at").unwrap_or(opened.by.now);
    let span = SignedDuration::from_nanos(i64::try_from(timeout).unwrap_or(i64::MAX));
    let passed = created.duration_until(opened.by.now);
    let (is_over, rest) = if passed > span {
        (true, passed - span)
    } else {
        (false, span - passed)
    };
    let seconds = rest.as_secs() + i64::from(rest.subsec_millis() >= 500);
    let rest = go_text(u64::try_from(seconds).unwrap_or_default() * 1_000_000_000);
    if is_over {
        Found::Met(format!("timer expired {rest} ago"))
    } else {
        Found::Pending(format!("expires in {rest}"))
    }
}

fn bead(opened: &Opened, gate: &Issue) -> Result<Found, Refusal> {
    let awaited = gate.text("await_id").unwrap_or_default();
    if awaited.is_empty() {
        return Ok(Found::Pending("bead gate has no await_id".to_owned()));
    }
    let shown = quoted(awaited);
    if awaited.contains(':') {
        return Ok(Found::Pending(format!(
            "cross-rig bead gate {shown} cannot be checked (multi-rig routing removed)"
        )));
    }
    Ok(match opened.exact(awaited)? {
        None => Found::Pending(format!("bead gate {shown}: issue not found: {awaited}")),
        Some(record) if record.issue.status() == Status::Closed => {
            Found::Met(format!("bead {awaited} closed"))
        }
        Some(record) => Found::Pending(format!("bead {awaited} is {}", record.issue.status())),
    })
}

//! `bd reclaim`: beads whose holder has said nothing for too long are open again.

use beads_ralph_core::issue::{Edit, Query, Record, StatusFilter};
use beads_ralph_runtime::host;
use beads_ralph_runtime::store::{Guard, Stamp, Write};
use jiff::SignedDuration;
use serde_json::{Value, json};

use super::arguments::Arguments;
use super::call::{Call, Opened};
use super::failure::Refusal;
use super::text;
use super::tree::{Access, Arity, Command, duration, list_of};

pub(super) const COMMAND: Command = Command {
    name: "reclaim",
    about: "Open beads again whose holder is gone",
    arity: Arity::None,
    flags: &[
        list_of("assignee", "Held by one of these").short('a'),
        list_of("exclude-label", "Without any of these labels"),
        list_of("id", "One of these ids"),
        list_of("label", "With all of these labels").short('l'),
        list_of("label-any", "With one of these labels"),
        duration(
            "older-than",
            "Whose lease has been over for so long (default 10m0s)",
        ),
    ],
    not_served: &["any-replica"],
    access: Access::Writes,
    run: Some(run),
    ..Command::NONE
};

/// How long a lease must have been over when nothing else is said.
const GRACE: SignedDuration = SignedDuration::from_mins(10);

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let grace = match arguments.text("older-than") {
        Some(given) => super::arguments::go_duration(given).unwrap_or(GRACE),
        None => GRACE,
    };
    if grace.is_negative() {
        return Err(Refusal::json("--older-than must not be negative"));
    }
    let scope = Scope::read(arguments)?;
    let mut opened = call.open()?;
    let mut reclaimed = Vec::new();
    let query = Query {
        status: StatusFilter::OneOf(vec!["in_progress".to_owned()]),
        includes_hidden: true,
        includes_ephemeral: true,
        ..Query::default()
    };
    for record in opened.store.find(&query)? {
        if scope.matches(&record)
            && let Some(owner) = reclaim(&mut opened, &record, grace)?
        {
            reclaimed.push((record.issue.id().to_string(), owner));
        }
    }
    if call.output.is_json() {
        let items = reclaimed
            .iter()
            .map(|(id, owner)| json!({"id": id, "previous_owner": owner}));
        let items: Vec<Value> = items.collect();
        let n = items.len();
        let items = if n == 0 { Value::Null } else { items.into() };
        return call.output.value(json!({
            "count": n, "reclaimed": items, "scoped": !scope.is_empty(),
        }));
    }
    let mut page = String::new();
    if reclaimed.is_empty() {
        let within = if scope.is_empty() {
            ""
        } else {
            " in the filtered scope"
        };
        text::push(
            &mut page,
            format_args!("✓ No stale leases to reclaim{within}\n"),
        );
    } else {
        let n = reclaimed.len();
        text::push(
            &mut page,
            format_args!("✓ Reclaimed {n} stale-lease issue(s):\n"),
        );
        for (id, owner) in &reclaimed {
            let owner = if owner.is_empty() {
                "(unassigned)"
            } else {
                owner
            };
            text::push(&mut page, format_args!("  {id} (was held by {owner})\n"));
        }
    }
    call.output.raw(&page)
}

/// Which beads may be taken back.
struct Scope {
    ids: Vec<String>,
    assignees: Vec<String>,
    labels: Vec<String>,
    labels_any: Vec<String>,
    excluded_labels: Vec<String>,
}

impl Scope {
    fn read(arguments: &Arguments) -> Result<Self, Refusal> {
        let read = |flag: &str| {
            let given = arguments.list(flag);
            let given: Vec<String> = given
                .into_iter()
                .filter(|word| !word.trim().is_empty())
                .collect();
            if arguments.has(flag) && given.is_empty() {
                return Err(Refusal::json(format!(
                    "--{flag} was given no usable value (an empty scope flag would reclaim everything; drop the flag to sweep globally)"
                )));
            }
            Ok(given)
        };
        Ok(Self {
            ids: read("id")?,
            assignees: read("assignee")?,
            labels: read("label")?,
            labels_any: read("label-any")?,
            excluded_labels: read("exclude-label")?,
        })
    }

    fn is_empty(&self) -> bool {
        let lists = [
            &self.ids,
            &self.assignees,
            &self.labels,
            &self.labels_any,
            &self.excluded_labels,
        ];
        lists.iter().all(|list| list.is_empty())
    }

    fn matches(&self, record: &Record) -> bool {
        let issue = &record.issue;
        let is_in = |list: &[String], word: &str| list.iter().any(|own| own == word);
        let has = |label: &String| issue.has_label(label);
        (self.ids.is_empty() || is_in(&self.ids, issue.id().as_str()))
            && (self.assignees.is_empty()
                || is_in(&self.assignees, issue.assignee().unwrap_or_default()))
            && self.labels.iter().all(has)
            && (self.labels_any.is_empty() || self.labels_any.iter().any(has))
            && !self.excluded_labels.iter().any(has)
    }
}

/// Takes a bead back if its holder is gone, and gives who that was. A holder whose process runs is not gone (Z-4).
fn reclaim(
    opened: &mut Opened,
    record: &Record,
    grace: SignedDuration,
) -> Result<Option<String>, Refusal> {
    let Some(claim) = &record.claim else {
        return Ok(None);
    };
    let then = opened.now.checked_sub(grace).unwrap_or(opened.now);
    let Some(why) = claim.is_abandoned(then, &host::name(), host::liveness) else {
        return Ok(None);
    };
    let actor = opened.actor().to_owned();
    let by = Stamp {
        actor: &actor,
        at: opened.now,
    };
    let id = record.issue.id();
    opened.store.reclaim(id, claim.fence, why, by)?;
    let owner = record.issue.assignee().unwrap_or_default().to_owned();
    // A run's beads are for a role (Z-3), which stays; what somebody took by hand is nobody's again.
    if claim.holder.process.is_none() && !owner.is_empty() {
        let write = Write::Update {
            id: id.clone(),
            edits: vec![Edit::Unset("assignee".to_owned())],
            guard: Guard {
                status: Some("open".to_owned()),
                ..Guard::default()
            },
        };
        opened.write(&[write])?;
    }
    Ok(Some(owner))
}

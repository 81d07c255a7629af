//! `bd reclaim`: beads whose holder sent no heartbeat for too long are open again.

use std::collections::BTreeMap;

use beads_ralph_core::issue::{Query, Record, StatusFilter, forget_lease};
use beads_ralph_core::vocabulary::Status;
use beads_ralph_runtime::os::host;
use beads_ralph_runtime::store::Guard;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::{
    Access, Arguments, Arity, Call, Command, Opened, Refusal, claims, document_json, duration,
    issue_json, list_of, quoted, switch,
};

pub(super) const COMMAND: Command = Command {
    name: "reclaim",
    about: "Open beads again whose holder is gone",
    arity: Arity::None,
    flags: &[
        switch(
            "any-replica",
            "Also leases that another replica granted (BEADS_NODE_ID)",
        ),
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
    access: Access::Writes,
    run: Some(run),
    ..Command::NONE
};

/// How long a lease must have been over by default.
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
        status: StatusFilter::OneOf(vec![Status::InProgress.into()]),
        includes_hidden: true,
        includes_ephemeral: true,
        ..Query::default()
    };
    let node = claims::node();
    let guarded = node.as_deref().filter(|_| !arguments.is_on("any-replica"));
    let then = opened.by.now.checked_sub(grace).unwrap_or(opened.by.now);
    let mut foreign = Foreign::default();
    for record in opened.store.find(&query)? {
        if !scope.matches(&record) || foreign.takes(&record, guarded, then) {
            continue;
        }
        if let Some(owner) = reclaim(&mut opened, &record, grace)? {
            if let Some(warning) = overridden(&record, &owner, node.as_deref()) {
                call.output.stderr(&warning);
            }
            reclaimed.push((record.issue.id().to_string(), owner));
        }
    }
    if let Some(warning) = foreign.warning(guarded).filter(|_| !call.output.is_quiet) {
        call.output.stderr(&warning);
    }
    if call.output.is_json() {
        let items = reclaimed.iter();
        let items = items.map(|(id, previous_owner)| Reclaimed { id, previous_owner });
        return call.output.value(Answer {
            count: reclaimed.len(),
            reclaimed: Some(items.collect()).filter(|_| !reclaimed.is_empty()),
            scoped: !scope.is_empty(),
        });
    }
    let mut page = String::new();
    if reclaimed.is_empty() {
        let within = if scope.is_empty() {
            ""
        } else {
            " in the filtered scope"
        };
        push!(page, "✓ No stale leases to reclaim{within}\n");
    } else {
        let n = reclaimed.len();
        push!(page, "✓ Reclaimed {n} stale-lease issue(s):\n");
        for (id, owner) in &reclaimed {
            let owner = if owner.is_empty() {
                "(unassigned)"
            } else {
                owner
            };
            push!(page, "  {id} (was held by {owner})\n");
        }
    }
    call.output.text(&page)
}

#[derive(Serialize)]
struct Answer<'r> {
    count: usize,
    /// Null where there are none.
    reclaimed: Option<Vec<Reclaimed<'r>>>,
    scoped: bool,
}

#[derive(Serialize)]
struct Reclaimed<'r> {
    id: &'r str,
    previous_owner: &'r str,
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
                || is_in(&self.assignees, claims::holder(record).unwrap_or_default()))
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
    let owner = claims::holder(record).unwrap_or_default().to_owned();
    let then = opened.by.now.checked_sub(grace).unwrap_or(opened.by.now);
    let Some(claim) = &record.claim else {
        if lease_end(record).is_none_or(|end| end >= then) {
            return Ok(None);
        }
        let guard = Guard {
            version: Some(record.version),
            ..Guard::default()
        };
        free(opened, record, guard)?;
        return Ok(Some(owner));
    };
    let Some(why) = claim.is_abandoned(then, &host::name(), host::liveness) else {
        return Ok(None);
    };
    let id = record.issue.id();
    let now = opened.signed(|store, by| store.reclaim(id, claim.fence, why, by))?;
    if claim.holder.process.is_none() {
        let guard = Guard {
            status: Some(Status::Open.into()),
            ..Guard::default()
        };
        free(opened, &now, guard)?;
    }
    Ok(Some(owner))
}

fn lease_end(record: &Record) -> Option<Timestamp> {
    issue_json::lease(record).map(|lease| lease.end)
}

/// The warning about a lease that another replica granted and that was taken back all the same.
fn overridden(record: &Record, owner: &str, node: Option<&str>) -> Option<String> {
    let node = node?;
    let granted = issue_json::lease(record)?
        .node
        .filter(|other| *other != node)?;
    Some(format!(
        "reclaim: --any-replica reverted {} (held by {owner}) — lease was granted by replica {}, not this node ({})\n",
        record.issue.id(),
        quoted(granted),
        quoted(node)
    ))
}

/// Makes a bead one that nobody has begun. A role stays the assignee (Z-3); what somebody took by hand is nobody's again.
fn free(opened: &mut Opened, record: &Record, guard: Guard) -> Result<(), Refusal> {
    let mut document = record.issue.document().clone();
    document.insert("status".to_owned(), Status::Open.into());
    document.shift_remove("started_at");
    forget_lease(&mut document);
    if !record.issue.assignee().is_some_and(claims::is_role) {
        document.shift_remove("assignee");
    }
    document.insert("updated_at".to_owned(), opened.time().into());
    let edit = document_json::replacement(document)
        .map_err(|why| Refusal::json(format!("reclaim: {why}")))?;
    Ok(opened.update_under(guard, record, vec![edit])?)
}

/// Leases that other replicas granted, which may be alive there: their names and how many each has.
#[derive(Default)]
struct Foreign(BTreeMap<String, usize>);

impl Foreign {
    const NAMED: usize = 3;

    /// Whether a lease is to be left to the replica that granted it. It is counted if it is over.
    fn takes(&mut self, record: &Record, node: Option<&str>, then: Timestamp) -> bool {
        let granted = issue_json::lease(record).and_then(|lease| lease.node);
        let (Some(node), Some(granted)) = (node, granted) else {
            return false;
        };
        if granted == node {
            return false;
        }
        if lease_end(record).is_some_and(|end| end < then) {
            *self.0.entry(granted.to_owned()).or_default() += 1;
        }
        true
    }

    fn warning(&self, node: Option<&str>) -> Option<String> {
        let node = node.filter(|_| !self.0.is_empty())?;
        let mut groups: Vec<(&String, &usize)> = self.0.iter().collect();
        groups.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
        let total: usize = self.0.values().sum();
        let (named, rest) = groups.split_at(groups.len().min(Self::NAMED));
        let mut names: Vec<String> = (named.iter())
            .map(|(name, n)| format!("{} ({n})", quoted(name)))
            .collect();
        if !rest.is_empty() {
            let n: usize = rest.iter().map(|(_, n)| **n).sum();
            let replicas = plural(rest.len(), "replica", "replicas");
            names.push(format!("and {} more {replicas} ({n})", rest.len()));
        }
        Some(format!(
            "reclaim: skipped {total} stale {} granted by {} — {}, not this node ({}). Reap {} on the granting replica, or pass --any-replica --id <id> if that replica is gone. (bd -v lists up to 20 of them.)\n",
            plural(total, "lease", "leases"),
            plural(groups.len(), "another replica", "other replicas"),
            names.join(", "),
            quoted(node),
            plural(total, "it", "them"),
        ))
    }
}

fn plural(n: usize, one: &'static str, many: &'static str) -> &'static str {
    if n == 1 { one } else { many }
}

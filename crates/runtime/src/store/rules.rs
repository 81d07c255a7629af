//! What every store checks before it changes something, in one place.

use std::borrow::Cow;

use beads_ralph_core::bead::{BeadId, FieldError, FieldErrorKind};
use beads_ralph_core::issue::{
    Claim, Comment, Dependency, Document, Edit, Effect, Entry, Event, EventKind, Fence, Issue,
    Record, Standing, apply, find_cycle, forget_lease,
};
use beads_ralph_core::text::excerpt;
use beads_ralph_core::vocabulary::{Status, field};
use serde_json::Value;

use super::{Guard, NewClaim, Result, Stamp, StoreError, Write};

/// What an issue is to become.
pub(super) struct Next<'c> {
    pub(super) issue: Cow<'c, Issue>,
    pub(super) comments: Vec<Comment>,
    pub(super) fence: Fence,
    pub(super) claim: Option<Claim>,
    pub(super) kind: EventKind,
    /// The reason, where the kind does not say it.
    pub(super) why: Option<&'static str>,
}

impl<'c> Next<'c> {
    pub(super) fn created(entry: &'c Entry, fence: Fence) -> Self {
        Self {
            issue: Cow::Borrowed(&entry.issue),
            comments: entry.comments.clone(),
            fence,
            claim: None,
            kind: EventKind::Created,
            why: None,
        }
    }

    /// The issue after edits that its guard allows; nothing when they change nothing. Issues that may have been the last step of a
    /// molecule are added to `closed`.
    pub(super) fn edited(
        record: &Record,
        edits: &[Edit],
        guard: &Guard,
        by: Stamp<'_>,
        closed: &mut Vec<BeadId>,
    ) -> Result<Option<Self>> {
        let id = record.issue.id();
        let change = apply(&record.issue, edits, &by.time()).map_err(|error| StoreError::Edit {
            id: id.clone(),
            error,
        })?;
        let after = change.as_ref().map(|change| &change.issue);
        check_guard(record, after, edits, guard)?;
        if may_complete(&record.issue, after, edits) {
            closed.push(id.clone());
        }
        Ok(change.map(|change| Self {
            // A claim ends when the issue is no longer in progress.
            claim: (record.claim.clone()).filter(|_| change.issue.status() == Status::InProgress),
            issue: Cow::Owned(change.issue),
            comments: change.comments,
            fence: record.fence,
            kind: change.kind,
            why: None,
        }))
    }

    /// The issue after it was claimed. The first claim says when work began.
    pub(super) fn claimed(record: &Record, new: &NewClaim<'_>, by: Stamp<'_>) -> Result<Self> {
        let fence = record.fence.next().ok_or_else(|| StoreError::Invalid {
            id: record.issue.id().to_string(),
            errors: vec![FieldError {
                path: "claim_fence".to_owned(),
                message: "the fence cannot rise any further".to_owned(),
                kind: FieldErrorKind::Value,
            }],
        })?;
        let issue = with_status(&record.issue, Status::InProgress, by, |document| {
            let started = document.entry(field::STARTED_AT).or_insert(Value::Null);
            if started.is_null() {
                *started = by.time().as_str().into();
            }
        })?;
        Ok(Self {
            issue: Cow::Owned(issue),
            comments: Vec::new(),
            fence,
            claim: Some(Claim {
                fence,
                holder: new.holder.clone(),
                claimed_at: by.at,
                lease_until: new.lease_until,
            }),
            kind: EventKind::Claimed,
            why: None,
        })
    }

    /// The issue after the claim under a fence has ended.
    pub(super) fn released(
        record: &Record,
        fence: Fence,
        (kind, why): (EventKind, Option<&'static str>),
        by: Stamp<'_>,
    ) -> Result<Self> {
        check_held(record, fence)?;
        Ok(Self {
            issue: Cow::Owned(with_status(&record.issue, Status::Open, by, |_| {})?),
            comments: Vec::new(),
            fence: record.fence,
            claim: None,
            kind,
            why,
        })
    }
}

/// Checks a guard, and that nobody else works on what somebody holds. `after` is what the edits make of the issue, if
/// they change it.
pub(super) fn check_guard(
    record: &Record,
    after: Option<&Issue>,
    edits: &[Edit],
    guard: &Guard,
) -> Result<()> {
    let issue = &record.issue;
    if let Some(status) = guard
        .status
        .as_deref()
        .filter(|status| *status != issue.status())
    {
        return Err(mismatch(issue, "status", status, issue.status()));
    }
    if let Some(version) = guard.version.filter(|version| *version != record.version) {
        return Err(mismatch(
            issue,
            "version",
            &version.to_string(),
            &record.version.to_string(),
        ));
    }
    if guard.is_free && record.is_blocked {
        return Err(mismatch(
            issue,
            "state",
            "free",
            "held back by what it waits for",
        ));
    }
    match (guard.fence, &record.claim) {
        (Some(fence), Some(claim)) if claim.fence == fence => Ok(()),
        // Whoever closed it with this fence and did not hear the answer may ask again.
        (Some(fence), None) if record.fence == fence && is_closed_already(edits, after) => Ok(()),
        (Some(fence), _) => Err(stale(record, fence)),
        (None, Some(claim)) => {
            let is_harmless = after.is_none() || edits.iter().all(is_remark);
            if is_harmless || guard.is_forced {
                Ok(())
            } else {
                Err(held(issue.id(), claim))
            }
        }
        (None, None) => {
            // Whoever sets a bead to work takes it with a claim, so that there is a fence.
            let starts = after.is_some_and(|after| {
                after.status() == Status::InProgress && issue.status() != Status::InProgress
            });
            if starts && !guard.is_forced {
                let expected = "claimed, which sets it to in_progress";
                return Err(mismatch(issue, "status", expected, issue.status()));
            }
            Ok(())
        }
    }
}

/// Checks whether an issue may be removed. That is more than a remark, so whoever holds it is asked by its fence.
pub(super) fn check_removable(record: &Record, guard: &Guard) -> Result<()> {
    check_guard(record, Some(&record.issue), &[Edit::Reopen], guard)
}

/// Where the history of a removed issue goes on when its id comes again: its last version and its fence.
pub(super) fn after_removal(last: Option<&Event>) -> (u64, Fence) {
    match last {
        Some(event) if event.kind == EventKind::Deleted => {
            (event.version, event.fence().unwrap_or_default())
        }
        _ => (0, Fence::default()),
    }
}

/// Whether the edits close what is closed.
fn is_closed_already(edits: &[Edit], after: Option<&Issue>) -> bool {
    after.is_none() && !edits.is_empty() && edits.iter().all(is_close)
}

fn is_close(edit: &Edit) -> bool {
    match edit {
        Edit::Close(_) => true,
        Edit::Status(status) => status == Status::Closed,
        _ => false,
    }
}

/// Whether a change leaves an issue closed that may be the last step of a molecule (F-14). Closing again what is closed counts
/// too: whoever was cut off between the step and its root may ask again.
fn may_complete(before: &Issue, after: Option<&Issue>, edits: &[Edit]) -> bool {
    let was_closed = before.standing() == Standing::Closed;
    let is_closed = after.unwrap_or(before).standing() == Standing::Closed;
    is_closed && (!was_closed || edits.iter().any(is_close))
}

/// Whether an edit only says something about an issue, which anybody may do while another one works on it.
fn is_remark(edit: &Edit) -> bool {
    matches!(
        edit,
        Edit::Comment(_) | Edit::AppendNotes(_) | Edit::AddLabel(_) | Edit::RemoveLabel(_)
    )
}

/// Sets what a batch answers for an issue that changed again after its own change.
pub(super) fn set_version(batch: &[Write], versions: &mut [u64], id: &BeadId, version: u64) {
    let own = batch.iter().zip(versions);
    for (_, own) in own.filter(|(write, _)| write.id() == id) {
        *own = version;
    }
}

fn mismatch(issue: &Issue, what: &str, expected: &str, found: &str) -> StoreError {
    StoreError::Guard {
        what: format!("the {what} of {}", excerpt(issue.id().as_str())),
        expected: excerpt(expected),
        found: excerpt(found),
    }
}

/// That a fence is no longer the one of the claim that is held.
pub(super) fn stale(record: &Record, given: Fence) -> StoreError {
    let now = match &record.claim {
        Some(claim) => format!(
            "it is held by {} on {} with fence {}",
            excerpt(&claim.holder.run),
            excerpt(&claim.holder.host),
            claim.fence
        ),
        None => format!("nobody holds it, its status is {}", record.issue.status()),
    };
    StoreError::Stale {
        id: record.issue.id().clone(),
        given,
        now,
    }
}

pub(super) fn held(id: &BeadId, claim: &Claim) -> StoreError {
    StoreError::Held {
        id: id.clone(),
        holder: Box::new(claim.holder.clone()),
        fence: claim.fence,
        lease_until: claim.lease_until,
    }
}

/// Whether an issue can be claimed, but for what holds it back (L-11).
pub(super) fn check_claimable(record: &Record) -> Result<()> {
    let id = record.issue.id();
    if let Some(claim) = &record.claim {
        return Err(held(id, claim));
    }
    match Status::known(record.issue.status()) {
        Some(Status::Open) => Ok(()),
        Some(Status::InProgress) => Err(StoreError::InProgress(id.clone())),
        _ => Err(StoreError::NotClaimable {
            id: id.clone(),
            status: record.issue.status().to_owned(),
        }),
    }
}

/// Whether an issue is held under a fence.
pub(super) fn check_held(record: &Record, fence: Fence) -> Result<()> {
    let held = record.claim.as_ref().map(|claim| claim.fence);
    if held == Some(fence) {
        Ok(())
    } else {
        Err(stale(record, fence))
    }
}

fn with_status(
    issue: &Issue,
    status: Status,
    by: Stamp<'_>,
    change: impl FnOnce(&mut Document),
) -> Result<Issue> {
    let mut document = issue.document().clone();
    document.insert(field::STATUS.to_owned(), status.into());
    forget_lease(&mut document);
    // Compared is what would be written, which has whole seconds.
    let now = by.time();
    if (issue.time(field::UPDATED_AT)).is_none_or(|was| was <= now.instant()) {
        document.insert(field::UPDATED_AT.to_owned(), now.as_str().into());
    }
    change(&mut document);
    // A document that is as large as can be has no room for another time.
    Issue::without_comments(Value::Object(document)).map_err(|errors| StoreError::Invalid {
        id: issue.id().to_string(),
        errors,
    })
}

/// The ids that an issue waits for, by blocking edges and by its parents: a circle of these is a deadlock.
pub(super) fn waits_for(issue: &Issue) -> Vec<BeadId> {
    let edges = issue.dependencies().iter();
    edges
        .filter(|edge| is_waiting(edge))
        .map(|edge| edge.target().clone())
        .collect()
}

/// Whether an edge counts in a circle.
pub(super) fn is_waiting(edge: &Dependency) -> bool {
    matches!(edge.effect(), Effect::Blocks | Effect::Parent)
}

/// Refuses a cycle that goes through one of the ids.
pub(super) fn check_cycles<E: From<StoreError>>(
    starts: impl IntoIterator<Item = BeadId>,
    waits_for: impl FnMut(&BeadId) -> Result<Vec<BeadId>, E>,
) -> Result<(), E> {
    match find_cycle(starts, waits_for)? {
        Some(cycle) => Err(StoreError::Cycle(cycle).into()),
        None => Ok(()),
    }
}

/// Why the fence of a lease can always rise: unlike the one of an issue, it never comes from outside.
pub(super) const COUNTED: &str = "no name is taken 2^64 times";

/// That a lease is no longer held with a fence.
pub(super) fn lease_lost(name: &str, fence: Fence) -> StoreError {
    StoreError::Guard {
        what: format!("the lease `{name}`"),
        expected: format!("held with fence {fence}"),
        found: "held by somebody else, or by nobody".to_owned(),
    }
}

/// That a control row is not the one that was seen.
pub(super) fn control_changed(key: &str, seen: u64, found: u64) -> StoreError {
    StoreError::Guard {
        what: format!("the version of `{key}`"),
        expected: seen.to_string(),
        found: found.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use beads_ralph_core::issue::{Holder, MAX_DOCUMENT_BYTES};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_name_that_steers_a_terminal_is_escaped_in_every_message() {
        let issue = Issue::without_comments(json!({"id": "a", "title": "t"})).unwrap();
        let holder = Holder {
            run: "\u{1b}[31m".to_owned(),
            host: "h\nost".to_owned(),
            process: None,
        };
        let claim = Claim {
            fence: Fence(2),
            holder,
            claimed_at: jiff::Timestamp::UNIX_EPOCH,
            lease_until: jiff::Timestamp::UNIX_EPOCH,
        };
        let record = Record {
            issue,
            version: 1,
            fence: Fence(2),
            is_blocked: false,
            claim: Some(claim.clone()),
            n_comments: 0,
        };
        let guard = Guard {
            status: Some("\u{1b}".to_owned()),
            ..Guard::default()
        };
        let said = [
            stale(&record, Fence(1)),
            held(record.issue.id(), &claim),
            check_guard(&record, None, &[], &guard).unwrap_err(),
        ];
        for error in said {
            let text = error.to_string();
            assert!(!text.contains(char::is_control), "{text:?}");
        }
    }

    #[test]
    fn a_claim_that_does_not_fit_into_the_document_is_refused() {
        let document = |n: usize| json!({"id": "a", "title": "t", "notes": "x".repeat(n)});
        // The largest document that a store takes has no room for `started_at`.
        let rest = 35;
        assert!(Issue::without_comments(document(MAX_DOCUMENT_BYTES - rest + 1)).is_err());
        let record = Record {
            issue: Issue::without_comments(document(MAX_DOCUMENT_BYTES - rest)).unwrap(),
            version: 1,
            fence: Fence::default(),
            is_blocked: false,
            claim: None,
            n_comments: 0,
        };
        let holder = Holder {
            run: "r".to_owned(),
            host: "h".to_owned(),
            process: None,
        };
        let new = NewClaim {
            holder: &holder,
            lease_until: jiff::Timestamp::UNIX_EPOCH,
            is_forced: false,
            instead_of: None,
        };
        let by = Stamp {
            actor: "ann",
            at: jiff::Timestamp::UNIX_EPOCH,
        };
        let refused = Next::claimed(&record, &new, by);
        assert!(matches!(refused, Err(StoreError::Invalid { .. })));
    }
}

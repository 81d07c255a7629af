//! What the watchdog does to a bead of a store.

use serde_json::{Map, Value, json};

use super::watched::{meta, restart_count};
use super::{FAILURE_REASON, LAST_RESTART, failure_reason, restart_reason};
use crate::bead;
use crate::issue::{Comment, Edit, Issue, Label};
use crate::vocabulary::{label, metadata};

/// What puts a bead back to open, counts it, and says why.
pub fn restarted(issue: &Issue, why: &str, actor: &str, now: &bead::Timestamp) -> Vec<Edit> {
    let count = restart_count(meta(issue)).saturating_add(1);
    let set = [
        (metadata::RESTART_COUNT, json!(count)),
        (LAST_RESTART, json!(now)),
    ];
    let text = restart_reason("open", count, why);
    let mut edits = vec![Edit::Reopen, merged(issue, set)];
    edits.extend(remark(&text, actor, now));
    edits
}

/// What gives a bead up, so that it waits for a person (Z-1).
pub fn given_up(issue: &Issue, why: &str, actor: &str, now: &bead::Timestamp) -> Vec<Edit> {
    let reason = failure_reason(restart_count(meta(issue)), why);
    let human = Label::parse(label::HUMAN).expect("a word is a label");
    let mut edits = vec![
        Edit::Status("blocked".to_owned()),
        Edit::AddLabel(human),
        merged(issue, [(FAILURE_REASON, json!(reason))]),
    ];
    edits.extend(remark(&format!("watchdog: {reason}"), actor, now));
    edits
}

/// What counts the restarts of a bead anew, because a person has decided about it; nothing where there were none.
pub fn forgiven(issue: &Issue) -> Option<Edit> {
    (restart_count(meta(issue)) > 0).then(|| merged(issue, [(metadata::RESTART_COUNT, json!(0))]))
}

fn merged<const N: usize>(issue: &Issue, set: [(&str, Value); N]) -> Edit {
    let mut meta = meta(issue).cloned().unwrap_or_default();
    meta.extend(set.map(|(key, value)| (key.to_owned(), value)));
    let mut metadata = Map::new();
    metadata.insert(metadata::RALPH_META.to_owned(), meta.into());
    Edit::MergeMetadata(metadata)
}

fn remark(text: &str, actor: &str, now: &bead::Timestamp) -> Option<Edit> {
    let comment = json!({"author": actor, "text": text, "created_at": now});
    Comment::from_value(comment).ok().map(Edit::Comment)
}

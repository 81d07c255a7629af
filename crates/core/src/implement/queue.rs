//! Which beads the driver takes, and in which order (I-40, I-43).

use crate::issue::Record;
use crate::vocabulary::label;

/// A bead that the driver may take.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'r> {
    /// The bead.
    pub source: &'r Record,
    /// Whether it has a molecule that is not closed.
    pub has_molecule: bool,
}

impl Candidate<'_> {
    /// Whether it is in the queue: labelled, not waiting for a person, and either ready or begun before.
    fn is_queued(&self) -> bool {
        let issue = &self.source.issue;
        let is_begun = issue.status() == "in_progress" && self.has_molecule;
        let is_ready = issue.status() == "open" && !self.source.is_blocked;
        issue.has_label(label::IMPLEMENTATION_READY)
            && !issue.has_label(label::HUMAN)
            && (is_ready || is_begun)
    }
}

/// The queue: the most urgent first, then by id.
pub fn queue<'r>(candidates: &[Candidate<'r>]) -> Vec<&'r Record> {
    let queued = candidates.iter().filter(|candidate| candidate.is_queued());
    let mut queue: Vec<&Record> = queued.map(|candidate| candidate.source).collect();
    queue.sort_by_key(|record| (record.issue.priority(), record.issue.id().clone()));
    queue
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::issue::{Fence, Issue};

    fn record(id: &str, more: &Value, is_blocked: bool) -> Record {
        let mut document = json!({"id": id, "title": id, "labels": [label::IMPLEMENTATION_READY]});
        document
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        Record {
            issue: Issue::without_comments(document).unwrap(),
            version: 1,
            fence: Fence::default(),
            claim: None,
            is_blocked,
            n_comments: 0,
        }
    }

    #[test]
    fn i_43_what_was_begun_is_gone_on_with_and_people_are_waited_for() {
        let records = [
            record("b", &json!({"priority": 1}), false),
            record("a", &json!({"priority": 1}), false),
            record("urgent", &json!({"priority": 0}), false),
            record("begun", &json!({"status": "in_progress"}), false),
            record("held", &json!({"status": "in_progress"}), false),
            record(
                "human",
                &json!({"labels": [label::IMPLEMENTATION_READY, label::HUMAN]}),
                false,
            ),
            record("plain", &json!({"labels": []}), false),
            record("waiting", &json!({}), true),
        ];
        let candidates: Vec<Candidate<'_>> = records
            .iter()
            .map(|source| Candidate {
                source,
                has_molecule: source.issue.id().as_str() == "begun",
            })
            .collect();
        let ids: Vec<&str> = queue(&candidates)
            .iter()
            .map(|record| record.issue.id().as_str())
            .collect();
        assert_eq!(ids, ["urgent", "a", "b", "begun"]);
    }
}

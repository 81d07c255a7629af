//! What the plan said when it was last applied, kept in the bead itself.
//!
//! People add their own labels and dependencies. Only what the plan gave before and no longer gives is
//! removed, so the bead records it under `metadata.plan_applied`. A bead without that record was not made
//! from a plan, and nothing is removed from it.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use crate::apply::difference::{ChangeDraft, Detail};
use crate::bead::{BeadId, RalphBead};
use crate::issue::{Dependency, Edit, Issue, Label};
use crate::vocabulary::EdgeType;

/// The labels and dependencies of a plan, in the order of their texts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::apply) struct LastApplied {
    labels: BTreeSet<String>,
    dependencies: BTreeSet<String>,
}

impl LastApplied {
    pub(in crate::apply) const KEY: &str = "plan_applied";

    /// What a plan says about a bead.
    pub(in crate::apply) fn of(bead: &RalphBead) -> Self {
        let targets = bead.dependencies.iter().map(BeadId::as_str);
        Self {
            labels: bead.labels.iter().cloned().collect(),
            dependencies: targets.map(str::to_owned).collect(),
        }
    }

    /// What the plan said when an issue was last made as it says.
    fn read(issue: &Issue) -> Self {
        let memory = issue
            .metadata()
            .and_then(|metadata| metadata.get(Self::KEY));
        let list = |key: &str| {
            let items = memory.and_then(|memory| memory.get(key)?.as_array());
            let texts = items.into_iter().flatten().filter_map(Value::as_str);
            texts.map(str::to_owned).collect()
        };
        Self {
            labels: list("labels"),
            dependencies: list("dependencies"),
        }
    }

    pub(in crate::apply) fn to_value(&self) -> Value {
        json!({"labels": self.labels, "dependencies": self.dependencies})
    }

    /// Notes the labels and edges of an issue that are not as the plan says now; `self` is that, and
    /// `wanted` the whole issue that the plan would make.
    pub(in crate::apply) fn compare(&self, wanted: &Issue, issue: &Issue, draft: &mut ChangeDraft) {
        let last = Self::read(issue);
        self.compare_labels(&last, wanted, issue, draft);
        self.compare_edges(&last, wanted, issue, draft);
        let value = self.to_value();
        let own = issue
            .metadata()
            .and_then(|metadata| metadata.get(Self::KEY));
        if own != Some(&value) {
            let memory = Map::from_iter([(Self::KEY.to_owned(), value)]);
            draft.edits.push(Edit::MergeMetadata(memory));
        }
    }

    fn compare_labels(&self, last: &Self, wanted: &Issue, issue: &Issue, draft: &mut ChangeDraft) {
        let own: BTreeSet<&str> = issue.labels().collect();
        for label in last.labels.difference(&self.labels) {
            if own.contains(label.as_str()) {
                draft.details.push(Detail::LabelRemoved(label.clone()));
                draft.edits.push(Edit::RemoveLabel(label.clone()));
            }
        }
        for text in wanted.labels().filter(|label| !own.contains(label)) {
            let label = Label::parse(text).expect("an issue's labels were read as labels");
            draft.details.push(Detail::LabelAdded(text.to_owned()));
            draft.edits.push(Edit::AddLabel(label));
        }
    }

    /// A wanted edge takes the place of an edge of another type, because there is one edge to each issue. An
    /// edge that the plan gave and that has another type by now is somebody else's.
    fn compare_edges(&self, last: &Self, wanted: &Issue, issue: &Issue, draft: &mut ChangeDraft) {
        let own = issue.dependencies();
        let own: HashMap<&str, &Dependency> = own
            .iter()
            .map(|edge| (edge.target().as_str(), edge))
            .collect();
        for target in last.dependencies.difference(&self.dependencies) {
            match own.get(target.as_str()) {
                Some(edge) if edge.kind() == EdgeType::Blocks => remove(edge, draft),
                _ => {}
            }
        }
        for edge in wanted.dependencies() {
            match own.get(edge.target().as_str()) {
                Some(same) if same.kind() == edge.kind() => continue,
                Some(other) => remove(other, draft),
                None => {}
            }
            draft
                .details
                .push(Detail::DependencyAdded(edge.target().clone()));
            draft.edits.push(Edit::AddDependency(edge.clone()));
        }
    }
}

fn remove(edge: &Dependency, draft: &mut ChangeDraft) {
    draft.details.push(Detail::DependencyRemoved {
        target: edge.target().clone(),
        kind: edge.kind().to_owned(),
    });
    draft
        .edits
        .push(Edit::RemoveDependency(edge.target().clone()));
}

//! Work that a worker found on the way becomes beads (I-26, I-27): each once, and by default beside the source, with an edge to it.

use serde::Serialize;
use serde_json::Value;

use super::report::Discovered;
use crate::bead::BeadId;
use crate::issue::Record;
use crate::vocabulary::{EdgeType, Status};

/// Where a new bead belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement<'p> {
    /// Nowhere else; an edge leads to the source.
    Orphan,
    /// Beside the source, below its epic.
    Sibling(&'p BeadId),
}

/// The items that have no bead yet: `known` are the beads that have an edge to the source.
pub fn unfiled<'d>(
    items: &'d [Discovered],
    source: &BeadId,
    known: &[Record],
) -> Vec<&'d Discovered> {
    let is_filed = |item: &Discovered| {
        known.iter().any(|record| {
            let is_from_source = |edge: &crate::issue::Dependency| {
                edge.kind() == EdgeType::DiscoveredFrom && edge.target() == source
            };
            record.issue.title() == item.title
                && record.issue.dependencies().iter().any(is_from_source)
        })
    };
    let mut unfiled: Vec<&Discovered> = Vec::new();
    for item in items {
        let is_repeated = unfiled.iter().any(|other| other.title == item.title);
        if !is_filed(item) && !is_repeated {
            unfiled.push(item);
        }
    }
    unfiled
}

#[derive(Serialize)]
struct NewBead<'a> {
    id: &'a BeadId,
    title: &'a str,
    description: &'a str,
    status: Status,
    priority: u8,
    issue_type: &'static str,
    dependencies: Vec<NewEdge<'a>>,
}

#[derive(Serialize)]
struct NewEdge<'a> {
    depends_on_id: &'a BeadId,
    r#type: EdgeType,
}

/// The document of an item's bead.
pub fn document(
    item: &Discovered,
    id: &BeadId,
    source: &BeadId,
    placement: Placement<'_>,
) -> Value {
    let edge = |depends_on_id, r#type| NewEdge {
        depends_on_id,
        r#type,
    };
    let mut dependencies = vec![edge(source, EdgeType::DiscoveredFrom)];
    if let Placement::Sibling(epic) = placement {
        dependencies.push(edge(epic, EdgeType::ParentChild));
    }
    let bead = NewBead {
        id,
        title: &item.title,
        description: &item.detail,
        status: Status::Open,
        priority: item.priority,
        issue_type: item.kind.as_str(),
        dependencies,
    };
    serde_json::to_value(bead).expect("a bead can be written as JSON")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::implement::report::DiscoveredType;
    use crate::issue::{Fence, Issue};

    fn item(title: &str) -> Discovered {
        Discovered {
            title: title.to_owned(),
            kind: DiscoveredType::Bug,
            priority: 1,
            detail: "d".to_owned(),
        }
    }

    fn record(document: Value) -> Record {
        Record {
            issue: Issue::without_comments(document).unwrap(),
            version: 1,
            fence: Fence::default(),
            claim: None,
            is_blocked: false,
            n_comments: 0,
        }
    }

    #[test]
    fn i_27_the_same_title_is_filed_once_for_a_source() {
        let source = BeadId::parse("src").unwrap();
        let items = [item("one"), item("two"), item("two")];
        let titles = |known: &[Record]| -> Vec<String> {
            unfiled(&items, &source, known)
                .iter()
                .map(|item| item.title.clone())
                .collect()
        };
        assert_eq!(titles(&[]), ["one", "two"]);
        let filed = record(document(
            &items[0],
            &BeadId::parse("n").unwrap(),
            &source,
            Placement::Orphan,
        ));
        assert_eq!(titles(&[filed]), ["two"]);
        let elsewhere = record(
            json!({"id": "m", "title": "one", "dependencies": [{"depends_on_id": "other", "type": "discovered-from"}]}),
        );
        assert_eq!(
            titles(&[elsewhere]).len(),
            2,
            "a bead of another source with this title does not count"
        );
    }

    #[test]
    fn i_27_a_sibling_is_below_the_epic_and_knows_its_source() {
        let (source, epic, id) = (
            BeadId::parse("s").unwrap(),
            BeadId::parse("e").unwrap(),
            BeadId::parse("n").unwrap(),
        );
        let issue = Issue::without_comments(document(
            &item("x"),
            &id,
            &source,
            Placement::Sibling(&epic),
        ))
        .unwrap();
        assert_eq!(issue.parents().collect::<Vec<_>>(), [&epic]);
        assert_eq!((issue.issue_type(), issue.priority()), ("bug", 1));
        assert_eq!(issue.dependencies()[0].kind(), EdgeType::DiscoveredFrom);
    }
}

//! The labels by which a bead and its molecule find each other (I-2), and those that say where a bead stands (§9.13).

use crate::bead::BeadId;
use crate::issue::Issue;

/// What the label of a molecule begins with that names the bead it was poured for.
const FOR_BEAD: &str = "for-bead-";

/// The label of a bead whose work is done and that a person must merge.
pub const MERGE_READY: &str = "merge-ready";

/// The label that says that a person looked at it.
pub const VERIFIED: &str = "verified-by-human";

/// The label of the molecules of a bead.
pub fn link_label(source: &BeadId) -> String {
    format!("{FOR_BEAD}{source}")
}

/// The bead that a molecule was poured for.
pub fn linked_source(molecule: &Issue) -> Option<BeadId> {
    let mut ids = molecule
        .labels()
        .filter_map(|label| BeadId::parse(label.strip_prefix(FOR_BEAD)?).ok());
    ids.next()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn i_2_a_molecule_names_its_bead() {
        let source = BeadId::parse("proj-1.2").unwrap();
        let document = json!({"id": "m", "title": "t", "labels": ["x", link_label(&source)]});
        let molecule = Issue::without_comments(document).unwrap();
        assert_eq!(linked_source(&molecule), Some(source));
        let other = json!({"id": "m", "title": "t", "labels": ["for-bead-"]});
        assert_eq!(
            linked_source(&Issue::without_comments(other).unwrap()),
            None
        );
    }
}

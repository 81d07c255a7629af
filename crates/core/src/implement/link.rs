//! The labels by which a bead and its molecule find each other (I-2), and those that say where a bead stands (§9.13).

use super::path_label::{decode_path, decode_url};
use crate::bead::BeadId;
use crate::issue::Issue;
use crate::vocabulary::label;

/// What the label of a molecule begins with that names the bead it was poured for.
const FOR_BEAD: &str = "for-bead-";

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

/// The worktree that a molecule names, whether it is there or not (I-10).
pub fn worktree_of(molecule: &Issue) -> Option<String> {
    decode_path(labelled(molecule, label::WORKTREE_PREFIX)?).ok()
}

/// The pull request that a molecule names (I-13).
pub fn pull_request_of(molecule: &Issue) -> Option<String> {
    decode_url(labelled(molecule, label::PULL_REQUEST_PREFIX)?).ok()
}

/// What the first label with a beginning says after it.
fn labelled<'i>(issue: &'i Issue, beginning: &str) -> Option<&'i str> {
    let mut labels = issue.labels();
    labels.find_map(|label| label.strip_prefix(beginning))
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

    #[test]
    fn i_10_i_13_a_molecule_names_its_worktree_and_its_pull_request() {
        let molecule = |labels: &[&str]| {
            let document = json!({"id": "m", "title": "t", "labels": labels});
            Issue::without_comments(document).unwrap()
        };
        let named = molecule(&["worktree-path-__w__a_ub", "pr-url-https_c____x__1"]);
        assert_eq!(worktree_of(&named).as_deref(), Some("/w/a_b"));
        assert_eq!(pull_request_of(&named).as_deref(), Some("https://x/1"));
        let broken = molecule(&["worktree-path-a_b", "pr-url-"]);
        assert_eq!(worktree_of(&broken), None);
        assert_eq!(pull_request_of(&broken), None);
    }
}

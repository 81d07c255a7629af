//! Where the work of a dispatcher is, and where everything is kept that was written for it: for those who come later and look.
//!
//! Nothing here is made or removed, and nothing need be there.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::implement::report_folder;
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use super::session_id;
use crate::config::Config;
use crate::ports::Place;

/// Where worktrees are made, from the root.
pub(super) const WORKTREES: &str = ".claude/worktrees";

/// The branch that work is merged into when the configuration names none.
const TARGET: &str = "ralph/implement";

/// Where the artefacts of reviews are, from the root.
pub(super) const ARTEFACTS: &str = ".ralf";

/// Where the work of a bead is, from the path of its worktree: the branch is named by its last two parts.
pub(super) fn place_of(bead: &BeadId, worktree: &Utf8Path) -> Option<Place> {
    let name = worktree.file_name()?;
    let folder = worktree.parent()?.file_name()?;
    Some(Place {
        bead: bead.clone(),
        branch: format!("{folder}/{name}"),
        worktree: worktree.to_owned(),
    })
}

/// The same for a worktree that lies where this program makes them; others are somebody else's.
pub fn own_place(root: &Utf8Path, bead: &BeadId, worktree: &Utf8Path) -> Option<Place> {
    let below = worktree.strip_prefix(root.join(WORKTREES)).ok()?;
    let mut parts = below.components();
    let is_made_so = parts.all(|it| matches!(it, Utf8Component::Normal(_)));
    place_of(bead, worktree).filter(|_| is_made_so && below.components().count() == 2)
}

/// The branch that finished work is merged into.
pub fn target_of(config: &Config) -> &str {
    config.integration.target.as_deref().unwrap_or(TARGET)
}

/// Where prompts, output, reports and checks of a step are kept, below the directory of the store. None for an id that cannot be a path.
pub fn work_of(beads: &Utf8Path, step: &BeadId) -> Option<Utf8PathBuf> {
    report_folder(step).ok().map(|folder| beads.join(folder))
}

/// Where the reviews of a stage are kept, below the root of the main worktree.
pub fn reviews_of(root: &Utf8Path, source: &BeadId, stage: &str) -> Utf8PathBuf {
    let session = session_id(source.as_str(), stage);
    root.join(ARTEFACTS).join(session)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i_16_what_was_written_is_found_by_bead_and_stage() {
        let id = |text: &str| BeadId::parse(text).unwrap();
        let (root, beads) = (Utf8Path::new("/r"), Utf8Path::new("/r/.beads"));
        assert_eq!(
            work_of(beads, &id("bd-1")).unwrap(),
            "/r/.beads/worker-audit/bd-1"
        );
        assert_eq!(work_of(beads, &id("a..b")), None);
        assert_eq!(
            reviews_of(root, &id("proj-42"), "preflight"),
            "/r/.ralf/dd2cbd7c-554a-5ad9-8470-aa6e93ffd1e7"
        );
        let place = place_of(&id("p-1"), Utf8Path::new("/r/w/fix/p-1-x")).unwrap();
        assert_eq!(place.branch, "fix/p-1-x");
        assert_eq!(place_of(&id("p-1"), Utf8Path::new("/")), None);
        let own = |path: &str| own_place(root, &id("p-1"), Utf8Path::new(path)).is_some();
        assert!(own("/r/.claude/worktrees/fix/p-1-x"));
        for others in [
            "/r",
            "/r/fix/p-1-x",
            "/r/.claude/worktrees/x",
            "/r/.claude/worktrees/../x",
            "/r/.claude/worktrees/a/b/c",
        ] {
            assert!(!own(others), "{others}");
        }
    }
}

//! A repository in memory: commits with whole trees, branches, worktrees, refs that are kept, and a remote.
//!
//! It keeps what the real one promises in the documentation of [`Repository`](beads_ralph_runtime::ports::Repository), with files that are
//! one word long and merges that take whole files.

use std::collections::{BTreeMap, BTreeSet};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::engine::{CommitId, Trouble};
use beads_ralph_runtime::ports::{Integrated, Origin, Place, Prepared, Sealed, State};
use camino::Utf8PathBuf;

/// The files of a commit or a worktree.
pub(super) type Tree = BTreeMap<String, String>;

/// What stands in a file that two sides changed.
const MARKER: &str = "<<<<<<<";

#[derive(Debug)]
struct Commit {
    tree: Tree,
    /// Everything that it goes on from, itself included.
    history: BTreeSet<usize>,
    number: usize,
}

#[derive(Debug)]
pub(super) struct Worktree {
    pub(super) branch: String,
    pub(super) files: Tree,
    /// What is being merged, while it is not committed.
    merging: Option<CommitId>,
}

/// A repository.
#[derive(Debug, Default)]
pub(super) struct Git {
    commits: BTreeMap<CommitId, Commit>,
    numbers: Vec<CommitId>,
    pub(super) branches: BTreeMap<String, CommitId>,
    pub(super) remote: BTreeMap<String, CommitId>,
    pub(super) kept: BTreeMap<BeadId, CommitId>,
    /// What was put aside of attempts that were cut off.
    pub(super) interrupted: BTreeMap<(BeadId, u32), CommitId>,
    pub(super) worktrees: BTreeMap<Utf8PathBuf, Worktree>,
}

impl Git {
    /// A repository with one branch.
    pub(super) fn new(source: &str) -> Self {
        let mut git = Self::default();
        let root = git.commit(Tree::new(), &[]);
        git.branches.insert(source.to_owned(), root.clone());
        git.remote.insert(source.to_owned(), root);
        git
    }

    fn commit(&mut self, tree: Tree, parents: &[&CommitId]) -> CommitId {
        let number = self.numbers.len();
        let id = CommitId(format!("{number:08x}{}", "0".repeat(32)));
        let mut history = BTreeSet::from([number]);
        for parent in parents {
            history.extend(&self.commits[*parent].history);
        }
        let commit = Commit {
            tree,
            history,
            number,
        };
        self.commits.insert(id.clone(), commit);
        self.numbers.push(id.clone());
        id
    }

    pub(super) fn tree(&self, commit: &CommitId) -> Option<&Tree> {
        self.commits.get(commit).map(|commit| &commit.tree)
    }

    /// Whether a commit is in another one's history.
    pub(super) fn is_in(&self, commit: &CommitId, head: &CommitId) -> bool {
        let (Some(commit), Some(head)) = (self.commits.get(commit), self.commits.get(head)) else {
            return false;
        };
        head.history.contains(&commit.number)
    }

    pub(super) fn head(&self, place: &Place) -> Option<CommitId> {
        let worktree = self.worktrees.get(&place.worktree)?;
        self.branches.get(&worktree.branch).cloned()
    }

    fn worktree(&self, place: &Place) -> Result<(&Worktree, CommitId), Trouble> {
        let missing = || Trouble::for_bead(format!("unknown worktree {}", place.worktree));
        let worktree = self.worktrees.get(&place.worktree).ok_or_else(missing)?;
        let head = self.head(place).ok_or_else(missing)?;
        Ok((worktree, head))
    }

    pub(super) fn prepare(&mut self, place: &Place, origin: &Origin) -> Result<Prepared, Trouble> {
        self.check_out(place, origin)?;
        let (worktree, head) = self.worktree(place)?;
        let conflicts = conflicts(&worktree.files);
        if !conflicts.is_empty() {
            let merging = worktree.merging.clone();
            let merging = origin
                .wanted
                .iter()
                .find(|it| Some(&it.commit) == merging.as_ref());
            return Ok(Prepared {
                head,
                from: place.branch.clone(),
                merging: merging.cloned(),
                conflicts,
            });
        }
        if worktree.merging.is_some() {
            self.commit_files(place)?;
        }
        for wanted in &origin.wanted {
            let (_, head) = self.worktree(place)?;
            if self.is_in(&wanted.commit, &head) {
                continue;
            }
            let (tree, conflicts) = self.merged(&head, &wanted.commit);
            if let Some(worktree) = self.worktrees.get_mut(&place.worktree) {
                worktree.files = tree;
                worktree.merging = Some(wanted.commit.clone());
            }
            if !conflicts.is_empty() {
                return Ok(Prepared {
                    head,
                    from: place.branch.clone(),
                    merging: Some(wanted.clone()),
                    conflicts,
                });
            }
            self.commit_files(place)?;
        }
        let (_, head) = self.worktree(place)?;
        Ok(Prepared {
            head,
            from: place.branch.clone(),
            merging: None,
            conflicts: Vec::new(),
        })
    }

    /// A worktree on the branch, made if it is not there.
    fn check_out(&mut self, place: &Place, origin: &Origin) -> Result<(), Trouble> {
        if let Some(worktree) = self.worktrees.get(&place.worktree) {
            if worktree.branch == place.branch {
                return Ok(());
            }
            return Err(Trouble::for_run(format!("{} is taken", place.worktree)));
        }
        let head = match self.branches.get(&place.branch) {
            Some(head) => head.clone(),
            None => self
                .branches
                .get(&origin.source)
                .cloned()
                .ok_or_else(|| Trouble::for_run(format!("unknown branch {}", origin.source)))?,
        };
        self.branches.insert(place.branch.clone(), head.clone());
        let worktree = Worktree {
            branch: place.branch.clone(),
            files: self.commits[&head].tree.clone(),
            merging: None,
        };
        self.worktrees.insert(place.worktree.clone(), worktree);
        Ok(())
    }

    /// Commits everything in a worktree, if that is anything.
    pub(super) fn commit_files(&mut self, place: &Place) -> Result<CommitId, Trouble> {
        let (worktree, head) = self.worktree(place)?;
        let files = worktree.files.clone();
        let merging = worktree.merging.clone();
        if merging.is_none() && files == self.commits[&head].tree {
            return Ok(head);
        }
        let parents: Vec<&CommitId> = [Some(&head), merging.as_ref()]
            .into_iter()
            .flatten()
            .collect();
        let commit = self.commit(files, &parents);
        self.branches.insert(place.branch.clone(), commit.clone());
        if let Some(worktree) = self.worktrees.get_mut(&place.worktree) {
            worktree.merging = None;
        }
        Ok(commit)
    }

    /// Two commits as one tree, and the files that do not fit. The base is the newest commit that both have.
    fn merged(&self, ours: &CommitId, theirs: &CommitId) -> (Tree, Vec<String>) {
        let (ours, theirs) = (&self.commits[ours], &self.commits[theirs]);
        let shared = ours.history.intersection(&theirs.history).max();
        let empty = Tree::new();
        let base = shared.map_or(&empty, |n| &self.commits[&self.numbers[*n]].tree);
        let paths: BTreeSet<&String> = ours.tree.keys().chain(theirs.tree.keys()).collect();
        let (mut tree, mut conflicts) = (Tree::new(), Vec::new());
        for path in paths {
            let (b, o, t) = (base.get(path), ours.tree.get(path), theirs.tree.get(path));
            let merged = if o == t || t == b {
                o.cloned()
            } else if o == b {
                t.cloned()
            } else {
                conflicts.push(path.clone());
                let side = |side: Option<&String>| side.cloned().unwrap_or_default();
                Some(format!("{MARKER} {} {}", side(o), side(t)))
            };
            if let Some(merged) = merged {
                tree.insert(path.clone(), merged);
            }
        }
        (tree, conflicts)
    }

    pub(super) fn seal(&mut self, place: &Place, base: &CommitId) -> Result<Sealed, Trouble> {
        let (worktree, head) = self.worktree(place)?;
        let unresolved = conflicts(&worktree.files);
        let commit = if unresolved.is_empty() {
            self.commit_files(place)?
        } else {
            head
        };
        if !self.is_in(base, &commit) {
            return Err(Trouble::for_bead(format!(
                "{} does not go on from {}",
                commit.short(),
                base.short()
            )));
        }
        Ok(Sealed {
            tree: format!("{:?}", self.commits[&commit].tree),
            changed_files: self.changed(base, &commit),
            commit,
            unresolved,
            refused: None,
        })
    }

    /// What `git merge --abort` does.
    pub(super) fn give_up_merge(&mut self, place: &Place) {
        let Some(tree) = self.head(place).and_then(|head| self.tree(&head).cloned()) else {
            return;
        };
        if let Some(worktree) = self.worktrees.get_mut(&place.worktree) {
            worktree.files = tree;
            worktree.merging = None;
        }
    }

    pub(super) fn changed(&self, base: &CommitId, commit: &CommitId) -> Vec<String> {
        let (Some(base), Some(tree)) = (self.tree(base), self.tree(commit)) else {
            return Vec::new();
        };
        let paths: BTreeSet<&String> = base.keys().chain(tree.keys()).collect();
        let differs = |path: &&String| base.get(*path) != tree.get(*path);
        paths.into_iter().filter(differs).cloned().collect()
    }

    pub(super) fn state(&self, place: &Place) -> Result<State, Trouble> {
        let (worktree, head) = self.worktree(place)?;
        let is_clean = worktree.merging.is_none() && worktree.files == self.commits[&head].tree;
        Ok(State {
            branch: Some(place.branch.clone()),
            dirt: (!is_clean).then(|| "something is not committed".to_owned()),
            head,
        })
    }

    pub(super) fn restore(
        &mut self,
        place: &Place,
        commit: &CommitId,
        attempt: u32,
    ) -> Result<Option<CommitId>, Trouble> {
        let state = self.state(place)?;
        if state.dirt.is_none() && state.head == *commit {
            return Ok(None);
        }
        let files = self.worktree(place)?.0.files.clone();
        let kept = self.commit(files, &[&state.head]);
        let key = (place.bead.clone(), attempt);
        self.interrupted.insert(key, kept.clone());
        let tree = self
            .tree(commit)
            .cloned()
            .ok_or_else(|| Trouble::for_bead(format!("unknown commit {commit}")))?;
        self.branches.insert(place.branch.clone(), commit.clone());
        if let Some(worktree) = self.worktrees.get_mut(&place.worktree) {
            worktree.files = tree;
            worktree.merging = None;
        }
        Ok(Some(kept))
    }

    /// Merges a commit into the target. Without looking, one that is there already is merged again: only a planted fault does so.
    pub(super) fn integrate(
        &mut self,
        target: &str,
        source: &str,
        commit: &CommitId,
        looks: bool,
    ) -> Result<Integrated, Trouble> {
        let head = match self.branches.get(target).or(self.branches.get(source)) {
            Some(head) => head.clone(),
            None => return Err(Trouble::for_run(format!("unknown branch {source}"))),
        };
        if looks && self.is_in(commit, &head) {
            self.branches.insert(target.to_owned(), head.clone());
            return Ok(Integrated::In {
                commit: head,
                was_there: true,
            });
        }
        let (tree, files) = self.merged(&head, commit);
        if !files.is_empty() {
            return Ok(Integrated::Conflict {
                target: head,
                files,
            });
        }
        let merged = self.commit(tree, &[&head, commit]);
        self.branches.insert(target.to_owned(), merged.clone());
        Ok(Integrated::In {
            commit: merged,
            was_there: false,
        })
    }

    pub(super) fn remove(&mut self, place: &Place) -> Result<(), Trouble> {
        if !self.worktrees.contains_key(&place.worktree) {
            return Ok(());
        }
        if let Some(dirt) = self.state(place)?.dirt {
            return Err(Trouble::for_bead(format!("{}: {dirt}", place.worktree)));
        }
        self.worktrees.remove(&place.worktree);
        Ok(())
    }
}

/// The files that have conflicts.
fn conflicts(files: &Tree) -> Vec<String> {
    let has_marker = |(_, text): &(&String, &String)| text.starts_with(MARKER);
    let found = files.iter().filter(has_marker);
    found.map(|(path, _)| path.clone()).collect()
}

#[cfg(test)]
mod tests {
    use beads_ralph_runtime::ports::Wanted;

    use super::*;

    fn place(n: u32) -> Place {
        Place {
            bead: BeadId::parse(&format!("bd-{n}")).unwrap(),
            branch: format!("feature/{n}"),
            worktree: Utf8PathBuf::from(format!("/w/{n}")),
        }
    }

    fn origin(wanted: &[&CommitId]) -> Origin {
        Origin {
            source: "main".to_owned(),
            wanted: (wanted.iter())
                .map(|commit| Wanted {
                    name: "it".to_owned(),
                    commit: (*commit).clone(),
                })
                .collect(),
        }
    }

    fn write(git: &mut Git, place: &Place, path: &str, text: &str) {
        let worktree = git.worktrees.get_mut(&place.worktree).unwrap();
        worktree.files.insert(path.to_owned(), text.to_owned());
    }

    #[test]
    fn the_repository_in_memory_merges_seals_and_restores() {
        let mut git = Git::new("main");
        let base = git.prepare(&place(1), &origin(&[])).unwrap().head;
        write(&mut git, &place(1), "shared", "one");
        assert!(git.state(&place(1)).unwrap().dirt.is_some());
        let first = git.seal(&place(1), &base).unwrap();
        assert_eq!(first.changed_files, ["shared"]);
        git.prepare(&place(2), &origin(&[])).unwrap();
        write(&mut git, &place(2), "shared", "two");
        git.seal(&place(2), &base).unwrap();

        let wanted = origin(&[&first.commit]);
        let prepared = git.prepare(&place(2), &wanted).unwrap();
        assert_eq!(prepared.conflicts, ["shared"]);
        let left = git.seal(&place(2), &base).unwrap();
        assert_eq!(left.unresolved, ["shared"]);
        write(&mut git, &place(2), "shared", "both");
        let solved = git.seal(&place(2), &base).unwrap();
        assert!(git.is_in(&first.commit, &solved.commit));
        assert_eq!(git.prepare(&place(2), &wanted).unwrap().head, solved.commit);

        write(&mut git, &place(2), "more", "x");
        let kept = git.restore(&place(2), &base, 3).unwrap().unwrap();
        assert_eq!(git.tree(&kept).unwrap()["more"], "x");
        assert_eq!(git.state(&place(2)).unwrap().head, base);
        assert_eq!(git.restore(&place(2), &base, 3).unwrap(), None);
    }

    #[test]
    fn z_11_a_commit_is_merged_into_the_target_once() {
        let mut git = Git::new("main");
        let base = git.prepare(&place(1), &origin(&[])).unwrap().head;
        write(&mut git, &place(1), "a", "1");
        let sealed = git.seal(&place(1), &base).unwrap().commit;
        let mut integrate = |looks| git.integrate("ralph/x", "main", &sealed, looks).unwrap();
        let Integrated::In { commit, was_there } = integrate(true) else {
            unreachable!("nothing is in the way")
        };
        assert!(!was_there);
        let there = Integrated::In {
            commit,
            was_there: true,
        };
        assert_eq!(integrate(true), there);
        assert_ne!(integrate(false), there);
    }
}

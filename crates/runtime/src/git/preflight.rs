//! Questions before a run begins: everything that prevents the branches and worktrees of its beads, at once (B-28, Z-16).

use std::collections::BTreeSet;

use beads_ralph_core::bead::BranchName;
use beads_ralph_core::engine::Trouble;
use camino::Utf8Path;

use super::add::clash_message;
use super::call::Call;
use super::site::Site;
use super::worktrees::Worktree;
use super::{Git, copied};
use crate::ports::Place;
use crate::repo::shown;

struct Surroundings {
    branches: BTreeSet<String>,
    worktrees: Vec<Worktree>,
}

impl Git {
    /// Everything that would keep these beads from their branches and worktrees, one sentence for each.
    pub fn clashes(&self, places: &[Place]) -> Result<Vec<String>, Trouble> {
        let arguments = ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"];
        let answer = self
            .caller
            .ask(&Call::new(&self.root, &arguments).for_run())?;
        let around = Surroundings {
            branches: String::from_utf8_lossy(&answer)
                .lines()
                .map(str::to_owned)
                .collect(),
            worktrees: self.worktrees()?,
        };
        let mut clashes: Vec<String> = Vec::new();
        let mut all = around.branches.clone();
        all.extend(places.iter().map(|place| place.branch.clone()));
        let mut seen = BTreeSet::new();
        for place in places {
            if seen.insert(&place.branch) {
                clashes.extend(around.branch_clash(place, &all));
            }
            clashes.extend(self.path_clash(place, &around));
        }
        clashes.extend(between(places));
        let mut known = BTreeSet::new();
        clashes.retain(|clash| known.insert(clash.clone()));
        Ok(clashes)
    }

    fn path_clash(&self, place: &Place, around: &Surroundings) -> Option<String> {
        let path = shown(&place.worktree);
        let bead = place.bead.as_str();
        if place.worktree.starts_with(&self.common) {
            return Some(format!(
                "{bead}: the worktree {path} would be inside the git directory"
            ));
        }
        match Site::look(&place.worktree, &self.common) {
            Site::Taken(what) => Some(format!(
                "{bead}: the worktree cannot be at {path}, where there is {what}"
            )),
            Site::Linked(_) => {
                let real = place.worktree.canonicalize_utf8().ok()?;
                let here = around
                    .worktrees
                    .iter()
                    .find(|worktree| worktree.path == real)?;
                let other = here
                    .branch
                    .as_ref()
                    .filter(|&branch| *branch != place.branch)?;
                Some(format!(
                    "{bead}: the worktree {path} is on the branch '{other}', not on '{}'",
                    place.branch
                ))
            }
            Site::Free | Site::Stub => {
                let above = place
                    .worktree
                    .ancestors()
                    .skip(1)
                    .find(|above| above.exists())?;
                (!above.is_dir()).then(|| {
                    format!(
                        "{bead}: the worktree cannot be at {path}, because {} is a file",
                        shown(above)
                    )
                })
            }
        }
    }
}

impl Surroundings {
    fn branch_clash(&self, place: &Place, all: &BTreeSet<String>) -> Option<String> {
        let bead = place.bead.as_str();
        if let Err(wrong) = BranchName::parse(&place.branch).and_then(|name| name.check_git_safe())
        {
            return Some(format!("{bead}: {wrong}"));
        }
        let said = |other: &str| Some(format!("{bead}: {}", clash_message(&place.branch, other)));
        let holder = self.worktrees.iter().find(|worktree| {
            worktree.branch.as_ref() == Some(&place.branch)
                && !is_same(&worktree.path, &place.worktree)
                && worktree.path.exists()
        });
        if let Some(holder) = holder {
            return Some(format!(
                "{bead}: the branch '{}' is checked out at {}",
                place.branch,
                shown(&holder.path)
            ));
        }
        if self.branches.contains(&place.branch) {
            return None;
        }
        let mut above = Utf8Path::new(&place.branch).ancestors().skip(1);
        if let Some(other) = above.find(|above| all.contains(above.as_str())) {
            return said(other.as_str());
        }
        let below = format!("{}/", place.branch);
        let other = self.branches.range(below.clone()..).next();
        let other = other.filter(|other| other.starts_with(&below))?;
        said(other)
    }
}

/// What these beads do to each other: one branch is in one worktree, one worktree on one branch, and none inside another.
fn between(places: &[Place]) -> Vec<String> {
    let mut clashes = Vec::new();
    for (index, place) in places.iter().enumerate() {
        for other in &places[..index] {
            let is_same_path = place.worktree == other.worktree;
            let is_same_branch = place.branch == other.branch;
            let is_nested = !is_same_path
                && (place.worktree.starts_with(&other.worktree)
                    || other.worktree.starts_with(&place.worktree));
            let (one, two) = (other.bead.as_str(), place.bead.as_str());
            if is_same_path && !is_same_branch {
                let path = shown(&place.worktree);
                clashes.push(format!(
                    "{one} and {two}: the worktree {path} cannot be on '{}' and on '{}'",
                    other.branch, place.branch
                ));
            } else if is_same_branch && !is_same_path {
                clashes.push(format!(
                    "{one} and {two}: the branch '{}' cannot be checked out at {} and at {}",
                    place.branch,
                    shown(&other.worktree),
                    shown(&place.worktree)
                ));
            } else if is_nested {
                clashes.push(format!(
                    "{one} and {two}: the worktrees {} and {} are inside each other",
                    shown(&other.worktree),
                    shown(&place.worktree)
                ));
            }
        }
    }
    clashes
}

fn is_same(one: &Utf8Path, other: &Utf8Path) -> bool {
    one == other
        || (one.canonicalize_utf8().ok())
            .is_some_and(|one| Ok(one) == other.canonicalize_utf8().map_err(drop))
}

impl Git {
    /// Which of these files are not on a branch that beads start from.
    pub fn not_on(&self, source: &str, paths: &[&str]) -> Result<Vec<String>, Trouble> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let commit = self.base(source)?.commit;
        let mut arguments = vec!["ls-tree", "-r", "-z", "--name-only", &commit.0, "--"];
        arguments.extend(paths);
        let there = self.listed(&arguments)?;
        let is_missing = |path: &&&str| !there.iter().any(|it| it == **path);
        let missing = paths.iter().filter(is_missing);
        Ok(missing.map(|path| (*path).to_owned()).collect())
    }

    /// The files that are copied into worktrees and that git does not ignore: an agent that commits everything commits them, too.
    pub fn copied_and_not_ignored(&self) -> Result<Vec<String>, Trouble> {
        let mut paths = Vec::new();
        for pattern in &self.settings.copy {
            let found = copied::found(&self.root, pattern)?;
            paths.extend(found.into_iter().map(camino::Utf8PathBuf::into_string));
        }
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let mut arguments = vec![
            "--literal-pathspecs",
            "ls-files",
            "-z",
            "--others",
            "--exclude-standard",
            "--",
        ];
        arguments.extend(paths.iter().map(String::as_str));
        self.listed(&arguments)
    }

    fn listed(&self, arguments: &[&str]) -> Result<Vec<String>, Trouble> {
        let answer = self.caller.ask(&Call::new(&self.root, arguments))?;
        let answer = String::from_utf8_lossy(&answer);
        let names = answer.split('\0').filter(|name| !name.is_empty());
        Ok(names.map(str::to_owned).collect())
    }
}

//! Whether the conflicts of a merge were solved.
//!
//! What git still holds for unmerged counts as solved when somebody changed the file since the merge stopped, and no
//! conflict markers are in it: people and agents often edit and forget to say `git add`. What git holds for merged counts as
//! unsolved while the markers are still there. All of that is asked of the index of whoever works there: it tells what they did, and what is
//! committed is what lies in the files.

use std::fs;

use beads_ralph_core::engine::Trouble;
use camino::Utf8Path;

use super::Git;
use super::call::{Call, parts};
use super::site::Linked;
use super::status::Status;

/// A file this large is not looked through.
const MAX_LOOKED_AT: u64 = 64 << 20;

impl Git {
    /// The files whose conflicts nobody solved.
    pub(super) fn unresolved(
        &self,
        linked: &Linked,
        status: &Status,
    ) -> Result<Vec<String>, Trouble> {
        if status.entries.is_empty() && linked.merge_head().is_none() {
            // The files are just the commit, whatever an index says.
            return Ok(Vec::new());
        }
        let unmerged = self.caller.unmerged(linked);
        if !unmerged.is_empty() {
            let edited = self.edited(linked, &unmerged)?;
            let is_open =
                |path: &String| !edited.contains(path) || has_markers(&linked.path.join(path));
            return Ok(unmerged.into_iter().filter(is_open).collect());
        }
        if linked.merge_head().is_none() {
            return Ok(Vec::new());
        }
        let were = self.once_unmerged(linked)?;
        let has_markers = |path: &String| has_markers(&linked.path.join(path));
        Ok(were.into_iter().filter(has_markers).collect())
    }

    /// Which of these files are not as the merge left them. Git keeps what it left as `AUTO_MERGE`.
    fn edited(&self, linked: &Linked, unmerged: &[String]) -> Result<Vec<String>, Trouble> {
        if !linked.has("AUTO_MERGE") {
            return Ok(Vec::new());
        }
        let literal: Vec<String> = unmerged
            .iter()
            .map(|path| format!(":(literal){path}"))
            .collect();
        let mut arguments = vec!["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff"];
        // Nothing is started in a repository inside.
        arguments.extend(["--ignore-submodules=dirty", "AUTO_MERGE", "--"]);
        arguments.extend(literal.iter().map(String::as_str));
        let answer = self
            .caller
            .ask(&Call::with_their_index(linked, &arguments))?;
        Ok(parts(&answer).collect())
    }

    /// The files that were in conflict before somebody added them.
    fn once_unmerged(&self, linked: &Linked) -> Result<Vec<String>, Trouble> {
        let arguments = ["ls-files", "--resolve-undo", "-z"];
        let answer = self
            .caller
            .ask(&Call::with_their_index(linked, &arguments))?;
        let mut paths: Vec<String> = parts(&answer)
            .filter_map(|line| line.split_once('\t').map(|(_, path)| path.to_owned()))
            .collect();
        paths.dedup();
        Ok(paths)
    }
}

/// Whether a file has the lines between which git puts the two sides of a conflict.
fn has_markers(file: &Utf8Path) -> bool {
    let is_small = |metadata: fs::Metadata| metadata.is_file() && metadata.len() <= MAX_LOOKED_AT;
    if !fs::symlink_metadata(file).is_ok_and(is_small) {
        return false;
    }
    let bytes = fs::read(file).unwrap_or_default();
    let has = |mark: &[u8; 7]| {
        let mut lines = bytes.split(|&byte| byte == b'\n');
        lines.any(|line| {
            let rest = line.strip_prefix(mark);
            rest.is_some_and(|rest| {
                rest.first()
                    .is_none_or(|&next| matches!(next, b' ' | b'\r'))
            })
        })
    };
    has(b"<<<<<<<") && has(b">>>>>>>")
}

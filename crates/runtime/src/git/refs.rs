//! Refs and commits: the names of our refs, heads of branches, ancestors, and what commits changed (Z-6, Z-39).
//!
//! Git cannot hold a ref and others below it, so the verified commit of a bead is `refs/beads-ralph/<bead>/verified`, beside
//! `refs/beads-ralph/<bead>/interrupted/<n>`.

use std::collections::HashMap;
use std::fmt::Write as _;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::engine::{CommitId, Trouble};
use camino::Utf8Path;
use tempfile::TempDir;
use twox_hash::XxHash3_64;

use super::Git;
use super::call::{Call, no_place};
use crate::os::files;

/// Below this are all of ours.
const PREFIX: &str = "refs/beads-ralph";

/// How long the encoded name of a bead may be: a ref is a file, and its lock has a longer name.
const MAX_NAME: usize = 200;

/// How much of a longer one stays readable.
const KEPT: usize = 150;

pub(super) fn verified(bead: &BeadId) -> String {
    format!("{PREFIX}/{}/verified", encoded(bead))
}

pub(super) fn interrupted(bead: &BeadId, attempt: u32) -> String {
    format!("{PREFIX}/{}/interrupted/{attempt}", encoded(bead))
}

pub(super) fn branch(name: &str) -> String {
    format!("refs/heads/{name}")
}

/// An id as one part of a ref: letters, digits, `-`, `_` and single dots stay, every other byte is `%` and its number. A very
/// long one is cut, and its hash makes it unique.
fn encoded(bead: &BeadId) -> String {
    let bytes = bead.as_str().as_bytes();
    let mut name = String::with_capacity(bytes.len());
    for (index, &byte) in bytes.iter().enumerate() {
        let is_plain = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if is_plain || (byte == b'.' && is_inner_dot(bytes, index)) {
            name.push(char::from(byte));
        } else {
            write!(name, "%{byte:02X}").expect("a text can be written to");
        }
    }
    if name.len() > MAX_NAME {
        name.truncate(KEPT);
        let hash = XxHash3_64::oneshot(bytes);
        write!(name, "%-{hash:016x}").expect("a text can be written to");
    }
    name
}

/// Whether a dot may stay: git allows none at the beginning and the end, no two, and not the ending of its own locks.
fn is_inner_dot(bytes: &[u8], index: usize) -> bool {
    let rest = &bytes[index + 1..];
    index > 0 && bytes[index - 1] != b'.' && !rest.is_empty() && rest != b"lock"
}

/// How many answers are remembered.
const MAX_KNOWN: usize = 20_000;

impl Git {
    /// The commits of these refs, as far as they are there. Full names.
    pub(super) fn refs(&self, names: &[&str]) -> Result<HashMap<String, CommitId>, Trouble> {
        let mut arguments = vec!["for-each-ref", "--format=%(refname) %(objectname)"];
        arguments.extend(names);
        let answer = self
            .caller
            .ask(&Call::new(&self.root, &arguments).for_run())?;
        let answer = String::from_utf8_lossy(&answer);
        // Git takes a name for everything below it, too.
        let pairs = answer.lines().filter_map(|line| line.split_once(' '));
        let wanted = pairs.filter(|(name, _)| names.contains(name));
        Ok(wanted
            .map(|(name, commit)| (name.to_owned(), CommitId(commit.to_owned())))
            .collect())
    }

    pub(super) fn resolve(&self, name: &str) -> Result<Option<CommitId>, Trouble> {
        let arguments = ["rev-parse", "--verify", "--quiet", name];
        let said = self.caller.say(&Call::new(&self.root, &arguments))?;
        match said.code {
            0 => Ok(Some(CommitId(said.line()))),
            1 => Ok(None),
            _ => Err(said.trouble()),
        }
    }

    /// Sets a ref, whatever it was.
    pub(super) fn set_ref(&self, name: &str, commit: &CommitId) -> Result<(), Trouble> {
        let arguments = ["update-ref", name, &commit.0];
        self.caller
            .act(&Call::new(&self.root, &arguments))
            .map(drop)
    }

    /// Whether a commit is in another one's history. What was learned is remembered, because it never changes.
    pub(super) fn contains(&self, head: &CommitId, commit: &CommitId) -> Result<bool, Trouble> {
        if head == commit {
            return Ok(true);
        }
        let key = (commit.clone(), head.clone());
        if let Some(&known) = self.memory().ancestry.get(&key) {
            return Ok(known);
        }
        let arguments = ["merge-base", "--is-ancestor", &commit.0, &head.0];
        let said = self.caller.say(&Call::new(&self.root, &arguments))?;
        let is_in = match said.code {
            0 => true,
            1 => false,
            _ => return Err(said.trouble()),
        };
        let mut memory = self.memory();
        if memory.ancestry.len() >= MAX_KNOWN {
            memory.ancestry.clear();
        }
        memory.ancestry.insert(key, is_in);
        Ok(is_in)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub path: String,
    /// How many lines were added and removed; nothing for what has no lines.
    pub lines: Option<(u64, u64)>,
}

impl Git {
    /// What differs between commits and those that they began from, by commit. What git does not know any more is left out.
    pub fn changes(
        &self,
        pairs: &[(&CommitId, &CommitId)],
    ) -> Result<HashMap<CommitId, Vec<Change>>, Trouble> {
        let is_commit =
            |it: &CommitId| it.0.len() >= 40 && it.0.bytes().all(|b| b.is_ascii_hexdigit());
        let pairs = pairs
            .iter()
            .filter(|(commit, base)| is_commit(commit) && is_commit(base));
        // What stands behind a commit is taken for its parents.
        let mut lines = String::new();
        for (commit, base) in pairs {
            _ = writeln!(lines, "{} {}", commit.0, base.0);
        }
        if lines.is_empty() {
            return Ok(HashMap::new());
        }
        let directory = TempDir::new().map_err(|error| no_place(&error))?;
        let path = Utf8Path::from_path(directory.path());
        let path = path
            .ok_or_else(|| no_place(&"its path is not UTF-8"))?
            .join("pairs");
        files::write_passing(&path, lines.as_bytes()).map_err(|error| no_place(&error))?;
        let arguments = [
            "diff-tree",
            "--stdin",
            "-r",
            "--numstat",
            "--no-renames",
            "-z",
        ];
        let call = Call {
            input: Some(&path),
            ..Call::new(&self.root, &arguments)
        };
        Ok(read(&String::from_utf8_lossy(&self.caller.ask(&call)?)))
    }
}

/// Each commit, and the files behind it.
fn read(answer: &str) -> HashMap<CommitId, Vec<Change>> {
    let mut all: HashMap<CommitId, Vec<Change>> = HashMap::new();
    let mut commit = None;
    for part in answer.split('\0').filter(|part| !part.is_empty()) {
        let mut fields = part.splitn(3, '\t');
        let (Some(added), Some(removed), Some(path)) =
            (fields.next(), fields.next(), fields.next())
        else {
            commit = Some(CommitId(part.trim().to_owned()));
            continue;
        };
        let Some(commit) = &commit else { continue };
        let lines = added.parse().ok().zip(removed.parse().ok());
        let path = path.to_owned();
        all.entry(commit.clone())
            .or_default()
            .push(Change { path, lines });
    }
    all
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn encoded(id: &str) -> String {
        super::encoded(&BeadId::parse(id).unwrap())
    }

    #[test]
    fn z_6_any_id_is_a_legal_part_of_a_ref() {
        for (id, expected) in [
            ("bd-1-1-setup", "bd-1-1-setup"),
            ("bd-a3f8.1", "bd-a3f8.1"),
            ("a/b c", "a%2Fb%20c"),
            (".a..b.", "%2Ea.%2Eb%2E"),
            ("x.lock", "x%2Elock"),
            ("@{u}~^:?*[\\", "%40%7Bu%7D%7E%5E%3A%3F%2A%5B%5C"),
            ("%2F", "%252F"),
            ("é", "%C3%A9"),
        ] {
            assert_eq!(encoded(id), expected);
        }
    }

    #[test]
    fn z_6_different_ids_have_different_refs() {
        let long = "é".repeat(120);
        let ids = [
            "a/b",
            "a%2Fb",
            "a.b",
            "a..b",
            "a.",
            "a",
            &long,
            &format!("{long}x"),
        ];
        let names: HashSet<String> = ids.iter().map(|id| encoded(id)).collect();
        assert_eq!(names.len(), ids.len());
        assert!(names.iter().all(|name| name.len() <= MAX_NAME));
    }

    #[test]
    fn files_stand_behind_their_commit() {
        let commit = |name: &str| CommitId(name.to_owned());
        let found = read("aa\0 1\t0\todd\tname\0-\t-\tpicture\0bb\n\x0012\t3\tsrc/lib.rs\0");
        assert_eq!(found[&commit("aa")].len(), 2);
        assert_eq!(found[&commit("aa")][0].path, "odd\tname");
        assert_eq!(found[&commit("aa")][1].lines, None);
        let lines = Some((12, 3));
        let path = "src/lib.rs".to_owned();
        assert_eq!(found[&commit("bb")], [Change { path, lines }]);
    }
}

//! What is asked before a run begins, so that people hear of it before the first agent starts and not from it (Z-16).

use beads_ralph_core::engine::Trouble;

use super::call::Call;
use super::{Git, copied};

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

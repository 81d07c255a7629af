//! Pushing a verified commit (Z-5, L-18).
//!
//! Nothing is ever forced. The user's hook for pushing runs, because it may have to bring large files along (git-lfs does).

use beads_ralph_core::engine::{CommitId, Lasting, Trouble};

use super::call::Call;
use super::{Git, fault, refname};

impl Git {
    pub(super) fn push_commit(&self, branch: &str, commit: &CommitId) -> Result<(), Trouble> {
        let remote = self.settings.remote.as_str();
        if self.remote_url().is_none() {
            return Err(Trouble::for_run(format!(
                "there is no remote '{remote}' to push to; say git remote add, or use another integration"
            )));
        }
        let refspec = format!("{commit}:{}", refname::branch(branch));
        let arguments = [
            "push",
            "--quiet",
            "--no-follow-tags",
            "--no-signed",
            "--no-force",
            "--recurse-submodules=no",
            "--",
            remote,
            &refspec,
        ];
        let call = Call {
            limit: self.settings.network_limit,
            env: self.network_environment().clone(),
            has_hooks: true,
            is_remote: true,
            ..Call::new(&self.root, &arguments)
        };
        let said = self.caller.say(&call)?;
        if said.is_ok() {
            return Ok(());
        }
        let words = said.text();
        let is_behind = words.contains("non-fast-forward") || words.contains("fetch first");
        if is_behind {
            return Err(Trouble::for_bead(format!(
                "the branch '{branch}' of {remote} has commits that are not in {}, and nothing is forced; look at it, then push or remove it yourself",
                commit.short()
            )));
        }
        let command = format!("git push of '{branch}' to {remote}");
        Err(fault::remote_trouble(&command, &words, Lasting::ForBead))
    }
}

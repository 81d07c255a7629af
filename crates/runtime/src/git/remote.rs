//! The remote: the commit that a bead starts from (Z-6), here or there, whichever is ahead; and pushing a verified commit (Z-5, L-18).
//!
//! The remote is asked from time to time, not for every bead; no answer is not an error. Pushes are never forced. The user's
//! push hook runs, because it may upload large files (git-lfs does).

use std::collections::{BTreeMap, HashMap};
use std::sync::PoisonError;
use std::time::Duration;

use beads_ralph_core::engine::{CommitId, Lasting, Trouble};

use super::call::Call;
use super::{Git, errors, refs};
use crate::os::{clock, env};

/// How many branches an error names.
const MAX_NAMED: usize = 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Base {
    pub commit: CommitId,
    /// Which branch that is, in words.
    pub from: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Start {
    /// The branch is there already.
    Branch(CommitId),
    /// It must be made from this.
    Base(Base),
}

impl Git {
    pub fn remote_url(&self) -> Option<&str> {
        let url = self.remote.get_or_init(|| {
            let arguments = ["remote", "get-url", "--", &self.settings.remote];
            let said = self.caller.act(&Call::new(&self.root, &arguments));
            said.ok().map(|said| said.line())
        });
        url.as_deref()
    }

    pub(super) fn base(&self, source: &str) -> Result<Base, Trouble> {
        let failure = self.fetch(source);
        let refs = self.refs(&self.sources(source).each_ref().map(String::as_str))?;
        self.base_of(source, &refs, failure)
    }

    /// The branch as it is; where there is none, what it would start from. Git is asked once for both.
    pub(super) fn start(&self, branch: &str, source: &str) -> Result<Start, Trouble> {
        let failure = self.fetch(source);
        let branch = refs::branch(branch);
        let sources = self.sources(source);
        let [local, remote, named] = sources.each_ref().map(String::as_str);
        let refs = self.refs(&[&branch, local, remote, named])?;
        match refs.get(&branch) {
            Some(commit) => Ok(Start::Branch(commit.clone())),
            None => self.base_of(source, &refs, failure).map(Start::Base),
        }
    }

    /// The refs that a source may be: a branch here, one of the remote, or one of a remote that is named with it.
    fn sources(&self, source: &str) -> [String; 3] {
        let named = format!("refs/remotes/{source}");
        [refs::branch(source), self.remote_ref(source), named]
    }

    fn base_of(
        &self,
        source: &str,
        refs: &HashMap<String, CommitId>,
        failure: Option<String>,
    ) -> Result<Base, Trouble> {
        let [local, remote, named] = self.sources(source).map(|name| refs.get(&name));
        let mut base = match (local, remote, named) {
            (Some(local), Some(remote), _) => self.further(source, local, remote)?,
            (Some(commit), None, _) => base(commit, source),
            (None, Some(commit), _) => base(commit, &format!("{}/{source}", self.settings.remote)),
            (None, None, Some(commit)) => base(commit, source),
            (None, None, None) => return Err(self.no_source(source)?),
        };
        if let Some(failure) = failure {
            base.from = format!("{} ({failure})", base.from);
        }
        Ok(base)
    }

    /// Whether a bead can start from a branch: an error that names those that there are, if not.
    pub fn check_source(&self, source: &str) -> Result<(), Trouble> {
        self.base(source).map(drop)
    }

    fn remote_ref(&self, source: &str) -> String {
        format!("refs/remotes/{}/{source}", self.settings.remote)
    }

    fn further(&self, source: &str, local: &CommitId, remote: &CommitId) -> Result<Base, Trouble> {
        let there = format!("{}/{source}", self.settings.remote);
        if self.contains(local, remote)? {
            Ok(base(local, source))
        } else if self.contains(remote, local)? {
            Ok(base(
                remote,
                &format!("{there}, which is ahead of {source}"),
            ))
        } else {
            let from = format!("{source}, which has diverged from {there}");
            Ok(base(local, &from))
        }
    }

    fn no_source(&self, source: &str) -> Result<Trouble, Trouble> {
        let arguments = ["for-each-ref", "--format=%(refname:short)", "refs/heads"];
        let answer = self.caller.ask(&Call::new(&self.root, &arguments))?;
        let answer = String::from_utf8_lossy(&answer);
        let mut branches = answer.lines();
        let named: Vec<&str> = branches.by_ref().take(MAX_NAMED).collect();
        let more = if branches.next().is_some() {
            ", …"
        } else {
            ""
        };
        let there = if named.is_empty() {
            "the repository has no branch yet; make a first commit".to_owned()
        } else {
            format!("there are: {}{more}", named.join(", "))
        };
        let absence = match self.remote_url() {
            Some(_) => format!("exists neither here nor at {}", self.settings.remote),
            None => "does not exist".to_owned(),
        };
        Ok(Trouble::for_run(format!(
            "the source branch '{source}' {absence}; {there}"
        )))
    }

    /// Brings the source branch of the remote here, unless that was done a moment ago. What kept it from coming, in words.
    fn fetch(&self, source: &str) -> Option<String> {
        self.remote_url()?;
        let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        let now = clock::monotonic();
        if let Some((when, failure)) = fetched.get(source)
            && now.duration_since(*when) < self.settings.fetch_every
        {
            return failure.clone();
        }
        let failure = self.fetch_now(source);
        fetched.insert(source.to_owned(), (clock::monotonic(), failure.clone()));
        failure
    }

    fn fetch_now(&self, source: &str) -> Option<String> {
        let refspec = format!("+{}:{}", refs::branch(source), self.remote_ref(source));
        let arguments = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-prune",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
            "--",
            &self.settings.remote,
            &refspec,
        ];
        let call = Call {
            limit: self.settings.network_limit,
            env: self.network_environment().clone(),
            is_remote: true,
            ..Call::new(&self.root, &arguments)
        };
        let words = match self.caller.say(&call) {
            Ok(said) if said.is_ok() => return None,
            // A branch that is only here.
            Ok(said) if said.stderr.contains("couldn't find remote ref") => return None,
            Ok(said) => errors::told(&said.text()),
            Err(trouble) => trouble.message,
        };
        let remote = &self.settings.remote;
        Some(format!("cannot fetch {remote}: {words}"))
    }

    /// What git's environment has when it speaks to a remote: `ssh` must not ask anybody, unless the user has said how it is called.
    fn network_environment(&self) -> &BTreeMap<String, String> {
        self.network.get_or_init(|| {
            let is_said = |name: &str| env::inherited().any(|(known, _)| known == name);
            let arguments = ["config", "--get", "core.sshCommand"];
            let is_set = || {
                let said = self.caller.say(&Call::new(&self.root, &arguments));
                said.is_ok_and(|said| said.is_ok())
            };
            if is_said("GIT_SSH_COMMAND") || is_said("GIT_SSH") || is_set() {
                return BTreeMap::new();
            }
            let ssh = "ssh -o BatchMode=yes".to_owned();
            BTreeMap::from([("GIT_SSH_COMMAND".to_owned(), ssh)])
        })
    }
}

fn base(commit: &CommitId, from: &str) -> Base {
    Base {
        commit: commit.clone(),
        from: from.to_owned(),
    }
}

/// How long what was fetched counts as new, unless it is said otherwise.
pub(super) const FETCH_EVERY: Duration = Duration::from_mins(1);

impl Git {
    pub(super) fn push_commit(&self, branch: &str, commit: &CommitId) -> Result<(), Trouble> {
        let remote = self.settings.remote.as_str();
        if self.remote_url().is_none() {
            return Err(Trouble::for_run(format!(
                "no remote '{remote}' to push to; add it with `git remote add`, or use another integration"
            )));
        }
        let refspec = format!("{commit}:{}", refs::branch(branch));
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
                "the branch '{branch}' of {remote} has commits that are not in {}, and pushes are never forced; inspect it, then push or remove it yourself",
                commit.short()
            )));
        }
        let command = format!("git push of '{branch}' to {remote}");
        Err(errors::remote_trouble(&command, &words, Lasting::ForBead))
    }
}

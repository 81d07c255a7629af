//! The one repository of the stand-in: its branches and its pull requests.

use std::collections::BTreeMap;

use beads_ralph_runtime::ports::PullState;
use camino::Utf8PathBuf;

/// What GitHub lets a title and a text be at most, in characters.
const MAX_TITLE: usize = 256;
const MAX_BODY: usize = 65_536;

/// What the owner of a token may do with a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Everything.
    Admin,
    /// Push.
    Write,
    /// Look after issues.
    Triage,
    /// Only read.
    Read,
}

impl Permission {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "ADMIN",
            Self::Write => "WRITE",
            Self::Triage => "TRIAGE",
            Self::Read => "READ",
        }
    }
}

/// A pull request as the stand-in keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pull {
    /// Its number, from 1.
    pub number: u64,
    /// Its title.
    pub title: String,
    /// Its text.
    pub body: String,
    /// The branch that it proposes.
    pub head: String,
    /// The branch that it is for.
    pub base: String,
    /// The commit that it proposes; that of the branch as long as it is open.
    pub commit: String,
    /// Where it stands.
    pub state: PullState,
    /// Whether its branch is in somebody else's copy of the repository.
    pub is_foreign: bool,
}

impl Default for Pull {
    fn default() -> Self {
        Self {
            number: 0,
            title: String::new(),
            body: String::new(),
            head: String::new(),
            base: String::new(),
            commit: "0".repeat(40),
            state: PullState::Open,
            is_foreign: false,
        }
    }
}

#[derive(Debug)]
pub(super) struct Repository {
    pub(super) owner: String,
    pub(super) name: String,
    pub(super) permission: Permission,
    pub(super) is_archived: bool,
    /// Where the branches are, if not here.
    pub(super) bare: Option<Utf8PathBuf>,
    pub(super) branches: BTreeMap<String, String>,
    pulls: Vec<Pull>,
}

impl Repository {
    pub(super) fn new(full_name: &str) -> Self {
        let (owner, name) = full_name.split_once('/').unwrap_or((full_name, "r"));
        Self {
            owner: owner.to_owned(),
            name: name.to_owned(),
            permission: Permission::Write,
            is_archived: false,
            bare: None,
            branches: BTreeMap::new(),
            pulls: Vec::new(),
        }
    }

    /// GitHub does not mind the case of names.
    pub(super) fn is_called(&self, owner: &str, name: &str) -> bool {
        self.owner.eq_ignore_ascii_case(owner) && self.name.eq_ignore_ascii_case(name)
    }

    pub(super) fn address(&self) -> String {
        format!("https://github.com/{}/{}", self.owner, self.name)
    }

    /// The head of a branch.
    fn branch(&self, name: &str) -> Option<String> {
        let Some(bare) = &self.bare else {
            return self.branches.get(name).cloned();
        };
        let full = format!("refs/heads/{name}");
        if let Ok(loose) = std::fs::read_to_string(bare.join(&full)) {
            return Some(loose.trim().to_owned());
        }
        let packed = std::fs::read_to_string(bare.join("packed-refs")).ok()?;
        let mut lines = packed.lines().filter_map(|line| line.split_once(' '));
        let found = lines.find(|(_, reference)| *reference == full);
        found.map(|(commit, _)| commit.to_owned())
    }

    /// All pull requests as they are now, oldest first.
    pub(super) fn pulls(&self) -> Vec<Pull> {
        let mut pulls = self.pulls.clone();
        for pull in &mut pulls {
            if pull.state == PullState::Open
                && !pull.is_foreign
                && let Some(commit) = self.branch(&pull.head)
            {
                pull.commit = commit;
            }
        }
        pulls
    }

    /// Adds a pull request without asking whether GitHub would; gives its number.
    pub(super) fn add(&mut self, pull: Pull) -> u64 {
        let number = self.pulls.len() as u64 + 1;
        self.pulls.push(Pull { number, ..pull });
        number
    }

    /// Merges or closes a pull request; it stays at the commit that it has now.
    pub(super) fn settle(&mut self, number: u64, state: PullState) {
        let now = self.pulls();
        let now = now.into_iter().find(|pull| pull.number == number);
        let kept = self.pulls.iter_mut().find(|pull| pull.number == number);
        if let (Some(now), Some(kept)) = (now, kept) {
            kept.commit = now.commit;
            kept.state = state;
        }
    }

    /// Makes a pull request, or says with GitHub's kind of error and words why not.
    pub(super) fn create(&mut self, wanted: Pull) -> Result<Pull, (&'static str, String)> {
        if self.is_archived {
            let reason = "Repository was archived so is read-only.";
            return Err(("UNPROCESSABLE", reason.to_owned()));
        }
        let is_allowed = match self.permission {
            Permission::Admin | Permission::Write => true,
            Permission::Triage | Permission::Read => false,
        };
        if !is_allowed {
            let reason = "does not have the correct permissions to execute `CreatePullRequest`";
            return Err(("FORBIDDEN", format!("{} {reason}", super::GitHub::LOGIN)));
        }
        if let Some(reason) = self.objection(&wanted) {
            return Err(("UNPROCESSABLE", reason));
        }
        let number = self.add(wanted);
        let made = self.pulls().into_iter().find(|pull| pull.number == number);
        Ok(made.expect("it was just added"))
    }

    fn objection(&self, wanted: &Pull) -> Option<String> {
        let (head, base) = (self.branch(&wanted.head), self.branch(&wanted.base));
        let nothing_between = format!("No commits between {} and {}", wanted.base, wanted.head);
        match (&head, &base) {
            (None, _) => {
                return Some(format!(
                    "Head sha can't be blank, Base sha can't be blank, {nothing_between}, Head ref must be a branch"
                ));
            }
            (_, None) => return Some(format!("{nothing_between}, Base ref must be a branch")),
            (Some(head), Some(base)) if head == base => return Some(nothing_between),
            (Some(_), Some(_)) => {}
        }
        let is_same = |pull: &Pull| {
            pull.state == PullState::Open
                && !pull.is_foreign
                && (&pull.head, &pull.base) == (&wanted.head, &wanted.base)
        };
        if self.pulls.iter().any(is_same) {
            let (owner, head) = (&self.owner, &wanted.head);
            return Some(format!("A pull request already exists for {owner}:{head}."));
        }
        if wanted.title.trim().is_empty() {
            return Some("Title can't be blank".to_owned());
        }
        if wanted.title.chars().count() > MAX_TITLE {
            return Some(format!(
                "Title is too long (maximum is {MAX_TITLE} characters)"
            ));
        }
        (wanted.body.chars().count() > MAX_BODY)
            .then(|| format!("Body is too long (maximum is {MAX_BODY} characters)"))
    }
}

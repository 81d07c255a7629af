//! In whose name we commit: the user's, and where git knows none, our own.

use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;

use super::Git;
use super::call::{Call, Caller};
use crate::os::process::Units;

/// How long git may take to say who the user is.
const ASKING_LIMIT: Duration = Duration::from_secs(10);

/// In whose name commits are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// The user's, as git has it: `Name <address>`.
    User(String),
    /// Git knows nobody, so ours is used: [`Identity::OWN_NAME`] and [`Identity::OWN_ADDRESS`].
    Own,
}

impl Identity {
    /// The name under which we commit where git knows none.
    pub const OWN_NAME: &str = "beads-ralph";

    pub const OWN_ADDRESS: &str = "beads-ralph@localhost";

    pub(super) fn options(&self) -> &'static [&'static str] {
        match self {
            Self::User(_) => &[],
            Self::Own => &[
                "-c",
                "user.name=beads-ralph",
                "-c",
                "user.email=beads-ralph@localhost",
            ],
        }
    }
}

impl Git {
    /// In whose name commits are made here; asked once.
    pub fn identity(&self) -> &Identity {
        self.identity.get_or_init(|| {
            let of = |variable: &str| {
                let said = self.caller.act(&Call::new(&self.root, &["var", variable]));
                // The time follows the address.
                let line = said.ok()?.line();
                line.rsplit_once('>')
                    .map(|(person, _)| format!("{person}>"))
            };
            match (of("GIT_AUTHOR_IDENT"), of("GIT_COMMITTER_IDENT")) {
                (Some(author), Some(_)) => Identity::User(author),
                _ => Identity::Own,
            }
        })
    }
}

/// The branch that is checked out in a directory; nothing where there is none, or no repository.
pub fn branch_of(units: Arc<Units>, directory: &Utf8Path) -> Option<String> {
    let arguments = ["symbolic-ref", "--short", "HEAD"];
    let call = Call {
        limit: ASKING_LIMIT,
        ..Call::new(directory, &arguments)
    };
    let branch = Caller::new(units).act(&call).ok()?.line();
    (!branch.is_empty()).then_some(branch)
}

/// Who the user is by git's settings in a directory, which need not be a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Person {
    pub name: Option<String>,
    pub email: Option<String>,
}

impl Person {
    /// Asks git; whoever it does not know, or cannot be asked about, is nobody.
    pub fn of(units: Arc<Units>, directory: &Utf8Path) -> Self {
        let arguments = ["config", "--get-regexp", r"^user\.(name|email)$"];
        let call = Call {
            limit: ASKING_LIMIT,
            ..Call::new(directory, &arguments)
        };
        let Ok(said) = Caller::new(units).act(&call) else {
            return Self::default();
        };
        let answer = said.stdout.text();
        let value = |key: &str| {
            // The last setting counts.
            let lines = answer.lines().rev();
            let mut values = lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
            values
                .next()
                .filter(|value| !value.is_empty())
                .map(str::to_owned)
        };
        Self {
            name: value("user.name"),
            email: value("user.email"),
        }
    }
}

//! In whose name we commit: the user's, and where git knows none, our own.

use super::Git;
use super::call::Call;

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

    /// The address to it.
    pub const OWN_ADDRESS: &str = "beads-ralph@localhost";

    /// What git is told of it.
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

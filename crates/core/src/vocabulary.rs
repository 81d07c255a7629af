//! The words that a store, a plan and other programs share: statuses, types, labels, kinds of edges and metadata keys.
//!
//! Stores hold open sets of words, so reading gives an `Option`: `None` is a word that only its writer knows. Each word is
//! written here and nowhere else; a typed word can be compared with a text directly: `issue.status() == Status::Closed`.

mod keys;
pub mod label;

pub use keys::{field, metadata, ralph_meta};

macro_rules! words {
    ($(#[$doc:meta])* $name:ident {
        $($(#[$vdoc:meta])* $variant:ident = $text:literal),* $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant),* }

        impl $name {
            /// Every word that is known.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The word as it is written.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// Reads a word; case matters. `None` is a word that this program does not know.
            pub fn known(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl From<$name> for String {
            fn from(word: $name) -> Self {
                word.as_str().to_owned()
            }
        }

        impl From<$name> for serde_json::Value {
            fn from(word: $name) -> Self {
                word.as_str().into()
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl PartialEq<$name> for str {
            fn eq(&self, word: &$name) -> bool {
                self == word.as_str()
            }
        }

        impl PartialEq<$name> for &str {
            fn eq(&self, word: &$name) -> bool {
                *self == word.as_str()
            }
        }

        impl PartialEq<$name> for String {
            fn eq(&self, word: &$name) -> bool {
                self.as_str() == word.as_str()
            }
        }

        impl PartialEq<$name> for &String {
            fn eq(&self, word: &$name) -> bool {
                self.as_str() == word.as_str()
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, text: &str) -> bool {
                self.as_str() == text
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, text: &&str) -> bool {
                self.as_str() == *text
            }
        }
    };
}

pub(crate) use words;

words! {
    /// Where an issue stands. The real `bd` has these; a store may hold others.
    Status {
        /// Nobody works on it yet.
        Open = "open",
        /// Somebody works on it.
        InProgress = "in_progress",
        /// A person or a gate stopped it. An open issue that waits for another one is not `blocked` in this sense.
        Blocked = "blocked",
        /// Put off until later.
        Deferred = "deferred",
        /// Done.
        Closed = "closed",
        /// Kept for ever; nothing waits for it.
        Pinned = "pinned",
        /// Handed to an agent that has not begun.
        Hooked = "hooked",
    }
}

words! {
    /// What an issue is. The real `bd` has all but the last two; a store may hold others that its settings register.
    IssueType {
        /// Something that does not work.
        Bug = "bug",
        /// Something new for users.
        Feature = "feature",
        /// Any work; the default.
        Task = "task",
        /// A parent of other issues.
        Epic = "epic",
        /// Upkeep.
        Chore = "chore",
        /// A choice that was made, with its reasons.
        Decision = "decision",
        /// A text from one agent to another.
        Message = "message",
        /// The root of a poured formula.
        Molecule = "molecule",
        /// A condition that others wait for.
        Gate = "gate",
        /// A trial with an end.
        Spike = "spike",
        /// A wish of a user.
        Story = "story",
        /// A point in time.
        Milestone = "milestone",
        /// Something that happened.
        Event = "event",
        /// The work of one sprint of a plan.
        Work = "beads-ralph-work",
        /// A sprint of a plan that joins branches.
        Merge = "beads-ralph-merge",
    }
}

impl IssueType {
    /// The types that every `bd` takes. Others must be registered in a store before it takes them.
    pub fn is_built_in(self) -> bool {
        !matches!(self, Self::Work | Self::Merge)
    }
}

words! {
    /// How one issue depends on another. A store may hold others, which hold nothing back.
    EdgeType {
        /// Holds back until the target is closed or pinned; the default.
        Blocks = "blocks",
        /// Holds back until the target is closed or pinned, and says that the work is a fallback.
        ConditionalBlocks = "conditional-blocks",
        /// Holds back while children of the target are open.
        WaitsFor = "waits-for",
        /// From a child to its parent: holds back when the parent is held back.
        ParentChild = "parent-child",
        /// Found while the target was worked on.
        DiscoveredFrom = "discovered-from",
        /// Something to do with the target.
        Related = "related",
        /// Something to do with the target, whichever of the two says it.
        RelatesTo = "relates-to",
        /// Says the same as the target.
        Duplicates = "duplicates",
        /// Takes the place of the target.
        Supersedes = "supersedes",
        /// Approved by the target.
        ApprovedBy = "approved-by",
        /// Assigned to the target.
        AssignedTo = "assigned-to",
        /// Attests the target.
        Attests = "attests",
        /// Written by the target.
        AuthoredBy = "authored-by",
        /// Caused by the target.
        CausedBy = "caused-by",
        /// Delegated from the target.
        DelegatedFrom = "delegated-from",
        /// Answers the target.
        RepliesTo = "replies-to",
        /// Follows the target.
        Tracks = "tracks",
        /// Holds until the target.
        Until = "until",
        /// Validates the target.
        Validates = "validates",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reads_back() {
        for status in Status::ALL {
            assert_eq!(Status::known(status.as_str()), Some(*status));
        }
        for kind in IssueType::ALL {
            assert_eq!(IssueType::known(kind.as_str()), Some(*kind));
        }
        for kind in EdgeType::ALL {
            assert_eq!(EdgeType::known(kind.as_str()), Some(*kind));
        }
        assert_eq!(Status::known("Open"), None);
    }

    #[test]
    fn a_word_compares_with_a_text() {
        assert!("closed" == Status::Closed);
        assert!(Status::Closed != "open");
        assert_eq!(String::from(IssueType::Epic), "epic");
    }
}

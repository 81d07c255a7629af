//! The words of DoD beads. More are read than are written: two dialects are about (contracts §8.1).

use crate::bead::Invalid;
use crate::text::excerpt;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident ($field:literal) {
        $($(#[$vdoc:meta])* $variant:ident = $text:literal $(| $other:literal)*),* $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$vdoc])* $variant),* }

        impl $name {
            /// Every value.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The word as it is written.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// Reads the word, also in its other spellings.
            pub fn parse(text: &str) -> Result<Self, Invalid> {
                match text {
                    $($text $(| $other)* => Ok(Self::$variant),)*
                    other => Err(Invalid::pattern(format!(
                        "{} must be one of: {}, got '{}'",
                        $field,
                        [$($text),*].join(", "),
                        excerpt(other)
                    ))),
                }
            }
        }
    };
}

words! {
    /// What kind of work a bead is.
    DodType ("type") {
        /// Anything.
        Task = "task" | "chore",
        /// Something new.
        Feature = "feature",
        /// A repair.
        Bugfix = "bugfix" | "bug",
        /// A condition that others wait for.
        Gate = "gate",
    }
}

words! {
    /// The lane that a bead travels in; the words of both dialects.
    Lane ("lane") {
        /// Quick work.
        Fast = "fast",
        /// New work.
        Feature = "feature",
        /// Upkeep.
        Maintenance = "maintenance",
        /// A trial.
        Experimental = "experimental",
        /// A repair.
        Bug = "bug",
        /// Making what is there more robust.
        Hardening = "hardening",
        /// Dependencies.
        Deps = "deps",
        /// A gate.
        Gate = "gate",
        /// Found by the patrol.
        Patrol = "patrol",
    }
}

words! {
    /// Where a bead stands.
    DodStatus ("status") {
        /// Nobody works on it.
        Pending = "pending" | "open",
        /// Somebody works on it, or did when the power went.
        InProgress = "in_progress" | "hooked",
        /// Every check passed.
        Completed = "completed" | "closed" | "GREEN",
        /// It was given up.
        Failed = "failed" | "RED",
        /// It waits for something.
        Blocked = "blocked" | "pinned",
    }
}

//! The closed sets of words in a bead (contracts §3.3, §3.11) and its priority.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::diag::did_you_mean;
use crate::text::excerpt;
use crate::vocabulary;

use super::error::Invalid;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident, field $field:literal, about $about:literal {
        $($(#[$vdoc:meta])* $variant:ident = $text:expr),* $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant),* }

        impl $name {
            /// Every value.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            const WORDS: &[&str] = &[$($text),*];

            /// The word as it is written.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }

            /// Reads the word; case matters.
            pub fn parse(text: &str) -> Result<Self, Invalid> {
                (Self::ALL.iter().copied())
                    .find(|word| word.as_str() == text)
                    .ok_or_else(|| not_one_of($field, Self::WORDS, text))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let word = Cow::<'de, str>::deserialize(deserializer)?;
                Self::parse(&word).map_err(de::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "description": $about, "type": "string", "enum": Self::WORDS })
            }
        }
    };
}

fn not_one_of(field: &str, words: &[&str], got: &str) -> Invalid {
    let mut message = format!(
        "{field} must be one of: {}, got '{}'",
        words.join(", "),
        excerpt(got)
    );
    if let Some(near) = did_you_mean(got, words.iter().copied()) {
        message.push_str("; did you mean '");
        message.push_str(near);
        message.push_str("'?");
    }
    Invalid::pattern(message)
}

words! {
    /// The tier of a model; each adapter maps it to its own model ids (Z-30).
    Model, field "model", about "The tier of a model." {
        /// The fast tier.
        Haiku = "haiku",
        /// The middle tier, and the default (B-20).
        Sonnet = "sonnet",
        /// The strongest tier.
        Opus = "opus",
    }
}

words! {
    /// What an agent is to the team.
    Role, field "role", about "What an agent is to the team." {
        /// A worker that lives for one task.
        Polecat = "polecat",
        /// A lasting observer.
        Witness = "witness",
        /// The one who orchestrates.
        Mayor = "mayor",
    }
}

words! {
    /// The state of a bead.
    Status, field "status", about "The state of a bead." {
        /// Not begun.
        Open = vocabulary::Status::Open.as_str(),
        /// Claimed and under way.
        InProgress = vocabulary::Status::InProgress.as_str(),
        /// Stopped until somebody helps.
        Blocked = vocabulary::Status::Blocked.as_str(),
        /// Done.
        Closed = vocabulary::Status::Closed.as_str(),
    }
}

words! {
    /// The two kinds of beads that the loop works on.
    IssueType, field "issue_type", about "The two kinds of beads that the loop works on." {
        /// Work of one sprint.
        Work = "beads-ralph-work",
        /// A sprint that joins branches.
        Merge = "beads-ralph-merge",
    }
}

words! {
    /// How a dev agent's run ended.
    DevStatus, field "status", about "How a dev agent's run ended." {
        /// It ended by itself.
        Completed = "completed",
        /// It failed.
        Failed = "failed",
        /// It took too long.
        Timeout = "timeout",
    }
}

words! {
    /// A QA agent's verdict.
    QaStatus, field "status", about "A QA agent's verdict." {
        /// The work is good.
        Pass = "pass",
        /// The dev agent should try again.
        Fail = "fail",
        /// No further attempt makes sense.
        Stop = "stop",
    }
}

/// How urgent a bead is, from 0 (most urgent) to 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(u8);

impl Priority {
    /// What a bead made from a plan gets (contracts §3.1).
    pub const PLANNED: Self = Self(1);

    /// A priority, when it lies between 0 and 4.
    pub fn new(number: i64) -> Result<Self, Invalid> {
        match u8::try_from(number) {
            Ok(number @ 0..=4) => Ok(Self(number)),
            _ => Err(Invalid::value(format!(
                "priority must be between 0 and 4, got {number}"
            ))),
        }
    }

    /// Reads a priority from text.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let out_of_range = |_| {
            Invalid::value(format!(
                "priority must be between 0 and 4, got '{}'",
                excerpt(text)
            ))
        };
        text.parse().map_err(out_of_range).and_then(Self::new)
    }

    /// The number.
    pub fn get(self) -> u8 {
        self.0
    }

    /// The number as text.
    pub fn as_str(self) -> &'static str {
        ["0", "1", "2", "3", "4"][usize::from(self.0)]
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Priority {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.0)
    }
}

impl JsonSchema for Priority {
    fn schema_name() -> Cow<'static, str> {
        "Priority".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "How urgent a bead is, from 0 (most urgent) to 4.",
            "type": "integer",
            "minimum": 0,
            "maximum": 4,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b_26_words_outside_the_set_are_named_with_the_nearest() {
        let message = |refused: Invalid| refused.to_string();
        assert_eq!(
            Model::parse("sonet").map_err(message),
            Err(
                "model must be one of: haiku, sonnet, opus, got 'sonet'; did you mean 'sonnet'?"
                    .to_owned()
            )
        );
        assert!(
            Status::parse("done")
                .unwrap_err()
                .to_string()
                .contains("status must be one of")
        );
        assert!(
            IssueType::parse("task")
                .unwrap_err()
                .to_string()
                .contains("issue_type must be one of")
        );
        assert!(Role::parse("Polecat").is_err(), "case matters");
    }

    #[test]
    fn every_word_reads_back() {
        for model in Model::ALL {
            assert_eq!(Model::parse(model.as_str()), Ok(*model));
        }
        for status in QaStatus::ALL {
            assert_eq!(QaStatus::parse(status.as_str()), Ok(*status));
        }
    }

    #[test]
    fn b_24_priorities_run_from_0_to_4() {
        for number in 0..=4 {
            let priority = Priority::new(number).unwrap();
            assert_eq!(Priority::parse(priority.as_str()), Ok(priority));
        }
        for number in [-1, 5, 256, i64::MAX] {
            let refused = Priority::new(number).unwrap_err().to_string();
            assert!(
                refused.contains("priority must be between 0 and 4"),
                "{refused}"
            );
        }
        assert!(Priority::parse("high").is_err());
    }
}

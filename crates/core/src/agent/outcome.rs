//! How an agent's run ended, in one shape for all agents.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Cost, ReportFault, Tokens};

crate::text::word_enum! {
    /// How an agent's run ended.
    #[derive(PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Status {
        /// It did what it was asked to, as far as it can tell.
        Ok = "ok",
        /// It said that it failed.
        Failed = "failed",
        /// The account is at its limit.
        Limit = "limit",
        /// It is not logged in, or its key is refused.
        Auth = "auth",
        /// It failed, and there was something that it was not allowed to do.
        Denied = "denied",
        /// It was called wrongly, or is not installed.
        Config = "config",
        /// It took too long, or was silent for too long.
        Timeout = "timeout",
        /// Somebody ended it.
        Killed = "killed",
        /// It died.
        Crashed = "crashed",
        /// It ended without saying how.
        #[default]
        NoResult = "no_result",
    }
}

impl Status {
    /// Whether the same call may succeed later without anybody changing anything.
    pub fn is_retryable(self) -> bool {
        match self {
            Self::Failed
            | Self::Limit
            | Self::Timeout
            | Self::Killed
            | Self::Crashed
            | Self::NoResult => true,
            Self::Ok | Self::Auth | Self::Denied | Self::Config => false,
        }
    }

    /// What a message about it begins with.
    pub(super) fn sentence(self) -> &'static str {
        match self {
            Self::Ok => "it ended with success",
            Self::Failed => "it failed",
            Self::Limit => "the account is at its limit",
            Self::Auth => "it is not logged in, or its key is refused",
            Self::Denied => "it was not allowed to do what it needed",
            Self::Config => "it was called wrongly",
            Self::Timeout => "it took too long",
            Self::Killed => "somebody ended it",
            Self::Crashed => "it died",
            Self::NoResult => "it ended without a result",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How an agent's run ended, and what is known about it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// Why, in one sentence for people.
    pub reason: String,
    /// The session, by which the agent can be asked to go on.
    pub session: Option<String>,
    /// The model that answered, as the agent names it.
    pub model_id: Option<String>,
    /// How often the model was asked.
    pub turns: Option<u64>,
    /// The tokens of this run.
    pub tokens: Tokens,
    /// The tokens of the whole session, from an agent that reports no others; whoever resumes the session hands them in.
    pub session_tokens: Option<Tokens>,
    /// Whether some of the tokens and turns were counted while it ran, because it did not report them.
    pub is_estimate: bool,
    /// The money of this run.
    pub cost: Cost,
    /// Its final answer.
    pub text: Option<String>,
    /// The report that it was asked for.
    pub report: Option<Value>,
    /// Why the report that was asked for is missing.
    pub report_fault: Option<ReportFault>,
    /// The tools that it was not allowed to use.
    pub denials: Vec<String>,
    /// When a limit is over.
    pub resets_at: Option<Timestamp>,
    /// Whether the same call may succeed later.
    pub is_retryable: bool,
    /// Its exit code, as a shell would give it.
    pub exit_code: Option<i32>,
    /// What else was noticed.
    pub notes: Vec<String>,
    /// Where all that it printed is kept.
    pub raw: Option<String>,
}

impl Outcome {
    /// An outcome of which nothing else is known.
    pub fn new(status: Status, reason: String) -> Self {
        Self {
            status,
            reason,
            is_retryable: status.is_retryable(),
            ..Self::default()
        }
    }

    /// Whether it ended with success.
    pub fn is_ok(&self) -> bool {
        self.status == Status::Ok
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_written_as_they_are_named() {
        for status in Status::ALL {
            assert_eq!(
                serde_json::to_value(status).unwrap(),
                Value::from(status.as_str())
            );
        }
    }

    #[test]
    fn tokens_since_an_earlier_count_never_go_below_zero() {
        let now = Tokens {
            input: 300,
            output: 60,
            ..Tokens::default()
        };
        let before = Tokens {
            input: 100,
            output: 80,
            ..Tokens::default()
        };
        let since = now.since(&before);
        assert_eq!((since.input, since.output), (200, 0));
        assert_eq!(now.total(), 360);
    }
}

//! Who looks at the work of a cycle: strangers first, and who takes their place when they cannot.

use serde::{Deserialize, Serialize};

/// Who reviews.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reviewer {
    /// Codex.
    Codex,
    /// Gemini.
    Gemini,
    /// An agent of our own that has seen nothing yet.
    FreshEyes,
}

impl Reviewer {
    /// The word in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::FreshEyes => "fresh-eyes",
        }
    }

    /// Whether it is somebody else's program.
    pub fn is_foreign(self) -> bool {
        self != Self::FreshEyes
    }
}

/// How a review ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ReviewerStatus {
    /// There is a review.
    Completed,
    /// The program is not there.
    Unavailable,
    /// It took too long.
    TimedOut,
    /// There is no more of it for now.
    QuotaExceeded,
    /// Nobody is logged in.
    AuthFailed,
    /// It said nothing.
    NoOutput,
    /// It said something that is no review.
    UnusableOutput,
    /// It was not asked.
    NotRun,
}

impl ReviewerStatus {
    /// The word in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "COMPLETED",
            Self::Unavailable => "UNAVAILABLE",
            Self::TimedOut => "TIMED_OUT",
            Self::QuotaExceeded => "QUOTA_EXCEEDED",
            Self::AuthFailed => "AUTH_FAILED",
            Self::NoOutput => "NO_OUTPUT",
            Self::UnusableOutput => "UNUSABLE_OUTPUT",
            Self::NotRun => "NOT_RUN",
        }
    }
}

/// Who is asked in a cycle, the first one first; each next one only if the one before cannot.
pub fn reviewers(cycle: u32) -> &'static [Reviewer] {
    match cycle {
        0 | 1 => &[Reviewer::Codex, Reviewer::Gemini, Reviewer::FreshEyes],
        2 => &[Reviewer::Gemini, Reviewer::FreshEyes],
        _ => &[Reviewer::FreshEyes],
    }
}

/// The label when strangers could not look in two cycles or more: `foreign-eyes-degraded:<n>/<N>`.
pub fn too_degraded(n_degraded: usize, n_foreign: usize) -> Option<String> {
    (n_degraded >= 2).then(|| format!("foreign-eyes-degraded:{n_degraded}/{n_foreign}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_4_strangers_look_first_and_our_own_eyes_last() {
        assert_eq!(
            reviewers(1)
                .iter()
                .map(|one| one.as_str())
                .collect::<Vec<_>>(),
            ["codex", "gemini", "fresh-eyes"]
        );
        assert_eq!(reviewers(2)[0], Reviewer::Gemini);
        assert_eq!(reviewers(3), [Reviewer::FreshEyes]);
    }

    #[test]
    fn r_12_two_degraded_cycles_are_a_label() {
        assert_eq!(too_degraded(1, 2), None);
        assert_eq!(
            too_degraded(2, 2).as_deref(),
            Some("foreign-eyes-degraded:2/2")
        );
    }
}

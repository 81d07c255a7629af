//! `ralf-review`: fresh reviewers, in at most so many cycles, who change nothing; and who reviews in each cycle.

use serde::{Deserialize, Serialize};

use super::{Counts, Score, completed_cycles};
use crate::vocabulary::label;

crate::text::word_enum! {
    /// What whoever asked for the review should do.
    pub enum CallerAction {
        /// Go on.
        Accept = "accept",
        /// Fix what was found.
        Revise = "revise",
        /// Ask again.
        Continue = "continue",
        /// Note it for later.
        Defer = "defer",
    }
}

/// How a review ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewVerdict {
    /// Whether it holds.
    pub score: Score,
    /// How many cycles there were, and could have been.
    pub cycles: (u32, u32),
    /// What the last cycle found.
    pub counts: Counts,
    /// What to do.
    pub action: CallerAction,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewNext {
    /// Let a fresh reviewer look.
    Review {
        /// Which cycle, from 1.
        cycle: u32,
    },
    /// It is over.
    Done(ReviewVerdict),
}

/// The loop.
#[derive(Debug)]
pub struct ReviewLoop {
    max: u32,
    cycle: u32,
    before: Option<Counts>,
}

impl ReviewLoop {
    /// A loop of at most so many cycles, which goes on after what a step's notes tell of. Of a cycle before a crash only its number is
    /// known, so that the last one is done again where all were done.
    pub fn new(max: u32, notes: &str) -> Self {
        let max = max.max(1);
        Self {
            max,
            cycle: completed_cycles(notes).saturating_add(1).min(max),
            before: None,
        }
    }

    /// What to do first.
    pub fn begin(&self) -> ReviewNext {
        ReviewNext::Review { cycle: self.cycle }
    }

    /// A reviewer is done.
    pub fn reviewed(&mut self, counts: Counts) -> ReviewNext {
        if !counts.rejects() && counts.major == 0 {
            return self.done(Score::Pass, CallerAction::Accept, counts);
        }
        if self.cycle < self.max {
            self.cycle += 1;
            self.before = Some(counts);
            return ReviewNext::Review { cycle: self.cycle };
        }
        let is_falling = match self.before {
            Some(before) => counts.major <= 2 && counts.major < before.major,
            None => counts.major <= 1,
        };
        if !counts.rejects() && is_falling {
            return self.done(Score::PassWithReservations, CallerAction::Defer, counts);
        }
        self.done(Score::Fail, CallerAction::Revise, counts)
    }

    fn done(&self, score: Score, action: CallerAction, counts: Counts) -> ReviewNext {
        ReviewNext::Done(ReviewVerdict {
            score,
            cycles: (self.cycle, self.max),
            counts,
            action,
        })
    }
}

crate::text::word_enum! {
    /// Who reviews.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Reviewer {
        /// Codex.
        Codex = "codex",
        /// Gemini.
        Gemini = "gemini",
        /// An agent of our own that has seen nothing yet.
        FreshEyes = "fresh-eyes",
    }
}

impl Reviewer {
    /// Whether it is somebody else's program.
    pub fn is_foreign(self) -> bool {
        self != Self::FreshEyes
    }
}

crate::text::word_enum! {
    /// How a review ended.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
    pub enum ReviewerStatus {
        /// There is a review.
        Completed = "COMPLETED",
        /// The program is not there.
        Unavailable = "UNAVAILABLE",
        /// It took too long.
        TimedOut = "TIMED_OUT",
        /// There is no more of it for now.
        QuotaExceeded = "QUOTA_EXCEEDED",
        /// Nobody is logged in.
        AuthFailed = "AUTH_FAILED",
        /// It said nothing.
        NoOutput = "NO_OUTPUT",
        /// Its answer was not a review.
        UnusableOutput = "UNUSABLE_OUTPUT",
        /// It was not asked.
        NotRun = "NOT_RUN",
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
    (n_degraded >= 2).then(|| {
        format!(
            "{}{n_degraded}/{n_foreign}",
            label::FOREIGN_EYES_DEGRADED_PREFIX
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(max: u32, cycles: &[(u32, u32)]) -> (Score, u32) {
        let mut machine = ReviewLoop::new(max, "");
        let mut next = machine.begin();
        loop {
            match next {
                ReviewNext::Review { cycle } => {
                    let (critical, major) = cycles[cycle as usize - 1];
                    next = machine.reviewed(Counts {
                        critical,
                        major,
                        ..Counts::default()
                    });
                }
                ReviewNext::Done(verdict) => return (verdict.score, verdict.cycles.0),
            }
        }
    }

    #[test]
    fn r_10_a_review_converges_or_says_why_not() {
        assert_eq!(play(2, &[(0, 0)]), (Score::Pass, 1));
        assert_eq!(play(2, &[(1, 0), (0, 0)]), (Score::Pass, 2));
        assert_eq!(play(2, &[(0, 3), (0, 2)]), (Score::PassWithReservations, 2));
        assert_eq!(
            play(2, &[(0, 2), (0, 2)]),
            (Score::Fail, 2),
            "they must become fewer"
        );
        assert_eq!(
            play(2, &[(0, 9), (0, 3)]),
            (Score::Fail, 2),
            "they must be few"
        );
        assert_eq!(play(2, &[(0, 3), (1, 1)]), (Score::Fail, 2));
        assert_eq!(play(1, &[(0, 1)]), (Score::PassWithReservations, 1));
        assert_eq!(play(1, &[(0, 2)]), (Score::Fail, 1));
    }
}

#[cfg(test)]
mod reviewers_tests {
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

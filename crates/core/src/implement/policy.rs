//! What the labels of a source bead decide (§9.13, R-2). What is malformed, or said twice in different ways, is for a person.

use std::ops::RangeInclusive;

use thiserror::Error;

use crate::issue::Issue;
use crate::text::excerpt;
use crate::vocabulary::label;

crate::text::word_enum! {
    /// How deep the review of the work is.
    #[derive(PartialOrd, Ord, Default)]
    pub enum ReviewLevel {
        /// Nobody looks at it.
        None = "none",
        /// Only the light parts.
        Light = "light",
        /// As usual.
        #[default]
        Standard = "standard",
        /// With somebody who tries to break it.
        Deep = "deep",
    }
}

/// What a bead's labels ask for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Policy {
    /// Whether the loops of §9.12 are wanted.
    pub is_ralf_required: bool,
    /// How many cycles, if somebody said so.
    pub cycles: Option<u32>,
    /// The cap of the green loop, if somebody said so.
    pub green_loop_cap: Option<u32>,
    /// The cap of the review cycle, if somebody said so.
    pub review_cycle_cap: Option<u32>,
    /// Whether the work may be merged.
    pub is_auto_mergeable: bool,
    /// How deep the review is.
    pub review_level: ReviewLevel,
    /// How much of the code tests must run through, in percent.
    pub coverage_threshold: Option<u32>,
}

/// A label that cannot be understood, or two that contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Conflicting {
    /// Not a value of its kind.
    #[error("implement-bead: the label `{}` is malformed: {expected}", excerpt(.label))]
    Malformed {
        /// The label.
        label: String,
        /// What it should be.
        expected: String,
    },
    /// Two values for one thing.
    #[error("implement-bead: the labels `{}` and `{}` contradict each other", excerpt(.0), excerpt(.1))]
    Twice(String, String),
}

/// How many cycles a loop may be allowed.
const CYCLES: RangeInclusive<u32> = 1..=20;

/// The cycles of `ralf-implement` when nobody says otherwise.
const IMPLEMENT_CYCLES: u32 = 3;

/// The cycles of `ralf-review` when nobody says otherwise.
const REVIEW_CYCLES: u32 = 2;

impl Policy {
    /// Reads the labels of a source bead.
    pub fn of(source: &Issue) -> Result<Self, Conflicting> {
        check_others(source)?;
        let review_level = match one(source, label::REVIEW_LEVEL_PREFIX)? {
            None => ReviewLevel::default(),
            Some((label, word)) => ReviewLevel::parse(word)
                .ok_or_else(|| malformed(label, "it is none, light, standard or deep"))?,
        };
        Ok(Self {
            is_ralf_required: source.has_label(label::RALF_REQUIRED),
            cycles: number(source, label::RALF_CYCLES_PREFIX, CYCLES)?,
            green_loop_cap: number(source, label::GREEN_LOOP_CAP_PREFIX, CYCLES)?,
            review_cycle_cap: number(source, label::REVIEW_CYCLE_CAP_PREFIX, CYCLES)?,
            is_auto_mergeable: source.has_label(label::AUTO_MERGEABLE),
            review_level,
            coverage_threshold: number(source, label::COVERAGE_THRESHOLD_PREFIX, 0..=100)?,
        })
    }

    /// How many cycles `ralf-implement` may take.
    pub fn implement_cycles(&self) -> u32 {
        self.cycles
            .or(self.green_loop_cap)
            .unwrap_or(IMPLEMENT_CYCLES)
    }

    /// How many cycles `ralf-review` may take.
    pub fn review_cycles(&self) -> u32 {
        self.cycles
            .or(self.review_cycle_cap)
            .unwrap_or(REVIEW_CYCLES)
    }
}

/// Labels that only agents and people act on must be understood all the same.
fn check_others(source: &Issue) -> Result<(), Conflicting> {
    const COPILOT: &str = label::REVIEW_EXIT_COPILOT;
    const APPROVERS: &str = label::REVIEW_EXIT_APPROVERS_PREFIX;
    number(source, label::RED_TESTS_CAP_PREFIX, CYCLES)?;
    number(source, APPROVERS, 1..=100)?;
    match one(source, APPROVERS)? {
        Some((label, _)) if source.has_label(COPILOT) => {
            Err(Conflicting::Twice(COPILOT.to_owned(), label.to_owned()))
        }
        _ => Ok(()),
    }
}

fn malformed(label: &str, expected: impl Into<String>) -> Conflicting {
    Conflicting::Malformed {
        label: label.to_owned(),
        expected: expected.into(),
    }
}

/// The one label with a prefix, and what follows it.
fn one<'i>(source: &'i Issue, prefix: &str) -> Result<Option<(&'i str, &'i str)>, Conflicting> {
    let mut found: Option<(&str, &str)> = None;
    for label in source.labels() {
        let Some(value) = label.strip_prefix(prefix) else {
            continue;
        };
        match found {
            Some((other, known)) if known != value => {
                return Err(Conflicting::Twice(other.to_owned(), label.to_owned()));
            }
            _ => found = Some((label, value)),
        }
    }
    Ok(found)
}

/// The number in the one label with a prefix.
fn number(
    source: &Issue,
    prefix: &str,
    range: RangeInclusive<u32>,
) -> Result<Option<u32>, Conflicting> {
    let Some((label, value)) = one(source, prefix)? else {
        return Ok(None);
    };
    let is_decimal = value.bytes().all(|byte| byte.is_ascii_digit());
    match value.parse() {
        Ok(number) if is_decimal && range.contains(&number) => Ok(Some(number)),
        _ => {
            let (least, most) = range.into_inner();
            let expected = format!("a whole number from {least} to {most}");
            Err(malformed(label, expected))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn policy(labels: &[&str]) -> Result<Policy, Conflicting> {
        let issue = Issue::without_comments(json!({"id": "x", "title": "t", "labels": labels}));
        Policy::of(&issue.unwrap())
    }

    #[test]
    fn r_2_the_cap_is_the_label_or_the_policy_or_three() {
        let cycles = |labels: &[&str]| {
            policy(labels).map(|policy| (policy.implement_cycles(), policy.review_cycles()))
        };
        assert_eq!(cycles(&[]), Ok((3, 2)));
        assert_eq!(cycles(&["ralf:cycles=5"]), Ok((5, 5)));
        assert_eq!(cycles(&["iteration-cap-green-loop-7"]), Ok((7, 2)));
        assert_eq!(
            cycles(&["iteration-cap-green-loop-7", "ralf:cycles=1"]),
            Ok((1, 1))
        );
        for wrong in [
            "ralf:cycles=0",
            "ralf:cycles=21",
            "ralf:cycles=",
            "ralf:cycles=+3",
            "ralf:cycles=3.0",
            "coverage-threshold-101",
            "review-level:some",
            "iteration-cap-red-tests-x",
            "review-exit-human-approvers-0",
        ] {
            assert!(policy(&[wrong]).is_err(), "{wrong}");
        }
        assert_eq!(cycles(&["iteration-cap-review-cycle-4"]), Ok((3, 4)));
        assert!(policy(&["ralf:cycles=2", "ralf:cycles=3"]).is_err());
        assert!(policy(&["review-exit-copilot-only", "review-exit-human-approvers-2"]).is_err());
        assert!(policy(&["review-level:deep", "ralf:required", "auto-mergeable"]).is_ok());
    }
}

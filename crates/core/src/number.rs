//! The numbering grammar of plans (contracts §1.1): phases such as `3a` and sprints such as `3a.2b`.
//!
//! A number is parsed once and carries its parts; two texts with equal natural keys (`1.1` and
//! `1.01`) are two spellings of one sprint.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A sprint's place in the natural order (N-4): phase number, phase suffix, sprint number, sprint suffix.
pub type NaturalKey<'a> = (u64, &'a str, u64, &'a str);

/// Splits `3a` into its number and the length of its digits; nothing if it is not digits followed by
/// lower-case letters, or if the number overflows (N-5).
fn parse_part(text: &str) -> Option<(u64, usize)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let suffix = &text.as_bytes()[digits..];
    if digits == 0 || !suffix.iter().all(u8::is_ascii_lowercase) {
        return None;
    }
    Some((text[..digits].parse().ok()?, digits))
}

/// A phase: `1`, `3a`, `3ab` (N-1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseId(Box<str>);

impl PhaseId {
    /// Reads a phase; the whole text must fit.
    pub fn parse(text: &str) -> Option<Self> {
        parse_part(text).map(|_| Self(text.into()))
    }

    /// The phase as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A sprint: `1.1`, `3a.2b` (N-1). Equality, order and hash follow the natural key, not the spelling.
#[derive(Debug, Clone)]
pub struct SprintId {
    text: Box<str>,
    phase_number: u64,
    sprint_number: u64,
    phase_digits: usize,
    dot: usize,
    sprint_digits: usize,
}

impl SprintId {
    /// Reads a sprint id; the whole text must fit.
    pub fn parse(text: &str) -> Option<Self> {
        let (phase, sprint) = text.split_once('.')?;
        let (phase_number, phase_digits) = parse_part(phase)?;
        let (sprint_number, sprint_digits) = parse_part(sprint)?;
        let dot = phase.len();
        Some(Self {
            text: text.into(),
            phase_number,
            sprint_number,
            phase_digits,
            dot,
            sprint_digits,
        })
    }

    /// The id as written: `3a.2b`.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The phase as written: `3a`.
    pub fn phase(&self) -> &str {
        &self.text[..self.dot]
    }

    /// The phase as a [`PhaseId`].
    pub fn phase_id(&self) -> PhaseId {
        PhaseId(self.phase().into())
    }

    /// The phase's number: `3`.
    pub fn phase_number(&self) -> u64 {
        self.phase_number
    }

    /// The phase's letters: `a`.
    pub fn phase_suffix(&self) -> &str {
        &self.text[self.phase_digits..self.dot]
    }

    /// What follows the dot: `2b`.
    pub fn sprint_part(&self) -> &str {
        &self.text[self.dot + 1..]
    }

    /// The sprint's number: `2`.
    pub fn sprint_number(&self) -> u64 {
        self.sprint_number
    }

    /// The sprint's letters: `b`.
    pub fn sprint_suffix(&self) -> &str {
        &self.text[self.dot + 1 + self.sprint_digits..]
    }

    /// The id without the sprint's letters: `3a.2`.
    pub fn sprint_base(&self) -> &str {
        &self.text[..=self.dot + self.sprint_digits]
    }

    /// The set of letters of the phase (N-3).
    pub fn phase_letters(&self) -> Letters {
        Letters::of(self.phase_suffix())
    }

    /// The set of letters of the sprint (N-3).
    pub fn sprint_letters(&self) -> Letters {
        Letters::of(self.sprint_suffix())
    }

    /// The natural order key (N-4).
    pub fn key(&self) -> NaturalKey<'_> {
        (
            self.phase_number,
            self.phase_suffix(),
            self.sprint_number,
            self.sprint_suffix(),
        )
    }

    /// The form for paths and branches: `3a-2b` (N-6).
    pub fn dashed(&self) -> String {
        self.text.replace('.', "-")
    }

    /// Whether the two are variants of one sprint (N-7).
    pub fn is_parallel_to(&self, other: &Self) -> bool {
        let (phase, phase_suffix, sprint, _) = self.key();
        let (other_phase, other_suffix, other_sprint, _) = other.key();
        self != other && (phase, phase_suffix, sprint) == (other_phase, other_suffix, other_sprint)
    }
}

impl PartialEq for SprintId {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for SprintId {}

impl Hash for SprintId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl PartialOrd for SprintId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SprintId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl fmt::Display for SprintId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for PhaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A set of the letters a to z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Letters(u32);

impl Letters {
    /// The set of a suffix's letters; other characters are ignored.
    pub fn of(suffix: &str) -> Self {
        Self(
            suffix
                .bytes()
                .filter(u8::is_ascii_lowercase)
                .fold(0, |set, letter| set | 1 << (letter - b'a')),
        )
    }

    /// Whether the set is empty: a sequential phase or sprint.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many letters there are; several mean that tracks are merged.
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether `other` merges this one: this is a non-empty strict subset of it (contracts §2.1).
    pub fn is_covered_by(self, other: Self) -> bool {
        !self.is_empty() && self != other && self.0 & other.0 == self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> SprintId {
        SprintId::parse(text).unwrap()
    }

    #[test]
    fn n_1_the_table_of_phases_and_sprints() {
        for text in ["1", "12", "3a", "3ab", "5abc"] {
            assert!(
                PhaseId::parse(text).is_some() && SprintId::parse(text).is_none(),
                "{text}"
            );
        }
        for text in ["1.1", "3a.2", "3b.2a", "12.5c"] {
            assert!(
                PhaseId::parse(text).is_none() && SprintId::parse(text).is_some(),
                "{text}"
            );
        }
        let neither = [
            "1A", "a1", "1-2", "phase-1", "", "1.2.3", "a.1", "1.a", "1.2A", "1.", ".1", "1\n",
            "1.1\n", "١.1", "１.1",
        ];
        for text in neither {
            assert!(
                PhaseId::parse(text).is_none() && SprintId::parse(text).is_none(),
                "{text:?}"
            );
        }
    }

    #[test]
    fn n_2_the_parts_of_an_id() {
        let id = id("3a.2b");
        assert_eq!(
            (id.phase(), id.phase_number(), id.phase_suffix()),
            ("3a", 3, "a")
        );
        assert_eq!(
            (id.sprint_part(), id.sprint_number(), id.sprint_suffix()),
            ("2b", 2, "b")
        );
        assert_eq!(id.sprint_base(), "3a.2");
    }

    #[test]
    fn n_4_the_natural_order() {
        let ordered = [
            "1.2", "1.2a", "1.2ab", "1.2b", "1.10", "3.1", "3a.1", "3b.1", "10.1",
        ];
        let mut sorted: Vec<_> = ordered.iter().rev().map(|text| id(text)).collect();
        sorted.sort();
        assert_eq!(
            sorted.iter().map(SprintId::as_str).collect::<Vec<_>>(),
            ordered
        );
    }

    #[test]
    fn n_5_overflow_is_invalid_and_leading_zeros_are_one_number() {
        assert!(SprintId::parse("1.18446744073709551615").is_some());
        assert!(SprintId::parse("1.18446744073709551616").is_none());
        assert_eq!(id("1.1"), id("01.01"));
        assert_eq!(id("01.01").as_str(), "01.01");
    }

    #[test]
    fn n_6_the_form_for_paths() {
        assert_eq!(id("3a.2b").dashed(), "3a-2b");
    }

    #[test]
    fn n_7_parallel_sprints_share_a_base() {
        assert!(id("1.2a").is_parallel_to(&id("1.2b")));
        assert!(id("1.2").is_parallel_to(&id("1.2a")));
        assert!(!id("1.2").is_parallel_to(&id("1.3")));
        assert!(!id("1.2").is_parallel_to(&id("1.2")));
    }

    #[test]
    fn n_3_a_merged_suffix_covers_its_parts() {
        let set = Letters::of;
        assert!(set("a").is_covered_by(set("ab")));
        assert!(set("ab").is_covered_by(set("abc")));
        assert!(
            !set("").is_covered_by(set("a")),
            "an unsuffixed sprint is never covered"
        );
        assert!(!set("ab").is_covered_by(set("ba")));
        assert!(!set("c").is_covered_by(set("ab")));
    }
}

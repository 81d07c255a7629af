//! The loops of §9.12: work or a review in bounded cycles, each with fresh eyes, until it holds or the cap is reached.
//!
//! Both are state machines: they say what to do next and take the result. A cycle learns nothing from the cycles before.

mod findings_json;
mod implement_loop;
mod review_loop;

use serde::Serialize;

pub use implement_loop::{Aborted, Aggregate, CycleRecord, ImplementLoop, Next, WorkerEnd};
pub use review_loop::{
    CallerAction, ReviewLoop, ReviewNext, ReviewVerdict, Reviewer, ReviewerStatus, reviewers,
    too_degraded,
};

crate::text::word_enum! {
    /// How a loop ended.
    pub enum Score {
        /// It holds.
        Pass = "PASS",
        /// It holds but for findings that somebody must weigh.
        PassWithReservations = "PASS_WITH_RESERVATIONS",
        /// It does not hold.
        Fail = "FAIL",
    }
}

crate::text::word_enum! {
    /// How bad a finding is.
    #[derive(PartialOrd, Ord)]
    pub enum Severity {
        /// It stops all further work.
        Blocking = "blocking",
        /// It must be fixed before use.
        Critical = "critical",
        /// It should be fixed.
        Major = "major",
        /// Everything else.
        Minor = "minor",
    }
}

impl Severity {
    /// Reads a reviewer's word; `nit` is minor, and case does not matter.
    pub fn read(text: &str) -> Option<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "nit" => Some(Self::Minor),
            word => Self::parse(word),
        }
    }
}

/// How many findings of each kind there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Blocking ones.
    pub blocking: u32,
    /// Critical ones.
    pub critical: u32,
    /// Major ones.
    pub major: u32,
    /// Minor ones.
    pub minor: u32,
}

impl Counts {
    /// Counts findings.
    pub fn of(severities: impl IntoIterator<Item = Severity>) -> Self {
        let mut counts = Self::default();
        for severity in severities {
            let count = match severity {
                Severity::Blocking => &mut counts.blocking,
                Severity::Critical => &mut counts.critical,
                Severity::Major => &mut counts.major,
                Severity::Minor => &mut counts.minor,
            };
            *count = count.saturating_add(1);
        }
        counts
    }

    /// Whether something must be fixed.
    pub fn rejects(&self) -> bool {
        self.blocking > 0 || self.critical > 0
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            blocking: self.blocking.saturating_add(other.blocking),
            critical: self.critical.saturating_add(other.critical),
            major: self.major.saturating_add(other.major),
            minor: self.minor.saturating_add(other.minor),
        }
    }

    /// As notes have it.
    pub fn to_note(&self) -> String {
        format!(
            "blocking:{},critical:{},major:{},minor:{}",
            self.blocking, self.critical, self.major, self.minor
        )
    }
}

/// Something that a reviewer found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// In a line.
    pub title: String,
    /// In full.
    pub detail: String,
    /// Where, if it is somewhere.
    pub file: Option<String>,
}

/// What a reviewer said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// What it found, the worst first.
    pub list: Vec<Finding>,
    /// What it says about the whole.
    pub summary: String,
}

/// The note after a completed cycle, by which a loop goes on after a crash.
pub fn marker(cycle: u32, max: u32) -> String {
    format!("RALF-IT-ITER:{cycle}/{max}")
}

/// The cycle of the last marker in a bead's notes: a person's answer ends with one that says 0, so that a loop begins anew.
pub fn completed_cycles(notes: &str) -> u32 {
    let mut marks = notes.lines().rev().filter_map(|line| {
        let (cycle, _) = line.trim().strip_prefix("RALF-IT-ITER:")?.split_once('/')?;
        cycle.parse().ok()
    });
    marks.next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_11_a_loop_goes_on_after_the_last_marker() {
        assert_eq!(marker(2, 3), "RALF-IT-ITER:2/3");
        assert_eq!(
            completed_cycles("x\nRALF-IT-ITER:1/3\nRALF-IT-ITER:2/3\ny"),
            2
        );
        assert_eq!(completed_cycles("RALF-IT-ITER:x/3"), 0);
        assert_eq!(
            completed_cycles("RALF-IT-ITER:3/3\nhuman: again (ann)\nRALF-IT-ITER:0/0"),
            0
        );
        assert_eq!(
            completed_cycles("RALF-IT-ITER:3/3\nRALF-IT-ITER:0/0\nRALF-IT-ITER:1/3"),
            1
        );
    }
}

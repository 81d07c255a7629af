//! The loops of §9.12: work or a review in bounded cycles, each with fresh eyes, until it holds or the cap is reached.
//!
//! Both are state machines: they say what to do next and are told what came of it. A cycle is told nothing of the cycles before.

mod findings;
mod implement_loop;
mod review_loop;

pub use findings::{Counts, Finding, Findings, Severity};
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

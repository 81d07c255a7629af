//! `ralf-implement`: a worker, a review, a decision, in at most so many cycles (R-1…R-9).

use super::{Counts, Score, completed_cycles};
use crate::implement::report::{EvidenceGate, ReportStatus};

/// How a worker's part of a cycle ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerEnd {
    /// What its report says; a report whose evidence lacks a key counts as failed.
    pub status: ReportStatus,
    /// What its evidence shows.
    pub gate: EvidenceGate,
    /// Whether there is a test command to run again after a simplification.
    pub has_tests: bool,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Let a fresh worker do the cycle.
    Work {
        /// Which cycle, from 1.
        cycle: u32,
    },
    /// Let somebody look at what it did.
    Review {
        /// Which cycle.
        cycle: u32,
    },
    /// Look at the candidate again, for its quality.
    QualityReview,
    /// Simplify the candidate and run its tests again.
    Simplify,
    /// It is over.
    Done(Box<Aggregate>),
    /// A person is needed before it can be over.
    Abort(Box<Aborted>),
}

/// One cycle, for the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CycleRecord {
    /// What the worker said.
    pub status: ReportStatus,
    /// What its evidence shows.
    pub gate: EvidenceGate,
    /// What the review found, if there was one.
    pub counts: Option<Counts>,
}

/// What a loop amounts to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aggregate {
    /// How it ended.
    pub score: Score,
    /// Why, in a sentence.
    pub rationale: &'static str,
    /// How many cycles there were, and could have been.
    pub cycles: (u32, u32),
    /// What is open in the last cycle.
    pub counts: Counts,
    /// Every cycle that this process saw.
    pub per_cycle: Vec<CycleRecord>,
}

impl Aggregate {
    /// The line for the step's notes.
    pub fn to_note(&self, summary: &str) -> String {
        let (n, max) = self.cycles;
        format!(
            "IMPLEMENTATION-REPORT: score={}; cycles={n}/{max}; severity={}; summary={summary}",
            self.score.as_str(),
            self.counts.to_note()
        )
    }
}

/// A loop that a worker's `needs_human` ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aborted {
    /// In which cycle.
    pub cycle: u32,
    /// Every cycle that this process saw.
    pub per_cycle: Vec<CycleRecord>,
}

/// The loop.
#[derive(Debug)]
pub struct ImplementLoop {
    max: u32,
    cycle: u32,
    per_cycle: Vec<CycleRecord>,
    candidate: Option<Candidate>,
}

/// Work that may be good enough.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    counts: Counts,
    has_tests: bool,
}

impl ImplementLoop {
    /// A loop of at most so many cycles, which goes on after what a step's notes tell of.
    pub fn new(max: u32, notes: &str) -> Self {
        Self {
            max: max.max(1),
            cycle: completed_cycles(notes),
            per_cycle: Vec::new(),
            candidate: None,
        }
    }

    /// What to do first.
    pub fn begin(&mut self) -> Next {
        if self.cycle >= self.max {
            return self.done(
                Score::Fail,
                "every cycle was used before",
                Counts::default(),
            );
        }
        self.next_cycle()
    }

    fn next_cycle(&mut self) -> Next {
        self.candidate = None;
        self.cycle += 1;
        Next::Work { cycle: self.cycle }
    }

    fn again(&mut self, why: &'static str, counts: Counts) -> Next {
        if self.cycle < self.max {
            self.next_cycle()
        } else {
            self.done(Score::Fail, why, counts)
        }
    }

    /// The worker is done.
    pub fn worked(&mut self, end: WorkerEnd) -> Next {
        self.per_cycle.push(CycleRecord {
            status: end.status,
            gate: end.gate,
            counts: None,
        });
        match (end.status, end.gate) {
            (ReportStatus::NeedsHuman, _) => Next::Abort(Box::new(Aborted {
                cycle: self.cycle,
                per_cycle: std::mem::take(&mut self.per_cycle),
            })),
            (ReportStatus::Failed, _) => self.again("the worker failed", Counts::default()),
            (ReportStatus::Complete, EvidenceGate::Fail | EvidenceGate::Partial) => {
                self.again("the evidence does not hold", Counts::default())
            }
            (ReportStatus::Complete, EvidenceGate::Pass | EvidenceGate::NotApplicable) => {
                self.candidate = Some(Candidate {
                    counts: Counts::default(),
                    has_tests: end.has_tests,
                });
                Next::Review { cycle: self.cycle }
            }
        }
    }

    /// The review of the cycle is done.
    pub fn reviewed(&mut self, counts: Counts) -> Next {
        if let Some(record) = self.per_cycle.last_mut() {
            record.counts = Some(counts);
        }
        if counts.rejects() {
            return self.again("the review found what must be fixed", counts);
        }
        if counts.major > 0 && self.cycle < self.max {
            return self.next_cycle();
        }
        if let Some(candidate) = &mut self.candidate {
            candidate.counts = counts;
        }
        Next::QualityReview
    }

    /// The second look is done.
    pub fn quality_reviewed(&mut self, counts: Counts) -> Next {
        let all = self.counts().plus(counts);
        if counts.rejects() {
            return self.again("the quality review found what must be fixed", all);
        }
        let has_tests = self.candidate.is_some_and(|candidate| candidate.has_tests);
        if let Some(candidate) = &mut self.candidate {
            candidate.counts = all;
        }
        if has_tests {
            Next::Simplify
        } else {
            self.accepted()
        }
    }

    /// The simplification is done; with a test that fails now its edits were taken back.
    pub fn simplified(&mut self, is_broken: bool) -> Next {
        if is_broken && self.cycle < self.max {
            return self.next_cycle();
        }
        self.accepted()
    }

    fn counts(&self) -> Counts {
        self.candidate
            .map(|candidate| candidate.counts)
            .unwrap_or_default()
    }

    fn accepted(&mut self) -> Next {
        let counts = self.counts();
        if counts.major > 0 {
            let why = "nothing must be fixed, and major findings are open";
            return self.done(Score::PassWithReservations, why, counts);
        }
        self.done(Score::Pass, "nothing is open that must be fixed", counts)
    }

    fn done(&mut self, score: Score, rationale: &'static str, counts: Counts) -> Next {
        Next::Done(Box::new(Aggregate {
            score,
            rationale,
            cycles: (self.cycle, self.max),
            counts,
            per_cycle: std::mem::take(&mut self.per_cycle),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cycle: what the worker said, its gate, and the review if it comes to one: critical, major.
    type Cycle = (ReportStatus, EvidenceGate, (u32, u32));

    /// Plays a loop in which quality reviews find nothing and simplifications break nothing.
    fn play(max: u32, cycles: &[Cycle]) -> Next {
        let mut machine = ImplementLoop::new(max, "");
        let mut next = machine.begin();
        loop {
            next = match next {
                Next::Work { cycle } => {
                    let (status, gate, _) = cycles[cycle as usize - 1];
                    machine.worked(WorkerEnd {
                        status,
                        gate,
                        has_tests: true,
                    })
                }
                Next::Review { cycle } => {
                    let (_, _, (critical, major)) = cycles[cycle as usize - 1];
                    machine.reviewed(Counts {
                        critical,
                        major,
                        ..Counts::default()
                    })
                }
                Next::QualityReview => machine.quality_reviewed(Counts::default()),
                Next::Simplify => machine.simplified(false),
                end @ (Next::Done(_) | Next::Abort(_)) => return end,
            };
        }
    }

    fn score(max: u32, cycles: &[Cycle]) -> (Score, (u32, u32)) {
        match play(max, cycles) {
            Next::Done(aggregate) => (aggregate.score, aggregate.cycles),
            other => panic!("{other:?}"),
        }
    }

    const FAIL: Cycle = (ReportStatus::Complete, EvidenceGate::Fail, (0, 0));
    const CRITICAL: Cycle = (ReportStatus::Complete, EvidenceGate::Pass, (1, 0));
    const MAJOR: Cycle = (ReportStatus::Complete, EvidenceGate::Pass, (0, 1));
    const CLEAN: Cycle = (ReportStatus::Complete, EvidenceGate::Pass, (0, 0));

    #[test]
    fn r_9_the_examples_of_the_contract() {
        assert_eq!(score(3, &[FAIL, CRITICAL, CLEAN]), (Score::Pass, (3, 3)));
        assert_eq!(score(2, &[CRITICAL, CRITICAL]), (Score::Fail, (2, 2)));
        assert_eq!(score(1, &[MAJOR]), (Score::PassWithReservations, (1, 1)));
        let aborted = play(3, &[(ReportStatus::NeedsHuman, EvidenceGate::Pass, (0, 0))]);
        assert!(
            matches!(&aborted, Next::Abort(aborted) if aborted.cycle == 1),
            "{aborted:?}"
        );
    }

    #[test]
    fn r_6_cycles_are_spent_on_majors_and_never_more_than_the_cap() {
        assert_eq!(score(3, &[MAJOR, CLEAN]), (Score::Pass, (2, 3)));
        assert_eq!(
            score(3, &[MAJOR, MAJOR, MAJOR]),
            (Score::PassWithReservations, (3, 3))
        );
        assert_eq!(
            score(2, &[(ReportStatus::Failed, EvidenceGate::Pass, (0, 0)); 2]),
            (Score::Fail, (2, 2))
        );
        assert_eq!(
            score(
                2,
                &[(ReportStatus::Complete, EvidenceGate::Partial, (0, 0)); 2]
            ),
            (Score::Fail, (2, 2))
        );
        assert_eq!(
            score(
                1,
                &[(ReportStatus::Complete, EvidenceGate::NotApplicable, (0, 0))]
            ),
            (Score::Pass, (1, 1))
        );
    }

    #[test]
    fn r_8_a_candidate_can_be_rejected_and_a_simplification_be_taken_back() {
        let end = WorkerEnd {
            status: ReportStatus::Complete,
            gate: EvidenceGate::Pass,
            has_tests: true,
        };
        let mut machine = ImplementLoop::new(2, "");
        machine.begin();
        machine.worked(end);
        assert_eq!(machine.reviewed(Counts::default()), Next::QualityReview);
        let critical = Counts {
            critical: 1,
            ..Counts::default()
        };
        assert_eq!(machine.quality_reviewed(critical), Next::Work { cycle: 2 });
        machine.worked(end);
        machine.reviewed(Counts::default());
        assert_eq!(machine.quality_reviewed(Counts::default()), Next::Simplify);
        let done = machine.simplified(true);
        assert!(
            matches!(&done, Next::Done(done) if done.score == Score::Pass),
            "its edits were taken back: {done:?}"
        );
        let mut machine = ImplementLoop::new(2, "");
        machine.begin();
        machine.worked(WorkerEnd {
            has_tests: false,
            ..end
        });
        machine.reviewed(Counts::default());
        assert!(
            matches!(machine.quality_reviewed(Counts::default()), Next::Done(_)),
            "without tests nothing is run again"
        );
    }

    #[test]
    fn r_11_a_crash_does_not_give_cycles_back() {
        let mut machine = ImplementLoop::new(3, "RALF-IT-ITER:2/3");
        assert_eq!(machine.begin(), Next::Work { cycle: 3 });
        let mut spent = ImplementLoop::new(3, "RALF-IT-ITER:3/3");
        assert!(matches!(spent.begin(), Next::Done(done) if done.score == Score::Fail));
        let Next::Done(done) = play(1, &[MAJOR]) else {
            panic!()
        };
        assert_eq!(
            done.to_note("ok"),
            "IMPLEMENTATION-REPORT: score=PASS_WITH_RESERVATIONS; cycles=1/1; severity=blocking:0,critical:0,major:1,minor:0; summary=ok"
        );
    }
}

//! What came of a seed.

use std::fmt;

/// How much happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Beads at the beginning.
    pub beads: u64,
    /// Beads that a run closed.
    pub closed: u64,
    /// Beads that wait for a person at the end.
    pub for_person: u64,
    /// Events in all journals.
    pub events: u64,
    /// Effects in all journals.
    pub effects: u64,
    /// Runs of agents.
    pub agents: u64,
    /// Calls of ports.
    pub calls: u64,
    /// Processes that were started.
    pub processes: u64,
    /// Processes that were killed.
    pub crashes: u64,
    /// Errors that were injected.
    pub errors: u64,
    /// Of these, how many had acted.
    pub lost_replies: u64,
    /// Answers that came twice.
    pub twice: u64,
    /// Things that users did.
    pub user: u64,
}

impl Counts {
    /// Adds what happened elsewhere.
    pub fn add(&mut self, other: &Self) {
        self.beads += other.beads;
        self.closed += other.closed;
        self.for_person += other.for_person;
        self.events += other.events;
        self.effects += other.effects;
        self.agents += other.agents;
        self.calls += other.calls;
        self.processes += other.processes;
        self.crashes += other.crashes;
        self.errors += other.errors;
        self.lost_replies += other.lost_replies;
        self.twice += other.twice;
        self.user += other.user;
    }
}

/// What came of a seed.
#[derive(Debug, Clone)]
pub struct Report {
    /// The seed.
    pub seed: u64,
    /// How much happened.
    pub counts: Counts,
    /// The laws that were broken, in order.
    pub violations: Vec<String>,
    /// What happened, if it was asked for.
    pub log: Vec<String>,
}

impl Report {
    /// The law that was broken first.
    pub fn law(&self) -> &str {
        let law = self.violations.first().and_then(|it| it.split_once(':'));
        law.map_or("", |(law, _)| law)
    }

    /// How to see it again.
    pub fn command(&self) -> String {
        format!(
            "cargo run --profile chaos -p beads-ralph-testkit --example chaos -- --seed {}",
            self.seed
        )
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "seed {}: {}", self.seed, self.command())?;
        for violation in &self.violations {
            writeln!(f, "  {violation}")?;
        }
        Ok(())
    }
}

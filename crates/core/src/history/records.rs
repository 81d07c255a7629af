//! What the beads of a store tell about the work that was done: runs of agents, verdicts, figures, and what is in the way.
//!
//! Everything is read from the beads themselves, so that no process has to keep count (contracts §7.9). Beads may be anybody's: what
//! cannot be read is left out, and nothing here fails.

mod figures;
mod flaky;
mod history;
mod verdicts;

pub use figures::{Figures, Tally, figures, figures_of_run};
pub use flaky::{FlakyCheck, FlakyChecks};
pub use history::{AgentRun, Kind, last_error, last_failure, question, runs};
pub use verdicts::{QaAgentReport, qa_report};

#[cfg(test)]
mod tests;

//! The dispatcher of seed 004 (contracts §9), as far as it is pure: which formula a bead is worked by, what its labels say, what a
//! worker's report means, and what becomes of its bead.
//!
//! Nothing here reads a store or runs a worker. Whoever does hands in what was found and performs what is decided.

mod acceptance;
mod answer;
mod choice;
pub mod discovered;
mod flag;
mod link;
mod outcome;
mod path_label;
mod place;
mod policy;
mod queue;
pub mod ralf;
pub mod reality;
pub mod report;
mod stage;
mod task;
pub mod upstream;
mod worker;

pub use acceptance::{AcceptanceLine, Judge, acceptance_lines};
pub use answer::{accept_step, answer_note, answer_source, answers, is_noted, reason, redo_step};
pub use choice::{
    Choice, Mode, Resolution, choose_formula, mode_of, molecule_to_use, pour_values, title_slug,
};
pub use flag::{flag, flag_step};
pub use link::{link_label, linked_source, pull_request_of, worktree_of};
pub use outcome::{Outcome, outcome_of, outcome_of_loop, summary};
pub use path_label::{PathLabelError, decode_path, decode_url, encode_path, encode_url};
pub use place::{AUDIT_DIRECTORY, UnsafePart, report_folder, report_path, reporter, safe_part};
pub use policy::{Conflicting, Policy, ReviewLevel};
pub use queue::{Candidate, queue};
pub use stage::{Stage, stage_of};
pub use task::{Focus, Inspection, Task, simplify_prompt};
pub use worker::{AUDITED, Agent, audit_label, worker_for};

//! The dispatcher of seed 004 (contracts §9), as far as it is pure: which formula a bead is worked by, what its labels say, what a
//! worker's report means, and what becomes of its bead.
//!
//! Nothing here reads a store or runs a worker. Whoever does hands in what was found and performs what is decided.

mod acceptance;
mod choice;
pub mod discovered;
mod human;
mod labels;
mod outcome;
mod policy;
mod prompt;
pub mod ralf;
pub mod report;
mod stage;
mod worker;

pub use acceptance::{AcceptanceLine, Judge, acceptance_lines};
pub use choice::{
    Candidate, Choice, Mode, Resolution, choose_formula, mode_of, molecule_to_use, pour_values,
    queue, title_slug,
};
pub use human::{
    accept_step, answer_note, answer_source, answers, flag, flag_step, is_noted, reason, redo_step,
};
pub use labels::{
    PathLabelError, decode_path, decode_url, encode_path, encode_url, link_label, linked_source,
    pull_request_of, worktree_of,
};
pub use outcome::{Facts, Outcome, contradictions, outcome_of, outcome_of_loop, summary};
pub use policy::{Conflicting, Policy, ReviewLevel};
pub use prompt::{Focus, Inspection, Task, simplify_prompt};
pub use stage::{
    Diagnosis, NoDiagnosis, Stage, diagnose_step, diagnoser, diagnosis, needs_diagnosis, stage_of,
};
pub use worker::{
    AUDIT_DIRECTORY, AUDITED, Agent, UnsafePart, audit_label, report_folder, report_path, reporter,
    safe_part, worker_for,
};

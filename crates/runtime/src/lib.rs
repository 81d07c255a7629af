//! The half of beads-ralph that touches the world: files, the environment, the clock, the stores.
//!
//! Each kind of contact has one module. [`os::env`] alone reads the environment, [`os::files`] alone writes, and
//! both hand plain values to the pure core.

pub mod agent;
pub mod agent_files;
pub mod app;
pub mod bead_files;
pub mod check;
pub mod config;
pub mod controls;
pub mod exec;
pub mod forge;
pub mod formulas;
pub mod gate;
pub mod git;
pub mod implement;
pub mod os;
pub mod patrol;
pub mod pour;
pub mod progress;
pub mod removed_sprints;
pub mod repo;
pub mod run;
pub mod scenario;
pub mod store;
pub mod watchdog;
pub mod work_dir;

//! The half of beads-ralph that touches the world: files, the environment, the clock, the stores.
//!
//! Each kind of contact has one module. [`os::env`] alone reads the environment, [`os::files`] alone writes, and
//! both hand plain values to the pure core. The modules are listed bottom-up: each uses only those above it, which a test proves.

pub mod repo;

pub mod os;

pub mod progress;

pub mod store;

pub mod ports;

pub mod adapters;

pub mod scenario;

pub mod agent_files;

pub mod config;

pub mod agent;

pub mod git;

pub mod forge;

pub mod work_dir;

pub mod check;

pub mod bead_files;

pub mod formulas;

pub mod pour;

pub mod controls;

pub mod removed_sprints;

pub mod gate;

pub mod patrol;

pub mod watchdog;

pub mod exec;

pub mod run;

pub mod implement;

pub mod app;

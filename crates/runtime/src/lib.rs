//! The half of beads-ralph that touches the world: files, the environment, the clock, the stores.
//!
//! Each kind of contact has one module. [`mod@env`] alone reads the environment, [`files`] alone writes, and
//! both hand plain values to the pure core.

pub mod agent;
pub mod agents;
pub mod checks;
pub mod clock;
pub mod config;
pub mod controls;
pub mod digest;
pub mod env;
pub mod exec;
pub mod files;
pub mod forge;
pub mod formulas;
pub mod git;
pub mod governor;
pub mod host;
pub mod implement;
pub mod limits;
pub mod news;
pub mod patrol;
pub mod pour;
pub mod ralph;
pub mod removed;
pub mod repo;
pub mod run;
pub mod scenario;
pub mod signals;
pub mod store;
pub mod terminal;
pub mod tree;
pub mod unit;
pub mod watchdog;

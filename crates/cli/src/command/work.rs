//! The commands that work on beads, and those that steer the work.

pub(crate) mod clean;
pub(crate) mod drive;
pub(crate) mod exec;
pub(crate) mod implement;
pub(crate) mod patrol;
pub(crate) mod pause;
pub(crate) mod run;
pub(crate) mod stop;
pub(crate) mod verify;
pub(crate) mod watchdog;

//! The loop over many beads: what the engine in core decides is done here.

mod claims;
mod hand_over;
mod keeping;
mod perform;
mod ports;
mod tasks;

pub use claims::LEASE;
pub use perform::{Base, Performer, Site, place};
pub use ports::{
    Checked, Claimed, Crew, Forge, Found, Integrated, Job, NewPullRequest, Origin, Place, Prepared,
    PullRequest, PullState, Repository, Sealed, State, Wanted,
};
pub use tasks::{Selection, Sight, TaskReader};

//! The loop over many beads: what the engine in core decides is done here.

mod claims;
mod conduct;
mod crew;
mod hand_over;
mod journal;
mod keeping;
mod mortal;
mod perform;
mod ports;
mod start;
mod tasks;

pub use claims::LEASE;
pub use conduct::{Audience, ConductError, Conductor, Stop};
pub use crew::{Activity, Doing, RealCrew, mark_of};
pub use journal::{Journal, JournalError, RunDirectory, file_name, read_journal};
pub use perform::{Performer, Site, place};
pub use ports::{
    Checked, Claimed, Crew, Forge, Found, Integrated, Job, NewPullRequest, Origin, Place, Prepared,
    PullRequest, PullState, Repository, Sealed, State, Wanted,
};
pub use start::{Begun, Ended, Start, StartError, left_behind};
pub use tasks::{Selection, Sight, TaskReader};

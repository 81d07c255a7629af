//! The loop over many beads: what the engine in core decides is done here.

mod activity;
mod claims;
mod conduct;
pub(crate) mod crash_points;
mod executor;
mod following;
mod journal;
pub(crate) mod main_checkout;
mod origin;
mod perform;
mod poll;
mod port_book;
mod results;
pub(crate) mod set_up;
mod start;
mod store_writes;
mod tasks;

pub use self::poll::{Lookout, Noticed};
pub use activity::{Activity, Doing};
pub use beads_ralph_core::engine::Selection;
pub use claims::LEASE;
pub use conduct::{Audience, ConductError, Conductor, Stop};
pub use executor::{LocalExecutor, mark_of};
pub use following::Following;
pub use journal::{Journal, JournalError, RunDirectory, RunEnd, file_name, read_journal};
pub use perform::{Performer, Site, place};
pub use port_book::PortBook;
pub use start::{Begun, Ended, Start, StartError, left_behind, take_over};
pub use tasks::{GatesOf, Sight, TaskReader, spent_on};

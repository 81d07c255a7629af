//! The loop over many beads: what the engine in core decides is done here.

mod activity;
mod below;
mod claims;
mod conduct;
mod crew;
mod following;
mod hand_over;
mod journal;
mod keeping;
mod lookout;
pub(crate) mod main_checkout;
pub(crate) mod mortal;
mod origin;
pub(crate) mod own_bd;
mod perform;
mod port_book;
pub(crate) mod set_up;
mod start;
mod tasks;
mod writing;

pub use activity::{Activity, Doing};
pub use beads_ralph_core::engine::Selection;
pub use claims::LEASE;
pub use conduct::{Audience, ConductError, Conductor, Stop};
pub use crew::{RealCrew, mark_of};
pub use following::Following;
pub use journal::{Journal, JournalError, RunDirectory, file_name, read_journal};
pub use lookout::{Lookout, Noticed};
pub use perform::{Performer, Site, place};
pub use port_book::PortBook;
pub use start::{Begun, Ended, Start, StartError, left_behind, take_over};
pub use tasks::{GatesOf, Sight, TaskReader, spent_on};

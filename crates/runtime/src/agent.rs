//! Running agents: finding their programs, asking before a run whether all is there, and running them as units.
//!
//! What is known about an agent program is data ([`core::agent`](beads_ralph_core::agent), [`adapters`](crate::adapters)). [`resolve`] turns what a bead says into that data, [`run`] makes a unit of it, and
//! [`probe`] asks the program that is installed what it can do.

mod probe;
mod ready;
mod run;

pub use probe::{Login, Probed, Support, probe};
pub use ready::{Finding, Resolved, account, is_installed, program, ready, resolve, takes_modes};
pub use run::{AgentError, DRAIN, Job, Observer, Quiet, new_session_id, run, session_id_from};

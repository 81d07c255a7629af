//! Running agents: finding their programs, asking before a run whether all is there, and running them as units.
//!
//! What is known about an agent program is data ([`core::agent`](beads_ralph_core::agent)); the programs that we know have
//! a file each in `agent/adapters`. [`resolve`] turns what a bead says into that data, [`run`] makes a unit of it, and
//! [`probe`] asks the program that is installed what it can do.

mod built_in;
mod probe;
mod ready;
mod run;

pub use built_in::built_in;
pub(crate) use built_in::{built_in_named, built_in_names};
pub use probe::{Login, Probed, Support, probe};
pub use ready::{Finding, Resolved, account, is_installed, program, ready, resolve, takes_modes};
pub use run::{AgentError, DRAIN, Job, Observer, Quiet, new_session_id, run, session_id_from};

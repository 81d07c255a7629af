//! The loop over many beads: what the engine in core decides is done here.

mod ports;

pub use ports::{
    Forge, Found, Integrated, NewPullRequest, Origin, Place, Prepared, PullRequest, PullState,
    Repository, Sealed, State, Wanted,
};

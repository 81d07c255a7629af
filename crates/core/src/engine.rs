//! The loop over many beads as a state machine: events in, effects out.
//!
//! [`Engine::handle`] takes one [`Event`] and answers with [`Effect`]s; nothing else happens here. The same machine runs real work,
//! simulations and replays of journals.

mod advance;
mod budget;
mod close;
mod develop;
mod effect;
mod event;
mod journal;
mod judge;
mod launch;
mod machine;
pub mod prompt;
mod queue;
mod retry;
mod settings;
mod task;
mod view;
mod work;

pub use budget::Spent;
pub use effect::{Action, Effect, EffectId, Launch, Note, Progress, Pull};
pub use event::{AgentReport, Answer, CommitId, Event, Lasting, Trouble, Verdict};
pub use journal::{Entry, FORMAT, Head, Replay, ReplayError, replay};
pub use machine::{ENGINE, Engine, Outcome};
pub use settings::{
    Backoff, Cap, Caps, Integration, IntegrationMode, Leader, Order, Selection, Settings,
};
pub use task::{Task, TaskState};
pub use view::{BeadState, BeadView, Holding, RunState, RunView};
pub use work::{End, Phase};

#[cfg(test)]
pub(crate) mod tests;

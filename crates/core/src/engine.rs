//! The loop over many beads as a machine that is told what happened and says what to do.
//!
//! [`Engine::handle`] takes one [`Event`] and answers with [`Effect`]s; nothing else happens here. The same machine runs for real, in
//! simulations, and once more over what was recorded.

mod adoption;
mod advance;
mod begin;
mod develop;
mod effect;
mod event;
mod hand_over;
mod journal;
mod judge;
mod launch;
mod ledger;
mod machine;
pub mod prompt;
mod queue;
mod selection;
mod setback;
mod settings;
mod task;
mod trouble;
mod view;
mod work;

pub use effect::{Action, Effect, EffectId, Launch, Note, Progress, Pull};
pub use event::{AgentReport, Answer, Event, Verdict};
pub use journal::{Entry, FORMAT, Head, Replay, ReplayError, replay};
pub use ledger::Spent;
pub use machine::{ENGINE, Engine, Outcome};
pub use selection::Selection;
pub use settings::{Backoff, Cap, Caps, Integration, IntegrationMode, Leader, Order, Settings};
pub use task::{Standing, Task};
pub use trouble::{CommitId, Lasting, Trouble};
pub use view::{BeadState, BeadView, Holding, RunState, RunView};
pub use work::{End, Phase};

#[cfg(test)]
pub(crate) mod tests;

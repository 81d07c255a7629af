//! The record of a run: what happened, and what was decided about it, in order.
//!
//! A journal is a head and then one entry for each event, with the effects that followed. Folding the events gives the engine back; that
//! the same effects follow again is checked, so that nobody goes on from a state that the run never had (Z-4).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::effect::Effect;
use super::event::Event;
use super::machine::{ENGINE, Engine};
use super::settings::Settings;

/// The format of journals.
pub const FORMAT: u32 = 1;

/// The first line of a journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The format of the lines.
    pub format: u32,
    /// The version of the decisions.
    pub engine: u32,
    /// The program that wrote it.
    pub version: String,
    /// When the run began.
    pub at: Timestamp,
    /// By what the processes of the run are found.
    pub mark: String,
    /// What the run was told.
    pub settings: Settings,
}

impl Head {
    /// The head of a new journal.
    pub fn new(settings: Settings, version: &str, mark: &str, at: Timestamp) -> Self {
        Self {
            format: FORMAT,
            engine: ENGINE,
            version: version.to_owned(),
            at,
            mark: mark.to_owned(),
            settings,
        }
    }
}

/// One line of a journal after the first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its number, from 1.
    pub seq: u64,
    /// When.
    pub at: Timestamp,
    /// What happened.
    pub event: Event,
    /// What was decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
}

/// Why a journal cannot be gone on with.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ReplayError {
    /// Another version wrote it.
    #[error(
        "the journal was written by beads-ralph {version} (journal format {format}, engine {engine}); this one knows format {FORMAT}, engine {ENGINE}"
    )]
    Version {
        /// The program.
        version: String,
        /// Its format.
        format: u32,
        /// Its decisions.
        engine: u32,
    },
    /// A line is missing, or stands twice.
    #[error("entry {found} of the journal stands where entry {expected} should")]
    Order {
        /// The number that should be there.
        expected: u64,
        /// The number that is.
        found: u64,
    },
    /// The same events do not lead to the same decisions.
    #[error("entry {seq} of the journal has other decisions than the ones that follow now")]
    Diverged {
        /// The entry.
        seq: u64,
        /// What follows now.
        now: Vec<Effect>,
        /// What was recorded.
        recorded: Vec<Effect>,
    },
}

/// Folds a journal: the engine as it was after the last entry.
pub fn replay<'a>(
    head: &Head,
    entries: impl IntoIterator<Item = &'a Entry>,
) -> Result<Engine, ReplayError> {
    let mut replay = Replay::begin(head)?;
    for entry in entries {
        replay.hear(entry)?;
    }
    Ok(replay.engine)
}

/// A journal that is folded entry by entry, for whoever reads along while it is written.
#[derive(Debug)]
pub struct Replay {
    engine: Engine,
    n_heard: u64,
}

impl Replay {
    /// Before the first entry.
    pub fn begin(head: &Head) -> Result<Self, ReplayError> {
        if head.format != FORMAT || head.engine != ENGINE {
            return Err(ReplayError::Version {
                version: head.version.clone(),
                format: head.format,
                engine: head.engine,
            });
        }
        Ok(Self {
            engine: Engine::new(head.settings.clone()),
            n_heard: 0,
        })
    }

    /// Takes the next entry.
    pub fn hear(&mut self, entry: &Entry) -> Result<(), ReplayError> {
        let expected = self.n_heard + 1;
        if entry.seq != expected {
            return Err(ReplayError::Order {
                expected,
                found: entry.seq,
            });
        }
        let now = self.engine.handle(entry.at, &entry.event);
        if now != entry.effects {
            return Err(ReplayError::Diverged {
                seq: entry.seq,
                now,
                recorded: entry.effects.clone(),
            });
        }
        self.n_heard = expected;
        Ok(())
    }

    /// The engine as it was after the last entry that was heard.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}

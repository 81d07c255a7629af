//! Where and with what a dispatcher works.

use std::time::Duration;

use beads_ralph_core::agent::Permissions;
use beads_ralph_core::gate::Gates;
use beads_ralph_core::issue::Holder;
use camino::Utf8Path;

use crate::bead_files::Ralph;
use crate::config::{Config, IntegrationMode};
use crate::formulas::Formulas;
use crate::gate;
use crate::git::Git;
use crate::os::clock;
use crate::os::process::{Cancel, Mark, Units};
use crate::ports::Forge;
use crate::store::{Stamp, Store, StoreError};

/// How long a claim on a step lasts without a sign of life.
const LEASE: Duration = Duration::from_mins(10);

/// Where and with what a dispatcher works. Several may share it.
#[derive(Clone)]
pub struct Site<'a> {
    pub units: &'a Units,
    pub cancel: &'a Cancel,
    pub config: &'a Config,
    pub root: &'a Utf8Path,
    /// The directory of the store, in which reports are kept.
    pub beads: &'a Utf8Path,
    pub formulas: &'a Formulas,
    pub git: &'a Git,
    /// Where pull requests are made, if they are.
    pub forge: Option<&'a dyn Forge>,
    pub integration: IntegrationMode,
    /// What agents may do without asking, if it was chosen.
    pub permissions: Option<Permissions>,
    pub holder: Holder,
    pub actor: &'a str,
    /// By what everything that is started here can be found.
    pub mark: Mark,
}

impl std::fmt::Debug for Site<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Site")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

impl Site<'_> {
    pub(super) fn stamp(&self) -> Stamp<'_> {
        Stamp {
            actor: self.actor,
            at: clock::now(),
        }
    }

    pub(super) fn lease_until() -> jiff::Timestamp {
        let until = clock::now().checked_add(LEASE);
        until.unwrap_or(jiff::Timestamp::MAX)
    }

    pub fn gates(&self, store: &dyn Store) -> Result<Gates, StoreError> {
        gate::gates(&Ralph::with_store(self.root, self.beads), Some(store))
    }

    pub(super) fn commands(&self) -> Vec<(&'static str, &str)> {
        self.config.gates.commands().collect()
    }
}

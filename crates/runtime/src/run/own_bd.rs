//! The name `bd` for agents: a link to this very program, in a directory of ours, in front of their `PATH`.
//!
//! Agents and skills that call `bd` then find our face over our store, and inside a unit it is read-only (Z-18).

use camino::{Utf8Path, Utf8PathBuf};

use crate::os::env::{self, Variable};
use crate::os::files;

/// Where the link is, and the store that agents may only read; nothing when there is no link.
#[derive(Debug, Default)]
pub(crate) struct OwnBd(Option<(Utf8PathBuf, Utf8PathBuf)>);

impl OwnBd {
    /// Makes the link in a directory, for a store. Where that fails, agents do without.
    pub(crate) fn at(directory: &Utf8Path, store: &Utf8Path) -> Self {
        let made = env::own_path().filter(|program| {
            files::create_directory(directory).is_ok()
                && files::link(program, &directory.join("bd")).is_ok()
        });
        Self(made.map(|_| (directory.to_owned(), store.to_owned())))
    }

    /// The `PATH` of agents, and the store that is not theirs to change.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let Some((directory, store)) = &self.0 else {
            return Vec::new();
        };
        let path = match env::get(Variable::Path) {
            Some(path) => format!("{directory}:{path}"),
            None => directory.to_string(),
        };
        let variables = [(Variable::Path, path), (Variable::Store, store.to_string())];
        (variables.into_iter())
            .map(|(variable, value)| (variable.name().to_owned(), value))
            .collect()
    }
}

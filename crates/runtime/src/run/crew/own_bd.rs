//! The name `bd` for agents: a link to this very program, in a directory of the run, in front of their `PATH`.
//!
//! Agents and skills that call `bd` then find our face over our store, and inside a unit it is read-only (Z-18).

use camino::{Utf8Path, Utf8PathBuf};

use crate::env::{self, Variable};
use crate::files;
use crate::run::RunDirectory;

/// Where the link is; nothing when there is none.
#[derive(Debug, Default)]
pub(super) struct OwnBd(Option<Utf8PathBuf>);

impl OwnBd {
    /// Makes the link in the directory of a run. Where that fails, agents do without.
    pub(super) fn beside(run: &RunDirectory) -> Self {
        let directory = run.path().join("bin");
        let made = env::own_path().filter(|program| {
            files::create_directory(&directory).is_ok()
                && files::link(program, &directory.join("bd")).is_ok()
        });
        Self(made.map(|_| directory))
    }

    /// The `PATH` of agents, and the store that is not theirs to change: the run's directory is two levels below it.
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        let Some(directory) = &self.0 else {
            return Vec::new();
        };
        let path = match env::get(Variable::Path) {
            Some(path) => format!("{directory}:{path}"),
            None => directory.to_string(),
        };
        let store = directory.ancestors().nth(3).map(Utf8Path::to_string);
        let variables = [(Variable::Path, Some(path)), (Variable::Store, store)];
        (variables.into_iter())
            .filter_map(|(variable, value)| Some((variable.name().to_owned(), value?)))
            .collect()
    }
}

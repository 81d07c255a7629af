//! Preparing the place of the work: the user's setup command, once for each worktree, and the name `bd` in the `PATH` of agents.
//!
//! That `bd` is a link to this program, so agents and skills that call it find our face over our store; inside a unit it is
//! read-only (Z-18).

use std::collections::BTreeMap;
use std::time::Duration;

use beads_ralph_core::engine::Trouble;
use camino::{Utf8Path, Utf8PathBuf};

use crate::config::Config;
use crate::os::env::{self, Variable};
use crate::os::files;
use crate::os::process::{
    Cancel, Ended, Ending, Environment, Limits, Mark, Spec, Stdin, Units, Watch,
};

const LIMIT: Duration = Duration::from_mins(30);

#[derive(Debug)]
pub(crate) struct Errand<'a> {
    pub(crate) command: &'a str,
    pub(crate) worktree: &'a Utf8Path,
    /// Where what it prints is kept; it is made anew.
    pub(crate) logs: &'a Utf8Path,
    pub(crate) mark: Mark,
    pub(crate) cancel: &'a Cancel,
    pub(crate) env: BTreeMap<String, String>,
}

pub(crate) fn is_set_up(worktree: &Utf8Path) -> bool {
    mark_of(worktree).exists()
}

pub(crate) fn set_up(
    units: &Units,
    config: &Config,
    errand: &Errand<'_>,
    watch: &mut dyn Watch,
) -> Result<bool, Trouble> {
    if is_set_up(errand.worktree) {
        return Ok(false);
    }
    let passing = |error: &dyn std::fmt::Display| Trouble::passing(error.to_string());
    files::create_directory(errand.logs).map_err(|error| passing(&error))?;
    for name in ["stdout", "stderr"] {
        files::remove_leftover(&errand.logs.join(name));
    }
    let mut argv = config.shell.clone();
    argv.push(errand.command.to_owned());
    let spec = Spec {
        mark: errand.mark.clone(),
        argv,
        cwd: errand.worktree.to_owned(),
        env: Environment {
            without: config.agents.withhold_env.clone(),
            with: errand.env.clone(),
        },
        stdin: Stdin::Closed,
        limits: Limits {
            wall: Some(LIMIT),
            ..Limits::default()
        },
        output: Some(errand.logs.to_owned()),
    };
    let ended = units.run(&spec, errand.cancel, watch);
    let ended = ended.map_err(|error| passing(&error))?;
    if ended.ending != Ending::Exited(0) || ended.stopped.is_some() {
        return Err(Trouble::for_bead(format!(
            "the worktree could not be set up: `{}` {} (full output in {})",
            errand.command,
            failed(&ended),
            errand.logs
        )));
    }
    files::write_atomic(&mark_of(errand.worktree), b"").map_err(|error| passing(&error))?;
    Ok(true)
}

/// The mark is in the worktree's own git directory: a worktree that is made anew is set up anew.
fn mark_of(worktree: &Utf8Path) -> Utf8PathBuf {
    let git = git_directory(worktree).unwrap_or_else(|| worktree.to_owned());
    git.join("beads-ralph-set-up")
}

fn failed(ended: &Ended) -> String {
    let how = match (ended.stopped, ended.ending) {
        (Some(_), _) => "was stopped".to_owned(),
        (None, Ending::Exited(code)) => format!("ended with {code}"),
        (None, other) => format!("ended by {other:?}"),
    };
    let last = |text: String| {
        let line = text.lines().rev().map(str::trim).find(|it| !it.is_empty());
        line.map(str::to_owned)
    };
    match last(ended.stderr.text()).or_else(|| last(ended.stdout.text())) {
        Some(line) => format!("{how}: {line}"),
        None => how,
    }
}

fn git_directory(worktree: &Utf8Path) -> Option<Utf8PathBuf> {
    let link = files::read(&worktree.join(".git")).ok()?;
    let link = String::from_utf8(link).ok()?;
    Some(worktree.join(link.trim().strip_prefix("gitdir:")?.trim()))
}

/// The directory of the link, and the store that agents may only read; `None` without a link.
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

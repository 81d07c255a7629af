//! The user's command that makes a worktree ready, once for each worktree.

use std::time::Duration;

use beads_ralph_core::bead::RalphBead;
use beads_ralph_core::engine::Trouble;
use camino::{Utf8Path, Utf8PathBuf};

use super::{Place, RealCrew, fresh, passing};
use crate::files;
use crate::run::journal::file_name;
use crate::unit::{Ended, Ending, Environment, Limits, Silent, Spec, Stdin};

/// How long the command may take.
const LIMIT: Duration = Duration::from_mins(30);

impl RealCrew<'_> {
    pub(super) fn set_up_with(
        &self,
        command: &str,
        bead: &RalphBead,
        place: &Place,
    ) -> Result<bool, Trouble> {
        // The mark is in the worktree's own git directory: a worktree that is made anew is set up anew.
        let git = git_directory(&place.worktree).unwrap_or_else(|| place.worktree.clone());
        let done = git.join("beads-ralph-set-up");
        if done.exists() {
            return Ok(false);
        }
        let directory = self.run.path().join("beads").join(file_name(&bead.id));
        let output = fresh(&directory, "setup").map_err(|error| passing(&error))?;
        let mut argv = self.config.shell.clone();
        argv.push(command.to_owned());
        let spec = Spec {
            mark: self.mark.below(),
            argv,
            cwd: place.worktree.clone(),
            env: Environment {
                without: self.config.agents.withhold_env.clone(),
                with: self.ports.variables(&bead.id),
            },
            stdin: Stdin::Closed,
            limits: Limits {
                wall: Some(LIMIT),
                ..Limits::default()
            },
            output: Some(output.clone()),
        };
        let cancel = self.cancel_for(&bead.id)?;
        self.activity.begins(&bead.id, "setup");
        let ended = self.units.run(&spec, &cancel, &mut Silent);
        self.over(&bead.id, &cancel);
        let ended = ended.map_err(|error| Trouble::passing(error.to_string()))?;
        if ended.ending != Ending::Exited(0) || ended.stopped.is_some() {
            return Err(Trouble::for_bead(format!(
                "the worktree could not be set up: `{command}` {} (all of it is in {output})",
                failed(&ended)
            )));
        }
        files::write_atomic(&done, b"").map_err(|error| passing(&error))?;
        Ok(true)
    }
}

/// How the command failed, with the last line that it wrote.
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

/// The git directory of a linked worktree.
fn git_directory(worktree: &Utf8Path) -> Option<Utf8PathBuf> {
    let link = files::read(&worktree.join(".git")).ok()?;
    let link = String::from_utf8(link).ok()?;
    Some(worktree.join(link.trim().strip_prefix("gitdir:")?.trim()))
}

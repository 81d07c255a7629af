//! What keys ask of the store: a bead tried again, all runs paused or stopped.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_runtime::app::beads::{Authority, Beads, refuse_retry};
use beads_ralph_runtime::controls;
use beads_ralph_runtime::run::RunDirectory;
use camino::Utf8Path;

use crate::args::Global;
use crate::command::store::close::opened;
use crate::failure::Failure;
use crate::ui::board::Wish;

pub(super) struct Order<'a> {
    pub(super) run: &'a RunDirectory,
    pub(super) is_going_on: bool,
    pub(super) global: &'a Global,
}

impl Order<'_> {
    /// Does what was asked for, and says what became of it.
    pub(super) fn carry_out(&self, wish: &Wish) -> String {
        let done = match wish {
            Wish::Retry(id) => self.try_again(id),
            Wish::Pause => self.pause(),
            Wish::Stop { now } => self.stop(*now),
            Wish::Nothing | Wish::Quit | Wish::Suspend => Ok(String::new()),
        };
        done.unwrap_or_else(|failure| failure.message().to_owned())
    }

    /// The store of the run. A run may be looked at from anywhere, and the store of another place is not the one that is meant.
    fn beads(&self) -> Result<Beads, Failure> {
        let beads = self.global.open()?;
        let real = |path: &Utf8Path| path.canonicalize_utf8().ok();
        let own = real(&beads.directory);
        if own.is_some_and(|own| real(self.run.path()).is_some_and(|run| run.starts_with(own))) {
            return Ok(beads);
        }
        let message =
            "this run belongs to the store of another directory: change to that directory";
        Err(Failure::new(ErrorCode::ValidationConstraint, message))
    }

    fn try_again(&self, id: &BeadId) -> Result<String, Failure> {
        let mut beads = self.beads()?;
        let before = beads.resolve(id.as_str())?;
        refuse_retry(&before)?;
        let done = opened("to be retried:", &beads.reopen(before, Authority::Own)?);
        Ok(if self.is_going_on {
            done.said
        } else {
            format!("{}; start beads-ralph run to work on it", done.said)
        })
    }

    fn pause(&self) -> Result<String, Failure> {
        let mut beads = self.beads()?;
        let store = beads.store.as_mut();
        if controls::resume(store, beads.by.stamp())? {
            return Ok("runs on this store resume".to_owned());
        }
        controls::pause(store, beads.by.stamp())?;
        Ok("runs on this store are paused; p resumes them".to_owned())
    }

    fn stop(&self, now: bool) -> Result<String, Failure> {
        let mut beads = self.beads()?;
        controls::stop(beads.store.as_mut(), now, beads.by.stamp())?;
        Ok(if now {
            "runs on this store stop now: their agents are ended".to_owned()
        } else {
            "runs on this store stop when their agents have finished".to_owned()
        })
    }
}

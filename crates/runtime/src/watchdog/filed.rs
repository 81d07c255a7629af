//! Beads in files. Whoever works on one of them with `exec` holds its lock, and is alive as long as it is held.

use beads_ralph_core::bead;
use beads_ralph_core::dod::{DodBead, DodStatus};
use beads_ralph_core::issue::Abandoned;
use beads_ralph_core::watchdog::{self, Step, Watched, Worker};
use jiff::Timestamp;

use super::{Seen, Watchdog, WatchdogError};
use crate::bead_files::{BeadFile, BeadFileError};
use crate::os::files::FileError;

/// How the version of `exec` begins, which it leaves in a bead.
const OURS: &str = "beads-ralph ";

impl Watchdog<'_> {
    /// Looks at the beads in files that are in progress; gates are nobody's work.
    pub(super) fn look_at_files(&self, now: Timestamp) -> Result<Vec<Seen>, WatchdogError> {
        let mut seen = Vec::new();
        for path in self.ralph.todo_files() {
            // What is no bead is for whoever works on it.
            if let Ok(file) = BeadFile::read(&path)
                && is_watched(file.bead())
            {
                seen.extend(self.look_at_file(&file, now)?);
            }
        }
        Ok(seen)
    }

    /// Looks at one bead, and under its lock once more when it is silent: it is changed as it is then.
    fn look_at_file(&self, file: &BeadFile, now: Timestamp) -> Result<Option<Seen>, WatchdogError> {
        let mut seen = see(file, now);
        if seen.step == Step::Fresh {
            return Ok(Some(seen));
        }
        if self.is_dry_run {
            if file.is_held()? {
                seen.step = Step::Fresh;
            }
            return Ok(Some(seen));
        }
        let Some(_lock) = file.lock()? else {
            seen.step = Step::Fresh;
            return Ok(Some(seen));
        };
        let file = match BeadFile::read(file.path()) {
            Ok(file) if is_watched(file.bead()) => file,
            _ => return Ok(None),
        };
        let mut seen = see(&file, now);
        self.act(&file, &mut seen, now)?;
        Ok(Some(seen))
    }

    fn act(&self, file: &BeadFile, seen: &mut Seen, now: Timestamp) -> Result<(), WatchdogError> {
        let stamp = bead::Timestamp::from_instant(now);
        let document = match &seen.step {
            Step::Fresh | Step::Nobody | Step::Waits => return Ok(()),
            Step::Nudge => {
                seen.file = Some(self.nudge(&seen.bead, None, now)?);
                return Ok(());
            }
            Step::Restart(why) => watchdog::restarted_file(file.bead(), why, &stamp),
            Step::GiveUp(why) => watchdog::given_up_file(file.bead(), why, &stamp),
        };
        match file.write_document(&document) {
            Ok(()) => {}
            Err(BeadFileError::File(FileError::Changed { .. })) => {
                seen.is_overtaken = true;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
        if let Step::GiveUp(why) = &seen.step {
            seen.file = Some(self.alert(&seen.bead, why, now)?);
        }
        Ok(())
    }
}

fn is_watched(bead: &DodBead) -> bool {
    bead.status == DodStatus::InProgress && !bead.is_gate
}

/// What is to be done about a bead whose lock is free.
fn see(file: &BeadFile, now: Timestamp) -> Seen {
    let bead = Watched::of_bead(file.bead());
    let version = file.bead().meta("executor_version");
    let version = version.and_then(|version| version.as_str());
    // `exec` names nobody, and holds the lock until it has written how it ended.
    let is_left = bead.assignee.is_none() && version.is_some_and(|it| it.starts_with(OURS));
    let worker = if is_left {
        Worker::Gone(Abandoned::ProcessDead)
    } else {
        Worker::Unknown
    };
    Seen::new(bead, worker, now)
}

//! One bead, taken, worked on and given back.

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::dod::{DodBead, DodStatus};
use beads_ralph_core::issue::Holder;
use beads_ralph_core::vocabulary::ralph_meta;
use beads_ralph_runtime::app::beads::reopening;
use beads_ralph_runtime::bead_files::{BeadFile, Evidence};
use beads_ralph_runtime::check::{Again, Base};
use beads_ralph_runtime::exec::{
    self, FileKeeper, Keeper, KeeperError, StoreKeeper, Worker, Workshop,
};
use beads_ralph_runtime::os::files::Lock;
use beads_ralph_runtime::os::process::{self, Cancel, Mark, Units};
use beads_ralph_runtime::store::{Guard, Write};
use beads_ralph_runtime::{os::clock, os::host};
use camino::Utf8Path;
use serde_json::json;

use super::governed::OVERRULED;
use super::{Done, Exec, completed_already};
use crate::failure::Failure;
use crate::ui::counted;
use crate::ui::live::Live;
use crate::work::{self, Stored, Target};

/// Who we are, for the bead.
const VERSION: &str = concat!("beads-ralph ", env!("CARGO_PKG_VERSION"));

/// Where one bead is worked on.
pub(super) struct Site<'a> {
    pub(super) exec: &'a Exec<'a>,
    pub(super) units: &'a Units,
    pub(super) cancel: &'a Cancel,
    pub(super) root: &'a Utf8Path,
    pub(super) evidence: Evidence,
    pub(super) base: Option<&'a Base<'a>>,
}

impl Site<'_> {
    /// Works on a bead in a file, under its lock.
    pub(super) fn file(
        &self,
        file: &BeadFile,
        worker: Option<&mut dyn Worker>,
    ) -> Result<Option<Done>, Failure> {
        let mut lock = file.lock()?.ok_or_else(|| somebody_else(file.bead()))?;
        let mark = self.take_over(&mut lock)?;
        // Somebody may have worked on it between the first look and the lock.
        let file = BeadFile::read(file.path())?.with_checks(&self.exec.config.default_checks);
        if self.exec.leaves(file.bead()) {
            let target = Target::File(Box::new(file));
            completed_already(&target, self.exec.ui)?;
            return Ok(None);
        }
        let mut file = match &self.exec.overruled {
            Some(reason) => file.noting(OVERRULED, json!(reason)),
            None => file,
        };
        // Who begins again what was given up has decided about it, and its restarts are counted anew (G-8).
        if file.bead().status == DodStatus::Failed
            && file.bead().meta(ralph_meta::RESTART_COUNT).is_some()
        {
            file = file.noting(ralph_meta::RESTART_COUNT, json!(0));
        }
        let mut keeper = FileKeeper::new(file, self.evidence.clone(), lock);
        self.pursue(&mut keeper, worker, &mark).map(Some)
    }

    /// Works on a bead of the store, under a claim.
    pub(super) fn stored(
        &self,
        mut stored: Stored,
        worker: Option<&mut dyn Worker>,
    ) -> Result<Option<Done>, Failure> {
        let lock = self.evidence.lock()?;
        let mut lock = lock.ok_or_else(|| somebody_else(&stored.bead))?;
        let mut keeper = claim(&mut stored, self.exec)?;
        if let Some(reason) = &self.exec.overruled {
            keeper.note(&format!("[gates] begun by force: {reason}"))?;
        }
        let mark = self.take_over(&mut lock)?;
        self.pursue(&mut keeper, worker, &mark).map(Some)
    }

    /// Ends what is left of a run before this one that was killed (Z-7), and leaves word how to end what this one starts.
    fn take_over(&self, lock: &mut Lock) -> Result<Mark, Failure> {
        let swept = process::sweep(&Mark(lock.note()?));
        if !swept.survivors.is_empty() {
            let survivors = swept.survivors;
            let message = format!("processes {survivors:?} of an earlier run cannot be killed");
            let failure = Failure::new(ErrorCode::ValidationConstraint, message);
            return Err(failure.action("end them, then try again"));
        }
        if swept.n_killed > 0 {
            let killed = counted(swept.n_killed, "process", "processes");
            let text = format!("ended {killed} that an earlier run had left\n");
            self.exec.ui.say(&text);
        }
        let mark = Mark::unique();
        lock.leave(&mark.0)?;
        Ok(mark)
    }

    fn pursue(
        &self,
        keeper: &mut dyn Keeper,
        worker: Option<&mut dyn Worker>,
        mark: &Mark,
    ) -> Result<Done, Failure> {
        let Exec { ui, config, .. } = self.exec;
        let bead = keeper.bead().clone();
        let settings = self.exec.settings(&bead, worker.is_some());
        let logs = self.evidence.begin(clock::now())?;
        let budget = config.budgets.bead.budget();
        let workshop = Workshop {
            units: self.units,
            cancel: self.cancel,
            root: self.root,
            home: &work::main_root(self.exec.ralph.root()),
            shell: &config.shell,
            evidence: &self.evidence,
            logs: &logs,
            must_be_clean: self.root != self.exec.ralph.root(),
            again: Again {
                retries: config.flaky_retries,
                base: self.base,
            },
            withhold: &config.agents.withhold_env,
            mark,
            budget: &budget,
            version: VERSION,
        };
        let report = {
            let mut live = Live::new(ui);
            // The worker lives longer than this call, and inside an option that has to be said.
            let worker = worker.map(|worker| worker as &mut dyn Worker);
            exec::pursue(&workshop, keeper, worker, settings, &mut live)?
        };
        Ok(Done { bead, report, logs })
    }
}

/// Takes a bead of the store for this process. One whose holder is proven to be gone is taken from it (Z-4); with `--force` one
/// that is closed, or that waits for a person, is opened again.
fn claim<'a>(stored: &'a mut Stored, exec: &Exec<'_>) -> Result<StoreKeeper<'a>, Failure> {
    let Stored { beads, record, .. } = stored;
    let id = record.issue.id();
    let actor = beads.by.actor().to_owned();
    let holder = Holder {
        run: format!("exec-{}", std::process::id()),
        host: host::name(),
        process: host::process(std::process::id()),
    };
    if let Some(claim) = &record.claim
        && let Some(why) = claim.is_abandoned(beads.by.now, &host::name(), host::liveness)
    {
        let stamp = beads.by.stamp();
        beads.store.reclaim(id, claim.fence, why, stamp)?;
    }
    if exec.args.force && matches!(record.issue.status(), "closed" | "blocked") {
        let write = Write::Update {
            id: id.clone(),
            edits: reopening(record),
            guard: Guard::default(),
        };
        beads.store.write(&[write], beads.by.stamp())?;
    }
    let defaults = &exec.config.default_checks;
    let keeper = StoreKeeper::claim(&mut *beads.store, id, defaults, &holder, &actor)?;
    Ok(keeper)
}

fn somebody_else(bead: &DodBead) -> Failure {
    let message = format!(
        "{} is already claimed: another process works on it",
        bead.id
    );
    Failure::new(ErrorCode::ValidationConstraint, message)
        .action("wait until it has ended")
        .exit_with(4)
}

impl From<KeeperError> for Failure {
    fn from(error: KeeperError) -> Self {
        match error {
            KeeperError::File(error) => error.into(),
            KeeperError::Store(error) => error.into(),
        }
    }
}

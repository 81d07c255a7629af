//! Performs effects: each looks before it acts, so that doing it again after a crash does nothing more.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use beads_ralph_core::bead::{BeadId, QaStatus, RalphBead, Rules};
use beads_ralph_core::engine::{Action, Answer, CommitId, Effect, Trouble};
use beads_ralph_core::issue::{Fence, Holder, Record};
use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use jiff::Timestamp;

use super::port_book::PortBook;
use super::store_writes::{self, fetch};
use super::tasks::{TaskReader, base_of};
use crate::config::Base;
use crate::ports::{Executor, Forge, Job, Origin, Place, Repository, Wanted};
use crate::store::{Stamp, Store};

#[derive(Debug, Clone)]
pub struct Site {
    pub run: String,
    pub actor: String,
    pub holder: Holder,
    pub rules: Rules,
    pub root: Utf8PathBuf,
    /// How many beads may be worked on at once by all runs together.
    pub n_slots: usize,
    pub base: Base,
}

pub struct Performer<'a> {
    pub site: Site,
    pub store: &'a Mutex<Box<dyn Store>>,
    pub repository: &'a dyn Repository,
    pub forge: Option<&'a dyn Forge>,
    pub executor: &'a dyn Executor,
    pub reader: &'a TaskReader<'a>,
    pub now: &'a (dyn Fn() -> Timestamp + Sync),
    /// Ends what the run of a dead holder left running, before its bead is taken over (Z-7), unless that run is resumed.
    pub bury: &'a (dyn Fn(&Holder) -> Result<bool, Trouble> + Sync),
    /// Beads as they were when they were claimed: what is asked of agents and checks does not change under their hands.
    pub beads: Mutex<BTreeMap<BeadId, Arc<RalphBead>>>,
    pub ports: Arc<PortBook>,
    /// The slots and worktrees that are taken.
    pub slots: Mutex<BTreeMap<BeadId, Vec<(String, Fence)>>>,
}

impl std::fmt::Debug for Performer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Performer")
            .field("site", &self.site)
            .finish_non_exhaustive()
    }
}

impl<'a> Performer<'a> {
    pub fn new(
        site: Site,
        store: &'a Mutex<Box<dyn Store>>,
        (repository, forge, executor): (
            &'a dyn Repository,
            Option<&'a dyn Forge>,
            &'a dyn Executor,
        ),
        reader: &'a TaskReader<'a>,
        now: &'a (dyn Fn() -> Timestamp + Sync),
    ) -> Self {
        Self {
            site,
            store,
            repository,
            forge,
            executor,
            reader,
            now,
            bury: &|_| Ok(true),
            beads: Mutex::default(),
            ports: Arc::default(),
            slots: Mutex::default(),
        }
    }

    #[must_use]
    pub fn with_ports(self, ports: Arc<PortBook>) -> Self {
        Self { ports, ..self }
    }

    #[must_use]
    pub fn with_burial(self, bury: &'a (dyn Fn(&Holder) -> Result<bool, Trouble> + Sync)) -> Self {
        Self { bury, ..self }
    }

    pub fn perform(&self, effect: &Effect) -> Result<Answer, Trouble> {
        match &effect.action {
            Action::Claim { .. } => self.claim(effect),
            Action::Prepare {
                also,
                base,
                attempt,
            } => self.prepare(effect, (also.as_ref(), base.as_ref()), *attempt),
            Action::Develop { .. }
            | Action::Resolve { .. }
            | Action::Lead { .. }
            | Action::Judge { .. } => self.agent(effect),
            Action::Seal { attempt, base } => self.seal(effect, *attempt, base),
            Action::Verify { attempt, commit } => self.verify(effect, *attempt, commit),
            Action::Restore { attempt, commit } => {
                let (_, place) = self.bead_and_place(effect)?;
                self.repository.restore(&place, commit, *attempt)?;
                Ok(Answer::Done)
            }
            Action::Keep { commit } => {
                self.repository.keep(&effect.bead, commit)?;
                Ok(Answer::Done)
            }
            Action::Merge { commit, target } => self.merge(effect, commit, target),
            Action::Push { commit } => {
                let (bead, _) = self.bead_and_place(effect)?;
                self.repository
                    .push(bead.metadata.branch.as_str(), commit)?;
                Ok(Answer::Done)
            }
            Action::Propose { commit, may_create } => self.propose(effect, commit, *may_create),
            Action::Record { .. }
            | Action::Close { .. }
            | Action::Block { .. }
            | Action::Release { .. } => self.write(effect),
            Action::CleanUp => self.clean_up(effect),
            Action::Park { account, until } => {
                store_writes::park(&mut **self.store(), account, *until, self.stamp())?;
                Ok(Answer::Done)
            }
            Action::Notify { text } => self.executor.notify(text).map(|()| Answer::Done),
            Action::Cancel => {
                self.executor.cancel(&effect.bead);
                Ok(Answer::Done)
            }
        }
    }

    pub(super) fn store(&self) -> MutexGuard<'_, Box<dyn Store>> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn stamp(&self) -> Stamp<'_> {
        Stamp {
            actor: &self.site.actor,
            at: (self.now)(),
        }
    }

    pub(super) fn remember(&self, bead: RalphBead) -> Arc<RalphBead> {
        let bead = Arc::new(bead);
        let mut beads = self.beads.lock().unwrap_or_else(PoisonError::into_inner);
        beads.insert(bead.id.clone(), Arc::clone(&bead));
        bead
    }

    /// A bead as it was when it was claimed, if this process claimed it.
    pub(super) fn known(&self, id: &BeadId) -> Option<Arc<RalphBead>> {
        let beads = self.beads.lock().unwrap_or_else(PoisonError::into_inner);
        beads.get(id).cloned()
    }

    pub(super) fn bead_and_place(
        &self,
        effect: &Effect,
    ) -> Result<(Arc<RalphBead>, Place), Trouble> {
        let bead = if let Some(bead) = self.known(&effect.bead) {
            bead
        } else {
            let record = fetch(&**self.store(), &effect.bead)?;
            let bead = record
                .issue
                .to_ralph_bead(&[], &self.site.rules)
                .map_err(|errors| {
                    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                    Trouble::for_bead(format!("the bead is not valid: {}", errors.join("; ")))
                })?;
            self.remember(bead)
        };
        let place = place(&self.site.root, &bead);
        Ok((bead, place))
    }

    fn prepare(
        &self,
        effect: &Effect,
        (also, base): (Option<&CommitId>, Option<&CommitId>),
        attempt: u32,
    ) -> Result<Answer, Trouble> {
        let (bead, place) = self.bead_and_place(effect)?;
        // Uncommitted work of others is kept, and does not belong to this attempt (Z-39).
        let mut aside = None;
        if let Ok(state) = self.repository.state(&place)
            && state.dirt.is_some()
            && state.branch.is_none_or(|branch| branch == place.branch)
        {
            let own = self.repository.branch(&place.branch)?;
            let own = own.unwrap_or(state.head);
            aside = self.repository.restore(&place, &own, attempt)?;
        }
        let until = self.lease_until();
        let (holder, stamp) = (&self.site.holder, self.stamp());
        (self.ports).take(&mut **self.store(), &bead.id, holder, until, stamp)?;
        let mut wanted = self.wanted(&bead)?;
        wanted.extend(also.map(|commit| Wanted {
            name: "the target branch".to_owned(),
            commit: commit.clone(),
        }));
        let origin = Origin {
            source: bead.metadata.source_branch.clone(),
            wanted,
        };
        let prepared = self.repository.prepare(&place, &origin)?;
        if prepared.conflicts.is_empty()
            && self.executor.set_up(&bead, &place)?
            && let Some(dirt) = self.repository.state(&place)?.dirt
        {
            let message = format!(
                "worktrees.setup left files that are neither committed nor ignored, and would count as work: {dirt}"
            );
            return Err(Trouble::for_bead(message));
        }
        let is_anew = match base {
            Some(base) => !self.repository.is_in(base, &prepared.head)?,
            None => false,
        };
        Ok(Answer::Prepared {
            from: match aside {
                Some(kept) => format!(
                    "{}; uncommitted files found there are not part of it and are kept: git show {}",
                    prepared.from,
                    kept.short()
                ),
                None => prepared.from,
            },
            is_anew,
            head: prepared.head,
            conflicts: prepared.conflicts,
            merging: prepared.merging.map(|wanted| wanted.name),
        })
    }

    fn agent(&self, effect: &Effect) -> Result<Answer, Trouble> {
        self.see_held(effect)?;
        let (bead, place) = self.bead_and_place(effect)?;
        let launch = effect
            .action
            .launch()
            .expect("only runs of agents come here");
        let job = Job {
            bead: &bead,
            place: &place,
            effect: effect.id,
            fence: effect.fence,
            launch,
        };
        Ok(match &effect.action {
            Action::Develop {
                agent, feedback, ..
            } => Answer::Ended {
                report: self.executor.develop(job, *agent, feedback.as_deref())?,
            },
            Action::Resolve { merging, files, .. } => Answer::Ended {
                report: self.executor.resolve(job, merging, files)?,
            },
            Action::Lead {
                only_pull,
                feedback,
                ..
            } => {
                let (report, claimed) = self.executor.lead(job, *only_pull, feedback.as_deref())?;
                Answer::Led {
                    report,
                    is_success: claimed.is_success,
                    is_fatal: claimed.is_fatal,
                    error: claimed.error,
                    qa_results: claimed.qa_results,
                }
            }
            Action::Judge {
                agent,
                commit,
                base,
                ..
            } => {
                let changed = self.repository.changed_files(base, commit)?;
                let (report, mut verdict) = self.executor.judge(job, *agent, &changed)?;
                if let Some(verdict) = &mut verdict
                    && verdict.status == QaStatus::Pass
                    && let Some(reason) = self.moved(&place, commit)
                {
                    verdict.status = QaStatus::Fail;
                    verdict.message = format!("the work changed while QA looked at it: {reason}");
                }
                Answer::Judged { report, verdict }
            }
            _ => unreachable!("only runs of agents come here"),
        })
    }

    /// Nobody begins in the worktree of a bead that became somebody else's while it waited.
    fn see_held(&self, effect: &Effect) -> Result<Record, Trouble> {
        let record = fetch(&**self.store(), &effect.bead)?;
        let held = record.claim.as_ref().map(|claim| claim.fence);
        if held == effect.fence {
            Ok(record)
        } else {
            Err(Trouble::lost("another process has claimed it"))
        }
    }

    /// How what is checked out differs from a commit, if it does. What cannot be told counts as a difference: nobody vouches for it.
    fn moved(&self, place: &Place, commit: &CommitId) -> Option<String> {
        let differs = self.differs(place, commit);
        differs.unwrap_or_else(|trouble| Some(trouble.message))
    }

    fn differs(&self, place: &Place, commit: &CommitId) -> Result<Option<String>, Trouble> {
        let state = self.repository.state(place)?;
        if state.head != *commit {
            return Ok(Some(format!("{} is checked out, not {commit}", state.head)));
        }
        Ok(state.dirt)
    }

    fn seal(&self, effect: &Effect, attempt: u32, base: &CommitId) -> Result<Answer, Trouble> {
        let (bead, place) = self.bead_and_place(effect)?;
        let message = format!("{} (attempt {attempt})\n\nBead: {}", bead.title, bead.id);
        let sealed = self.repository.seal(&place, base, &message)?;
        Ok(Answer::Sealed {
            commit: sealed.commit,
            tree: sealed.tree,
            n_changed: sealed.changed_files.len(),
            unresolved: sealed.unresolved,
            refused: sealed.refused,
        })
    }

    /// Runs the checks on exactly a commit: it must be checked out, and nothing else, before and after (Z-5, Z-29).
    fn verify(&self, effect: &Effect, attempt: u32, commit: &CommitId) -> Result<Answer, Trouble> {
        let record = self.see_held(effect)?;
        let (bead, place) = self.bead_and_place(effect)?;
        let verified = |is_green: bool, summary: String, is_cut_off: bool| Answer::Verified {
            commit: commit.clone(),
            is_green,
            summary,
            is_cut_off,
        };
        if let Some(reason) = self.differs(&place, commit)? {
            let summary = format!("the work changed after it was handed to QA: {reason}");
            return Ok(verified(false, summary, false));
        }
        // It was written into the bead when the work was sealed.
        let base = base_of(&record);
        let checked = (self.executor).verify(&bead, &place, attempt, commit, base.as_ref())?;
        if let Some(reason) = self.differs(&place, commit)?.filter(|_| checked.is_green) {
            let summary = format!("the work changed while it was checked: {reason}");
            return Ok(verified(false, summary, false));
        }
        Ok(verified(
            checked.is_green,
            checked.summary,
            checked.is_cut_off,
        ))
    }
}

pub fn place(root: &Utf8Path, bead: &RalphBead) -> Place {
    Place {
        bead: bead.id.clone(),
        branch: bead.metadata.branch.to_string(),
        worktree: normal(&root.join(&bead.metadata.worktree_path)),
    }
}

/// A path without `.` and `..`, so that two names of one place are equal.
pub(super) fn normal(path: &Utf8Path) -> Utf8PathBuf {
    let mut normal = Utf8PathBuf::new();
    for component in path.components() {
        match component {
            Utf8Component::ParentDir => {
                normal.pop();
            }
            Utf8Component::CurDir => {}
            other => normal.push(other),
        }
    }
    normal
}

//! The work on one bead, while it is ours.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::effect::{Action, EffectId, Note, Pull};
use super::{CommitId, Verdict};
use crate::bead::QaReport;
use crate::issue::Fence;

crate::text::word_enum! {
    /// Where the work on a bead is.
    #[derive(PartialOrd, Ord, Default, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Phase {
        /// It is being taken.
        #[default]
        Claiming = "claiming",
        /// Its worktree is made ready.
        Preparing = "preparing",
        /// An agent solves a conflict.
        Resolving = "solving a conflict",
        /// Dev agents work, or an agent leads.
        Developing = "developing",
        /// What was made is committed.
        Sealing = "committing",
        /// What happened is written down.
        Recording = "recording",
        /// QA agents judge.
        Judging = "in QA",
        /// The checks run.
        Verifying = "checking",
        /// It is merged, or pushed and proposed.
        HandingOver = "handing over",
        /// It is closed, given back, or handed to a person.
        Finishing = "finishing",
    }
}

/// What follows once what happened is written down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum AfterRecord {
    #[default]
    Judge,
    NextAttempt,
}

/// What follows once the worktree is a commit again.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum AfterRestore {
    /// The same again.
    Redo(Vec<Action>),
    /// The next attempt.
    #[default]
    NextAttempt,
    /// The bead is given back.
    Release,
}

/// That the work on a bead has no future.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Doom {
    /// It waits for a person.
    Block { reason: String, is_fatal: bool },
    /// It is given back as it was.
    Release,
}

impl Doom {
    /// The bead waits for a person; the others go on.
    pub(super) fn block(reason: String) -> Self {
        let is_fatal = false;
        Self::Block { reason, is_fatal }
    }

    /// A fault would meet every bead, so that nothing new is begun (L-8).
    pub(super) fn fatal(reason: String) -> Self {
        let is_fatal = true;
        Self::Block { reason, is_fatal }
    }
}

/// Something that waits for its time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Held {
    /// When it can go on; nothing when it waits for money.
    pub(super) until: Option<Timestamp>,
    /// What to do then.
    pub(super) action: Action,
    /// The effect that it was, where it is to be the same one.
    pub(super) again: Option<EffectId>,
    /// Why it waits, for people.
    pub(super) why: String,
}

/// What is remembered of an attempt that failed, to notice one that fails just so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) tree: Option<String>,
    pub(super) reason: String,
}

/// The work on one bead.
#[derive(Debug, Clone, Default)]
pub(super) struct Work {
    pub(super) fence: Option<Fence>,
    pub(super) phase: Phase,
    pub(super) since: Timestamp,
    pub(super) attempt: u32,
    pub(super) base: Option<CommitId>,
    /// What was checked out when the attempt began.
    pub(super) start: Option<CommitId>,
    pub(super) sealed: Option<CommitId>,
    pub(super) tree: Option<String>,
    pub(super) verified: Option<CommitId>,
    pub(super) feedback: Option<String>,
    /// What QA or the checks last found fault with; an agent that fails does not make it go away.
    pub(super) findings: Option<String>,
    pub(super) notes: Vec<Note>,
    pub(super) verdicts: BTreeMap<usize, (String, Verdict)>,
    /// What the leading agent says that its QA agents said.
    pub(super) qa_results: Vec<QaReport>,
    pub(super) failure: Option<Failure>,
    pub(super) held: Vec<Held>,
    pub(super) n_launches: u32,
    pub(super) n_tries: u32,
    /// How often somebody in the way was waited for.
    pub(super) n_waits: u32,
    pub(super) n_limits: u32,
    pub(super) n_pull_tries: u32,
    /// The head of the target branch that the work did not fit; it is merged in at the next attempt.
    pub(super) also: Option<CommitId>,
    /// What a conflict is being solved with.
    pub(super) merging: Option<String>,
    /// What the last conflict of this attempt was with that somebody said to have solved.
    pub(super) resolved: Option<String>,
    /// Whether the dev agents have nothing to do in this attempt but to solve the conflict.
    pub(super) is_only_merge: bool,
    /// Whether the worktree must be made ready anew at the next attempt.
    pub(super) needs_prepare: bool,
    pub(super) after_record: AfterRecord,
    pub(super) after_restore: AfterRestore,
    pub(super) pull: Option<Pull>,
    /// Which dev agent comes next.
    pub(super) next_agent: usize,
    /// Whether what was sealed is given back with the bead, to be judged by whoever goes on.
    pub(super) keeps_sealed: bool,
    /// Whether somebody has judged what was sealed, and may have left something in the worktree.
    pub(super) is_judged: bool,
    pub(super) doom: Option<Doom>,
    /// Whether its last word is being written.
    pub(super) is_ending: bool,
}

impl Work {
    pub(super) fn new(now: Timestamp) -> Self {
        Self {
            since: now,
            needs_prepare: true,
            ..Self::default()
        }
    }

    /// Whether the bead stands as this run knows it: it was claimed, or its last word is being written.
    pub(super) fn is_ours(&self) -> bool {
        self.fence.is_some() || self.is_ending
    }

    pub(super) fn enter(&mut self, phase: Phase, now: Timestamp) {
        if self.phase != phase {
            self.phase = phase;
            self.since = now;
        }
    }
}

/// How the work on a bead ended in this run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// It is closed.
    Closed {
        /// The commit that was verified.
        commit: CommitId,
        /// The pull request.
        pull: Option<String>,
    },
    /// It waits for a person.
    NeedsPerson {
        /// Why.
        reason: String,
    },
    /// It was given back.
    Released,
    /// It became somebody else's.
    Lost {
        /// How.
        reason: String,
    },
}

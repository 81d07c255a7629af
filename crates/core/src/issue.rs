//! What a store holds, and the rules that every store keeps (contracts §0.1, Z-2, Z-3, Z-21).
//!
//! An [`Issue`] is a document that loses nothing. Changing one ([`apply`]), finding some ([`Query`]),
//! deciding what waits for what ([`blockers`], [`is_ready`]), telling whether a holder is gone
//! ([`Claim::is_abandoned`]) or a molecule complete ([`close_completed`]) and folding a history back into what it
//! describes ([`fold`]) are decided here, so that stores differ in where they keep rows and in nothing else. Nothing here knows a
//! database, a clock or a process.

mod claim;
mod completion;
mod dependency;
mod edit;
mod event;
mod json;
mod model;
mod name;
mod query;
mod readiness;
mod wire;

pub use claim::{Abandoned, Claim, Fence, Holder, HolderProcess, Liveness};
pub use completion::{
    ALL_STEPS_COMPLETE, Family, Member, Parts, close_completed, is_made_of_parts, is_step,
};
pub use dependency::{Dependency, Effect, find_cycle};
pub use edit::{Change, Edit, EditError, apply, new_comment};
pub use event::{
    BorrowedFacts, Event, EventKind, Facts, FoldError, Folded, Side, difference, fold, removal,
};

pub use json::{
    Document, MAX_DOCUMENT_BYTES, MAX_DOCUMENT_DEPTH, forget_lease, has_become, is_same_content,
};
pub use model::{Comment, Issue};
pub use name::{Label, check_id};
pub use name::{LongTitle, MAX_TITLE, check_title};
pub use query::{Condition, Flag, Grouping, Moment};
pub use query::{Order, Query, StatusFilter, metadata_text};
pub use readiness::{
    Blocker, HIDDEN, NOT_WORK, Neighbours, Standing, Waiting, blockers, is_hidden, is_ready,
};
pub use readiness::{WISP_LIFETIME, expiry, is_expired, is_wisp};
pub use wire::OwnMetadata;
pub use wire::{Entry, Line, counts, read_line};

/// An issue as a store holds it, with what the store knows about it beside its document.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The issue.
    pub issue: Issue,
    /// How often the issue has changed since it came; the first version is 1.
    pub version: u64,
    /// The fence of its latest claim; it only ever rises (Z-2).
    pub fence: Fence,
    /// Whether something that it depends on holds it back.
    pub is_blocked: bool,
    /// Who holds it, if somebody does.
    pub claim: Option<Claim>,
    /// How many comments it has.
    pub n_comments: usize,
}

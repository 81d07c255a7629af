//! Pouring: a compiled formula into a store, all of it or nothing (F-6, F-8, F-10).
//!
//! A molecule's number is the next after those that there are. Whoever is faster takes it, and the slower one takes the next: what
//! is written is one batch, so nothing has to be taken back.

use std::collections::BTreeMap;

use beads_ralph_core::bead::{BeadId, FieldError};
use beads_ralph_core::formula::{Molecule, Pouring};
use beads_ralph_core::issue::{Document, Edit, Entry, Issue, Record};
use beads_ralph_core::vocabulary::metadata;
use thiserror::Error;

use crate::store::{Guard, Stamp, Store, StoreError, Write};

/// What is to be poured.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    pub molecule: &'a Molecule,
    /// Others that become parts of it.
    pub attached: &'a [Molecule],
    /// Who is to look after the root.
    pub assignee: Option<&'a str>,
    pub labels: &'a [String],
    /// Whether it vanishes.
    pub is_wisp: bool,
    /// The bead that it is poured for, as it was when that was decided: it learns of the root, in `metadata.molecule`, and nothing is
    /// poured when somebody else changed it meanwhile (Z-36).
    pub for_bead: Option<&'a Record>,
}

/// A molecule that was poured, or would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Poured {
    pub formula: String,
    pub root: BeadId,
    /// The beads of its steps and gates, in the order of the formula, each with its name in the formula.
    pub parts: Vec<(String, BeadId)>,
}

#[derive(Debug, Error)]
pub enum PourError {
    /// A bead would not be one that a store takes.
    #[error("a bead of the formula cannot be kept: {}", .0.first().map(ToString::to_string).unwrap_or_default())]
    Invalid(Vec<FieldError>),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Beads that are ready to be written, with what they are.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The molecules, the main one first.
    pub poured: Vec<Poured>,
    pub issues: Vec<Issue>,
}

/// What a pour would write now. No number is taken by asking.
pub fn draft(store: &dyn Store, order: &Order<'_>, by: Stamp<'_>) -> Result<Draft, PourError> {
    let mut draft = Draft {
        poured: Vec::new(),
        issues: Vec::new(),
    };
    let now = by.time();
    let mut numbers = Numbers::default();
    for molecule in std::iter::once(order.molecule).chain(order.attached) {
        let is_main = draft.poured.is_empty();
        let root = numbers.next(store, &molecule.formula)?;
        let main = draft.poured.first().map(|main| main.root.to_string());
        let pouring = Pouring {
            root: root.as_str(),
            assignee: order.assignee.filter(|_| is_main),
            labels: if is_main { order.labels } else { &[] },
            parent: main.as_deref(),
            is_wisp: order.is_wisp,
            now: &now,
            actor: by.actor,
        };
        let issues = molecule.issues(&pouring).map_err(PourError::Invalid)?;
        let ids = issues.iter().skip(1).map(|issue| issue.id().clone());
        let names = molecule.steps.iter().map(|step| step.id.clone());
        draft.poured.push(Poured {
            formula: molecule.formula.clone(),
            root,
            parts: names.zip(ids).collect(),
        });
        draft.issues.extend(issues);
    }
    Ok(draft)
}

/// Pours. What comes back is in the store.
pub fn pour(
    store: &mut dyn Store,
    order: &Order<'_>,
    by: Stamp<'_>,
) -> Result<Vec<Poured>, PourError> {
    let mut last: Option<Vec<Poured>> = None;
    loop {
        let draft = draft(store, order, by)?;
        let is_new = last.as_ref() != Some(&draft.poured);
        let entries = draft.issues.into_iter().map(Entry::new);
        let inserts = entries.map(|entry| Write::Insert(Box::new(entry)));
        let main = draft.poured.first().map(|main| &main.root);
        let told = (order.for_bead.zip(main)).map(|(bead, root)| linked(bead, root));
        let batch: Vec<Write> = inserts.chain(told).collect();
        match store.write(&batch, by) {
            Ok(_) => return Ok(draft.poured),
            // Whoever was faster has moved the numbers on; otherwise somebody else has the id of a step.
            Err(StoreError::Exists(_)) if is_new => last = Some(draft.poured),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Tells a bead of its molecule, if it is still as it was.
fn linked(bead: &Record, root: &BeadId) -> Write {
    let mut metadata = Document::new();
    metadata.insert(metadata::MOLECULE.to_owned(), root.as_str().into());
    Write::Update {
        id: bead.issue.id().clone(),
        edits: vec![Edit::MergeMetadata(metadata)],
        guard: Guard {
            version: Some(bead.version),
            ..Guard::default()
        },
    }
}

/// The numbers that molecules get, counted on from those that a store has.
#[derive(Debug, Default)]
pub struct Numbers(BTreeMap<String, u64>);

impl Numbers {
    /// The id of the next molecule of a formula: `bd-<formula>-<NNN>`, three digits or more. Nothing is taken in the store.
    pub fn next(&mut self, store: &dyn Store, formula: &str) -> Result<BeadId, StoreError> {
        let prefix = format!("bd-{formula}-");
        let last = match self.0.get(formula) {
            Some(last) => *last,
            None => last_number(store, &prefix)?,
        };
        let next = last.saturating_add(1);
        self.0.insert(formula.to_owned(), next);
        let id = BeadId::parse(&format!("{prefix}{next:03}"));
        Ok(id.expect("an id with a prefix is not empty"))
    }
}

fn last_number(store: &dyn Store, prefix: &str) -> Result<u64, StoreError> {
    let number = |id: &BeadId| -> Option<u64> {
        let rest = id.as_str().strip_prefix(prefix)?;
        let digits = rest.split_once('-').map_or(rest, |(digits, _)| digits);
        let is_number = digits.len() >= 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().ok()).flatten()
    };
    let ids = store.ids_with_prefix(prefix, usize::MAX)?;
    Ok(ids.iter().filter_map(number).max().unwrap_or_default())
}

//! `human resolve`: records a person's answer and lets the work go on, in one step (Z-36).
//!
//! Data: `{id, kind, resolved: bool, accepted: bool, answer, changed: [{id, status}]}`; `resolved` is false, and `kind` null, when nothing waited.

use std::collections::HashSet;
use std::io;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::implement::{
    Stage, accept_step, answer_note, answer_source, redo_step, stage_of,
};
use beads_ralph_core::issue::{Edit, Label, Record, Standing, new_comment};
use beads_ralph_core::molecule::Step;
use beads_ralph_core::text::{excerpt, visible};
use beads_ralph_core::vocabulary::label;
use beads_ralph_core::watchdog;
use beads_ralph_runtime::app::beads::{
    Authority, Beads, Writer, refuse_retry, reopening, until_settled,
};
use beads_ralph_runtime::store::{Guard, StoreError, Write};
use beads_ralph_runtime::{os::clock, os::files, os::host};
use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde::Serialize;

use super::waiting::{Kind, Waiting};
use crate::args::Global;
use crate::failure::Failure;
use crate::ui::Ui;
use crate::ui::bead_view::named;

#[derive(Debug, Args)]
pub(crate) struct HumanResolveArgs {
    /// The bead, or the step of its molecule that waits
    pub(crate) id: String,
    /// The answer; it is kept with the bead
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) answer: Option<String>,
    /// Read the answer from a file; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "answer")]
    pub(crate) answer_file: Option<Utf8PathBuf>,
    /// Accept the step as it is instead of repeating it
    #[arg(long)]
    pub(crate) accept: bool,
    /// Repeat everything from this stage on, such as green-loop
    #[arg(long, value_name = "STAGE", conflicts_with = "accept")]
    pub(crate) redo: Option<String>,
}

/// The answer when none is given.
const RESOLVED: &str = "resolved";

/// What became of it: the bead, and what waited with the beads that changed.
struct Settled {
    bead: Record,
    done: Option<(Kind, Vec<Record>)>,
}

pub(super) fn run(args: &HumanResolveArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let answer = answer(args)?;
    let mut beads = global.open()?;
    let settled = until_settled(|| turn(args, &answer, &mut beads))?;
    if ui.is_json() {
        return ui.data(&to_json(&settled, &answer, args.accept));
    }
    ui.out(&said(&settled))
}

fn answer(args: &HumanResolveArgs) -> Result<String, Failure> {
    let refused = |why: &str| {
        Failure::new(ErrorCode::ValidationConstraint, why)
            .action("write the answer behind --answer, or into the file of --answer-file")
    };
    let Some(path) = &args.answer_file else {
        let said = args.answer.as_deref().unwrap_or(RESOLVED);
        return Ok(said.trim().to_owned());
    };
    let bytes = match path.as_str() {
        "-" => files::read_limited(io::stdin().lock(), Utf8Path::new("-"))?,
        _ => files::read(path)?,
    };
    let text = String::from_utf8(bytes).map_err(|_| refused("the answer is not UTF-8"))?;
    match text.trim() {
        "" => Err(refused("the answer is empty")),
        text => Ok(text.to_owned()),
    }
}

/// Looks and writes, once. `None` when somebody changed one of the beads between the two.
fn turn(
    args: &HumanResolveArgs,
    answer: &str,
    beads: &mut Beads,
) -> Result<Option<Settled>, Failure> {
    let (bead, waiting) = super::named(beads, &args.id)?;
    let Some(waiting) = waiting else {
        return Ok(Some(Settled { bead, done: None }));
    };
    let changes = match &args.redo {
        Some(stage) => redo_from(&waiting, stage, &answer_note(answer, beads.by.actor()))?,
        None => changes(&waiting, answer, args.accept, beads)?,
    };
    let mut batch = Vec::new();
    for (record, mut edits) in changes {
        refuse_held(record, beads.by.actor())?;
        if waiting.kind == Kind::Implement {
            edits.extend(watchdog::forgiven(&record.issue));
        }
        batch.push(write(record, edits, beads));
    }
    // A store that is told bead by bead may be cut off in between: as long as the bead itself waits, nobody goes past a step that waits.
    batch.reverse();
    match beads.store.write(&batch, beads.by.stamp()) {
        Ok(_) => {}
        Err(StoreError::Guard { .. } | StoreError::NotFound(_)) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let ids = batch.iter().rev().map(|write| write.id().clone());
    let ids: Vec<_> = ids.collect();
    let done = Some((waiting.kind, beads.store.get(&ids)?));
    Ok(Some(Settled { bead, done }))
}

/// What is to be done to which bead.
fn changes<'w>(
    waiting: &'w Waiting,
    answer: &str,
    is_accepted: bool,
    beads: &Beads,
) -> Result<Vec<(&'w Record, Vec<Edit>)>, Failure> {
    let record = &waiting.record;
    let mut edits = match waiting.kind {
        Kind::Implement => return Ok(of_implement(waiting, answer, is_accepted, beads.by.actor())),
        Kind::Merge => {
            let reason = match answer {
                RESOLVED => "merged by a person".to_owned(),
                answer => format!("merged by a person: {answer}"),
            };
            vec![
                Edit::RemoveLabel(label::MERGE_READY.to_owned()),
                Edit::Close(reason),
            ]
        }
        Kind::Run if !is_accepted => {
            refuse_retry(record)?;
            let stamp = beads.by.stamp();
            let comment = new_comment(record.issue.id(), stamp.actor, answer, &stamp.time());
            let mut edits = reopening(record);
            edits.push(Edit::Comment(comment));
            edits
        }
        Kind::Run | Kind::Gate => {
            beads.refuse_while_blocked(record)?;
            vec![Edit::Close(answer.to_owned())]
        }
    };
    if waiting.kind == Kind::Run && is_accepted && record.issue.has_label(label::HUMAN) {
        edits.push(Edit::RemoveLabel(label::HUMAN.to_owned()));
    }
    Ok(vec![(record, edits)])
}

/// The bead and its steps that wait, and for a step that is done again whatever it is a part of and was closed with it.
fn of_implement<'w>(
    waiting: &'w Waiting,
    answer: &str,
    is_accepted: bool,
    actor: &str,
) -> Vec<(&'w Record, Vec<Edit>)> {
    let note = answer_note(answer, actor);
    let source = &waiting.record;
    let mut of_source = answer_source(&source.issue, &note);
    let is_last = waiting.stage().as_deref() == Some(Stage::MergeOrHandoff.as_str());
    if is_accepted && is_last {
        // There is no next step: what is left is a person's to merge.
        of_source.push(Edit::AddLabel(
            Label::parse(label::MERGE_READY).expect("the word is a label"),
        ));
    }
    let mut changes = vec![(source, of_source)];
    let mut opened = HashSet::new();
    for (molecule, step) in waiting.steps() {
        if is_accepted {
            changes.push((step, accept_step(&step.issue, &note, answer)));
            continue;
        }
        if !waiting.is_done_again(step) {
            // Somebody went past it long ago, and took the label off the bead alone.
            changes.push((step, vec![Edit::RemoveLabel(label::HUMAN.to_owned())]));
            continue;
        }
        changes.push((step, redo_step(&step.issue, &note)));
        let mut below = vec![step];
        while let Some(part) = below.pop() {
            let wholes = molecule.all().filter(|whole| {
                let is_whole = part.issue.parents().any(|id| id == whole.issue.id());
                is_whole && opened.insert(whole.issue.id())
            });
            for whole in wholes.collect::<Vec<_>>() {
                below.push(whole);
                let is_closed = whole.issue.standing() == Standing::Closed;
                if is_closed && !whole.issue.has_label(label::HUMAN) {
                    changes.push((whole, vec![Edit::Reopen]));
                }
            }
        }
    }
    changes
}

/// What is done again from a stage on: its step is told the answer, and every later one is open again.
fn redo_from<'w>(
    waiting: &'w Waiting,
    stage: &str,
    note: &str,
) -> Result<Vec<(&'w Record, Vec<Edit>)>, Failure> {
    let no = |message: String| {
        Failure::new(ErrorCode::ValidationConstraint, message)
            .action("leave --redo out to do again what waits")
    };
    let is_known = matches!(waiting.kind, Kind::Implement | Kind::Merge);
    let Some(molecule) = waiting.molecule().filter(|_| is_known) else {
        return Err(no("it has no stages that could be done again".to_owned()));
    };
    let steps: Vec<&Record> = molecule.steps().iter().map(Step::record).collect();
    let is_it = |step: &&Record| stage_of(&step.issue).as_deref() == Some(stage);
    let Some(first) = steps.iter().position(is_it) else {
        let stages: Vec<String> = steps.iter().filter_map(|it| stage_of(&it.issue)).collect();
        let stages = stages.join(", ");
        return Err(no(format!(
            "unknown stage `{}`; the stages are {stages}",
            excerpt(stage)
        )));
    };
    let mut source = answer_source(&waiting.record.issue, note);
    source.push(Edit::RemoveLabel(label::MERGE_READY.to_owned()));
    let mut changes = vec![(&waiting.record, source)];
    for (at, step) in steps.iter().enumerate().skip(first) {
        let issue = &step.issue;
        if at == first {
            changes.push((*step, redo_step(issue, note)));
        } else if issue.standing() == Standing::Closed || issue.has_label(label::HUMAN) {
            let mut edits = vec![Edit::RemoveLabel(label::HUMAN.to_owned())];
            if issue.standing() == Standing::Closed {
                edits.push(Edit::Reopen);
            }
            changes.push((*step, edits));
        }
    }
    if molecule.root().issue.standing() == Standing::Closed {
        changes.push((molecule.root(), vec![Edit::Reopen]));
    }
    Ok(changes)
}

/// Refuses what somebody else works on: a person's answer must not be told in the middle of it.
fn refuse_held(record: &Record, actor: &str) -> Result<(), Failure> {
    let Some(claim) = &record.claim else {
        return Ok(());
    };
    let is_gone = claim.is_abandoned(clock::now(), &host::name(), host::liveness);
    if Writer::fence_of(record, actor).is_some() || is_gone.is_some() {
        return Ok(());
    }
    let held = StoreError::Held {
        id: record.issue.id().clone(),
        holder: Box::new(claim.holder.clone()),
        fence: claim.fence,
        lease_until: claim.lease_until,
    };
    Err(held.into())
}

fn write(record: &Record, edits: Vec<Edit>, beads: &Beads) -> Write {
    Write::Update {
        id: record.issue.id().clone(),
        edits,
        guard: Guard {
            version: Some(record.version),
            // Nobody alive holds it any more: that was looked at.
            is_forced: record.claim.is_some()
                && Writer::fence_of(record, beads.by.actor()).is_none(),
            ..beads.by.guard(record, Authority::Own)
        },
    }
}

/// What became of it, for programs.
#[derive(Serialize)]
struct Resolution<'s> {
    id: &'s BeadId,
    kind: Option<&'static str>,
    resolved: bool,
    accepted: bool,
    answer: &'s str,
    changed: Vec<ChangedBead<'s>>,
}

#[derive(Serialize)]
struct ChangedBead<'s> {
    id: &'s BeadId,
    status: &'s str,
}

fn to_json<'s>(settled: &'s Settled, answer: &'s str, is_accepted: bool) -> Resolution<'s> {
    let changed = |record: &'s Record| ChangedBead {
        id: record.issue.id(),
        status: record.issue.status(),
    };
    let records = settled.done.iter().flat_map(|(_, records)| records);
    Resolution {
        id: settled.bead.issue.id(),
        kind: settled.done.as_ref().map(|(kind, _)| kind.as_str()),
        resolved: settled.done.is_some(),
        accepted: is_accepted,
        answer,
        changed: records.map(changed).collect(),
    }
}

fn said(settled: &Settled) -> String {
    let Some((_, records)) = &settled.done else {
        return format!("{} does not wait for a person\n", named(&settled.bead));
    };
    let lines = records.iter().map(|record| {
        let status = visible(record.issue.status());
        format!("  {} is {status}\n", named(record))
    });
    let lines: String = lines.collect();
    format!("resolved {}\n{lines}", named(&settled.bead))
}

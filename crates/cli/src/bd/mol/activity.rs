//! `bd mol progress` and `bd mol last-activity`: figures about what is directly below a root.

use beads_ralph_core::bead::{BeadId, Timestamp};
use beads_ralph_core::issue::Record;
use beads_ralph_core::vocabulary::EdgeType;
use serde_json::json;

use super::super::call::{Call, Opened};
use super::super::failure::Refusal;
use super::super::text::{push, title_of};
use super::{family, found};

/// What is directly below a root, by edges, of the same kind: the steps of a wisp are wisps.
pub(super) fn direct(opened: &Opened, root: &BeadId) -> Result<Vec<Record>, Refusal> {
    let dependents = opened.store.dependents(root)?.into_iter();
    let children = dependents.filter(|(_, kind)| kind == EdgeType::ParentChild);
    let ids: Vec<BeadId> = children.map(|(child, _)| child).collect();
    let is_wisp = |record: &Record| record.issue.flag("ephemeral");
    let is_root_wisp = opened.record(root)?.as_ref().is_some_and(is_wisp);
    let mut records = opened.store.get(&ids)?;
    records.retain(|record| is_wisp(record) == is_root_wisp);
    Ok(records)
}

/// How far a molecule is.
struct Figures {
    n_all: usize,
    n_done: usize,
    n_current: usize,
    current: Option<BeadId>,
}

impl Figures {
    fn of(opened: &Opened, root: &BeadId) -> Result<Self, Refusal> {
        let children = direct(opened, root)?;
        let with = |status: &'static str| {
            let children = children.iter().map(|child| &child.issue);
            children.filter(move |child| child.status() == status)
        };
        Ok(Self {
            n_all: children.len(),
            n_done: with("closed").count(),
            n_current: with("in_progress").count(),
            current: with("in_progress").next().map(|child| child.id().clone()),
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "no molecule has 2^52 steps")]
    fn percent(&self) -> f64 {
        if self.n_all == 0 {
            return 0.0;
        }
        self.n_done as f64 * 100.0 / self.n_all as f64
    }

    /// The line about the step that somebody works on.
    fn current_line(&self) -> String {
        let current = self.current.as_ref();
        current.map_or_else(String::new, |id| format!("Current step: {id}\n"))
    }
}

pub(super) fn progress(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    let root = match call.arguments.words.first() {
        Some(named) => Some(found(&opened, named)?),
        None => family::in_progress(&opened, opened.actor())?
            .into_iter()
            .next(),
    };
    let Some(root) = root else {
        return if call.output.is_json() {
            call.output.value(json!([]))
        } else {
            call.output
                .text("No molecules in progress.\n\nUse: bd mol progress <molecule-id>\n")
        };
    };
    let issue = &root.issue;
    let figures = Figures::of(&opened, issue.id())?;
    if call.output.is_json() {
        let current = figures.current.as_ref().map_or("", BeadId::as_str);
        let mut object = json!({
            "molecule_id": issue.id().as_str(),
            "molecule_title": issue.title(),
            "total": figures.n_all,
            "completed": figures.n_done,
            "in_progress": figures.n_current,
            "current_step_id": current,
        });
        if figures.n_all > 0 {
            object["percent"] = figures.percent().into();
        }
        return call.output.value(object);
    }
    call.output.text(&format!(
        "Molecule: {} ({})\nProgress: {} / {} ({:.1}%)\n{}",
        issue.id(),
        title_of(issue),
        grouped(figures.n_done),
        grouped(figures.n_all),
        figures.percent(),
        figures.current_line()
    ))
}

/// A number with commas between thousands.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// What people are told of a molecule with very many steps.
pub(super) fn summary(opened: &Opened, root: &Record) -> Result<String, Refusal> {
    let (id, title) = (root.issue.id(), title_of(&root.issue));
    let figures = Figures::of(opened, id)?;
    let (n_done, n_all, percent) = (figures.n_done, figures.n_all, figures.percent());
    let mut page = format!(
        "Molecule: {id}\n  {title}\n\nProgress: {n_done} / {n_all} steps ({percent:.1}%)\n{}",
        figures.current_line()
    );
    push(
        &mut page,
        format_args!(
            "\nNote: This molecule has {n_all} steps (threshold: 100).\nTo view steps, use one of:\n  bd mol current {id} --limit 50        # First 50 steps\n  bd mol current {id} --range 1-50     # Steps 1-50\n  bd mol progress {id}                 # Efficient progress summary\n"
        ),
    );
    if let Some(step) = &figures.current {
        push(
            &mut page,
            format_args!("\n💡 Run `bd show {step}` to see detailed instructions.\n"),
        );
    }
    Ok(page)
}

pub(super) fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let opened = call.open()?;
    let root = found(&opened, &call.arguments.words[0])?;
    let children = direct(&opened, root.issue.id())?;
    let latest = |key: &str| {
        let times = children
            .iter()
            .filter_map(|it| Some((it.issue.time(key)?, it)));
        times.max_by_key(|(at, _)| *at)
    };
    let (at, source, step) = match (latest("updated_at"), latest("closed_at")) {
        (Some((updated, _)), Some((closed, step))) if closed > updated => {
            (closed, "step_closed", Some(step))
        }
        (Some((updated, step)), _) => (updated, "step_updated", Some(step)),
        (None, _) => {
            let at = root.issue.time("updated_at").unwrap_or_default();
            (at, "molecule_updated", None)
        }
    };
    let at = Timestamp::from_instant(at);
    if !call.output.is_json() {
        return call.output.text(&format!("{}\n", at.as_str()));
    }
    let mut object = json!({
        "molecule_id": root.issue.id().as_str(), "last_activity": at.as_str(), "source": source,
    });
    if let Some(step) = step {
        object["source_step_id"] = step.issue.id().as_str().into();
    }
    call.output.value(object)
}

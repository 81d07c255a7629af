//! `bd mol progress` and `bd mol last-activity`: figures about what is directly below a root.

use beads_ralph_core::bead::{BeadId, Timestamp};
use beads_ralph_core::issue::Record;
use beads_ralph_core::vocabulary::Status;
use serde::Serialize;

use super::{family, found};
use crate::bd::{Call, Opened, Refusal, title_of};
use crate::ui::format::count;

/// What is directly below a root, by edges, of the same kind: the steps of a wisp are wisps.
pub(super) fn direct(opened: &Opened, root: &BeadId) -> Result<Vec<Record>, Refusal> {
    let ids = opened.children(root)?;
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
        let with = |status: Status| {
            let children = children.iter().map(|child| &child.issue);
            children.filter(move |child| child.status() == status)
        };
        Ok(Self {
            n_all: children.len(),
            n_done: with(Status::Closed).count(),
            n_current: with(Status::InProgress).count(),
            current: with(Status::InProgress)
                .next()
                .map(|child| child.id().clone()),
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
        return call.output.answer([(); 0], || {
            "No molecules in progress.\n\nUse: bd mol progress <molecule-id>\n".to_owned()
        });
    };
    let issue = &root.issue;
    let figures = Figures::of(&opened, issue.id())?;
    let answer = ProgressAnswer {
        molecule_id: issue.id().as_str(),
        molecule_title: issue.title(),
        total: figures.n_all,
        completed: figures.n_done,
        in_progress: figures.n_current,
        current_step_id: figures.current.as_ref().map_or("", BeadId::as_str),
        percent: (figures.n_all > 0).then(|| figures.percent()),
    };
    call.output.answer(answer, || {
        format!(
            "Molecule: {} ({})\nProgress: {} / {} ({:.1}%)\n{}",
            issue.id(),
            title_of(issue),
            count(figures.n_done as u64),
            count(figures.n_all as u64),
            figures.percent(),
            figures.current_line()
        )
    })
}

#[derive(Serialize)]
struct ProgressAnswer<'p> {
    molecule_id: &'p str,
    molecule_title: &'p str,
    total: usize,
    completed: usize,
    in_progress: usize,
    current_step_id: &'p str,
    #[serde(skip_serializing_if = "Option::is_none")]
    percent: Option<f64>,
}

#[derive(Serialize)]
struct LastActivityAnswer<'p> {
    molecule_id: &'p str,
    last_activity: &'p str,
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_step_id: Option<&'p str>,
}

/// The page for a molecule with very many steps.
pub(super) fn summary(opened: &Opened, root: &Record) -> Result<String, Refusal> {
    let (id, title) = (root.issue.id(), title_of(&root.issue));
    let figures = Figures::of(opened, id)?;
    let (n_done, n_all, percent) = (figures.n_done, figures.n_all, figures.percent());
    let mut page = format!(
        "Molecule: {id}\n  {title}\n\nProgress: {n_done} / {n_all} steps ({percent:.1}%)\n{}",
        figures.current_line()
    );
    push!(
        page,
        "\nNote: This molecule has {n_all} steps (threshold: 100).\nTo view steps, use one of:\n  bd mol current {id} --limit 50        # First 50 steps\n  bd mol current {id} --range 1-50     # Steps 1-50\n  bd mol progress {id}                 # Efficient progress summary\n"
    );
    if let Some(step) = &figures.current {
        push!(
            page,
            "\n💡 Run `bd show {step}` to see detailed instructions.\n"
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
    let answer = LastActivityAnswer {
        molecule_id: root.issue.id().as_str(),
        last_activity: at.as_str(),
        source,
        source_step_id: step.map(|step| step.issue.id().as_str()),
    };
    call.output.answer(answer, || format!("{}\n", at.as_str()))
}

//! `bd mol current`: where one is in a molecule (F-13, Z-24).
//!
//! Beside what the real `bd` tells, each molecule has `id`, `status`, `title` and `role` of the step that is meant. When it is complete,
//! the status is `closed`; when nothing can be started, it is `blocked`.

use beads_ralph_core::issue::{Issue, Record};
use beads_ralph_core::text::excerpt;
use beads_ralph_core::vocabulary::{EdgeType, IssueType, Status, label, metadata};
use serde::Serialize;
use serde_json::Value;

use super::family::Family;
use super::{family, found};
use crate::bd::issue_json::IssueJson;
use crate::bd::{Call, Filter, Opened, Refusal, issue_json, title_of};

/// From how many steps on people get a summary.
const LARGE: usize = 100;

/// A step and where it is.
struct Step {
    record: Record,
    place: &'static str,
}

/// A molecule and where one is in it.
struct Standing {
    root: Record,
    steps: Vec<Step>,
    n_done: usize,
    n_all: usize,
    current: Option<Record>,
    next: Option<Record>,
}

pub(super) fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let opened = call.open()?;
    let range = match arguments.filled("range") {
        Some(given) => Some(
            range(given).map_err(|why| Refusal::json(format!("invalid range '{given}': {why}")))?,
        ),
        None => None,
    };
    let limit = usize::try_from(arguments.number("limit").unwrap_or(0)).unwrap_or(0);
    let Some(named) = arguments.words.first() else {
        return own(call, &opened);
    };
    let root = found(&opened, named)?;
    let n_children = super::activity::direct(&opened, root.issue.id())?.len();
    if n_children > LARGE && limit == 0 && range.is_none() && !call.output.is_json() {
        return call.output.text(&super::activity::summary(&opened, &root)?);
    }
    let mut standing = Standing::of(&Family::load(&opened, root)?);
    if let Some((first, last)) = range {
        let steps = std::mem::take(&mut standing.steps).into_iter();
        standing.steps = steps.skip(first - 1).take(last - first + 1).collect();
    } else if limit > 0 {
        standing.steps.truncate(limit);
    }
    shown(call, &[standing])
}

/// The molecules that somebody works on.
fn own(call: &Call<'_>, opened: &Opened) -> Result<(), Refusal> {
    let whose = call
        .arguments
        .filled("for")
        .unwrap_or_else(|| opened.actor());
    let mut roots = family::in_progress(opened, whose)?;
    if roots.is_empty() {
        roots = hooked(opened, whose)?;
    }
    if roots.is_empty() && !call.output.is_json() {
        return call.output.text(&format!(
            "No molecules in progress for {whose}.\n\nTo start work on a molecule:\n  bd mol wisp create <proto-id>  # Instantiate as ephemeral wisp\n  bd update <step-id> --claim  # Claim a step\n"
        ));
    }
    roots.sort_by(|a, b| a.issue.id().cmp(b.issue.id()));
    let mut all = Vec::new();
    for root in roots {
        all.push(Standing::of(&Family::load(opened, root)?));
    }
    shown(call, &all)
}

/// The epics that somebody has hooked, and those that what is hooked waits for.
fn hooked(opened: &Opened, whose: &str) -> Result<Vec<Record>, Refusal> {
    let filter = Filter {
        statuses: vec![Status::Hooked.into()],
        assignee: Some(whose.to_owned()),
        ..Filter::default()
    };
    let mut roots: Vec<Record> = Vec::new();
    let is_epic = |record: &Record| record.issue.issue_type() == IssueType::Epic;
    for record in filter.find(opened)? {
        let edges = record.issue.dependencies().iter();
        let blocking = edges.filter(|edge| edge.kind() == EdgeType::Blocks);
        let targets: Vec<_> = blocking.map(|edge| edge.target().clone()).collect();
        if is_epic(&record) {
            roots.push(record);
            continue;
        }
        let waited = opened.store.get(&targets)?.into_iter();
        roots.extend(waited.filter(|it| is_epic(it) || it.issue.has_label(label::TEMPLATE)));
    }
    roots.dedup_by(|a, b| a.issue.id() == b.issue.id());
    Ok(roots)
}

/// `1-50`, from 1.
fn range(text: &str) -> Result<(usize, usize), String> {
    let parts: Vec<&str> = text.split('-').collect();
    let [first, last] = parts.as_slice() else {
        return Err("expected format 'start-end' (e.g., '1-50')".to_owned());
    };
    let number = |what: &str, part: &str| {
        let part = part.trim();
        let wrong = |_| {
            format!(
                "invalid {what}: strconv.Atoi: parsing \"{}\": invalid syntax",
                excerpt(part)
            )
        };
        part.parse::<usize>().map_err(wrong)
    };
    let (first, last) = (number("start", first)?, number("end", last)?);
    if first < 1 {
        return Err("start must be >= 1".to_owned());
    }
    if last < first {
        return Err("end must be >= start".to_owned());
    }
    Ok((first, last))
}

#[derive(Serialize)]
struct Answer<'s> {
    id: Option<&'s str>,
    status: &'s str,
    title: Option<&'s str>,
    role: Option<&'s str>,
    molecule_id: &'s str,
    molecule_title: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    assignee: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_step: Option<IssueJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_step: Option<IssueJson>,
    /// Null where there are none.
    steps: Option<Vec<StepAnswer>>,
    completed: usize,
    total: usize,
}

#[derive(Serialize)]
struct StepAnswer {
    issue: IssueJson,
    status: &'static str,
    is_current: bool,
}

impl Standing {
    fn of(family: &Family) -> Self {
        let waiting = family.waiting();
        let mut standing = Self {
            root: family.root().clone(),
            steps: Vec::new(),
            n_done: 0,
            n_all: family.steps().len(),
            current: None,
            next: None,
        };
        for record in family.steps() {
            let is_free = !waiting.contains(record.issue.id());
            let place = match Status::known(record.issue.status()) {
                Some(Status::Closed) => "done",
                Some(Status::InProgress) => "current",
                Some(Status::Blocked) => "blocked",
                Some(Status::Open) if is_free => "ready",
                _ => "pending",
            };
            match place {
                "done" => standing.n_done += 1,
                "current" => standing.current = Some(record.clone()),
                "ready" if standing.next.is_none() => standing.next = Some(record.clone()),
                _ => {}
            }
            let record = record.clone();
            standing.steps.push(Step { record, place });
        }
        let steps: Vec<_> = family.steps().iter().map(|it| it.issue.id()).collect();
        let n_needs = |record: &Record| {
            let edges = record.issue.dependencies().iter();
            let needs = edges.filter(|edge| edge.kind() == EdgeType::Blocks);
            needs.filter(|edge| steps.contains(&edge.target())).count()
        };
        standing.steps.sort_by_key(|step| n_needs(&step.record));
        standing
    }

    /// The step that is meant.
    fn meant(&self) -> Option<&Record> {
        self.current.as_ref().or(self.next.as_ref())
    }

    fn answer(&self) -> Answer<'_> {
        let root = &self.root.issue;
        // The first four keys are ours (Z-24).
        let meant = self.meant().map(|record| &record.issue);
        let status = match meant {
            Some(step) => step.status(),
            None if self.n_done == self.n_all => Status::Closed.as_str(),
            None => Status::Blocked.as_str(),
        };
        let steps = self.steps.iter().map(|step| StepAnswer {
            issue: issue_json::issue(&step.record),
            status: step.place,
            is_current: step.place == "current",
        });
        Answer {
            id: meant.map(|step| step.id().as_str()),
            status,
            title: meant.map(Issue::title),
            role: meant.map(|step| self.role(step)),
            molecule_id: root.id().as_str(),
            molecule_title: root.title(),
            assignee: root.assignee(),
            current_step: self.current.as_ref().map(issue_json::issue),
            next_step: self.next.as_ref().map(issue_json::issue),
            steps: Some(steps.collect()).filter(|_| !self.steps.is_empty()),
            completed: self.n_done,
            total: self.n_all,
        }
    }

    /// The stage of a step, or else what its id adds to that of the molecule.
    fn role<'s>(&self, step: &'s Issue) -> &'s str {
        let stage = step.metadata().and_then(|map| map.get(metadata::STAGE));
        let start = format!("{}-", self.root.issue.id());
        let id = step.id().as_str();
        let own = id.strip_prefix(&start).unwrap_or(id);
        stage.and_then(Value::as_str).unwrap_or(own)
    }

    fn page(&self) -> String {
        let root = &self.root.issue;
        let mut page = format!(
            "You're working on molecule {}\n  {}\n",
            root.id(),
            title_of(root)
        );
        if let Some(assignee) = root.assignee() {
            push!(page, "  Assigned to: {assignee}\n");
        }
        page.push('\n');
        for Step { record, place } in &self.steps {
            let (id, title) = (record.issue.id(), title_of(&record.issue));
            let here = if *place == "current" {
                " <- YOU ARE HERE"
            } else {
                ""
            };
            push!(page, "  [{place}] {id}: {title}{here}\n");
        }
        let (n_done, n_all) = (self.n_done, self.n_all);
        push!(page, "\nProgress: {n_done}/{n_all} steps complete\n");
        if let Some(next) = self.next.as_ref().filter(|_| self.current.is_none()) {
            let (id, title) = (next.issue.id(), title_of(&next.issue));
            push!(
                page,
                "\nNext ready: {id} - {title}\n  Start with: bd update {id} --claim\n"
            );
        }
        if let Some(meant) = self.meant() {
            let id = meant.issue.id();
            push!(
                page,
                "\n💡 Run `bd show {id}` to see detailed instructions.\n"
            );
        }
        page
    }
}

fn shown(call: &Call<'_>, all: &[Standing]) -> Result<(), Refusal> {
    let answers: Vec<Answer<'_>> = all.iter().map(Standing::answer).collect();
    call.output.answer(answers, || {
        let pages: Vec<String> = all.iter().map(Standing::page).collect();
        pages.join("\n")
    })
}

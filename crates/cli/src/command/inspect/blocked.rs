//! `blocked`: the beads that wait for somebody, why, and what to do next (contracts §7.9, Z-1).
//!
//! These are the beads whose status is `blocked`, those that are labelled `human`, parts of a plan's molecules that no agent does, and features that could be started if no
//! gate were red. What merely waits for other beads is shown by `list --blocked`.
//!
//! Data: `{"beads": [{id, title, sprint, team_name, status, human, attempt_count, question, last_error, last_failure, branch,
//! worktree, gates, source, unmet: [{id, waiting}], dependents, commands: [{command, purpose}]}]}`; texts that nobody wrote are null, and so is
//! `gates` where no gate holds the bead back.

use std::fmt::Write as _;

use beads_ralph_core::gate::{Applicant, Gate, Gates};
use beads_ralph_core::history::records;
use beads_ralph_core::issue::{Blocker, Query, Record, StatusFilter, is_made_of_parts};
use beads_ralph_core::text::{excerpt, visible};
use beads_ralph_core::vocabulary::{IssueType, Status, label, metadata as key};
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::app::molecules;
use beads_ralph_runtime::store::Store;
use camino::Utf8Path;
use serde::Serialize;
use serde_json::Value;

use crate::args::Global;
use crate::command::human;
use crate::failure::Failure;
use crate::governing;
use crate::origin::{Origin, OriginJson, Origins};
use crate::ui::bead_view::{named, paragraph};
use crate::ui::format::{Next, next_steps};
use crate::ui::{Ui, counted, quoted};

struct Stuck {
    record: Record,
    unmet: Vec<Blocker>,
    n_dependents: usize,
    /// Whether `implement` works on it, or it is a step of such a bead.
    is_of_implement: bool,
    /// Which red gates hold it back, in words.
    gates: Option<String>,
    origin: Option<Origin>,
}

pub(crate) fn run(global: &Global, ui: &Ui) -> Result<(), Failure> {
    let beads = global.open()?;
    let stuck = find(&beads, &governing::gates(global)?)?;
    if ui.is_json() {
        let beads: Vec<JsonStuck<'_>> = stuck.iter().map(JsonStuck::new).collect();
        return ui.data_under("beads", &beads);
    }
    if stuck.is_empty() {
        ui.say("nothing waits for you; `beads-ralph list --blocked` shows what waits for other beads\n");
        return Ok(());
    }
    let mut text = String::new();
    for (at, stuck) in stuck.iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        text.push_str(&said(stuck));
    }
    ui.out(&text)
}

fn find(beads: &Beads, gates: &Gates) -> Result<Vec<Stuck>, Failure> {
    let query = Query::default();
    let records = beads.store.find(&Query {
        status: StatusFilter::OneOf(vec![Status::Blocked.into()]),
        ..query.clone()
    })?;
    let asked = beads.store.find(&Query {
        labels_all: vec![label::HUMAN.to_owned()],
        ..query
    })?;
    let asked = asked
        .into_iter()
        .filter(|record| record.issue.status() != Status::Blocked);
    let mut stuck = Vec::new();
    let parts = people_parts(&*beads.store)?;
    let held = held_back(beads, gates)?;
    let mut origins = Origins::of(&beads.directory);
    for record in records.into_iter().chain(asked).chain(parts).chain(held) {
        let id = record.issue.id();
        let is_startable =
            record.issue.status() == Status::Open && !record.issue.has_label(label::HUMAN);
        let denied = gates.permission(&Applicant::of_issue(&record.issue)).err();
        let noted = record.issue.held_by_gates().map(str::to_owned);
        stuck.push(Stuck {
            unmet: beads.store.blockers(id)?,
            n_dependents: beads.n_dependents(id)?,
            is_of_implement: human::is_of_implement(&*beads.store, &record)?,
            gates: denied
                .filter(|_| is_startable)
                .map(|it| it.to_string())
                .or(noted),
            origin: origins.find(&record.issue),
            record,
        });
    }
    Ok(stuck)
}

/// Features that could be started if no gate were red (G-3).
fn held_back(beads: &Beads, gates: &Gates) -> Result<Vec<Record>, Failure> {
    if !gates.standing().any(Gate::is_red) {
        return Ok(Vec::new());
    }
    let mut ready = beads.store.find(&Query {
        ready_at: Some(beads.by.now),
        labels_none: vec![label::HUMAN.to_owned()],
        ..Query::default()
    })?;
    ready.retain(|record| {
        gates
            .permission(&Applicant::of_issue(&record.issue))
            .is_err()
    });
    Ok(ready)
}

/// Parts of molecules of plans that can be started and that no agent of the loop does: gates, and steps of other types or for other
/// people (Z-27). The sprint waits for them.
pub(crate) fn people_parts(store: &dyn Store) -> Result<Vec<Record>, Failure> {
    let molecules = store.find(&Query {
        types: vec![IssueType::Molecule.into()],
        metadata_keys: vec![key::PLAN_FILE.to_owned()],
        ..Query::default()
    })?;
    let mut parts = Vec::new();
    for root in molecules {
        let molecule = molecules::load(store, root)?;
        let open = molecule.unfinished().filter(|record| {
            let issue = &record.issue;
            let kind = IssueType::known(issue.issue_type());
            let is_work = matches!(kind, Some(IssueType::Work | IssueType::Merge));
            let is_startable = issue.status() == Status::Open && !issue.has_label(label::HUMAN);
            is_startable && !record.is_blocked && !is_work && !is_made_of_parts(issue)
        });
        parts.extend(open.cloned());
    }
    Ok(parts)
}

impl Stuck {
    fn text_of(&self, key: &str) -> Option<&str> {
        let value = self.record.issue.metadata()?.get(key)?;
        value.as_str().filter(|text| !text.is_empty())
    }

    fn is_for_person(&self) -> bool {
        self.record.issue.has_label(label::HUMAN)
    }

    /// What a person is asked, for programs: the question, or else what went wrong.
    fn question(&self) -> Option<String> {
        let issue = &self.record.issue;
        let asked = records::question(issue);
        asked.or_else(|| self.is_for_person().then(|| records::last_error(issue))?)
    }

    fn commands(&self) -> Vec<Next> {
        let id = quoted(Utf8Path::new(self.record.issue.id().as_str()));
        if self.gates.is_some() {
            let mut commands = vec![
                Next::new("beads-ralph gate list", "what failed"),
                Next::new("beads-ralph gate run", "run them again when it is fixed"),
            ];
            if self.record.issue.status() == Status::Blocked {
                let purpose = "release it when they are green";
                commands.push(Next::new("beads-ralph gate enforce", purpose));
            }
            return commands;
        }
        if self.is_of_implement {
            return vec![
                Next::new(
                    format!("beads-ralph human show {id}"),
                    "why, and the evidence",
                ),
                Next::new(
                    format!("beads-ralph human resolve {id} --answer TEXT"),
                    "continue, with your answer in the notes; --accept skips the step",
                ),
            ];
        }
        let mut commands = vec![
            Next::new(format!("beads-ralph status --bead {id}"), "what was tried"),
            Next::new(
                format!("beads-ralph logs {id}"),
                "what agents and checks wrote",
            ),
        ];
        if let Some(worktree) = self.text_of(key::WORKTREE_PATH) {
            let path = quoted(Utf8Path::new(worktree));
            let purpose = "where the work is; to fix it yourself, commit there before you retry";
            commands.push(Next::new(format!("cd {path}"), purpose));
        }
        commands.push(Next::new(format!("beads-ralph retry {id}"), "try it again"));
        commands.push(Next::new(
            format!("beads-ralph close {id} --reason TEXT"),
            "you did it yourself, or it is not needed",
        ));
        commands
    }
}

/// A bead that waits for somebody, for programs. What no text says is null.
#[derive(Serialize)]
struct JsonStuck<'s> {
    id: &'s str,
    title: &'s str,
    sprint: Option<&'s Value>,
    team_name: Option<&'s Value>,
    status: &'s str,
    human: bool,
    attempt_count: Option<&'s Value>,
    question: Option<String>,
    last_error: Option<String>,
    last_failure: Option<String>,
    branch: Option<&'s str>,
    worktree: Option<&'s str>,
    gates: Option<&'s str>,
    source: Option<OriginJson<'s>>,
    unmet: &'s [Blocker],
    dependents: usize,
    commands: Vec<Next>,
}

impl<'s> JsonStuck<'s> {
    fn new(stuck: &'s Stuck) -> Self {
        let issue = &stuck.record.issue;
        let metadata = |key: &str| issue.metadata().and_then(|map| map.get(key));
        Self {
            id: issue.id().as_str(),
            title: issue.title(),
            sprint: metadata(key::SPRINT),
            team_name: metadata(key::TEAM_NAME),
            status: issue.status(),
            human: stuck.is_for_person(),
            attempt_count: metadata(key::ATTEMPT_COUNT),
            question: stuck.question(),
            last_error: records::last_error(issue),
            last_failure: records::last_failure(issue),
            branch: stuck.text_of(key::BRANCH),
            worktree: stuck.text_of(key::WORKTREE_PATH),
            gates: stuck.gates.as_deref(),
            source: stuck.origin.as_ref().map(Origin::to_json),
            unmet: &stuck.unmet,
            dependents: stuck.n_dependents,
            commands: stuck.commands(),
        }
    }
}

fn said(stuck: &Stuck) -> String {
    let issue = &stuck.record.issue;
    let mut text = format!("{} ({})\n", named(&stuck.record), visible(issue.status()));
    let error = records::last_error(issue);
    let failure = records::last_failure(issue).filter(|failure| Some(failure) != error.as_ref());
    let parts = [
        ("question", records::question(issue)),
        ("last error", error),
        ("last failure", failure),
    ];
    for (heading, part) in &parts {
        if let Some(part) = part {
            _ = write!(text, "  {heading}\n{}", indented(part));
        }
    }
    if let Some(gates) = &stuck.gates {
        _ = writeln!(text, "  {}", visible(gates));
    }
    if stuck.gates.is_none() && parts.iter().all(|(_, part)| part.is_none()) {
        text.push_str(if issue.status() == Status::Open {
            "  a part of a molecule that no agent does; close it when it is done\n"
        } else {
            "  no reason is known\n"
        });
    }
    if let Some(origin) = &stuck.origin {
        _ = writeln!(text, "  plan {}", origin.words());
    }
    if let Some(branch) = stuck.text_of(key::BRANCH) {
        _ = writeln!(text, "  branch {}", excerpt(branch));
    }
    for blocker in &stuck.unmet {
        let id = visible(blocker.id.as_str());
        _ = writeln!(text, "  waits for {id} ({})", blocker.waiting.as_str());
    }
    if stuck.n_dependents > 0 {
        let others = counted(stuck.n_dependents, "bead waits", "beads wait");
        _ = writeln!(text, "  {others} for it");
    }
    text.push_str("  next\n");
    text.push_str(&next_steps(&stuck.commands(), "    "));
    text
}

fn indented(text: &str) -> String {
    let shown: String = text.chars().take(MAX_SAID).collect();
    let lines = paragraph(&shown);
    lines
        .lines()
        .map(|line| format!("  {line}\n"))
        .collect::<Vec<_>>()
        .concat()
}

/// How much of a question or an error people are shown; the rest is in the JSON and in the logs.
const MAX_SAID: usize = 2000;

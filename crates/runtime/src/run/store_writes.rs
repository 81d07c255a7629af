//! What the loop does to a bead in the store: it is claimed, told what happened, closed, handed to a person, given back.
//!
//! Every write names the effect that it belongs to. One that was made before the process died is found by that name and not made
//! again, so that no comment and no execution stands twice (Z-2, L-20).

use beads_ralph_core::agent::Status as AgentStatus;
use beads_ralph_core::bead::{
    AgentPath, BeadId, DevExecution, DevStatus, QaExecution, QaReport, QaStatus, ScrumResult,
    Timestamp as Written,
};
use beads_ralph_core::engine::{
    AgentReport, CommitId, Effect, EffectId, Note, Progress, Pull, Trouble,
};
use beads_ralph_core::issue::{Edit, Fence, Label, Record, new_comment};
use beads_ralph_core::vocabulary::{Status, label, metadata as keys};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::store::{Guard, Stamp, Store, StoreError, Write};

/// The beginning of the control rows that say which accounts are at their limit.
pub(super) const PARKED: &str = "parked/";

/// How often a write that met another one is tried again at once.
const MAX_RACES: usize = 5;

/// What a failed access to the store means for the loop.
impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        match error {
            StoreError::Busy { .. }
            | StoreError::WriteFailed { .. }
            | StoreError::Guard { .. }
            | StoreError::File(_) => Self::passing(message),
            StoreError::Specific(error) if error.is_passing => Self::passing(message),
            StoreError::Stale { .. }
            | StoreError::NotFound(_)
            | StoreError::Held { .. }
            | StoreError::InProgress(_)
            | StoreError::NotClaimable { .. }
            | StoreError::Blocked { .. } => Self::lost(message),
            StoreError::Edit { .. }
            | StoreError::Invalid { .. }
            | StoreError::Cycle(_)
            | StoreError::Unresolved { .. }
            | StoreError::Exists(_) => Self::for_bead(message),
            StoreError::NotInitialized { .. }
            | StoreError::Timeout { .. }
            | StoreError::Damaged { .. }
            | StoreError::Unusable { .. }
            | StoreError::Unsupported(_)
            | StoreError::Specific(_) => Self::for_run(message),
        }
    }
}

pub(super) enum Last<'a> {
    None,
    Closed {
        commit: &'a CommitId,
        pull: Option<&'a Pull>,
    },
    Blocked {
        reason: &'a str,
        is_fatal: bool,
        help: String,
    },
    Released,
}

/// Who wrote last: an effect that was written before a crash is found by it.
#[derive(Serialize)]
struct Mark<'a> {
    run: &'a str,
    effect: EffectId,
}

fn put(metadata: &mut Map<String, Value>, key: &str, value: impl Serialize) {
    metadata.insert(key.to_owned(), to_value(value));
}

fn to_value(value: impl Serialize) -> Value {
    serde_json::to_value(value).expect("what we write can be written")
}

#[derive(Debug, Clone)]
pub(super) struct Keeping<'a> {
    pub(super) run: &'a str,
    pub(super) session: String,
    pub(super) by: Stamp<'a>,
}

impl Keeping<'_> {
    /// Writes what happened into a bead, and how it ended where it did, in one step; `false` when that was written before.
    pub(super) fn write(
        &self,
        store: &mut dyn Store,
        effect: &Effect,
        progress: &Progress,
        last: &Last<'_>,
    ) -> Result<bool, Trouble> {
        for _ in 0..MAX_RACES {
            let record = fetch(store, &effect.bead)?;
            if is_written(&record, self.run, effect.id) {
                return Ok(false);
            }
            if effect.fence.is_none() && record.issue.status() != Status::Open {
                return Err(Trouble::lost(format!(
                    "{} was changed by another process",
                    effect.bead
                )));
            }
            let edits = self.edits(&record, effect, progress, last)?;
            let guard = match effect.fence {
                Some(fence) => Guard {
                    version: Some(record.version),
                    ..Guard::fenced(fence)
                },
                None => Guard {
                    version: Some(record.version),
                    status: Some(Status::Open.into()),
                    ..Guard::default()
                },
            };
            let write = Write::Update {
                id: effect.bead.clone(),
                edits,
                guard,
            };
            match store.write(&[write], self.by) {
                Ok(_) => return Ok(true),
                Err(StoreError::Guard { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Trouble::passing(format!(
            "{} keeps changing: other processes write to it",
            effect.bead
        )))
    }

    fn edits(
        &self,
        record: &Record,
        effect: &Effect,
        progress: &Progress,
        last: &Last<'_>,
    ) -> Result<Vec<Edit>, Trouble> {
        let now = self.by.time();
        let mut metadata = record.issue.metadata().cloned().unwrap_or_default();
        let mut changed = Map::new();
        let mut edits = Vec::new();
        for note in &progress.notes {
            take_note(&mut metadata, &mut changed, note, &now);
            let comment = new_comment(&effect.bead, self.by.actor, &said(note), &now);
            edits.push(Edit::Comment(comment));
        }
        let mark = Mark {
            run: self.run,
            effect: effect.id,
        };
        put(&mut changed, keys::BEADS_RALPH_RUN, mark);
        put(&mut changed, keys::ATTEMPT_COUNT, progress.attempts);
        put(&mut changed, keys::RECEIPT, progress.spent);
        // One that an agent leads keeps the agent's session (Z-8).
        let is_led = |note: &Note| matches!(note, Note::Led { .. });
        if !is_led_before(&metadata, self.run) && !progress.notes.iter().any(is_led) {
            put(&mut changed, keys::SCRUM_MASTER_SESSION_ID, &self.session);
        }
        put(&mut changed, keys::SEALED_COMMIT, &progress.sealed);
        if progress.feedback.is_some() {
            put(&mut changed, keys::LAST_FEEDBACK, &progress.feedback);
        }
        if let Some(base) = &progress.base {
            put(&mut changed, keys::BASE_COMMIT, base);
        }
        metadata.extend(changed.clone());
        edits.extend(ending(effect, progress, &metadata, &mut changed, last)?);
        edits.insert(0, Edit::MergeMetadata(changed));
        Ok(edits)
    }
}

/// Whether an effect of a run, or a later one of it, was written into a bead.
pub(super) fn is_written(record: &Record, run: &str, effect: EffectId) -> bool {
    let metadata = record.issue.metadata();
    let mark = metadata.and_then(|metadata| metadata.get(keys::BEADS_RALPH_RUN));
    let is_ours = mark.and_then(|mark| mark.get("run")?.as_str()) == Some(run);
    let number = mark.and_then(|mark| mark.get("effect")?.as_u64());
    is_ours && number.is_some_and(|number| number >= effect.0)
}

/// The edits of how it ended, with what belongs into the metadata.
fn ending(
    effect: &Effect,
    progress: &Progress,
    metadata: &Map<String, Value>,
    changed: &mut Map<String, Value>,
    last: &Last<'_>,
) -> Result<Vec<Edit>, Trouble> {
    let result =
        |success: bool, error: Option<&str>, fatal: bool, pull: Option<&Pull>| ScrumResult {
            bead_id: effect.bead.clone(),
            success,
            pr_url: pull.map(|pull| pull.url.clone()),
            pr_number: pull.map(|pull| pull.number),
            bead_updated: true,
            attempt_count: progress.attempts,
            qa_results: qa_results(metadata, progress),
            error: error.map(str::to_owned),
            fatal,
            skipped: false,
        };
    Ok(match last {
        Last::None => Vec::new(),
        Last::Closed { commit, pull } => {
            put(changed, keys::VERIFIED_COMMIT, commit);
            put(
                changed,
                keys::SCRUM_RESULT,
                result(true, None, false, *pull),
            );
            let mut edits = vec![];
            if let Some(pull) = pull {
                put(changed, keys::PR_URL, &pull.url);
                put(changed, keys::PR_NUMBER, pull.number);
                edits.push(Edit::Set(
                    "external_ref".to_owned(),
                    pull.url.clone().into(),
                ));
            }
            edits.push(Edit::Close(format!("verified at {}", commit.short())));
            edits
        }
        Last::Blocked {
            reason,
            is_fatal,
            help,
        } => {
            let result = result(false, Some(reason), *is_fatal, None);
            put(changed, keys::SCRUM_RESULT, result);
            let label =
                Label::parse(label::HUMAN).map_err(|error| Trouble::for_bead(error.to_string()))?;
            vec![
                Edit::AppendNotes(format!("{reason}\n{help}")),
                Edit::Status(Status::Blocked.into()),
                Edit::AddLabel(label),
            ]
        }
        Last::Released => vec![Edit::Reopen],
    })
}

pub(super) fn fetch(store: &dyn Store, id: &BeadId) -> Result<Record, Trouble> {
    let found = store.get(std::slice::from_ref(id))?.pop();
    found.ok_or_else(|| Trouble::lost(format!("{id} is no longer in the store")))
}

/// Whether an agent has led the work on a bead in this run.
fn is_led_before(metadata: &Map<String, Value>, run: &str) -> bool {
    let of_run = metadata
        .get(keys::BEADS_RALPH_RUN)
        .and_then(|mark| mark.get("run")?.as_str());
    let leader = metadata.get(keys::SCRUM_MASTER_AGENT);
    let session = leader.and_then(|spec| spec.get("agent_id")?.as_str());
    let written = metadata
        .get(keys::SCRUM_MASTER_SESSION_ID)
        .and_then(Value::as_str);
    of_run == Some(run) && session.is_some() && session == written
}

/// Adds an execution to the history of a bead, once.
fn take_note(
    metadata: &mut Map<String, Value>,
    changed: &mut Map<String, Value>,
    note: &Note,
    now: &Written,
) {
    let (key, agents, execution, report) = match note {
        Note::Developed {
            attempt,
            report,
            feedback,
        } => {
            put(changed, keys::DEV_AGENT_SESSION_ID, &report.session);
            let execution = to_value(developed(*attempt, report, feedback.clone()));
            (
                keys::DEV_AGENT_EXECUTIONS,
                keys::DEV_AGENTS,
                execution,
                report,
            )
        }
        Note::Judged {
            attempt,
            report,
            verdict,
        } => {
            let execution = QaExecution {
                attempt: *attempt,
                session_id: report.session.clone(),
                agent_path: path_of(report),
                model: report.model,
                started_at: Written::from_instant(report.started_at),
                completed_at: Written::from_instant(report.ended_at),
                status: verdict.status,
                message: verdict.message.clone(),
                details: verdict.details.clone(),
                agent_id: Some(report.session.clone()),
                model_id: report.model_id.clone(),
            };
            (
                keys::QA_AGENT_EXECUTIONS,
                keys::QA_AGENTS,
                to_value(execution),
                report,
            )
        }
        Note::Led { report, .. } => {
            if let Some(spec) = metadata.get_mut(keys::SCRUM_MASTER_AGENT) {
                spec["agent_id"] = report.session.clone().into();
                put(changed, keys::SCRUM_MASTER_AGENT, spec);
            }
            put(changed, keys::SCRUM_MASTER_SESSION_ID, &report.session);
            return;
        }
        Note::Verified { .. } => {
            put(changed, keys::CHECKED_AT, now);
            return;
        }
    };
    let list = metadata
        .entry(key)
        .or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(executions) = list {
        executions.push(execution);
    }
    put(changed, key, list);
    // Each agent's session is also written where the agent is named (Z-8).
    if let Some(Value::Array(specs)) = metadata.get_mut(agents) {
        for spec in specs.iter_mut() {
            if spec.get("agent").and_then(Value::as_str) == Some(report.agent.as_str()) {
                spec["agent_id"] = report.session.clone().into();
            }
        }
        put(changed, agents, specs);
    }
}

fn developed(attempt: u32, report: &AgentReport, feedback: Option<String>) -> DevExecution {
    let status = match report.status {
        AgentStatus::Ok => DevStatus::Completed,
        AgentStatus::Timeout => DevStatus::Timeout,
        _ => DevStatus::Failed,
    };
    DevExecution {
        attempt,
        session_id: report.session.clone(),
        agent_path: path_of(report),
        model: report.model,
        started_at: Written::from_instant(report.started_at),
        completed_at: Written::from_instant(report.ended_at),
        status,
        feedback_from_qa: feedback,
        agent_id: Some(report.session.clone()),
        error: (report.status != AgentStatus::Ok).then(|| report.reason.clone()),
        model_id: report.model_id.clone(),
    }
}

/// How an execution names its agent: without `.md`, as seed 002 prints it, and as `agent_path` is written everywhere else.
fn path_of(report: &AgentReport) -> String {
    let path = AgentPath::parse(&report.agent).map(|path| path.without_md().as_str().to_owned());
    path.unwrap_or_else(|_| report.agent.clone())
}

/// What happened, as a comment (Z-9).
fn said(note: &Note) -> String {
    match note {
        Note::Developed {
            attempt, report, ..
        } => {
            format!(
                "attempt {attempt}: {} {}: {}",
                report.agent, report.status, report.reason
            )
        }
        Note::Judged {
            attempt,
            report,
            verdict,
        } => {
            format!(
                "attempt {attempt}: QA {} {}: {}",
                report.agent, verdict.status, verdict.message
            )
        }
        Note::Verified {
            attempt,
            commit,
            is_green: true,
            summary,
        } => {
            let passed = format!("attempt {attempt}: the checks passed at {}", commit.short());
            if summary.is_empty() {
                passed
            } else {
                format!("{passed}; {summary}")
            }
        }
        Note::Verified {
            attempt,
            commit,
            summary,
            ..
        } => {
            format!(
                "attempt {attempt}: the checks failed at {}: {summary}",
                commit.short()
            )
        }
        Note::Led { attempt, report } => {
            format!(
                "attempt {attempt}: scrum-master {} {}: {}",
                report.agent, report.status, report.reason
            )
        }
    }
}

/// The verdicts of the last attempt, for the sprint's result: those of the QA agents that we ran, else those that a leading agent told of.
fn qa_results(metadata: &Map<String, Value>, progress: &Progress) -> Vec<QaReport> {
    let attempt = progress.attempts;
    let executions = metadata
        .get(keys::QA_AGENT_EXECUTIONS)
        .and_then(Value::as_array);
    let executions = executions.map(Vec::as_slice).unwrap_or_default();
    let of_attempt = executions
        .iter()
        .filter(|it| it.get("attempt").and_then(Value::as_u64) == Some(attempt.into()));
    let report = |it: &Value| {
        let text = |key: &str| it.get(key).and_then(Value::as_str).unwrap_or_default();
        Some(QaReport {
            agent_path: text("agent_path").to_owned(),
            status: QaStatus::parse(text("status")).ok()?,
            message: text("message").to_owned(),
            details: it
                .get("details")
                .and_then(Value::as_object)
                .cloned()
                .unwrap_or_default(),
        })
    };
    let own: Vec<QaReport> = of_attempt.filter_map(report).collect();
    if own.is_empty() {
        progress.qa_results.clone()
    } else {
        own
    }
}

/// Tells other runs that an account is at its limit (Z-14).
pub(super) fn park(
    store: &mut dyn Store,
    account: &str,
    until: jiff::Timestamp,
    by: Stamp<'_>,
) -> Result<(), Trouble> {
    let key = format!("{PARKED}{account}");
    for _ in 0..MAX_RACES {
        let row = store.controls(&key)?.into_iter().find(|row| row.key == key);
        let known: Option<jiff::Timestamp> =
            (row.as_ref()).and_then(|row| row.value.as_str()?.parse().ok());
        if known.is_some_and(|known| known >= until) {
            return Ok(());
        }
        let seen = row.map_or(0, |row| row.version);
        match store.set_control(&key, &until.to_string().into(), seen, by) {
            Ok(_) => return Ok(()),
            Err(StoreError::Guard { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Trouble::passing(
        "the control rows keep changing: other processes write to them",
    ))
}

pub(super) fn fence_of(record: &Record, run: &str) -> Option<Fence> {
    let claim = record.claim.as_ref()?;
    (claim.holder.run == run).then_some(claim.fence)
}

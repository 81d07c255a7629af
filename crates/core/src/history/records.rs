//! What the beads of a store tell about the work that was done: runs of agents, verdicts, figures, and what is in the way.
//!
//! Everything is read from the beads themselves, so that no process has to keep count (contracts §7.9). Beads may be anybody's: what
//! cannot be read is left out, and nothing here fails.

mod figures;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::bead;
use crate::issue::Issue;
use crate::vocabulary::{field, metadata, ralph_meta};

pub use figures::{
    Figures, FlakyCheck, FlakyChecks, QaAgentReport, Tally, figures, figures_of_run, qa_report,
};

crate::text::word_enum! {
    /// Whether an agent made something or judged it.
    #[derive(Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum AgentKind {
        /// A dev agent.
        Dev = "dev",
        /// A QA agent.
        Qa = "qa",
    }
}

/// One run of an agent, as far as the bead tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRun {
    /// What it was for.
    pub kind: AgentKind,
    /// The attempt, from 1; 0 if it is not said.
    pub attempt: u64,
    /// The agent; nothing if it is not said.
    pub agent: String,
    /// The tier of its model.
    pub model: Option<String>,
    /// How it ended: `completed`, `failed` and `timeout` of dev agents, `pass`, `fail` and `stop` of QA agents.
    pub status: String,
    /// What it said, or why it failed.
    pub message: Option<String>,
    /// When it began.
    pub began: Option<Timestamp>,
    /// When it ended.
    pub ended: Option<Timestamp>,
}

impl AgentRun {
    /// Whether the work may go on from it.
    pub fn is_good(&self) -> bool {
        match self.kind {
            AgentKind::Dev => self.status == bead::DevStatus::Completed.as_str(),
            AgentKind::Qa => self.status == bead::QaStatus::Pass.as_str(),
        }
    }

    /// From when until when, if both are known and in order.
    pub fn span(&self) -> Option<(Timestamp, Timestamp)> {
        let span = (self.began?, self.ended?);
        (span.0 <= span.1).then_some(span)
    }

    fn read(kind: AgentKind, value: &Value) -> Option<Self> {
        let map = value.as_object()?;
        let text = |key: &str| map.get(key).and_then(Value::as_str);
        let time = |key: &str| {
            let time = bead::Timestamp::parse(text(key)?).ok()?;
            Some(time.instant())
        };
        let message = text("message").or_else(|| text("error"));
        Some(Self {
            kind,
            attempt: map.get("attempt").and_then(Value::as_u64).unwrap_or(0),
            agent: text("agent_path")
                .or_else(|| text("agent"))
                .unwrap_or_default()
                .to_owned(),
            model: text("model").map(str::to_owned),
            status: text("status")?.to_owned(),
            message: message
                .filter(|it| !it.trim().is_empty())
                .map(str::to_owned),
            began: time("started_at"),
            ended: time("completed_at"),
        })
    }
}

/// Every run of an agent that a bead tells of, in the order in which they began.
pub fn runs(issue: &Issue) -> Vec<AgentRun> {
    let list = |key: &str| issue.metadata()?.get(key)?.as_array();
    let read = |kind, key| {
        let items = list(key).into_iter().flatten();
        items.filter_map(move |item| AgentRun::read(kind, item))
    };
    let mut runs: Vec<AgentRun> = read(AgentKind::Dev, metadata::DEV_AGENT_EXECUTIONS)
        .chain(read(AgentKind::Qa, metadata::QA_AGENT_EXECUTIONS))
        .collect();
    runs.sort_by_key(|run| (run.began.is_none(), run.began, run.attempt));
    runs
}

/// What went wrong last with a bead: what its result says, else the feedback for the next attempt, else the last run that failed, else the end of its notes.
pub fn last_error(issue: &Issue) -> Option<String> {
    let section = |key: &str| issue.metadata()?.get(key)?.as_object();
    let said = |map: Option<&Map<String, Value>>, key: &str| said(map?.get(key)?);
    let from_notes = || {
        let notes = issue.text(field::NOTES)?;
        let last = notes.lines().rev().find(|line| !line.trim().is_empty());
        last.map(|line| line.trim().to_owned())
    };
    said(section(metadata::SCRUM_RESULT), "error")
        .or_else(|| said(section(metadata::RALPH_META), ralph_meta::FAILURE_REASON))
        .or_else(|| {
            said(
                section(metadata::RALPH_META),
                ralph_meta::LAST_FAILURE_SUMMARY,
            )
        })
        .or_else(|| said(issue.metadata(), metadata::LAST_FEEDBACK))
        .or_else(|| last_failure(issue))
        .or_else(from_notes)
}

/// What the last run of an agent that failed, or did not pass the work, had to say.
pub fn last_failure(issue: &Issue) -> Option<String> {
    let runs = runs(issue);
    let failed = runs.iter().rev().find(|run| !run.is_good())?;
    let why = failed.message.as_deref().unwrap_or(&failed.status);
    Some(if failed.agent.is_empty() {
        why.to_owned()
    } else {
        format!("{}: {why}", failed.agent)
    })
}

/// What a person is asked about a bead, if somebody asks.
pub fn question(issue: &Issue) -> Option<String> {
    said(issue.metadata()?.get(metadata::QUESTION)?)
}

fn said(value: &Value) -> Option<String> {
    let text = value.as_str().filter(|text| !text.trim().is_empty())?;
    Some(text.to_owned())
}

#[cfg(test)]
mod tests;

//! What the workers of a step left (I-16): their reports, as far as they can be read.

use crate::os::files;
use beads_ralph_core::implement::report::{self, Escalation, MAX_REPORT_BYTES};
use beads_ralph_core::implement::{Agent, report_folder, reporter};
use beads_ralph_core::issue::Record;
use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

/// A worker's report that was found.
#[derive(Debug)]
pub struct Found {
    pub path: Utf8PathBuf,
    pub agent: String,
    /// What it says, or why it cannot be read.
    pub said: Result<Said, String>,
}

/// What a report says to a person.
#[derive(Debug)]
pub struct Said {
    pub status: &'static str,
    /// What the commands that it ran showed.
    pub gate: &'static str,
    pub escalations: Vec<Escalation>,
}

/// The reports of a step: by worker, and of each in the order of its cycles.
pub fn reports(directory: &Utf8Path, step: &Record) -> Vec<Found> {
    let Ok(folder) = report_folder(step.issue.id()) else {
        return Vec::new();
    };
    let folder = directory.join(folder);
    // A step that nobody worked on has no folder.
    let mut names = files::names(&folder).unwrap_or_default();
    let agent = |name: &str| reporter(name).map(|agent| agent.as_str().to_owned());
    names.sort_by_cached_key(|name| (agent(name), name.len(), name.clone()));
    let found = names.into_iter().filter_map(|name| {
        let agent = reporter(&name)?;
        let path = folder.join(&name);
        Some(Found {
            said: read(&path, &agent),
            agent: agent.as_str().to_owned(),
            path,
        })
    });
    found.collect()
}

fn read(path: &Utf8Path, agent: &Agent) -> Result<Said, String> {
    let size = path.metadata().map_err(|error| error.to_string())?.len();
    if size > MAX_REPORT_BYTES as u64 {
        return Err(report::Malformed::TooLarge.to_string());
    }
    let bytes = files::read(path).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes).map_err(|_| "the report is not UTF-8".to_owned())?;
    let report = report::read(&text, agent).map_err(|error| error.to_string())?;
    Ok(Said {
        status: report.report.status.as_str(),
        gate: report::gate(&report.report.evidence).as_str(),
        escalations: report.report.escalations,
    })
}

/// A report for programs.
#[derive(Debug, Serialize)]
pub struct FoundJson<'f> {
    path: &'f str,
    agent: &'f str,
    status: Option<&'static str>,
    gate: Option<&'static str>,
    escalations: Vec<EscalationJson<'f>>,
    error: Option<&'f str>,
}

#[derive(Debug, Serialize)]
struct EscalationJson<'f> {
    reason: &'f str,
    detail: &'f str,
}

impl Found {
    pub fn to_json(&self) -> FoundJson<'_> {
        let said = self.said.as_ref();
        let escalations = said.map_or(&[][..], |said| &said.escalations);
        let escalations = escalations.iter().map(|it| EscalationJson {
            reason: it.reason.as_str(),
            detail: it.detail.as_str(),
        });
        FoundJson {
            path: self.path.as_str(),
            agent: &self.agent,
            status: said.ok().map(|said| said.status),
            gate: said.ok().map(|said| said.gate),
            escalations: escalations.collect(),
            error: said.err().map(String::as_str),
        }
    }
}

//! What the workers of a step left (I-16): their reports, as far as they can be read.

use beads_ralph_core::implement::report::{self, Escalation, MAX_REPORT_BYTES};
use beads_ralph_core::implement::{Agent, report_folder, reporter};
use beads_ralph_core::issue::Record;
use beads_ralph_runtime::os::files;
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

/// A worker's report that was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) path: Utf8PathBuf,
    pub(crate) agent: String,
    /// What it says, or why it cannot be read.
    pub(crate) said: Result<Said, String>,
}

/// What a report says to a person.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) status: &'static str,
    /// What the commands that it ran showed.
    pub(crate) gate: &'static str,
    pub(crate) escalations: Vec<Escalation>,
}

/// The reports of a step: by worker, and of each in the order of its cycles.
pub(crate) fn reports(directory: &Utf8Path, step: &Record) -> Vec<Found> {
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

impl Found {
    pub(crate) fn to_json(&self) -> Value {
        let escalation =
            |it: &Escalation| json!({"reason": it.reason.as_str(), "detail": it.detail.as_str()});
        let said = self.said.as_ref();
        let escalations = said.map_or(&[][..], |said| &said.escalations);
        json!({
            "path": self.path.as_str(),
            "agent": self.agent.as_str(),
            "status": said.ok().map(|said| said.status),
            "gate": said.ok().map(|said| said.gate),
            "escalations": escalations.iter().map(escalation).collect::<Vec<Value>>(),
            "error": said.err(),
        })
    }
}

//! What the watchdog writes beside the beads: reminders, alerts, figures. Of the first two only the newest are kept.

use beads_ralph_core::bead;
use beads_ralph_core::issue::Holder;
use beads_ralph_core::watchdog::{self, Counts, Watched};
use camino::Utf8PathBuf;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{METRICS, Watchdog};
use crate::bead_files::names;
use crate::os::files::{self, FileError};

const NUDGES: &str = ".ralph/nudges";
const ALERTS: &str = ".ralph/alerts";
const METRICS_FILE: &str = "watchdog-metrics.json";

/// How many reminders, and how many alerts, are kept.
const MAX_KEPT: usize = 100;

impl Watchdog<'_> {
    /// A reminder for whoever works on a bead.
    pub(super) fn nudge(
        &self,
        bead: &Watched,
        holder: Option<&Holder>,
        now: Timestamp,
    ) -> Result<String, FileError> {
        let Watched { id, title, .. } = bead;
        let minutes = bead.silence(now).map(watchdog::minutes).unwrap_or_default();
        let last = bead.last_activity.map(bead::Timestamp::from_instant);
        let nudge = json!({
            "timestamp": bead::Timestamp::from_instant(now),
            "bead_id": id,
            "title": title,
            "assignee": bead.assignee,
            "holder": holder,
            "last_activity": last,
            "message": format!("{id} has been silent for {minutes} minutes: say how it stands, or give it back"),
        });
        self.write_new(NUDGES, id, now, &nudge)
    }

    pub(super) fn alert(
        &self,
        bead: &Watched,
        why: &str,
        now: Timestamp,
    ) -> Result<String, FileError> {
        let Watched { id, title, .. } = bead;
        let alert = json!({
            "timestamp": bead::Timestamp::from_instant(now),
            "severity": "critical",
            "subject": format!("{id} was given up: {title}"),
            "body": watchdog::failure_reason(bead.restart_count, why),
        });
        self.write_new(ALERTS, "alert", now, &alert)
    }

    /// Writes `<kind>-<yyyyMMdd-HHmmss>.json`, with a number where that is taken.
    fn write_new(
        &self,
        directory: &str,
        kind: &str,
        now: Timestamp,
        document: &Value,
    ) -> Result<String, FileError> {
        let place = self.ralph.root().join(directory);
        files::create_directory(&place)?;
        for name in names(now) {
            let file = format!("{kind}-{name}.json");
            match files::create_new(&place.join(&file), &files::to_json(document)) {
                Err(FileError::Exists { .. }) => {}
                Err(error) => return Err(error),
                Ok(()) => {
                    files::keep_newest(&place, ".json", MAX_KEPT)?;
                    return Ok(format!("{directory}/{file}"));
                }
            }
        }
        Err(FileError::Exists { path: place })
    }

    /// Adds a pass to the metrics (G-9). A file that cannot be understood is begun anew: figures must not stop the watchdog.
    pub(super) fn keep(&self, counts: Counts, now: Timestamp) -> Result<(), FileError> {
        let path: Utf8PathBuf = self.ralph.root().join(METRICS).join(METRICS_FILE);
        let before = match files::read(&path) {
            Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
            Err(FileError::NotFound { .. }) => Value::Null,
            Err(error) => return Err(error),
        };
        let now = bead::Timestamp::from_instant(now);
        let document = counts.document(&before, &now, self.version);
        files::write_atomic(&path, &files::to_json(&document))
    }
}

//! The configuration as `init` leaves it: written when there is none, extended when it lacks a choice that was
//! made, and otherwise not touched.

use std::thread;
use std::time::Duration;

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_runtime::config::{self, FILE_NAME, Permissions};
use beads_ralph_runtime::os::files::{self, FileError};
use camino::{Utf8Path, Utf8PathBuf};

use crate::failure::Failure;

const TEMPLATE: &str = include_str!("../../../../assets/beads-ralph.yaml");

/// How often the file is looked at anew because somebody else wrote it meanwhile.
const TRIES: usize = 100;

/// How long somebody else who is about to write it is given each time.
const PAUSE: Duration = Duration::from_millis(10);

/// The configuration and what is to be done about it.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) path: Utf8PathBuf,
    /// The mode that holds now.
    pub(super) permissions: Option<Permissions>,
    wanted: Option<Permissions>,
    action: Action,
}

#[derive(Debug)]
enum Action {
    Nothing,
    Create(String),
    Extend { before: Vec<u8>, after: Vec<u8> },
}

/// Reads the configuration of a directory and decides what is to be done.
pub(super) fn plan(directory: &Utf8Path, wanted: Option<Permissions>) -> Result<Settings, Failure> {
    let path = directory.join(FILE_NAME);
    let settings = |permissions, action| Settings {
        path: path.clone(),
        permissions,
        wanted,
        action,
    };
    if !path.exists() {
        let mode = wanted.unwrap_or(Permissions::AskNone);
        let text = TEMPLATE.replace("{permissions}", mode.as_str());
        return Ok(settings(Some(mode), Action::Create(text)));
    }
    let before = files::read(&path)?;
    let recorded = config::parse(&path, &before)?.permissions;
    match (recorded, wanted) {
        (None, Some(mode)) => {
            let after = extended(&path, &before, mode)?;
            Ok(settings(Some(mode), Action::Extend { before, after }))
        }
        _ => Ok(settings(recorded, Action::Nothing)),
    }
}

/// The file with the choice as its last line, if that is what a reader then finds.
fn extended(path: &Utf8Path, before: &[u8], mode: Permissions) -> Result<Vec<u8>, Failure> {
    let mut after = before.to_vec();
    if !after.is_empty() && !after.ends_with(b"\n") {
        after.push(b'\n');
    }
    after.extend_from_slice(format!("permissions: {}\n", mode.as_str()).as_bytes());
    match config::parse(path, &after) {
        Ok(config) if config.permissions == Some(mode) => Ok(after),
        _ => Err(Failure::new(
            ErrorCode::ValidationConstraint,
            format!(
                "{} cannot be extended by a line",
                beads_ralph_runtime::repo::shown(path)
            ),
        )
        .action(format!(
            "add `permissions: {}` to it yourself",
            mode.as_str()
        ))),
    }
}

impl Settings {
    /// Does what was decided. Where somebody else was faster, what is there now decides.
    pub(super) fn write(mut self) -> Result<Self, Failure> {
        let mut left = TRIES;
        loop {
            left -= 1;
            match self.try_write() {
                Ok(()) => return Ok(self),
                Err(FileError::Exists { .. } | FileError::Changed { .. }) if left > 0 => {
                    thread::sleep(PAUSE);
                    let directory = self.path.parent().unwrap_or(Utf8Path::new("."));
                    self = plan(directory, self.wanted)?;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn try_write(&self) -> Result<(), FileError> {
        match &self.action {
            Action::Nothing => Ok(()),
            Action::Create(text) => files::create_new(&self.path, text.as_bytes()),
            Action::Extend { before, after } => files::replace(&self.path, before, after),
        }
    }

    pub(super) fn state(&self) -> &'static str {
        match self.action {
            Action::Nothing => "existing",
            Action::Create(_) => "created",
            Action::Extend { .. } => "extended",
        }
    }

    /// What the user must know about a choice that was not made, or made otherwise before.
    pub(super) fn warning(&self) -> Option<String> {
        match (self.permissions, self.wanted) {
            (None, _) => Some(format!(
                "no permission mode is chosen yet: beads-ralph init --permissions {}",
                Permissions::ALL.map(Permissions::as_str).join("|")
            )),
            (Some(now), Some(wanted)) if now != wanted => Some(format!(
                "the settings say `permissions: {}` and were not changed; edit them to choose {}",
                now.as_str(),
                wanted.as_str()
            )),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z_22_what_the_template_shows_can_be_used_and_is_what_holds_without_it() {
        let template = TEMPLATE.replace("{permissions}", "bypass");
        // Keys are indented by twos, explanations by one or three.
        let is_key = |line: &&str| line.bytes().take_while(|byte| *byte == b' ').count() % 2 == 0;
        let keys = template.lines().map(|line| {
            let key = line.strip_prefix('#').filter(is_key);
            key.unwrap_or(line)
        });
        let text = keys.collect::<Vec<_>>().join("\n");
        assert!(text.contains("\nagents:\n  default: claude"), "{text}");
        let path = Utf8Path::new(FILE_NAME);
        let shown = config::parse(path, text.as_bytes()).unwrap();
        let silent = config::parse(path, b"").unwrap();
        assert_eq!(shown.budgets, silent.budgets);
        assert_eq!(shown.timeouts, silent.timeouts);
        assert_eq!(shown.disk, silent.disk);
        assert_eq!(shown.implement, silent.implement);
        assert_eq!(shown.gates.commands().count(), 3);
        assert_eq!(
            shown.run.max_attempts,
            Some(config::RunSettings::MAX_ATTEMPTS)
        );
        let shown_run = config::RunSettings {
            max_attempts: None,
            ..shown.run
        };
        assert_eq!(shown_run, silent.run);
        let shown_worktrees = config::WorktreeSettings {
            setup: None,
            copy: Vec::new(),
            ports: 0,
            ..shown.worktrees
        };
        assert_eq!(shown_worktrees, silent.worktrees);
        assert!(shown.agents.get("mine").is_some());
    }
}

//! What a command ends with when it does not succeed.

use beads_ralph_core::bead::{BeadId, FieldError};
use beads_ralph_core::diag::{ErrorCode, did_you_mean};
use beads_ralph_core::graph::GraphFault;
use beads_ralph_core::issue::{EditError, LongTitle};
use beads_ralph_core::plan::FilterFault;
use beads_ralph_core::text::excerpt;
use beads_ralph_core::vocabulary::Status;
use beads_ralph_runtime::app::beads::BeadError;
use beads_ralph_runtime::app::molecules::MoleculeError;
use beads_ralph_runtime::config::ConfigError;
use beads_ralph_runtime::os::files::FileError;
use beads_ralph_runtime::scenario::ScenarioError;
use beads_ralph_runtime::store::{Capability, StoreError};
use serde::Serialize;
use serde_json::Value;

use crate::ui::JsonDiagnostic;

/// A failure with everything that the envelope's `error` needs (E-2).
#[derive(Debug)]
pub(crate) struct Failure {
    code: ErrorCode,
    message: String,
    details: String,
    action: Option<Box<str>>,
    diagnostics: Option<Vec<JsonDiagnostic>>,
    validation: Option<Box<[Validation]>>,
    results: Option<Box<Value>>,
    /// Whether people have been told already, so that it is not said twice.
    is_told: bool,
    /// Whether it came when some of the data was printed already.
    is_late: bool,
    /// An exit code other than the one that the code implies.
    exit_code: Option<u8>,
}

impl Failure {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            details: String::new(),
            action: None,
            diagnostics: None,
            validation: None,
            results: None,
            is_told: false,
            is_late: false,
            exit_code: None,
        }
    }

    #[must_use]
    pub(crate) fn details(mut self, details: impl Into<String>) -> Self {
        self.details = details.into();
        self
    }

    #[must_use]
    pub(crate) fn action(mut self, action: impl Into<String>) -> Self {
        self.action = Some(action.into().into());
        self
    }

    /// Lists the findings that it amounts to (Z-20).
    #[must_use]
    pub(crate) fn with_diagnostics(mut self, diagnostics: Vec<JsonDiagnostic>) -> Self {
        self.diagnostics = Some(diagnostics);
        self
    }

    /// Lists what is wrong with which bead (Z-33).
    #[must_use]
    pub(crate) fn with_validation(mut self, validation: Vec<Validation>) -> Self {
        self.validation = Some(validation.into());
        self
    }

    /// Lists what became of each bead of several.
    #[must_use]
    pub(crate) fn with_results(mut self, results: impl Serialize) -> Self {
        let results = serde_json::to_value(results).expect("what we write can be written");
        self.results = Some(Box::new(results));
        self
    }

    /// Marks that people have seen it in another form.
    #[must_use]
    pub(crate) fn told(mut self) -> Self {
        self.is_told = true;
        self
    }

    /// Ends the program with another exit code than the error code implies.
    #[must_use]
    pub(crate) fn exit_with(mut self, exit_code: u8) -> Self {
        self.exit_code = Some(exit_code);
        self
    }

    pub(crate) fn code(&self) -> ErrorCode {
        self.code
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// A failure after which no other answer can be printed.
    #[must_use]
    pub(crate) fn late(mut self) -> Self {
        self.is_late = true;
        self
    }

    pub(crate) fn is_late(&self) -> bool {
        self.is_late
    }

    pub(crate) fn is_told(&self) -> bool {
        self.is_told
    }

    pub(crate) fn suggested_action(&self) -> &str {
        self.action
            .as_deref()
            .unwrap_or_else(|| self.code.suggested_action())
    }

    /// The failure, for people.
    pub(crate) fn sentence(&self) -> String {
        let (code, action) = (self.code.as_str(), self.suggested_action());
        format!("error[{code}]: {}\n  help: {action}\n", self.message)
    }

    /// The exit code of contracts §4.3.
    pub(crate) fn exit_code(&self) -> u8 {
        self.exit_code
            .unwrap_or(if self.code.recoverable() { 1 } else { FATAL })
    }

    /// The envelope's `error` object.
    pub(crate) fn to_error(&self) -> ErrorObject<'_> {
        ErrorObject {
            code: self.code.as_str(),
            message: &self.message,
            details: &self.details,
            recoverable: self.code.recoverable() && self.exit_code() != FATAL,
            suggested_action: self.suggested_action(),
            diagnostics: self.diagnostics.as_deref(),
            validation: self.validation.as_deref(),
            results: self.results.as_deref(),
        }
    }
}

/// What the validator says of one bead (Z-33).
#[derive(Debug, Serialize)]
pub(crate) struct Validation {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) valid: bool,
    pub(crate) errors: Vec<String>,
}

impl Validation {
    pub(crate) fn of(id: &BeadId, errors: &[FieldError]) -> Self {
        Self {
            file: None,
            id: Some(id.to_string()),
            valid: errors.is_empty(),
            errors: errors.iter().map(FieldError::to_string).collect(),
        }
    }
}

/// The envelope's `error` object (E-2).
#[derive(Debug, Serialize)]
pub(crate) struct ErrorObject<'f> {
    code: &'static str,
    message: &'f str,
    details: &'f str,
    recoverable: bool,
    suggested_action: &'f str,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagnostics: Option<&'f [JsonDiagnostic]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    validation: Option<&'f [Validation]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<&'f Value>,
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        let failure = Self::new(error.code(), error.to_string());
        match error {
            FileError::Exists { .. } => {
                failure.action("choose another name, or remove the file first")
            }
            FileError::NotFound { .. }
            | FileError::NotAFile { .. }
            | FileError::TooLarge { .. }
            | FileError::Io { .. }
            | FileError::Changed { .. } => failure,
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        // L-1, Z-1: nothing starts on a configuration that cannot be used, so it is fatal whatever the code usually is.
        Self::new(error.code(), error.to_string())
            .action("correct the configuration file; docs/configuration.md has every key")
            .exit_with(FATAL)
    }
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Self {
        match error {
            ScenarioError::File(error) => error.into(),
            ScenarioError::Invalid { .. } => {
                Self::new(error.code(), error.to_string()).action("correct the scenario")
            }
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        if let StoreError::File(error) = error {
            return error.into();
        }
        let failure = Self::new(error.code(), error.to_string()).action(what_to_do(&error));
        if error.is_already_claimed() {
            // Contracts §4.3: scripts tell "somebody else was faster" from every other failure.
            return failure.exit_with(ALREADY_CLAIMED);
        }
        failure
    }
}

impl From<BeadError> for Failure {
    fn from(error: BeadError) -> Self {
        let message = error.to_string();
        let failure = |code, action: &str| Self::new(code, &*message).action(action);
        let unresolved = |action: &str| failure(ErrorCode::DependencyUnresolved, action);
        let refused = |action: &str| failure(ErrorCode::ValidationConstraint, action);
        match error {
            BeadError::Store(error) => error.into(),
            BeadError::LongTitle(long) => long.into(),
            BeadError::Invalid(_) => Self::new(ErrorCode::ValidationInvalidPattern, message),
            BeadError::Unknown {
                near: Some(near), ..
            } => unresolved(&format!("did you mean {}?", excerpt(&near))),
            BeadError::Unknown {
                is_store_empty: true,
                ..
            } => unresolved(
                "the store is empty: `beads-ralph import` or `beads-ralph plan apply` fills it",
            ),
            BeadError::Unknown { .. } => unresolved("see `beads-ralph list --all` for the ids"),
            BeadError::Ambiguous { .. } => unresolved("type more of the id"),
            BeadError::Contended => refused("try again"),
            BeadError::NoProcess(_) => {
                refused("pass the number of a running process, or leave --pid out")
            }
            BeadError::LeaseTooLong => refused("choose a shorter --lease"),
            BeadError::Blocked { blockers, .. } => {
                let lines = blockers.iter().map(|blocker| {
                    let id = excerpt(blocker.id.as_str());
                    format!("{id} ({})", blocker.waiting.as_str())
                });
                refused("close the blockers first, or pass --force")
                    .details(lines.collect::<Vec<_>>().join("\n"))
            }
            BeadError::NobodyWouldHold(id) => refused(&format!(
                "claim it: beads-ralph claim {}",
                excerpt(id.as_str())
            )),
            BeadError::UnknownStatus(status) => {
                let known = Status::ALL.iter().map(|status| status.as_str());
                let action = if let Some(near) = did_you_mean(&status, known.clone()) {
                    format!("did you mean {near}? --force sets any status")
                } else {
                    let known = known.collect::<Vec<_>>().join(", ");
                    format!("known statuses are {known}; --force sets any status")
                };
                failure(ErrorCode::ValidationInvalidPattern, &action)
            }
            BeadError::Closed(id) => refused(&format!(
                "to work on it again: beads-ralph reopen {}",
                excerpt(id.as_str())
            )),
            BeadError::Unheld(_) => refused("if nobody works on it: beads-ralph recover --unheld"),
            BeadError::NotClaimed { .. } => {
                refused("there is nothing to release; `beads-ralph reopen` opens it")
            }
            BeadError::NoDependency { id, .. } => unresolved(&format!(
                "see `beads-ralph dep list {}`",
                excerpt(id.as_str())
            )),
            BeadError::NoProject(_) => failure(
                ErrorCode::ValidationInvalidPattern,
                "write it as external:project:name, without spaces",
            ),
        }
    }
}

impl From<MoleculeError> for Failure {
    fn from(error: MoleculeError) -> Self {
        let message = error.to_string();
        let action = match error {
            MoleculeError::Bead(error) => return error.into(),
            MoleculeError::NotOne { part_of, .. } => match part_of {
                Some(root) => format!("it is a step of {}: name that", excerpt(root.as_str())),
                None => "see `beads-ralph mol progress` for the molecules".to_owned(),
            },
            MoleculeError::NotWisp(_) => {
                "close it with `beads-ralph mol squash`, or delete it with --force".to_owned()
            }
        };
        Self::new(ErrorCode::ValidationConstraint, message).action(action)
    }
}

/// The exit code of what nothing can go on from (contracts §4.3).
const FATAL: u8 = 3;

/// The exit code of a bead that somebody else holds (contracts §4.3).
pub(crate) const ALREADY_CLAIMED: u8 = 4;

/// The next step for whoever met an error of the store.
fn what_to_do(error: &StoreError) -> String {
    let text = match error {
        StoreError::NotInitialized { .. } => "run `beads-ralph init` in the repository's root",
        StoreError::Unresolved { .. } => {
            "insert the bead that it depends on first, or drop the dependency"
        }
        StoreError::NotFound(_) => "see `beads-ralph list --all` for the ids",
        StoreError::Exists(_) => "choose another id, or update the bead that is there",
        StoreError::Edit { error, .. } => return what_to_do_about(error),
        StoreError::Invalid { .. } => "correct the listed fields",
        StoreError::Cycle(_) => "remove one dependency of the named cycle",
        StoreError::Held { .. } => {
            "see with `beads-ralph ready` what else there is; when the lease is over or the holder is dead, `beads-ralph recover` frees it; if it is yours, pass --fence"
        }
        StoreError::InProgress(_) => {
            "choose another bead with `beads-ralph ready`; if nobody works on it, run `beads-ralph reopen` on it"
        }
        StoreError::NotClaimable { .. } => {
            "only an open bead can be claimed; `beads-ralph reopen` opens it"
        }
        StoreError::Blocked { .. } => {
            "close what it waits for first, or pass --force to take it all the same"
        }
        StoreError::Stale { .. } => {
            "stop: the bead is no longer yours; look at it with `beads-ralph show`"
        }
        StoreError::Timeout { .. } => "write it as 5s or 2m, or leave it unset",
        StoreError::Guard { .. } => "look at the bead with `beads-ralph show`, then decide anew",
        StoreError::Busy { .. } => "try again; if nothing else runs, see `beads-ralph doctor`",
        StoreError::Damaged { .. } => "run `beads-ralph doctor`, which says what can be saved",
        StoreError::Unusable { .. } => {
            "check the path and its permissions; `beads-ralph doctor` says more"
        }
        StoreError::WriteFailed { .. } => {
            "free some space on the disk, or raise the limit that is in the way, then try again"
        }
        StoreError::Unsupported(Capability::History) => {
            "bd keeps the history itself: see `bd history <id>`"
        }
        StoreError::Unsupported(_) => "use a store that can, such as the one of `beads-ralph init`",
        StoreError::File(error) => error.code().suggested_action(),
        StoreError::Specific(error) => error.advice,
    };
    text.to_owned()
}

fn what_to_do_about(error: &EditError) -> String {
    let text = match error {
        EditError::Kept { hint, .. } => hint,
        EditError::Invalid(_) | EditError::Word(_) => error.code().suggested_action(),
        EditError::OtherType { .. } => "remove it with `beads-ralph dep remove`, then add it anew",
        EditError::SelfDependency => "name another bead",
    };
    text.to_owned()
}

impl From<LongTitle> for Failure {
    fn from(long: LongTitle) -> Self {
        Self::new(ErrorCode::ValidationConstraint, long.to_string())
            .action("shorten it, and put the rest into the description")
    }
}

impl From<FilterFault> for Failure {
    fn from(fault: FilterFault) -> Self {
        Self::new(fault.code(), fault.to_string()).details(fault.to_string())
    }
}

impl From<GraphFault> for Failure {
    fn from(fault: GraphFault) -> Self {
        let details = match &fault {
            GraphFault::DuplicateId { ids } | GraphFault::SelfDependency { ids } => quoted(ids),
            GraphFault::Unresolved { missing } => missing
                .iter()
                .map(|(node, id)| format!("{}: {}", excerpt(node), excerpt(id)))
                .collect(),
            GraphFault::Cycle { path } => vec![quoted(path).join(" → ")],
        };
        Self::new(fault.code(), fault.to_string()).details(details.join("\n"))
    }
}

fn quoted(ids: &[String]) -> Vec<String> {
    ids.iter().map(|id| excerpt(id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e_2_exit_codes_follow_recoverability() {
        for code in ErrorCode::ALL {
            let failure = Failure::new(*code, "m");
            assert_eq!(failure.exit_code(), if code.recoverable() { 1 } else { 3 });
            let error = serde_json::to_value(failure.to_error()).unwrap();
            let keys: Vec<&String> = error.as_object().unwrap().keys().collect();
            assert_eq!(
                keys,
                [
                    "code",
                    "message",
                    "details",
                    "recoverable",
                    "suggested_action"
                ]
            );
        }
    }
}

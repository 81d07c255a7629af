//! The closed registries of error codes (contracts §4.2) and of warnings.

use std::fmt;

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant),* }

        impl $name {
            /// Every value, in the order of the registry.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The code as it is printed.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

codes! {
    /// A code that every error leaving the program carries (contracts §4.2).
    ErrorCode {
        /// A malformed heading or list, no headings, or an open fence.
        ParseMarkdown = "PARSE.MARKDOWN",
        /// A required field is absent or empty.
        ParseMissingSection = "PARSE.MISSING_SECTION",
        /// A bad phase or sprint number, in a plan or a filter.
        ParseInvalidPattern = "PARSE.INVALID_PATTERN",
        /// A reference to something that does not exist.
        DependencyUnresolved = "DEPENDENCY.UNRESOLVED",
        /// Beads that wait for each other.
        DependencyCycleDetected = "DEPENDENCY.CYCLE_DETECTED",
        /// A bead that waits for itself.
        DependencySelfDep = "DEPENDENCY.SELF_DEP",
        /// One id for two things.
        DependencyDuplicateId = "DEPENDENCY.DUPLICATE_ID",
        /// A bead fails the model in more than one way.
        ValidationBeadSchema = "VALIDATION.BEAD_SCHEMA",
        /// A bead only lacks fields.
        ValidationMissingField = "VALIDATION.MISSING_FIELD",
        /// Values only fail their patterns or enumerations.
        ValidationInvalidPattern = "VALIDATION.INVALID_PATTERN",
        /// A constraint of the store or between beads.
        ValidationConstraint = "VALIDATION.CONSTRAINT",
        /// The store's program was not found.
        DatabaseCliNotFound = "DATABASE.CLI_NOT_FOUND",
        /// The repository has no store.
        DatabaseNotInitialized = "DATABASE.NOT_INITIALIZED",
        /// The store's daemon is needed and absent.
        DatabaseDaemonNotRunning = "DATABASE.DAEMON_NOT_RUNNING",
        /// Creating or verifying a bead failed.
        DatabaseInsertFailed = "DATABASE.INSERT_FAILED",
        /// A store call took too long.
        DatabaseTimeout = "DATABASE.TIMEOUT",
        /// No such formula.
        FormulaNotFound = "FORMULA.NOT_FOUND",
        /// A variable is absent.
        FormulaMissingVar = "FORMULA.MISSING_VAR",
        /// A variable's value is invalid.
        FormulaInvalidVar = "FORMULA.INVALID_VAR",
        /// A formula cannot be poured.
        FormulaPourFailed = "FORMULA.POUR_FAILED",
        /// An input is missing.
        IoFileNotFound = "IO.FILE_NOT_FOUND",
        /// A file cannot be read or written.
        IoPermissionDenied = "IO.PERMISSION_DENIED",
        /// The plan changed between reading and writing.
        PlanConcurrentEdit = "PLAN.CONCURRENT_EDIT",
    }
}

impl ErrorCode {
    /// Whether the caller can correct the cause and try again; otherwise the failure is fatal.
    pub fn recoverable(self) -> bool {
        match self {
            Self::DatabaseCliNotFound
            | Self::DatabaseNotInitialized
            | Self::DatabaseDaemonNotRunning
            | Self::IoFileNotFound
            | Self::IoPermissionDenied => false,
            Self::ParseMarkdown
            | Self::ParseMissingSection
            | Self::ParseInvalidPattern
            | Self::DependencyUnresolved
            | Self::DependencyCycleDetected
            | Self::DependencySelfDep
            | Self::DependencyDuplicateId
            | Self::ValidationBeadSchema
            | Self::ValidationMissingField
            | Self::ValidationInvalidPattern
            | Self::ValidationConstraint
            | Self::DatabaseInsertFailed
            | Self::DatabaseTimeout
            | Self::FormulaNotFound
            | Self::FormulaMissingVar
            | Self::FormulaInvalidVar
            | Self::FormulaPourFailed
            | Self::PlanConcurrentEdit => true,
        }
    }

    /// What the reader can do next, when nothing more specific is known.
    pub fn suggested_action(self) -> &'static str {
        match self {
            Self::ParseMarkdown => {
                "check that headings read `### Sprint X.Y: Title`, then run `beads-ralph plan check`"
            }
            Self::ParseMissingSection => "add the named section to the sprint",
            Self::ParseInvalidPattern => {
                "write the number as <phase>.<sprint>, each digits with optional lower-case letters (1.2a, 3b.4)"
            }
            Self::DependencyUnresolved => "check that the sprint or bead exists",
            Self::DependencyCycleDetected => "remove one dependency of the named cycle",
            Self::DependencySelfDep => "remove the bead from its own dependencies",
            Self::DependencyDuplicateId => "give one of the two another name",
            Self::ValidationBeadSchema => "correct the listed fields",
            Self::ValidationMissingField => "supply the missing fields",
            Self::ValidationInvalidPattern => "correct the value",
            Self::ValidationConstraint => "resolve the conflict that is named",
            Self::DatabaseCliNotFound => "install the store's program or correct PATH",
            Self::DatabaseNotInitialized => "run `beads-ralph init`",
            Self::DatabaseDaemonNotRunning => "start the store's daemon",
            Self::DatabaseInsertFailed => "look the bead up first, then try again",
            Self::DatabaseTimeout => "try again",
            Self::FormulaNotFound => "check the formula's name",
            Self::FormulaMissingVar => "pass the variable with --var name=value",
            Self::FormulaInvalidVar => "correct the variable's value",
            Self::FormulaPourFailed => "see the details",
            Self::IoFileNotFound => "check the path",
            Self::IoPermissionDenied => "check that the path is a regular file and its permissions",
            Self::PlanConcurrentEdit => "run the command again",
        }
    }

    /// Reads a code, also under the alias of seed 001.
    pub fn parse(text: &str) -> Option<Self> {
        if text == "VALIDATION.CONSTRAINT_VIOLATION" {
            return Some(Self::ValidationConstraint);
        }
        Self::ALL.iter().copied().find(|code| code.as_str() == text)
    }
}

codes! {
    /// The name of a warning: something that works but is probably not intended.
    WarningCode {
        /// An unsuffixed sprint beside suffixed ones of the same number (contracts §2.4).
        MixedGroup = "mixed-group",
        /// A merged suffix none of whose parts exist (contracts §2.4).
        MergedWithoutParts = "merged-without-parts",
        /// A heading that starts like a sprint heading but is not one (P-2).
        IgnoredHeading = "ignored-heading",
        /// A field name that is almost a known one.
        MisspeltField = "misspelt-field",
        /// An agent without a model (P-20).
        ModelNotNamed = "model-not-named",
        /// A QA agent without a text (P-21).
        DefaultQaPrompt = "default-qa-prompt",
        /// A sprint without verifiers (Z-31).
        NoMachineCheck = "no-machine-check",
        /// Only some of the sprints carry an estimate.
        PartlyEstimated = "partly-estimated",
        /// A merge sprint that joins fewer than two branches (B-31).
        NothingToMerge = "nothing-to-merge",
        /// A branch that git cannot create beside another (B-28).
        BranchClash = "branch-clash",
        /// A missing agent file, in a repository without agent files (B-17).
        AgentFileMissing = "agent-file-missing",
        /// An unknown model in an agent's front matter or in the configuration (B-20).
        ModelSkipped = "model-skipped",
        /// Characters that change the direction of the text.
        DeceptiveText = "deceptive-text",
        /// Text beside a list's name, which belongs to no item.
        IgnoredText = "ignored-text",
        /// A formula that this command does not pour (F-16).
        FormulaNotPoured = "formula-not-poured",
        /// A field of a formula that means nothing here (Z-38).
        FormulaField = "formula-field",
        /// Two files for one formula (F-1).
        FormulaShadowed = "formula-shadowed",
        /// A formula that recommends a wisp and is poured (F-9).
        FormulaVapor = "formula-vapor",
        /// A value for a variable that the formula does not declare (F-3).
        UndeclaredVariable = "undeclared-variable",
        /// Text in double braces that is not a variable of its formula (Z-43).
        UndeclaredPlaceholder = "undeclared-placeholder",
        /// A carriage return that ends no line.
        LoneCarriageReturn = "lone-carriage-return",
        /// A bead id in the plan that is not the one that the sprint has in the store (Z-10).
        IgnoredBeadId = "ignored-bead-id",
        /// Several beads of a store for one sprint (Z-10).
        SeveralBeads = "several-beads",
    }
}

/// The code of a diagnostic: an error's or a warning's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// An error of contracts §4.2.
    Error(ErrorCode),
    /// A warning.
    Warning(WarningCode),
}

impl Code {
    /// The code as it is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error(code) => code.as_str(),
            Self::Warning(code) => code.as_str(),
        }
    }
}

impl From<ErrorCode> for Code {
    fn from(code: ErrorCode) -> Self {
        Self::Error(code)
    }
}

impl From<WarningCode> for Code {
    fn from(code: WarningCode) -> Self {
        Self::Warning(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e_2_every_code_reads_back_and_says_what_to_do() {
        for code in ErrorCode::ALL {
            assert_eq!(ErrorCode::parse(code.as_str()), Some(*code));
            assert!(!code.suggested_action().is_empty());
        }
        assert_eq!(
            ErrorCode::parse("VALIDATION.CONSTRAINT_VIOLATION"),
            Some(ErrorCode::ValidationConstraint)
        );
        assert_eq!(ErrorCode::parse("NOPE"), None);
    }

    #[test]
    fn e_2_fatal_codes_are_those_of_the_table() {
        let fatal: Vec<_> = ErrorCode::ALL
            .iter()
            .filter(|code| !code.recoverable())
            .map(|code| code.as_str())
            .collect();
        assert_eq!(
            fatal,
            [
                "DATABASE.CLI_NOT_FOUND",
                "DATABASE.NOT_INITIALIZED",
                "DATABASE.DAEMON_NOT_RUNNING",
                "IO.FILE_NOT_FOUND",
                "IO.PERMISSION_DENIED"
            ]
        );
    }
}

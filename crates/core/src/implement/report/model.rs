//! What a report says.

/// How the work on a stage ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The stage's own success criterion is met.
    Complete,
    /// A person must decide.
    NeedsHuman,
    /// It did not work.
    Failed,
}

impl Status {
    /// Every status.
    pub const ALL: [Self; 3] = [Self::Complete, Self::NeedsHuman, Self::Failed];

    /// The word in a report.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::NeedsHuman => "needs_human",
            Self::Failed => "failed",
        }
    }
}

/// A report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// How it ended.
    pub status: Status,
    /// What was run.
    pub evidence: Evidence,
    /// What a person must know.
    pub escalations: Vec<Escalation>,
    /// Work that was found on the way.
    pub discovered: Vec<Discovered>,
    /// What was committed.
    pub commits: Vec<Commit>,
    /// The cause of a bug, of a `bug-diagnoser`.
    pub root_cause_note: Option<String>,
    /// How to see the bug, of a `bug-diagnoser`.
    pub reproduction_steps: Option<String>,
    /// What a `docs-edits-team` did.
    pub docs_edits: Option<DocsEdits>,
    /// What a `pr-comment-fixer-team` did.
    pub comment_fix: Option<CommentFix>,
}

impl Report {
    /// A report that says nothing but how it ended.
    pub fn new(status: Status) -> Self {
        Self {
            status,
            evidence: Evidence::default(),
            escalations: Vec::new(),
            discovered: Vec::new(),
            commits: Vec::new(),
            root_cause_note: None,
            reproduction_steps: None,
            docs_edits: None,
            comment_fix: None,
        }
    }
}

/// What was run, each where it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The tests.
    pub tests: Option<Block>,
    /// The build.
    pub build: Option<Block>,
    /// The linter.
    pub lint: Option<Block>,
    /// The type checker.
    pub typecheck: Option<Block>,
}

impl Evidence {
    /// The blocks that are there, with their names.
    pub fn blocks(&self) -> impl Iterator<Item = (&'static str, &Block)> {
        let all = [
            ("tests", &self.tests),
            ("build", &self.build),
            ("lint", &self.lint),
            ("typecheck", &self.typecheck),
        ];
        all.into_iter()
            .filter_map(|(name, block)| Some((name, block.as_ref()?)))
    }
}

/// One thing that was run, or skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What.
    pub command: String,
    /// How it ended; none when that is not known.
    pub exit_code: Option<i64>,
    /// Whether it was not run.
    pub is_skipped: bool,
    /// How many tests passed and failed, of `tests`.
    pub counts: TestCounts,
    /// The required keys that it lacks.
    pub missing: Vec<&'static str>,
}

/// How many tests passed and failed; none where nobody could count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TestCounts {
    /// Those that passed.
    pub passing: Option<u64>,
    /// Those that failed.
    pub failing: Option<u64>,
}

/// Something that a person must know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Escalation {
    /// In a word.
    pub reason: String,
    /// In full.
    pub detail: String,
}

/// What discovered work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiscoveredType {
    /// Something is wrong.
    Bug,
    /// Something is to be done.
    Task,
    /// Something is to be tidied up.
    Chore,
}

impl DiscoveredType {
    /// Every type.
    pub const ALL: [Self; 3] = [Self::Bug, Self::Task, Self::Chore];

    /// The word in a report, which is the bead's type.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bug => "bug",
            Self::Task => "task",
            Self::Chore => "chore",
        }
    }
}

/// Work that was found on the way (W-4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovered {
    /// What is to be done.
    pub title: String,
    /// What it is.
    pub kind: DiscoveredType,
    /// How urgent it is.
    pub priority: u8,
    /// More about it.
    pub detail: String,
}

/// A commit: 40 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit(pub String);

/// What a `docs-edits-team` did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocsEdits {
    /// The files that it changed.
    pub files_changed: Vec<String>,
    /// Its commit, if it made one.
    pub commit: Option<Commit>,
    /// What it did.
    pub summary: String,
    /// What it left out, and why.
    pub skipped: Vec<(String, String)>,
}

/// What a comment of a review is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Classification {
    /// It is right.
    Fix,
    /// It is not.
    Skip,
    /// A person must say.
    Escalate,
}

/// What was done about a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It was mended now.
    CommittedFix,
    /// It was mended before.
    AlreadyAddressed,
    /// Nothing.
    NoAction,
}

/// What a `pr-comment-fixer-team` did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommentFix {
    /// What the comment is worth.
    pub classification: Classification,
    /// What was done about it.
    pub action: Action,
}

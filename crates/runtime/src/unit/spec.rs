//! What to run, and within which bounds.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::Utf8PathBuf;

/// What to run, and within which bounds.
#[derive(Debug, Clone)]
pub struct Spec {
    /// By what its processes are known.
    pub mark: Mark,
    /// The program and its arguments. A program without a `/` is looked for in the `PATH`.
    pub argv: Vec<String>,
    /// Where it runs.
    pub cwd: Utf8PathBuf,
    /// What its environment has that ours has not, and the other way round.
    pub env: Environment,
    /// What it reads.
    pub stdin: Stdin,
    /// When it must have ended.
    pub limits: Limits,
    /// The directory for `stdout` and `stderr` as they came; it exists. A file is made when there is something to keep.
    pub output: Option<Utf8PathBuf>,
}

/// By what the processes of a unit are known: the value of `BEADS_RALPH_UNIT` in their environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark(pub String);

impl Mark {
    /// The variable that carries a mark.
    pub const VARIABLE: &str = "BEADS_RALPH_UNIT";
}

/// The environment of a unit: the inherited one, less some names, plus some values (Z-23).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// Names that are kept from it; one that ends in `*` stands for all that begin so.
    pub without: Vec<String>,
    /// What is added last.
    pub with: BTreeMap<String, String>,
}

/// What a unit reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing: the end at once.
    Closed,
    /// A file, then the end. A program that never reads it blocks nobody.
    File(Utf8PathBuf),
}

/// When a unit must have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// After this time.
    pub wall: Option<Duration>,
    /// After this time without output.
    pub idle: Option<Duration>,
    /// How long it may take to end after it was asked to; then it is killed.
    pub grace: Duration,
}

impl Limits {
    /// What V-5 gives a unit to end by itself.
    pub const GRACE: Duration = Duration::from_secs(5);
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            wall: None,
            idle: None,
            grace: Self::GRACE,
        }
    }
}

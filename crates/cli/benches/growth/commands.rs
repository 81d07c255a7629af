//! What is measured.

/// How the time of a command may grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Growth {
    /// Not at all: a limited list, or a count of everything.
    None,
    /// As that of `stats`, which has a target of its own.
    Stats,
    /// With what it prints or counts.
    Linear,
}

/// Commands, and how they may grow.
pub(crate) const COMMANDS: &[(&str, Growth)] = &[
    ("--version", Growth::None),
    ("show bd-000500", Growth::None),
    ("ready --limit 20", Growth::None),
    ("list", Growth::None),
    ("list --all", Growth::None),
    ("list --status closed", Growth::None),
    ("list --label common", Growth::None),
    ("list --label rare", Growth::None),
    ("list --type bug", Growth::None),
    ("list --priority 1", Growth::None),
    ("list --blocked", Growth::None),
    ("search login", Growth::None),
    ("log --limit 20", Growth::None),
    ("human list", Growth::None),
    ("blocked", Growth::None),
    ("gate list", Growth::None),
    ("gate check", Growth::None),
    ("qa-report", Growth::None),
    ("mol wisp list", Growth::None),
    ("stats", Growth::Stats),
    ("bd ready --limit 20", Growth::None),
    ("bd ready --limit 20 --json", Growth::None),
    ("bd list --limit 50", Growth::None),
    ("bd list --limit 50 --json", Growth::None),
    ("bd list --all --limit 50", Growth::None),
    ("bd list --flat --limit 50", Growth::None),
    ("bd list --status closed --limit 50", Growth::None),
    ("bd list --label common --limit 50", Growth::None),
    ("bd list --type bug --limit 50", Growth::None),
    ("bd count", Growth::None),
    ("bd count --by-status", Growth::None),
    ("bd count --by-type", Growth::None),
    ("bd count --by-priority", Growth::None),
    ("bd count --by-assignee", Growth::None),
    ("bd status", Growth::None),
    ("bd info", Growth::None),
    ("bd search login", Growth::None),
    ("bd stale --days 1", Growth::None),
    ("bd query status=open", Growth::None),
    ("bd gate list", Growth::None),
    ("bd human list", Growth::None),
    ("bd count --by-label", Growth::Linear),
    ("bd count --label common", Growth::Linear),
    ("bd label list-all", Growth::Linear),
    ("bd list --sort title --limit 50", Growth::Linear),
    ("list --sort updated", Growth::Linear),
    ("bd search nothing-is-named-so", Growth::Linear),
    ("search nothing-says-so", Growth::Linear),
    ("bd blocked", Growth::Linear),
    ("bd lint", Growth::Linear),
    ("status", Growth::Linear),
    ("list --all --limit 0", Growth::Linear),
    ("list --all --limit 0 --json", Growth::Linear),
    ("bd list --all", Growth::Linear),
    ("bd list --all --json", Growth::Linear),
    ("export", Growth::Linear),
    ("bd export", Growth::Linear),
];

/// Commands whose memory is measured, and whether it must stay the same.
pub(crate) const MEMORY: &[(&str, bool)] = &[
    ("list --all --limit 0", true),
    ("list --all --limit 0 --json", true),
    ("export", true),
    ("export --json", true),
    ("bd list --all --flat", true),
    ("bd list --all --json", true),
    ("bd export --all", true),
    // A tree is sorted by what is below what, so that a line of each bead is held.
    ("bd list --all", false),
];

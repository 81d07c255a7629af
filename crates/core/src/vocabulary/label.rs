//! Labels that mean something to this program.

/// Waits for an answer from a person.
pub const HUMAN: &str = "human";

/// A gate: other work waits until its checks pass.
pub const GATE: &str = "gate";

/// A bead that `drive` takes up.
pub const IMPLEMENTATION_READY: &str = "implementation-ready";

/// A bead whose work is ready to be merged.
pub const MERGE_READY: &str = "merge-ready";

/// A bead whose work may be merged without asking.
pub const AUTO_MERGEABLE: &str = "auto-mergeable";

/// A bead whose work a person has verified.
pub const VERIFIED_BY_HUMAN: &str = "verified-by-human";

/// Filed by `patrol`, which closes nothing else.
pub const PATROL: &str = "patrol";

/// A template of the real `bd`, which is not work by itself.
pub const TEMPLATE: &str = "template";

/// The lane of new work.
pub const LANE_FEATURE: &str = "lane-feature";

/// Names the stage of a molecule's step.
pub const STAGE_PREFIX: &str = "stage-";

/// Names the formula that a bead asks for.
pub const FORMULA_PREFIX: &str = "formula-";

/// Names the group whose gates hold a feature back.
pub const GROUP_PREFIX: &str = "group-";

/// Names the phase of a plan's sprint.
pub const PHASE_PREFIX: &str = "phase-";

/// Names the worktree of a bead.
pub const WORKTREE_PREFIX: &str = "worktree-path-";

/// Names the pull request of a bead.
pub const PULL_REQUEST_PREFIX: &str = "pr-url-";

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

/// Names the bead that a molecule was poured for.
pub const FOR_BEAD_PREFIX: &str = "for-bead-";

/// Names a worker that did a step, and its iteration.
pub const WORKER_AUDIT_PREFIX: &str = "worker-audit-";

/// Work in review loops is wanted.
pub const RALF_REQUIRED: &str = "ralf:required";

/// Names the most cycles of every review loop.
pub const RALF_CYCLES_PREFIX: &str = "ralf:cycles=";

/// Names the most cycles of writing tests.
pub const RED_TESTS_CAP_PREFIX: &str = "iteration-cap-red-tests-";

/// Names the most cycles of making tests pass.
pub const GREEN_LOOP_CAP_PREFIX: &str = "iteration-cap-green-loop-";

/// Names the most cycles of a review.
pub const REVIEW_CYCLE_CAP_PREFIX: &str = "iteration-cap-review-cycle-";

/// Names how deep the review is.
pub const REVIEW_LEVEL_PREFIX: &str = "review-level:";

/// Names how much of the code tests must cover, in percent.
pub const COVERAGE_THRESHOLD_PREFIX: &str = "coverage-threshold-";

/// Copilot's approval alone ends a review.
pub const REVIEW_EXIT_COPILOT: &str = "review-exit-copilot-only";

/// Names how many people must approve before a review ends.
pub const REVIEW_EXIT_APPROVERS_PREFIX: &str = "review-exit-human-approvers-";

/// Names in how many review cycles no other vendor's agent could look.
pub const FOREIGN_EYES_DEGRADED_PREFIX: &str = "foreign-eyes-degraded:";

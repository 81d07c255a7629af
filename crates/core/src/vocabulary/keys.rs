//! Keys of an issue's document and of its metadata.

/// Keys of an issue's document.
pub mod field {
    /// Its name.
    pub const ID: &str = "id";
    /// What it is about, on one line.
    pub const TITLE: &str = "title";
    /// What it is about, at length.
    pub const DESCRIPTION: &str = "description";
    /// Where it stands.
    pub const STATUS: &str = "status";
    /// What it is.
    pub const ISSUE_TYPE: &str = "issue_type";
    /// How urgent it is.
    pub const PRIORITY: &str = "priority";
    /// The role that it is for.
    pub const ASSIGNEE: &str = "assignee";
    /// Its labels.
    pub const LABELS: &str = "labels";
    /// Its edges.
    pub const DEPENDENCIES: &str = "dependencies";
    /// What its makers added.
    pub const METADATA: &str = "metadata";
    /// Its notes.
    pub const NOTES: &str = "notes";
    /// When it was made.
    pub const CREATED_AT: &str = "created_at";
    /// When the work on it began.
    pub const STARTED_AT: &str = "started_at";
    /// When it is due.
    pub const DUE_AT: &str = "due_at";
    /// When it last changed.
    pub const UPDATED_AT: &str = "updated_at";
    /// When it was closed.
    pub const CLOSED_AT: &str = "closed_at";
    /// Why it was closed.
    pub const CLOSE_REASON: &str = "close_reason";
    /// Until when it is put off.
    pub const DEFER_UNTIL: &str = "defer_until";
    /// Its moments.
    pub const TIMES: [&str; 6] = [
        CREATED_AT,
        UPDATED_AT,
        STARTED_AT,
        CLOSED_AT,
        DUE_AT,
        DEFER_UNTIL,
    ];
    /// How long it is expected to take. A bead of a plan has it below `metadata`, the real `bd` beside the title.
    pub const ESTIMATED_MINUTES: &str = "estimated_minutes";
    /// The group that a bead belongs to: in a file at the top, in a store below `metadata`.
    pub const CONVOY: &str = "convoy";
    /// What the real `bd` notes of a lease: until when, the last sign of life, and the replica that granted it. Here the
    /// claim says so; only a bead whose claim was made elsewhere has them in its document.
    pub const LEASE: [&str; 3] = ["lease_expires_at", "heartbeat_at", "lease_granted_node"];
}

/// Keys of an issue's metadata.
pub mod metadata {
    /// Why a red gate blocked it: in `metadata` of an issue, in `ralph_meta` of a bead file.
    pub const HELD_BY_GATES: &str = "held_by_gates";
    /// What a document keeps for this program in a store that has no place for it.
    pub const BEADS_RALPH: &str = "beads_ralph";
    /// Where it stands in its plan.
    pub const SOURCE_MAP: &str = "source_map";
    /// What a molecule keeps of the formula.
    pub const MOLECULE: &str = "molecule";
    /// The stage of a step.
    pub const STAGE: &str = "stage";
    /// The commit that the work began from.
    pub const BASE_COMMIT: &str = "base_commit";
    /// The commit that passed every check.
    pub const VERIFIED_COMMIT: &str = "verified_commit";
    /// The directory of the work.
    pub const WORKTREE_PATH: &str = "worktree_path";
    /// How many attempts were made.
    pub const ATTEMPT_COUNT: &str = "attempt_count";
    /// The address of the pull request.
    pub const PR_URL: &str = "pr_url";
    /// The number of the pull request.
    pub const PR_NUMBER: &str = "pr_number";
    /// The file of the plan.
    pub const PLAN_FILE: &str = "plan_file";
    /// The number of the sprint.
    pub const SPRINT: &str = "sprint";
    /// The branch of its work.
    pub const BRANCH: &str = "branch";
    /// The checks, the evidence and the bounds of the work.
    pub const DOD: &str = "dod";
    /// How the executor of one bead stands.
    pub const RALPH_META: &str = "ralph_meta";
    /// The lane of the work.
    pub const LANE: &str = "lane";
    /// The bounds of the work.
    pub const CONSTRAINTS: &str = "constraints";
    /// When a gate was last checked.
    pub const CHECKED_AT: &str = "checked_at";
    /// What agents took.
    pub const RECEIPT: &str = "receipt";
    /// The commit that was made and not judged yet.
    pub const SEALED_COMMIT: &str = "sealed_commit";
    /// The run and the effect that wrote last.
    pub const BEADS_RALPH_RUN: &str = "beads_ralph_run";
    /// The agent that leads the work.
    pub const SCRUM_MASTER_AGENT: &str = "scrum_master_agent";
    /// The session that leads the work.
    pub const SCRUM_MASTER_SESSION_ID: &str = "scrum_master_session_id";
    /// The session of the last dev agent.
    pub const DEV_AGENT_SESSION_ID: &str = "dev_agent_session_id";
    /// The dev agents.
    pub const DEV_AGENTS: &str = "dev_agents";
    /// The QA agents.
    pub const QA_AGENTS: &str = "qa_agents";
    /// How the sprint ended, as its leading agent or the run said.
    pub const SCRUM_RESULT: &str = "scrum_result";
    /// What the next attempt is told about the last one.
    pub const LAST_FEEDBACK: &str = "last_feedback";
    /// The runs of dev agents.
    pub const DEV_AGENT_EXECUTIONS: &str = "dev_agent_executions";
    /// The runs of QA agents.
    pub const QA_AGENT_EXECUTIONS: &str = "qa_agent_executions";
    /// What a person is asked.
    pub const QUESTION: &str = "question";
    /// The team of the sprint.
    pub const TEAM_NAME: &str = "team_name";
    /// The formula that a molecule was made from.
    pub const FORMULA: &str = "formula";
    /// The ids of a molecule's steps, in the order of the formula.
    pub const STEPS: &str = "steps";
    /// What makes a bead a gate.
    pub const BLOCKING: &str = "blocking";
}

/// Keys of `ralph_meta`, where the executor of one bead and the watchdog note how it stands.
pub mod ralph_meta {
    /// How many attempts the last run made.
    pub const ATTEMPT_COUNT: &str = "attempt_count";
    /// How many attempts all runs made.
    pub const TOTAL_ATTEMPTS: &str = "total_attempts";
    /// When the last attempt began.
    pub const LAST_ATTEMPT: &str = "last_attempt";
    /// What the checks said last.
    pub const VERIFIER_RESULTS: &str = "verifier_results";
    /// What went wrong last.
    pub const LAST_FAILURE_SUMMARY: &str = "last_failure_summary";
    /// Why the bead failed for good.
    pub const FAILURE_REASON: &str = "failure_reason";
    /// Whether a gate is green or red.
    pub const GATE_STATUS: &str = "gate_status";
    /// How long to wait after the first failure.
    pub const RETRY_BACKOFF_SECONDS: &str = "retry_backoff_seconds";
    /// How often the watchdog restarted it.
    pub const RESTART_COUNT: &str = "restart_count";
    /// When the watchdog last restarted it.
    pub const LAST_RESTART: &str = "last_restart";
}

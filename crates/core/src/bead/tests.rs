use serde_json::{Value, json};

use super::*;

pub(super) fn generation_1() -> Value {
    json!({
        "id": "bd-1", "title": "T", "description": "", "status": "open", "priority": 1,
        "issue_type": "beads-ralph-work", "assignee": "beads-ralph-scrum-master",
        "metadata": {
            "rig": "beads-ralph", "worktree_path": "../w", "branch": "feature/x", "source_branch": "main",
            "phase": "1", "sprint": "1.2", "plan_file": "p.md", "plan_section": "### Sprint 1.2: T",
            "plan_sprint_id": "1.2", "dev_agent_path": ".claude/agents/dev", "dev_model": "sonnet",
            "dev_prompts": ["Do it"],
            "qa_agents": [{
                "agent_path": ".claude/agents/qa", "model": "haiku", "prompt": "Check it",
                "output_schema": standard_output_schema(),
            }],
        },
        "created_at": "2026-02-07T10:00:00Z", "updated_at": "2026-02-07T10:00:00Z",
    })
}

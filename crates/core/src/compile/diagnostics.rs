//! The findings that need several sprints, or more than the plan: its agents, its configuration, its store.

mod agents;
mod relations;
mod sprints;

pub(crate) use agents::{
    agent_not_found, default_qa_prompt, model_not_named, model_skipped, no_agent_directory,
};
pub(crate) use relations::{
    branch_clash, branch_to_merge_missing, graph_limit, nothing_to_merge, numbering, shared_place,
};
pub(crate) use sprints::{
    formula_not_poured, long_bead_id, long_title, machine_check_required, no_machine_check,
    overruled_bead_id, partly_estimated, wrong_labels,
};

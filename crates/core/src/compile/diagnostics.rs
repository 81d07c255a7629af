//! The words of the findings that need more than one sprint, or more than the plan.

mod agent_not_found;
mod branch_clash;
mod branch_to_merge_missing;
mod default_qa_prompt;
mod formula_not_poured;
mod graph_limit;
mod long_bead_id;
mod long_title;
mod machine_check_required;
mod model_not_named;
mod model_skipped;
mod no_agent_directory;
mod no_machine_check;
mod nothing_to_merge;
mod numbering;
mod overruled_bead_id;
mod partly_estimated;
mod shared_place;

pub(crate) use agent_not_found::agent_not_found;
pub(crate) use branch_clash::branch_clash;
pub(crate) use branch_to_merge_missing::branch_to_merge_missing;
pub(crate) use default_qa_prompt::default_qa_prompt;
pub(crate) use formula_not_poured::formula_not_poured;
pub(crate) use graph_limit::graph_limit;
pub(crate) use long_bead_id::long_bead_id;
pub(crate) use long_title::long_title;
pub(crate) use machine_check_required::machine_check_required;
pub(crate) use model_not_named::model_not_named;
pub(crate) use model_skipped::model_skipped;
pub(crate) use no_agent_directory::no_agent_directory;
pub(crate) use no_machine_check::no_machine_check;
pub(crate) use nothing_to_merge::nothing_to_merge;
pub(crate) use numbering::numbering;
pub(crate) use overruled_bead_id::overruled_bead_id;
pub(crate) use partly_estimated::partly_estimated;
pub(crate) use shared_place::shared_place;

//! The findings about the text of a plan: message, places, fix and fixtures of each, in one file for each
//! theme. The parser decides that something is wrong; these functions say so.

mod agents;
mod annotations;
mod fields;
mod headings;
mod text;
mod values;
mod verifiers;

pub(crate) use agents::{bad_agent_name, malformed_agent, unknown_model};
pub(crate) use annotations::{
    misplaced_annotation, no_bead_id, shared_bead_ids, unfinished_annotation,
};
pub(crate) use fields::{
    gate_without_verifiers, missing_sections, misspelt_field, repeated_field, text_beside_list,
};
pub(crate) use headings::{
    bad_number, duplicate_sprint, malformed_heading, near_miss_heading, not_a_sprint,
};
pub(crate) use text::{
    direction_mark, lone_carriage_return, no_sprints, nul_character, open_comment, open_fence,
};
pub(crate) use values::{bad_bead_id, bad_branch, bad_estimate, unknown_type};
pub(crate) use verifiers::{
    bad_verifier_value, malformed_verifier, repeated_verifier_option, stray_verifier_text,
    unknown_verifier_option, verifier_beside_list,
};

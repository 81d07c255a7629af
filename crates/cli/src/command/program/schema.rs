//! `schema`: the JSON Schemas of what the program writes and reads.

use beads_ralph_core::diag::{ErrorCode, did_you_mean};
use beads_ralph_core::text::excerpt;
use beads_ralph_core::{bead, dod, formula, implement};
use clap::Args;
use serde_json::json;

use crate::failure::Failure;
use crate::ui::{Ui, lines, pretty};

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The schema's name; without it, the names of all
    pub(crate) name: Option<String>,
}

pub(crate) fn run(args: &SchemaArgs, ui: &Ui) -> Result<(), Failure> {
    let reports = implement::report::schemas();
    let schemas = [bead::schemas(), dod::schemas(), formula::schemas(), reports].concat();
    let names = || schemas.iter().map(|(name, _)| *name);
    let Some(wanted) = &args.name else {
        if ui.is_json() {
            return ui.data(&json!({"schemas": names().collect::<Vec<_>>()}));
        }
        return ui.out(&lines(names()));
    };
    let Some((_, schema)) = schemas.iter().find(|(name, _)| name == wanted) else {
        let failure = Failure::new(
            ErrorCode::IoFileNotFound,
            format!("there is no schema `{}`", excerpt(wanted)),
        );
        return Err(match did_you_mean(wanted, names()) {
            Some(near) => failure.action(format!("did you mean `{near}`?")),
            None => failure.action(format!(
                "the schemas are {}",
                names().collect::<Vec<_>>().join(", ")
            )),
        });
    };
    if ui.is_json() {
        return ui.data(&json!({"name": wanted, "schema": schema}));
    }
    ui.out(&pretty(schema))
}

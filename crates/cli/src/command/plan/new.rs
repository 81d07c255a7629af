//! `plan new`: a commented template.

use beads_ralph_runtime::os::files;
use camino::Utf8PathBuf;
use clap::Args;
use serde_json::json;

use crate::failure::Failure;
use crate::ui::{Ui, quoted};

#[derive(Debug, Args)]
pub(crate) struct PlanNewArgs {
    /// The file to write; it must not exist yet
    pub(crate) plan: Utf8PathBuf,
}

/// The template; a test holds it to passing `plan check` without a word.
pub(crate) const TEMPLATE: &str = include_str!("../../../assets/template.md");

pub(crate) fn run(args: &PlanNewArgs, ui: &Ui) -> Result<(), Failure> {
    files::create_new(&args.plan, TEMPLATE.as_bytes())?;
    if ui.is_json() {
        return ui.data(&json!({"plan_file": args.plan}));
    }
    let plan = quoted(&args.plan);
    ui.say(&format!(
        "wrote {plan}\nnext: edit it, then: beads-ralph plan check {plan}\n"
    ));
    Ok(())
}

//! `man`: the manual page, with a section for every command.

use beads_ralph_core::diag::ErrorCode;
use clap::CommandFactory as _;
use serde_json::json;

use crate::args::Cli;
use crate::failure::Failure;
use crate::ui::Ui;

pub(crate) fn run(ui: &Ui) -> Result<(), Failure> {
    let mut page = Vec::new();
    let mut command = Cli::command();
    command.build();
    render(&command, &mut page).map_err(|error| {
        Failure::new(
            ErrorCode::IoPermissionDenied,
            format!("cannot write the manual: {error}"),
        )
    })?;
    let page = String::from_utf8_lossy(&page);
    if ui.is_json() {
        ui.data(&json!({"man": page}))
    } else {
        ui.out(&page)
    }
}

fn render(command: &clap::Command, page: &mut Vec<u8>) -> std::io::Result<()> {
    let man = clap_mangen::Man::new(command.clone());
    man.render(page)?;
    let mut pending: Vec<clap::Command> = command.get_subcommands().cloned().collect();
    pending.reverse();
    while let Some(command) = pending.pop() {
        if command.get_name() == "help" || command.is_hide_set() {
            continue;
        }
        let below: Vec<clap::Command> = command.get_subcommands().cloned().collect();
        pending.extend(below.into_iter().rev());
        let man = clap_mangen::Man::new(command);
        man.render_name_section(page)?;
        man.render_synopsis_section(page)?;
        man.render_options_section(page)?;
    }
    Ok(())
}

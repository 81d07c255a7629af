//! What the program prints about itself: completion scripts, the manual page, and the JSON Schemas of what it writes and reads.

use beads_ralph_core::diag::{ErrorCode, did_you_mean};
use beads_ralph_core::text::excerpt;
use beads_ralph_core::{bead, dod, formula, implement};
use clap::{Args, CommandFactory as _};
use serde::Serialize;
use serde_json::Value;

use crate::args::Cli;
use crate::failure::Failure;
use crate::ui::format::list_of;
use crate::ui::{Ui, lines, pretty};

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Serialize)]
struct Completions<'s> {
    shell: String,
    script: &'s str,
}

pub(crate) fn completions(args: &CompletionsArgs, ui: &Ui) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "beads-ralph", &mut script);
    let script = String::from_utf8_lossy(&script);
    if ui.is_json() {
        ui.data(&Completions {
            shell: args.shell.to_string(),
            script: &script,
        })
    } else {
        ui.out(&script)
    }
}

pub(crate) fn man(ui: &Ui) -> Result<(), Failure> {
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
        ui.data_under("man", &page)
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

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The schema's name; without it, the names of all
    pub(crate) name: Option<String>,
}

#[derive(Serialize)]
struct OneSchema<'s> {
    name: &'s str,
    schema: &'s Value,
}

pub(crate) fn schema(args: &SchemaArgs, ui: &Ui) -> Result<(), Failure> {
    let reports = implement::report::schemas();
    let schemas = [bead::schemas(), dod::schemas(), formula::schemas(), reports].concat();
    let names = || schemas.iter().map(|(name, _)| *name);
    let Some(wanted) = &args.name else {
        if ui.is_json() {
            return ui.data_under("schemas", &names().collect::<Vec<_>>());
        }
        return ui.out(&lines(names()));
    };
    let Some((_, schema)) = schemas.iter().find(|(name, _)| name == wanted) else {
        let failure = Failure::new(
            ErrorCode::IoFileNotFound,
            format!("unknown schema `{}`", excerpt(wanted)),
        );
        return Err(match did_you_mean(wanted, names()) {
            Some(near) => failure.action(format!("did you mean `{near}`?")),
            None => failure.action(format!("the schemas are {}", list_of(names(), usize::MAX))),
        });
    };
    if ui.is_json() {
        return ui.data(&OneSchema {
            name: wanted,
            schema,
        });
    }
    ui.out(&pretty(schema))
}

//! `bead`: bead files.

pub(crate) mod create;
pub(crate) mod migrate;
pub(crate) mod validate;

use clap::Subcommand;

use self::migrate::BeadMigrateArgs;
use self::validate::BeadValidateArgs;
use crate::failure::Failure;
use crate::ui::Ui;

#[derive(Debug, Subcommand)]
pub(crate) enum BeadCommand {
    /// Check bead files against the schema
    Validate(BeadValidateArgs),
    /// Rewrite a bead for another generation of readers
    Migrate(BeadMigrateArgs),
}

pub(crate) fn run(command: &BeadCommand, ui: &Ui) -> Result<(), Failure> {
    match command {
        BeadCommand::Validate(args) => validate::run(args, ui),
        BeadCommand::Migrate(args) => migrate::run(args, ui),
    }
}

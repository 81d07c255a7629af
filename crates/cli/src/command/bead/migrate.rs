//! `bead migrate`: a bead for another generation of readers (B-4).

use beads_ralph_core::bead::{FieldError, error_code, parse_document, to_both, to_v1, to_v2};
use beads_ralph_runtime::{os::files, repo};
use camino::{Utf8Path, Utf8PathBuf};
use clap::Args;
use serde_json::json;

use super::validate::read_input;
use crate::args::ShapeArg;
use crate::failure::Failure;
use crate::ui::{Ui, pretty};

#[derive(Debug, Args)]
pub(crate) struct BeadMigrateArgs {
    /// The bead file; none or `-` is standard input
    pub(crate) file: Option<Utf8PathBuf>,
    /// Which generation to write
    #[arg(long, value_enum)]
    pub(crate) to: ShapeArg,
    /// Rewrite the file instead of printing
    #[arg(long, requires = "file")]
    pub(crate) in_place: bool,
}

pub(crate) fn run(args: &BeadMigrateArgs, ui: &Ui) -> Result<(), Failure> {
    let path = args.file.as_deref().unwrap_or(Utf8Path::new("-"));
    let bytes = read_input(path)?;
    let document = parse_document(&bytes).map_err(|error| invalid(path, &[error]))?;
    let migrate = match args.to {
        ShapeArg::V1 => to_v1,
        ShapeArg::V2 => to_v2,
        ShapeArg::Both => to_both,
    };
    let migrated = migrate(&document).map_err(|errors| invalid(path, &errors))?;
    let text = pretty(&migrated);
    if args.in_place && path != "-" {
        let is_changed = migrated != document;
        if is_changed {
            files::replace(path, &bytes, text.as_bytes())?;
        }
        if ui.is_json() {
            return ui.data(&json!({"bead": migrated, "file_updated": is_changed}));
        }
        ui.say(&format!(
            "{}: {}\n",
            repo::shown(path),
            if is_changed {
                "migrated"
            } else {
                "nothing to change"
            }
        ));
        return Ok(());
    }
    if ui.is_json() {
        ui.data(&json!({"bead": migrated}))
    } else {
        ui.out(&text)
    }
}

fn invalid(path: &Utf8Path, errors: &[FieldError]) -> Failure {
    let lines: Vec<String> = errors.iter().map(FieldError::to_string).collect();
    let message = format!(
        "{} cannot be migrated: {}",
        repo::shown(path),
        lines.join("; ")
    );
    Failure::new(error_code(errors), message).details(lines.join("\n"))
}

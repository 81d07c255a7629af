//! `create-bead`: a bead with checks, written to `.ralph/beads` (V-17).
//!
//! Data: `{id, path}`.

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::dod;
use beads_ralph_core::issue::check_title;
use beads_ralph_runtime::os::files::{self, FileError};
use beads_ralph_runtime::repo;
use camino::Utf8PathBuf;
use clap::Args;
use serde_json::{Value, json};

use crate::command::work;
use crate::failure::Failure;
use crate::ui::{Ui, quoted};

#[derive(Debug, Args)]
pub(crate) struct CreateBeadArgs {
    /// What is to be accomplished
    #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) intent: String,
    /// A command that must succeed, alone or as NAME=COMMAND; may be given several times
    #[arg(long = "verifier", value_name = "COMMAND", required = true, value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) verifiers: Vec<String>,
    /// What it is called; without it the beginning of the intent
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Its id; without it gt-ralph- and four digits
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
}

/// How many numbers four digits make.
const MAX_NUMBER: usize = 9999;

pub(crate) fn run(args: &CreateBeadArgs, ui: &Ui) -> Result<(), Failure> {
    let ralph = work::project()?;
    ralph.prepare()?;
    let directory = ralph.beads();
    let (id, path) = match &args.id {
        Some(id) => {
            let path = directory.join(format!("{id}.json"));
            write(args, id, &path)?;
            (id.clone(), path)
        }
        None => numbered(args, &directory)?,
    };
    if ui.is_json() {
        return ui.data(&json!({"id": id, "path": path}));
    }
    ui.out(&format!("{id}\n"))?;
    ui.say(&format!(
        "written to {}\nnext: beads-ralph exec {id}\n",
        quoted(&path)
    ));
    Ok(())
}

/// Takes the first number that is free; another process that creates at the same time gets another one.
fn numbered(
    args: &CreateBeadArgs,
    directory: &Utf8PathBuf,
) -> Result<(String, Utf8PathBuf), Failure> {
    for number in 1..=MAX_NUMBER {
        let id = format!("gt-ralph-{number:04}");
        let path = directory.join(format!("{id}.json"));
        if path.exists() {
            continue;
        }
        match write(args, &id, &path) {
            Err(failure) if failure.code() == ErrorCode::DependencyDuplicateId => {}
            Err(failure) => return Err(failure),
            Ok(()) => return Ok((id, path)),
        }
    }
    Err(Failure::new(
        ErrorCode::ValidationConstraint,
        "every number of four digits is taken",
    )
    .action("name the bead yourself with --id"))
}

fn write(args: &CreateBeadArgs, id: &str, path: &Utf8PathBuf) -> Result<(), Failure> {
    if let Some(title) = &args.title {
        check_title(title)?;
    }
    let document = document(args, id);
    dod::read(document.clone(), None).map_err(|errors| {
        let listed: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let code = beads_ralph_core::bead::error_code(&errors);
        Failure::new(code, listed.join("; "))
    })?;
    files::create_new(path, &files::to_json(&document)).map_err(|error| match error {
        FileError::Exists { path } => Failure::new(
            ErrorCode::DependencyDuplicateId,
            format!("{} exists already", repo::shown(&path)),
        )
        .action("choose another --id"),
        error => error.into(),
    })
}

fn document(args: &CreateBeadArgs, id: &str) -> Value {
    let mut document = json!({"id": id});
    if let Some(title) = &args.title {
        document["title"] = title.as_str().into();
    }
    document["intent"] = args.intent.as_str().into();
    document["type"] = "task".into();
    document["priority"] = 2.into();
    document["dod"] = json!({"verifiers": verifiers(&args.verifiers), "evidence_required": true});
    document["constraints"] = json!({"max_iterations": 10, "time_budget_minutes": 60});
    document["status"] = "pending".into();
    document
}

/// The checks that somebody typed.
pub(crate) fn verifiers(typed: &[String]) -> Vec<Value> {
    let numbered = typed.iter().enumerate();
    numbered.map(|(n, text)| verifier(n + 1, text)).collect()
}

/// `NAME=COMMAND`, or a command alone. A name holds no space, so that `A=1 make` stays a command.
fn verifier(number: usize, text: &str) -> Value {
    let named = text.split_once('=').filter(|(name, command)| {
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.');
        let is_variable = name
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit());
        !name.is_empty() && !command.trim().is_empty() && name.chars().all(is_name) && !is_variable
    });
    match named {
        Some((name, command)) => json!({"name": name, "command": command.trim()}),
        None => json!({"name": format!("verifier {number}"), "command": text}),
    }
}

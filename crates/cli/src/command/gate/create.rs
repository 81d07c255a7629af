//! `gate create`: a gate, written into the store (Z-28), or into `.ralph/gates` where there is none.
//!
//! Data: `{id, path}`; `path` is null for a gate of the store. It is red until it is run.

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::dod;
use beads_ralph_core::issue::{Entry, Label, check_id};
use beads_ralph_core::text::excerpt;
use beads_ralph_core::vocabulary::{field, label};
use beads_ralph_runtime::app::beads::Beads;
use beads_ralph_runtime::os::files::{self, FileError};
use beads_ralph_runtime::repo;
use beads_ralph_runtime::store::{StoreError, Write};
use camino::Utf8PathBuf;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::{Value, json};

use crate::args::Global;
use crate::command::bead::create::verifiers;
use crate::failure::Failure;
use crate::governing;
use crate::ui::{Ui, quoted};

#[derive(Debug, Args)]
pub(crate) struct GateCreateArgs {
    /// Its id
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// A command that must succeed, alone or as NAME=COMMAND; may be given several times
    #[arg(long = "verifier", value_name = "COMMAND", required = true, value_parser = NonEmptyStringValueParser::new())]
    pub(crate) verifiers: Vec<String>,
    /// What it is called; without it the id
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) title: Option<String>,
    /// The group that it is for: features of the group are held back by its gates only
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) group: Option<String>,
    /// Keep it open when it is green
    #[arg(long)]
    pub(crate) stays_open: bool,
    /// Write it into .ralph/gates, also where there is a store
    #[arg(long)]
    pub(crate) file: bool,
}

pub(super) fn run(args: &GateCreateArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    if let Some(group) = &args.group {
        Label::parse(&format!("{}{group}", label::GROUP_PREFIX)).map_err(|invalid| {
            Failure::new(ErrorCode::ValidationInvalidPattern, invalid.to_string())
                .action("choose another name for --group")
        })?;
    }
    let beads = governing::store_if_any(global)?.filter(|_| !args.file);
    let path = match beads {
        Some(mut beads) => {
            stored(args, &mut beads)?;
            None
        }
        None => Some(filed(args)?),
    };
    if ui.is_json() {
        return ui.data(&json!({"id": args.id, "path": path}));
    }
    ui.out(&format!("{}\n", excerpt(&args.id)))?;
    let place = path.map_or("the store".to_owned(), |path| quoted(&path));
    ui.say(&format!(
        "written to {place}; it is red until it is run\nnext: beads-ralph gate run {}\n",
        excerpt(&args.id)
    ));
    Ok(())
}

fn stored(args: &GateCreateArgs, beads: &mut Beads) -> Result<(), Failure> {
    let id = check_id(&args.id)
        .and_then(|id| dod::check_name(&args.id).map(|()| id))
        .map_err(|invalid| {
            Failure::new(ErrorCode::ValidationInvalidPattern, invalid.to_string())
        })?;
    let mut labels = vec![label::GATE.to_owned()];
    labels.extend(
        args.group
            .iter()
            .map(|group| format!("{}{group}", label::GROUP_PREFIX)),
    );
    let document = json!({
        "id": id.as_str(),
        "title": title(args),
        "description": intent(args),
        "issue_type": "task",
        "status": "open",
        "priority": 0,
        "labels": labels,
        "created_at": beads.by.stamp().time(),
        "updated_at": beads.by.stamp().time(),
        "metadata": {"lane": "gate", "dod": definition(args), "blocking": blocking(args)},
    });
    let entry = Entry::from_document(document).map_err(|errors| StoreError::Invalid {
        id: args.id.clone(),
        errors,
    })?;
    let write = Write::Insert(Box::new(entry));
    beads.store.write(&[write], beads.by.stamp())?;
    Ok(())
}

fn filed(args: &GateCreateArgs) -> Result<Utf8PathBuf, Failure> {
    let mut document = json!({
        "id": args.id,
        "title": title(args),
        "intent": intent(args),
        "type": "gate",
        "priority": 0,
        "lane": "gate",
        "dod": definition(args),
        "blocking": blocking(args),
        "status": "pending",
    });
    if let Some(group) = &args.group {
        document[field::CONVOY] = group.as_str().into();
    }
    dod::read(document.clone(), None).map_err(|errors| {
        let listed: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let code = beads_ralph_core::bead::error_code(&errors);
        Failure::new(code, listed.join("; "))
    })?;
    let ralph = governing::main_project()?;
    ralph.prepare()?;
    files::create_directory(&ralph.gates())?;
    let path = ralph.gates().join(format!("{}.json", args.id));
    files::create_new(&path, &files::to_json(&document)).map_err(|error| match error {
        FileError::Exists { path } => {
            let message = format!("{} exists already", repo::shown(&path));
            Failure::new(ErrorCode::DependencyDuplicateId, message).action("choose another id")
        }
        error => error.into(),
    })?;
    Ok(path)
}

fn title(args: &GateCreateArgs) -> String {
    let title = args.title.clone();
    title.unwrap_or_else(|| format!("[GATE] {}", args.id))
}

fn intent(args: &GateCreateArgs) -> String {
    format!(
        "Keep the gate green: {}",
        args.title.as_ref().unwrap_or(&args.id)
    )
}

fn definition(args: &GateCreateArgs) -> Value {
    json!({"verifiers": verifiers(&args.verifiers), "evidence_required": true})
}

fn blocking(args: &GateCreateArgs) -> Value {
    json!({"is_gate": true, "auto_close_on_pass": !args.stays_open})
}

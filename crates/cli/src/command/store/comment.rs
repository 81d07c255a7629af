//! `comment`: says something about a bead.
//!
//! Data: `{id, comment: {issue_id, author, text, created_at}, comment_count}`.

use std::io;

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::issue::{Edit, new_comment};
use beads_ralph_runtime::os::files;
use beads_ralph_runtime::store::Write;
use camino::Utf8Path;
use clap::Args;
use serde_json::json;

use crate::args::{Global, GuardArgs};
use crate::beads::Beads;
use crate::failure::Failure;
use crate::ui::bead_view::named;
use crate::ui::{Ui, counted};

#[derive(Debug, Args)]
pub(crate) struct CommentArgs {
    /// The bead
    pub(crate) id: String,
    /// What to say; `-` is standard input
    #[arg(required = true)]
    pub(crate) text: Vec<String>,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
}

pub(crate) fn run(args: &CommentArgs, global: &Global, ui: &Ui) -> Result<(), Failure> {
    let text = said(args)?;
    let mut beads = Beads::open(global)?;
    let before = beads.resolve(&args.id)?;
    let id = before.issue.id().clone();
    let stamp = beads.by.stamp();
    let comment = new_comment(&id, stamp.actor, &text, &stamp.time());
    let write = Write::Update {
        id: id.clone(),
        edits: vec![Edit::Comment(comment.clone())],
        guard: beads.by.guard(&before, &args.guard),
    };
    let after = beads.change(write, &id)?;
    if ui.is_json() {
        return ui.data(&json!({
            "id": id.as_str(), "comment": comment.to_value(), "comment_count": after.n_comments,
        }));
    }
    let n_comments = counted(after.n_comments, "comment", "comments");
    ui.out(&format!("{}: {n_comments}\n", named(&after)))
}

fn said(args: &CommentArgs) -> Result<String, Failure> {
    let refused = |why: &str| {
        Failure::new(ErrorCode::ValidationConstraint, why)
            .action("write the comment behind the id, or pipe it in with -")
    };
    let text = if args.text == ["-"] {
        let bytes = files::read_limited(io::stdin().lock(), Utf8Path::new("-"))?;
        String::from_utf8(bytes).map_err(|_| refused("the comment is not UTF-8"))?
    } else {
        args.text.join(" ")
    };
    if text.trim().is_empty() {
        return Err(refused("the comment is empty"));
    }
    Ok(text.trim_end().to_owned())
}

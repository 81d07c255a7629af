//! `bd mol`: molecules and wisps in the real `bd`'s words, one file for each kind of command.

mod activity;
mod current;
mod family;
mod pour;
mod ready;
mod show;
mod squash;
mod wisps;

use beads_ralph_core::issue::Record;

use super::{
    Access, Command, Flag, ID, IDS, Opened, Refusal, ids, list_of, number, one, optional, string,
    switch, texts,
};

/// What wisps are made with.
const WISP_FLAGS: &[Flag] = &[
    switch("dry-run", "Show what would be made"),
    switch("root-only", "Only the root, without the steps"),
    texts("var", "A value for a variable: NAME=VALUE"),
];

pub(super) const COMMAND: Command = Command {
    name: "mol",
    aliases: &["protomolecule"],
    about: "Molecules and wisps",
    children: &[
        &Command {
            name: "burn",
            about: "Delete a molecule with its steps",
            positionals: IDS,
            flags: &[
                switch("dry-run", "Show what would be deleted"),
                switch("force", "Do not ask"),
                switch("yes", "The same as --force").short('y'),
            ],
            access: Access::Writes,
            run: Some(squash::burn),
            ..Command::NONE
        },
        &Command {
            name: "current",
            about: "Where one is in a molecule",
            positionals: &[optional("molecule-id")],
            flags: &[
                string("for", "The molecules of somebody else"),
                number("limit", "At most so many steps"),
                string("range", "The steps from here to there, such as 1-50"),
            ],
            run: Some(current::run),
            ..Command::NONE
        },
        &Command {
            name: "last-activity",
            about: "When something last happened to a molecule",
            positionals: ID,
            run: Some(activity::run),
            ..Command::NONE
        },
        &Command {
            name: "pour",
            about: "Make the beads of a formula",
            positionals: &[one("formula")],
            flags: &[
                string("assignee", "Who is to look after the root"),
                list_of("attach", "A formula that becomes a part of it"),
                switch("dry-run", "Show what would be made"),
                texts("var", "A value for a variable: NAME=VALUE"),
            ],
            not_served: &["attach-type"],
            access: Access::Writes,
            run: Some(pour::run),
            ..Command::NONE
        },
        &Command {
            name: "progress",
            about: "How far a molecule is",
            positionals: &[optional("molecule-id")],
            run: Some(activity::progress),
            ..Command::NONE
        },
        &Command {
            name: "ready",
            about: "Molecules that can go on because a gate is closed",
            flags: &[switch("gated", "Always so here")],
            run: Some(ready::run),
            ..Command::NONE
        },
        &Command {
            name: "show",
            about: "A molecule with its steps",
            positionals: ID,
            not_served: &["parallel"],
            run: Some(show::run),
            ..Command::NONE
        },
        &Command {
            name: "squash",
            about: "Put a digest in the place of a molecule's wisps",
            positionals: ID,
            flags: &[
                switch("dry-run", "Show what would be done"),
                switch("keep-children", "Do not delete the wisps"),
                string("summary", "The digest"),
            ],
            access: Access::Writes,
            run: Some(squash::run),
            ..Command::NONE
        },
        &Command {
            name: "stale",
            about: "Epics whose children are all closed",
            flags: &[
                switch("all", "Those without children too"),
                switch("blocking", "Only those that others wait for"),
                switch("unassigned", "Only those that are for nobody"),
            ],
            run: Some(ready::stale),
            ..Command::NONE
        },
        &Command {
            name: "wisp",
            about: "Make a wisp of a formula, or look after wisps",
            positionals: &[optional("formula")],
            flags: WISP_FLAGS,
            access: Access::Writes,
            run: Some(pour::wisp_or_help),
            children: &[
                &Command {
                    name: "create",
                    about: "Make a wisp of a formula",
                    positionals: &[one("formula")],
                    flags: WISP_FLAGS,
                    access: Access::Writes,
                    run: Some(pour::wisp),
                    ..Command::NONE
                },
                &Command {
                    name: "gc",
                    about: "Delete wisps that nobody has touched for long",
                    flags: &[
                        string("age", "For how long (default 1h)"),
                        switch("all", "Closed ones too"),
                        switch("dry-run", "Show what would be deleted"),
                        list_of("exclude-type", "None of these types"),
                    ],
                    not_served: &["closed", "force"],
                    access: Access::Writes,
                    run: Some(wisps::sweep),
                    ..Command::NONE
                },
                &Command {
                    name: "list",
                    about: "The wisps",
                    flags: &[
                        switch("all", "Closed ones too"),
                        string("type", "Of this type"),
                    ],
                    run: Some(wisps::list),
                    ..Command::NONE
                },
            ],
            ..Command::NONE
        },
    ],
    not_served: &["bond", "distill", "seed"],
    ..Command::NONE
};

/// The molecule that a text means, for commands that only look.
fn found(opened: &Opened, text: &str) -> Result<Record, Refusal> {
    ids::resolve(opened, text).map_err(|_| Refusal::json(format!("molecule '{text}' not found")))
}

/// The same, for commands that change it.
fn resolved(opened: &Opened, text: &str) -> Result<Record, Refusal> {
    ids::find(opened, "resolving molecule ID", text)
}

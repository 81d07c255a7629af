//! Help, made from the argument tree, and the version.

use super::tree::{COMMANDS, GLOBAL_FLAGS, Kind};
use super::{Command, Flag};

/// The version of the real `bd` whose surface this is.
pub(super) const VERSION: &str = "1.3.0";

/// Distinguishes our binary from the real one (Z-26).
pub(super) const BUILD: &str = "beads-ralph";

/// The version on one line.
pub(super) fn version_line() -> String {
    format!("bd version {VERSION} ({BUILD})\n")
}

/// What there is.
pub(super) fn overview() -> String {
    let mut text = String::from(
        "bd, as beads-ralph serves it: the beads of this repository.\n\nUsage:\n  bd [command]\n\nCommands:\n",
    );
    for command in COMMANDS {
        write_line(&mut text, command.name, command.about);
    }
    write_flags(&mut text, "\nFlags:\n", GLOBAL_FLAGS);
    text.push_str("\nUse \"bd [command] --help\" for more information about a command.\n");
    text
}

/// How a command is called.
pub(super) fn of(command: &Command, path: &[&str]) -> String {
    let mut text = format!("{}\n\nUsage:\n  bd {}", command.about, path.join(" "));
    for positional in command.positionals {
        let dots = if positional.is_many { "..." } else { "" };
        let name = positional.name;
        let shown = if positional.is_required {
            format!(" <{name}{dots}>")
        } else {
            format!(" [{name}{dots}]")
        };
        text.push_str(&shown);
    }
    text.push_str(" [flags]\n");
    if !command.aliases.is_empty() {
        text.push_str("\nAliases:\n  ");
        text.push_str(&command.aliases.join(", "));
        text.push('\n');
    }
    if !command.children.is_empty() {
        text.push_str("\nCommands:\n");
        for child in command.children {
            write_line(&mut text, child.name, child.about);
        }
    }
    write_flags(&mut text, "\nFlags:\n", command.flags);
    write_flags(&mut text, "\nGlobal Flags:\n", GLOBAL_FLAGS);
    text
}

fn write_flags(text: &mut String, heading: &str, flags: &[Flag]) {
    if flags.is_empty() {
        return;
    }
    text.push_str(heading);
    for flag in flags {
        let short = flag
            .short
            .map_or_else(|| "    ".to_owned(), |short| format!("-{short}, "));
        let value = match flag.kind {
            Kind::Switch => "",
            Kind::Text | Kind::Texts => " string",
            Kind::Number => " int",
            Kind::Duration => " duration",
            Kind::List => " strings",
        };
        write_line(text, &format!("{short}--{}{value}", flag.long), flag.about);
    }
}

fn write_line(text: &mut String, name: &str, about: &str) {
    push!(text, "  {name:<32} {about}\n");
}

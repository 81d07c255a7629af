//! The face: the real `bd`'s surface over our own store (Z-18, Z-20, Z-24, Z-26).
//!
//! Called as `bd` or as `beads-ralph bd …`. Agents and skills that call `bd` themselves find its flags, its JSON, its exit codes and
//! its words here, without a real `bd`. What is not served is an error that says so; a store that belongs to the real
//! `bd` is never worked on in its place. [`tree`] describes everything that is served.
//!
//! A command is in the file of its name. Those that share a file with another one: `undefer` and `reopen` are in [`defer`], `status` is in
//! [`count`], `statuses` in [`types`], `comment` and `note` in [`comments`], `info` and `where` in [`init`], `version` and `quickstart` in
//! [`help`], `heartbeat` in [`claims`], `supersede` in [`duplicate`].

/// Adds formatted text to a page.
macro_rules! push {
    ($page:expr, $($text:tt)*) => {
        $page.push_str(&format!($($text)*))
    };
}

mod arguments;
mod blocked;
mod call;
mod claims;
mod close;
mod comments;
mod config;
mod count;
mod create;
mod defer;
mod delete;
mod dep;
mod document_json;
mod duplicate;
mod epic;
mod export;
mod filter;
mod gate;
mod go_json;
mod help;
mod human;
mod ids;
mod import;
mod init;
mod input;
mod inside_run;
mod issue_json;
mod label;
mod lint;
mod list;
mod mol;
mod output;
mod prime;
mod purge;
mod query;
mod ready;
mod reclaim;
pub(crate) mod registered_types;
mod search;
mod show;
mod stale;
mod text;
mod times;
mod tree;
mod types;
mod update;

use call::custom_types;

use std::process::ExitCode;

use beads_ralph_runtime::os::env::{self, Variable};
use beads_ralph_runtime::store;
use camino::Utf8PathBuf;

use arguments::{Arguments, Read, quoted};
use call::{Call, Opened};
use filter::Filter;
use output::{Output, Refusal};
use text::{feedback, icon, line, title_of};
use tree::{
    Access, Arity, Command, Flag, ID, IDS, Positional, any, duration, list_of, many, number, one,
    optional, string, switch, texts,
};

/// The word that prints the argument tree, for the test that compares everything in it with the real `bd`.
const TREE: &str = "__tree";

/// Runs a call of the face: everything that was typed after `bd`.
pub(crate) fn run(typed: &[String]) -> ExitCode {
    let mut output = Output {
        is_json: false,
        is_envelope: env::get(Variable::BdJsonEnvelope).as_deref() == Some("1"),
        is_quiet: false,
    };
    let done = work(typed, &mut output);
    ExitCode::from(done.map_or_else(|refusal| refusal.print(output), |()| 0))
}

fn work(typed: &[String], output: &mut Output) -> Result<(), Refusal> {
    if typed.first().is_some_and(|word| word == TREE) {
        return output.encoded(&go_json::encode(&tree::describe()));
    }
    if let Some(place) = kept_by_bd(typed) {
        check_reading(typed)?;
        return Err(handed_over(&place, typed));
    }
    let Read {
        command,
        path,
        arguments,
    } = arguments::read(typed)?;
    output.is_json = arguments.is_on("json") || is_json_by_format(command, &arguments);
    output.is_quiet = arguments.is_on("quiet");
    let Some(command) = command else {
        if arguments.is_on("version") {
            return output.text(&help::version_line());
        }
        return output.text(&help::overview());
    };
    let Some(run) = command.run.filter(|_| !arguments.is_on("help")) else {
        if let Some(word) = arguments.words.first()
            && command.not_served.contains(&word.as_str())
        {
            let what = format!("the command {} {word}", path.join(" "));
            return Err(Refusal::not_served(&what));
        }
        return output.text(&help::of(command, &path));
    };
    let mut call = Call {
        arguments: &arguments,
        output: *output,
        here: here(arguments.filled("directory"))?,
        typed,
    };
    let writes = is_writing(command, &arguments);
    if writes && arguments.is_on("readonly") {
        let flag = match command.access {
            Access::WritesWith(flag) => format!(" --{flag}"),
            Access::Reads | Access::Writes => String::new(),
        };
        return Err(Refusal::plain(read_only(&path, &flag)));
    }
    if writes {
        inside_run::Caller::here().check(&path, &arguments)?;
    }
    run(&mut call)
}

/// Whether `--format json` was given to a command that has no `--format` of its own.
fn is_json_by_format(command: Option<&Command>, arguments: &Arguments) -> bool {
    let is_own = command.is_some_and(|command| {
        let mut flags = command.flags.iter().chain(command.shared);
        flags.any(|flag| flag.long == "format")
    });
    let is_json = |format: &str| format.eq_ignore_ascii_case("json");
    !is_own && arguments.text("format").is_some_and(is_json)
}

fn is_writing(command: &Command, arguments: &Arguments) -> bool {
    match command.access {
        Access::Reads => false,
        Access::Writes => true,
        Access::WritesWith(flag) => (arguments.filled(flag)).is_some_and(|value| value != "false"),
    }
}

/// What the real `bd` says of a command that writes where nothing may be written.
fn read_only(path: &[&str], flag: &str) -> String {
    let doing = match path {
        ["import"] => "import failed",
        ["config", "set"] => "setting config",
        ["config", "unset"] => "deleting config",
        _ => {
            let path = match path {
                ["mol", "pour"] => "pour".to_owned(),
                ["mol", "wisp"] | ["mol", "wisp", "create"] => "wisp create".to_owned(),
                _ => path.join(" ").replace("comments add", "comment add"),
            };
            return format!("operation '{path}{flag}' is not allowed in read-only mode");
        }
    };
    format!("{doing}: embeddeddolt: store is read-only")
}

fn here(directory: Option<&str>) -> Result<Utf8PathBuf, Refusal> {
    let here = crate::args::here()?;
    match directory {
        None => Ok(here),
        Some(directory) => {
            let path = here.join(directory);
            if path.is_dir() {
                return Ok(path);
            }
            Err(Refusal::plain(format!(
                "cannot use -C directory {}: stat {path}: no such file or directory",
                arguments::quoted(directory)
            )))
        }
    }
}

/// In a unit, only what reads is handed over to the real `bd` (Z-18), whose claims know no fence of ours.
fn check_reading(typed: &[String]) -> Result<(), Refusal> {
    if inside_run::Caller::here() == inside_run::Caller::Outside {
        return Ok(());
    }
    let read = arguments::read(typed)?;
    match read.command {
        Some(command) if is_writing(command, &read.arguments) => {
            inside_run::Caller::Reader.check(&read.path, &read.arguments)
        }
        _ => Ok(()),
    }
}

/// The session that a close is noted with.
fn env_session(arguments: &Arguments) -> Option<String> {
    let named = arguments.filled("session").map(str::to_owned);
    named.or_else(|| env::get(Variable::ClaudeSessionId))
}

/// The store of a call, if the real `bd` keeps it. By its version our own program is told from the real one, so that is never
/// handed over.
fn kept_by_bd(typed: &[String]) -> Option<store::Place> {
    let mut words = typed.iter().map(String::as_str);
    let (mut directory, mut named, mut command) = (None, None, None);
    while let Some(word) = words.next() {
        match word {
            "-C" | "--directory" => directory = words.next(),
            "--db" => named = words.next(),
            word if word.starts_with('-') => {
                directory = word.strip_prefix("--directory=").or(directory);
                named = word.strip_prefix("--db=").or(named);
            }
            word => command = command.or(Some(word)),
        }
    }
    let is_version = |word: &str| matches!(word, "--version" | "-V");
    if command == Some("version") || typed.iter().any(|word| is_version(word)) {
        return None;
    }
    let named = named.filter(|path| !path.is_empty());
    let place = call::place(&here(directory).ok()?, named).ok()?;
    place.is_foreign().then_some(place)
}

/// Refuses what does not only read, by our own knowledge of the commands.
fn check_reads(typed: &[String]) -> Result<(), Refusal> {
    if typed.iter().any(|word| word.starts_with("--readonly")) {
        return Err(inside_run::refused("--readonly is set by the run"));
    }
    let Read {
        command,
        path,
        arguments,
    } = arguments::read(typed)?;
    if command.is_some_and(|command| is_writing(command, &arguments)) {
        return Err(inside_run::refused(&format!(
            "bd {} writes",
            path.join(" ")
        )));
    }
    Ok(())
}

/// What becomes of a call on a store that the real `bd` keeps: the real program takes it over, and inside a unit it only reads
/// (Z-18, Z-26). Comes back only when it cannot.
fn handed_over(place: &store::Place, typed: &[String]) -> Refusal {
    let program = match place.kind.find_owner(place) {
        Ok(owner) => owner.program,
        Err(error) => return error.into(),
    };
    let mut arguments = typed.to_vec();
    if inside_run::Caller::here() != inside_run::Caller::Outside {
        if let Err(refusal) = check_reads(typed) {
            return refusal;
        }
        arguments.insert(0, "--readonly".to_owned());
    }
    let error = beads_ralph_runtime::os::process::replace_by(&program, &arguments);
    Refusal::plain(format!("cannot start {program}: {error}"))
}

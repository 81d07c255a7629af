//! The one argument tree of the face: every command and every flag once, as data.
//!
//! Commands are read the way the real `bd` reads them (see [`arguments`](super::arguments)), help is made from the same
//! data, and `__tree` prints it, so that whatever is compared with the real program is what is served. Each command's
//! part stands in the command's own file.

use serde::Serialize;

use super::{
    Call, Refusal, blocked, claims, close, comments, config, count, create, defer, delete, dep,
    duplicate, epic, export, gate, help, human, import, init, label, lint, list, mol, prime, purge,
    query, ready, reclaim, search, show, stale, types, update,
};

/// A command, or a group of commands.
pub(super) struct Command {
    pub(super) name: &'static str,
    /// Other words for it.
    pub(super) aliases: &'static [&'static str],
    /// What it does, in a few words.
    pub(super) about: &'static str,
    /// What stands beside the flags.
    pub(super) positionals: &'static [Positional],
    /// How many of them there may be.
    pub(super) arity: Arity,
    pub(super) flags: &'static [Flag],
    /// Flags that it has in common with another command.
    pub(super) shared: &'static [Flag],
    /// Flags of the real `bd` that are refused, with a word that says so; for a group, its commands that are.
    pub(super) not_served: &'static [&'static str],
    /// Sets of flags of which at most one may be given.
    pub(super) exclusive: &'static [&'static [&'static str]],
    pub(super) children: &'static [&'static Self],
    /// What it does to the store.
    pub(super) access: Access,
    /// The work; none for a group that is nothing by itself.
    pub(super) run: Option<Run>,
}

pub(super) type Run = fn(&mut Call<'_>) -> Result<(), Refusal>;

impl Command {
    /// A command without anything, to be filled in.
    pub(super) const NONE: Self = Self {
        name: "",
        aliases: &[],
        about: "",
        positionals: &[],
        arity: Arity::Named,
        flags: &[],
        shared: &[],
        not_served: &[],
        exclusive: &[],
        children: &[],
        access: Access::Reads,
        run: None,
    };

    /// How many words beside the flags it takes.
    pub(super) fn n_words(&self) -> Arity {
        let names = self.positionals;
        let n_required = names.iter().filter(|name| name.is_required).count();
        let takes_many = names.is_empty() || names.iter().any(|name| name.is_many);
        match (self.arity, n_required) {
            (Arity::Named, 0) if takes_many => Arity::Any,
            (Arity::Named, n) if takes_many => Arity::AtLeast(n),
            (Arity::Named, 0) => Arity::AtMost(names.len()),
            (Arity::Named, n) => Arity::Exactly(n),
            (own, _) => own,
        }
    }

    /// All its flags, in order of their names.
    pub(super) fn all_flags(&self) -> Vec<Flag> {
        let mut flags = [self.flags, self.shared].concat();
        flags.sort_by_key(|flag| flag.long);
        flags
    }
}

/// What a command does to the store (Z-18).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Reads,
    /// Writes, always.
    Writes,
    /// Writes only when this flag is given.
    WritesWith(&'static str),
}

/// A word beside the flags.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Positional {
    pub(super) name: &'static str,
    #[serde(rename = "required")]
    pub(super) is_required: bool,
    #[serde(rename = "many")]
    pub(super) is_many: bool,
}

/// How many words beside the flags a command takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arity {
    /// As many as it has names for.
    Named,
    /// Any number; the command itself may say more.
    Any,
    /// None at all: anything is taken for a command that does not exist.
    None,
    Exactly(usize),
    AtLeast(usize),
    AtMost(usize),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Flag {
    pub(super) long: &'static str,
    pub(super) short: Option<char>,
    pub(super) kind: Kind,
    pub(super) about: &'static str,
}

/// What a flag takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// Nothing: it is given or not.
    Switch,
    /// A text; the last one counts.
    Text,
    /// A whole number; the last one counts.
    Number,
    /// A time span, as Go writes it; the last one counts.
    Duration,
    /// Texts with commas between them; all that are given count.
    List,
    /// A text; all that are given count.
    Texts,
}

pub(super) const fn switch(long: &'static str, about: &'static str) -> Flag {
    flag(long, Kind::Switch, about)
}

pub(super) const fn string(long: &'static str, about: &'static str) -> Flag {
    flag(long, Kind::Text, about)
}

pub(super) const fn number(long: &'static str, about: &'static str) -> Flag {
    flag(long, Kind::Number, about)
}

pub(super) const fn duration(long: &'static str, about: &'static str) -> Flag {
    flag(long, Kind::Duration, about)
}

pub(super) const fn list_of(long: &'static str, about: &'static str) -> Flag {
    flag(long, Kind::List, about)
}

pub(super) const fn texts(long: &'static str, about: &'static str) -> Flag {
    flag(long, Kind::Texts, about)
}

const fn flag(long: &'static str, kind: Kind, about: &'static str) -> Flag {
    Flag {
        long,
        short: None,
        kind,
        about,
    }
}

impl Flag {
    /// The same with a letter.
    pub(super) const fn short(mut self, letter: char) -> Self {
        self.short = Some(letter);
        self
    }
}

pub(super) const fn one(name: &'static str) -> Positional {
    positional(name, true, false)
}

pub(super) const fn many(name: &'static str) -> Positional {
    positional(name, true, true)
}

pub(super) const fn optional(name: &'static str) -> Positional {
    positional(name, false, false)
}

pub(super) const fn any(name: &'static str) -> Positional {
    positional(name, false, true)
}

const fn positional(name: &'static str, is_required: bool, is_many: bool) -> Positional {
    Positional {
        name,
        is_required,
        is_many,
    }
}

pub(super) const IDS: &[Positional] = &[many("id")];

pub(super) const ID: &[Positional] = &[one("id")];

/// Flags that every command takes.
pub(super) const GLOBAL_FLAGS: &[Flag] = &[
    string(
        "actor",
        "Who writes (default: BEADS_ACTOR, git user.name, USER)",
    ),
    string("db", "Work on the store at this path"),
    string("directory", "Work in this directory").short('C'),
    string("format", "json for the same as --json"),
    switch("help", "Show this help").short('h'),
    switch("json", "Answer in JSON"),
    switch("no-color", "No colour; there is none in any case"),
    switch("quiet", "Say nothing but errors").short('q'),
    switch("readonly", "Refuse whatever writes"),
    switch(
        "sandbox",
        "Push nothing to others; nothing is pushed in any case",
    ),
    switch("verbose", "Say more; there is nothing more to say").short('v'),
];

/// Flags of the real `bd` that every command there takes and none here.
pub(super) const GLOBAL_NOT_SERVED: &[&str] = &[
    "cpu-profile",
    "database",
    "dolt-auto-commit",
    "global",
    "ignore-schema-skew",
    "mem-profile",
];

/// What only the call without a command takes.
pub(super) const ROOT_FLAGS: &[Flag] = &[switch("version", "Print the version").short('V')];

/// Every command that is served.
pub(super) const COMMANDS: &[&Command] = &[
    &blocked::COMMAND,
    &close::COMMAND,
    &comments::COMMAND,
    &comments::SHORT,
    &config::COMMAND,
    &count::COMMAND,
    &create::COMMAND,
    &defer::COMMAND,
    &defer::UNDO,
    &delete::COMMAND,
    &dep::COMMAND,
    &epic::COMMAND,
    &export::COMMAND,
    &gate::COMMAND,
    &claims::HEARTBEAT,
    &help::COMMAND,
    &human::COMMAND,
    &import::COMMAND,
    &init::INFO,
    &init::WHERE,
    &init::COMMAND,
    &types::STATUSES,
    &types::TYPES,
    &label::COMMAND,
    &lint::LINT,
    &list::COMMAND,
    &mol::COMMAND,
    &comments::NOTE,
    &prime::COMMAND,
    &purge::COMMAND,
    &query::COMMAND,
    &help::QUICKSTART,
    &ready::COMMAND,
    &reclaim::COMMAND,
    &defer::REOPEN,
    &duplicate::DUPLICATE,
    &duplicate::SUPERSEDE,
    &search::COMMAND,
    &show::COMMAND,
    &stale::COMMAND,
    &count::STATUS,
    &update::COMMAND,
    &help::VERSION_COMMAND,
];

/// Commands of the real `bd` that are not served.
#[rustfmt::skip]
pub(super) const NOT_SERVED: &[&str] = &[
    "admin", "ado", "assign", "audit", "backup", "batch", "bootstrap", "branch", "children", "compact", "completion",
    "conflicts", "context", "cook", "create-form", "diff", "doctor", "dolt", "duplicates", "edit", "events", "federation",
    "find-duplicates", "flatten", "forget", "formula", "gc", "github", "gitlab", "graph", "history", "hooks", "init-safety",
    "jira", "kv", "linear", "link", "mail", "memories", "merge-slot", "metrics", "migrate", "migrate-personal", "notion",
    "onboard", "orphans", "ping", "preflight", "priority", "promote", "provenance", "prune", "q", "recall",
    "recompute-blocked", "remember", "rename", "rename-prefix", "repo", "restore", "rules", "schema", "serve", "set-state",
    "setup", "ship", "sql", "state", "swarm", "sync", "tag", "todo", "unclaim", "upgrade", "vc", "worktree",
];

/// The command of a word among some.
pub(super) fn named(commands: &[&'static Command], word: &str) -> Option<&'static Command> {
    commands
        .iter()
        .copied()
        .find(|command| command.name == word || command.aliases.contains(&word))
}

/// The whole tree as data.
#[derive(Serialize)]
pub(super) struct Description {
    commands: Vec<CommandData>,
    global_flags: Vec<FlagData>,
    root_flags: Vec<FlagData>,
}

#[derive(Serialize)]
struct CommandData {
    path: Vec<&'static str>,
    aliases: &'static [&'static str],
    positionals: &'static [Positional],
    flags: Vec<FlagData>,
    not_served: &'static [&'static str],
    writes: bool,
}

#[derive(Serialize)]
struct FlagData {
    long: &'static str,
    takes_value: bool,
    repeatable: bool,
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    short: Option<char>,
}

pub(super) fn describe() -> Description {
    let mut commands = Vec::new();
    for command in COMMANDS {
        describe_command(command, &mut Vec::new(), &mut commands);
    }
    Description {
        commands,
        global_flags: describe_flags(GLOBAL_FLAGS),
        root_flags: describe_flags(ROOT_FLAGS),
    }
}

fn describe_command(
    command: &'static Command,
    path: &mut Vec<&'static str>,
    commands: &mut Vec<CommandData>,
) {
    path.push(command.name);
    if command.run.is_some() {
        commands.push(CommandData {
            path: path.clone(),
            aliases: command.aliases,
            positionals: command.positionals,
            flags: describe_flags(&command.all_flags()),
            not_served: command.not_served,
            writes: command.access != Access::Reads,
        });
    }
    for child in command.children {
        describe_command(child, path, commands);
    }
    path.pop();
}

fn describe_flags(flags: &[Flag]) -> Vec<FlagData> {
    let flags = flags.iter().map(|flag| FlagData {
        long: flag.long,
        takes_value: flag.kind != Kind::Switch,
        repeatable: matches!(flag.kind, Kind::List | Kind::Texts),
        kind: flag.kind,
        short: flag.short,
    });
    flags.collect()
}

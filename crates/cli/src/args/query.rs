//! The arguments of the commands that read the store.

use beads_ralph_core::issue::Order;
use camino::Utf8PathBuf;
use clap::{Args, ValueEnum};

use super::change::HolderArgs;

/// Which beads are wanted.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FilterArgs {
    /// Only with all of these labels
    #[arg(short, long, value_name = "LABELS", value_delimiter = ',')]
    pub(crate) label: Vec<String>,
    /// Only with one of these labels
    #[arg(long, value_name = "LABELS", value_delimiter = ',')]
    pub(crate) label_any: Vec<String>,
    /// Only of these types
    #[arg(
        short = 't',
        long = "type",
        value_name = "TYPES",
        value_delimiter = ','
    )]
    pub(crate) types: Vec<String>,
    /// Only for this role
    #[arg(short, long, value_name = "NAME")]
    pub(crate) assignee: Option<String>,
    /// Only with this priority: 0 is most urgent, 4 least
    #[arg(short, long, value_name = "N", value_parser = priority)]
    pub(crate) priority: Option<i64>,
}

#[derive(Debug, Args)]
pub(crate) struct ReadyArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// How many to show at the most; 0 shows all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
    /// Claim the first one that can be had
    #[arg(long)]
    pub(crate) claim: bool,
    #[command(flatten)]
    pub(crate) holder: HolderArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Only with one of these statuses; without it, everything that is not done
    #[arg(
        short,
        long,
        value_name = "STATUSES",
        value_delimiter = ',',
        conflicts_with = "all"
    )]
    pub(crate) status: Vec<String>,
    /// Whatever the status, and templates and bookkeeping too
    #[arg(long)]
    pub(crate) all: bool,
    /// Only without any of these labels
    #[arg(long, value_name = "LABELS", value_delimiter = ',')]
    pub(crate) no_label: Vec<String>,
    /// Only direct parts of this bead
    #[arg(long, value_name = "ID")]
    pub(crate) parent: Option<String>,
    /// Only with this value under a key of the metadata; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) metadata: Vec<(String, String)>,
    /// Only what is held under this name
    #[arg(long, value_name = "NAME")]
    pub(crate) holder: Option<String>,
    /// Only what you hold
    #[arg(long, conflicts_with = "holder")]
    pub(crate) mine: bool,
    /// Only what waits for something, with what it waits for
    #[arg(long)]
    pub(crate) blocked: bool,
    /// The order
    #[arg(long, value_enum, default_value_t = SortArg::Priority, value_name = "BY")]
    pub(crate) sort: SortArg,
    /// How many to show at the most; 0 shows all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortArg {
    /// The most urgent first, among those the newest
    Priority,
    /// The oldest first
    Oldest,
    /// The latest change first
    Updated,
    /// By id
    Id,
}

impl From<SortArg> for Order {
    fn from(arg: SortArg) -> Self {
        match arg {
            SortArg::Priority => Self::Priority,
            SortArg::Oldest => Self::Oldest,
            SortArg::Updated => Self::Updated,
            SortArg::Id => Self::Id,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Words that all stand in the id, title, description or notes
    #[arg(required = true)]
    pub(crate) words: Vec<String>,
    /// Only with one of these statuses; without it, whatever the status
    #[arg(short, long, value_name = "STATUSES", value_delimiter = ',')]
    pub(crate) status: Vec<String>,
    /// How many to show at the most; 0 shows all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The beads: whole ids, or their first parts where only one id has them
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Show the comments too
    #[arg(long)]
    pub(crate) comments: bool,
}

#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// The bead; without it, the whole store
    pub(crate) id: Option<String>,
    /// How many changes to show at the most, the newest; 0 shows all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The file of JSON lines; `-` is standard input. Without it, .beads/issues.jsonl
    pub(crate) file: Option<Utf8PathBuf>,
    /// Also replace beads that are as new here or newer, but none that somebody holds
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Say what would happen, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The file to write, in one step; without it, standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<Utf8PathBuf>,
    /// Wisps too, which are left out because they are not meant to last
    #[arg(long)]
    pub(crate) all: bool,
}

/// A priority as people write it: `2` or `P2`.
pub(super) fn priority(text: &str) -> Result<i64, String> {
    let number = text.strip_prefix(['P', 'p']).unwrap_or(text);
    match number.parse() {
        Ok(priority @ 0..=4) => Ok(priority),
        _ => Err("a priority is a number from 0, most urgent, to 4".to_owned()),
    }
}

/// A key and a value around the first `=`.
pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write it as key=value".to_owned()),
    }
}

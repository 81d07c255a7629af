//! The arguments of the commands that run things.

use camino::Utf8PathBuf;
use clap::Args;

/// Which bead.
#[derive(Debug, Args)]
pub(crate) struct BeadChoice {
    /// The bead's id, or its file: looked for in .ralph/beads, .ralph/gates and .beads/active, then in the store
    #[arg(value_name = "BEAD", required_unless_present = "bead_file")]
    pub(crate) bead: Option<String>,
    /// The bead's file, without looking anywhere else
    #[arg(long, value_name = "FILE", conflicts_with = "bead")]
    pub(crate) bead_file: Option<Utf8PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) choice: BeadChoice,
}

#[derive(Debug, Args)]
pub(crate) struct LogsArgs {
    /// The bead's id
    #[arg(value_name = "BEAD")]
    pub(crate) bead: String,
    /// What to print, as it is named in the list; without it the list of what there is
    #[arg(value_name = "LOG")]
    pub(crate) log: Option<String>,
    /// Which run: its name, or how many runs back (1 is the one before the last)
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
}

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

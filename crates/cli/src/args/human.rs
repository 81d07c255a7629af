//! The arguments of the commands about what waits for a person.

use camino::Utf8PathBuf;
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum HumanCommand {
    /// List what waits for a person, the longest wait first
    List,
    /// Show why something waits for a person, the evidence, and the commands to type next
    Show(HumanShowArgs),
    /// Record the answer and go on: the step is done again, or gone past
    Resolve(HumanResolveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct HumanShowArgs {
    /// The bead, or the step of its molecule that waits
    pub(crate) id: String,
}

#[derive(Debug, Args)]
pub(crate) struct HumanResolveArgs {
    /// The bead, or the step of its molecule that waits
    pub(crate) id: String,
    /// What you say to it; it is kept with the bead
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) answer: Option<String>,
    /// The file that holds it; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "answer")]
    pub(crate) answer_file: Option<Utf8PathBuf>,
    /// Go past it instead of doing it again
    #[arg(long)]
    pub(crate) accept: bool,
    /// Do everything again from this stage on, such as green-loop
    #[arg(long, value_name = "STAGE", conflicts_with = "accept")]
    pub(crate) redo: Option<String>,
}

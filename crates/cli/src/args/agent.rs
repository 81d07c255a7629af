//! The arguments of the scripted agent.

use camino::Utf8PathBuf;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ScriptedAgentArgs {
    /// What it does, by what it is asked
    #[arg(long, value_name = "FILE")]
    pub(crate) scenario: Utf8PathBuf,
    /// The id that its session has
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// The model that it calls itself
    #[arg(long, value_name = "ID", default_value = "scripted")]
    pub(crate) model: String,
    /// The JSON Schema of its report; without one a report is a text
    #[arg(long, value_name = "JSON")]
    pub(crate) schema: Option<String>,
    /// Stop after so many turns
    #[arg(long, value_name = "N")]
    pub(crate) max_turns: Option<u32>,
    /// Stop when this was spent
    #[arg(long, value_name = "USD")]
    pub(crate) max_budget_usd: Option<f64>,
}

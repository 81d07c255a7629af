//! What a user configures about an adapter, or the whole of a new one (Z-22).

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;

use crate::bead::Model;
use crate::text::excerpt;

use super::adapter::duration;
use super::{AgentFiles, Argument, Permissions, PriceTable, Probe, Reading};

/// What a user configures about an adapter: `agents.adapters.<name>`. Maps are added to what is there, anything else
/// replaces it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Overrides {
    /// The built-in adapter that it is made from.
    pub kind: Option<String>,
    /// The program; a path is one from the repository's root.
    pub executable: Option<String>,
    /// Options for every call that names none of its own.
    pub options: Option<Vec<String>>,
    /// Added to the environment.
    pub env: BTreeMap<String, String>,
    /// Variables that it inherits although they look like those of a surrounding session.
    pub keeps: Option<Vec<String>>,
    /// The id of each tier's model (Z-30).
    pub models: BTreeMap<Model, String>,
    /// How hard each tier thinks.
    pub efforts: BTreeMap<Model, String>,
    /// How long a run may take.
    #[serde(deserialize_with = "duration")]
    pub timeout: Option<Duration>,
    /// How long it may be silent.
    #[serde(deserialize_with = "duration")]
    pub idle_timeout: Option<Duration>,
    /// What its tokens cost (Z-13).
    pub price: Option<PriceTable>,
    /// Its arguments.
    pub call: Option<Vec<Vec<Argument>>>,
    /// Options that the call sets itself.
    pub owns: Option<BTreeMap<String, usize>>,
    /// The arguments of each permission mode.
    pub permissions: BTreeMap<Permissions, Vec<String>>,
    /// How it comes to know an agent's file.
    pub agents: Option<AgentFiles>,
    /// How to find out about the program.
    pub probe: Option<Probe>,
    /// How its end is read.
    pub read: Option<Reading>,
    /// The version that this was tried with.
    pub verified: Option<String>,
}

impl Overrides {
    /// The first thing about it that cannot be meant, for a message.
    pub fn fault(&self) -> Option<String> {
        let is_blank = |text: &String| text.trim().is_empty();
        if self.executable.as_ref().is_some_and(is_blank) {
            return Some("`executable` is empty".to_owned());
        }
        if let Some(name) = self.price.as_ref().and_then(PriceTable::unsound) {
            return Some(format!("`price.{name}` holds a number that is no price"));
        }
        let is_name = |name: &&String| !name.is_empty() && !name.contains(['=', '\0']);
        if let Some(name) = self.env.keys().find(|name| !is_name(name)) {
            let name = excerpt(name);
            return Some(format!(
                "`env` has '{name}', which is no name of a variable"
            ));
        }
        self.read.as_ref().and_then(Reading::fault)
    }
}

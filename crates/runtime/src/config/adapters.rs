//! The agents that there are: those that are built in, changed and added to by the configuration (Z-22, Z-30).

use std::collections::BTreeMap;

use beads_ralph_core::agent::{Adapter, Overrides};
use beads_ralph_core::text::excerpt;
use camino::Utf8Path;

use super::document::AgentsKey;
use super::error::meant;
use crate::agent::{built_in, built_in_names};

/// What a program that nobody knows is run as.
const ANY_COMMAND: &str = "command";

/// Agents that are looked for when none is chosen, the first first.
const USUAL: [&str; 4] = ["claude", "codex", "gemini", "opencode"];

/// The agents that there are, and how they are run.
#[derive(Debug, Clone)]
pub struct Agents {
    /// The chosen one.
    default: Option<String>,
    /// All of them, by name, where they are not just those that are built in: reading those takes longer than most
    /// commands, and most commands run no agent.
    own: Option<BTreeMap<String, Adapter>>,
    /// Names of variables that are kept from agents; one that ends in `*` stands for all that begin so.
    pub withhold_env: Vec<String>,
}

impl Agents {
    pub(super) fn new(key: AgentsKey) -> Result<Self, String> {
        let is_changed = !key.adapters.is_empty()
            || key.default_executable.is_some()
            || key.default_options.is_some();
        let mut own = is_changed.then(|| built_in().clone());
        let mut default = None;
        if let Some(adapters) = &mut own {
            for (name, overrides) in key.adapters {
                let line = overrides.referenced.line();
                let adapter = adapter(&name, overrides.value).map_err(|fault| {
                    format!("line {line}: agents.adapters.{}: {fault}", excerpt(&name))
                })?;
                adapters.insert(name, adapter);
            }
            if let Some(executable) = key.default_executable {
                default = Some(by_executable(adapters, executable)?);
            }
        }
        let known = || -> Vec<&str> {
            match &own {
                Some(adapters) => adapters.keys().map(String::as_str).collect(),
                None => built_in_names().collect(),
            }
        };
        if let Some(chosen) = key.default {
            if !known().contains(&chosen.value.as_str()) || chosen.value == ANY_COMMAND {
                let hint = meant(&chosen.value, known());
                let (line, name) = (chosen.referenced.line(), excerpt(&chosen.value));
                return Err(format!(
                    "line {line}: agents.default: there is no agent `{name}`{hint}"
                ));
            }
            default = Some(chosen.value);
        }
        if let (Some(options), Some(adapters)) = (key.default_options, &mut own) {
            let name = default.as_deref().unwrap_or(USUAL[0]);
            if let Some(adapter) = adapters.get_mut(name) {
                adapter.options = options;
            }
        }
        Ok(Self {
            default,
            own,
            withhold_env: key.withhold_env.unwrap_or_default(),
        })
    }

    fn adapters(&self) -> &BTreeMap<String, Adapter> {
        self.own.as_ref().unwrap_or_else(|| built_in())
    }

    /// All agents, by name. The kind `command` is none by itself: it has no program.
    pub fn all(&self) -> impl Iterator<Item = &Adapter> {
        let adapters = self.adapters().values();
        adapters.filter(|adapter| !adapter.executable.is_empty())
    }

    /// An agent by its name.
    pub fn get(&self, name: &str) -> Option<&Adapter> {
        let adapter = self.adapters().get(name);
        adapter.filter(|adapter| !adapter.executable.is_empty())
    }

    /// The name that was probably meant by one that is unknown, as the end of a sentence.
    pub fn meant(&self, name: &str) -> String {
        meant(name, self.all().map(|adapter| adapter.name.as_str()))
    }

    /// The agent that is chosen in the configuration.
    pub fn chosen(&self) -> Option<&Adapter> {
        self.get(self.default.as_deref()?)
    }

    /// The agent that is used when a bead names none: the chosen one, else the first usual one that is installed.
    pub fn default(&self, is_installed: impl Fn(&Adapter) -> bool) -> &Adapter {
        let usual = || USUAL.iter().filter_map(|name| self.get(name));
        let found = self
            .chosen()
            .or_else(|| usual().find(|adapter| is_installed(adapter)));
        found
            .or_else(|| usual().next())
            .expect("the usual agents are built in")
    }
}

/// The adapter that a section describes.
fn adapter(name: &str, mut overrides: Overrides) -> Result<Adapter, String> {
    let known = built_in();
    let kind = match overrides.kind.take() {
        Some(kind) => kind,
        None if known.contains_key(name) => name.to_owned(),
        None => ANY_COMMAND.to_owned(),
    };
    let Some(base) = known.get(&kind) else {
        let hint = meant(&kind, known.keys().map(String::as_str));
        return Err(format!("there is no kind `{}`{hint}", excerpt(&kind)));
    };
    let adapter = base.with(name, overrides);
    match adapter.fault() {
        None => Ok(adapter),
        Some(fault) => Err(fault),
    }
}

/// The adapter for a program: the one that is named as it is, else one of its own. Its name is given back.
fn by_executable(
    adapters: &mut BTreeMap<String, Adapter>,
    executable: String,
) -> Result<String, String> {
    let stem = Utf8Path::new(&executable).file_stem().unwrap_or_default();
    let name = stem.to_owned();
    if let Some(known) = adapters.get_mut(&name).filter(|_| name != ANY_COMMAND) {
        known.executable = executable;
        return Ok(name);
    }
    let overrides = Overrides {
        executable: Some(executable),
        ..Overrides::default()
    };
    let own =
        adapter(&name, overrides).map_err(|fault| format!("agents.default_executable: {fault}"))?;
    adapters.insert(name.clone(), own);
    Ok(name)
}

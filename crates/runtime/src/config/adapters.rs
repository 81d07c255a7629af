//! The agents that there are: those that are built in, changed and added to by the configuration (Z-22, Z-30).

use std::collections::BTreeMap;
use std::sync::OnceLock;

use beads_ralph_core::agent::{Adapter, Overrides};
use beads_ralph_core::text::excerpt;
use camino::Utf8Path;
use serde_saphyr::Spanned;

use super::document::AgentsKey;
use super::meant;
use crate::adapters;

/// The adapter for unknown programs.
const ANY_COMMAND: &str = "command";

/// Agents that are looked for when none is chosen, the first first.
const USUAL: [&str; 4] = ["claude", "codex", "gemini", "opencode"];

/// The agents that there are, and how they are run.
///
/// What is configured is checked when it is read. Each agent is put together when somebody asks for it: that takes
/// longer than most commands, and most commands run one agent or none.
#[derive(Debug, Clone)]
pub struct Agents {
    default: Option<String>,
    sections: BTreeMap<String, Overrides>,
    adapters: BTreeMap<String, OnceLock<Adapter>>,
    /// Names of variables that are kept from agents; one that ends in `*` stands for all that begin so.
    pub withhold_env: Vec<String>,
}

impl Agents {
    pub(super) fn new(key: AgentsKey) -> Result<Self, String> {
        let mut sections = BTreeMap::new();
        for (name, section) in key.adapters {
            let line = section.referenced.line();
            if let Some(fault) = fault(&name, &section.value) {
                let name = excerpt(&name);
                return Err(format!("line {line}: agents.adapters.{name}: {fault}"));
            }
            sections.insert(name, section.value);
        }
        let mut default = None;
        if let Some(executable) = key.default_executable {
            let stem = Utf8Path::new(&executable).file_stem();
            let name = stem.ok_or("agents.default_executable: it does not name a program")?;
            let section: &mut Overrides = sections.entry(name.to_owned()).or_default();
            default = Some(name.to_owned());
            section.executable.get_or_insert(executable);
        }
        if let Some(chosen) = key.default {
            check("agents.default", &chosen, &sections)?;
            default = Some(chosen.value);
        }
        if let Some(options) = key.default_options {
            let name = default.as_deref().unwrap_or(USUAL[0]);
            let section: &mut Overrides = sections.entry(name.to_owned()).or_default();
            section.options.get_or_insert(options);
        }
        let names = sections.keys().cloned();
        let names = names.chain(adapters::names().map(str::to_owned));
        let adapters = names.map(|name| (name, OnceLock::new())).collect();
        Ok(Self {
            default,
            sections,
            adapters,
            withhold_env: key.withhold_env.unwrap_or_default(),
        })
    }

    /// Checks that what a key chooses is there, without putting anything together.
    pub(super) fn check(&self, key: &str, chosen: &Spanned<String>) -> Result<(), String> {
        check(key, chosen, &self.sections)
    }

    /// All agents, by name. The kind `command` is none by itself: it has no program.
    pub fn all(&self) -> impl Iterator<Item = &Adapter> {
        self.adapters.keys().filter_map(|name| self.get(name))
    }

    pub fn get(&self, name: &str) -> Option<&Adapter> {
        let adapter = self.adapters.get(name)?;
        let adapter = adapter.get_or_init(|| self.assemble(name));
        (!adapter.executable.is_empty()).then_some(adapter)
    }

    fn assemble(&self, name: &str) -> Adapter {
        let built_in = |name: &str| adapters::named(name).expect("only what is known is a kind");
        match self.sections.get(name) {
            Some(section) => built_in(kind(name, section)).with(name, section.clone()),
            None => built_in(name).clone(),
        }
    }

    /// The name that was probably meant by one that is unknown, as the end of a sentence.
    pub fn meant(&self, name: &str) -> String {
        meant(name, self.all().map(|adapter| adapter.name.as_str()))
    }

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

/// The built-in adapter that a section changes, or is made from.
fn kind<'s>(name: &'s str, section: &'s Overrides) -> &'s str {
    match &section.kind {
        Some(kind) => kind,
        None if adapters::names().any(|known| known == name) => name,
        None => ANY_COMMAND,
    }
}

fn fault(name: &str, section: &Overrides) -> Option<String> {
    let kind = kind(name, section);
    if !adapters::names().any(|known| known == kind) {
        let hint = meant(kind, adapters::names());
        return Some(format!("unknown kind `{}`{hint}", excerpt(kind)));
    }
    if kind == ANY_COMMAND && section.executable.is_none() {
        return Some("`executable` is missing".to_owned());
    }
    section.fault()
}

fn check(
    key: &str,
    chosen: &Spanned<String>,
    sections: &BTreeMap<String, Overrides>,
) -> Result<(), String> {
    let usual = USUAL.iter().copied();
    let known: Vec<&str> = usual.chain(sections.keys().map(String::as_str)).collect();
    if known.contains(&chosen.value.as_str()) {
        return Ok(());
    }
    let (line, hint) = (chosen.referenced.line(), meant(&chosen.value, known));
    let name = excerpt(&chosen.value);
    Err(format!("line {line}: {key}: unknown agent `{name}`{hint}"))
}

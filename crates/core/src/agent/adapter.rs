//! Everything that is known about one agent program, as data.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

use super::argument::{Argument, ArgumentPart, Placeholder};
use super::json::rule::{Field, Pattern};
use super::{Permissions, PriceTable, Reading};
use crate::bead::Model;
use crate::text::{excerpt, parse_duration};

/// Everything that is known about one agent program.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    /// What it is called in plans and in the configuration.
    #[serde(skip)]
    pub name: String,
    /// The built-in adapter that it is, or is made from.
    #[serde(skip)]
    pub kind: String,
    /// The version of the program that this was tried with; without one it is written from documents only.
    #[serde(default)]
    pub verified: Option<String>,
    /// The program.
    pub executable: String,
    /// Its arguments; see [the module](super).
    pub call: Vec<Vec<Argument>>,
    /// Options that the call sets itself, and how many values each takes: they are left out of what others configure.
    #[serde(default)]
    pub owns: BTreeMap<String, usize>,
    /// The arguments of each permission mode that it offers.
    #[serde(default)]
    pub permissions: BTreeMap<Permissions, Vec<String>>,
    /// How it comes to know an agent's file.
    #[serde(default)]
    pub agents: AgentFiles,
    /// What is added to its environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Variables that it inherits although they look like those of a surrounding session; one that ends in `*`
    /// stands for all that begin so.
    #[serde(default)]
    pub keeps: Vec<String>,
    /// The id of each tier's model; one that is missing is left to the program (Z-30).
    #[serde(default)]
    pub models: BTreeMap<Model, String>,
    /// How hard each tier thinks, in the program's words.
    #[serde(default)]
    pub efforts: BTreeMap<Model, String>,
    /// Further options, when neither the bead nor the configuration has any.
    #[serde(default)]
    pub options: Vec<String>,
    /// How long a run may take; whoever calls has a limit of his own, and the smaller one counts.
    #[serde(default, deserialize_with = "duration")]
    pub timeout: Option<Duration>,
    /// How long it may be silent.
    #[serde(default, deserialize_with = "duration")]
    pub idle_timeout: Option<Duration>,
    /// What its tokens cost, where it does not say itself.
    #[serde(default)]
    pub price: PriceTable,
    /// How to find out about the program that is installed.
    #[serde(default)]
    pub probe: Probe,
    /// How its end is read.
    pub read: Reading,
}

/// How a program comes to know the file of an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentFiles {
    /// It finds the file itself, by the name in its arguments.
    ByName,
    /// What the file says goes before the prompt.
    InPrompt,
    /// The path is in its environment.
    #[default]
    ByVariable,
}

/// How to find out about the program that is installed. Every probe ends soon and costs nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Probe {
    /// The arguments that print its version.
    pub version: Option<Vec<String>>,
    /// The arguments that print help; the options that a call needs must be named there.
    pub help: Vec<Vec<String>>,
    /// How to try an option that the help does not name.
    pub trial: Option<Trial>,
    /// The arguments that succeed when it is logged in.
    pub auth: Option<Vec<String>>,
    /// What people do to log in.
    pub login: Option<String>,
}

/// How to try an option that the help does not name.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// The arguments; `{flag}` stands for the option.
    pub arguments: Vec<String>,
    /// What the program prints about an option that it does not know.
    refused: Pattern,
}

impl Trial {
    /// The arguments for one option.
    pub fn arguments(&self, flag: &str) -> Vec<String> {
        let replace = |argument: &String| argument.replace("{flag}", flag);
        self.arguments.iter().map(replace).collect()
    }

    /// Whether what was printed means that the option is not known.
    pub fn is_refused(&self, printed: &str) -> bool {
        self.refused.is_match(printed)
    }
}

/// The version in what a program prints about itself: the first word that is made of numbers and dots.
pub fn version_in(printed: &str) -> Option<&str> {
    let words = printed.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | '/'));
    let mut words = words.map(|word| word.trim_start_matches('v'));
    words.find(|word| {
        let has_digit = word.starts_with(|c: char| c.is_ascii_digit());
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
        has_digit && word.contains('.') && word.len() <= 40 && word.chars().all(is_plain)
    })
}

crate::text::word_enum! {
    /// Something that an agent program may be able to do.
    #[derive(PartialOrd, Ord)]
    pub enum Capability {
        /// Take a model.
        Model = "model",
        /// Take a session id that we choose.
        Session = "session",
        /// Resume a session.
        Resume = "resume",
        /// Take an agent by its name.
        Agents = "agents",
        /// Limit its turns.
        Turns = "turns",
        /// Limit its money.
        Budget = "budget",
        /// Answer by a schema.
        Schema = "schema",
    }
}

impl Capability {
    fn placeholders(self) -> &'static [Placeholder] {
        match self {
            Self::Model => &[Placeholder::Model],
            Self::Session => &[Placeholder::Session],
            Self::Resume => &[Placeholder::Resume],
            Self::Agents => &[Placeholder::Agent],
            Self::Turns => &[Placeholder::MaxTurns],
            Self::Budget => &[Placeholder::MaxUsd],
            Self::Schema => &[Placeholder::Schema, Placeholder::SchemaFile],
        }
    }
}

impl Adapter {
    /// Gives it its name; a built-in adapter is its own kind.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        name.clone_into(&mut self.name);
        name.clone_into(&mut self.kind);
        self
    }

    /// The same with what somebody configured; new rules were tried by nobody we know of.
    #[must_use]
    pub fn with(&self, name: &str, overrides: Overrides) -> Self {
        let mut made = self.clone();
        name.clone_into(&mut made.name);
        if overrides.call.is_some() || overrides.read.is_some() {
            made.verified = None;
        }
        made.verified = overrides.verified.or(made.verified);
        made.env.extend(overrides.env);
        made.models.extend(overrides.models);
        made.efforts.extend(overrides.efforts);
        made.permissions.extend(overrides.permissions);
        replace(&mut made.executable, overrides.executable);
        replace(&mut made.call, overrides.call);
        replace(&mut made.owns, overrides.owns);
        replace(&mut made.agents, overrides.agents);
        replace(&mut made.keeps, overrides.keeps);
        replace(&mut made.options, overrides.options);
        made.timeout = overrides.timeout.or(made.timeout);
        made.idle_timeout = overrides.idle_timeout.or(made.idle_timeout);
        replace(&mut made.price, overrides.price);
        replace(&mut made.probe, overrides.probe);
        replace(&mut made.read, overrides.read);
        made
    }

    /// Whether a call names a placeholder.
    pub fn takes(&self, placeholder: Placeholder) -> bool {
        self.group_with(placeholder).is_some()
    }

    /// Whether it has something by which it can do this.
    pub fn can(&self, capability: Capability) -> bool {
        let mut placeholders = capability.placeholders().iter();
        placeholders.any(|placeholder| self.takes(*placeholder))
    }

    /// The option by which it does this, if it is an option: the first word of the group that names it.
    pub fn flag_of(&self, capability: Capability) -> Option<&str> {
        let mut placeholders = capability.placeholders().iter();
        let group = placeholders.find_map(|placeholder| self.group_with(*placeholder))?;
        let words = group.iter().find_map(|argument| match argument {
            Argument::Text(parts) => match parts.first() {
                Some(ArgumentPart::Literal(text)) => Some(text),
                _ => None,
            },
            Argument::Permissions | Argument::Options => None,
        });
        words.map(|text| text.split('=').next().unwrap_or(text))
    }

    fn group_with(&self, placeholder: Placeholder) -> Option<&[Argument]> {
        let mut groups = self.call.iter();
        let is_there = |group: &&Vec<Argument>| {
            let mut placeholders = group.iter().flat_map(Argument::placeholders);
            placeholders.any(|found| found == placeholder)
        };
        groups.find(is_there).map(Vec::as_slice)
    }

    /// Whether it says what a run cost.
    pub fn reports_cost(&self) -> bool {
        let mut rules = self.read.rules.iter();
        rules
            .any(|rule| rule.take.contains_key(&Field::Cost) || rule.add.contains_key(&Field::Cost))
    }

    /// Whether it prints a report in a separate field; otherwise the report is in the text of its answer.
    pub(super) fn reports_by_field(&self) -> bool {
        let mut rules = self.read.rules.iter();
        rules.any(|rule| rule.take.contains_key(&Field::Report))
    }
}

fn replace<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// Reads a duration in Go's style (contracts §7.1).
pub(super) fn duration<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Duration>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else {
        return Ok(None);
    };
    parse_duration(&text).map(Some).ok_or_else(|| {
        de::Error::custom(format!(
            "invalid duration '{}'; write it as 90s, 20m or 1h30m",
            excerpt(&text)
        ))
    })
}

/// What a user configures about an adapter: `agents.adapters.<name>`. Maps are added to what is there, anything else
/// replaces it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Overrides {
    /// The built-in adapter that it is made from.
    pub kind: Option<String>,
    /// The program; a path is one from the repository's root.
    pub executable: Option<String>,
    /// Options for every call that names none.
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
            return Some(format!(
                "`price.{name}` has a number that cannot be a price"
            ));
        }
        let is_name = |name: &&String| !name.is_empty() && !name.contains(['=', '\0']);
        if let Some(name) = self.env.keys().find(|name| !is_name(name)) {
            let name = excerpt(name);
            return Some(format!(
                "`env` has '{name}', which cannot be the name of a variable"
            ));
        }
        self.read.as_ref().and_then(Reading::fault)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_programs_print() {
        for (printed, version) in [
            ("2.1.325 (Claude Code)\n", Some("2.1.325")),
            ("codex-cli 0.166.0\n", Some("0.166.0")),
            ("v1.18.18", Some("1.18.18")),
            ("opencode version 1.2.3-beta.1+5", Some("1.2.3-beta.1+5")),
            ("\u{1b}[31mgarbage", None),
            ("", None),
            ("12345", None),
        ] {
            assert_eq!(version_in(printed), version, "{printed}");
        }
    }
}

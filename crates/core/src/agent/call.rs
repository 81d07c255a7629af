//! From what somebody wants of an agent to the arguments of its program.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use super::argument::{Argument, ArgumentPart, Placeholder};
use super::{Adapter, AgentFiles, Capability};
use crate::bead::{AgentSpec, Model};

/// No system that we know takes a longer argument; Linux says 128 KiB with its end.
const MAX_ARGUMENT: usize = 128 * 1024 - 1;

/// What somebody wants of an agent.
#[derive(Debug, Clone)]
pub struct Call {
    /// What it is asked.
    pub prompt: String,
    /// Where it works.
    pub worktree: String,
    /// Who it is; nobody in particular for the built-in agent.
    pub agent: Option<Agent>,
    /// The tier of its model (B-20).
    pub model: Option<Model>,
    /// Which session it is.
    pub session: Session,
    /// What it may do without asking.
    pub permissions: Permissions,
    /// What it may spend.
    pub budget: Budget,
    /// The JSON Schema of the report that is wanted.
    pub schema: Option<Value>,
    /// Options instead of the configured ones.
    pub options: Option<Vec<String>>,
    /// Its own program, instead of the configured one.
    pub executable: Option<String>,
    /// Its own environment, besides the configured one.
    pub env: BTreeMap<String, String>,
    /// Where the files of the call are.
    pub files: Files,
}

/// Who an agent is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// The name by which its program knows it.
    pub name: String,
    /// What its file says, without the front matter.
    pub instructions: String,
}

/// Which session a call belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Session {
    /// A new one, whose id is the program's affair.
    #[default]
    New,
    /// A new one with this id, for programs that take one.
    Named(String),
    /// An earlier one, which is resumed.
    Resume(String),
}

/// What a run may spend; what is absent is not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// US dollars.
    pub usd: Option<f64>,
    /// Tokens of all kinds together.
    pub tokens: Option<u64>,
    /// How often the model is asked.
    pub turns: Option<u64>,
}

/// The files of a call. Whoever runs it writes those that an [`Invocation`] names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files {
    /// The prompt.
    pub prompt: Option<String>,
    /// The schema.
    pub schema: Option<String>,
    /// The agent's last message.
    pub last_message: Option<String>,
}

impl Call {
    /// A call with nothing but a prompt and a place.
    pub fn new(
        prompt: impl Into<String>,
        worktree: impl Into<String>,
        permissions: Permissions,
    ) -> Self {
        Self {
            prompt: prompt.into(),
            worktree: worktree.into(),
            agent: None,
            model: None,
            session: Session::New,
            permissions,
            budget: Budget::default(),
            schema: None,
            options: None,
            executable: None,
            env: BTreeMap::new(),
            files: Files::default(),
        }
    }

    /// Takes over what a bead says about the agent. Who the agent is and which model it gets needs its file, and is set
    /// by the caller.
    #[must_use]
    pub fn with_spec(mut self, spec: &AgentSpec) -> Self {
        self.options.clone_from(&spec.options);
        self.executable.clone_from(&spec.executable);
        self.env.extend(spec.env.clone().unwrap_or_default());
        self
    }
}

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// What it reads.
    pub input: Input,
    /// What is added to its environment.
    pub env: BTreeMap<String, String>,
    /// The prompt as it is given, with what the agent's file says where that belongs before it.
    pub prompt: String,
    /// Whether the schema's file must be there.
    pub needs_schema_file: bool,
    /// What was configured and left out, because the adapter says it itself.
    pub dropped: Vec<String>,
    /// What was wanted and the program cannot do.
    pub unsupported: Vec<Capability>,
}

/// What a program reads on standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// The prompt, then the end.
    Prompt,
    /// The end at once.
    Nothing,
}

/// Why a call cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CallError {
    /// The permission mode is not to be had.
    #[error("{adapter} does not support `permissions: {}`", mode.as_str())]
    Permissions {
        /// The adapter.
        adapter: String,
        /// The mode.
        mode: Permissions,
    },
    /// A session is to be resumed, and cannot.
    #[error("{adapter} cannot resume a session")]
    Resume {
        /// The adapter.
        adapter: String,
    },
    /// An argument that no system takes.
    #[error("{adapter} takes {what} as an argument, and it {why}")]
    Argument {
        /// The adapter.
        adapter: String,
        /// Which one.
        what: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
}

impl Adapter {
    /// The arguments, the environment and the input of a call (L-3).
    pub fn invocation(&self, call: &Call) -> Result<Invocation, CallError> {
        let name = || self.name.clone();
        let mode = self.permissions.get(&call.permissions);
        let mode = mode.ok_or_else(|| CallError::Permissions {
            adapter: name(),
            mode: call.permissions,
        })?;
        if matches!(call.session, Session::Resume(_)) && !self.can(Capability::Resume) {
            return Err(CallError::Resume { adapter: name() });
        }
        let configured = call.options.as_deref().unwrap_or(&self.options);
        let (options, dropped) = self.without_own(configured);
        let prompt = self.prompt(call);
        let values = Values::new(self, call, &prompt);
        let executable = call.executable.as_ref().unwrap_or(&self.executable);
        let mut argv = vec![executable.clone()];
        for group in &self.call {
            let has_all = |argument: &Argument| {
                let mut placeholders = argument.placeholders();
                placeholders.all(|placeholder| values.get(placeholder).is_some())
            };
            if !group.iter().all(has_all) {
                continue;
            }
            for argument in group {
                match argument {
                    Argument::Permissions => argv.extend(mode.iter().cloned()),
                    Argument::Options => argv.extend(options.iter().cloned()),
                    Argument::Text(parts) => argv.push(values.fill(parts)),
                }
            }
        }
        self.check_arguments(&argv, &prompt)?;
        let mut env = self.env.clone();
        env.extend(call.env.clone());
        Ok(Invocation {
            argv,
            input: if self.takes(Placeholder::Prompt) || self.takes(Placeholder::PromptFile) {
                Input::Nothing
            } else {
                Input::Prompt
            },
            env,
            needs_schema_file: call.schema.is_some() && self.takes(Placeholder::SchemaFile),
            dropped,
            unsupported: self.unsupported(call),
            prompt,
        })
    }

    /// The prompt; what an agent's file says goes before it where the program does not read such files.
    fn prompt(&self, call: &Call) -> String {
        match (&call.agent, self.agents) {
            (Some(agent), AgentFiles::InPrompt) if !agent.instructions.trim().is_empty() => {
                format!("{}\n\n---\n\n{}", agent.instructions.trim(), call.prompt)
            }
            _ => call.prompt.clone(),
        }
    }

    /// Options without those that the call sets itself: how the program prints is ours to say, and what it may do was
    /// agreed for the whole repository, not by a bead (Z-23).
    fn without_own(&self, options: &[String]) -> (Vec<String>, Vec<String>) {
        let (mut kept, mut dropped) = (Vec::new(), Vec::new());
        let mut rest = options.iter();
        while let Some(option) = rest.next() {
            let (flag, has_value) = match option.split_once('=') {
                Some((flag, _)) => (flag, true),
                None => (option.as_str(), false),
            };
            match self.owns.get(flag) {
                None => kept.push(option.clone()),
                Some(n_values) => {
                    dropped.push(option.clone());
                    let n_values = if has_value { 0 } else { *n_values };
                    dropped.extend(rest.by_ref().take(n_values).cloned());
                }
            }
        }
        (kept, dropped)
    }

    fn check_arguments(&self, argv: &[String], prompt: &str) -> Result<(), CallError> {
        let why = |argument: &String| match argument {
            long if long.len() > MAX_ARGUMENT => Some("is longer than an argument may be"),
            nul if nul.contains('\0') => Some("holds a NUL character"),
            _ => None,
        };
        let mut wrong = (argv.iter()).filter_map(|argument| Some((argument, why(argument)?)));
        let Some((argument, why)) = wrong.next() else {
            return Ok(());
        };
        Err(CallError::Argument {
            adapter: self.name.clone(),
            what: if argument.contains(prompt) && !prompt.is_empty() {
                "the prompt"
            } else {
                "what was configured"
            },
            why,
        })
    }

    fn unsupported(&self, call: &Call) -> Vec<Capability> {
        let wanted = [
            (Capability::Turns, call.budget.turns.is_some()),
            (Capability::Budget, call.budget.usd.is_some()),
            (Capability::Schema, call.schema.is_some()),
        ];
        let wanted = wanted.into_iter().filter(|(_, is_wanted)| *is_wanted);
        let wanted = wanted.map(|(capability, _)| capability);
        wanted.filter(|it| !self.can(*it)).collect()
    }
}

/// What the placeholders of a call stand for.
struct Values(BTreeMap<Placeholder, String>);

impl Values {
    fn new(adapter: &Adapter, call: &Call, prompt: &str) -> Self {
        let tier = |map: &BTreeMap<Model, String>| map.get(&call.model?).cloned();
        let (named, resumed) = match &call.session {
            Session::New => (None, None),
            Session::Named(id) => (Some(id.clone()), None),
            Session::Resume(id) => (None, Some(id.clone())),
        };
        let schema = call.schema.as_ref();
        let value = |placeholder: Placeholder| match placeholder {
            Placeholder::Model => tier(&adapter.models),
            Placeholder::Effort => tier(&adapter.efforts),
            Placeholder::Session => named.clone(),
            Placeholder::Resume => resumed.clone(),
            Placeholder::Agent => call.agent.as_ref().map(|agent| agent.name.clone()),
            Placeholder::MaxTurns => call.budget.turns.map(|turns| turns.to_string()),
            Placeholder::MaxUsd => call.budget.usd.map(|usd| usd.to_string()),
            Placeholder::Schema => schema.map(Value::to_string),
            Placeholder::SchemaFile => schema.and(call.files.schema.clone()),
            Placeholder::Prompt => Some(prompt.to_owned()),
            Placeholder::PromptFile => call.files.prompt.clone(),
            Placeholder::Worktree => Some(call.worktree.clone()),
            Placeholder::LastMessageFile => call.files.last_message.clone(),
        };
        let known = Placeholder::ALL.iter();
        Self(
            known
                .filter_map(|&placeholder| Some((placeholder, value(placeholder)?)))
                .collect(),
        )
    }

    fn get(&self, placeholder: Placeholder) -> Option<&str> {
        self.0.get(&placeholder).map(String::as_str)
    }

    fn fill(&self, parts: &[ArgumentPart]) -> String {
        let text = |part: &ArgumentPart| match part {
            ArgumentPart::Literal(text) => text.to_string(),
            ArgumentPart::Value(placeholder) => {
                self.get(*placeholder).unwrap_or_default().to_owned()
            }
        };
        parts.iter().map(text).collect()
    }
}

crate::text::word_enum! {
    /// What agents may do without asking (Z-23).
    #[derive(PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Permissions {
        /// Any command, with the user's rights.
        Bypass = "bypass",
        /// What the agent's own settings allow; anything else is refused instead of asked.
        AskNone = "ask-none",
        /// Any command, inside the agent's own sandbox.
        Sandbox = "sandbox",
    }
}

impl Permissions {
    /// What the mode means, said plainly.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Bypass => "agents may run any command with your rights, without asking",
            Self::AskNone => {
                "agents may do what their own settings allow; anything else is refused, and nobody is asked"
            }
            Self::Sandbox => "agents may run any command, but inside their own sandbox",
        }
    }
}

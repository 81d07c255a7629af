//! How `implement` works: who does which stage, who reviews, and how long they may take (contracts §9).

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use beads_ralph_core::bead::Model;
use beads_ralph_core::implement::{AUDITED, Mode, Stage, safe_part};
use beads_ralph_core::text::excerpt;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::Spanned;

use super::adapters::Agents;
use super::document::{Count, Text};
use super::meant;
use super::run::Limit;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImplementSettings {
    /// Who does a stage, in every mode or in one; anything else is done by whom the program knows for it (I-19).
    pub workers: BTreeMap<(Stage, Option<Mode>), WorkerSettings>,
    pub reviewers: ReviewerSettings,
    /// The workers whose work leaves a label on the step (I-22).
    pub audited: Vec<String>,
    /// How long a worker may take (I-23).
    pub worker_timeout: Duration,
    /// How long a reviewer may take.
    pub reviewer_timeout: Duration,
    pub parallel: usize,
    /// How often the driver looks for beads (I-40).
    pub poll_interval: Duration,
    /// Whether a person is asked where reviewers of other makers could not be had.
    pub is_foreign_required: bool,
    /// What tells whether discovered work belongs to the parent's goal: a program and its arguments (I-27).
    pub sibling: Option<Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerSettings {
    pub agent: String,
    /// The adapter that runs it; without one, the default adapter.
    pub adapter: Option<String>,
    pub model: Option<Model>,
}

/// Which adapter plays which reviewer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReviewerSettings {
    /// The first foreign one; without one, the adapter `codex`.
    pub codex: Option<String>,
    /// The second foreign one; without one, the adapter `gemini`.
    pub gemini: Option<String>,
    /// Our own; without one, the default adapter.
    pub fresh_eyes: Option<String>,
}

impl Default for ImplementSettings {
    fn default() -> Self {
        Self {
            workers: BTreeMap::new(),
            reviewers: ReviewerSettings::default(),
            audited: AUDITED.map(str::to_owned).to_vec(),
            worker_timeout: Duration::from_mins(30),
            reviewer_timeout: Duration::from_mins(10),
            parallel: 1,
            poll_interval: Duration::from_secs(5),
            is_foreign_required: false,
            sibling: None,
        }
    }
}

impl ImplementSettings {
    /// Who was named for a stage in a mode: for both together, else for the stage.
    pub fn worker(&self, stage: Stage, mode: Mode) -> Option<&WorkerSettings> {
        let both = self.workers.get(&(stage, Some(mode)));
        both.or_else(|| self.workers.get(&(stage, None)))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ImplementKey {
    workers: BTreeMap<WorkerFor, WorkerKey>,
    reviewers: ReviewersKey,
    audited: Option<Vec<AgentName>>,
    worker_timeout: Limit,
    reviewer_timeout: Limit,
    parallel: Count<1>,
    poll_interval: Limit,
    foreign_eyes: ForeignEyesKey,
    sibling: Text,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ReviewersKey {
    codex: Option<Spanned<String>>,
    gemini: Option<Spanned<String>>,
    fresh_eyes: Option<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ForeignEyesKey {
    required: Option<bool>,
}

impl ImplementKey {
    /// The settings, if every adapter that they name is known; the shell runs the hook.
    pub(super) fn settings(
        self,
        agents: &Agents,
        shell: &[String],
    ) -> Result<ImplementSettings, String> {
        let default = ImplementSettings::default();
        let known = |key: &str, name: Option<Spanned<String>>| {
            if let Some(name) = &name {
                agents.check(&format!("implement.{key}"), name)?;
            }
            Ok::<_, String>(name.map(|name| name.value))
        };
        let mut workers = BTreeMap::new();
        for (WorkerFor(stage, mode), WorkerKey(worker)) in self.workers {
            let key = format!("workers.{}.adapter", WorkerFor(stage, mode));
            let worker = WorkerSettings {
                adapter: known(&key, worker.adapter)?,
                agent: worker.agent.0,
                model: worker.model,
            };
            workers.insert((stage, mode), worker);
        }
        let names = |names: Vec<AgentName>| names.into_iter().map(|name| name.0).collect();
        let hook = |line: String| shell.iter().cloned().chain([line]).collect();
        let parallel = self.parallel.0.and_then(|cap| usize::try_from(cap).ok());
        Ok(ImplementSettings {
            workers,
            reviewers: ReviewerSettings {
                codex: known("reviewers.codex", self.reviewers.codex)?,
                gemini: known("reviewers.gemini", self.reviewers.gemini)?,
                fresh_eyes: known("reviewers.fresh_eyes", self.reviewers.fresh_eyes)?,
            },
            audited: self.audited.map_or(default.audited, names),
            worker_timeout: self.worker_timeout.unwrap_or(default.worker_timeout),
            reviewer_timeout: self.reviewer_timeout.unwrap_or(default.reviewer_timeout),
            parallel: parallel.unwrap_or(default.parallel),
            poll_interval: self.poll_interval.unwrap_or(default.poll_interval),
            is_foreign_required: self.foreign_eyes.required.unwrap_or_default(),
            sibling: self.sibling.0.map(hook),
        })
    }
}

/// What a worker is named for: `<stage>` or `<stage>/<mode>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct WorkerFor(Stage, Option<Mode>);

impl fmt::Display for WorkerFor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self(stage, None) => f.write_str(stage.as_str()),
            Self(stage, Some(mode)) => write!(f, "{}/{}", stage.as_str(), mode.as_str()),
        }
    }
}

impl WorkerFor {
    fn parse(text: &str) -> Result<Self, String> {
        let (stage, mode) = match text.split_once('/') {
            Some((stage, mode)) => (stage, Some(mode)),
            None => (text, None),
        };
        let stages = Stage::ALL.iter().map(|stage| stage.as_str());
        let stage = Stage::parse(stage).ok_or_else(|| unknown("stage", stage, stages.collect()))?;
        let modes = Mode::ALL.iter().map(|mode| mode.as_str());
        let mode = mode
            .map(|mode| Mode::parse(mode).ok_or_else(|| unknown("mode", mode, modes.collect())));
        Ok(Self(stage, mode.transpose()?))
    }
}

fn unknown(what: &str, word: &str, known: Vec<&str>) -> String {
    let (all, hint) = (known.join(", "), meant(word, known));
    format!(
        "unknown {what} '{}'; expected one of {all}{hint}",
        excerpt(word)
    )
}

impl<'de> Deserialize<'de> for WorkerFor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(de::Error::custom)
    }
}

/// The name of a worker: a part of paths and of labels (I-16, I-22).
#[derive(Debug)]
struct AgentName(String);

impl AgentName {
    fn parse(name: &str) -> Result<Self, String> {
        let is_odd = |c: char| c.is_whitespace() || c.is_control();
        if safe_part(name).is_err() || name.contains(is_odd) {
            return Err(format!(
                "'{}' is not a valid agent name; expected the name of its file, without path and .md",
                excerpt(name)
            ));
        }
        Ok(Self(name.to_owned()))
    }
}

impl<'de> Deserialize<'de> for AgentName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::parse(&name).map_err(de::Error::custom)
    }
}

#[derive(Debug)]
struct WorkerKey(WorkerSection);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkerSection {
    agent: AgentName,
    adapter: Option<Spanned<String>>,
    model: Option<Model>,
}

impl<'de> Deserialize<'de> for WorkerKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameOrSection)
    }
}

struct NameOrSection;

impl<'de> Visitor<'de> for NameOrSection {
    type Value = WorkerKey;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of an agent, or a section with `agent`, `adapter` and `model`")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(WorkerKey(WorkerSection {
            agent: AgentName::parse(name).map_err(E::custom)?,
            adapter: None,
            model: None,
        }))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        WorkerSection::deserialize(MapAccessDeserializer::new(map)).map(WorkerKey)
    }
}

//! The plain translation between the generations (B-4), one group of keys at a time.
//!
//! These functions know nothing of what was before: [`super::migrate`] compares their answers with
//! the original and puts aside what they lose.

use serde_json::{Map, Value};

use crate::number::SprintId;

use super::derive::{default_qa_prompt, default_team_name, scrum_master};
use super::write::to_value;
use super::{AgentPath, Model, standard_output_schema};

/// The dev agent of generation 1.
pub(super) const DEV_1: &[&str] = &["dev_agent_path", "dev_model"];

/// The dev agents of generation 2.
pub(super) const DEV_2: &[&str] = &["dev_agents"];

/// The scrum-master of generation 2.
pub(super) const SCRUM_2: &[&str] = &["scrum_master_agent"];

/// The team, which generation 1 may have but need not.
pub(super) const TEAM: &[&str] = &["team_name"];

/// Every key of a QA item that has a meaning in either generation.
pub(super) const QA_KEYS: &[&str] = &[
    "role",
    "agent",
    "agent_path",
    "model",
    "executable",
    "options",
    "context",
    "agent_id",
    "env",
    "adapter",
    "prompt",
    "output_schema",
];

/// What the bead says that translations need.
pub(super) struct Context {
    title: String,
    team_name: String,
    scrum_master: Value,
    qa_prompt: String,
}

impl Context {
    pub(super) fn new(sprint: &SprintId, title: &str) -> Self {
        Self {
            title: title.to_owned(),
            team_name: default_team_name(sprint),
            scrum_master: to_value(&scrum_master(sprint, title, Model::Sonnet)),
            qa_prompt: default_qa_prompt(sprint, title),
        }
    }
}

/// Team, scrum-master and dev agents of generation 2, as far as generation 1 determines them.
pub(super) fn to_generation_2(one: &Map<String, Value>, context: &Context) -> Map<String, Value> {
    let mut two = Map::new();
    let team = text(one, "team_name").unwrap_or(&context.team_name);
    two.insert("team_name".to_owned(), team.into());
    two.insert(
        "scrum_master_agent".to_owned(),
        context.scrum_master.clone(),
    );
    if let Some(path) = text(one, "dev_agent_path") {
        let model = one.get("dev_model").cloned().unwrap_or_default();
        let dev = spec(path, model, context.title.as_str().into());
        two.insert("dev_agents".to_owned(), Value::Array(vec![dev.into()]));
    }
    two
}

/// Team and dev agent of generation 1, as far as generation 2 determines them.
pub(super) fn to_generation_1(two: &Map<String, Value>, context: &Context) -> Map<String, Value> {
    let mut one = Map::new();
    if let Some(dev) = two
        .get("dev_agents")
        .and_then(|agents| agents.get(0)?.as_object())
    {
        one.insert("dev_agent_path".to_owned(), without_md(dev));
        one.insert("dev_model".to_owned(), model(dev));
    }
    // A team that a reader would derive again need not be said in a document that knows no teams.
    if let Some(team) = text(two, "team_name").filter(|team| *team != context.team_name) {
        one.insert("team_name".to_owned(), team.into());
    }
    one
}

/// A QA item of generation 2 from one of generation 1.
pub(super) fn qa_to_2(item: &Map<String, Value>, _: &Context) -> Map<String, Value> {
    let get = |key| item.get(key).cloned().unwrap_or_default();
    let path = text(item, "agent_path").unwrap_or_default();
    let mut two = spec(path, get("model"), get("prompt"));
    if let Some(schema) = item
        .get("output_schema")
        .filter(|schema| **schema != *standard_output_schema())
    {
        two.insert("output_schema".to_owned(), schema.clone());
    }
    two
}

/// A QA item of generation 1 from one of generation 2.
pub(super) fn qa_to_1(item: &Map<String, Value>, context: &Context) -> Map<String, Value> {
    let prompt = text(item, "prompt").or_else(|| text(item, "context"));
    let standard = standard_output_schema();
    let schema = item.get("output_schema").filter(|schema| !schema.is_null());
    Map::from_iter([
        ("agent_path".to_owned(), without_md(item)),
        ("model".to_owned(), model(item)),
        (
            "prompt".to_owned(),
            prompt.unwrap_or(&context.qa_prompt).into(),
        ),
        (
            "output_schema".to_owned(),
            schema.unwrap_or(&standard).clone(),
        ),
    ])
}

fn spec(path: &str, model: Value, context: Value) -> Map<String, Value> {
    let agent = AgentPath::parse(path).map(|path| path.with_md().to_string());
    Map::from_iter([
        ("role".to_owned(), "polecat".into()),
        (
            "agent".to_owned(),
            agent.unwrap_or_else(|_| path.to_owned()).into(),
        ),
        ("model".to_owned(), model),
        ("context".to_owned(), context),
    ])
}

fn without_md(spec: &Map<String, Value>) -> Value {
    let path = text(spec, "agent").unwrap_or_default();
    match AgentPath::parse(path) {
        Ok(path) => path.without_md().as_str().into(),
        Err(_) => path.into(),
    }
}

fn model(spec: &Map<String, Value>) -> Value {
    text(spec, "model").unwrap_or(Model::Sonnet.as_str()).into()
}

fn text<'a>(map: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    map.get(key).and_then(Value::as_str)
}

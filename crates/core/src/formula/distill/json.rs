//! What the documents of several beads have in common, and what a shape is.

use serde_json::{Map, Value};

use super::text::Texts;
use crate::formula::Values;

/// The keys whose texts must be the same: who works, and with what.
const KEPT: [&str; 9] = [
    "agent",
    "agent_path",
    "dev_agent_path",
    "model",
    "dev_model",
    "adapter",
    "executable",
    "role",
    "issue_type",
];

/// The way to a value.
#[derive(Debug, Clone, Default)]
pub(super) struct Path(Vec<String>);

impl Path {
    fn below(&self, step: impl Into<String>) -> Self {
        let mut path = self.clone();
        path.0.push(step.into());
        path
    }

    /// For people.
    fn shown(&self) -> String {
        self.0.join(".")
    }

    /// As the name of a variable: lists count from 1, and `metadata` goes without saying.
    fn variable(&self) -> String {
        let steps = self.0.iter().filter(|step| *step != "metadata");
        let steps: Vec<String> = steps
            .map(|step| match step.parse::<usize>() {
                Ok(at) => (at + 1).to_string(),
                Err(_) => step.replace(|c: char| !c.is_ascii_alphanumeric(), "_"),
            })
            .collect();
        steps.join("_")
    }
}

/// Where values part: the path, which of them, and how.
pub(super) type Parting = (String, usize, &'static str);

/// What some values have in common.
pub(super) fn common(path: &Path, values: &[&Value], texts: &mut Texts) -> Result<Value, Parting> {
    match values[0] {
        Value::String(_) => {
            let strings = same_kind(path, values, Value::as_str, "is not a text")?;
            Ok(Value::String(texts.template(&path.variable(), &strings)))
        }
        Value::Array(_) => {
            let lists = same_kind(path, values, Value::as_array, "is not a list")?;
            let length = lists[0].len();
            if let Some(at) = lists.iter().position(|list| list.len() != length) {
                return Err((path.shown(), at, "has another number of items"));
            }
            let items = (0..length).map(|item| {
                let below = path.below(item.to_string());
                let items: Vec<&Value> = lists.iter().map(|list| &list[item]).collect();
                common(&below, &items, texts)
            });
            items.collect()
        }
        Value::Object(_) => {
            let maps = same_kind(path, values, Value::as_object, "is not a table")?;
            let keys: Vec<&String> = maps[0].keys().collect();
            if let Some(at) = maps
                .iter()
                .position(|map| !map.keys().eq(keys.iter().copied()))
            {
                return Err((path.shown(), at, "has other fields"));
            }
            let mut merged = Map::new();
            for key in keys {
                let items: Vec<&Value> = maps.iter().map(|map| &map[key]).collect();
                merged.insert(key.clone(), common(&path.below(key), &items, texts)?);
            }
            Ok(Value::Object(merged))
        }
        first @ (Value::Null | Value::Bool(_) | Value::Number(_)) => {
            match values.iter().position(|value| *value != first) {
                Some(at) => Err((path.shown(), at, "has another value and is not a text")),
                None => Ok(first.clone()),
            }
        }
    }
}

/// All values as what the first one is.
fn same_kind<'v, T: ?Sized>(
    path: &Path,
    values: &[&'v Value],
    kind: impl Fn(&'v Value) -> Option<&'v T>,
    how: &'static str,
) -> Result<Vec<&'v T>, Parting> {
    let each = values.iter().enumerate();
    each.map(|(at, value)| kind(value).ok_or_else(|| (path.shown(), at, how)))
        .collect()
}

pub(super) fn offer_below(path: &Path, value: &Value, values: &mut Values) {
    match value {
        Value::String(text) => values.offer(&path.variable(), text),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                offer_below(&path.below(at.to_string()), item, values);
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                offer_below(&path.below(key), item, values);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Leaves of a text its first word, and of a list its length.
pub(super) fn reduce(value: &mut Value, is_kept: bool) {
    match value {
        Value::String(text) if !is_kept => {
            let word = text.split_whitespace().next().unwrap_or_default();
            *text = word.to_lowercase();
        }
        Value::Array(items) => {
            for item in items {
                reduce(item, is_kept);
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                reduce(value, KEPT.contains(&key.as_str()));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The tasks and criteria of a sprint. Its checks do not count: they are often the same whatever the work is.
pub(super) fn said(pattern: &Value) -> Vec<&str> {
    let lists = ["dev_prompts", "acceptance_criteria"];
    let lists = lists.iter().map(|key| &pattern["metadata"][*key]);
    let texts = lists.filter_map(Value::as_array).flatten();
    texts.filter_map(Value::as_str).collect()
}

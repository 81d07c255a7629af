//! What a JSON value looks like: every path of keys. Values do not count, so that nothing depends on the machine.

use std::collections::BTreeSet;

use serde_json::Value;

/// The paths of one value or of many.
#[derive(Default)]
pub(super) struct Shape(BTreeSet<String>);

impl Shape {
    pub(super) fn of(value: &Value) -> Self {
        let mut shape = Self::default();
        shape.add(value);
        shape
    }

    pub(super) fn add(&mut self, value: &Value) {
        self.add_at("", value);
    }

    fn add_at(&mut self, path: &str, value: &Value) {
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                for (key, value) in fields {
                    let dot = if path.is_empty() { "" } else { "." };
                    self.add_at(&format!("{path}{dot}{}", name(key)), value);
                }
            }
            Value::Array(items) if !items.is_empty() => {
                for item in items {
                    self.add_at(&format!("{path}[]"), item);
                }
            }
            Value::Array(_) => _ = self.0.insert(format!("{path}[]")),
            _ => _ = self.0.insert(path.to_owned()),
        }
    }

    /// One line for each path: `data.beads[].id`.
    pub(super) fn lines(&self) -> String {
        let lines = self.0.iter().flat_map(|path| [path, "\n"]);
        lines.collect()
    }
}

/// A key of ours is a word, or words with points between them. Anything else is a name that somebody gave, such as an id.
fn name(key: &str) -> &str {
    let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || "_$.".contains(letter);
    let is_ours = key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '$')
        && key.chars().all(is_of_word);
    if is_ours { key } else { "*" }
}

#[test]
fn a_shape_has_every_path() {
    let value =
        serde_json::json!({"a": [{"b": 1}, {"b": null, "bd-1": {}}], "c": [], "d": {"e": ["x"]}});
    assert_eq!(Shape::of(&value).lines(), "a[].*\na[].b\nc[]\nd.e[]\n");
}

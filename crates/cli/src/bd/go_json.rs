//! JSON as Go writes and sorts it.

use serde::Serialize;
use serde_json::{Map, Value};

/// The version of the answers' shapes.
pub(super) const SCHEMA_VERSION: u64 = 1;

/// An answer of ours as a value.
pub(super) fn value(answer: impl Serialize) -> Value {
    serde_json::to_value(answer).expect("our answers can always be written")
}

/// An answer as it is printed: objects sorted and with `schema_version`, lists as they are; with an envelope either stands
/// under `data`.
pub(super) fn wrapped(answer: impl Serialize, is_envelope: bool) -> Value {
    match value(answer) {
        answer if is_envelope => Map::from_iter([
            ("data".to_owned(), answer),
            ("schema_version".to_owned(), SCHEMA_VERSION.into()),
        ])
        .into(),
        Value::Object(mut map) => {
            map.insert("schema_version".to_owned(), SCHEMA_VERSION.into());
            sorted(Value::Object(map))
        }
        other => other,
    }
}

/// A value with the keys of every object in order.
pub(super) fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(String, Value)> = map.into_iter().collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            let entries = entries.into_iter().map(|(key, value)| (key, sorted(value)));
            Value::Object(entries.collect::<Map<String, Value>>())
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        other => shortened(other),
    }
}

/// A value as the real `bd`'s database gives it back: short keys first, and no zeros at the end of a fraction.
pub(super) fn by_length(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<(String, Value)> = map.into_iter().collect();
            entries.sort_by(|a, b| (a.0.len(), &a.0).cmp(&(b.0.len(), &b.0)));
            let entries = entries.into_iter();
            let entries = entries.map(|(key, value)| (key, by_length(value)));
            Value::Object(entries.collect::<Map<String, Value>>())
        }
        Value::Array(items) => items.into_iter().map(by_length).collect(),
        other => shortened(other),
    }
}

/// A fraction in its shortest form; whole numbers stay as they are, however large.
fn shortened(value: Value) -> Value {
    match &value {
        Value::Number(number) if !number.is_i64() && number.as_str().contains(['.', 'e', 'E']) => {
            let fraction = number.as_f64().filter(|fraction| fraction.is_finite());
            match fraction {
                // Go writes no fraction where there is none.
                Some(fraction) if fraction.fract() == 0.0 && fraction.abs() < 1e15 => {
                    format!("{fraction:.0}")
                        .parse()
                        .map_or(value, Value::Number)
                }
                Some(fraction) => {
                    serde_json::Number::from_f64(fraction).map_or(value, Value::Number)
                }
                None => value,
            }
        }
        _ => value,
    }
}

/// A value as Go's encoder writes it, over several lines, with a line end.
pub(super) fn encode(answer: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(answer);
    escaped(text.expect("our answers can always be written")) + "\n"
}

/// The same on one line, without a line end.
pub(super) fn encode_line(answer: &impl Serialize) -> String {
    let text = serde_json::to_string(answer);
    escaped(text.expect("our answers can always be written"))
}

/// Escapes what Go escapes beyond what JSON demands. All of it can only stand in strings.
fn escaped(json: String) -> String {
    let is_special = |c: char| matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
    if !json.contains(is_special) {
        return json;
    }
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if is_special(c) {
            push!(text, "\\u{:04x}", u32::from(c));
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn z_24_json_is_written_as_go_writes_it() {
        let value = json!({"b": ["<&>\u{2028}\n", {}, []], "a": 1});
        assert_eq!(
            encode(&wrapped(value, false)),
            "{\n  \"a\": 1,\n  \"b\": [\n    \"\\u003c\\u0026\\u003e\\u2028\\n\",\n    {},\n    []\n  ],\n  \"schema_version\": 1\n}\n"
        );
    }
}

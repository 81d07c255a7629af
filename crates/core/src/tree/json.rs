//! JSON with places.
//!
//! What is JSON is decided by the reader that the rest of the program uses; the one with places takes more than JSON.

use jsonc_parser::ast::{ObjectProp, Value};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::{Entry, MAX_DEPTH, Node, Tree, Unreadable};
use crate::text::{Span, Spanned};

/// Reads a text.
pub fn parse(text: &str) -> Result<Node, Unreadable> {
    if let Err(error) = serde_json::from_str::<serde_json::Value>(text) {
        let place = offset(text, error.line(), error.column());
        return Err(Unreadable::new(
            Span::at(place),
            format!("invalid JSON: {error}"),
        ));
    }
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    let end = Span::at(text.len());
    match parsed.map(|parsed| parsed.value) {
        Ok(Some(value)) => node(value, 1),
        Ok(None) => Err(Unreadable::new(end, "the file is empty")),
        Err(error) => {
            let range = error.range();
            let place = Span::new(range.start, range.end);
            Err(Unreadable::new(place, format!("invalid JSON: {error}")))
        }
    }
}

/// The byte at a line and a column, which the reader counts in bytes from 1.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let lines = text.split_inclusive('\n').take(line.saturating_sub(1));
    let start: usize = lines.map(str::len).sum();
    let at = (start + column.saturating_sub(1)).min(text.len());
    (0..=at)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or_default()
}

fn node(value: Value<'_>, depth: usize) -> Result<Node, Unreadable> {
    let span = Span::new(value.start(), value.end());
    if depth > MAX_DEPTH {
        return Err(Unreadable::too_deep(span));
    }
    let tree = match value {
        Value::StringLit(text) => Tree::Text(text.value.into_owned()),
        Value::NumberLit(number) => Tree::Number(number.value.to_owned()),
        Value::BooleanLit(value) => Tree::Bool(value.value),
        Value::NullKeyword(_) => Tree::Null,
        Value::Array(items) => {
            let items = items.elements.into_iter().map(|item| node(item, depth + 1));
            Tree::List(items.collect::<Result<_, _>>()?)
        }
        Value::Object(object) => entries(object.properties, depth)?,
    };
    Ok(Node { span, tree })
}

fn entries(properties: Vec<ObjectProp<'_>>, depth: usize) -> Result<Tree, Unreadable> {
    let mut entries: Vec<Entry> = Vec::with_capacity(properties.len());
    let mut keys = std::collections::HashSet::new();
    for property in properties {
        let span = Span::new(property.name.start(), property.name.end());
        let key = property.name.into_string();
        if !keys.insert(key.clone()) {
            return Err(Unreadable::new(
                span,
                format!("the key `{}` is there twice", crate::text::excerpt(&key)),
            ));
        }
        entries.push((Spanned::new(key, span), node(property.value, depth + 1)?));
    }
    Ok(Tree::Table(entries))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_and_value_has_its_place() {
        let text = "{\"formula\": \"é\",\n \"steps\": [{\"id\": \"a\", \"n\": -1.50}]}";
        let node = parse(text).unwrap();
        let Tree::Table(entries) = &node.tree else {
            panic!("{node:?}");
        };
        assert_eq!(entries[0].0.span.slice(text), "\"formula\"");
        assert_eq!(entries[0].1.span.slice(text), "\"é\"");
        assert_eq!(
            node.to_value(),
            serde_json::from_str::<serde_json::Value>(text).unwrap()
        );
    }

    #[test]
    fn what_is_no_json_has_a_place() {
        for (text, at) in [("{\"a\": }", 6), ("{\n \"é\": 1,\n}", 13), ("", 0)] {
            let error = parse(text).unwrap_err();
            assert!(error.message.starts_with("invalid JSON"), "{error:?}");
            assert!(error.span.start() <= at + 1, "{text}: {error:?}");
        }
        let twice = parse("{\"a\": 1, \"a\": 2}").unwrap_err();
        assert_eq!(twice.message, "the key `a` is there twice");
        assert!(parse("{a: 1}").is_err() && parse("{\"a\": 1} // c").is_err());
        let deep = format!("{}1{}", "[".repeat(70), "]".repeat(70));
        assert!(parse(&deep).unwrap_err().message.contains("deep"));
    }
}

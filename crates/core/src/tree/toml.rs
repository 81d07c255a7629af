//! TOML with places.

use ::toml::Spanned as Placed;
use ::toml::de::{DeTable, DeValue, Error};

use super::{MAX_DEPTH, Node, Tree, Unreadable};
use crate::text::{Span, Spanned};

/// Reads a text.
pub fn parse(text: &str) -> Result<Node, Unreadable> {
    let table = DeTable::parse(text).map_err(|error| unreadable(&error, text))?;
    let span = span(&table.span());
    Ok(Node {
        span,
        tree: entries(table.into_inner(), 1)?,
    })
}

fn unreadable(error: &Error, text: &str) -> Unreadable {
    let place = error
        .span()
        .map_or(Span::at(text.len()), |range| span(&range));
    Unreadable::new(place, format!("invalid TOML: {}", error.message()))
}

fn span(range: &std::ops::Range<usize>) -> Span {
    Span::new(range.start, range.end)
}

fn entries(table: DeTable<'_>, depth: usize) -> Result<Tree, Unreadable> {
    let entries = table.into_iter().map(|(key, value)| {
        let place = span(&key.span());
        let key = Spanned::new(key.into_inner().into_owned(), place);
        Ok((key, node(value, depth + 1)?))
    });
    Ok(Tree::Table(entries.collect::<Result<_, Unreadable>>()?))
}

fn node(value: Placed<DeValue<'_>>, depth: usize) -> Result<Node, Unreadable> {
    let place = span(&value.span());
    if depth > MAX_DEPTH {
        return Err(Unreadable::too_deep(place));
    }
    let tree = match value.into_inner() {
        DeValue::String(text) => Tree::Text(text.into_owned()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Tree::Number(number.to_string()),
            Err(_) => return Err(Unreadable::new(place, "the number is too large")),
        },
        DeValue::Float(number) => match number.as_str().parse::<f64>() {
            Ok(number) if number.is_finite() => Tree::Number(format!("{number:?}")),
            _ => return Err(Unreadable::new(place, "the number is not finite")),
        },
        DeValue::Boolean(value) => Tree::Bool(value),
        DeValue::Datetime(moment) => Tree::Text(moment.to_string()),
        DeValue::Array(items) => {
            let items = items.into_iter().map(|item| node(item, depth + 1));
            Tree::List(items.collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => entries(table, depth)?,
    };
    Ok(Node { span: place, tree })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_and_value_has_its_place() {
        let text = "formula = \"x\"\n[[steps]]\nid = 'a'\npriority = 0x2\n";
        let node = parse(text).unwrap();
        let Tree::Table(entries) = &node.tree else {
            panic!("{node:?}");
        };
        let places: Vec<(&str, &str)> = entries
            .iter()
            .map(|(key, node)| (key.span.slice(text), node.span.slice(text)))
            .collect();
        assert_eq!(places[0], ("formula", "\"x\""));
        assert_eq!(places[1].0, "steps");
        assert_eq!(
            node.to_value(),
            serde_json::json!({"formula": "x", "steps": [{"id": "a", "priority": 2}]})
        );
    }

    #[test]
    fn what_is_no_toml_has_a_place() {
        let text = "formula = \n";
        let error = parse(text).unwrap_err();
        assert!(error.message.starts_with("invalid TOML"), "{error:?}");
        assert!(error.span.start() >= 9, "{error:?}");
        assert!(parse("a = 1\na = 2\n").is_err(), "one key twice");
        assert!(parse("a = nan").is_err());
        assert!(parse("a = 99999999999999999999").is_err());
    }
}

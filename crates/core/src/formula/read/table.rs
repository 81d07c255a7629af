//! Taking fields out of a table: each with its type, and none that is unknown.

use super::super::fields::{self, FIELDS, Object, Treatment};
use super::super::place::{Placed, suggestion};
use super::Reader;
use crate::diag::WarningCode;
use crate::text::{Span, Spanned, excerpt};
use crate::tree::{Entry, Node, Tree};

/// The entries of a table whose keys were checked.
#[derive(Clone, Copy)]
pub(super) struct Table<'n> {
    entries: &'n [Entry],
    pub(super) span: Span,
    object: Object,
}

impl<'n> Table<'n> {
    /// The value of a field; null counts as absent.
    pub(super) fn get(&self, name: &str) -> Option<&'n Node> {
        debug_assert!(fields::find(self.object, name).is_some(), "{name}");
        let found = self.entries.iter().find(|(key, _)| key.value == name);
        found.map(|(_, node)| node).filter(|node| !node.is_null())
    }
}

impl Reader<'_> {
    /// A table of this sort. Reports the keys in it that are unknown or without effect.
    pub(super) fn table<'n>(&mut self, node: &'n Node, object: Object) -> Option<Table<'n>> {
        let Some(entries) = node.as_table() else {
            let message = format!("a {} is a table, not {}", object.as_str(), node.kind());
            self.refuse(node.span, message, "");
            return None;
        };
        for (key, value) in entries {
            self.check_key(object, key, value);
        }
        Some(Table {
            entries,
            span: node.span,
            object,
        })
    }

    fn check_key(&mut self, object: Object, key: &Spanned<String>, value: &Node) {
        let (name, words) = (&key.value, object.as_str());
        let Some(field) = fields::find(object, name) else {
            let message = format!("a {words} has no field `{}`", excerpt(name));
            let known = FIELDS.iter().filter(|field| field.object == object);
            let names: Vec<&str> = known.map(|field| field.name).collect();
            let help = suggestion(name, &names, || format!("it has {}", names.join(", ")));
            self.object_to(key.span, message, &help);
            return;
        };
        match field.treatment {
            Treatment::Honoured => {}
            // Steps are always made: who asks for that gets it.
            Treatment::Ignored if name == "pour" && value.tree == Tree::Bool(true) => {}
            Treatment::Ignored => {
                let message = format!("`{name}` of a {words} is ignored");
                let place = self.place(key.span);
                (self.findings).warn(WarningCode::FormulaField, place, message, field.about);
            }
            Treatment::Refused => {
                let message = format!("`{name}` of a {words} is not supported");
                self.refuse(key.span, message, field.about);
            }
        }
    }

    /// What a node is read as; an error says what was expected.
    fn typed<T>(
        &mut self,
        name: &str,
        node: &Node,
        expected: &str,
        read: impl FnOnce(&Node) -> Option<T>,
    ) -> Option<T> {
        let value = read(node);
        if value.is_none() {
            let message = format!("`{name}` is {expected}, not {}", node.kind());
            self.refuse(node.span, message, "");
        }
        value
    }

    pub(super) fn text(&mut self, table: Table<'_>, name: &str) -> Option<Placed<String>> {
        let node = table.get(name)?;
        let text = self.typed(name, node, "a text", |node| {
            node.as_text().map(str::to_owned)
        })?;
        Some(Placed::new(text, self.place(node.span)))
    }

    /// A text with something in it.
    pub(super) fn filled_text(&mut self, table: Table<'_>, name: &str) -> Option<Placed<String>> {
        self.text(table, name).filter(|text| !text.value.is_empty())
    }

    /// A text that must be there and not be blank.
    pub(super) fn required_text(&mut self, table: Table<'_>, name: &str) -> Option<Placed<String>> {
        if table.get(name).is_none() {
            let message = format!("a {} needs `{name}`", table.object.as_str());
            self.refuse(table.span, message, "");
            return None;
        }
        let text = self.text(table, name)?;
        if text.value.trim().is_empty() {
            self.refuse(text.place.span, format!("`{name}` is empty"), "");
            return None;
        }
        Some(text)
    }

    /// A single value of any type, as a text.
    pub(super) fn scalar(&mut self, table: Table<'_>, name: &str) -> Option<Placed<String>> {
        let node = table.get(name)?;
        let text = self.typed(name, node, "a single value", Node::scalar)?;
        Some(Placed::new(text, self.place(node.span)))
    }

    /// A list of single values.
    pub(super) fn scalars(&mut self, table: Table<'_>, name: &str) -> Vec<String> {
        self.each(table, name, |reader, item| {
            reader.typed(name, item, "a list of single values", Node::scalar)
        })
    }

    pub(super) fn texts(&mut self, table: Table<'_>, name: &str) -> Vec<Placed<String>> {
        self.each(table, name, |reader, item| {
            let text = |node: &Node| node.as_text().map(str::to_owned);
            let text = reader.typed(name, item, "a list of texts", text)?;
            Some(Placed::new(text, reader.place(item.span)))
        })
    }

    pub(super) fn list<'n>(&mut self, table: Table<'n>, name: &str) -> Option<&'n [Node]> {
        let node = table.get(name)?;
        self.typed(name, node, "a list", |_| node.as_list())
    }

    /// Each item of a list that can be read.
    pub(super) fn each<T>(
        &mut self,
        table: Table<'_>,
        name: &str,
        mut read: impl FnMut(&mut Self, &Node) -> Option<T>,
    ) -> Vec<T> {
        let items = self.list(table, name).unwrap_or_default();
        items.iter().filter_map(|item| read(self, item)).collect()
    }

    pub(super) fn switch(&mut self, table: Table<'_>, name: &str) -> Option<bool> {
        let node = table.get(name)?;
        self.typed(name, node, "true or false", Node::as_bool)
    }

    /// A whole number between two bounds.
    pub(super) fn number(
        &mut self,
        table: Table<'_>,
        name: &str,
        least: u64,
        most: u64,
    ) -> Option<u64> {
        let node = table.get(name)?;
        let number = node.number().filter(|n| (least..=most).contains(n));
        if number.is_none() {
            let end = if most == u64::from(u32::MAX) {
                String::new()
            } else {
                format!(" to {most}")
            };
            let found = match &node.tree {
                Tree::Number(number) => excerpt(number),
                Tree::Text(text) => format!("the text `{}`", excerpt(text)),
                _ => node.kind().to_owned(),
            };
            let message = format!("`{name}` is a whole number from {least}{end}, not {found}");
            self.refuse(node.span, message, "");
        }
        number
    }

    /// One of some words.
    pub(super) fn word<T: Copy>(
        &mut self,
        table: Table<'_>,
        name: &str,
        known: &[T],
        word: impl Fn(T) -> &'static str,
    ) -> Option<T> {
        let text = self.filled_text(table, name)?;
        let found = known.iter().find(|one| word(**one) == text.value);
        if found.is_none() {
            let all: Vec<&str> = known.iter().map(|one| word(*one)).collect();
            let help = suggestion(&text.value, &all, || {
                format!("it is one of {}", all.join(", "))
            });
            let message = format!("`{name}` cannot be `{}`", excerpt(&text.value));
            self.refuse(text.place.span, message, &help);
        }
        found.copied()
    }

    /// A table of names and single values.
    pub(super) fn pairs(&mut self, table: Table<'_>, name: &str) -> Vec<(String, String)> {
        let Some(node) = table.get(name) else {
            return Vec::new();
        };
        let entries = self.typed(name, node, "a table of values", |_| node.as_table());
        let mut pairs = Vec::new();
        for (key, value) in entries.unwrap_or_default() {
            let text = self.typed(name, value, "a table of single values", Node::scalar);
            pairs.extend(text.map(|text| (key.value.clone(), text)));
        }
        pairs
    }
}

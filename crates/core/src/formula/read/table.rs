//! Taking fields out of a table: each with its type, and none that nobody knows.

use super::super::document::{Node, Tree};
use super::super::fields::{self, FIELDS, Object, Treatment};
use super::super::place::Placed;
use super::{Reader, scalar};
use crate::diag::{WarningCode, did_you_mean};
use crate::text::{Span, Spanned, excerpt};

/// The entries of a table whose keys were looked at.
#[derive(Clone, Copy)]
pub(super) struct Table<'n> {
    pub(super) entries: &'n [(Spanned<String>, Node)],
    pub(super) span: Span,
    object: Object,
}

impl<'n> Table<'n> {
    /// The value of a field; null counts as absent.
    pub(super) fn get(&self, name: &str) -> Option<&'n Node> {
        debug_assert!(fields::find(self.object, name).is_some(), "{name}");
        let found = self.entries.iter().find(|(key, _)| key.value == name);
        found
            .map(|(_, node)| node)
            .filter(|node| node.tree != Tree::Null)
    }
}

impl Reader<'_> {
    /// A table of this sort. What is in it that nobody knows, or that means nothing, is said here.
    pub(super) fn table<'n>(&mut self, node: &'n Node, object: Object) -> Option<Table<'n>> {
        let Tree::Table(entries) = &node.tree else {
            let message = format!("a {} is a table, not {}", object.words(), node.kind());
            self.refuse(node.span, message, "");
            return None;
        };
        for (key, value) in entries {
            self.look_at(object, key, value);
        }
        Some(Table {
            entries,
            span: node.span,
            object,
        })
    }

    fn look_at(&mut self, object: Object, key: &Spanned<String>, value: &Node) {
        let name = &key.value;
        if let Some(field) = fields::find(object, name) {
            match field.treatment {
                Treatment::Honoured => {}
                // Steps are always made: who asks for that gets it.
                Treatment::Ignored if name == "pour" && value.tree == Tree::Bool(true) => {}
                Treatment::Ignored => {
                    let message = format!("`{name}` of a {} is ignored", object.words());
                    let place = self.place(key.span);
                    self.findings
                        .warn(WarningCode::FormulaField, place, message, field.about);
                }
                Treatment::Refused => {
                    let message = format!("`{name}` of a {} is not supported", object.words());
                    self.refuse(key.span, message, field.about);
                }
            }
        } else {
            let message = format!("a {} has no field `{}`", object.words(), excerpt(name));
            let known = FIELDS.iter().filter(|field| field.object == object);
            let names: Vec<&str> = known.map(|field| field.name).collect();
            let help = match did_you_mean(name, names.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it has {}", names.join(", ")),
            };
            self.object_to(key.span, message, &help);
        }
    }

    fn wrong_type<T>(&mut self, name: &str, node: &Node, expected: &str) -> Option<T> {
        let message = format!("`{name}` is {expected}, not {}", node.kind());
        self.refuse(node.span, message, "");
        None
    }

    pub(super) fn text(&mut self, table: Table<'_>, name: &str) -> Option<Placed<String>> {
        let node = table.get(name)?;
        match &node.tree {
            Tree::Text(text) => Some(Placed::new(text.clone(), self.place(node.span))),
            _ => self.wrong_type(name, node, "a text"),
        }
    }

    /// A text that must be there and say something.
    pub(super) fn required_text(&mut self, table: Table<'_>, name: &str) -> Option<Placed<String>> {
        if table.get(name).is_none() {
            let message = format!("a {} needs `{name}`", table.object.words());
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
        match scalar(node) {
            Some(text) => Some(Placed::new(text, self.place(node.span))),
            None => self.wrong_type(name, node, "a single value"),
        }
    }

    /// A list of single values.
    pub(super) fn scalars(&mut self, table: Table<'_>, name: &str) -> Vec<String> {
        let Some(items) = self.list(table, name) else {
            return Vec::new();
        };
        let mut texts = Vec::new();
        for item in items {
            match scalar(item) {
                Some(text) => texts.push(text),
                None => {
                    let _: Option<()> = self.wrong_type(name, item, "a list of single values");
                }
            }
        }
        texts
    }

    /// A list of texts.
    pub(super) fn texts(&mut self, table: Table<'_>, name: &str) -> Vec<Placed<String>> {
        let Some(items) = self.list(table, name) else {
            return Vec::new();
        };
        let mut texts = Vec::new();
        for item in items {
            match &item.tree {
                Tree::Text(text) => texts.push(Placed::new(text.clone(), self.place(item.span))),
                _ => {
                    let _: Option<()> = self.wrong_type(name, item, "a list of texts");
                }
            }
        }
        texts
    }

    pub(super) fn list<'n>(&mut self, table: Table<'n>, name: &str) -> Option<&'n [Node]> {
        let node = table.get(name)?;
        match &node.tree {
            Tree::List(items) => Some(items),
            _ => self.wrong_type(name, node, "a list"),
        }
    }

    /// Each item of a list of tables.
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
        match &node.tree {
            Tree::Bool(value) => Some(*value),
            _ => self.wrong_type(name, node, "true or false"),
        }
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
        let number = match &node.tree {
            Tree::Number(number) => number.parse().ok(),
            _ => None,
        };
        match number.filter(|number| (least..=most).contains(number)) {
            Some(number) => Some(number),
            None if most == u64::from(u32::MAX) => {
                self.wrong_value(name, node, &format!("a whole number from {least}"))
            }
            None => self.wrong_value(
                name,
                node,
                &format!("a whole number from {least} to {most}"),
            ),
        }
    }

    fn wrong_value<T>(&mut self, name: &str, node: &Node, expected: &str) -> Option<T> {
        let found = match &node.tree {
            Tree::Number(number) => excerpt(number),
            Tree::Text(text) => format!("the text `{}`", excerpt(text)),
            _ => node.kind().to_owned(),
        };
        self.refuse(
            node.span,
            format!("`{name}` is {expected}, not {found}"),
            "",
        );
        None
    }

    /// One of some words.
    pub(super) fn word<T: Copy>(
        &mut self,
        table: Table<'_>,
        name: &str,
        words: &[(&'static str, T)],
    ) -> Option<T> {
        let text = self.text(table, name)?;
        if text.value.is_empty() {
            return None;
        }
        let found = words.iter().find(|(word, _)| *word == text.value);
        if found.is_none() {
            let all: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
            let help = match did_you_mean(&text.value, all.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it is one of {}", all.join(", ")),
            };
            let message = format!("`{name}` cannot be `{}`", excerpt(&text.value));
            self.refuse(text.place.span, message, &help);
        }
        found.map(|(_, value)| *value)
    }

    /// A table of names and single values.
    pub(super) fn pairs(&mut self, table: Table<'_>, name: &str) -> Vec<(String, String)> {
        let Some(node) = table.get(name) else {
            return Vec::new();
        };
        let Tree::Table(entries) = &node.tree else {
            let _: Option<()> = self.wrong_type(name, node, "a table of values");
            return Vec::new();
        };
        let mut pairs = Vec::new();
        for (key, value) in entries {
            match scalar(value) {
                Some(text) => pairs.push((key.value.clone(), text)),
                None => {
                    let _: Option<()> = self.wrong_type(name, value, "a table of single values");
                }
            }
        }
        pairs
    }
}

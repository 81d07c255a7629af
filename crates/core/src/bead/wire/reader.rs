//! Reads JSON values strictly and collects everything that is wrong on the way (B-21, B-22).
//!
//! Every function answers `None` exactly when it has reported an error, so a caller can read all
//! fields first and fail only at the end. A path is a chain on the stack and becomes text only
//! when there is something to report.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::text::excerpt;

use crate::bead::Timestamp;
use crate::bead::error::{FieldError, FieldErrorKind, Invalid};

/// What the document itself is called in an error.
pub(crate) const ROOT: &str = "document";

/// The way from the document to a value.
#[derive(Clone, Copy)]
pub(crate) enum Path<'a> {
    Root,
    Key(&'a Self, &'a str),
    Index(&'a Self, usize),
}

impl<'a> Path<'a> {
    pub(crate) fn key(&'a self, key: &'a str) -> Self {
        Path::Key(self, key)
    }

    fn render(&self) -> String {
        let (parent, step) = match self {
            Path::Root => return ROOT.to_owned(),
            Path::Key(parent, key) => (parent, excerpt(key)),
            Path::Index(parent, index) => (parent, index.to_string()),
        };
        match parent {
            Path::Root => step,
            parent => format!("{}.{step}", parent.render()),
        }
    }
}
#[derive(Default)]
pub(crate) struct Errors(Vec<FieldError>);

impl Errors {
    pub(crate) fn push(&mut self, path: &Path<'_>, kind: FieldErrorKind, message: &str) {
        self.0.push(FieldError {
            path: path.render(),
            message: message.to_owned(),
            kind,
        });
    }

    /// The value when nothing at all went wrong; otherwise every error.
    pub(crate) fn finish<T>(self, value: Option<T>) -> Result<T, Vec<FieldError>> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            _ => Err(self.0),
        }
    }

    /// Takes the result of a parser, reporting its refusal at the path.
    pub(crate) fn take<T>(&mut self, path: &Path<'_>, parsed: Result<T, Invalid>) -> Option<T> {
        parsed
            .map_err(|invalid| self.push(path, invalid.kind, &invalid.message))
            .ok()
    }
}

/// A value of the document and the way to it.
#[derive(Clone, Copy)]
pub(crate) struct Node<'v, 'p> {
    pub(crate) value: &'v Value,
    pub(crate) path: Path<'p>,
}

impl<'v> Node<'v, '_> {
    fn refuse<T>(&self, errors: &mut Errors, kind: FieldErrorKind, message: &str) -> Option<T> {
        errors.push(&self.path, kind, message);
        None
    }

    pub(crate) fn string(&self, errors: &mut Errors) -> Option<&'v str> {
        let message = "Input should be a valid string";
        match self.value {
            Value::String(text) => Some(text),
            _ => self.refuse(errors, FieldErrorKind::StringType, message),
        }
    }

    pub(crate) fn text(&self, errors: &mut Errors) -> Option<String> {
        self.string(errors).map(str::to_owned)
    }

    /// A string that is not empty; `field` is what the message calls it.
    pub(crate) fn non_empty(&self, errors: &mut Errors, field: &str) -> Option<String> {
        match self.string(errors)? {
            "" => self.refuse(
                errors,
                FieldErrorKind::Value,
                &format!("{field} must be non-empty"),
            ),
            text => Some(text.to_owned()),
        }
    }

    /// A string with something in it that can be seen.
    pub(crate) fn not_blank(&self, errors: &mut Errors, field: &str) -> Option<String> {
        let text = self.string(errors)?;
        // The byte order mark is white space to JSON Schema's `\s` but not to Rust.
        if text.chars().all(|c| c.is_whitespace() || c == '\u{feff}') {
            let message = format!("{field} must be non-empty");
            return self.refuse(errors, FieldErrorKind::Value, &message);
        }
        Some(text.to_owned())
    }

    pub(crate) fn parsed<T>(
        &self,
        errors: &mut Errors,
        parse: impl FnOnce(&str) -> Result<T, Invalid>,
    ) -> Option<T> {
        let text = self.string(errors)?;
        errors.take(&self.path, parse(text))
    }

    pub(crate) fn timestamp(&self, errors: &mut Errors) -> Option<Timestamp> {
        let message = "Input should be a valid datetime";
        match self.value {
            Value::String(text) => errors.take(&self.path, Timestamp::parse(text)),
            _ => self.refuse(errors, FieldErrorKind::DatetimeType, message),
        }
    }

    pub(crate) fn boolean(&self, errors: &mut Errors) -> Option<bool> {
        let message = "Input should be a valid boolean";
        match self.value {
            Value::Bool(value) => Some(*value),
            _ => self.refuse(errors, FieldErrorKind::BoolType, message),
        }
    }

    /// An integer that is not less than a bound and fits its type; `field` is what the message calls it.
    pub(crate) fn integer<T: TryFrom<i128>>(
        &self,
        errors: &mut Errors,
        field: &str,
        least: i128,
    ) -> Option<T> {
        let number = match self.value {
            // A fraction is never an integer here, not even 1.0 (B-21).
            Value::Number(number) => number
                .as_i64()
                .map(i128::from)
                .or_else(|| number.as_u64().map(i128::from)),
            _ => None,
        };
        let Some(number) = number else {
            let message = "Input should be a valid integer";
            return self.refuse(errors, FieldErrorKind::IntType, message);
        };
        if number < least {
            let message = format!("{field} must be >= {least}");
            return self.refuse(errors, FieldErrorKind::Value, &message);
        }
        if let Ok(number) = T::try_from(number) {
            return Some(number);
        }
        let message = format!("{field} is out of range");
        self.refuse(errors, FieldErrorKind::Value, &message)
    }

    pub(crate) fn array(&self, errors: &mut Errors) -> Option<&'v [Value]> {
        let message = "Input should be a valid list";
        match self.value {
            Value::Array(items) => Some(items),
            _ => self.refuse(errors, FieldErrorKind::ListType, message),
        }
    }

    /// An array whose items are read one by one, all of them even when some are wrong.
    pub(crate) fn list<T>(
        &self,
        errors: &mut Errors,
        mut read: impl FnMut(usize, Node<'v, '_>, &mut Errors) -> Option<T>,
    ) -> Option<Vec<T>> {
        let items = self.array(errors)?;
        let mut list = Vec::with_capacity(items.len());
        for (index, value) in items.iter().enumerate() {
            let path = Path::Index(&self.path, index);
            list.extend(read(index, Node { value, path }, errors));
        }
        (list.len() == items.len()).then_some(list)
    }

    /// A list that must not be empty; `field` is what the message calls it.
    pub(crate) fn non_empty_list<T>(
        &self,
        errors: &mut Errors,
        field: &str,
        read: impl FnMut(usize, Node<'v, '_>, &mut Errors) -> Option<T>,
    ) -> Option<Vec<T>> {
        let list = self.list(errors, read)?;
        if list.is_empty() {
            let message = format!("{field} must be non-empty array");
            return self.refuse(errors, FieldErrorKind::Value, &message);
        }
        Some(list)
    }

    pub(crate) fn strings(&self, errors: &mut Errors) -> Option<Vec<String>> {
        self.list(errors, |_, item, errors| item.text(errors))
    }
    pub(crate) fn dict(&self, errors: &mut Errors) -> Option<&'v Map<String, Value>> {
        let message = "Input should be a valid dictionary";
        match self.value {
            Value::Object(map) => Some(map),
            _ => self.refuse(errors, FieldErrorKind::DictType, message),
        }
    }
    pub(crate) fn string_map(&self, errors: &mut Errors) -> Option<BTreeMap<String, String>> {
        let map = self.dict(errors)?;
        let mut texts = BTreeMap::new();
        for (key, value) in map {
            let path = self.path.key(key);
            let node = Node { value, path };
            texts.extend(node.text(errors).map(|text| (key.clone(), text)));
        }
        (texts.len() == map.len()).then_some(texts)
    }

    /// An object of known fields.
    pub(crate) fn fields<'n>(&'n self, errors: &mut Errors) -> Option<Fields<'v, 'n>> {
        let message = "Input should be a valid object";
        let path = &self.path;
        match self.value {
            Value::Object(map) => Some(Fields { map, path }),
            _ => self.refuse(errors, FieldErrorKind::ModelType, message),
        }
    }
}

/// The known fields of an object.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'v, 'p> {
    pub(crate) map: &'v Map<String, Value>,
    pub(crate) path: &'p Path<'p>,
}

impl<'v> Fields<'v, '_> {
    /// A field that must be there.
    pub(crate) fn required<T>(
        &self,
        errors: &mut Errors,
        key: &str,
        read: impl FnOnce(Node<'v, '_>, &mut Errors) -> Option<T>,
    ) -> Option<T> {
        let path = self.path.key(key);
        if let Some(value) = self.map.get(key) {
            return read(Node { value, path }, errors);
        }
        errors.push(&path, FieldErrorKind::Missing, "Field required");
        None
    }

    /// A field that may be absent; null is handed to the reader, which refuses it.
    pub(crate) fn or<T>(
        &self,
        errors: &mut Errors,
        key: &str,
        default: T,
        read: impl FnOnce(Node<'v, '_>, &mut Errors) -> Option<T>,
    ) -> Option<T> {
        let path = self.path.key(key);
        match self.map.get(key) {
            Some(value) => read(Node { value, path }, errors),
            None => Some(default),
        }
    }

    /// A field that may be absent or null.
    #[expect(
        clippy::option_option,
        reason = "the outer one says whether it was read, the inner one whether it is there"
    )]
    pub(crate) fn optional<T>(
        &self,
        errors: &mut Errors,
        key: &str,
        read: impl FnOnce(Node<'v, '_>, &mut Errors) -> Option<T>,
    ) -> Option<Option<T>> {
        let path = self.path.key(key);
        match self.map.get(key) {
            None | Some(Value::Null) => Some(None),
            Some(value) => read(Node { value, path }, errors).map(Some),
        }
    }

    /// A text that must be there.
    pub(crate) fn text(&self, errors: &mut Errors, key: &str) -> Option<String> {
        self.required(errors, key, |node, errors| node.text(errors))
    }

    /// A text that must be there and not be empty.
    pub(crate) fn non_empty(&self, errors: &mut Errors, key: &str) -> Option<String> {
        self.required(errors, key, |node, errors| node.non_empty(errors, key))
    }

    /// A text that may be absent or null.
    #[expect(
        clippy::option_option,
        reason = "the outer one says whether it was read, the inner one whether it is there"
    )]
    pub(crate) fn optional_text(&self, errors: &mut Errors, key: &str) -> Option<Option<String>> {
        self.optional(errors, key, |node, errors| node.text(errors))
    }

    /// A word or a pattern that must be there.
    pub(crate) fn parsed<T>(
        &self,
        errors: &mut Errors,
        key: &str,
        parse: impl FnOnce(&str) -> Result<T, Invalid>,
    ) -> Option<T> {
        self.required(errors, key, |node, errors| node.parsed(errors, parse))
    }
}

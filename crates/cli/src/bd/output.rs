//! What the face prints: Go's JSON, and plain text.
//!
//! Objects come out sorted with `schema_version`, lists as they are; with `BD_JSON_ENVELOPE=1` either stands under
//! `data`.

use std::io;

use beads_ralph_core::text::visible_lines;
use serde::Serialize as _;
use serde_json::ser::{CharEscape, Formatter, PrettyFormatter, Serializer};
use serde_json::{Map, Value, json};

use super::failure::Refusal;
use crate::ui;

const SCHEMA_VERSION: u64 = 1;

/// How the face answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Output {
    pub(super) is_json: bool,
    pub(super) is_envelope: bool,
    pub(super) is_quiet: bool,
}

impl Output {
    pub(super) fn is_json(self) -> bool {
        self.is_json
    }

    /// Prints text for people. Beads hold text of others, so whatever could steer a terminal is shown escaped (C-11).
    #[expect(clippy::unused_self, reason = "whoever prints does it through this")]
    pub(super) fn text(self, text: &str) -> Result<(), Refusal> {
        Ok(ui::raw_out(&visible_lines(text))?)
    }

    /// Prints text with marks of ours for a terminal. Whoever puts text of others into it escapes that.
    #[expect(clippy::unused_self, reason = "whoever prints does it through this")]
    pub(super) fn styled(self, text: &str) -> Result<(), Refusal> {
        Ok(ui::raw_out(text)?)
    }

    /// Prints JSON that is already encoded. Programs read it, so it stays as it is.
    #[expect(clippy::unused_self, reason = "whoever prints does it through this")]
    pub(super) fn encoded(self, json: &str) -> Result<(), Refusal> {
        Ok(ui::raw_out(json)?)
    }

    /// Prints text unless nobody wants to hear it.
    pub(super) fn say(self, text: &str) -> Result<(), Refusal> {
        if self.is_quiet {
            return Ok(());
        }
        self.text(text)
    }

    /// Prints text for people on standard error, escaped as [`Output::text`] does it.
    #[expect(clippy::unused_self, reason = "whoever prints does it through this")]
    pub(super) fn aside(self, text: &str) {
        ui::raw_err(&visible_lines(text));
    }

    /// Prints encoded JSON on standard error.
    #[expect(clippy::unused_self, reason = "whoever prints does it through this")]
    pub(super) fn encoded_aside(self, json: &str) {
        ui::raw_err(json);
    }

    /// Prints a value: an object or a list.
    pub(super) fn value(self, value: Value) -> Result<(), Refusal> {
        self.encoded(&encode(&self.wrapped(value)))
    }

    /// Prints a list item by item, as [`value`](Self::value) would print it as a whole.
    pub(super) fn list(self) -> List {
        List {
            is_envelope: self.is_envelope,
            is_begun: false,
            pending: String::new(),
        }
    }

    /// Prints a list of which there is more than is shown.
    pub(super) fn page(self, items: Value, returned: usize, total: usize) -> Result<(), Refusal> {
        if self.is_envelope {
            let page = json!({
                "data": items,
                "pagination": {"returned": returned, "total": total, "truncated": true},
                "schema_version": SCHEMA_VERSION,
            });
            self.encoded(&encode(&page))
        } else {
            self.value(items)
        }
    }

    /// A value in the form that was asked for.
    pub(super) fn wrapped(self, value: Value) -> Value {
        if self.is_envelope {
            return json!({"data": value, "schema_version": SCHEMA_VERSION});
        }
        match value {
            Value::Object(mut map) => {
                map.insert("schema_version".to_owned(), SCHEMA_VERSION.into());
                sorted(Value::Object(map))
            }
            other => other,
        }
    }
}

/// A list that is printed as it comes.
pub(super) struct List {
    is_envelope: bool,
    is_begun: bool,
    /// What is not printed yet: each call of the system costs.
    pending: String,
}

/// From how many bytes on a list is printed on.
const PRINTED_AT_ONCE: usize = 64 * 1024;

impl List {
    /// Prints more items.
    pub(super) fn items(&mut self, items: &[Value]) -> Result<(), Refusal> {
        let indent = if self.is_envelope { "    " } else { "  " };
        for item in items {
            let before = match (self.is_begun, self.is_envelope) {
                (true, _) => ",\n",
                (false, true) => "{\n  \"data\": [\n",
                (false, false) => "[\n",
            };
            self.is_begun = true;
            self.pending.push_str(before);
            let text = encode(item);
            let mut lines = text.lines();
            if let Some(first) = lines.next() {
                self.pending.push_str(indent);
                self.pending.push_str(first);
            }
            for line in lines {
                self.pending.push('\n');
                self.pending.push_str(indent);
                self.pending.push_str(line);
            }
        }
        if self.pending.len() >= PRINTED_AT_ONCE {
            ui::raw_out(&self.pending)?;
            self.pending.clear();
        }
        Ok(())
    }

    /// Prints the rest.
    pub(super) fn end(self) -> Result<(), Refusal> {
        Ok(ui::raw_out(&self.ended())?)
    }

    fn ended(mut self) -> String {
        self.pending
            .push_str(match (self.is_begun, self.is_envelope) {
                (true, true) => "\n  ],\n  \"schema_version\": 1\n}\n",
                (true, false) => "\n]\n",
                (false, true) => "{\n  \"data\": [],\n  \"schema_version\": 1\n}\n",
                (false, false) => "[]\n",
            });
        self.pending
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
pub(super) fn encode(value: &Value) -> String {
    let mut text = Vec::new();
    let formatter = Escaping {
        inner: PrettyFormatter::with_indent(b"  "),
    };
    let mut serializer = Serializer::with_formatter(&mut text, formatter);
    value
        .serialize(&mut serializer)
        .expect("a JSON value can always be written");
    text.push(b'\n');
    String::from_utf8(text).expect("JSON is UTF-8")
}

/// The same on one line, without a line end.
pub(super) fn encode_line(value: &Value) -> String {
    let mut text = Vec::new();
    let formatter = Escaping {
        inner: serde_json::ser::CompactFormatter,
    };
    let mut serializer = Serializer::with_formatter(&mut text, formatter);
    value
        .serialize(&mut serializer)
        .expect("a JSON value can always be written");
    String::from_utf8(text).expect("JSON is UTF-8")
}

/// Escapes what Go escapes beyond what JSON demands.
struct Escaping<F> {
    inner: F,
}

impl<F: Formatter> Formatter for Escaping<F> {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut start = 0;
        for (index, c) in fragment.char_indices() {
            if matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}') {
                writer.write_all(&fragment.as_bytes()[start..index])?;
                write!(writer, "\\u{:04x}", u32::from(c))?;
                start = index + c.len_utf8();
            }
        }
        writer.write_all(&fragment.as_bytes()[start..])
    }

    fn write_char_escape<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        self.inner.write_char_escape(writer, escape)
    }

    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.begin_array(writer)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.inner.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.begin_object(writer)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.inner.begin_object_key(writer, first)
    }

    fn end_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.end_object_key(writer)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.inner.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_is_printed_as_it_comes_is_that_of_the_whole() {
        let items = [json!({"b": ["x\ny", {}, []], "a": {"c": 1}}), json!(1)];
        for is_envelope in [false, true] {
            let output = Output {
                is_json: true,
                is_envelope,
                is_quiet: false,
            };
            for n in 0..=items.len() {
                let mut list = output.list();
                list.items(&items[..n]).unwrap();
                let whole = encode(&output.wrapped(items[..n].to_vec().into()));
                assert_eq!(list.ended(), whole);
            }
        }
    }

    #[test]
    fn z_24_json_is_written_as_go_writes_it() {
        let value = json!({"b": ["<&>\u{2028}\n", {}, []], "a": 1});
        let output = Output {
            is_json: true,
            is_envelope: false,
            is_quiet: false,
        };
        let text = encode(&output.wrapped(value));
        assert_eq!(
            text,
            "{\n  \"a\": 1,\n  \"b\": [\n    \"\\u003c\\u0026\\u003e\\u2028\\n\",\n    {},\n    []\n  ],\n  \"schema_version\": 1\n}\n"
        );
    }
}

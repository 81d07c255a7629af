//! Any bytes as a bead's document: nothing panics, and what validates still validates, unchanged, after
//! it was written in any shape.
//!
//! Changed bytes seldom make another valid bead. So an input that starts with `=1` or `=2` is read as
//! edits of a valid bead of that generation, one on each line: the pointer of a value, a space, and the
//! JSON that is put there, or nothing to remove it.

#![no_main]

use beads_ralph_core::bead::{self, BeadShape, Rules};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const ONE: &[u8] = include_bytes!("../seeds/bead/one.json");
const TWO: &[u8] = include_bytes!("../seeds/bead/two.json");

fuzz_target!(|bytes: &[u8]| {
    let document = match bytes {
        [b'=', b'1', edits @ ..] => edited(ONE, edits),
        [b'=', b'2', edits @ ..] => edited(TWO, edits),
        _ => match bead::parse_document(bytes) {
            Ok(document) => document,
            Err(_) => return,
        },
    };
    let rules = Rules::default();
    let bead = match bead::validate(&document, &rules) {
        Ok(bead) => bead,
        Err(errors) => {
            assert!(!errors.is_empty(), "a refusal without a reason");
            return;
        }
    };
    for shape in [BeadShape::V1, BeadShape::V2, BeadShape::Both] {
        let written = bead.to_document(shape);
        match bead::validate(&written, &rules) {
            Ok(again) => assert_eq!(again.to_document(shape), written, "{shape:?}"),
            Err(errors) => panic!("{shape:?}: {errors:?} in {written}"),
        }
    }
});

fn edited(bead: &[u8], edits: &[u8]) -> Value {
    let mut document = bead::parse_document(bead).expect("the seeds are JSON");
    for edit in String::from_utf8_lossy(edits).lines() {
        let (pointer, value) = edit.split_once(' ').unwrap_or((edit, ""));
        let Some((parent, key)) = pointer.rsplit_once('/') else {
            continue;
        };
        put(
            document.pointer_mut(parent),
            key,
            serde_json::from_str(value).ok(),
        );
    }
    document
}

fn put(parent: Option<&mut Value>, key: &str, value: Option<Value>) {
    match (parent, value) {
        (Some(Value::Object(map)), Some(value)) => {
            map.insert(key.to_owned(), value);
        }
        (Some(Value::Object(map)), None) => {
            map.shift_remove(key);
        }
        (Some(Value::Array(items)), Some(value)) => items.push(value),
        (Some(Value::Array(items)), None) => {
            items.pop();
        }
        _ => {}
    }
}

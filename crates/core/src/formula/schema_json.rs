//! The JSON Schema of formula files, for editors: the names, texts and treatments are those of [`FIELDS`].
//!
//! A schema sees one file and no meaning: it knows fields and their shapes, not needs, circles, variables or other files. That is
//! for [`compile`](super::compile). It is a little stricter in one thing: `null` counts as absent when a file is read, and is not
//! allowed here.

use serde_json::{Map, Value, json};

use super::fields::{FIELDS, Field, Object, Treatment};
use super::model::{Kind, Phase, VariableType};
use super::read::GATES;

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The schema of formulas, with its name.
pub fn schemas() -> Vec<(&'static str, Value)> {
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), DRAFT.into());
    schema.insert("$id".to_owned(), "beads-ralph/formula".into());
    schema.insert("title".to_owned(), "Formula".into());
    let about = "A template of work: NAME.formula.toml or NAME.formula.json.";
    schema.insert("description".to_owned(), about.into());
    schema.insert("$ref".to_owned(), reference(Object::Formula));
    let definitions: Map<String, Value> = Object::ALL
        .iter()
        .map(|object| (key(*object).to_owned(), definition(*object)))
        .collect();
    schema.insert("$defs".to_owned(), definitions.into());
    vec![("formula", schema.into())]
}

/// A table with its fields and no others.
fn definition(object: Object) -> Value {
    let fields = FIELDS.iter().filter(|field| field.object == object);
    let properties: Map<String, Value> = fields
        .map(|field| (field.name.to_owned(), property(field)))
        .collect();
    let mut definition = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "required": required(object),
    });
    if let Some((keyword, alternatives)) = alternatives(object) {
        definition[keyword] = alternatives;
    }
    if object == Object::Variable {
        // A bare value is the default.
        return json!({ "anyOf": [{ "type": ["string", "number", "boolean"] }, definition] });
    }
    definition
}

fn property(field: &Field) -> Value {
    let mut property = match field.treatment {
        Treatment::Honoured => shape(field.object, field.name),
        Treatment::Ignored | Treatment::Refused => json!({ "deprecated": true }),
    };
    let about = match field.treatment {
        Treatment::Honoured => field.about.to_owned(),
        Treatment::Ignored | Treatment::Refused => {
            format!("{}: {}", field.treatment.as_str(), field.about)
        }
    };
    property["description"] = about.into();
    property
}

/// What a field's value looks like; a text unless it is said here.
fn shape(object: Object, name: &str) -> Value {
    let text = || json!({ "type": "string" });
    let texts = || json!({ "type": "array", "items": { "type": "string" } });
    let scalar = || json!({ "type": ["string", "number", "boolean"] });
    let pairs = || json!({ "type": "object", "additionalProperties": scalar() });
    let whole =
        |least: u64, most: u64| json!({ "type": "integer", "minimum": least, "maximum": most });
    let any_whole = || json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX });
    let some_text = || json!({ "type": "string", "pattern": "\\S" });

    let table = |object: Object| json!({ "$ref": reference(object) });
    let tables =
        |object: Object| json!({ "type": "array", "items": { "$ref": reference(object) } });
    match (object, name) {
        (Object::Formula, "formula") => {
            json!({ "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$" })
        }
        (Object::Formula, "type") => one_of(Kind::ALL),
        (Object::Formula, "phase") => one_of(Phase::ALL),
        (Object::Formula, "version") | (Object::Loop, "count" | "max") => any_whole(),
        (Object::Formula, "vars") => json!({
            "type": "object",
            "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_-]*$" },
            "additionalProperties": { "$ref": reference(Object::Variable) },
        }),
        (Object::Formula, "steps" | "template")
        | (Object::Step, "children")
        | (Object::Loop, "body") => tables(Object::Step),
        (Object::Formula, "compose") => table(Object::Compose),
        (Object::Formula, "advice") => tables(Object::Advice),
        (Object::Formula, "extends")
        | (Object::Step, "labels" | "depends_on" | "needs")
        | (Object::Compose, "aspects") => texts(),
        (Object::Variable, "required") => json!({ "type": "boolean" }),
        (Object::Variable, "default") => scalar(),
        (Object::Variable, "enum") => json!({ "type": "array", "items": scalar() }),
        (Object::Variable, "type") => one_of(VariableType::ALL),
        (Object::Step, "priority") => whole(0, 4),
        (Object::Step, "metadata") => json!({ "type": "object" }),
        (Object::Step, "expand_vars") | (Object::Expand | Object::Map, "vars") => pairs(),
        (Object::Step, "gate") => table(Object::Gate),
        (Object::Step, "loop") => table(Object::Loop),
        (Object::Gate, "type") => one_of(&GATES),
        (Object::Compose, "expand") => tables(Object::Expand),
        (Object::Compose, "map") => tables(Object::Map),
        (Object::Compose, "branch") => tables(Object::Branch),
        (Object::Compose, "gate") => tables(Object::GateRule),
        (Object::Branch, "steps") => {
            json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 })
        }
        (Object::Advice, "before" | "after") => table(Object::AdviceStep),
        (Object::Advice, "around") => table(Object::Around),
        (Object::Around, "before" | "after") => tables(Object::AdviceStep),
        (object, name) if required(object).contains(&name) => some_text(),
        _ => text(),
    }
}

/// What must be there.
fn required(object: Object) -> &'static [&'static str] {
    match object {
        Object::Formula => &["formula"],
        Object::Step | Object::AdviceStep => &["id"],
        Object::Gate => &["type"],
        Object::Loop => &["body"],
        Object::Expand => &["target", "with"],
        Object::Map => &["select", "with"],
        Object::Branch => &["from", "steps", "join"],
        Object::GateRule => &["before", "condition"],
        Object::Advice => &["target"],
        Object::Variable | Object::Compose | Object::Around => &[],
    }
}

/// Fields of which one must be there, or of which not two may be.
fn alternatives(object: Object) -> Option<(&'static str, Value)> {
    let each = |names: &[&str]| -> Value {
        let alternatives = names.iter().map(|name| json!({ "required": [name] }));
        alternatives.collect()
    };
    match object {
        Object::Step => Some(("anyOf", each(&["title", "name", "expand"]))),
        Object::Loop => Some(("oneOf", each(&["count", "range", "until"]))),
        _ => None,
    }
}

fn reference(object: Object) -> Value {
    format!("#/$defs/{}", key(object)).into()
}

fn key(object: Object) -> &'static str {
    match object {
        Object::Formula => "formula",
        Object::Variable => "variable",
        Object::Step => "step",
        Object::Gate => "gate",
        Object::Loop => "loop",
        Object::Compose => "compose",
        Object::Expand => "expand",
        Object::Map => "map",
        Object::Branch => "branch",
        Object::GateRule => "gate_rule",
        Object::Advice => "advice",
        Object::AdviceStep => "advice_step",
        Object::Around => "around",
    }
}

fn one_of(words: &[impl serde::Serialize]) -> Value {
    json!({ "type": "string", "enum": words })
}

//! The laws that every bead obeys, tried on generated ones.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Map, Value, json};

use super::arbitrary::{bead, json_value, plain_bead, sprinkle, unknown};
use super::*;

static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let schemas = schemas();
    let (_, bead) = schemas.iter().find(|(name, _)| *name == "bead").unwrap();
    jsonschema::draft202012::new(bead).unwrap()
});

fn schema_errors(document: &Value) -> Vec<String> {
    let report =
        |error: jsonschema::ValidationError<'_>| format!("{}: {error}", error.instance_path());
    SCHEMA.iter_errors(document).map(report).collect()
}

fn read(document: &Value) -> Result<RalphBead, Vec<FieldError>> {
    validate(document, &Rules::default())
}

// The numbering types have no equality of text, but their debug form shows everything.
fn same(left: &RalphBead, right: &RalphBead) -> bool {
    format!("{left:?}") == format!("{right:?}")
}

/// Every place in a document, as a JSON pointer.
fn places(value: &Value, here: &str, all: &mut Vec<String>) {
    all.push(here.to_owned());
    match value {
        Value::Object(map) => {
            map.iter()
                .for_each(|(key, value)| places(value, &format!("{here}/{key}"), all));
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(n, item)| places(item, &format!("{here}/{n}"), all));
        }
        _ => {}
    }
}

#[derive(Debug, Clone)]
enum Mutation {
    Replace(Value),
    Remove,
    Add(String, Value),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let odd = prop_oneof![
        json_value(),
        Just(json!("claude")),
        Just(json!("")),
        Just(json!("sonnet")),
        Just(json!(1)),
        Just(json!([])),
        Just(json!({})),
        Just(json!("2026-02-07T10:00:00Z")),
    ];
    let key = proptest::sample::select(vec![
        "agent",
        "agent_path",
        "role",
        "model",
        "prompt",
        "context",
        "env",
        "team_name",
        "dev_agents",
        "scrum_master_agent",
        "dev_model",
        "dev_agent_path",
        "dod",
        "scrum_result",
        "details",
        "enum",
        "acceptance_criteria",
        "output_schema",
        "name",
        "expect",
        "skipped",
        "message",
        "generation_2",
    ]);
    prop_oneof![
        odd.clone().prop_map(Mutation::Replace),
        Just(Mutation::Remove),
        (key, odd).prop_map(|(key, value)| Mutation::Add(key.to_owned(), value)),
    ]
}

fn mutate(document: &mut Value, place: Index, mutation: Mutation) {
    let mut all = Vec::new();
    places(document, "", &mut all);
    let pointer = place.get(&all);
    match mutation {
        Mutation::Replace(value) => {
            if let Some(target) = document.pointer_mut(pointer) {
                *target = value;
            }
        }
        Mutation::Remove => {
            let (parent, key) = pointer.rsplit_once('/').unwrap_or_default();
            match document.pointer_mut(parent) {
                Some(Value::Object(map)) => drop(map.shift_remove(key)),
                Some(Value::Array(items)) => drop(key.parse().map(|n: usize| items.remove(n))),
                _ => {}
            }
        }
        Mutation::Add(key, value) => {
            if let Some(Value::Object(map)) = document.pointer_mut(pointer) {
                map.insert(key, value);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn b_3_what_is_written_is_valid_and_reads_back(bead in bead()) {
        for shape in [BeadShape::V1, BeadShape::V2, BeadShape::Both] {
            let document = bead.to_document(shape);
            let again = read(&document);
            prop_assert!(again.is_ok(), "{shape:?} {again:?} {document:#}");
            let refused = schema_errors(&document);
            prop_assert!(refused.is_empty(), "{shape:?} {refused:?} {document:#}");
            if shape != BeadShape::V1 {
                let again = again.unwrap();
                prop_assert!(same(&again, &bead), "{shape:?}\n{again:?}\n{bead:?}");
            }
        }
    }

    #[test]
    fn b_22_no_document_makes_the_validator_panic(
        bead in plain_bead(),
        shape in proptest::sample::select(vec![BeadShape::V1, BeadShape::V2, BeadShape::Both]),
        changes in proptest::collection::vec((any::<Index>(), mutation()), 1..3),
    ) {
        let mut document = bead.to_document(shape);
        for (place, mutation) in changes {
            mutate(&mut document, place, mutation);
        }
        match read(&document) {
            Ok(_) => {
                let refused = schema_errors(&document);
                prop_assert!(refused.is_empty(), "{refused:?} {document:#}");
                for migrate in [to_v1, to_v2, to_both] {
                    let migrated = migrate(&document).unwrap();
                    prop_assert!(read(&migrated).is_ok(), "{document:#} {migrated:#}");
                }
            }
            Err(errors) => {
                prop_assert!(!errors.is_empty());
                // Another rig is the one thing that a migration does not mind.
                let only_rig = errors.iter().all(|error| error.path == "metadata.rig");
                prop_assert!(only_rig || to_v2(&document).is_err());
            }
        }
    }

    #[test]
    fn b_4_there_and_back_loses_nothing(bead in plain_bead(), extra in unknown()) {
        let mut two = bead.to_document(BeadShape::V2);
        sprinkle(&mut two, &extra);
        let one = to_v1(&two).unwrap();
        prop_assert!(read(&one).is_ok(), "{:?} {one:#}", read(&one));
        prop_assert!(one["metadata"].get("dev_agents").is_none());
        prop_assert_eq!(to_v1(&one).unwrap(), one.clone());
        prop_assert_eq!(to_v2(&one).unwrap(), two.clone());

        let mut one = bead.to_document(BeadShape::V1);
        sprinkle(&mut one, &extra);
        one["metadata"]["qa_agents"][0]["input_schema"] = json!({ "type": "object" });
        if extra.len() == 1 {
            one["metadata"]["dev_agent_path"] = json!(".claude/agents/x.md");
            one["metadata"]["team_name"] = bead.metadata.team_name.clone().into();
            one["metadata"]["qa_agents"][0]["context"] = json!(42);
        }
        let two = to_v2(&one).unwrap();
        prop_assert!(read(&two).is_ok(), "{:?} {two:#}", read(&two));
        prop_assert!(two["metadata"].get("dev_agent_path").is_none());
        prop_assert_eq!(to_v2(&two).unwrap(), two.clone());
        prop_assert_eq!(to_v1(&two).unwrap(), one);
    }

    #[test]
    fn b_4_both_generations_say_the_same(bead in plain_bead(), extra in unknown()) {
        for shape in [BeadShape::V1, BeadShape::V2, BeadShape::Both] {
            let mut document = bead.to_document(shape);
            sprinkle(&mut document, &extra);
            let both = to_both(&document).unwrap();
            let (before, after) = (read(&document).unwrap(), read(&both).unwrap());
            prop_assert!(same(&before, &after), "{document:#} {both:#}");
            prop_assert_eq!(to_both(&both).unwrap(), both.clone());
            prop_assert!(same(&read(&to_v2(&both).unwrap()).unwrap(), &after));
        }
    }

    #[test]
    fn x_1_no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        if let Ok(document) = parse_document(&bytes) {
            prop_assert!(document.is_object());
        }
    }
}

#[test]
fn b_1_unknown_keys_stay_in_place() {
    let mut document = super::tests::generation_1();
    sprinkle(
        &mut document,
        &Map::from_iter([("x_first".to_owned(), json!(1))]),
    );
    let two = to_v2(&document).unwrap();
    let first = |value: &Value| value.as_object().and_then(|map| map.keys().next().cloned());
    for pointer in ["", "/metadata", "/metadata/qa_agents/0"] {
        assert_eq!(
            first(two.pointer(pointer).unwrap()).as_deref(),
            Some("x_first"),
            "{pointer}"
        );
    }
}

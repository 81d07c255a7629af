//! Turns a document of one generation into the other (B-4), without loss.
//!
//! Only the fields that differ between the generations are touched; every other key, at every level,
//! stays what and where it is. Some things one generation cannot say: a second dev agent, an agent's
//! environment, a path that already ends in `.md`. Where translating back would not bring the
//! original, the original is put aside under one key of the metadata, [`STASH_2`] in a generation 1
//! document and [`STASH_1`] in a generation 2 one. On the way back it is taken from there, but only
//! if it still translates to what the document shows, so that an edit made in between wins. The two
//! names are reserved for this.
//!
//! The document must be valid; its rig is taken as it is. `agent_type` is dropped, as B-4 says.

use serde_json::{Map, Value};

use super::error::FieldError;
use super::read_metadata::Generation;
use super::translate::{
    Context, DEV_1, DEV_2, QA_KEYS, SCRUM_2, TEAM, qa_to_1, qa_to_2, to_generation_1,
    to_generation_2,
};
use super::{Rules, validate};

/// Where a generation 1 document keeps what only generation 2 can say.
pub(super) const STASH_2: &str = "generation_2";

/// Where a generation 2 document keeps what only generation 1 can say.
pub(super) const STASH_1: &str = "generation_1";

/// The document in the shape of generation 2 alone.
pub fn to_v2(document: &Value) -> Result<Value, Vec<FieldError>> {
    migrate(document, |metadata, context| {
        match Generation::of(metadata) {
            Generation::One => one_to_two(metadata, context),
            Generation::Two => without_generation_1(metadata, context),
        }
    })
}

/// The document in the shape of generation 1 alone.
pub fn to_v1(document: &Value) -> Result<Value, Vec<FieldError>> {
    migrate(document, |metadata, context| {
        if Generation::of(metadata) == Generation::Two {
            without_generation_1(metadata, context);
            two_to_one(metadata, context);
        }
    })
}

/// The document with the fields of both generations. What is there already is left alone.
pub fn to_both(document: &Value) -> Result<Value, Vec<FieldError>> {
    migrate(document, |metadata, context| {
        let original = metadata.clone();
        match Generation::of(metadata) {
            Generation::One => {
                one_to_two(metadata, context);
                metadata.shift_remove(STASH_1);
                add_generation_1(metadata, &original);
            }
            Generation::Two => {
                let mut one = original;
                without_generation_1(&mut one, context);
                two_to_one(&mut one, context);
                metadata.shift_remove(STASH_1);
                add_generation_1(metadata, &one);
            }
        }
    })
}

fn migrate(
    document: &Value,
    change: impl Fn(&mut Map<String, Value>, &Context),
) -> Result<Value, Vec<FieldError>> {
    // The rig is the repository's business and no matter of generations.
    let rig = document.pointer("/metadata/rig").and_then(Value::as_str);
    let rules = rig.map_or_else(Rules::default, |rig| Rules {
        rig: rig.to_owned(),
    });
    let bead = validate(document, &rules)?;
    let context = Context::new(&bead.metadata.sprint, &bead.title);
    let run = |with_stash: bool| {
        let mut document = document.clone();
        if let Some(metadata) = document.get_mut("metadata").and_then(Value::as_object_mut) {
            if !with_stash {
                take_stash(metadata, STASH_1);
                take_stash(metadata, STASH_2);
            }
            drop_agent_types(metadata);
            change(metadata, &context);
        }
        document
    };
    let migrated = run(true);
    // Somebody may have spoilt what was put aside; then it is as good as lost.
    match validate(&migrated, &rules) {
        Ok(_) => Ok(migrated),
        Err(_) => Ok(run(false)),
    }
}

fn drop_agent_types(metadata: &mut Map<String, Value>) {
    metadata.shift_remove("agent_type");
    for item in qa_items(metadata) {
        item.shift_remove("agent_type");
    }
}

fn one_to_two(metadata: &mut Map<String, Value>, context: &Context) {
    let stash = take_stash(metadata, STASH_2);
    let old = part(metadata, &[DEV_1, TEAM]);
    let mut new = to_generation_2(&old, context);
    let mut lost = Map::new();
    for keys in [DEV_2, SCRUM_2] {
        let stashed = part(&stash, &[keys]);
        let shows = part(&to_generation_1(&stashed, context), &[DEV_1]);
        if !stashed.is_empty() && (keys == SCRUM_2 || shows == part(&old, &[DEV_1])) {
            new.extend(stashed);
        }
    }
    let back = to_generation_1(&new, context);
    for keys in [DEV_1, TEAM] {
        let original = part(&old, &[keys]);
        if part(&back, &[keys]) != original {
            lost.extend(original);
        }
    }
    splice(metadata, TEAM, part(&new, &[TEAM]), "sprint");
    splice(
        metadata,
        DEV_1,
        part(&new, &[SCRUM_2, DEV_2]),
        "dev_prompts",
    );
    let lost_items = translate_items(metadata, &stash, context, qa_to_2, qa_to_1);
    put_stash(metadata, STASH_1, lost, lost_items);
}

fn two_to_one(metadata: &mut Map<String, Value>, context: &Context) {
    let stash = take_stash(metadata, STASH_1);
    let old = part(metadata, &[DEV_2, SCRUM_2, TEAM]);
    let mut new = to_generation_1(&old, context);
    for (keys, twin) in [(DEV_1, DEV_2), (TEAM, TEAM)] {
        let stashed = part(&stash, &[keys]);
        let shows = part(&to_generation_2(&stashed, context), &[twin]);
        if !stashed.is_empty() && shows == part(&old, &[twin]) {
            new.extend(stashed);
        }
    }
    let again = to_generation_2(&new, context);
    let mut lost = Map::new();
    for keys in [DEV_2, SCRUM_2] {
        let original = part(&old, &[keys]);
        if part(&again, &[keys]) != original {
            lost.extend(original);
        }
    }
    splice(metadata, TEAM, part(&new, &[TEAM]), "sprint");
    splice(
        metadata,
        &[SCRUM_2[0], DEV_2[0]],
        part(&new, &[DEV_1]),
        "dev_prompts",
    );
    let lost_items = translate_items(metadata, &stash, context, qa_to_1, qa_to_2);
    put_stash(metadata, STASH_2, lost, lost_items);
}

type Translate = fn(&Map<String, Value>, &Context) -> Map<String, Value>;

// Translates each QA item in place and answers the originals that `back` would not bring again.
fn translate_items(
    metadata: &mut Map<String, Value>,
    stash: &Map<String, Value>,
    context: &Context,
    there: Translate,
    back: Translate,
) -> Vec<Value> {
    let stashed = |index| {
        stash
            .get("qa_agents")
            .and_then(|items| items.get(index)?.as_object())
    };
    let mut lost = Vec::new();
    for (index, item) in qa_items(metadata).enumerate() {
        let old = part(item, &[QA_KEYS]);
        let new = match stashed(index) {
            Some(original) if back(original, context) == old => original.clone(),
            _ => there(&old, context),
        };
        lost.push(if back(&new, context) == old {
            Value::Null
        } else {
            Value::Object(old)
        });
        splice(item, QA_KEYS, new, "");
    }
    lost
}

// A document of both generations: the newer fields are the ones that count (B-2), so that the older
// ones, which only repeat them, can go.
fn without_generation_1(metadata: &mut Map<String, Value>, context: &Context) {
    for key in DEV_1 {
        metadata.shift_remove(*key);
    }
    for item in qa_items(metadata) {
        if item.shift_remove("agent_path").is_none() {
            continue;
        }
        let mut bare = item.clone();
        bare.shift_remove("prompt");
        bare.shift_remove("output_schema");
        let derived = qa_to_1(&bare, context);
        for key in ["prompt", "output_schema"] {
            if item.get(key) == derived.get(key) {
                item.shift_remove(key);
            }
        }
    }
}

fn add_generation_1(metadata: &mut Map<String, Value>, one: &Map<String, Value>) {
    let mut dev = part(one, &[DEV_1]);
    dev.extend(part(metadata, &[DEV_1]));
    splice(metadata, DEV_1, dev, "branches_to_merge");
    let items = one
        .get("qa_agents")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    for (item, old) in qa_items(metadata).zip(items) {
        for key in ["agent_path", "prompt", "output_schema"] {
            if let Some(value) = old
                .get(key)
                .filter(|_| item.get(key).is_none_or(Value::is_null))
            {
                item.insert(key.to_owned(), value.clone());
            }
        }
    }
}

fn qa_items(metadata: &mut Map<String, Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    let items = metadata.get_mut("qa_agents").and_then(Value::as_array_mut);
    items.into_iter().flatten().filter_map(Value::as_object_mut)
}

/// The entries of a map under the given keys.
fn part(map: &Map<String, Value>, groups: &[&[&str]]) -> Map<String, Value> {
    let keys = groups.iter().copied().flatten();
    keys.filter_map(|key| map.get_key_value(*key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// Puts new entries where the old ones stood, or after the anchor, or at the end.
fn splice(map: &mut Map<String, Value>, old: &[&str], new: Map<String, Value>, anchor: &str) {
    let first = map.keys().position(|key| old.contains(&key.as_str()));
    let after = || {
        map.keys()
            .position(|key| key == anchor)
            .map(|place| place + 1)
    };
    let mut place = first.or_else(after).unwrap_or(map.len());
    for key in old {
        map.shift_remove(*key);
    }
    place = place.min(map.len());
    for (offset, (key, value)) in new.into_iter().enumerate() {
        map.shift_insert(place + offset, key, value);
    }
}

// A key of this name that is no object is somebody else's and stays.
fn take_stash(metadata: &mut Map<String, Value>, name: &str) -> Map<String, Value> {
    match metadata.get(name) {
        Some(Value::Object(_)) => match metadata.shift_remove(name) {
            Some(Value::Object(stash)) => stash,
            _ => Map::new(),
        },
        _ => Map::new(),
    }
}

fn put_stash(
    metadata: &mut Map<String, Value>,
    name: &str,
    mut lost: Map<String, Value>,
    items: Vec<Value>,
) {
    if items.iter().any(|item| !item.is_null()) {
        lost.insert("qa_agents".to_owned(), Value::Array(items));
    }
    if !lost.is_empty() {
        metadata.insert(name.to_owned(), Value::Object(lost));
    }
}

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
//!
//! The translation itself, at the end of the file, takes one group of keys at a time and knows nothing of what was before.

use serde_json::{Map, Value};

use super::metadata::Generation;
use super::to_value;
use crate::bead::derive::{default_qa_prompt, default_team_name, scrum_master};
use crate::bead::error::FieldError;
use crate::bead::{AgentPath, Model, Rules, standard_output_schema, validate};
use crate::number::SprintId;

/// Where a generation 1 document keeps what only generation 2 can say.
pub(in crate::bead) const STASH_2: &str = "generation_2";

/// Where a generation 2 document keeps what only generation 1 can say.
pub(in crate::bead) const STASH_1: &str = "generation_1";

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

// A value of this name that is not an object comes from elsewhere and stays.
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
const DEV_1: &[&str] = &["dev_agent_path", "dev_model"];
const DEV_2: &[&str] = &["dev_agents"];
const SCRUM_2: &[&str] = &["scrum_master_agent"];

/// The team, which generation 1 may have but need not.
const TEAM: &[&str] = &["team_name"];

/// Every key of a QA item that has a meaning in either generation.
const QA_KEYS: &[&str] = &[
    "role",
    "agent",
    "agent_path",
    "model",
    "executable",
    "options",
    "context",
    "agent_id",
    "env",
    "adapter",
    "prompt",
    "output_schema",
];

/// What the bead says that translations need.
struct Context {
    title: String,
    team_name: String,
    scrum_master: Value,
    qa_prompt: String,
}

impl Context {
    fn new(sprint: &SprintId, title: &str) -> Self {
        Self {
            title: title.to_owned(),
            team_name: default_team_name(sprint),
            scrum_master: to_value(&scrum_master(sprint, title, Model::Sonnet)),
            qa_prompt: default_qa_prompt(sprint, title),
        }
    }
}

/// Team, scrum-master and dev agents of generation 2, as far as generation 1 determines them.
fn to_generation_2(one: &Map<String, Value>, context: &Context) -> Map<String, Value> {
    let mut two = Map::new();
    let team = text(one, "team_name").unwrap_or(&context.team_name);
    two.insert("team_name".to_owned(), team.into());
    two.insert(
        "scrum_master_agent".to_owned(),
        context.scrum_master.clone(),
    );
    if let Some(path) = text(one, "dev_agent_path") {
        let model = one.get("dev_model").cloned().unwrap_or_default();
        let dev = spec(path, model, context.title.as_str().into());
        two.insert("dev_agents".to_owned(), Value::Array(vec![dev.into()]));
    }
    two
}

/// Team and dev agent of generation 1, as far as generation 2 determines them.
fn to_generation_1(two: &Map<String, Value>, context: &Context) -> Map<String, Value> {
    let mut one = Map::new();
    if let Some(dev) = two
        .get("dev_agents")
        .and_then(|agents| agents.get(0)?.as_object())
    {
        one.insert("dev_agent_path".to_owned(), without_md(dev));
        one.insert("dev_model".to_owned(), model(dev));
    }
    // A team that a reader would derive again need not be said in a document that knows no teams.
    if let Some(team) = text(two, "team_name").filter(|team| *team != context.team_name) {
        one.insert("team_name".to_owned(), team.into());
    }
    one
}

/// A QA item of generation 2 from one of generation 1.
fn qa_to_2(item: &Map<String, Value>, _: &Context) -> Map<String, Value> {
    let get = |key| item.get(key).cloned().unwrap_or_default();
    let path = text(item, "agent_path").unwrap_or_default();
    let mut two = spec(path, get("model"), get("prompt"));
    if let Some(schema) = item
        .get("output_schema")
        .filter(|schema| **schema != *standard_output_schema())
    {
        two.insert("output_schema".to_owned(), schema.clone());
    }
    two
}

/// A QA item of generation 1 from one of generation 2.
fn qa_to_1(item: &Map<String, Value>, context: &Context) -> Map<String, Value> {
    let prompt = text(item, "prompt").or_else(|| text(item, "context"));
    let standard = standard_output_schema();
    let schema = item.get("output_schema").filter(|schema| !schema.is_null());
    Map::from_iter([
        ("agent_path".to_owned(), without_md(item)),
        ("model".to_owned(), model(item)),
        (
            "prompt".to_owned(),
            prompt.unwrap_or(&context.qa_prompt).into(),
        ),
        (
            "output_schema".to_owned(),
            schema.unwrap_or(&standard).clone(),
        ),
    ])
}

fn spec(path: &str, model: Value, context: Value) -> Map<String, Value> {
    let agent = AgentPath::parse(path).map(|path| path.with_md().to_string());
    Map::from_iter([
        ("role".to_owned(), "polecat".into()),
        (
            "agent".to_owned(),
            agent.unwrap_or_else(|_| path.to_owned()).into(),
        ),
        ("model".to_owned(), model),
        ("context".to_owned(), context),
    ])
}

fn without_md(spec: &Map<String, Value>) -> Value {
    let path = text(spec, "agent").unwrap_or_default();
    match AgentPath::parse(path) {
        Ok(path) => path.without_md().as_str().into(),
        Err(_) => path.into(),
    }
}

fn model(spec: &Map<String, Value>) -> Value {
    text(spec, "model").unwrap_or(Model::Sonnet.as_str()).into()
}

fn text<'a>(map: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    map.get(key).and_then(Value::as_str)
}

//! Operations on a store, as values: made at random, done to any store.
//!
//! What depends on the store, such as the right version for a guard, is chosen relative to how the issue
//! stands, so that right and wrong values both come up often and an operation stays meaningful when those
//! before it are shrunk away.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{
    Abandoned, Comment, Dependency, Edit, Entry, Fence, Holder, Label, Record,
};
use beads_ralph_runtime::store::{Guard, NewClaim, Stamp, Store, StoreError, Write};
use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// Few ids, so that operations meet. One has a name below another, one looks like another project's.
pub(crate) const IDS: [&str; 7] = ["a", "b", "c", "d", "e", "a.1", "external:x"];

const KINDS: [&str; 9] = [
    "blocks",
    "blocks",
    "conditional-blocks",
    "parent-child",
    "parent-child",
    "waits-for",
    "waits-for-any",
    "related",
    "odd",
];

const STATUSES: [&str; 7] = [
    "open",
    "open",
    "blocked",
    "deferred",
    "pinned",
    "closed",
    "in_progress",
];

/// Something to do at a moment, which need not be later than the one before.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) at: i64,
    pub(crate) what: Operation,
}

#[derive(Debug, Clone)]
pub(crate) enum Operation {
    Write(Vec<Change>),
    Claim(&'static str, bool, Option<Nearly>),
    Heartbeat(&'static str, Nearly, i64),
    Release(&'static str, Nearly),
    Reclaim(&'static str, Nearly),
    Acquire(Vec<&'static str>, i64),
    Renew(&'static str, u64, i64),
    GiveBack(&'static str, u64),
    SetControl(&'static str, u8, u64),
}

#[derive(Debug, Clone)]
pub(crate) enum Change {
    Insert(Box<Entry>),
    Update(&'static str, Vec<Edit>, Guarding),
}

/// A value that is right, or wrong by a little.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Nearly {
    Right,
    Less,
    More,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Guarding {
    status: Option<Nearly>,
    version: Option<Nearly>,
    fence: Option<Nearly>,
    is_forced: bool,
}

impl Nearly {
    fn of(self, right: u64) -> u64 {
        match self {
            Self::Right => right,
            Self::Less => right.saturating_sub(1),
            Self::More => right + 1,
        }
    }
}

fn id(text: &str) -> BeadId {
    BeadId::parse(text).expect("an id is not empty")
}

fn moment(seconds: i64) -> Timestamp {
    let start = Timestamp::from_second(1_767_225_600).expect("this is a moment");
    start + SignedDuration::from_secs(seconds)
}

fn standing(store: &dyn Store, id: &str) -> Option<Record> {
    let found = store.get(&[self::id(id)]).expect("a store answers");
    found.into_iter().next()
}

impl Guarding {
    fn guard(self, record: Option<&Record>) -> Guard {
        let version = record.map_or(1, |record| record.version);
        let fence = record.map_or(0, |record| record.fence.0);
        let status = record.map_or("open", |record| record.issue.status());
        Guard {
            status: self.status.map(|nearly| match nearly {
                Nearly::Right => status.to_owned(),
                Nearly::Less | Nearly::More => "hooked".to_owned(),
            }),
            version: self.version.map(|nearly| nearly.of(version)),
            fence: self.fence.map(|nearly| Fence(nearly.of(fence))),
            is_forced: self.is_forced,
            // Any of the numbers will do to have it now and then.
            is_free: version.is_multiple_of(3),
        }
    }
}

impl Step {
    /// Does it, and tells in words what came of it.
    pub(crate) fn run(&self, store: &mut dyn Store) -> Result<String, StoreError> {
        let by = Stamp {
            actor: "ann",
            at: moment(self.at),
        };
        let holder = Holder {
            run: format!("run at {}", self.at),
            host: "here".to_owned(),
            process: None,
        };
        let fence_of = |store: &dyn Store, id: &str, nearly: Nearly| {
            let fence = standing(store, id).map_or(0, |record| record.fence.0);
            Fence(nearly.of(fence))
        };
        match &self.what {
            Operation::Write(changes) => {
                let batch: Vec<Write> = changes.iter().map(|change| change.write(store)).collect();
                told(store.write(&batch, by))
            }
            Operation::Claim(id, is_forced, gone) => {
                let gone = gone.map(|nearly| fence_of(store, id, nearly));
                let claim = NewClaim {
                    holder: &holder,
                    lease_until: moment(self.at + 20),
                    is_forced: *is_forced,
                    instead_of: gone.map(|fence| (fence, Abandoned::ProcessDead)),
                };
                told(store.claim(&self::id(id), &claim, by))
            }
            Operation::Heartbeat(id, nearly, until) => {
                let fence = fence_of(store, id, *nearly);
                told(store.heartbeat(&self::id(id), fence, moment(*until)))
            }
            Operation::Release(id, nearly) => {
                let fence = fence_of(store, id, *nearly);
                told(store.release(&self::id(id), fence, by))
            }
            Operation::Reclaim(id, nearly) => {
                let fence = fence_of(store, id, *nearly);
                told(store.reclaim(&self::id(id), fence, Abandoned::LeaseOver, by))
            }
            Operation::Acquire(names, until) => {
                told(store.acquire(names, &holder, moment(*until), by))
            }
            Operation::Renew(name, fence, until) => {
                told(store.renew(name, Fence(*fence), moment(*until)))
            }
            Operation::GiveBack(name, fence) => told(store.give_back(name, Fence(*fence))),
            Operation::SetControl(key, value, seen) => {
                let value = if *value == 0 {
                    Value::Null
                } else {
                    json!(value)
                };
                told(store.set_control(key, &value, *seen, by))
            }
        }
    }
}

fn told<T: std::fmt::Debug>(answer: Result<T, StoreError>) -> Result<String, StoreError> {
    answer.map(|answer| format!("{answer:#?}"))
}

impl Change {
    fn write(&self, store: &dyn Store) -> Write {
        match self {
            Self::Insert(entry) => Write::Insert(entry.clone()),
            Self::Update(id, edits, guarding) => Write::Update {
                id: self::id(id),
                edits: edits.clone(),
                guard: guarding.guard(standing(store, id).as_ref()),
            },
        }
    }
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    (0..60i64, operation()).prop_map(|(at, what)| Step { at, what })
}

fn operation() -> impl Strategy<Value = Operation> {
    let issue = || select(&IDS[..]);
    let name = || select(&["s1", "s2"][..]);
    prop_oneof![
        12 => change().prop_map(|change| Operation::Write(vec![change])),
        5 => prop::collection::vec(change(), 2..6).prop_map(Operation::Write),
        5 => (issue(), prop::bool::weighted(0.3), prop::option::weighted(0.3, nearly())).prop_map(|(id, forced, gone)| Operation::Claim(id, forced, gone)),
        1 => (issue(), nearly(), 0..99i64).prop_map(|(id, nearly, until)| Operation::Heartbeat(id, nearly, until)),
        2 => (issue(), nearly()).prop_map(|(id, nearly)| Operation::Release(id, nearly)),
        2 => (issue(), nearly()).prop_map(|(id, nearly)| Operation::Reclaim(id, nearly)),
        1 => (prop::collection::vec(name(), 0..3), 0..99i64).prop_map(|(names, until)| Operation::Acquire(names, until)),
        1 => (name(), 0..4u64, 0..99i64).prop_map(|(name, fence, until)| Operation::Renew(name, fence, until)),
        1 => (name(), 0..4u64).prop_map(|(name, fence)| Operation::GiveBack(name, fence)),
        1 => (name(), 0..3u8, 0..4u64).prop_map(|(key, value, seen)| Operation::SetControl(key, value, seen)),
    ]
}

fn nearly() -> impl Strategy<Value = Nearly> {
    prop_oneof![
        4 => Just(Nearly::Right),
        1 => Just(Nearly::Less),
        1 => Just(Nearly::More),
    ]
}

fn guarding() -> impl Strategy<Value = Guarding> {
    let some = || prop::option::weighted(0.3, nearly());
    let guard = (some(), some(), some(), prop::bool::weighted(0.3));
    let guard = guard.prop_map(|(status, version, fence, is_forced)| Guarding {
        status,
        version,
        fence,
        is_forced,
    });
    prop_oneof![2 => Just(Guarding::default()), 1 => guard]
}

fn change() -> impl Strategy<Value = Change> {
    let update = (
        select(&IDS[..]),
        prop::collection::vec(edit(), 1..4),
        guarding(),
    );
    prop_oneof![
        2 => entry().prop_map(|entry| Change::Insert(Box::new(entry))),
        3 => update.prop_map(|(id, edits, guarding)| Change::Update(id, edits, guarding)),
    ]
}

fn edge() -> impl Strategy<Value = Dependency> {
    let targets = IDS
        .into_iter()
        .chain(["nowhere", "external:y"])
        .collect::<Vec<_>>();
    (select(targets), select(&KINDS[..])).prop_map(|(target, kind)| {
        let (kind, gate) = match kind {
            "waits-for-any" => ("waits-for", true),
            kind => (kind, false),
        };
        let edge = Dependency::new(id(target), kind).expect("a type is a word");
        if gate {
            edge.with("metadata", json!("{\"gate\":\"any-children\"}"))
        } else {
            edge
        }
    })
}

/// A new issue. Edges that no document may have, to itself or twice to another, are left out.
fn entry() -> impl Strategy<Value = Entry> {
    (
        select(&IDS[..]),
        prop::option::of(select(&STATUSES[..])),
        prop::collection::vec(edge(), 0..3),
        prop::option::of(document_fields()),
        0..3u64,
    )
        .prop_map(|(own, status, edges, fields, fence)| {
            let mut document = json!({"id": own, "title": format!("Title of {own}")});
            if let Value::Object(document) = &mut document {
                document.extend(fields.unwrap_or_default());
                document.extend(status.map(|status| ("status".to_owned(), json!(status))));
                if status == Some("closed") {
                    document.insert("closed_at".to_owned(), json!("2025-12-31T00:00:00Z"));
                }
            }
            let own = id(own);
            let mut seen = vec![own.clone()];
            let mut records = Vec::new();
            for edge in edges {
                if !seen.contains(edge.target()) {
                    seen.push(edge.target().clone());
                    records.push(edge.to_value(&own));
                }
            }
            document["dependencies"] = Value::Array(records);
            let mut entry = Entry::from_document(document).expect("this is an issue");
            entry.fence = Fence(fence);
            entry
        })
}

fn document_fields() -> impl Strategy<Value = Map<String, Value>> {
    let kind = select(&["task", "molecule", "epic"][..]);
    let flags = (any::<bool>(), prop::bool::weighted(0.2));
    (0..4i64, -30..30i64, select(&["x", "y"][..]), kind, flags).prop_map(
        |(priority, created, label, kind, (is_put_off, is_ephemeral))| {
            let mut fields = Map::new();
            fields.insert("issue_type".to_owned(), json!(kind));
            fields.insert("ephemeral".to_owned(), json!(is_ephemeral));
            fields.insert("priority".to_owned(), json!(priority));
            fields.insert("created_at".to_owned(), json!(moment(created).to_string()));
            fields.insert("labels".to_owned(), json!([label]));
            fields.insert(
                "metadata".to_owned(),
                json!({"plan_file": label, "odd/~": priority}),
            );
            if is_put_off {
                fields.insert("defer_until".to_owned(), json!(moment(30).to_string()));
            }
            fields
        },
    )
}

fn edit() -> impl Strategy<Value = Edit> {
    let word = || select(&["x", "y"][..]);
    let label = |text: &str| Label::parse(text).expect("this is a label");
    let said = |text: &str| Comment::from_value(json!({"text": text})).expect("it is an object");
    prop_oneof![
        4 => edge().prop_map(Edit::AddDependency),
        2 => select(&IDS[..]).prop_map(|target| Edit::RemoveDependency(id(target))),
        3 => select(&STATUSES[..]).prop_map(|status| Edit::Status(status.to_owned())),
        2 => word().prop_map(|reason| Edit::Close(reason.to_owned())),
        2 => Just(Edit::Reopen),
        1 => (-3..4i64).prop_map(|priority| Edit::Set("priority".to_owned(), json!(priority))),
        1 => (0..60i64).prop_map(|until| Edit::Set("defer_until".to_owned(), json!(moment(until).to_string()))),
        1 => select(&["priority", "defer_until", "owner", "status"][..]).prop_map(|key| Edit::Unset(key.to_owned())),
        1 => word().prop_map(|text| Edit::AppendNotes(text.to_owned())),
        1 => word().prop_map(move |text| Edit::AddLabel(label(text))),
        1 => word().prop_map(|text| Edit::RemoveLabel(text.to_owned())),
        1 => word().prop_map(move |text| Edit::Comment(said(text))),
        1 => (word(), 0..3i64).prop_map(|(key, value)| Edit::MergeMetadata(Map::from_iter([(key.to_owned(), json!(value))]))),
        1 => select(&["x", "plan_file"][..]).prop_map(|key| Edit::UnsetMetadata(key.to_owned())),
        1 => entry().prop_map(|entry| Edit::Replace(Box::new(entry.issue))),
    ]
}

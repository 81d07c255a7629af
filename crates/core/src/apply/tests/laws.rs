//! Laws of applying any plan to any store that an earlier plan was applied to.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::{Store, claim, foreign};
use crate::apply::{Difference, Reconciliation, Verdict};
use crate::bead::BeadId;
use crate::issue::{Dependency, Edit, Label};
use crate::plan::sprint;

/// Keys that the plan may change; all others are somebody else's.
const PLANS_FIELDS: [&str; 7] = [
    "title",
    "description",
    "issue_type",
    "labels",
    "dependencies",
    "updated_at",
    "metadata",
];
const RUNS_KEYS: [&str; 5] = [
    "attempt_count",
    "scrum_master_session_id",
    "pr_url",
    "dev_agent_executions",
    "x_odd",
];

/// Plans of a few sprints whose numbers, titles and fields are often the same from plan to plan.
fn plan() -> impl Strategy<Value = String> {
    let id = (1..3_u8, 1..4_u8, select(vec!["", "", "a", "b", "ab"]))
        .prop_map(|(phase, sprint, suffix)| format!("{phase}.{sprint}{suffix}"));
    let extra = select(vec![
        "",
        "\n**Labels**: x, y\n",
        "\n**Labels**: y, hand\n",
        "\n**Verifiers**:\n- one: `make`\n- two: `make test`\n",
        "\n**Verifiers**:\n- one: `make all`\n",
        "\n**Acceptance Criteria**:\n- it works\n",
        "\n**Type**: merge\n",
        "\n**Bead ID**: `bd-own`\n",
    ]);
    let annotation = select(vec!["", "", "", "bd-1-1-a", "bd-1-2-b", "bd-own", "gt-7"]);
    let item = (select(vec!["A", "B"]), extra, annotation);
    prop::collection::btree_map(id, item, 1..7).prop_map(|sprints| {
        let texts = sprints.iter().map(|(id, (title, extra, annotation))| {
            let text = sprint(id, title) + extra;
            match *annotation {
                "" => text,
                bead => text.replacen("\n\n", &format!("\n<!-- beads-ralph: {bead} -->\n\n"), 1),
            }
        });
        texts.collect()
    })
}

/// What happens to a bead between two applications.
#[derive(Debug, Clone)]
struct Event {
    status: &'static str,
    is_claimed: bool,
    is_run: bool,
    is_labelled: bool,
    edge: Option<(&'static str, &'static str)>,
    has_memory: bool,
}

fn event() -> impl Strategy<Value = Event> {
    let status = select(vec![
        "open",
        "open",
        "blocked",
        "deferred",
        "in_progress",
        "closed",
    ]);
    let edge = (
        select(vec!["x-1", "bd-1-1-a", "bd-1-2-b"]),
        select(vec!["blocks", "related", "parent-child"]),
    );
    (
        status,
        prop::bool::weighted(0.1),
        any::<bool>(),
        any::<bool>(),
        prop::option::of(edge),
        prop::bool::weighted(0.9),
    )
        .prop_map(
            |(status, is_claimed, is_run, is_labelled, edge, has_memory)| Event {
                status,
                is_claimed,
                is_run,
                is_labelled,
                edge,
                has_memory,
            },
        )
}

/// A run and people at work: everything that does not change what the plan said.
fn happen(store: &mut Store, id: &str, event: &Event) {
    store.edit(id, &[Edit::Status(event.status.to_owned())]);
    if event.is_claimed {
        store.record(id).claim = Some(claim());
    }
    if event.is_run {
        store.alter(id, |bead| {
            bead["external_ref"] = json!("https://example.org/1");
            bead["x_odd"] = json!([1]);
            let metadata = &mut bead["metadata"];
            metadata["attempt_count"] = json!(2);
            metadata["scrum_master_session_id"] = json!("r1/team");
            metadata["pr_url"] = json!("https://example.org/1");
            metadata["x_odd"] = json!({"a": null});
            metadata["dev_agents"][0]["agent_id"] = json!("s1");
            metadata["qa_agents"][0]["agent_id"] = json!("s2");
            metadata["qa_agents"][0]["x_odd"] = json!(1);
            metadata["scrum_master_agent"]["agent_id"] = json!("s3");
        });
    }
    if event.is_labelled {
        store.edit(id, &[Edit::AddLabel(Label::parse("hand").unwrap())]);
    }
    if let Some((target, kind)) = event.edge.filter(|(target, _)| *target != id) {
        let target = BeadId::parse(target).unwrap();
        let edge = Dependency::new(target.clone(), kind).unwrap();
        store.edit(
            id,
            &[Edit::RemoveDependency(target), Edit::AddDependency(edge)],
        );
    }
    if !event.has_memory {
        store.edit(id, &[Edit::UnsetMetadata("plan_applied".to_owned())]);
    }
}

fn ids(store: &Store) -> Vec<String> {
    store.0.keys().map(BeadId::to_string).collect()
}

/// A store that a plan was applied to, and in which things happened since.
fn lived_in(text: &str, events: &[Event]) -> Option<Store> {
    let mut store = Store::default();
    store.insert(foreign("gt-7"));
    let found = store.try_compare(text, "", "plan.md").ok()?.unwrap();
    store.apply(&found);
    let beads = ids(&store).into_iter().filter(|id| id != "gt-7");
    for (id, event) in beads.zip(events.iter().cycle()) {
        happen(&mut store, &id, event);
    }
    Some(store)
}

fn is_settled(found: &Reconciliation) -> bool {
    found.differences.iter().all(|difference| match difference {
        Difference::New { .. } => false,
        Difference::Changed(changed) => changed.verdict != Verdict::Safe,
        Difference::Removed(_) | Difference::Conflict { .. } => true,
    })
}

/// What the plan does not own of a document.
fn others_part(document: &Map<String, Value>) -> BTreeMap<&str, Value> {
    let fields = document
        .iter()
        .filter(|(key, _)| !PLANS_FIELDS.contains(&key.as_str()));
    let metadata = document.get("metadata").cloned().unwrap_or_default();
    let keys = RUNS_KEYS
        .iter()
        .filter_map(|key| Some((*key, metadata.get(*key)?.clone())));
    let fields = fields.map(|(key, value)| (key.as_str(), value.clone()));
    fields.chain(keys).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn z_10_twice_is_once(
        before in plan(),
        after in plan(),
        events in prop::collection::vec(event(), 1..6),
        plan_file in select(vec!["plan.md", "plan.md", "moved.md"]),
    ) {
        let Some(mut store) = lived_in(&before, &events) else { return Ok(()) };
        let Ok(found) = store.try_compare(&after, "", plan_file) else { return Ok(()) };
        store.apply(&found.unwrap());
        let again = store.try_compare(&after, "", plan_file).unwrap().unwrap();
        prop_assert!(is_settled(&again), "{:#?}", again);
    }

    #[test]
    fn z_10_applying_leaves_alone_what_is_not_the_plans(
        before in plan(),
        after in plan(),
        events in prop::collection::vec(event(), 1..6),
    ) {
        let Some(old) = lived_in(&before, &events) else { return Ok(()) };
        let Ok(found) = old.try_compare(&after, "", "plan.md") else { return Ok(()) };
        let mut new = old.clone();
        new.apply(&found.unwrap());
        for (id, record) in &old.0 {
            let now = &new.0[id];
            let is_held = matches!(record.issue.status(), "closed" | "in_progress") || record.claim.is_some();
            prop_assert!(!is_held || now == record, "{id} was touched");
            if id.as_str() == "gt-7" {
                continue;
            }
            prop_assert_eq!(others_part(now.issue.document()), others_part(record.issue.document()));
            prop_assert_eq!(&now.claim, &record.claim);
        }
    }

    #[test]
    fn z_10_what_people_added_survives(
        before in plan(),
        after in plan(),
        events in prop::collection::vec(event(), 1..6),
    ) {
        let Some(old) = lived_in(&before, &events) else { return Ok(()) };
        let Ok(found) = old.try_compare(&after, "", "plan.md") else { return Ok(()) };
        let mut new = old.clone();
        new.apply(&found.unwrap());
        for (id, record) in &old.0 {
            let now = &new.0[id].issue;
            let last = record.issue.metadata().and_then(|m| m.get("plan_applied")).cloned().unwrap_or_default();
            let was_plans = |key: &str, text: &str| {
                last[key].as_array().is_some_and(|list| list.iter().any(|item| item == text))
            };
            for label in record.issue.labels().filter(|label| !was_plans("labels", label)) {
                prop_assert!(now.has_label(label), "{id} lost {label}");
            }
            let edges = record.issue.dependencies();
            for edge in edges.iter().filter(|e| !was_plans("dependencies", e.target().as_str())) {
                let kept = now.dependencies();
                let kept = kept.iter().find(|own| own.target() == edge.target());
                prop_assert!(kept.is_some_and(|own| own == edge || own.kind() == "blocks"), "{id} lost {edge:?}");
            }
        }
    }

    #[test]
    fn z_10_what_happens_to_beads_is_no_difference(
        text in plan(),
        mut events in prop::collection::vec(event(), 1..6),
    ) {
        for event in &mut events {
            event.has_memory = true;
            event.edge = event.edge.filter(|(target, _)| *target == "x-1");
        }
        let Some(store) = lived_in(&text, &events) else { return Ok(()) };
        let Ok(found) = store.try_compare(&text, "", "plan.md") else { return Ok(()) };
        let found = found.unwrap();
        let conflicts_only = found.differences.iter().all(|d| matches!(d, Difference::Conflict { .. }));
        prop_assert!(conflicts_only, "{:#?}", found);
    }
}

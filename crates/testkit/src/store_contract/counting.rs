//! Counting, visiting and limits: whatever way a store takes, it says the same.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use beads_ralph_core::issue::{
    Condition, Edit, Flag, Grouping, Moment, Order, Query, Record, StatusFilter,
};
use beads_ralph_runtime::store::{Capability, Store};
use serde_json::{Value, json};

use super::Clause;
use super::tools::{at, claim, close, edit, id, label, put, record_of, set_status, time};

pub(super) const CLAUSES: &[Clause] = &[
    Clause::needing(
        "what is counted is what is found, whatever is asked",
        NEEDS,
        counts,
    ),
    Clause::needing(
        "what is visited is what is found, until it is enough",
        NEEDS,
        visits,
    ),
    Clause::needing(
        "a limit gives the beginning of the whole answer",
        NEEDS,
        prefixes,
    ),
    Clause::needing("counts follow every change", NEEDS, followed),
    Clause::new("statuses are those of the issues, or nothing", statuses),
];

const NEEDS: &[Capability] = &[
    Capability::MissingTargets,
    Capability::AnyValue,
    Capability::ExactDocuments,
    Capability::UnknownFields,
];

const STATUSES: [&str; 6] = [
    "open",
    "closed",
    "pinned",
    "in_progress",
    "blocked",
    "deferred",
];
const TYPES: [&str; 5] = ["task", "bug", "gate", "molecule", "message"];
const LABELS: [&str; 4] = ["a", "b", "human", "rare"];
const PEOPLE: [&str; 3] = ["ann", "bob", ""];

/// How many issues and how many questions.
const N_ISSUES: usize = 40;
const N_QUERIES: usize = 100;

/// A small generator, so that every run asks the same.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % n as u64).unwrap_or_default()
    }

    fn is_one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn one_of(&mut self, words: &[&str]) -> String {
        words[self.below(words.len())].to_owned()
    }

    fn some_of(&mut self, words: &[&str]) -> Vec<String> {
        let some = words.iter().filter(|_| self.is_one_in(2));
        some.map(|word| (*word).to_owned()).collect()
    }

    fn seconds(&mut self) -> i64 {
        i64::try_from(self.below(5)).unwrap_or_default() * 100
    }
}

fn name(number: usize) -> String {
    // Some are below others by their names.
    match number % 7 {
        6 => format!("bd-{:02}.{number}", number - 6),
        _ => format!("bd-{number:02}"),
    }
}

fn issue(random: &mut Random, number: usize) -> Value {
    let mut more = json!({
        "status": random.one_of(&STATUSES[..3]),
        "priority": random.below(4),
        "labels": random.some_of(&LABELS),
        "assignee": random.one_of(&PEOPLE),
        "title": format!("Fix the {} of {number}", random.one_of(&["LOGIN", "Straße", "page"])),
        "description": random.one_of(&["", "the Login fails", "later"]),
    });
    let document = more.as_object_mut().expect("an object was just made");
    if random.is_one_in(2) {
        document.insert("issue_type".to_owned(), random.one_of(&TYPES).into());
    }
    if !random.is_one_in(8) {
        // Fractions of a second, which are not in the order of whole ones.
        let fraction = ["", ".25", ".5"][random.below(3)];
        let moment = time(random.seconds()).replace('Z', &format!("{fraction}Z"));
        document.insert("created_at".to_owned(), moment.into());
    }
    if document["status"] == "closed" {
        document.insert("closed_at".to_owned(), time(random.seconds()).into());
    }
    for key in ["updated_at", "defer_until"] {
        if random.is_one_in(3) {
            document.insert(key.to_owned(), time(random.seconds()).into());
        }
    }
    for flag in Flag::ALL {
        if random.is_one_in(6) {
            document.insert(flag.key().to_owned(), true.into());
        }
    }
    let kinds = ["parent-child", "blocks", "related"];
    if number > 0 && random.is_one_in(2) {
        let target = name(random.below(number));
        let edge = record_of(&target, kinds[random.below(3)]);
        document.insert("dependencies".to_owned(), vec![edge].into());
    }
    let metadata = match random.below(4) {
        0 => json!({"plan_file": "plan.md", "lane": "gate", "dev_agent_executions": []}),
        1 => json!({"lane": "x".repeat(300), "dev_agent_executions": [{"attempt": 1}]}),
        2 => json!({"blocking": {"is_gate": true}, "n": 7}),
        _ => return more,
    };
    document.insert("metadata".to_owned(), metadata);
    more
}

fn fill(store: &mut dyn Store, random: &mut Random) {
    for number in 0..N_ISSUES {
        let more = issue(random, number);
        put(store, &name(number), more);
    }
    for number in 0..N_ISSUES {
        let own = name(number);
        let record = &store.get(&[id(&own)]).expect("a store answers")[0];
        match random.below(6) {
            0 if record.issue.status() == "open" && !record.is_blocked => {
                claim(store, &own, 0);
            }
            1 if record.issue.status() == "open" => set_status(store, &own, STATUSES[4]),
            2 => {
                edit(store, &own, label("late"));
            }
            _ => {}
        }
    }
}

fn condition(random: &mut Random) -> Condition {
    let moments = [
        Moment::Created,
        Moment::Updated,
        Moment::Closed,
        Moment::Deferred,
        Moment::Touched,
    ];
    let moment = moments[random.below(moments.len())];
    match random.below(13) {
        0 => Condition::StatusIsNot(random.some_of(&STATUSES)),
        1 => Condition::TypeIsNot(random.some_of(&TYPES)),
        2 => Condition::IdIs(vec![name(random.below(N_ISSUES)), name(3), "none".into()]),
        3 => Condition::Without(
            (Flag::ALL.into_iter())
                .filter(|_| random.is_one_in(2))
                .collect(),
        ),
        4 => Condition::HasNoLabels,
        5 => Condition::HasNoParent,
        6 => Condition::HasNoDescription,
        7 => {
            let field = ["title", "description", "notes"][random.below(3)];
            Condition::Contains(field, random.one_of(&["login", "straße", "fix the", "\n"]))
        }
        8 => Condition::IsNamed(random.one_of(&["login", "bd-0", "of 1", "3\nfix", "none"])),
        9 => Condition::After(moment, at(random.seconds())),
        11 => Condition::With(
            (Flag::ALL.into_iter())
                .filter(|_| random.is_one_in(2))
                .collect(),
        ),
        10 => Condition::Before(moment, at(random.seconds())),
        _ => Condition::HasSome(vec!["dev_agent_executions", "qa_agent_executions"]),
    }
}

fn query(random: &mut Random) -> Query {
    let orders = [
        Order::Priority,
        Order::PriorityOldest,
        Order::PrioritySeconds,
        Order::Stalest,
        Order::Oldest,
        Order::Updated,
        Order::Id,
    ];
    let mut query = Query {
        status: match random.below(4) {
            0 => StatusFilter::Any,
            1 => StatusFilter::OneOf(random.some_of(&STATUSES)),
            2 => StatusFilter::OneOf(vec![random.one_of(&STATUSES)]),
            _ => StatusFilter::Unfinished,
        },
        includes_hidden: random.is_one_in(2),
        order: orders[random.below(orders.len())],
        ..Query::default()
    };
    let rarely = 5;
    if random.is_one_in(rarely) {
        query.labels_all = random.some_of(&LABELS);
    }
    if random.is_one_in(rarely) {
        query.labels_any = random.some_of(&LABELS);
    }
    if random.is_one_in(rarely) {
        query.labels_none = random.some_of(&LABELS);
    }
    if random.is_one_in(rarely) {
        query.types = random.some_of(&TYPES);
    }
    if random.is_one_in(rarely) {
        query.assignee = Some(random.one_of(&PEOPLE));
    }
    query.is_unassigned = random.is_one_in(8);
    if random.is_one_in(8) {
        query.holder = Some("run-1".to_owned());
    }
    query.is_held = random.is_one_in(8);
    if random.is_one_in(rarely) {
        query.priorities = Some((0, 1));
    }
    if random.is_one_in(8) {
        query.parent = Some(id(&name(random.below(N_ISSUES))));
    }
    if random.is_one_in(8) {
        query.metadata = vec![("lane".to_owned(), "gate".to_owned())];
    }
    if random.is_one_in(8) {
        query.metadata_keys = vec![random.one_of(&["blocking", "lane", "n"])];
    }
    if random.is_one_in(8) {
        query.text = Some(random.one_of(&["login fix", "STRASSE", "straße", "none"]));
    }
    if random.is_one_in(rarely) {
        query.is_blocked = Some(random.is_one_in(2));
    }
    if random.is_one_in(3) {
        query.ready_at = Some(at(random.seconds()));
        query.includes_deferred = random.is_one_in(4);
        query.includes_ephemeral = random.is_one_in(4);
        query.status = StatusFilter::Unfinished;
    }
    if random.is_one_in(2) {
        query.conditions.push(condition(random));
    }
    query
}

fn find(store: &dyn Store, query: &Query) -> Vec<Record> {
    store.find(query).expect("a store answers")
}

fn counts(store: &mut dyn Store) {
    let mut random = Random(0xc0de);
    fill(store, &mut random);
    let mut n_found = 0;
    for _ in 0..N_QUERIES {
        let query = query(&mut random);
        let found = find(store, &query);
        n_found += usize::from(!found.is_empty());
        let n = store.count(&query).expect("a store answers");
        assert_eq!(n, found.len(), "{query:?}");
        let limited = Query {
            limit: Some(2),
            ..query.clone()
        };
        let n = store.count(&limited).expect("a store answers");
        assert_eq!(n, found.len().min(2), "{limited:?}");
        for grouping in Grouping::ALL {
            let mut expected: BTreeMap<String, usize> = BTreeMap::new();
            let groups = found.iter().flat_map(|it| grouping.groups(&it.issue));
            for group in groups {
                *expected.entry(group).or_default() += 1;
            }
            let counts = store.count_by(&query, grouping).expect("a store answers");
            assert_eq!(counts, expected, "{grouping:?} of {query:?}");
        }
    }
    assert!(n_found > N_QUERIES / 4, "most questions ask for nothing");
}

fn visits(store: &mut dyn Store) {
    let mut random = Random(0xface);
    fill(store, &mut random);
    for _ in 0..N_QUERIES {
        let query = query(&mut random);
        let found = find(store, &query);
        let enough = random.below(12) + 1;
        let mut seen = Vec::new();
        let visited = store.visit(&query, &mut |record| {
            // Whoever looks may ask for more.
            let again = store.get(std::slice::from_ref(record.issue.id()));
            let again = again.expect("a store answers");
            assert_eq!(again, std::slice::from_ref(&record));
            seen.push(record);
            if seen.len() == enough {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        visited.expect("a store answers");
        assert_eq!(seen, found[..found.len().min(enough)], "{query:?}");
    }
}

fn prefixes(store: &mut dyn Store) {
    let mut random = Random(0xbead);
    fill(store, &mut random);
    for _ in 0..N_QUERIES {
        let query = query(&mut random);
        let found = find(store, &query);
        let is_sorted = found.is_sorted_by(|a, b| query.order.compare(&a.issue, &b.issue).is_le());
        assert!(is_sorted, "{query:?}");
        for limit in [0, 1, 5, N_ISSUES] {
            let limited = Query {
                limit: Some(limit),
                ..query.clone()
            };
            let first = find(store, &limited);
            assert_eq!(first, found[..found.len().min(limit)], "{limited:?}");
        }
    }
}

fn followed(store: &mut dyn Store) {
    let mut random = Random(0xfeed);
    fill(store, &mut random);
    let all = Query {
        status: StatusFilter::Any,
        includes_hidden: true,
        ..Query::default()
    };
    let open = |store: &dyn Store| {
        let counts = store.count_by(&all, Grouping::Status);
        counts.expect("a store answers")["open"]
    };
    let before = open(store);
    put(store, "new", json!({}));
    assert_eq!(open(store), before + 1);
    edit(store, "new", Edit::Set("priority".to_owned(), 4.into()));
    close(store, "new");
    assert_eq!(open(store), before);
    let record = &store.get(&[id("new")]).expect("a store answers")[0];
    let last = Query {
        priorities: Some((4, 4)),
        ..all.clone()
    };
    assert_eq!(find(store, &last), std::slice::from_ref(record));
    assert_eq!(store.count(&last).expect("a store answers"), 1);
}

fn statuses(store: &mut dyn Store) {
    put(store, "a", json!({}));
    put(store, "b", json!({}));
    close(store, "b");
    let asked = [id("b"), id("none"), id("a"), id("b")];
    let told = store.statuses(&asked).expect("a store answers");
    let told: Vec<Option<&str>> = told.iter().map(Option::as_deref).collect();
    assert_eq!(told, [Some("closed"), None, Some("open"), Some("closed")]);
}

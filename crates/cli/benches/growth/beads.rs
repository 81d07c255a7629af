//! Stores of beads as projects have them: of several types, priorities and states, with labels, people and edges.

use beads_ralph_core::issue::Entry;
use beads_ralph_runtime::store::{SqliteStore, Stamp, Store as _, Write, find, init};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};

/// How many beads are written at once.
const BATCH: usize = 10_000;

/// How many beads are gates, wait for a person, or have the rare label, in a store of any size.
const FEW: usize = 10;

const WORDS: [&str; 16] = [
    "fix", "login", "page", "button", "timeout", "server", "cache", "worker", "queue", "when",
    "after", "the", "user", "saves", "is", "stale",
];

/// A directory with a store of so many beads.
pub(crate) fn store(root: &Utf8Path, n_beads: usize) -> Utf8PathBuf {
    let directory = root.join(format!("beads-{n_beads}"));
    std::fs::create_dir(&directory).expect("a new directory");
    init(&directory).expect("a new store");
    let file = find(&directory).expect("it was just made").database;
    let mut store = SqliteStore::open(&file).expect("it was just made");
    let by = Stamp {
        actor: "bench",
        at: jiff::Timestamp::from_second(1_790_000_000).expect("a time"),
    };
    let numbers: Vec<usize> = (0..n_beads).collect();
    for numbers in numbers.chunks(BATCH) {
        let insertion = |number: &usize| {
            let entry = Entry::from_document(document(*number)).expect("a bead");
            Write::Insert(Box::new(entry))
        };
        let batch: Vec<Write> = numbers.iter().map(insertion).collect();
        store.write(&batch, by).expect("the beads are new");
    }
    directory
}

fn words(number: usize, n: usize) -> String {
    let word = |at: usize| WORDS[(number * 7 + at * (number % 5 + 3) + at / 3) % WORDS.len()];
    (0..n).map(word).collect::<Vec<_>>().join(" ")
}

fn id(number: usize) -> String {
    format!("bd-{number:06}")
}

fn document(number: usize) -> Value {
    // Ten kinds of beads, in turns; what there is few of comes at the beginning.
    let kind = number % 10;
    let is_rare = number < FEW;
    let mut labels = vec!["common", ["api", "ui", "data"][number % 3]];
    let (status, issue_type) = match kind {
        _ if is_rare && number.is_multiple_of(3) => ("open", "gate"),
        0..4 => ("closed", "task"),
        4 => ("open", "bug"),
        5 => ("deferred", "task"),
        _ => ("open", "task"),
    };
    if is_rare {
        labels.push(if number.is_multiple_of(2) {
            "rare"
        } else {
            "human"
        });
    }
    let day = number % 28 + 1;
    let mut document = json!({
        "id": id(number),
        "title": words(number, 6),
        "description": words(number + 1, 250),
        "status": status,
        "priority": number / 10 % 5,
        "issue_type": issue_type,
        "labels": labels,
        "created_at": format!("2026-01-{day:02}T08:00:00Z"),
        "updated_at": format!("2026-02-{day:02}T08:00:{:02}Z", number % 60),
        "metadata": {"team_name": format!("team-{}", number % 4), "plan_file": "plan.md"},
    });
    let fields = document.as_object_mut().expect("an object was just made");
    if status == "closed" {
        let closed = format!("2026-03-{day:02}T08:00:00Z");
        fields.insert("closed_at".to_owned(), closed.into());
    }
    if kind.is_multiple_of(2) {
        fields.insert("assignee".to_owned(), ["ann", "bob"][number / 2 % 2].into());
    }
    // Every fifth waits for one that is not done.
    if matches!(kind, 6 | 8) && number > 20 {
        let target = id(number - 2);
        fields.insert("dependencies".to_owned(), vec![target].into());
    }
    document
}

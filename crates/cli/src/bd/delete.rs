//! `bd delete`: beads that are not wanted, and every trace of them in others.

mod pages;

use std::collections::{BTreeSet, HashSet};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::{Edit, Record};

use super::ids::Unresolved;
use super::{Access, Call, Command, Opened, Refusal, any, help, ids, input, string, switch};

pub(super) const COMMAND: Command = Command {
    name: "delete",
    about: "Delete beads and the references to them",
    positionals: &[any("id")],
    flags: &[
        switch("cascade", "Also delete whatever depends on them"),
        switch("dry-run", "Show what would be deleted"),
        switch(
            "force",
            "Delete; without it only show what would be deleted",
        )
        .short('f'),
        string("from-file", "Take ids from a file, one in each line"),
    ],
    access: Access::Writes,
    run: Some(run),
    ..Command::NONE
};

const TEXTS: [&str; 5] = [
    "title",
    "description",
    "design",
    "notes",
    "acceptance_criteria",
];

fn run(call: &mut Call<'_>) -> Result<(), Refusal> {
    let arguments = call.arguments;
    let mut opened = call.open()?;
    let mut wanted = arguments.words.clone();
    if let Some(path) = arguments.filled("from-file") {
        wanted.extend(from_file(path)?);
    }
    let mut seen = HashSet::new();
    wanted.retain(|id| seen.insert(id.clone()));
    if wanted.is_empty() {
        call.output.stderr(&help::of(&COMMAND, &["delete"]));
        return Err(Refusal::plain("no issue IDs provided"));
    }
    let is_one = wanted.len() == 1 && !arguments.is_on("cascade");
    let named = resolve(&opened, &wanted, is_one)?;
    let plan = Plan::new(&opened, &named, arguments.is_on("cascade"))?;
    let is_forced = arguments.is_on("force");
    if arguments.is_on("dry-run") || !is_forced {
        return pages::preview(call, &opened, &named, &plan, is_one);
    }
    let n_updated = plan.carry_out(&mut opened)?;
    pages::deleted(call, &named, &plan, n_updated, is_one)
}

/// Deletes some beads, as the real `bd` does for other commands, and prints it as for several beads.
pub(super) fn batch(
    call: &Call<'_>,
    opened: &mut Opened,
    records: &[Record],
) -> Result<(), Refusal> {
    let plan = Plan::new(opened, records, false)?;
    let n_updated = plan.carry_out(opened)?;
    pages::deleted(call, records, &plan, n_updated, false)
}

fn from_file(path: &str) -> Result<Vec<String>, Refusal> {
    let bytes =
        input::read_file(path).map_err(|why| Refusal::plain(format!("reading file: {why}")))?;
    let body = String::from_utf8_lossy(&bytes).into_owned();
    let lines = body.lines().map(str::trim);
    Ok(lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect())
}

fn resolve(opened: &Opened, wanted: &[String], is_one: bool) -> Result<Vec<Record>, Refusal> {
    let mut named = Vec::new();
    let mut missing = Vec::new();
    for id in wanted {
        match ids::resolve(opened, id) {
            Ok(record) => named.push(record),
            Err(Unresolved::None(_)) if is_one => {
                return Err(Refusal::plain(format!("issue {id} not found")));
            }
            Err(Unresolved::None(_)) => missing.push(id.as_str()),
            Err(Unresolved::Other(why)) if is_one => return Err(Refusal::plain(why)),
            Err(Unresolved::Other(why)) => {
                return Err(Refusal::plain(format!("getting issue {id}: {why}")));
            }
        }
    }
    if missing.is_empty() {
        return Ok(named);
    }
    Err(Refusal::plain(format!(
        "issues not found: {}",
        missing.join(", ")
    )))
}

/// What a deletion takes with it.
struct Plan {
    deleted: Vec<Record>,
    /// Beads that keep on existing and have an edge to a deleted one.
    orphaned: BTreeSet<BeadId>,
    /// Beads that keep on existing and are connected with a deleted one.
    connected: BTreeSet<BeadId>,
    n_edges: usize,
    n_labels: usize,
    n_events: usize,
}

impl Plan {
    fn new(opened: &Opened, named: &[Record], is_cascade: bool) -> Result<Self, Refusal> {
        let mut deleted = named.to_vec();
        let mut going: HashSet<BeadId> = named.iter().map(|r| r.issue.id().clone()).collect();
        let mut next = 0;
        while is_cascade && next < deleted.len() {
            let id = deleted[next].issue.id().clone();
            next += 1;
            for (other, _) in opened.store.dependents(&id)? {
                if going.insert(other.clone()) {
                    deleted.extend(opened.record(&other)?);
                }
            }
        }
        let mut plan = Self {
            orphaned: BTreeSet::new(),
            connected: BTreeSet::new(),
            n_edges: 0,
            n_labels: 0,
            n_events: 0,
            deleted,
        };
        for record in &plan.deleted {
            let issue = &record.issue;
            plan.n_labels += issue.labels().count();
            plan.n_events += opened.store.events(Some(issue.id()), 0, usize::MAX)?.len();
            plan.n_edges += issue.dependencies().len();
            let targets = issue
                .dependencies()
                .iter()
                .map(|edge| edge.target().clone());
            plan.connected
                .extend(targets.filter(|id| !going.contains(id)));
            for (other, _) in opened.store.dependents(issue.id())? {
                if !going.contains(&other) {
                    plan.n_edges += 1;
                    plan.orphaned.insert(other.clone());
                    plan.connected.insert(other);
                }
            }
        }
        Ok(plan)
    }

    /// Whether something would be left hanging. The sentence names the first bead that others depend on.
    fn hanging(&self, opened: &Opened) -> Result<Option<String>, Refusal> {
        for record in &self.deleted {
            let id = record.issue.id();
            let dependents = opened.store.dependents(id)?;
            if dependents
                .iter()
                .any(|(other, _)| self.orphaned.contains(other))
            {
                return Ok(Some(format!(
                    "issue {id} has dependents not in deletion set; use --cascade to delete them or --force to orphan them"
                )));
            }
        }
        Ok(None)
    }

    /// Does it, and gives in how many beads texts changed.
    fn carry_out(&self, opened: &mut Opened) -> Result<usize, Refusal> {
        let mut batch = Vec::new();
        for id in &self.connected {
            let Some(record) = opened.record(id)? else {
                continue;
            };
            let edits = self.rewritten(&record);
            if !edits.is_empty() {
                batch.push(opened.change(&record, edits));
            }
        }
        let n_updated = batch.len();
        for record in &self.deleted {
            batch.push(opened.deletion(record));
        }
        opened
            .write(&batch)
            .map_err(|error| Refusal::plain(format!("deleting issue: {error}")))?;
        Ok(n_updated)
    }

    /// The texts of a bead in which deleted ones are named.
    fn rewritten(&self, record: &Record) -> Vec<Edit> {
        let mut edits = Vec::new();
        for key in TEXTS {
            let Some(before) = record.issue.text(key) else {
                continue;
            };
            let mut after = before.to_owned();
            for deleted in &self.deleted {
                after = marked(&after, deleted.issue.id().as_str());
            }
            if after != before {
                edits.push(Edit::Set(key.to_owned(), after.into()));
            }
        }
        edits
    }
}

/// A text in which an id that stands by itself is marked as deleted.
fn marked(text: &str, id: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let mut done = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(id) {
        let (before, after) = (&rest[..start], &rest[start + id.len()..]);
        done.push_str(before);
        let is_alone = !done.ends_with(is_word) && !after.starts_with(is_word);
        if is_alone {
            push!(done, "[deleted:{id}]");
        } else {
            done.push_str(id);
        }
        rest = after;
    }
    done + rest
}

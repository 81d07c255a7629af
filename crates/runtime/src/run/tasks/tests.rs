//! What a run sees of a store, and what it does not miss.

mod failing;

use std::sync::atomic::{AtomicBool, Ordering};

use beads_ralph_core::gate::Gate;
use beads_ralph_core::issue::{Edit, Entry};

use super::*;
use crate::removed_sprints::Applied;
use crate::store::{Guard, MemoryStore, NewClaim, Stamp, Write};
use failing::Failing;

const BY: Stamp<'static> = Stamp {
    actor: "somebody",
    at: Timestamp::UNIX_EPOCH,
};

fn store() -> (MemoryStore, BeadId) {
    let mut store = MemoryStore::new();
    let document = serde_json::json!({
        "id": "bd-1", "title": "One", "status": "open", "priority": 1, "issue_type": "beads-ralph-work",
        "assignee": "beads-ralph-scrum-master",
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
    });
    let entry = Entry::from_document(document).unwrap();
    let id = entry.issue.id().clone();
    store.write(&[Write::Insert(Box::new(entry))], BY).unwrap();
    (store, id)
}

fn change(store: &mut MemoryStore, id: &BeadId, edit: Edit) {
    let write = Write::Update {
        id: id.clone(),
        edits: vec![edit],
        guard: Guard::default(),
    };
    store.write(&[write], BY).unwrap();
}

/// Somebody else takes a bead.
fn claim(store: &mut MemoryStore, id: &BeadId) {
    let holder = Holder {
        run: "another".to_owned(),
        host: "here".to_owned(),
        process: None,
    };
    let claim = NewClaim {
        holder: &holder,
        lease_until: BY.at,
        is_forced: false,
        instead_of: None,
    };
    store.claim(id, &claim, BY).unwrap();
}

fn reader() -> TaskReader<'static> {
    TaskReader {
        has_default_checks: true,
        rules: Rules {
            rig: "rig".to_owned(),
        },
        max_attempts: None,
        selection: Selection::default(),
        gone: &|_, _| None,
        gates: &|_| Ok(Gates::default()),
        account: &|_| String::new(),
    }
}

fn standings(seen: Option<Event>) -> Vec<TaskState> {
    let Some(Event::Seen { tasks, .. }) = seen else {
        return Vec::new();
    };
    tasks.into_iter().map(|task| task.standing).collect()
}

#[test]
fn z_4_a_bead_that_was_ours_is_told_of_again_even_if_it_looks_as_before() {
    let (mut store, id) = store();
    let reader = reader();
    let mut sight = Sight::default();
    let mut look = |store: &MemoryStore, is_ours: bool| {
        let seen = sight.look(store, &reader, BY.at, &|_| is_ours);
        standings(seen.unwrap())
    };
    assert_eq!(look(&store, false), [TaskState::Open]);
    // It was worked on, and it was reopened by force.
    change(&mut store, &id, Edit::Status("blocked".to_owned()));
    assert!(look(&store, true).is_empty(), "it is ours");
    change(&mut store, &id, Edit::Reopen);
    assert_eq!(look(&store, false), [TaskState::Open]);
    assert!(look(&store, false).is_empty(), "nothing is new");
}

#[test]
fn z_4_a_bead_whose_holder_dies_is_told_of_without_any_event() {
    let (mut store, id) = store();
    claim(&mut store, &id);
    let is_dead = AtomicBool::new(false);
    let gone = |_: &Claim, _: Timestamp| {
        let is_dead = is_dead.load(Ordering::Relaxed);
        is_dead.then_some(Abandoned::ProcessDead)
    };
    let reader = TaskReader {
        gone: &gone,
        ..reader()
    };
    let mut sight = Sight::default();
    let mut look = || standings(sight.look(&store, &reader, BY.at, &|_| false).unwrap());
    assert!(matches!(look()[..], [TaskState::Held { .. }]));
    assert!(look().is_empty());
    is_dead.store(true, Ordering::Relaxed);
    assert_eq!(look(), [TaskState::Open]);
}

#[test]
fn l_5_a_bead_that_was_given_to_a_person_while_no_process_ran_is_not_for_the_run_any_more() {
    let (mut store, id) = store();
    let given = Edit::Set("assignee".to_owned(), serde_json::json!("somebody"));
    change(&mut store, &id, given);
    let mut sight = Sight::knowing([id.clone()].into());
    let seen = sight.look(&store, &reader(), BY.at, &|_| false).unwrap();
    let expected = Event::Seen {
        tasks: Vec::new(),
        gone: vec![id],
        parked: Vec::new(),
    };
    assert_eq!(seen, Some(expected));
}

#[test]
fn l_7_the_first_look_at_a_store_without_work_says_so() {
    let store = MemoryStore::new();
    let mut sight = Sight::default();
    let mut look = || sight.look(&store, &reader(), BY.at, &|_| false).unwrap();
    assert!(matches!(look(), Some(Event::Seen { tasks, .. }) if tasks.is_empty()));
    assert_eq!(look(), None);
}

#[test]
fn a_look_that_fails_half_way_loses_nothing() {
    let (mut store, id) = store();
    let reader = reader();
    let mut sight = Sight::default();
    let look = |sight: &mut Sight, store: &dyn Store| {
        let seen = sight.look(store, &reader, BY.at, &|_| false);
        seen.map(standings)
    };
    look(&mut sight, &store).unwrap();
    change(&mut store, &id, Edit::Status("blocked".to_owned()));
    for n in 0.. {
        let failing = Failing::new(store.clone(), n);
        match look(&mut sight, &failing) {
            Err(_) => {}
            Ok(seen) => {
                assert!(n > 2, "some calls were let fail");
                return assert_eq!(seen, [TaskState::Blocked]);
            }
        }
    }
}

#[test]
fn z_4_a_bead_that_is_doubted_is_told_of_again() {
    let (store, id) = store();
    let reader = reader();
    let mut sight = Sight::default();
    let look = |sight: &mut Sight| {
        let seen = sight.look(&store, &reader, BY.at, &|_| false);
        standings(seen.unwrap())
    };
    assert_eq!(look(&mut sight), [TaskState::Open]);
    assert!(look(&mut sight).is_empty());
    sight.doubt([id]);
    assert_eq!(look(&mut sight), [TaskState::Open]);
}

#[test]
fn g_3_a_feature_is_held_back_and_goes_on_when_the_gate_turns_green() {
    let (mut store, id) = store();
    let label = beads_ralph_core::issue::Label::parse("lane-feature").unwrap();
    change(&mut store, &id, Edit::AddLabel(label));
    let is_green = AtomicBool::new(false);
    let gates = |_: &dyn Store| {
        let red = Gate::unreadable("smoke", "no");
        let is_green = is_green.load(Ordering::Relaxed);
        Ok(Gates::new((!is_green).then_some(red)))
    };
    let reader = TaskReader {
        gates: &gates,
        ..reader()
    };
    let mut sight = Sight::default();
    let mut look = || match sight.look(&store, &reader, BY.at, &|_| false).unwrap() {
        Some(Event::Seen { tasks, .. }) => tasks.into_iter().map(|task| task.held_back).collect(),
        _ => Vec::new(),
    };
    let red = || Some("Gates are RED: smoke".to_owned());
    assert_eq!(look(), [red()]);
    // Nothing happened in the store, neither now nor when the gate changed.
    assert_eq!(look(), []);
    is_green.store(true, Ordering::Relaxed);
    assert_eq!(look(), [None]);
    is_green.store(false, Ordering::Relaxed);
    assert_eq!(look(), [red()]);
}

#[test]
fn g_3_a_feature_whose_holder_died_goes_on_when_the_gate_turns_green() {
    let (mut store, id) = store();
    let label = beads_ralph_core::issue::Label::parse("lane-feature").unwrap();
    change(&mut store, &id, Edit::AddLabel(label));
    claim(&mut store, &id);
    let is_green = AtomicBool::new(false);
    let gates = |_: &dyn Store| {
        let red = Gate::unreadable("smoke", "no");
        let is_green = is_green.load(Ordering::Relaxed);
        Ok(Gates::new((!is_green).then_some(red)))
    };
    let reader = TaskReader {
        gone: &|_, _| Some(Abandoned::ProcessDead),
        gates: &gates,
        ..reader()
    };
    let mut sight = Sight::default();
    let mut look = || match sight.look(&store, &reader, BY.at, &|_| false).unwrap() {
        Some(Event::Seen { tasks, .. }) => tasks
            .into_iter()
            .map(|task| (task.standing, task.held_back.is_some()))
            .collect(),
        _ => Vec::new(),
    };
    assert_eq!(look(), [(TaskState::Open, true)]);
    is_green.store(true, Ordering::Relaxed);
    assert_eq!(look(), [(TaskState::Open, false)]);
}

/// A store with the bead of a sprint, and a reader for the plan that it is of.
fn planned() -> (MemoryStore, BeadId, TaskReader<'static>) {
    let mut store = MemoryStore::new();
    let document = serde_json::json!({
        "id": "bd-1", "title": "One", "status": "open", "priority": 1, "issue_type": "beads-ralph-work",
        "assignee": "beads-ralph-scrum-master", "metadata": {"plan_file": "plan.md", "sprint": "1.1"},
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
    });
    let entry = Entry::from_document(document).unwrap();
    let id = entry.issue.id().clone();
    store.write(&[Write::Insert(Box::new(entry))], BY).unwrap();
    let selection = Selection {
        plan: Some("plan.md".to_owned()),
        ..Selection::default()
    };
    let reader = TaskReader {
        selection,
        ..reader()
    };
    (store, id, reader)
}

/// Applies the plan without some sprints.
fn apply_without(store: &mut MemoryStore, sprints: &[&str]) {
    let removed = sprints.iter().map(|&sprint| sprint.to_owned()).collect();
    removed_sprints::remember(store, "plan.md", &Applied::Whole(removed), BY).unwrap();
}

/// The beads that are reported, and those that are gone.
fn told(seen: Option<Event>) -> (usize, Vec<BeadId>) {
    match seen {
        Some(Event::Seen { tasks, gone, .. }) => (tasks.len(), gone),
        _ => (0, Vec::new()),
    }
}

#[test]
fn z_44_a_sprint_is_gone_while_its_plan_lacks_it() {
    let (mut store, id, reader) = planned();
    let mut sight = Sight::default();
    let mut look = |store: &MemoryStore| {
        let seen = sight.look(store, &reader, BY.at, &|_| false).unwrap();
        told(seen)
    };
    assert_eq!(look(&store), (1, Vec::new()));
    apply_without(&mut store, &["1.1"]);
    assert_eq!(look(&store), (0, vec![id]));
    assert_eq!(look(&store), (0, Vec::new()), "it is told once");
    apply_without(&mut store, &[]);
    assert_eq!(look(&store), (1, Vec::new()));
}

#[test]
fn z_44_a_sprint_that_is_worked_on_is_not_taken_away() {
    let (mut store, id, reader) = planned();
    let mut sight = Sight::default();
    sight.look(&store, &reader, BY.at, &|_| false).unwrap();
    apply_without(&mut store, &["1.1"]);
    let ours = sight.look(&store, &reader, BY.at, &|it| *it == id).unwrap();
    assert_eq!(told(ours), (0, Vec::new()));
    let later = sight.look(&store, &reader, BY.at, &|_| false).unwrap();
    assert_eq!(told(later), (0, vec![id]));
}

#[test]
fn z_44_a_bead_that_was_asked_for_in_vain_is_gone_when_it_is_not_for_this_run_any_more() {
    let (mut store, id, reader) = planned();
    let mut sight = Sight::default();
    sight.look(&store, &reader, BY.at, &|_| false).unwrap();
    apply_without(&mut store, &["1.1"]);
    sight.doubt([id.clone()]);
    let seen = sight.look(&store, &reader, BY.at, &|_| false).unwrap();
    assert_eq!(told(seen), (0, vec![id]));
}

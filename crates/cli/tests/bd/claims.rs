//! Many processes that want the same beads of the real `bd`.

use std::collections::BTreeMap;
use std::process::{Child, Stdio};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::issue::Edit;
use beads_ralph_runtime::store::{Guard, Stamp, Store as _, Write};
use serde_json::Value;

use crate::world::World;

const N_PROCESSES: usize = 8;
const N_BEADS: usize = 10;

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn z_3_eight_processes_claim_ten_beads_and_each_has_one_winner() {
    let world = World::new();
    let lines: Vec<String> = (0..N_BEADS)
        .map(|number| format!("{{\"id\":\"tt-{number}\",\"title\":\"Bead {number}\"}}\n"))
        .collect();
    world.write("beads.jsonl", &lines.concat());
    world.ralph(&["import", "beads.jsonl"]);
    let mut wins: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for number in 0..N_BEADS {
        let id = format!("tt-{number}");
        let children: Vec<(String, Child)> = (0..N_PROCESSES)
            .map(|process| {
                let name = format!("worker-{process}");
                let child = world
                    .command(
                        env!("CARGO_BIN_EXE_beads-ralph"),
                        &["claim", &id, "--holder", &name, "--json"],
                    )
                    .env("BEADS_ACTOR", &name)
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
                    .unwrap();
                (name, child)
            })
            .collect();
        for (name, child) in children {
            let ended = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&ended.stderr);
            match ended.status.code() {
                Some(0) => wins.entry(id.clone()).or_default().push(name),
                Some(4) => {}
                code => panic!("{name} on {id}: {code:?}: {said}"),
            }
        }
    }
    let shown: Vec<Value> =
        serde_json::from_str(&world.bd(&["list", "--limit=0", "--json"])).unwrap();
    assert_eq!(shown.len(), N_BEADS);
    for bead in shown {
        let id = bead["id"].as_str().unwrap();
        let winners = &wins[id];
        assert_eq!(winners.len(), 1, "{id}: {winners:?}");
        assert_eq!(bead["status"], "in_progress");
        assert!(
            bead.get("assignee").is_none(),
            "a role, and not a holder: {bead:#}"
        );
        let kept = bead["metadata"]["beads_ralph"].as_str().unwrap();
        let claim = &serde_json::from_str::<Value>(kept).unwrap()["claim"];
        assert_eq!(claim["holder"]["run"].as_str(), Some(winners[0].as_str()));
        assert_eq!(claim["fence"], 1);
    }
}

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn z_3_what_somebody_took_by_bd_itself_is_not_claimed() {
    let world = World::new();
    world.bd(&["create", "One", "--id=tt-1"]);
    world.bd(&["update", "tt-1", "--claim"]);
    let refused = world.run(
        env!("CARGO_BIN_EXE_beads-ralph"),
        &["claim", "tt-1", "--json"],
    );
    assert_eq!(refused.status.code(), Some(4), "{refused:?}");
    world.bd(&["update", "tt-1", "--status=open", "--assignee="]);
    world.ralph(&["claim", "tt-1"]);
    // A person who meddles with bd itself ends the claim, and its fence is worth nothing from then on.
    world.bd(&["update", "tt-1", "--status=open"]);
    let stale = world.run(
        env!("CARGO_BIN_EXE_beads-ralph"),
        &[
            "close", "tt-1", "--fence", "1", "--reason", "done", "--json",
        ],
    );
    assert_eq!(stale.status.code(), Some(1), "{stale:?}");
    assert!(world.ralph(&["claim", "tt-1"]).contains("fence 2"));
    // Nor does it come back when somebody takes the bead by bd itself.
    world.bd(&["update", "tt-1", "--status=open"]);
    world.bd(&["update", "tt-1", "--claim", "--actor=ann"]);
    let dead = world.run(
        env!("CARGO_BIN_EXE_beads-ralph"),
        &[
            "close", "tt-1", "--fence", "2", "--reason", "done", "--json",
        ],
    );
    assert_eq!(dead.status.code(), Some(1), "{dead:?}");
    assert!(
        world
            .bd(&["show", "tt-1", "--json"])
            .contains("in_progress")
    );
}

#[test]
#[ignore = "needs the real bd: scripts/real-tools bd"]
fn z_3_what_others_add_meanwhile_stays() {
    let world = World::new();
    world.bd(&["create", "One", "--id=tt-1", "--notes=base", "--labels=a"]);
    let mut store = world.store();
    let id = BeadId::parse("tt-1").unwrap();
    let by = Stamp {
        actor: "ann",
        at: beads_ralph_runtime::os::clock::now(),
    };
    let change = |edits: Vec<Edit>| Write::Update {
        id: id.clone(),
        edits,
        guard: Guard::default(),
    };
    store
        .write(&[change(vec![Edit::AppendNotes("ours".to_owned())])], by)
        .unwrap();
    // This store knows the bead as it was a moment ago; bd is asked by somebody else, behind its back, between two calls of ours.
    world.bd(&[
        "update",
        "tt-1",
        "--append-notes=theirs",
        "--priority=0",
        "--add-label=b",
    ]);
    let map = serde_json::json!({"k": 1}).as_object().unwrap().clone();
    let edits = vec![
        Edit::AppendNotes("ours again".to_owned()),
        Edit::MergeMetadata(map),
    ];
    store.write(&[change(edits)], by).unwrap();
    let shown: Vec<Value> = serde_json::from_str(&world.bd(&["show", "tt-1", "--json"])).unwrap();
    assert_eq!(shown[0]["notes"], "base\nours\ntheirs\nours again");
    assert_eq!(
        (&shown[0]["priority"], &shown[0]["metadata"]["k"]),
        (&0.into(), &1.into())
    );
    assert_eq!(shown[0]["labels"], serde_json::json!(["a", "b"]));
}

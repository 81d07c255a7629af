//! Programs of others that work through `bd`, started for real with ours as the `bd` in their `PATH`: beads-mcp and beads-village as
//! servers on standard input and output, beads-ui as a server for browsers.

mod rpc;
mod websocket;

use beads_ralph_runtime::os::env::{self, Variable};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};
use tempfile::TempDir;

use self::rpc::Server;
use self::websocket::Socket;
use crate::world::{Invocation, process, real};

/// A repository with a store of ours, and ours as `bd`.
struct Place {
    root: Utf8PathBuf,
    _guard: TempDir,
}

impl Place {
    #[track_caller]
    fn new() -> Self {
        let guard = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let root = Utf8PathBuf::from_path_buf(guard.path().canonicalize().unwrap()).unwrap();
        for folder in ["home", "work", "bin"] {
            std::fs::create_dir(root.join(folder)).unwrap();
        }
        let program = env!("CARGO_BIN_EXE_beads-ralph");
        std::os::unix::fs::symlink(program, root.join("bin/bd")).unwrap();
        let place = Self {
            root,
            _guard: guard,
        };
        for args in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["config", "user.name", "Test"],
            &["config", "user.email", "test@example.org"],
            &["commit", "--quiet", "--allow-empty", "--message=start"],
        ] {
            place.start("git".into(), args).run().exits(0);
        }
        place.bd(&["init", "--prefix", "tt"]);
        place
    }

    fn work(&self) -> Utf8PathBuf {
        self.root.join("work")
    }

    /// A program that finds our `bd`.
    fn start(&self, program: Utf8PathBuf, args: &[&str]) -> Invocation {
        let path = env::get(Variable::Path).unwrap_or_default();
        process(program, args, &self.work(), &self.root.join("home"))
            .env("PATH", &format!("{}:{path}", self.root.join("bin")))
            .env("BEADS_ACTOR", "tester")
    }

    #[track_caller]
    fn bd(&self, args: &[&str]) -> String {
        self.start(self.root.join("bin/bd"), args)
            .run()
            .exits(0)
            .stdout
    }

    /// A bead as it is in the store.
    #[track_caller]
    fn bead(&self, id: &str) -> Value {
        let shown: Value = serde_json::from_str(&self.bd(&["show", id, "--json"])).unwrap();
        shown[0].clone()
    }
}

#[test]
#[ignore = "needs the real beads-mcp: scripts/real-tools beads-mcp"]
fn beads_mcp_works_over_the_face() {
    let place = Place::new();
    let mut server = Server::start(place.start(real("beads-mcp"), &[]));
    server.initialize();
    let guide = server.ask("resources/read", &json!({"uri": "beads://quickstart"}));
    let guide = guide["contents"][0]["text"].as_str().unwrap().to_owned();
    assert!(guide.contains("bd ready"), "{guide}");

    let work = place.work();
    let mut call = |tool: &str, arguments: &Value| {
        let mut arguments = arguments.clone();
        arguments["workspace_root"] = work.as_str().into();
        server.call(tool, &arguments)
    };
    let first = call(
        "create",
        &json!({"title": "First", "priority": 1, "issue_type": "feature", "labels": ["ui"], "brief": false}),
    );
    let first = first["id"].as_str().unwrap().to_owned();
    let second = call("create", &json!({"title": "Second", "deps": [first]}));
    let second = second["id"].as_str().unwrap().to_owned();

    let ready = call("ready", &json!({})).to_string();
    assert!(
        ready.contains(&first) && !ready.contains(&second),
        "{ready}"
    );
    let blocked = call("blocked", &json!({})).to_string();
    assert!(blocked.contains(&second), "{blocked}");
    call("claim", &json!({"issue_id": first}));
    assert_eq!(place.bead(&first)["assignee"], "tester");
    call("note", &json!({"issue_id": first, "text": "Half done"}));
    assert_eq!(place.bead(&first)["notes"], "Half done");
    call("comment", &json!({"issue_id": first, "text": "A word"}));
    let comments = call("comments", &json!({"issue_id": first})).to_string();
    assert!(comments.contains("A word"), "{comments}");
    call(
        "update",
        &json!({"issue_id": second, "title": "Second, renamed"}),
    );
    let listed = call("list", &json!({"status": "open"})).to_string();
    assert!(listed.contains("Second, renamed"), "{listed}");
    call("close", &json!({"issue_id": first, "reason": "Done"}));
    assert_eq!(place.bead(&first)["close_reason"], "Done");
    call("reopen", &json!({"issue_ids": [first]}));
    assert_eq!(place.bead(&first)["status"], "open");
    call(
        "dep",
        &json!({"issue_id": first, "depends_on_id": second, "dep_type": "related"}),
    );
    let stats = call("stats", &json!({})).to_string();
    assert!(stats.contains("\"total_issues\":2"), "{stats}");
    let shown = call("show", &json!({"issue_id": second})).to_string();
    assert!(shown.contains("Second, renamed"), "{shown}");
}

#[test]
#[ignore = "needs the real beads-village: scripts/real-tools beads-village"]
fn beads_village_works_over_the_face() {
    let place = Place::new();
    let mut server = Server::start(place.start(real("beads-village"), &[]));
    server.initialize();
    let joined = server.call("init", &json!({"ws": place.work(), "leader": true}));
    assert_eq!(joined["ok"], 1, "{joined}");
    let added = server.call(
        "add",
        &json!({"title": "First", "typ": "bug", "pri": 0, "tags": ["be"]}),
    );
    let first = added["id"].as_str().unwrap().to_owned();
    let added = server.call("add", &json!({"title": "Second", "deps": [first]}));
    let second = added["id"].as_str().unwrap().to_owned();

    let ready = server.call("ls", &json!({"status": "ready"})).to_string();
    assert!(
        ready.contains(&first) && !ready.contains(&second),
        "{ready}"
    );
    let claimed = server.call("claim", &json!({}));
    assert_eq!(claimed["id"], first.as_str(), "{claimed}");
    assert_eq!(place.bead(&first)["status"], "in_progress");
    let shown = server.call("show", &json!({"id": first})).to_string();
    assert!(shown.contains("First"), "{shown}");
    server.call("assign", &json!({"id": second, "role": "qa"}));
    assert_eq!(place.bead(&second)["labels"], json!(["qa"]));
    let done = server.call("done", &json!({"id": first, "msg": "Mended"}));
    assert_eq!(done["ok"], 1, "{done}");
    assert_eq!(place.bead(&first)["close_reason"], "Mended");
    let open = server.call("ls", &json!({"status": "open"})).to_string();
    assert!(open.contains(&second), "{open}");
}

/// The ids of a list, in order.
#[track_caller]
fn ids(items: &Value) -> Vec<String> {
    let items = items.as_array().unwrap().iter();
    let mut ids: Vec<String> = items
        .map(|item| item["id"].as_str().unwrap().to_owned())
        .collect();
    ids.sort();
    ids
}

#[test]
#[ignore = "needs the real beads-ui: scripts/real-tools beads-ui"]
fn beads_ui_works_over_the_face() {
    let place = Place::new();
    place.bd(&["create", "Big thing", "-t", "epic", "--id", "tt-e1"]);
    place.bd(&["create", "Part of it", "--parent", "tt-e1"]);
    place.bd(&["create", "Waits", "--id", "tt-w1", "--deps", "tt-e1.1"]);
    let port = websocket::free_port();
    let program = real("beads-ui");
    let index = program.parent().and_then(Utf8Path::parent).unwrap();
    let index = index.join("server/index.js");
    let server = place.start("node".into(), &[index.as_str()]);
    let server = server.env("HOST", "127.0.0.1");
    let _server = server.env("PORT", &port.to_string()).start();
    let mut socket = Socket::connect(port);
    look_at_lists(&mut socket);
    change_a_bead(&place, &mut socket);
}

/// The lists that the page of beads-ui shows.
fn look_at_lists(socket: &mut Socket) {
    let mut list = |kind: &str| socket.list(kind, &json!({}));
    assert_eq!(ids(&list("all-issues")), ["tt-e1", "tt-e1.1", "tt-w1"]);
    let epics = list("epics");
    assert_eq!(
        (&epics[0]["id"], &epics[0]["total_children"]),
        (&json!("tt-e1"), &json!(1)),
        "{epics}"
    );
    assert_eq!(ids(&list("blocked-issues")), ["tt-w1"]);
    assert!(ids(&list("ready-issues")).contains(&"tt-e1.1".to_owned()));
}

/// What a person does on the page of beads-ui.
fn change_a_bead(place: &Place, socket: &mut Socket) {
    let none = json!({});
    let made =
        json!({"title": "From a browser", "type": "bug", "priority": 0, "description": "Words"});
    socket.ask("create-issue", &made);
    let found: Value =
        serde_json::from_str(&place.bd(&["list", "--type", "bug", "--json"])).unwrap();
    let id = found[0]["id"].as_str().unwrap();
    assert_eq!(found[0]["description"], "Words");
    socket.ask("update-status", &json!({"id": id, "status": "in_progress"}));
    assert_eq!(ids(&socket.list("in-progress-issues", &none)), [id]);
    socket.ask("update-assignee", &json!({"id": id, "assignee": "tester"}));
    socket.ask("update-priority", &json!({"id": id, "priority": 3}));
    let text = json!({"id": id, "field": "title", "value": "Renamed"});
    socket.ask("edit-text", &text);
    socket.ask("label-add", &json!({"id": id, "label": "ui"}));
    let edge = json!({"a": id, "b": "tt-e1.1", "view_id": id});
    socket.ask("dep-add", &edge);
    let detail = socket.list("issue-detail", &json!({"id": id}));
    let now = &detail[0];
    assert_eq!(
        (&now["title"], &now["priority"], &now["labels"]),
        (&json!("Renamed"), &json!(3), &json!(["ui"])),
        "{detail}"
    );
    socket.ask("dep-remove", &edge);
    socket.ask("update-status", &json!({"id": id, "status": "closed"}));
    assert_eq!(ids(&socket.list("closed-issues", &none)), [id]);
    let comments = socket.ask("get-comments", &json!({"id": id}));
    assert_eq!(comments, json!([]));
    socket.ask("delete-issue", &json!({"id": id}));
    let left = socket.list("all-issues", &none);
    assert_eq!(ids(&left), ["tt-e1", "tt-e1.1", "tt-w1"]);
}

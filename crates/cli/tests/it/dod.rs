//! Beads with a Definition of Done (contracts §8): `verify`, `exec`, `logs`, `create-bead`.

mod executing;
mod flakes;
mod stored;
mod verifying;

use serde_json::{Value, json};

use crate::env::TestEnv;

/// The file of a bead with these checks.
pub(crate) fn bead(verifiers: &Value) -> String {
    let document = json!({"intent": "make the checks pass", "dod": {"verifiers": verifiers}, "ralph_meta": {"retry_backoff_seconds": 0}});
    document.to_string()
}

/// A world with the bead `x`, kept in a file.
#[track_caller]
pub(crate) fn with_bead(verifiers: &Value) -> TestEnv {
    let env = TestEnv::new();
    env.write(".ralph/beads/x.json", bead(verifiers));
    env
}

/// What the checks came to, whether they passed or not.
#[track_caller]
pub(crate) fn results(env: &TestEnv, args: &[&str]) -> Vec<Value> {
    let output = env.run(&[args, &["--json"]].concat());
    let envelope = output.json();
    let results = if output.code == Some(0) {
        &envelope["data"]["results"]
    } else {
        &envelope["error"]["results"]["results"]
    };
    results
        .as_array()
        .unwrap_or_else(|| panic!("{output:#?}"))
        .clone()
}

/// Whether a process runs whose command line holds a text.
pub(crate) fn runs(text: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut lines =
        processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines.any(|line| {
        String::from_utf8_lossy(&line)
            .replace('\0', " ")
            .contains(text)
    })
}

/// Makes the working directory a git repository with one commit, which is empty.
#[track_caller]
pub(crate) fn git_repository(env: &TestEnv) {
    let who = ["-c", "user.name=x", "-c", "user.email=x@x"];
    let commit = [&who[..], &["commit", "-q", "--allow-empty", "-m", "x"]].concat();
    for args in [&["init", "-q"][..], &commit] {
        env.tool("git", args).run().exits(0);
    }
}

/// Waits until a file is there, which something that was started makes.
pub(crate) fn wait_for(env: &TestEnv, name: &str) {
    while !env.path(name).exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

//! Agents: what `doctor agents` finds out about their programs, what is said before a run, and runs of programs that behave
//! in every way that real ones were seen to.
#![cfg(unix)]

mod doctor;
mod ready;
mod runs;

use std::os::unix::fs::PermissionsExt as _;

use camino::Utf8PathBuf;

use crate::env::TestEnv;

/// Writes a shell script that can be run, and gives its path.
#[track_caller]
fn script(env: &TestEnv, name: &str, body: &str) -> Utf8PathBuf {
    env.write(name, format!("#!/bin/sh\n{body}\n"));
    let path = env.path(name);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// A stream that a real program printed.
fn recorded(program: &str, name: &str) -> Utf8PathBuf {
    let folder = Utf8PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../core/testdata/agents"
    ));
    let path = folder.join(program).join(name).with_extension("jsonl");
    assert!(path.is_file(), "{path}");
    path
}

//! The adapters that we ship, against what the real programs printed.
//!
//! The files in `testdata/agents` were printed by the programs themselves, against a model that follows a script; they are
//! shortened, and ids and paths are made up.

mod calls;
mod claude;
mod codex;
mod laws;
mod others;
mod traps;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use jiff::Timestamp;

use super::{Adapter, Call, Ending, Halt, Outcome, Permissions, ProcessEnd, Reader};

/// A moment shortly after the streams were recorded.
const NOW: &str = "2026-11-15T15:00:00Z";

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

/// An adapter as it is shipped.
fn adapter(name: &str) -> Adapter {
    static SHIPPED: LazyLock<BTreeMap<&str, Adapter>> = LazyLock::new(|| {
        let names = ["claude", "codex", "gemini", "opencode", "command"];
        names.map(|name| (name, shipped(name))).into()
    });
    SHIPPED[name].clone()
}

fn shipped(name: &str) -> Adapter {
    let path = format!("../runtime/src/adapters/{name}.yaml");
    let text = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let adapter: Adapter = serde_saphyr::from_str(&text).unwrap();
    adapter.named(name)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the tests read their own data; core does not"
)]
fn read(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// A stream that a real program printed, and what it complained about; one of the two may be absent.
fn recorded(program: &str, name: &str) -> (String, String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/agents")
        .join(program);
    let (stdout, stderr) = (
        read(&folder.join(format!("{name}.jsonl"))),
        read(&folder.join(format!("{name}.stderr"))),
    );
    assert!(
        stdout.is_some() || stderr.is_some(),
        "there is no recording {program}/{name}"
    );
    (stdout.unwrap_or_default(), stderr.unwrap_or_default())
}

fn call() -> Call {
    Call::new("Do it.", "/repo", Permissions::Bypass)
}

fn exited(code: i32) -> Ending {
    Ending {
        end: ProcessEnd::Exited(code),
        halt: None,
    }
}

fn halted(halt: Halt) -> Ending {
    Ending {
        end: ProcessEnd::Signalled(15),
        halt: Some(halt),
    }
}

/// Reads a whole run at once.
fn outcome(
    adapter: &Adapter,
    call: &Call,
    (stdout, stderr): (&str, &str),
    ending: &Ending,
) -> Outcome {
    let mut reader = Reader::new(adapter, call);
    reader.stdout(stdout.as_bytes());
    reader.stderr(stderr.as_bytes());
    reader.finish(ending, now())
}

/// The outcome of a recorded run.
fn played(program: &str, name: &str, call: &Call, ending: &Ending) -> Outcome {
    let (stdout, stderr) = recorded(program, name);
    outcome(&adapter(program), call, (&stdout, &stderr), ending)
}

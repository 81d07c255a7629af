//! The end of what was written for a bead, in lines for people.
//!
//! Agents write one JSON object a line: of these what an adapter would say about them is shown, and all other lines as they are.

use std::time::SystemTime;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::text::{visible, without_colour};
use beads_ralph_runtime::adapters::built_in;
use beads_ralph_runtime::os::files;
use beads_ralph_runtime::run::RunDirectory;
use camino::Utf8PathBuf;

use crate::command::inspect::logs::{Log, logs_in};
use crate::ui::board;

const END: u64 = 128 * 1024;

const MAX_LINES: usize = 2000;

/// Reads logs, and remembers the last one: most do not change between two looks.
#[derive(Default)]
pub(super) struct Logs {
    last: Option<(Seen, Vec<String>)>,
}

#[derive(PartialEq, Eq)]
struct Seen {
    path: Utf8PathBuf,
    n_bytes: u64,
    written: Option<SystemTime>,
}

impl Logs {
    /// A log of a bead, counted back from the newest.
    pub(super) fn of(&mut self, run: &RunDirectory, bead: &BeadId, back: usize) -> board::Log {
        let mut logs = logs_in(&run.bead(bead));
        // What we wrote about them ourselves stands above the log.
        logs.retain(|log| log.n_bytes > 0 && log.path.extension() != Some("json"));
        logs.sort_by_key(|log| log.written);
        let n_logs = logs.len();
        let at = n_logs.saturating_sub(1).saturating_sub(back);
        let Some(log) = logs.into_iter().nth(at) else {
            return board::Log::default();
        };
        board::Log {
            name: log.name.clone(),
            lines: self.lines(log),
            n_logs,
        }
    }

    fn lines(&mut self, log: Log) -> Vec<String> {
        let seen = Seen {
            n_bytes: log.n_bytes,
            written: log.written,
            path: log.path,
        };
        if let Some((last, lines)) = &self.last
            && *last == seen
        {
            return lines.clone();
        }
        let lines = read(&seen);
        self.last = Some((seen, lines.clone()));
        lines
    }
}

fn read(log: &Seen) -> Vec<String> {
    let bytes = if files::is_compressed(&log.path) {
        files::read_kept(&log.path)
    } else {
        files::read_piece(&log.path, log.n_bytes.saturating_sub(END))
    };
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(error) => return vec![visible(&error.to_string())],
    };
    let start = bytes
        .len()
        .saturating_sub(usize::try_from(END).unwrap_or(usize::MAX));
    let text = String::from_utf8_lossy(&bytes[start..]);
    let lines = told(&text);
    lines[lines.len().saturating_sub(MAX_LINES)..].to_vec()
}

/// A log in words: what an agent says in its own JSON, if it is such a log, and otherwise everything.
fn told(text: &str) -> Vec<String> {
    let said: Vec<Option<Vec<String>>> = text.lines().map(said).collect();
    let is_agents = said.iter().flatten().any(|said| !said.is_empty());
    let lines = text.lines().zip(said);
    let lines = lines.flat_map(|(line, said)| match said {
        Some(said) if is_agents => said,
        _ => {
            let plain = without_colour(line).replace('\t', "    ");
            vec![visible(&plain)]
        }
    });
    lines.collect()
}

/// What an adapter reads in a line; nothing if it is not JSON.
fn said(line: &str) -> Option<Vec<String>> {
    let object = line.starts_with('{').then(|| serde_json::from_str(line))?;
    let object = object.ok()?;
    let said = built_in().map(|it| it.read.said(&object));
    said.max_by_key(Vec::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_told_in_words_and_the_json_of_others_stays() {
        let claude = concat!(
            r#"{"type":"system","subtype":"init","model":"opus"}"#,
            "\nplain\n",
            r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I look"},{"type":"tool_use","name":"Bash","input":{"command":"ls"}}]}}"#,
            "\n",
            r#"{"type":"user","message":{"content":[]}}"#,
        );
        let expected = ["started with opus", "plain", "I look", "Bash: ls"];
        assert_eq!(told(claude), expected);
        let verdict = "\u{1b}[31mred\u{1b}[0m\tx\u{7}\n{\"status\": \"pass\"}\n{broken";
        let expected = ["red    x\\u{7}", "{\"status\": \"pass\"}", "{broken"];
        assert_eq!(told(verdict), expected);
    }
}

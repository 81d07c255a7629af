//! `logs --follow`: what is being written, as it comes, until somebody interrupts or nobody reads it any more.
//!
//! The stream that was written to last is shown; when another one of the run is written to, it is named and shown from where it
//! was left. Only whole lines are shown, so that no character is cut in two.

use std::collections::BTreeMap;
use std::time::Duration;

use beads_ralph_core::text::{visible, visible_lines};
use beads_ralph_runtime::os::files::{self, FileError};
use beads_ralph_runtime::os::process::Cancel;
use beads_ralph_runtime::os::terminal;
use camino::Utf8PathBuf;

use super::places::{Log, Run};
use crate::failure::Failure;
use crate::ui::{self, Ui};

const PAUSE: Duration = Duration::from_millis(200);

/// How much of what is there already is shown at the most.
const BEFORE: u64 = 4096;

/// What is followed: what programs write, and not what we write about them.
const STREAMS: [&str; 2] = ["stdout", "stderr"];

struct Followed {
    /// Where it was while it was written.
    path: Utf8PathBuf,
    offset: u64,
    /// The beginning of a line whose end is still to come.
    rest: Vec<u8>,
    /// Whether the reading began in the middle of a line, which is left out.
    is_in_line: bool,
}

pub(super) fn follow(run: &Run, wanted: Option<&Log>, ui: &Ui) -> Result<(), Failure> {
    let cancel = Cancel::on_signals()?;
    let mut streams: BTreeMap<String, Followed> = BTreeMap::new();
    let mut shown = wanted.map(|log| log.name.clone());
    if let Some(log) = wanted {
        streams.insert(log.name.clone(), Followed::begin(log)?);
    }
    loop {
        if let Some(newest) = newest(run)
            && wanted.is_none()
            && shown.as_ref() != Some(&newest.name)
        {
            if !streams.contains_key(&newest.name) {
                streams.insert(newest.name.clone(), Followed::begin(&newest)?);
            }
            if let Some(last) = shown.and_then(|name| streams.get_mut(&name)) {
                last.catch_up(ui)?;
            }
            ui.say(&format!("==> {} <==\n", visible(&newest.name)));
            shown = Some(newest.name);
        }
        if let Some(stream) = shown.as_ref().and_then(|name| streams.get_mut(name)) {
            stream.catch_up(ui)?;
        }
        if cancel.wait(PAUSE) || terminal::is_output_closed() {
            return Ok(());
        }
    }
}

fn newest(run: &Run) -> Option<Log> {
    let is_stream = |log: &Log| {
        let name = log.name.rsplit('/').next().unwrap_or_default();
        STREAMS.contains(&name) && log.n_bytes > 0
    };
    let logs = run.logs().into_iter().filter(is_stream);
    // Of two that were written to at once, the later one in the list ran later.
    logs.max_by_key(|log| log.written)
}

impl Followed {
    /// Begins near the end of what is there.
    fn begin(log: &Log) -> Result<Self, FileError> {
        let n_bytes = if files::is_compressed(&log.path) {
            files::read_kept(&log.path)?.len() as u64
        } else {
            log.n_bytes
        };
        let offset = n_bytes.saturating_sub(BEFORE);
        Ok(Self {
            path: Utf8PathBuf::from(files::plain_name(log.path.as_str())),
            offset,
            rest: Vec::new(),
            is_in_line: offset > 0,
        })
    }

    /// Shows what came since. A finished stream is compressed, and then what is left of it is read from there.
    fn catch_up(&mut self, ui: &Ui) -> Result<(), Failure> {
        loop {
            let (piece, is_finished) = self.piece()?;
            self.offset += piece.len() as u64;
            let is_end = piece.is_empty();
            self.rest.extend(piece);
            if self.is_in_line {
                let end = self.rest.iter().position(|byte| *byte == b'\n');
                self.rest.drain(..end.map_or(self.rest.len(), |at| at + 1));
                self.is_in_line = end.is_none();
            }
            if is_end && is_finished && !self.rest.is_empty() {
                self.rest.push(b'\n');
            }
            let end = self.rest.iter().rposition(|byte| *byte == b'\n');
            let whole: Vec<u8> = self.rest.drain(..end.map_or(0, |at| at + 1)).collect();
            show(&whole, ui)?;
            if is_end {
                return Ok(());
            }
        }
    }

    /// What comes next, and whether nothing can come behind it.
    fn piece(&self) -> Result<(Vec<u8>, bool), FileError> {
        match files::read_piece(&self.path, self.offset) {
            Err(FileError::NotFound { .. }) => {}
            read => return Ok((read?, false)),
        }
        match files::read_kept(&files::compressed_name(&self.path)) {
            // It was removed: nothing more comes of it.
            Err(FileError::NotFound { .. }) => Ok((Vec::new(), true)),
            read => {
                let start = usize::try_from(self.offset).unwrap_or(usize::MAX);
                Ok((read?.get(start..).unwrap_or_default().to_vec(), true))
            }
        }
    }
}

fn show(bytes: &[u8], ui: &Ui) -> Result<(), Failure> {
    if bytes.is_empty() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(bytes);
    if ui::page_width().is_some() {
        ui.out(&visible_lines(&text))
    } else {
        ui.out(&text)
    }
}

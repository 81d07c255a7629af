//! The journal of a run on disk, and the directory that it lies in (Z-4).
//!
//! `.beads/runs/<run>/` holds `journal.jsonl` (a head, then one line for each event), `lock` (held by the process that runs it),
//! `ended.json` once it is over, and `beads/` with what agents and checks printed. A line counts when its end is there: what a
//! power cut left of a line that was never acted upon is cut away.

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::engine::{Entry, Head};
use beads_ralph_core::issue::Liveness;
use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::crash_points::{self, Death, Moment};
use crate::os::files::{self, Appender, FileError, Lock};
use crate::{os::digest, os::host};

const RUNS: &str = "runs";

#[derive(Debug, Error)]
pub enum JournalError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("line {line} of {path} cannot be read: {why}")]
    Line {
        path: Utf8PathBuf,
        /// Which line, from 1.
        line: usize,
        why: String,
    },
    /// There is no such run.
    #[error("no run {run} in {runs}")]
    NoRun { run: String, runs: Utf8PathBuf },
}

/// How a run ended: what `ended.json` holds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunEnd {
    pub outcome: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// How many beads it was about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beads: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl RunEnd {
    /// The end of a run that was never conducted to its end.
    pub fn early(outcome: &str) -> Self {
        Self {
            outcome: outcome.to_owned(),
            ..Self::default()
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDirectory(Utf8PathBuf);

impl RunDirectory {
    /// The runs of a store, oldest first. Names that are not ours are left out.
    pub fn all(beads: &Utf8Path) -> Vec<Self> {
        let entries = beads
            .join(RUNS)
            .read_dir_utf8()
            .into_iter()
            .flatten()
            .flatten();
        let mut runs: Vec<Self> = entries
            .map(|entry| Self(entry.path().to_owned()))
            .filter(|run| run.journal().is_file())
            .collect();
        runs.sort_by(|one, other| one.0.cmp(&other.0));
        runs
    }

    /// A run by its id or the beginning of it; `latest` is the newest that had anything to do, if there is one.
    pub fn find(beads: &Utf8Path, run: &str) -> Result<Self, JournalError> {
        let mut fits: Vec<Self> = Self::all(beads);
        if run == "latest" {
            let last = fits.iter().rposition(|run| !run.had_nothing_to_do());
            let last = last.or(fits.len().checked_sub(1));
            fits = last.map(|at| fits.swap_remove(at)).into_iter().collect();
        } else {
            let is_whole = fits.iter().any(|it| it.id() == run);
            fits.retain(|it| {
                if is_whole {
                    it.id() == run
                } else {
                    it.id().starts_with(run)
                }
            });
        }
        match fits.as_slice() {
            [one] => Ok(one.clone()),
            _ => Err(JournalError::NoRun {
                run: run.to_owned(),
                runs: beads.join(RUNS),
            }),
        }
    }

    /// A run wherever its directory lies, such as a copy of one.
    pub fn at(path: &Utf8Path) -> Self {
        Self(path.to_owned())
    }

    /// Makes the directory of a new run. Ids begin with the time, so that they sort by it.
    pub fn create(beads: &Utf8Path, now: Timestamp) -> Result<Self, FileError> {
        let stamp = now.strftime("%Y%m%dT%H%M%SZ").to_string();
        files::create_directory(&beads.join(RUNS))?;
        for n in 0_u64.. {
            let id = match n {
                0 => format!("run-{stamp}"),
                n => format!("run-{stamp}-{}", n + 1),
            };
            let path = beads.join(RUNS).join(id);
            if files::create_new_directory(&path)? {
                return Ok(Self(path));
            }
        }
        unreachable!("one of all names is free")
    }

    pub fn id(&self) -> &str {
        self.0.file_name().unwrap_or_default()
    }

    pub fn path(&self) -> &Utf8Path {
        &self.0
    }

    pub fn journal(&self) -> Utf8PathBuf {
        self.0.join("journal.jsonl")
    }

    pub fn is_over(&self) -> bool {
        self.0.join("ended.json").exists()
    }

    /// Whether it is over and met no bead at all.
    fn had_nothing_to_do(&self) -> bool {
        let ended = files::read(&self.0.join("ended.json")).unwrap_or_default();
        let ended: serde_json::Result<RunEnd> = serde_json::from_slice(&ended);
        ended.is_ok_and(|ended| ended.beads == Some(0))
    }

    pub fn end(&self, how: &RunEnd) -> Result<(), FileError> {
        files::write_atomic(&self.0.join("ended.json"), &files::to_json(how))
    }

    pub fn remove(&self) -> Result<(), FileError> {
        files::remove_directory(&self.0)
    }

    /// Takes the lock of the run, and says in it who has it; nothing when a process holds it.
    pub fn lock(&self) -> Result<Option<Lock>, FileError> {
        let mut lock = files::lock(&self.lock_file())?;
        if let Some(lock) = &mut lock
            && let Some(own) = host::process(std::process::id())
        {
            // A full disk does not prevent a run: the note is missing then, but never wrong.
            drop(lock.leave(&String::from_utf8_lossy(&files::to_json(&own))));
        }
        Ok(lock)
    }

    /// Whether the process that last held the lock is there. The lock itself is not tried, because whoever wants to go on with the run
    /// would find it taken.
    pub fn liveness(&self) -> Liveness {
        let note = files::read(&self.lock_file()).unwrap_or_default();
        match serde_json::from_slice(&note) {
            Ok(process) => host::liveness(&process),
            Err(_) => Liveness::Unknown,
        }
    }

    fn lock_file(&self) -> Utf8PathBuf {
        self.0.join("lock")
    }

    /// Where the output for a bead goes; ids that are no file names are written so that they are.
    pub fn bead(&self, bead: &BeadId) -> Utf8PathBuf {
        self.0.join("beads").join(file_name(bead))
    }

    pub fn attempt(&self, bead: &BeadId, attempt: u32) -> Utf8PathBuf {
        self.bead(bead).join(format!("attempt-{attempt}"))
    }
}

pub fn file_name(bead: &BeadId) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let id = bead.as_str();
    if id.len() <= 100 && id.chars().all(is_plain) && !id.starts_with('.') {
        return id.to_owned();
    }
    let plain: String = id
        .chars()
        .map(|c| if is_plain(c) { c } else { '_' })
        .take(60)
        .collect();
    let hash = digest::sha256(id.as_bytes());
    format!("_{plain}-{}", &hash[..12])
}

#[derive(Debug)]
pub struct Journal {
    file: Appender,
    seq: u64,
    death: Option<Death>,
}

impl Journal {
    pub fn create(run: &RunDirectory, head: &Head) -> Result<Self, FileError> {
        let death = Death::foretold();
        let dies = |moment| death == Some(Death { seq: 0, moment });
        if dies(Moment::Half) {
            crash_points::die();
        }
        let file = Appender::create(&run.journal(), &line(head))?;
        if dies(Moment::Written) {
            crash_points::die();
        }
        Ok(Self {
            file,
            seq: 0,
            death,
        })
    }

    /// Continues a journal; an incomplete last line is removed.
    pub fn reopen(run: &RunDirectory) -> Result<(Head, Vec<Entry>, Self), JournalError> {
        let (head, entries, length) = read(&run.journal())?;
        let file = Appender::reopen(&run.journal(), length)?;
        let seq = entries.last().map_or(0, |entry| entry.seq);
        let journal = Self {
            file,
            seq,
            death: Death::foretold(),
        };
        Ok((head, entries, journal))
    }

    pub fn next_seq(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }

    pub fn append(&mut self, entries: &[Entry]) -> Result<(), FileError> {
        let is_last = |death: &Death| entries.iter().any(|entry| entry.seq == death.seq);
        if let Some(death) = self.death.filter(is_last) {
            return self.meet(death, entries);
        }
        let bytes: Vec<u8> = entries.iter().flat_map(line).collect();
        self.file.append(&bytes)
    }

    /// Dies at an entry. What comes before it in the same step is written, as when the power fails in the middle.
    fn meet(&mut self, death: Death, entries: &[Entry]) -> Result<(), FileError> {
        if death.moment == Moment::Full {
            return Err(self.file.full());
        }
        let mut bytes = Vec::new();
        for entry in entries {
            let line = line(entry);
            let is_half = entry.seq == death.seq && death.moment == Moment::Half;
            bytes.extend(&line[..line.len() / if is_half { 2 } else { 1 }]);
            if entry.seq == death.seq && !matches!(death.moment, Moment::Begun(_)) {
                break;
            }
        }
        self.file.append(&bytes)?;
        match death.moment {
            Moment::Begun(wait) => crash_points::die_after(wait),
            Moment::Half | Moment::Written => crash_points::die(),
            Moment::Full => {}
        }
        Ok(())
    }
}

pub fn read_journal(run: &RunDirectory) -> Result<(Head, Vec<Entry>), JournalError> {
    let (head, entries, _) = read(&run.journal())?;
    Ok((head, entries))
}

fn line(value: &impl serde::Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec(value).expect("what we write can be written");
    bytes.push(b'\n');
    bytes
}

/// What a line says; the number is for people.
pub(super) fn parsed<T: DeserializeOwned>(
    line: &[u8],
    path: &Utf8Path,
    number: usize,
) -> Result<T, JournalError> {
    serde_json::from_slice(line).map_err(|why| JournalError::Line {
        path: path.to_owned(),
        line: number,
        why: why.to_string(),
    })
}

fn read(path: &Utf8Path) -> Result<(Head, Vec<Entry>, u64), JournalError> {
    let bytes = files::read(path)?;
    let whole = bytes
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |end| end + 1);
    let mut head = None;
    let mut entries = Vec::new();
    for (n, line) in bytes[..whole].split(|byte| *byte == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        if n == 0 {
            head = Some(parsed(line, path, 1)?);
        } else {
            entries.push(parsed(line, path, n + 1)?);
        }
    }
    let head = head.ok_or_else(|| JournalError::Line {
        path: path.to_owned(),
        line: 1,
        why: "it has no header".to_owned(),
    })?;
    Ok((head, entries, whole as u64))
}

//! Finding a program, and saying why it cannot be started.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::env::is_executable;

/// Where programs are when the environment does not say.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// Why a program cannot be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) reason: String,
    pub(super) is_missing: bool,
}

impl Refusal {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            is_missing: false,
        }
    }

    fn missing(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            is_missing: true,
        }
    }

    /// What the system said when it was to start a program.
    pub(super) fn of_start(program: &Path, error: &io::Error) -> Self {
        match Errno::from_io_error(error) {
            Some(Errno::NOENT) if program.exists() => {
                Self::new("the interpreter that it names does not exist")
            }
            Some(Errno::NOENT | Errno::NOTDIR) => Self::missing("it does not exist"),
            Some(Errno::ACCESS) => Self::new("it is not executable, or must not be run by us"),
            Some(Errno::NOEXEC) => {
                Self::new("it is no program: a script begins with #! and its interpreter")
            }
            Some(Errno::TOOBIG) => {
                Self::new("its arguments and environment are longer than this system allows")
            }
            _ => Self::new(error.to_string()),
        }
    }

    /// What the system said when a directory was to be entered.
    pub(super) fn of_directory(directory: &OsStr, error: &io::Error) -> Self {
        let directory = Path::new(directory).display();
        Self::new(format!("cannot run in {directory}: {error}"))
    }
}

/// Finds a program as `execvp` would, for a unit that runs in a directory with an environment: one that is named with a `/` is
/// taken as it is.
pub(super) fn locate(
    name: &OsStr,
    cwd: &Path,
    env: &[(OsString, OsString)],
) -> Result<OsString, Refusal> {
    if name.is_empty() {
        return Err(Refusal::new("there is no program to run"));
    }
    if name.as_bytes().contains(&b'/') {
        return Ok(name.to_owned());
    }
    let path = env.iter().find(|(name, _)| name == "PATH");
    let path = path.map_or(OsStr::new(DEFAULT_PATH), |(_, path)| path);
    let mut found = std::env::split_paths(path)
        .map(|directory| cwd.join(directory).join(name))
        .filter(|candidate| candidate.is_file())
        .peekable();
    let is_there = found.peek().is_some();
    let program: Option<PathBuf> = found.find(|candidate| is_executable(candidate));
    match program {
        Some(program) => Ok(program.into()),
        None if is_there => Err(Refusal::new("it is in the PATH but not executable")),
        None => Err(Refusal::missing("it is not in the PATH")),
    }
}

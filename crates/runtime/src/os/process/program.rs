//! Finding a program, and saying why it cannot be started.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use camino::Utf8Path;
use rustix::io::Errno;

use super::super::env::is_executable;
use super::super::limits;

/// Where programs are when the environment does not say.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) reason: String,
    pub(super) is_missing: bool,
    /// Whether it may well be started a little later: the system was short of something.
    pub(super) is_temporary: bool,
}

impl Refusal {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            is_missing: false,
            is_temporary: false,
        }
    }

    fn missing(reason: impl Into<String>) -> Self {
        Self {
            is_missing: true,
            ..Self::new(reason)
        }
    }

    /// What the system said when it was to start a program.
    pub(super) fn of_start(program: &Path, error: &io::Error) -> Self {
        match Errno::from_io_error(error) {
            Some(Errno::NOENT) if program.exists() => {
                Self::new("the interpreter that it names does not exist")
            }
            Some(Errno::NOENT | Errno::NOTDIR) => Self::missing("it does not exist"),
            Some(Errno::ACCESS) => Self::new("it is not executable, or permission is denied"),
            Some(Errno::NOEXEC) => {
                Self::new("it is not a program: a script must begin with #! and its interpreter")
            }
            Some(Errno::TOOBIG) => {
                Self::new("its arguments and environment are longer than this system allows")
            }
            _ => Self::of_system(limits::explain(error), error),
        }
    }

    /// What somebody says of an error of the system, which knows whether it will pass.
    pub(super) fn of_system(reason: impl Into<String>, error: &io::Error) -> Self {
        Self {
            is_temporary: is_temporary(error),
            ..Self::new(reason)
        }
    }

    /// What the system said when a directory was to be entered.
    pub(super) fn of_directory(directory: &OsStr, error: &io::Error) -> Self {
        let directory = Path::new(directory).display();
        let why = limits::explain(error);
        Self::of_system(format!("cannot run in {directory}: {why}"), error)
    }
}

/// Whether the system was short of something that it may have again soon: processes, memory, open files, or a program that nobody
/// writes to.
fn is_temporary(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::AGAIN | Errno::NOMEM | Errno::TXTBSY | Errno::MFILE | Errno::NFILE)
    )
}

/// Finds a program as `execvp` would, for a unit that runs in a directory with an environment: one that is named with a `/` is
/// taken as it is.
pub(super) fn locate(
    name: &OsStr,
    cwd: &Path,
    env: &[(OsString, OsString)],
) -> Result<OsString, Refusal> {
    if name.is_empty() {
        return Err(Refusal::new("no program given"));
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

/// Becomes another program, with this one's terminal, files and exit code. Comes back only when that cannot be.
pub fn replace_by(program: &Utf8Path, arguments: &[String]) -> io::Error {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the module that starts processes"
    )]
    Command::new(program).args(arguments).exec()
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use camino::Utf8PathBuf;

    use super::*;

    fn place(files: &[(&str, u32)]) -> (tempfile::TempDir, Utf8PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(directory.path().to_owned()).unwrap();
        for &(name, mode) in files {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            crate::os::files::write_atomic(&path, b"").unwrap();
            set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        }
        (directory, root)
    }

    fn locate_in(root: &Utf8PathBuf, name: &str, path: &str) -> Result<OsString, Refusal> {
        let env = [(OsString::from("PATH"), OsString::from(path))];
        locate(OsStr::new(name), root.as_std_path(), &env)
    }

    #[test]
    fn a_program_is_the_first_that_can_be_run() {
        let (_directory, root) = place(&[("a/tool", 0o644), ("b/tool", 0o755), ("c/tool", 0o755)]);
        let path = format!("{root}/none:{root}/a:b:{root}/c");
        let found = locate_in(&root, "tool", &path).unwrap();
        assert_eq!(
            found,
            OsString::from(root.join("b/tool")),
            "relative to where it runs"
        );
        assert_eq!(
            locate_in(&root, "a/tool", &path).unwrap(),
            "a/tool",
            "taken as it is"
        );
    }

    #[test]
    fn a_program_that_is_not_there_differs_from_one_that_cannot_be_run() {
        let (_directory, root) = place(&[("a/tool", 0o644)]);
        let refusal = locate_in(&root, "tool", "a").unwrap_err();
        assert!(!refusal.is_missing, "{}", refusal.reason);
        let refusal = locate_in(&root, "other", "a").unwrap_err();
        assert!(refusal.is_missing, "{}", refusal.reason);
        assert!(locate_in(&root, "", "a").is_err());
    }

    #[test]
    fn what_the_system_is_short_of_passes() {
        let refusal = |errno: Errno| Refusal::of_start(Path::new("/bin/sh"), &errno.into());
        for errno in [
            Errno::AGAIN,
            Errno::NOMEM,
            Errno::TXTBSY,
            Errno::MFILE,
            Errno::NFILE,
        ] {
            assert!(refusal(errno).is_temporary, "{errno}");
        }
        for errno in [Errno::NOENT, Errno::ACCESS, Errno::NOEXEC, Errno::TOOBIG] {
            assert!(!refusal(errno).is_temporary, "{errno}");
        }
    }

    #[test]
    fn without_a_path_programs_are_where_they_always_are() {
        let found = locate(OsStr::new("sh"), Path::new("/"), &[]).unwrap();
        assert!(Path::new(&found).ends_with("bin/sh"), "{}", found.display());
    }
}

//! Limits that the system sets for a process, named as what they are: files that are open, and the size of a file.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use camino::Utf8Path;
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use signal_hook::consts::SIGXFSZ;
use signal_hook::flag;

/// How many files a database opens besides others: itself, its log, the log's index, and its directory.
const N_OF_DATABASE: usize = 6;

/// How far a database may grow with one write, in bytes.
const GROWTH: u64 = 64 * 1024;

/// Lets a write that would exceed the limit of file sizes fail, so that it can be told. Without this the system ends the process.
pub fn survive() -> io::Result<()> {
    flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map(drop)
}

/// What the system said, with the limit and the way out where it is one.
pub fn explain(error: &io::Error) -> String {
    known(error).unwrap_or_else(|| error.to_string())
}

/// What the system said, without the name of a temporary file that a library puts around it. Of the number of the error only the words are
/// left then.
pub(crate) fn without_path(error: &io::Error) -> io::Error {
    let text = error.to_string();
    let number = text.split("(os error ").nth(1);
    let number = number.and_then(|rest| rest.split(')').next()?.parse().ok());
    let number = error.raw_os_error().or(number);
    number.map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)
}

fn known(error: &io::Error) -> Option<String> {
    match Errno::from_io_error(&without_path(error))? {
        Errno::MFILE => Some(too_many_files()),
        Errno::NFILE => Some(
            "too many open files on this system: close some programs, or raise fs.file-max"
                .to_owned(),
        ),
        Errno::FBIG => Some(too_large_file()),
        Errno::TOOBIG => {
            Some("the arguments of the program are too long for the system".to_owned())
        }
        _ => None,
    }
}

fn too_many_files() -> String {
    let limit = match getrlimit(Resource::Nofile).current {
        Some(limit) => format!(" (limit {limit})"),
        None => String::new(),
    };
    format!("too many open files{limit}: raise it with `ulimit -n`")
}

fn too_large_file() -> String {
    match getrlimit(Resource::Fsize).current {
        Some(limit) => format!(
            "the file would be larger than the file size limit ({limit} bytes): raise it with `ulimit -f`"
        ),
        None => "the file would be larger than the file system allows".to_owned(),
    }
}

/// The limit that keeps a database from being opened or written, if it is one. A database does not say what the system said.
pub fn in_the_way_of(database: &Utf8Path) -> Option<String> {
    let mut held = Vec::new();
    for _ in 0..N_OF_DATABASE {
        match File::open("/dev/null") {
            Ok(file) => held.push(file),
            Err(error) => return known(&error),
        }
    }
    let limit = getrlimit(Resource::Fsize).current?;
    let is_near = |end: &str| {
        let size = std::fs::metadata(format!("{database}{end}")).map_or(0, |it| it.len());
        size.saturating_add(GROWTH) > limit
    };
    ["", "-wal", "-shm", "-journal"]
        .iter()
        .any(|end| is_near(end))
        .then(too_large_file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_told_with_the_way_out() {
        let told = |errno: Errno| explain(&io::Error::from(errno));
        assert!(told(Errno::MFILE).contains("ulimit -n"));
        assert!(told(Errno::FBIG).contains("larger than the file"));
        assert!(told(Errno::TOOBIG).contains("arguments"));
        let wrapped = io::Error::other("Too many open files (os error 24) at path \"/x\"");
        let bare = without_path(&wrapped);
        assert_eq!(bare.raw_os_error(), Some(Errno::MFILE.raw_os_error()));
        assert!(!bare.to_string().contains("/x"));
        let other = io::Error::from(Errno::ACCESS);
        assert_eq!(explain(&other), other.to_string());
    }
}

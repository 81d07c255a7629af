//! Where runs of the loop keep what was written for each bead (Z-37):
//!
//! `.beads/runs/<run>/beads/<bead>/attempt-<n>/{dev,qa,verify}-<i>/` with `prompt.md`, `stdout`, `stderr` and `outcome.json`. What is
//! finished is compressed. Only the places are known here; whoever runs something writes there.

use std::fmt::Write as _;
use std::time::SystemTime;

use beads_ralph_core::bead::BeadId;
use camino::{Utf8Path, Utf8PathBuf};

/// The directory of all runs below that of the store.
pub fn directory(store: &Utf8Path) -> Utf8PathBuf {
    store.join("runs")
}

/// The directory of what one run wrote for one bead.
pub fn bead_directory(store: &Utf8Path, run: &str, bead: &BeadId) -> Utf8PathBuf {
    let beads = directory(store).join(run).join("beads");
    beads.join(encoded(bead.as_str()))
}

/// The runs that wrote something for a bead: their names and the directories. They come in no order.
pub fn of_bead(store: &Utf8Path, bead: &str) -> Vec<(String, Utf8PathBuf)> {
    let entries = directory(store).read_dir_utf8();
    let entries = entries.into_iter().flatten().flatten();
    // A link is no run, and may lead anywhere.
    let runs = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let found = runs.map(|run| {
        let path = run.path().join("beads").join(encoded(bead));
        (run.file_name().to_owned(), path)
    });
    let is_directory = |path: &Utf8Path| path.symlink_metadata().is_ok_and(|it| it.is_dir());
    found.filter(|(_, path)| is_directory(path)).collect()
}

/// When anything below a directory was last written; links are not followed.
pub fn last_written(directory: &Utf8Path) -> Option<SystemTime> {
    let mut last = directory.symlink_metadata().ok()?.modified().ok();
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        let entries = directory.read_dir_utf8().into_iter().flatten().flatten();
        for entry in entries {
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            last = last.max(metadata.modified().ok());
            if metadata.is_dir() {
                pending.push(entry.path().to_owned());
            }
        }
    }
    last
}

/// A bead's id as the name of a directory. The ids that stores take stay as they are but for `%`; nothing that
/// could lead elsewhere stays.
pub fn encoded(bead: &str) -> String {
    let mut name = String::new();
    for (at, c) in bead.chars().enumerate() {
        if matches!(c, '/' | '\\' | '%') || c.is_control() || (c == '.' && at == 0) {
            _ = write!(name, "%{:02X}", u32::from(c));
        } else {
            name.push(c);
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z_37_an_id_is_the_name_of_one_directory() {
        assert_eq!(encoded("bd-1-1-setup"), "bd-1-1-setup");
        assert_eq!(encoded("bd-1.2"), "bd-1.2");
        assert_eq!(encoded("../x"), "%2E.%2Fx");
        assert_eq!(encoded("50%"), "50%25");
        let bead = BeadId::parse("..").unwrap();
        let path = bead_directory(Utf8Path::new(".beads"), "r1", &bead);
        assert_eq!(path, ".beads/runs/r1/beads/%2E.");
    }
}

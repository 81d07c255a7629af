//! Directories to which something is added for ever, kept small.

use std::time::SystemTime;

use camino::Utf8Path;

use super::{FileError, names, remove_leftover};

/// Removes the oldest files of a directory whose names end so, until this many are left. What cannot be removed is tried again the next time.
pub fn keep_newest(directory: &Utf8Path, ending: &str, n_kept: usize) -> Result<(), FileError> {
    let names = names(directory)?.into_iter();
    let mut files: Vec<(SystemTime, String)> = names
        .filter(|name| name.ends_with(ending))
        .filter_map(|name| {
            let metadata = directory.join(&name).symlink_metadata().ok()?;
            Some((metadata.modified().ok()?, name))
        })
        .collect();
    files.sort();
    let n_old = files.len().saturating_sub(n_kept);
    for (_, name) in files.iter().take(n_old) {
        remove_leftover(&directory.join(name));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::super::write_passing;
    use super::*;

    #[test]
    fn g_8_only_the_newest_files_of_a_kind_are_kept() {
        let guard = tempfile::tempdir().unwrap();
        let directory = Utf8Path::from_path(guard.path()).unwrap();
        // The last one by name is the oldest.
        for (age, name) in ["c.json", "b.json", "a.json", "z.txt"]
            .into_iter()
            .enumerate()
        {
            let path = directory.join(name);
            write_passing(&path, b"").unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(age as u64);
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(time).unwrap();
        }
        keep_newest(directory, ".json", 2).unwrap();
        assert_eq!(names(directory).unwrap(), ["a.json", "b.json", "z.txt"]);
        keep_newest(directory, ".json", 2).unwrap();
        assert_eq!(names(directory).unwrap().len(), 3);
    }
}

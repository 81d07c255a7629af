//! Files that are kept compressed.

use std::fs;
use std::io::{self, Read as _};

use beads_ralph_core::text::Span;
use camino::{Utf8Path, Utf8PathBuf};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use super::{FileError, directory_of, open_own, read_limited, sync_directory, temporary_file};
use crate::os::limits;

const ENDING: &str = ".gz";

/// Replaces a finished file by a compressed one beside it, `<name>.gz`, whose path is given back. Until the new one is whole
/// the old one stays; so it does when it is larger than can be [read](super::read) again.
pub fn compress(path: &Utf8Path) -> Result<Utf8PathBuf, FileError> {
    let target = compressed_name(path);
    let source = open_own(path)?;
    let limit = Span::MAX_TEXT as u64;
    let too_large = || FileError::TooLarge {
        path: path.to_owned(),
    };
    // A file can be huge and have cost nothing; it can also grow while it is read.
    let length = source.metadata().map_err(FileError::io("read", path))?;
    if length.len() > limit {
        return Err(too_large());
    }
    let unnamed = |error: io::Error| FileError::io("write", &target)(limits::without_path(&error));
    let temporary = temporary_file(directory_of(&target)).map_err(unnamed)?;
    let mut encoder = GzEncoder::new(temporary, Compression::fast());
    let n_bytes = io::copy(&mut source.take(limit + 1), &mut encoder);
    if n_bytes.map_err(FileError::io("write", &target))? > limit {
        return Err(too_large());
    }
    let temporary = encoder.finish().map_err(FileError::io("write", &target))?;
    let synced = temporary.as_file().sync_all();
    synced.map_err(FileError::io("write", &target))?;
    temporary
        .persist(&target)
        .map_err(|error| FileError::io("write", &target)(error.error))?;
    sync_directory(&target);
    fs::remove_file(path).map_err(FileError::io("remove", path))?;
    Ok(target)
}

/// Whether a file is one that [`compress`] has made, by its name.
pub fn is_compressed(path: &Utf8Path) -> bool {
    path.as_str().ends_with(ENDING)
}

/// Where a file is once it is [compressed](compress).
pub fn compressed_name(path: &Utf8Path) -> Utf8PathBuf {
    Utf8PathBuf::from(format!("{path}{ENDING}"))
}

/// The name of a file before it was [compressed](compress), if it was.
pub fn plain_name(name: &str) -> &str {
    name.strip_suffix(ENDING).unwrap_or(name)
}

/// Reads a whole file in a place of ours, unpacked if it is compressed. However little room it takes, what is in it may not be
/// more than [`read`](super::read) takes.
pub fn read_kept(path: &Utf8Path) -> Result<Vec<u8>, FileError> {
    let file = open_own(path)?;
    if is_compressed(path) {
        read_limited(GzDecoder::new(file), path)
    } else {
        read_limited(file, path)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;
    use crate::os::files::tests::directory;
    use crate::os::files::{read, write_atomic};

    #[test]
    fn a_compressed_file_takes_the_place_of_the_plain_one() {
        let (_guard, path) = directory();
        let plain = path.join("stdout");
        let bytes: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        write_atomic(&plain, &bytes).unwrap();
        assert_eq!(read_kept(&plain).unwrap(), bytes);
        let compressed = compress(&plain).unwrap();
        assert_eq!(compressed, path.join("stdout.gz"));
        assert_eq!(read_kept(&compressed).unwrap(), bytes);
        assert_eq!(plain_name("stdout.gz"), "stdout");
        assert_eq!(
            fs::read_dir(&path).unwrap().count(),
            1,
            "only the new one is left"
        );
        assert!(compress(&plain).is_err());
    }

    #[test]
    fn what_is_no_file_is_not_compressed() {
        let (_guard, path) = directory();
        let (zeros, huge) = (path.join("zeros"), path.join("huge"));
        std::os::unix::fs::symlink("/dev/zero", &zeros).unwrap();
        let file = OpenOptions::new().write(true).create_new(true).open(&huge);
        file.unwrap().set_len(1 << 40).unwrap();
        for path in [zeros, huge] {
            let error = compress(&path).unwrap_err();
            let is_refused = matches!(
                error,
                FileError::NotAFile { .. } | FileError::TooLarge { .. }
            );
            assert!(is_refused, "{error}");
            assert!(fs::symlink_metadata(&path).is_ok(), "it stays");
        }
    }

    #[test]
    fn what_is_not_compressed_is_not_unpacked() {
        let (_guard, path) = directory();
        let path = path.join("stdout.gz");
        write_atomic(&path, b"plain").unwrap();
        assert!(read_kept(&path).is_err());
        assert_eq!(read(&path).unwrap(), b"plain");
    }
}

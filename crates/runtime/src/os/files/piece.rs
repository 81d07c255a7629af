//! Reading a file that somebody else is still writing, piece by piece.

use std::io::{Read as _, Seek as _, SeekFrom};

use camino::Utf8Path;

use super::{FileError, open_own};

/// How much is read at once at the most.
const MAX_PIECE: u64 = 1 << 20;

/// What a file in a place of ours holds behind an offset, up to a megabyte of it; nothing when it ends there or before.
pub fn read_piece(path: &Utf8Path, offset: u64) -> Result<Vec<u8>, FileError> {
    let mut file = open_own(path)?;
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(offset))
        .and_then(|_| file.take(MAX_PIECE).read_to_end(&mut bytes))
        .map_err(FileError::io("read", path))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::files::tests::directory;
    use crate::os::files::write_atomic;

    #[test]
    fn a_file_is_read_from_where_one_was() {
        let (_guard, path) = directory();
        let file = path.join("stdout");
        write_atomic(&file, b"one\ntwo\n").unwrap();
        assert_eq!(read_piece(&file, 0).unwrap(), b"one\ntwo\n");
        assert_eq!(read_piece(&file, 4).unwrap(), b"two\n");
        assert_eq!(read_piece(&file, 99).unwrap(), b"");
        write_atomic(&file, &vec![b'x'; 3 << 20]).unwrap();
        assert_eq!(read_piece(&file, 1).unwrap().len(), 1 << 20);
        assert!(read_piece(&path.join("absent"), 0).is_err());
    }
}

//! A copy of a bead's directory to work in, which is thrown away at the end.

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_runtime::os::files;
use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use crate::args::BeadChoice;
use crate::failure::Failure;

/// How many files a directory may have to be copied; more is no example but somebody's home.
const MAX_FILES: usize = 10_000;

/// A copy of a bead's directory.
pub(super) struct Scratch {
    root: Utf8PathBuf,
    bead: Utf8PathBuf,
    _guard: TempDir,
}

impl Scratch {
    /// Copies the directory that a bead's file is in.
    pub(super) fn copy(choice: &BeadChoice) -> Result<Self, Failure> {
        let named = choice.bead_file.clone();
        let named = named.or_else(|| choice.bead.as_deref().map(Utf8PathBuf::from));
        let file = named.filter(|path| path.is_file()).ok_or_else(|| {
            Failure::new(
                ErrorCode::IoFileNotFound,
                "--scratch needs the file of a bead",
            )
            .action("name the file, such as examples/hello/hello.json")
        })?;
        let file = file.canonicalize_utf8().map_err(failed)?;
        let directory = file.parent().unwrap_or(Utf8Path::new("/"));
        let guard = TempDir::with_prefix("beads-ralph-").map_err(failed)?;
        let root = guard.path().canonicalize().map_err(failed)?;
        let root = Utf8PathBuf::from_path_buf(root).map_err(|path| {
            let message = format!("the temporary directory {} is not UTF-8", path.display());
            Failure::new(ErrorCode::IoPermissionDenied, message)
        })?;
        if !files::copy_directory(directory, &root, MAX_FILES)? {
            let message = format!("there are more than {MAX_FILES} files beside the bead");
            return Err(Failure::new(ErrorCode::ValidationConstraint, message)
                .action("put the bead into a separate directory"));
        }
        let bead = root.join(file.file_name().unwrap_or_default());
        Ok(Self {
            root,
            bead,
            _guard: guard,
        })
    }

    pub(super) fn root(&self) -> &Utf8Path {
        &self.root
    }

    pub(super) fn bead(&self) -> &Utf8Path {
        &self.bead
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it stands where errors are mapped"
)]
fn failed(error: std::io::Error) -> Failure {
    let message = format!("cannot make a copy to work in: {error}");
    Failure::new(ErrorCode::IoPermissionDenied, message).action("check the temporary directory")
}

//! Another program in the place of this one.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use camino::Utf8Path;

/// Becomes another program, with this one's terminal, files and exit code. Comes back only when that cannot be.
pub fn replace_by(program: &Utf8Path, arguments: &[String]) -> io::Error {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the module that starts processes"
    )]
    Command::new(program).args(arguments).exec()
}

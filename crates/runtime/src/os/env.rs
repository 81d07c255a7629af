//! The environment: every variable that the program reads, and the working directory.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use camino::Utf8PathBuf;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variable {
    /// Set and not empty: no colour (see no-color.org).
    NoColor,
    /// `dumb`: a terminal that understands neither colour nor drawing.
    Term,
    /// The time, in seconds since 1970, that goes into everything that is written; for builds that must
    /// come out the same twice.
    SourceDateEpoch,
    /// The language, which tells whether the terminal takes Unicode.
    LcAll,
    /// As above, when [`Variable::LcAll`] is unset.
    LcCtype,
    /// As above, when both are unset.
    Lang,
    /// Where programs are looked for.
    Path,
    /// The user's directory, where formulas of the user are.
    Home,
    /// Where the user's programs have their settings, when that is not `~/.config`.
    ConfigHome,
    /// The `.beads` directory, when it is not to be searched for.
    BeadsDir,
    /// For the `bd` face: a path to the store, as its `--db`.
    BeadsDb,
    /// As [`Variable::BeadsDb`], by its older name.
    BdDb,
    /// Who writes, when no flag says so.
    BeadsActor,
    /// The user, when nothing else says who writes.
    User,
    /// How long to wait for other processes that keep the store, such as `5s`; 30 seconds when it is not set.
    StoreTimeout,
    /// What this store is called among its replicas: the `bd` face notes it in leases that it grants.
    BeadsNodeId,
    /// As [`Variable::BeadsNodeId`], when that is unset.
    BdNodeId,
    /// As [`Variable::BeadsActor`], by the name that older versions of `bd` knew.
    BdActor,
    /// Whose address stands in new beads, when git's settings are not to say it.
    GitAuthorEmail,
    /// `1`: the `bd` face answers under `data`, as the real `bd` will one day.
    BdJsonEnvelope,
    /// `1`: an agent reads what the `bd` face prints, and wants texts as they are.
    BdAgentMode,
    /// Set by an agent for what it starts; the same.
    ClaudeCode,
    /// The agent's session, which the `bd` face notes in what it closes.
    ClaudeSessionId,
    /// For an agent: the how-many-th attempt this is, from 1.
    Attempt,
    /// For whatever runs in a unit: the unit's mark.
    Unit,
    /// For an agent: the bead that it works on.
    Bead,
    /// For an agent: the `.beads` directory of the run that it works for, which it must not change itself (Z-18).
    Store,
    /// For a leading scrum-master: the fence under which it may write into its bead (Z-18).
    Fence,
    /// For tests: where in its journal a run kills itself.
    DieAt,
}

impl Variable {
    pub fn name(self) -> &'static str {
        match self {
            Self::NoColor => "NO_COLOR",
            Self::Term => "TERM",
            Self::SourceDateEpoch => "SOURCE_DATE_EPOCH",
            Self::LcAll => "LC_ALL",
            Self::LcCtype => "LC_CTYPE",
            Self::Lang => "LANG",
            Self::Path => "PATH",
            Self::Home => "HOME",
            Self::ConfigHome => "XDG_CONFIG_HOME",
            Self::BeadsDir => "BEADS_DIR",
            Self::BeadsDb => "BEADS_DB",
            Self::BdDb => "BD_DB",
            Self::BeadsActor => "BEADS_ACTOR",
            Self::User => "USER",
            Self::StoreTimeout => "BEADS_RALPH_STORE_TIMEOUT",
            Self::BeadsNodeId => "BEADS_NODE_ID",
            Self::BdNodeId => "BD_NODE_ID",
            Self::BdActor => "BD_ACTOR",
            Self::GitAuthorEmail => "GIT_AUTHOR_EMAIL",
            Self::BdJsonEnvelope => "BD_JSON_ENVELOPE",
            Self::BdAgentMode => "BD_AGENT_MODE",
            Self::ClaudeCode => "CLAUDE_CODE",
            Self::ClaudeSessionId => "CLAUDE_SESSION_ID",
            Self::Attempt => "BEADS_RALPH_ATTEMPT",
            Self::Unit => "BEADS_RALPH_UNIT",
            Self::Bead => "BEADS_RALPH_BEAD",
            Self::Store => "BEADS_RALPH_STORE",
            Self::Fence => "BEADS_RALPH_FENCE",
            Self::DieAt => "BEADS_RALPH_DIE_AT",
        }
    }
}

/// The value of a variable; nothing when it is unset, empty or not UTF-8.
pub fn get(variable: Variable) -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the module that reads the environment"
    )]
    let value = std::env::var(variable.name());
    value.ok().filter(|value| !value.is_empty())
}

/// The command line's arguments, without those that are not UTF-8.
pub fn arguments() -> impl Iterator<Item = String> {
    std::env::args_os()
        .skip(1)
        .filter_map(|argument| argument.into_string().ok())
}

pub fn first_argument() -> Option<OsString> {
    std::env::args_os().nth(1)
}

/// Everything that a program started by us would inherit.
pub fn inherited() -> impl Iterator<Item = (OsString, OsString)> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the module that reads the environment"
    )]
    std::env::vars_os()
}

/// A path to this very program. On Linux it stays that of the program that runs, also when another file takes its place.
pub fn own_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        return Ok(PathBuf::from("/proc/self/exe"));
    }
    std::env::current_exe()
}

/// The path of this program's file, for links to it; nothing when it is gone or not UTF-8.
pub fn own_path() -> Option<Utf8PathBuf> {
    let path = std::env::current_exe().ok()?;
    Utf8PathBuf::from_path_buf(path)
        .ok()
        .filter(|path| path.is_file())
}

/// The name that the program was called by, without its path and its ending.
pub fn program_name() -> Option<String> {
    let program = std::env::args_os().next()?;
    let path = Path::new(&program);
    Some(path.file_stem()?.to_str()?.to_owned())
}

/// The working directory; nothing when it is gone or not UTF-8.
pub fn current_dir() -> Option<Utf8PathBuf> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the module that reads the environment"
    )]
    let directory = std::env::current_dir();
    directory
        .ok()
        .and_then(|directory| Utf8PathBuf::from_path_buf(directory).ok())
}

/// Where a program is, by the `PATH`. This very program under another name, by a link of either kind, is passed over,
/// so that it is never taken for another one (Z-26).
pub fn find_program(name: &str) -> Option<Utf8PathBuf> {
    find_programs(name).into_iter().next()
}

/// All programs of a name, in the order of the `PATH`, but for this very one.
pub fn find_programs(name: &str) -> Vec<Utf8PathBuf> {
    let own = std::env::current_exe().ok();
    let path = get(Variable::Path).unwrap_or_default();
    std::env::split_paths(&path)
        .filter_map(|directory| Utf8PathBuf::from_path_buf(directory.join(name)).ok())
        .filter(|candidate| {
            let is_own = (own.as_ref()).is_some_and(|own| is_same(own, candidate.as_std_path()));
            is_executable(candidate.as_std_path()) && !is_own
        })
        .collect()
}

fn is_same(one: &Path, other: &Path) -> bool {
    let is_same_path = match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    };
    is_same_path || is_same_inode(one, other)
}

#[cfg(unix)]
fn is_same_inode(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (std::fs::metadata(one), std::fs::metadata(other)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_same_inode(_: &Path, _: &Path) -> bool {
    false
}

#[cfg(unix)]
pub(crate) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata = std::fs::metadata(path);
    metadata.is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
pub(crate) fn is_executable(path: &Path) -> bool {
    path.is_file()
}

/// Whether the locale says UTF-8; an unset locale is taken to.
pub fn is_unicode() -> bool {
    let locale = [Variable::LcAll, Variable::LcCtype, Variable::Lang]
        .into_iter()
        .find_map(get);
    locale.is_none_or(|locale| {
        let locale = locale.to_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

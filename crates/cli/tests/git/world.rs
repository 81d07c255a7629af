//! A repository for a test, and plain git to look at it with.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::engine::CommitId;
use beads_ralph_runtime::git::{Git, Settings};
use beads_ralph_runtime::os::files;
use beads_ralph_runtime::os::process::Units;
use beads_ralph_runtime::ports::{Origin, Place, Prepared, Repository as _, Wanted};
use camino::{Utf8Path, Utf8PathBuf};

/// Settings with which a lock is old soon: the tests beside this one run git all the time, and each could be its owner.
pub(crate) fn soon() -> Settings {
    Settings {
        stale_lock: Duration::from_secs(1),
        ..Settings::default()
    }
}

/// A repository with a dirty main checkout.
pub(crate) struct World {
    _directory: tempfile::TempDir,
    /// Where everything is.
    pub(crate) base: Utf8PathBuf,
    /// The main checkout.
    pub(crate) root: Utf8PathBuf,
    pub(crate) git: Git,
    look: Vec<u8>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(Settings::default(), |_| {})
    }

    /// A world that is changed before anybody opens it.
    pub(crate) fn with(settings: Settings, change: impl FnOnce(&Utf8Path)) -> Self {
        let directory = beads_ralph_testkit::scratch();
        let base = directory.path().canonicalize().unwrap();
        let base = Utf8PathBuf::from_path_buf(base).unwrap();
        let root = base.join("my répo");
        files::create_directory(&root).unwrap();
        git(&root, &["init", "--quiet", "-b", "main"]);
        git(&root, &["config", "user.name", "Ann Ünger"]);
        git(&root, &["config", "user.email", "ann@example.org"]);
        write(&root.join("shared.txt"), "one\ntwo\nthree\n");
        write(&root.join("other.txt"), "other\n");
        write(&root.join(".gitignore"), "ignored/\n");
        git(&root, &["add", "--all"]);
        git(&root, &["commit", "--quiet", "-m", "first"]);
        write(&root.join("other.txt"), "changed by the user\n");
        write(&root.join("staged.txt"), "staged by the user\n");
        git(&root, &["add", "staged.txt"]);
        write(&root.join("untracked.txt"), "not for git\n");
        change(&root);
        let git = open(&root, settings);
        let look = look(&root);
        Self {
            _directory: directory,
            base,
            root,
            git,
            look,
        }
    }

    /// The same repository as another orchestrator opens it.
    pub(crate) fn again(&self) -> Git {
        open(&self.root, Settings::default())
    }

    /// The same, with other settings.
    pub(crate) fn again_with(&self, settings: Settings) -> Git {
        open(&self.root, settings)
    }

    /// Takes what the main checkout looks like now for what it should.
    pub(crate) fn settle(&mut self) {
        self.look = look(&self.root);
    }

    /// The main checkout must be as it was, right now.
    #[track_caller]
    pub(crate) fn check_same(&self) {
        assert!(
            look(&self.root) == self.look,
            "the main checkout was changed"
        );
    }

    pub(crate) fn place(&self, name: &str) -> Place {
        Place {
            bead: BeadId::parse(&format!("bd-{name}")).unwrap(),
            branch: format!("feature/{name}"),
            worktree: self.base.join("wörk trees").join(name),
        }
    }

    /// Makes a worktree ready that nothing is in the way of.
    #[track_caller]
    pub(crate) fn prepare(&self, name: &str, wanted: &[&CommitId]) -> (Place, Prepared) {
        let place = self.place(name);
        let prepared = self.git.prepare(&place, &origin(wanted)).unwrap();
        (place, prepared)
    }

    /// A bead whose work changes one file.
    #[track_caller]
    pub(crate) fn worked(&self, name: &str, file: &str, text: &str) -> (Place, CommitId) {
        let (place, prepared) = self.prepare(name, &[]);
        write(&place.worktree.join(file), text);
        let sealed = self.git.seal(&place, &prepared.head, name).unwrap();
        (place, sealed.commit)
    }

    /// A worktree with a conflict in `shared.txt`, and what its prepare answered. `feature/ours` and `feature/theirs` do not agree.
    #[track_caller]
    pub(crate) fn conflict(&self) -> (Place, Origin, Prepared) {
        let (_, ours) = self.worked("ours", "shared.txt", "one\nours\nthree\n");
        let (_, theirs) = self.worked("theirs", "shared.txt", "one\ntheirs\nthree\n");
        let place = self.place("both");
        let origin = origin(&[&ours, &theirs]);
        let prepared = self.git.prepare(&place, &origin).unwrap();
        assert_eq!(prepared.conflicts, ["shared.txt"]);
        (place, origin, prepared)
    }

    /// What git says in the repository.
    #[track_caller]
    pub(crate) fn ask(&self, arguments: &[&str]) -> String {
        git(&self.root, arguments)
    }

    #[track_caller]
    pub(crate) fn commit_of(&self, name: &str) -> CommitId {
        CommitId(self.ask(&["rev-parse", "--verify", name]))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(
                look(&self.root) == self.look,
                "the main checkout was changed"
            );
        }
    }
}

/// Everything about a main checkout that must stay: its index to the byte, its HEAD, its files.
fn look(root: &Utf8Path) -> Vec<u8> {
    let dot = root.join(".git");
    let mut look = std::fs::read(dot.join("index")).unwrap_or_default();
    for name in [
        "HEAD",
        "ORIG_HEAD",
        "MERGE_HEAD",
        "FETCH_HEAD",
        "info/exclude",
        "config",
    ] {
        look.extend(std::fs::read(dot.join(name)).unwrap_or_default());
        look.push(0);
    }
    let status = [
        "--no-optional-locks",
        "status",
        "--porcelain=v2",
        "-z",
        "--branch",
    ];
    look.extend(git(root, &status).into_bytes());
    for name in ["shared.txt", "other.txt", "staged.txt", "untracked.txt"] {
        look.extend(std::fs::read(root.join(name)).unwrap_or_default());
    }
    look
}

fn open(root: &Utf8Path, settings: Settings) -> Git {
    let units = Units::with_shim(env!("CARGO_BIN_EXE_beads-ralph"));
    Git::open(Arc::new(units), root, settings).unwrap()
}

/// From `main`, with these merged in.
pub(crate) fn origin(wanted: &[&CommitId]) -> Origin {
    let wanted = wanted.iter().enumerate().map(|(number, &commit)| Wanted {
        name: format!("bd-wanted-{number}"),
        commit: commit.clone(),
    });
    Origin {
        source: "main".to_owned(),
        wanted: wanted.collect(),
    }
}

/// Runs git, which must succeed.
#[track_caller]
pub(crate) fn git(cwd: &Utf8Path, arguments: &[&str]) -> String {
    let (is_ok, said) = try_git(cwd, arguments);
    assert!(is_ok, "git {arguments:?}: {said}");
    said
}

/// Runs git with more in its environment, and it must succeed.
#[track_caller]
pub(crate) fn git_with(cwd: &Utf8Path, env: &[(&str, &str)], arguments: &[&str]) {
    let (is_ok, said) = try_git_with(cwd, env, arguments);
    assert!(is_ok, "git {arguments:?}: {said}");
}

/// Runs git, and says whether it succeeded.
pub(crate) fn try_git(cwd: &Utf8Path, arguments: &[&str]) -> (bool, String) {
    try_git_with(cwd, &[], arguments)
}

fn try_git_with(cwd: &Utf8Path, env: &[(&str, &str)], arguments: &[&str]) -> (bool, String) {
    #[expect(clippy::disallowed_methods, reason = "tests look at git with git")]
    let mut command = Command::new("git");
    let output = command
        .current_dir(cwd)
        .args([
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "commit.gpgSign=false",
        ])
        .args(arguments)
        .env("LC_ALL", "C")
        .env_remove("GIT_DIR")
        .envs(env.iter().copied())
        .output()
        .unwrap();
    let said = [
        output.stdout,
        if output.status.success() {
            Vec::new()
        } else {
            output.stderr
        },
    ]
    .concat();
    (
        output.status.success(),
        String::from_utf8_lossy(&said).trim_end().to_owned(),
    )
}

/// The git directory of a worktree.
pub(crate) fn git_of(place: &Place) -> Utf8PathBuf {
    git(&place.worktree, &["rev-parse", "--absolute-git-dir"]).into()
}

/// What the program keeps of a worktree.
pub(crate) fn own_of(place: &Place) -> Utf8PathBuf {
    let git = git_of(place);
    let common = git.parent().and_then(Utf8Path::parent).unwrap();
    common
        .join("beads-ralph/worktrees")
        .join(git.file_name().unwrap())
}

/// Writes a file, with the directories above it.
#[track_caller]
pub(crate) fn write(path: &Utf8Path, text: &str) {
    files::create_directory(path.parent().unwrap()).unwrap();
    files::write_atomic(path, text.as_bytes()).unwrap();
}

#[track_caller]
pub(crate) fn read(path: &Utf8Path) -> String {
    match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => panic!("{path}: {error}"),
    }
}

/// Commits everything as an agent would.
#[track_caller]
pub(crate) fn commit_all(worktree: &Utf8Path, message: &str) -> CommitId {
    git(worktree, &["add", "--all"]);
    git(worktree, &["commit", "--quiet", "-m", message]);
    CommitId(git(worktree, &["rev-parse", "HEAD"]))
}

/// Writes a hook that says so and fails.
pub(crate) fn failing_hook(root: &Utf8Path, name: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = root.join(".git/hooks").join(name);
    write(&path, "#!/bin/sh\necho the hook $0 refuses >&2\nexit 1\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

//! A database of the real `bd` for each test, copied from one that was made once.

use std::process::{Command, Output};
use std::sync::{Arc, OnceLock};

use beads_ralph_runtime::os::files;
use beads_ralph_runtime::os::process::Units;
use beads_ralph_runtime::store::{BdStore, Options};
use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

/// The program that `scripts/real-tools bd` builds.
pub(crate) fn program() -> Utf8PathBuf {
    let path = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/real/bin/bd");
    assert!(
        path.exists(),
        "run `scripts/real-tools bd` first: there is no {path}"
    );
    path.canonicalize_utf8().unwrap()
}

/// A repository whose beads the real `bd` keeps.
pub(crate) struct World {
    root: Utf8PathBuf,
    _guard: TempDir,
}

fn temporary() -> (Utf8PathBuf, TempDir) {
    let guard = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let base = Utf8PathBuf::from_path_buf(guard.path().canonicalize().unwrap()).unwrap();
    // What a run makes beside the repository goes with it.
    let root = base.join("work");
    std::fs::create_dir(&root).unwrap();
    (root, guard)
}

/// A database without beads: making one takes seconds, copying one does not.
fn template() -> &'static World {
    static TEMPLATE: OnceLock<World> = OnceLock::new();
    TEMPLATE.get_or_init(|| {
        let (root, guard) = temporary();
        let world = World {
            root,
            _guard: guard,
        };
        for words in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["config", "user.name", "Test"],
            &["config", "user.email", "test@example.org"],
            &["commit", "--quiet", "--allow-empty", "--message=start"],
        ] {
            world.succeed("git", words);
        }
        let init = [
            "init",
            "--non-interactive",
            "--prefix=tt",
            "--skip-hooks",
            "--skip-agents",
        ];
        world.bd(&init);
        // What is known of the program is copied too.
        drop(world.store());
        world
    })
}

impl World {
    /// A new repository with a database of the real `bd`.
    pub(crate) fn new() -> Self {
        let (root, guard) = temporary();
        let world = Self {
            root,
            _guard: guard,
        };
        let template = template().root.join(".");
        world.succeed("cp", &["-a", template.as_str(), world.root.as_str()]);
        world
    }

    pub(crate) fn root(&self) -> &Utf8Path {
        &self.root
    }

    /// The store of this repository, as our own program opens it.
    pub(crate) fn store(&self) -> BdStore {
        let units = Arc::new(Units::with_shim(env!("CARGO_BIN_EXE_beads-ralph")));
        let beads = self.root.join(".beads");
        BdStore::open_with(&[program()], &beads, &units, Options::default()).unwrap()
    }

    /// What a program answers in this repository. The real `bd` comes first in its `PATH`.
    pub(crate) fn run(&self, program: &str, words: &[&str]) -> Output {
        self.command(program, words).output().unwrap()
    }

    pub(crate) fn command(&self, program: &str, words: &[&str]) -> Command {
        let tools = self::program();
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", tools.parent().unwrap());
        #[expect(clippy::disallowed_methods, reason = "the tests start programs")]
        let mut command = Command::new(program);
        command
            .args(words)
            .current_dir(&self.root)
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.root.as_str())
            .env("BD_DISABLE_METRICS", "1")
            .env("BEADS_ACTOR", "tester")
            .env("LANG", "C.UTF-8");
        command
    }

    #[track_caller]
    fn succeed(&self, program: &str, words: &[&str]) -> String {
        let output = self.run(program, words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {words:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What git prints.
    #[track_caller]
    pub(crate) fn git(&self, words: &[&str]) -> String {
        self.succeed("git", words)
    }

    /// Writes a file of the repository.
    #[track_caller]
    pub(crate) fn write(&self, name: &str, text: &str) {
        files::write_atomic(&self.root.join(name), text.as_bytes()).unwrap();
    }

    /// What the real `bd` prints.
    #[track_caller]
    pub(crate) fn bd(&self, words: &[&str]) -> String {
        self.succeed(program().as_str(), words)
    }

    /// What our program prints.
    #[track_caller]
    pub(crate) fn ralph(&self, words: &[&str]) -> String {
        self.succeed(env!("CARGO_BIN_EXE_beads-ralph"), words)
    }
}

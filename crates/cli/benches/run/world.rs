//! A repository to work in, and beads that are hardly any work.

use std::process::{Command, Stdio};

use beads_ralph_core::bead::{BeadId, BeadShape, BranchName, RalphBead, Timestamp};
use beads_ralph_core::compile::{
    AgentCatalog, AgentCheck, CompileSettings, KnownIds, MergeDetection, build,
};
use beads_ralph_core::issue::Entry;
use beads_ralph_core::plan::{Filter, parse};
use beads_ralph_runtime::os::files;
use beads_ralph_runtime::store::{Stamp, Write, init};
use camino::Utf8PathBuf;
use serde_json::json;

/// How many files the repository has: few, so that what git does with them does not hide what we do.
const N_FILES: usize = 20;

/// What both agents do, for `sh -c`: the developer commits a file, the judge says yes.
pub(crate) const AGENT: &str = r#"case $BEADS_RALPH_ROLE in
dev) echo "$BEADS_RALPH_BEAD" >"$BEADS_RALPH_BEAD.txt" && git add . && git commit --quiet --message "$BEADS_RALPH_BEAD" ;;
*) echo '{"status": "pass", "message": "It is there."}' ;;
esac"#;

/// What is checked.
pub(crate) const CHECK: &str = "test -f README.md";

/// The branch that work is merged into.
pub(crate) const TARGET: &str = "ralph/plan";

const PLAN: &str = "### Sprint 1.1: Hardly any work

**Worktree**: `../worktrees/work`
**Branch**: `work`
**Source Branch**: `main`

**Dev Agents**:
- `claude` (sonnet) - Write the file

**QA Agents**:
- `claude` (haiku) - Look whether the file is there

**Tasks**:
- Write the file

**Acceptance Criteria**:
- The file is there
";

/// How beads depend on each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// None waits for another.
    Independent,
    /// Each waits for the one before.
    Chain,
}

/// What becomes of verified work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Integration {
    /// It stays on its branch.
    None,
    /// It is merged into the target.
    Merge,
}

impl Integration {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Merge => "merge",
        }
    }
}

/// A task: so many beads, so many at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) n_beads: usize,
    pub(crate) at_once: usize,
    pub(crate) shape: Shape,
    pub(crate) integration: Integration,
}

/// A directory with a repository, thrown away in the end.
pub(crate) struct World {
    _directory: tempfile::TempDir,
    /// The repository.
    pub(crate) root: Utf8PathBuf,
    /// Where output is kept.
    pub(crate) logs: Utf8PathBuf,
}

impl World {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("there is room for temporary files");
        let above = Utf8PathBuf::from_path_buf(directory.path().to_owned()).expect("a plain path");
        let world = Self {
            root: above.join("repository"),
            logs: above.join("logs"),
            _directory: directory,
        };
        for path in [&world.root, &world.logs] {
            files::create_directory(path).expect("a new directory");
        }
        world.write("README.md", "A repository to measure with.\n");
        for number in 1..N_FILES {
            let text = format!("file {number}\n").repeat(50);
            world.write(&format!("file-{number}.txt"), &text);
        }
        world.write(".gitignore", ".beads/\nbeads-ralph.yaml\n");
        for arguments in [
            ["init", "--quiet", "--initial-branch=main"].as_slice(),
            &["config", "user.name", "Bench"],
            &["config", "user.email", "bench@example.com"],
            &["config", "gc.auto", "0"],
            &["add", "."],
            &["commit", "--quiet", "--message=All of it"],
        ] {
            world.git(arguments);
        }
        world
    }

    fn write(&self, name: &str, text: &str) {
        files::write_atomic(&self.root.join(name), text.as_bytes()).expect("a file");
    }

    /// The worktree of a bead.
    pub(crate) fn worktree(&self, number: usize) -> Utf8PathBuf {
        self.root.with_file_name("worktrees").join(branch(number))
    }

    /// Puts beads into a store, as `plan apply` would, and configures what works on them.
    pub(crate) fn with_beads(self, load: &Load) -> Self {
        let config = json!({
            "permissions": "bypass",
            "agents": {"default": "noop", "adapters": {
                "noop": {"kind": "command", "executable": "/bin/sh", "options": ["-c", AGENT]},
            }},
            "integration": {"target": TARGET},
            "disk": {"check_before_start": false},
            "verify": {"default": [CHECK]},
        });
        self.write("beads-ralph.yaml", &config.to_string());
        let model = bead();
        let writes = (0..load.n_beads).map(|number| {
            let entry =
                Entry::from_document(like(&model, number, load.shape).to_document(BeadShape::Both));
            Write::Insert(Box::new(entry.expect("a bead is an issue")))
        });
        let mut store = init(&self.root).expect("a new store").store;
        let by = Stamp {
            actor: "bench",
            at: jiff::Timestamp::from_second(1_790_000_000).expect("a time"),
        };
        let written = store.write(&writes.collect::<Vec<_>>(), by);
        written.expect("the beads are new");
        self
    }

    /// Calls git, and gives what it says.
    #[expect(
        clippy::disallowed_methods,
        reason = "a benchmark makes what it measures with"
    )]
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(&self.root);
        let output = command.stdin(Stdio::null()).output().expect("git starts");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// That all of the work was done: what was measured is worth nothing otherwise.
    pub(crate) fn check(&self, load: &Load) {
        let kept = self.git(&["for-each-ref", "--format=x", "refs/beads-ralph/*/verified"]);
        assert_eq!(kept.lines().count(), load.n_beads, "every bead is verified");
        if load.integration == Integration::Merge {
            let files = self.git(&["ls-tree", "--name-only", TARGET]);
            let made = files.lines().filter(|name| name.starts_with("bd-"));
            assert_eq!(made.count(), load.n_beads, "every bead is merged");
        }
        if load.shape == Shape::Chain {
            let last = format!("refs/heads/{}", branch(load.n_beads - 1));
            let files = self.git(&["ls-tree", "--name-only", &last]);
            let made = files.lines().filter(|name| name.starts_with("bd-"));
            assert_eq!(made.count(), load.n_beads, "each has what came before");
        }
    }
}

/// The id of a bead.
pub(crate) fn id(number: usize) -> String {
    format!("bd-{number:04}")
}

/// The branch of a bead.
pub(crate) fn branch(number: usize) -> String {
    format!("work/{number:04}")
}

/// The only bead of a plan.
fn bead() -> RalphBead {
    let agents = AgentCatalog::default();
    let settings = CompileSettings {
        plan_file: "plan.md",
        text: None,
        rig: "beads-ralph",
        now: Timestamp::parse("2026-11-15T00:00:00Z").expect("a time"),
        agents: &agents,
        agent_check: AgentCheck::Off,
        merge_detection: MergeDetection::Both,
        skip_completed: false,
        has_default_check: true,
        require_machine_check: false,
        known_ids: KnownIds::new(),
        formula_sprints: beads_ralph_core::compile::FormulaSprints::Ordinary,
    };
    let built = build(&parse(PLAN), &Filter::default(), &settings);
    built.expect("a plan without errors").beads.remove(0)
}

/// The same with another id, branch and worktree.
fn like(model: &RalphBead, number: usize, shape: Shape) -> RalphBead {
    let parse = |number: usize| BeadId::parse(&id(number)).expect("an id");
    let mut bead = model.clone();
    bead.id = parse(number);
    bead.metadata.branch = BranchName::parse(&branch(number)).expect("a branch");
    bead.metadata.worktree_path = format!("../worktrees/{}", branch(number));
    if shape == Shape::Chain && number > 0 {
        bead.dependencies = vec![parse(number - 1)];
    }
    bead
}

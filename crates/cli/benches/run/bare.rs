//! The bare side: the same calls of git, agents and checks, made by as many threads as there may be beads at once.
//!
//! It keeps no store, no journal and no record, has no deadlines, and asks git only what a careful script must know. What is wrong
//! ends it.

use std::fs::File;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use beads_ralph_runtime::os::files;
use camino::Utf8Path;

use crate::timed;
use crate::world::{AGENT, CHECK, Integration, Load, Shape, TARGET, World, branch, id};

/// Works on all beads; the time that it took.
pub(crate) fn run(world: &World, load: &Load, path: &str) -> Duration {
    let script = Script {
        world,
        load,
        path,
        verified: Mutex::new(vec![String::new(); load.n_beads]),
        adding: Mutex::new(()),
        merging: Mutex::new(()),
    };
    let next = AtomicUsize::new(0);
    let work = || {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        for number in numbers.take_while(|&number| number < load.n_beads) {
            script.bead(number);
        }
    };
    let at_once = match load.shape {
        Shape::Independent => load.at_once,
        Shape::Chain => 1,
    };
    let ((), time) = timed(|| {
        std::thread::scope(|scope| {
            for _ in 0..at_once {
                scope.spawn(work);
            }
        });
    });
    time
}

/// What a careful script does.
struct Script<'a> {
    world: &'a World,
    load: &'a Load,
    /// Where programs are.
    path: &'a str,
    /// The commits that passed.
    verified: Mutex<Vec<String>>,
    /// One worktree at a time: git does not stand two who add one.
    adding: Mutex<()>,
    /// One merge at a time.
    merging: Mutex<()>,
}

impl Script<'_> {
    /// From nothing to a verified commit, and to its merge.
    fn bead(&self, number: usize) {
        let place = self.world.worktree(number);
        let (branch, root) = (branch(number), self.world.root.as_path());
        let base = self.git(root, &["rev-parse", "--verify", "refs/heads/main"]);
        self.add(&place, &branch, &base);
        if let Some(before) = self.before(number) {
            self.git(&place, &["merge", "--quiet", "--ff", "--no-edit", &before]);
        }
        self.shell(number, &place, "dev", AGENT, &prompt(number, ""));
        let (commit, is_clean) = self.state(&place);
        assert!(is_clean, "the developer has committed everything");
        let without = format!("^{base}");
        let history = ["log", "--format=%H %T %P", "HEAD", &without, "--"];
        let history = self.git(&place, &history);
        assert!(history.contains(&base), "the work goes on from its base");
        let differ = ["diff-tree", "-r", "--name-only", &base, &commit];
        let changed = self.git(root, &differ);
        assert!(!changed.is_empty(), "something was done");
        let verdict = self.shell(number, &place, "qa", AGENT, &prompt(number, &changed));
        assert!(verdict.contains("\"pass\""), "the judge says yes");
        let unchanged = (commit.clone(), true);
        assert_eq!(self.state(&place), unchanged, "the judge changed nothing");
        assert_eq!(self.state(&place), unchanged, "nor did anybody else");
        self.shell(number, &place, "check", CHECK, "");
        assert_eq!(self.state(&place), unchanged, "the check changed nothing");
        let kept = format!("refs/beads-ralph/{}/verified", id(number));
        self.git(root, &["update-ref", &kept, &commit]);
        self.verified.lock().expect("nobody panics")[number].clone_from(&commit);
        if self.load.integration == Integration::Merge {
            self.merge(number, &commit, &base);
        }
    }

    fn add(&self, place: &Utf8Path, branch: &str, base: &str) {
        let _turn = self.adding.lock().expect("nobody panics");
        let add = ["worktree", "add", "--quiet", "--no-track", "-b", branch];
        let all = [&add[..], &[place.as_str(), base]].concat();
        self.git(&self.world.root, &all);
    }

    /// Merges without a checkout, and moves the target only if it is where it was.
    fn merge(&self, number: usize, commit: &str, base: &str) {
        let _turn = self.merging.lock().expect("nobody panics");
        let root = self.world.root.as_path();
        let target = format!("refs/heads/{TARGET}");
        let format = "--format=%(objectname)";
        let found = self.git(root, &["for-each-ref", format, &target]);
        let (head, old) = match found.as_str() {
            "" => (base, "0".repeat(base.len())),
            head => (head, head.to_owned()),
        };
        let tree = self.git(root, &["merge-tree", "--write-tree", head, commit]);
        let message = format!("Merge {}", id(number));
        let make = ["commit-tree", &tree, "-p", head, "-p", commit];
        let merge = self.git(root, &[&make[..], &["-m", &message]].concat());
        self.git(root, &["update-ref", &target, &merge, &old]);
    }

    /// The work that a bead waited for.
    fn before(&self, number: usize) -> Option<String> {
        if self.load.shape == Shape::Independent || number == 0 {
            return None;
        }
        Some(self.verified.lock().expect("nobody panics")[number - 1].clone())
    }

    /// What is checked out, and whether that is all.
    fn state(&self, place: &Utf8Path) -> (String, bool) {
        let look = [
            "status",
            "--porcelain=v2",
            "--branch",
            "--untracked-files=all",
        ];
        let status = self.git(place, &look);
        let mut lines = status.lines();
        let commit = lines.find_map(|line| line.strip_prefix("# branch.oid "));
        let is_clean = lines.all(|line| line.starts_with('#'));
        (commit.expect("there is a commit").to_owned(), is_clean)
    }

    fn git(&self, place: &Utf8Path, arguments: &[&str]) -> String {
        let mut command = self.command("git", place);
        let output = command.args(arguments).stdin(Stdio::null()).output();
        let output = output.expect("git starts");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Runs a command line with its prompt on standard input, and keeps in files what it was asked and what it says.
    fn shell(
        &self,
        number: usize,
        place: &Utf8Path,
        part: &str,
        text: &str,
        prompt: &str,
    ) -> String {
        let log = |name: &str| {
            self.world
                .logs
                .join(format!("{}-{part}-{name}", id(number)))
        };
        let (asked, said, errors) = (log("prompt"), log("stdout"), log("stderr"));
        let stream = |path: &Utf8Path| files::stream_into(path).expect("a new file");
        std::io::Write::write_all(&mut stream(&asked), prompt.as_bytes()).expect("there is room");
        let mut command = self.command("/bin/sh", place);
        command
            .args(["-c", text])
            .env("BEADS_RALPH_BEAD", id(number))
            .env("BEADS_RALPH_ROLE", part)
            .stdin(File::open(&asked).expect("it was written"))
            .stdout(stream(&said))
            .stderr(stream(&errors));
        assert!(command.status().expect("it starts").success(), "{part}");
        String::from_utf8_lossy(&files::read(&said).expect("it was written")).into_owned()
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is what the loop is compared with"
    )]
    fn command(&self, program: &str, place: &Utf8Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(place).env("PATH", self.path);
        command
    }
}

fn prompt(number: usize, changed: &str) -> String {
    format!("# {}\n\nDo what there is to do.\n\n{changed}\n", id(number))
}

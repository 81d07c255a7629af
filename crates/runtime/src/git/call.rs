//! Calling git: always the same way, whatever the user has set.
//!
//! Git never asks anybody, speaks English, runs none of the user's hooks unless a call asks for them, signs nothing and starts nothing
//! in the background. Every call has a limit, and its answer is whole or an error.
//!
//! A call in a repository names its directories and reads the user's settings from our [`View`], so that nothing that an agent wrote
//! into a git directory leads it elsewhere or starts anything.

use std::collections::{BTreeMap, HashMap};
use std::ops::Deref;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use beads_ralph_core::engine::{Lasting, Trouble};
use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use super::guard::Guard;
use super::index::recognised;
use super::site::Linked;
use super::view::View;
use super::{Settings, errors, locks};
use crate::os::files;
use crate::os::process::{
    Cancel, Captured, Ending, Environment, Limits, Mark, Silent, Spec, Stdin, Stopped, UnitError,
    Units,
};

const LOCAL_LIMIT: Duration = Duration::from_mins(10);

/// What the user may have set and we cannot use.
const SETTINGS: [&str; 19] = [
    // A file system monitor and maintenance would go on behind our back.
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "commit.gpgSign=false",
    "merge.verifySignatures=false",
    "rerere.enabled=false",
    // What a file is compared by, and what is remembered of it.
    "core.trustctime=true",
    "core.checkStat=default",
    "core.ignoreStat=false",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    // A cache of the history that anybody can write.
    "core.commitGraph=false",
    // Line ends are changed as the user wants, but none of it is an error.
    "core.safecrlf=false",
    "core.pager=cat",
    "advice.addEmbeddedRepo=false",
    "advice.detachedHead=false",
    "submodule.recurse=false",
    // Others change refs at the same time; git is to wait for them itself.
    "core.filesRefLockTimeout=3000",
    "core.packedRefsTimeout=5000",
];

/// What keeps the user's hooks from running: they may refuse what an agent commits, but not what we do.
const NO_HOOKS: &str = "core.hooksPath=/dev/null";

/// Variables that change what our arguments mean.
const WITHHELD: [&str; 6] = [
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_EXTERNAL_DIFF",
    "GIT_MERGE_VERBOSITY",
];

/// How git is called in one repository. What starts it is owned or borrowed.
#[derive(Debug)]
pub(super) struct Caller<U> {
    units: U,
    repository: Option<Known>,
}

#[derive(Debug)]
struct Known {
    root: Utf8PathBuf,
    common: Utf8PathBuf,
    view: View,
    guard: Guard,
    /// Names of variables that what git starts must not have.
    withheld: Vec<String>,
    stale_lock: Duration,
    /// What our files about worktrees looked like when we had last written them.
    written: Mutex<HashMap<Utf8PathBuf, Option<String>>>,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum At<'a> {
    /// Those of the repository.
    Repository,
    /// Those that git finds.
    Elsewhere,
    /// Those of the repository, and all of its worktrees as they are. Only for what starts nothing and looks at no file.
    Worktrees,
    /// Those of a worktree, with the index that is ours.
    Inside(&'a Linked),
    /// Those of a worktree, with the index that whoever works there has.
    Theirs(&'a Linked),
    /// A repository inside a worktree: its git directory.
    Module(&'a Utf8Path),
}

#[derive(Debug, Clone)]
pub(super) struct Call<'a> {
    pub cwd: &'a Utf8Path,
    /// The arguments, with git's own options before the command.
    pub arguments: Vec<&'a str>,
    pub limit: Duration,
    pub env: BTreeMap<String, String>,
    pub input: Option<&'a Utf8Path>,
    pub has_hooks: bool,
    /// Whether it speaks to a remote, for which it may need what is withheld from everything else.
    pub is_remote: bool,
    /// How long trouble lasts of which nothing else is known.
    pub lasting: Lasting,
    pub at: At<'a>,
}

impl<'a> Call<'a> {
    pub(super) fn new(cwd: &'a Utf8Path, arguments: &[&'a str]) -> Self {
        Self {
            is_remote: false,
            at: At::Repository,
            cwd,
            arguments: arguments.to_vec(),
            limit: LOCAL_LIMIT,
            env: BTreeMap::new(),
            input: None,
            has_hooks: false,
            lasting: Lasting::ForBead,
        }
    }

    pub(super) fn inside(linked: &'a Linked, arguments: &[&'a str]) -> Self {
        Self {
            at: At::Inside(linked),
            ..Self::new(&linked.path, arguments)
        }
    }

    /// In a worktree, with the index of whoever works there. It says what they did, and nothing is believed that hangs on it.
    pub(super) fn with_their_index(linked: &'a Linked, arguments: &[&'a str]) -> Self {
        Self {
            at: At::Theirs(linked),
            ..Self::new(&linked.path, arguments)
        }
    }

    pub(super) fn in_module(path: &'a Utf8Path, git: &'a Utf8Path, arguments: &[&'a str]) -> Self {
        Self {
            at: At::Module(git),
            ..Self::new(path, arguments)
        }
    }

    /// The same, in whatever repository is there.
    pub(super) fn elsewhere(self) -> Self {
        Self {
            at: At::Elsewhere,
            ..self
        }
    }

    /// The same, about worktrees, of which the view knows only half.
    pub(super) fn of_worktrees(self) -> Self {
        Self {
            at: At::Worktrees,
            ..self
        }
    }

    /// The same, where trouble would meet every bead.
    pub(super) fn for_run(self) -> Self {
        Self {
            lasting: Lasting::ForRun,
            ..self
        }
    }

    fn name(&self) -> String {
        let is_option = |argument: &str| argument.starts_with('-') || argument.contains('=');
        let words = self.arguments.iter().copied();
        let name = words.filter(|&word| !is_option(word)).take(1);
        format!("git {}", name.collect::<String>())
    }
}

#[derive(Debug)]
pub(super) struct Said {
    pub code: i32,
    pub stdout: Captured,
    pub stderr: String,
    name: String,
    lasting: Lasting,
}

impl Said {
    pub(super) fn is_ok(&self) -> bool {
        self.code == 0
    }

    /// What it complained of: git tells some of its troubles on the other stream.
    pub(super) fn text(&self) -> String {
        if self.stderr.trim().is_empty() {
            self.stdout.text()
        } else {
            self.stderr.clone()
        }
    }

    pub(super) fn trouble(&self) -> Trouble {
        errors::trouble(&self.name, &self.text(), self.lasting)
    }

    pub(super) fn checked(self) -> Result<Self, Trouble> {
        if self.is_ok() {
            Ok(self)
        } else {
            Err(self.trouble())
        }
    }

    pub(super) fn line(&self) -> String {
        self.stdout.text().trim_end().to_owned()
    }

    /// Whether memory held all of the answer.
    fn is_whole(&self) -> bool {
        (self.stdout.head.len() + self.stdout.tail.len()) as u64 == self.stdout.n_bytes
    }
}

impl<U: Deref<Target = Units>> Caller<U> {
    pub(super) fn new(units: U) -> Self {
        Self {
            units,
            repository: None,
        }
    }

    /// The same, in a repository that is known: its root, and the git directory that all worktrees share. From now on it is worked in.
    pub(super) fn in_repository(
        self,
        root: &Utf8Path,
        common: &Utf8Path,
        settings: &Settings,
    ) -> Result<Self, Trouble> {
        let view = View::open(&self.units, root, common)?;
        let repository = Known {
            root: root.to_owned(),
            common: common.to_owned(),
            view,
            guard: Guard::of(common),
            withheld: settings.withhold.clone(),
            stale_lock: settings.stale_lock,
            written: Mutex::default(),
        };
        Ok(Self {
            repository: Some(repository),
            ..self
        })
    }

    /// Notes what a file of ours looks like after we have written it.
    pub(super) fn wrote(&self, file: &Utf8Path) {
        if let Some(known) = &self.repository {
            let mut written = known.written.lock().unwrap_or_else(PoisonError::into_inner);
            written.insert(file.to_owned(), recognised(file));
        }
    }

    /// Whether somebody else has changed a file of ours since we wrote it; nothing where an earlier process did.
    pub(super) fn is_changed(&self, file: &Utf8Path) -> Option<bool> {
        let known = self.repository.as_ref()?;
        let written = known.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.get(file).map(|look| *look != recognised(file))
    }

    /// Whether somebody who worked here was killed before they could look at what their agents did.
    pub(super) fn is_after_a_kill(&self) -> bool {
        let known = self.repository.as_ref();
        known.is_some_and(|known| known.view.is_after_a_kill())
    }

    pub(super) fn is_sparse(&self) -> bool {
        let known = self.repository.as_ref();
        known.is_some_and(|known| known.view.is_sparse())
    }

    /// Calls git, whatever comes of it. That it could not be called, or did not end, is trouble.
    pub(super) fn say(&self, call: &Call<'_>) -> Result<Said, Trouble> {
        self.say_into(call, None)
    }

    /// Calls git; an error unless it went well.
    pub(super) fn act(&self, call: &Call<'_>) -> Result<Said, Trouble> {
        self.say(call)?.checked()
    }

    /// Asks something that changes nothing, and gives the whole of the answer however long it is.
    pub(super) fn ask(&self, call: &Call<'_>) -> Result<Vec<u8>, Trouble> {
        let said = self.act(call)?;
        if said.is_whole() {
            let Captured { mut head, tail, .. } = said.stdout;
            head.extend(tail);
            return Ok(head);
        }
        let directory = TempDir::new().map_err(|error| no_place(&error))?;
        let path = Utf8Path::from_path(directory.path());
        let path = path.ok_or_else(|| no_place(&"its path is not UTF-8"))?;
        let said = self.say_into(call, Some(path))?.checked()?;
        let is_cut = said.stdout.fault.is_some() || said.stdout.n_bytes > Units::MAX_FILE;
        let file = (!is_cut).then_some(said.stdout.file).flatten();
        let file = file.ok_or_else(|| no_place(&"the answer is too long"))?;
        files::read(&file).map_err(|error| no_place(&error))
    }

    fn say_into(&self, call: &Call<'_>, output: Option<&Utf8Path>) -> Result<Said, Trouble> {
        let spec = Spec {
            mark: Mark::unique(),
            argv: argv(call),
            cwd: call.cwd.to_owned(),
            env: self.environment(call)?,
            stdin: (call.input).map_or(Stdin::Closed, |path| Stdin::File(path.to_owned())),
            limits: Limits {
                wall: Some(call.limit),
                ..Limits::default()
            },
            output: output.map(Utf8PathBuf::from),
        };
        let cancel =
            Cancel::new().map_err(|error| Trouble::passing(crate::os::limits::explain(&error)))?;
        let ended = self.units.run(&spec, &cancel, &mut Silent);
        let ended = ended.map_err(|error| not_started(&error))?;
        let name = call.name();
        if ended.stopped == Some(Stopped::Wall) {
            let limit = call.limit.as_secs_f32();
            return Err(Trouble::passing(format!(
                "{name} timed out after {limit} s"
            )));
        }
        let Ending::Exited(code) = ended.ending else {
            return Err(Trouble::passing(format!("{name} was killed")));
        };
        if let At::Inside(linked) = call.at {
            self.wrote(&linked.index());
        }
        let mut stderr = ended.stderr.text();
        if let Some(known) = self.repository.as_ref().filter(|_| code != 0) {
            stderr = stderr.replace(known.view.home().as_str(), known.common.as_str());
            if let Some(remedy) = locks::remove_named(&stderr, &known.common, known.stale_lock) {
                stderr = remedy;
            }
        }
        Ok(Said {
            code,
            stderr,
            stdout: ended.stdout,
            name,
            lasting: call.lasting,
        })
    }
}

fn argv(call: &Call<'_>) -> Vec<String> {
    let mut argv = vec!["git".to_owned()];
    let no_hooks = (!call.has_hooks).then_some(NO_HOOKS);
    for setting in SETTINGS.into_iter().chain(no_hooks) {
        argv.extend(["-c".to_owned(), setting.to_owned()]);
    }
    argv.extend(call.arguments.iter().map(|&argument| argument.to_owned()));
    argv
}

impl<U> Caller<U> {
    fn environment(&self, call: &Call<'_>) -> Result<Environment, Trouble> {
        let mut environment = environment(call);
        let Some(known) = &self.repository else {
            return Ok(environment);
        };
        known.view.check()?;
        known.guard.check(call)?;
        let mut set = |name: &str, path: &Utf8Path| {
            environment.with.insert(name.to_owned(), path.to_string());
        };
        set("GIT_CONFIG_GLOBAL", &known.view.global());
        match call.at {
            At::Elsewhere => {}
            At::Repository | At::Worktrees => {
                set("GIT_DIR", &known.common);
                if call.cwd == known.root && known.root.join(".git").exists() {
                    set("GIT_WORK_TREE", &known.root);
                }
            }
            At::Inside(linked) | At::Theirs(linked) => {
                set("GIT_DIR", &linked.git);
                set("GIT_WORK_TREE", &linked.path);
            }
            At::Module(git) => {
                set("GIT_DIR", git);
                set("GIT_WORK_TREE", call.cwd);
            }
        }
        match call.at {
            At::Inside(linked) => set("GIT_INDEX_FILE", &linked.index()),
            At::Theirs(linked) => set("GIT_INDEX_FILE", &linked.their_index()),
            At::Repository | At::Worktrees | At::Module(_) | At::Elsewhere => {}
        }
        match call.at {
            At::Repository | At::Inside(_) | At::Theirs(_) => {
                set("GIT_COMMON_DIR", known.view.home());
            }
            At::Worktrees | At::Module(_) | At::Elsewhere => {}
        }
        if let At::Inside(_) = call.at {
            // The index is ours: what was learned of the files is kept.
            let name = "GIT_OPTIONAL_LOCKS".to_owned();
            environment.with.insert(name, "1".to_owned());
        }
        if !call.is_remote {
            environment.without.extend(known.withheld.iter().cloned());
        }
        Ok(environment)
    }
}

fn environment(call: &Call<'_>) -> Environment {
    let fixed = [
        ("LC_ALL", "C"),
        ("LANGUAGE", "C"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_EDITOR", ":"),
        ("GIT_SEQUENCE_EDITOR", ":"),
        ("GIT_MERGE_AUTOEDIT", "no"),
        // Commits and files are what their names say.
        ("GIT_NO_REPLACE_OBJECTS", "1"),
    ];
    let fixed = fixed.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut with = BTreeMap::from(fixed);
    with.extend(call.env.clone());
    Environment {
        without: WITHHELD.map(str::to_owned).to_vec(),
        with,
    }
}

fn not_started(error: &UnitError) -> Trouble {
    match error {
        UnitError::Program {
            is_missing: true, ..
        } => Trouble::for_run(format!("{error}; git must be installed and in the PATH")),
        UnitError::Program {
            is_temporary: true, ..
        }
        | UnitError::Shim(_) => Trouble::passing(error.to_string()),
        UnitError::Program { .. } => Trouble::for_bead(error.to_string()),
    }
}

pub(super) fn no_place(error: &dyn std::fmt::Display) -> Trouble {
    Trouble::passing(format!("cannot save git's output: {error}"))
}

pub(super) fn parts(answer: &[u8]) -> impl Iterator<Item = String> {
    let parts = answer.split(|&byte| byte == 0);
    parts
        .filter(|part| !part.is_empty())
        .map(|part| String::from_utf8_lossy(part).into_owned())
}

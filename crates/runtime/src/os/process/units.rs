//! Starting units.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use camino::Utf8Path;
use rustix::io::Errno;

use super::capture::Capture;
use super::capture::Tap;
use super::drive::{Drive, Outcome, State};
use super::program::{Refusal, locate};
use super::shim_handle::ShimHandle;
use super::wire::{Launch, MAX_FRAME, Order, Report};
use super::{
    Cancel, Ended, Ending, Environment, Limits, Mark, Silent, Spec, Stdin, Stopped, Stream, Swept,
    UnitError, Watch,
};
use crate::{os::clock, os::env, os::limits};

/// Where units are started. Threads may share it.
///
/// A shim that has ended a unit and all that belonged to it takes the next one: starting a process of our size costs more than
/// many a program that is run. So some of them may wait here for work; they end when this is dropped, or when
/// this process ends however it does.
#[derive(Debug)]
pub struct Units {
    shim: PathBuf,
    max_file: u64,
    /// What every unit can be found by, besides its own mark.
    above: OnceLock<Mark>,
    idle: Mutex<Vec<ShimHandle>>,
}

/// How many shims may wait for work.
const MAX_IDLE: usize = 16;

impl Units {
    /// How much of a stream a file may hold, unless another limit is set.
    pub const MAX_FILE: u64 = 256 << 20;

    /// Units whose shim is this very program; its `main` must begin with [`shim`](super::shim).
    pub fn own() -> io::Result<Self> {
        Ok(Self::with_shim(env::own_program()?))
    }

    /// Units whose shim is another program, the `main` of which begins with [`shim`](super::shim).
    pub fn with_shim(program: impl Into<PathBuf>) -> Self {
        Self {
            shim: program.into(),
            max_file: Self::MAX_FILE,
            above: OnceLock::new(),
            idle: Mutex::default(),
        }
    }

    /// The same with another limit for the files that keep what units write; at least half a MiB.
    #[must_use]
    pub fn with_max_file(self, max_file: u64) -> Self {
        Self { max_file, ..self }
    }

    /// From now on every unit is also found by this mark, whoever starts it. The first who says so is heeded.
    pub fn belong_to(&self, mark: &Mark) {
        self.above.get_or_init(|| mark.clone());
    }

    /// Runs a unit until nothing of it is left. What is written goes to `watch` as it comes.
    ///
    /// A unit that is cancelled before it begins is not started; it reads as if it had been ended at once.
    pub fn run(
        &self,
        spec: &Spec,
        cancel: &Cancel,
        watch: &mut dyn Watch,
    ) -> Result<Ended, UnitError> {
        let refused = |refusal: Refusal| UnitError::Program {
            program: spec.argv.first().cloned().unwrap_or_default(),
            reason: refusal.reason,
            is_missing: refusal.is_missing,
            is_temporary: refusal.is_temporary,
        };
        let mark = spec.mark.under(self.above.get());
        let frame = order(spec, &mark).map_err(refused)?;
        let stdin = open(&spec.stdin).map_err(refused)?;
        let started = clock::monotonic();
        let (stdout, stdout_end) = io::pipe().map_err(UnitError::Shim)?;
        let (stderr, stderr_end) = io::pipe().map_err(UnitError::Shim)?;
        let mut taps = [
            self.tap(Stream::Stdout, stdout, spec),
            self.tap(Stream::Stderr, stderr, spec),
        ];
        if cancel.is_cancelled() {
            let report = Report::Ended {
                ending: Ending::Signalled(signal_hook::consts::SIGTERM),
                n_leaked: 0,
                survivors: Vec::new(),
            };
            return ended(report, Some(Stopped::Cancelled), taps, Duration::ZERO).map_err(refused);
        }
        let mut shim = self.take_shim().map_err(UnitError::Shim)?;
        shim.tell(&frame, vec![stdin, stdout_end.into(), stderr_end.into()]);
        let mut drive = Drive {
            shim: &mut shim,
            taps: &mut taps,
            cancel,
            watch,
            limits: spec.limits,
            started,
            state: State::new(started),
        };
        let report = match drive.run() {
            Outcome::Said(report) => report,
            Outcome::Lost => lost(drive.clean_up(&spec.mark), drive.shim.is_known())?,
        };
        let stopped = drive.state.stopped();
        self.give_back(shim, &report);
        ended(report, stopped, taps, clock::monotonic() - started).map_err(refused)
    }

    /// Runs a program that should be quick, such as `git --version`, without input, and keeps what it says in memory.
    pub fn output(
        &self,
        argv: &[&str],
        cwd: &Utf8Path,
        limit: Duration,
    ) -> Result<Ended, UnitError> {
        static N_PROBES: AtomicU64 = AtomicU64::new(0);
        let number = N_PROBES.fetch_add(1, Ordering::Relaxed);
        let spec = Spec {
            mark: Mark(format!("probe-{}-{number}", std::process::id())),
            argv: argv.iter().map(|&argument| argument.to_owned()).collect(),
            cwd: cwd.to_owned(),
            env: Environment::default(),
            stdin: Stdin::Closed,
            limits: Limits {
                wall: Some(limit),
                ..Limits::default()
            },
            output: None,
        };
        let cancel = Cancel::new().map_err(UnitError::Shim)?;
        self.run(&spec, &cancel, &mut Silent)
    }

    fn take_shim(&self) -> io::Result<ShimHandle> {
        while let Some(mut shim) = self.pop_idle() {
            // Somebody may have killed it meanwhile.
            if shim.is_idle() {
                return Ok(shim);
            }
        }
        ShimHandle::start(&self.shim)
    }

    fn pop_idle(&self) -> Option<ShimHandle> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.pop()
    }

    /// Keeps a shim for the next unit, if it has nothing left to do for this one.
    fn give_back(&self, mut shim: ShimHandle, report: &Report) {
        let is_clean = match report {
            Report::Ended {
                ending, survivors, ..
            } => *ending != Ending::Unknown && survivors.is_empty(),
            Report::Refused(_) => true,
            Report::Ready => false,
        };
        if !is_clean || !shim.is_idle() {
            return;
        }
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_IDLE {
            idle.push(shim);
        } else {
            // Ending one takes a while, in which the others need not wait.
            drop(idle);
        }
    }

    fn tap(&self, stream: Stream, reader: io::PipeReader, spec: &Spec) -> Tap {
        let name = match stream {
            Stream::Stdout => "stdout",
            Stream::Stderr => "stderr",
        };
        let file = spec.output.as_ref().map(|directory| directory.join(name));
        Tap::new(stream, reader, Capture::new(file, self.max_file))
    }
}

/// The order for the shim, after every check that can be done from here.
fn order(spec: &Spec, mark: &Mark) -> Result<Vec<u8>, Refusal> {
    let env = spec.env.resolve(env::inherited(), mark);
    let argv: Vec<OsString> = spec.argv.iter().map(OsString::from).collect();
    let has_nul = |text: &OsString| text.as_bytes().contains(&0);
    if argv.iter().any(has_nul) || spec.cwd.as_str().contains('\0') {
        return Err(Refusal::new("an argument contains a NUL byte"));
    }
    let is_odd = |(name, value): &(OsString, OsString)| {
        let is_name = !name.is_empty() && !name.as_bytes().contains(&b'=');
        !is_name || has_nul(name) || has_nul(value)
    };
    if let Some((name, _)) = env.iter().find(|variable| is_odd(variable)) {
        let name = name.display();
        return Err(Refusal::new(format!(
            "invalid environment variable '{name}'"
        )));
    }
    let name = argv.first().cloned().unwrap_or_default();
    // The shim is somewhere else.
    let cwd = env::current_dir().unwrap_or_default().join(&spec.cwd);
    let order = Order::Run(Box::new(Launch {
        program: locate(&name, cwd.as_std_path(), &env)?,
        argv,
        cwd: cwd.into_string().into(),
        env,
        grace: spec.limits.grace,
    }));
    let frame = order.encode();
    if frame.len() > MAX_FRAME {
        return Err(Refusal::of_start(Path::new(&name), &Errno::TOOBIG.into()));
    }
    Ok(frame)
}

/// Opens what a unit reads. Something that could block whoever opens it is refused.
fn open(stdin: &Stdin) -> Result<OwnedFd, Refusal> {
    let (path, is_ours) = match stdin {
        Stdin::Closed => (Utf8Path::new("/dev/null"), true),
        Stdin::File(path) => (path.as_path(), false),
    };
    let refused = |error: io::Error| {
        let why = limits::explain(&error);
        Refusal::of_system(format!("cannot read its input {path}: {why}"), &error)
    };
    if !is_ours && !path.metadata().map_err(refused)?.is_file() {
        return Err(Refusal::new(format!("its input {path} is not a file")));
    }
    Ok(File::open(path).map_err(refused)?.into())
}

/// The end of a unit whose shim was lost. A shim that never answered is an error: it is another program.
fn lost(swept: Swept, is_known: bool) -> Result<Report, UnitError> {
    if !is_known && swept == Swept::default() {
        let reason = "it ended without an answer; is it another program?";
        return Err(UnitError::Shim(io::Error::other(reason)));
    }
    Ok(Report::Ended {
        ending: Ending::Unknown,
        n_leaked: u32::try_from(swept.n_killed).unwrap_or(u32::MAX),
        survivors: swept.survivors,
    })
}

fn ended(
    report: Report,
    stopped: Option<Stopped>,
    taps: [Tap; 2],
    duration: Duration,
) -> Result<Ended, Refusal> {
    let [stdout, stderr] = taps.map(Tap::finish);
    match report {
        Report::Ended {
            ending,
            n_leaked,
            survivors,
        } => Ok(Ended {
            ending,
            stopped,
            leaked: n_leaked as usize,
            survivors,
            stdout,
            stderr,
            duration,
        }),
        Report::Refused(refusal) => Err(refusal),
        Report::Ready => Err(Refusal::new("the supervisor did not report it")),
    }
}

//! The shim: the process between us and a program (Z-19).
//!
//! It is this same binary, called with one hidden argument. Its standard input is a socket to whoever started it; over that come
//! [orders](Order), one program at a time, and reports go back. It has its own session and adopts every process that a
//! program leaves without a parent, so that nothing can get out from under it. When a program ends, what it left is killed; when the
//! socket ends, because whoever started the shim is gone, the program is asked to end, and killed if it does not.
//!
//! Nothing here may be slow: a shim stands before every program.

mod descendants;

use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::process::Pid;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::low_level::pipe;

use self::descendants::Tree;
use super::super::{clock, env};
use super::channel::{Channel, Filled, N_FILES, poll};
use super::program::Refusal;
use super::wire::{Launch, Order, Report};

/// The argument that makes this program a shim.
pub(super) const ARGUMENT: &str = "__unit";

/// Does the work of a shim, if that is what this process was started for; to be called before anything else. The code is the one
/// to end with.
pub fn shim() -> Option<ExitCode> {
    if env::first_argument()? != OsStr::new(ARGUMENT) {
        return None;
    }
    let served = Shim::start().and_then(|mut shim| shim.serve());
    // Who could be told? The socket was the only way, and its end says enough.
    Some(match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

struct Shim {
    channel: Channel,
    signals: Signals,
    /// Whether whoever started us is still there.
    is_wanted: bool,
    /// Whether somebody asked for an end by a signal. It ends what runs; we go only with whoever started us.
    is_signalled: bool,
}

/// An order as it came, with the three files of a program.
struct Job {
    launch: Launch,
    files: [OwnedFd; N_FILES],
}

impl Shim {
    fn start() -> io::Result<Self> {
        // Keeping what comes from the terminal away; it fails if somebody made us the leader of a group.
        let _ = rustix::process::setsid();
        descendants::adopt()?;
        leave_directory()?;
        let socket = io::stdin().as_fd().try_clone_to_owned()?;
        let mut shim = Self {
            channel: Channel::new(UnixStream::from(socket)),
            signals: Signals::catch()?,
            is_wanted: true,
            is_signalled: false,
        };
        shim.report(&Report::Ready);
        Ok(shim)
    }

    fn serve(&mut self) -> io::Result<()> {
        while let Some(job) = self.next_job()? {
            let report = self.run(job)?;
            leave_directory()?;
            self.report(&report);
        }
        Ok(())
    }

    fn next_job(&mut self) -> io::Result<Option<Job>> {
        while self.is_wanted {
            match self.channel.next()?.map(|frame| Order::decode(&frame)) {
                Some(Some(Order::Run(launch))) => {
                    let files = self.channel.take_files().try_into();
                    let files = files.map_err(|_| io::ErrorKind::InvalidData)?;
                    let launch = *launch;
                    return Ok(Some(Job { launch, files }));
                }
                // It came too late: the program had ended by itself.
                Some(Some(Order::Terminate)) => {}
                Some(None) => return Err(io::ErrorKind::InvalidData.into()),
                None => self.wait(None)?,
            }
        }
        Ok(None)
    }

    fn run(&mut self, job: Job) -> io::Result<Report> {
        // A signal that came before the order was not for this program.
        self.signals.forget_stop();
        self.is_signalled = false;
        let grace = job.launch.grace;
        let main = match spawn(job) {
            Ok(main) => main,
            Err(refusal) => return Ok(Report::Refused(refusal)),
        };
        let mut tree = Tree::new(main);
        let mut deadline: Option<Instant> = None;
        loop {
            // The word may have come together with the order.
            if deadline.is_none() && self.must_stop()? {
                tree.ask_to_end();
                deadline = Some(clock::monotonic() + grace);
            }
            let is_due = deadline.is_some_and(|deadline| clock::monotonic() >= deadline);
            if is_due || tree.is_over(deadline.is_some()) {
                break;
            }
            self.wait(deadline)?;
        }
        Ok(tree.finish(|patience| self.signals.wait_for_child(patience)))
    }

    /// Whether the program is to end: somebody says so, or there is nobody any more.
    fn must_stop(&mut self) -> io::Result<bool> {
        while let Some(frame) = self.channel.next()? {
            match Order::decode(&frame) {
                Some(Order::Terminate) => return Ok(true),
                // One program at a time: whoever says something else is not to be trusted with this one.
                _ => self.is_wanted = false,
            }
        }
        Ok(!self.is_wanted || self.is_signalled)
    }

    /// Waits until there is something to see: a word, a signal, the end of a child. Then takes it in.
    fn wait(&mut self, deadline: Option<Instant>) -> io::Result<()> {
        let timeout =
            deadline.map(|deadline| deadline.saturating_duration_since(clock::monotonic()));
        let mut fds = vec![
            PollFd::new(self.signals.child(), PollFlags::IN),
            PollFd::new(self.signals.stop(), PollFlags::IN),
        ];
        if self.is_wanted {
            fds.push(PollFd::new(&self.channel, PollFlags::IN));
        }
        poll(&mut fds, timeout)?;
        let is_ready = |index: usize| fds.get(index).is_some_and(|fd| !fd.revents().is_empty());
        let (is_stop, is_word) = (is_ready(1), is_ready(2));
        self.signals.forget_child();
        if is_stop {
            self.signals.forget_stop();
            self.is_signalled = true;
        }
        if is_word && self.channel.fill()? == Filled::End {
            self.is_wanted = false;
        }
        Ok(())
    }

    fn report(&mut self, report: &Report) {
        self.channel.post(&report.encode(), Vec::new());
        // If nobody listens any more, the next look at the socket says so.
        drop(self.channel.flush());
    }
}

/// Goes where nobody minds: a directory that somebody is in may not be unmounted, nor removed everywhere.
fn leave_directory() -> io::Result<()> {
    std::env::set_current_dir("/")
}

/// Starts a program with exactly three files, in a new process group.
fn spawn(job: Job) -> Result<Pid, Refusal> {
    let Job { launch, files } = job;
    std::env::set_current_dir(&launch.cwd)
        .map_err(|error| Refusal::of_directory(&launch.cwd, &error))?;
    let [stdin, stdout, stderr] = files;
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the module that starts programs"
    )]
    let mut command = Command::new(&launch.program);
    let (name, arguments) = launch.argv.split_first().unzip();
    command
        .arg0(name.unwrap_or(&launch.program))
        .args(arguments.unwrap_or_default())
        .env_clear()
        .envs(launch.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::from(stdout))
        .stderr(Stdio::from(stderr))
        .process_group(0);
    let child = command
        .spawn()
        .map_err(|error| Refusal::of_start(Path::new(&launch.program), &error))?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    pid.ok_or_else(|| Refusal::new("its process has no number"))
}

/// The signals of a shim. They are caught and not ignored, so that a program has them as they were.
#[derive(Debug)]
pub(super) struct Signals {
    child: UnixStream,
    /// Somebody wants us to end. We would be missed: it is what we watch over that ends.
    stop: UnixStream,
}

impl Signals {
    fn catch() -> io::Result<Self> {
        let child = caught(&[SIGCHLD])?;
        let stop = caught(&[SIGTERM, SIGINT, SIGHUP])?;
        Ok(Self { child, stop })
    }

    pub(super) fn child(&self) -> &UnixStream {
        &self.child
    }

    pub(super) fn stop(&self) -> &UnixStream {
        &self.stop
    }

    fn forget_child(&self) {
        forget(&self.child);
    }

    fn forget_stop(&self) {
        forget(&self.stop);
    }

    /// Waits until a child has ended, but not for long.
    fn wait_for_child(&self, patience: Duration) {
        let mut fds = [PollFd::new(&self.child, PollFlags::IN)];
        // Whoever waits looks again in any case.
        drop(poll(&mut fds, Some(patience)));
        self.forget_child();
    }
}

fn caught(signals: &[i32]) -> io::Result<UnixStream> {
    let (reader, writer) = UnixStream::pair()?;
    reader.set_nonblocking(true)?;
    for &signal in signals {
        pipe::register(signal, writer.try_clone()?)?;
    }
    Ok(reader)
}

fn forget(mut stream: &UnixStream) {
    let mut buffer = [0; 64];
    while stream
        .read(&mut buffer)
        .is_ok_and(|n_bytes| n_bytes == buffer.len())
    {}
}

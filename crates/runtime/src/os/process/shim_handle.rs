//! A shim as whoever started it holds it.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal};

use super::Mark;
use super::channel::{Channel, Filled};
use super::shim::ARGUMENT;
use super::wire::Report;
use crate::os::env;

/// The name by which a shim is seen in lists of processes, whatever path leads to it.
const NAME: &str = "beads-ralph";

#[derive(Debug)]
pub(super) struct ShimHandle {
    process: Child,
    pub(super) channel: Channel,
    is_known: bool,
}

impl ShimHandle {
    pub(super) fn start(program: &Path) -> io::Result<Self> {
        // What we inherited ourselves is nobody else's business; all that we opened is closed anyway.
        close_fds::set_fds_cloexec_threadsafe(3, &[]);
        let (ours, theirs) = UnixStream::pair()?;
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the module that starts programs"
        )]
        let mut command = Command::new(program);
        let process = command
            .arg0(NAME)
            .arg(ARGUMENT)
            // A program can read the environment of its parent. Only the mark of a unit that we are in ourselves goes along, so
            // that whoever looks for that unit finds the shim as well.
            .env_clear()
            .envs(env::inherited().filter(|(name, _)| name == Mark::VARIABLE))
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self {
            process,
            channel: Channel::new(ours),
            is_known: false,
        })
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.id()
    }

    pub(super) fn is_known(&self) -> bool {
        self.is_known
    }

    /// Gives it an [order](super::wire::Order); it may take a while until it has all of it.
    pub(super) fn tell(&mut self, order: &[u8], files: Vec<OwnedFd>) {
        self.channel.post(order, files);
        self.flush();
    }

    /// Sends what waits. That nobody listens any more is seen when we listen ourselves.
    pub(super) fn flush(&mut self) {
        drop(self.channel.flush());
    }

    /// What it has said since; nothing comes after an end.
    pub(super) fn listen(&mut self) -> Heard {
        let filled = self.channel.fill();
        loop {
            match self.channel.next() {
                Ok(Some(frame)) => match Report::decode(&frame) {
                    Some(Report::Ready) => self.is_known = true,
                    Some(report) => return Heard::Report(report),
                    None => return Heard::Lost,
                },
                Ok(None) => break,
                Err(_) => return Heard::Lost,
            }
        }
        match filled {
            Ok(Filled::Some | Filled::Nothing) => Heard::Nothing,
            Ok(Filled::End) | Err(_) => Heard::Lost,
        }
    }

    /// Whether it waits for an order, as far as it says.
    pub(super) fn is_idle(&mut self) -> bool {
        !self.channel.has_outgoing() && matches!(self.listen(), Heard::Nothing)
    }

    /// Lets it go on if somebody has stopped it.
    pub(super) fn wake(&self) {
        let pid = i32::try_from(self.pid()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // The process is ours until it is reaped, so nobody else has its number.
            let _ = rustix::process::kill_process(pid, Signal::CONT);
        }
    }

    /// Kills the shim itself, which must not be done while it can still be told to end what it watches over.
    pub(super) fn kill(&mut self) {
        drop(self.process.kill());
    }
}

#[derive(Debug)]
pub(super) enum Heard {
    Nothing,
    Report(Report),
    Lost,
}

impl Drop for ShimHandle {
    /// Lets it end what it watches over, and buries it.
    fn drop(&mut self) {
        self.channel.close();
        drop(self.process.wait());
    }
}

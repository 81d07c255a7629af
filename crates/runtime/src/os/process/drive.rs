//! Driving a unit from its start until nothing of it is left.

use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use super::capture::Tap;
use super::channel::poll;
use super::shim_handle::{Heard, ShimHandle};
use super::wire::{Order, Report};
use super::{Cancel, Flow, Limits, Mark, Stopped, Swept, Watch, marked};
use crate::os::clock;

/// How often a watcher's tick is called.
const TICK: Duration = Duration::from_millis(200);

/// How much longer than the grace a shim may take to end everything.
const BACKSTOP: Duration = Duration::from_secs(10);

const CHUNK: usize = 64 << 10;

#[derive(Debug)]
pub(super) enum Outcome {
    Said(Report),
    /// The shim is gone, or does not do its work.
    Lost,
}

pub(super) struct Drive<'a> {
    pub(super) shim: &'a mut ShimHandle,
    pub(super) taps: &'a mut [Tap; 2],
    pub(super) cancel: &'a Cancel,
    pub(super) watch: &'a mut dyn Watch,
    pub(super) limits: Limits,
    pub(super) started: Instant,
    pub(super) state: State,
}

#[derive(Debug)]
pub(super) struct State {
    last_output: Instant,
    next_tick: Instant,
    /// When it must have ended after its last word.
    drained_at: Option<Instant>,
    /// Why it was stopped, and until when the shim must have done it.
    stopping: Option<(Stopped, Option<Instant>)>,
}

impl State {
    pub(super) fn new(started: Instant) -> Self {
        Self {
            last_output: started,
            next_tick: started + TICK,
            drained_at: None,
            stopping: None,
        }
    }

    pub(super) fn stopped(&self) -> Option<Stopped> {
        self.stopping.map(|(stopped, _)| stopped)
    }
}

#[derive(Debug, Default)]
struct Seen {
    taps: [bool; 2],
    shim: bool,
    cancel: bool,
}

impl Drive<'_> {
    pub(super) fn run(&mut self) -> Outcome {
        let mut buffer = vec![0; CHUNK];
        loop {
            let Ok(seen) = self.wait() else {
                return Outcome::Lost;
            };
            for index in 0..self.taps.len() {
                if seen.taps[index] {
                    let flow = self.take(index, &mut buffer);
                    self.heed(flow);
                }
            }
            self.shim.flush();
            if seen.shim {
                match self.shim.listen() {
                    Heard::Nothing => {}
                    Heard::Report(report) => {
                        self.drain(&mut buffer);
                        return Outcome::Said(report);
                    }
                    Heard::Lost => return Outcome::Lost,
                }
            }
            if seen.cancel {
                self.stop(Stopped::Cancelled);
            }
            if self.pass_time() {
                return Outcome::Lost;
            }
        }
    }

    fn wait(&self) -> io::Result<Seen> {
        let mut fds = Vec::with_capacity(4);
        let mut wanted = PollFlags::IN;
        if self.shim.channel.has_outgoing() {
            wanted |= PollFlags::OUT;
        }
        fds.push(PollFd::new(&self.shim.channel, wanted));
        for tap in self.taps.iter() {
            if let Some(reader) = tap.reader() {
                fds.push(PollFd::new(reader, PollFlags::IN));
            }
        }
        if self.state.stopping.is_none() {
            fds.push(PollFd::new(self.cancel, PollFlags::IN));
        }
        let timeout = (self.next_event()).saturating_duration_since(clock::monotonic());
        poll(&mut fds, Some(timeout))?;
        let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
        let mut seen = Seen {
            shim: ready.next().unwrap_or_default(),
            ..Seen::default()
        };
        for (tap, seen) in self.taps.iter().zip(&mut seen.taps) {
            if tap.reader().is_some() {
                *seen = ready.next().unwrap_or_default();
            }
        }
        seen.cancel = ready.next().unwrap_or_default();
        Ok(seen)
    }

    /// When something is to be done even if nothing is seen.
    fn next_event(&self) -> Instant {
        let deadline = match self.state.stopping {
            Some((_, backstop)) => backstop,
            None => self.deadlines().map(|(at, _)| at).min(),
        };
        let tick = self.state.next_tick;
        deadline.map_or(tick, |deadline| deadline.min(tick))
    }

    /// When a unit that nobody has stopped must be, and why.
    fn deadlines(&self) -> impl Iterator<Item = (Instant, Stopped)> {
        let wall = self.limits.wall.map(|wall| (self.started, wall));
        let idle = self.limits.idle.map(|idle| (self.state.last_output, idle));
        let at = |(since, limit): (Instant, Duration)| since.checked_add(limit);
        [
            (self.state.drained_at, Stopped::Drained),
            (wall.and_then(at), Stopped::Wall),
            (idle.and_then(at), Stopped::Idle),
        ]
        .into_iter()
        .filter_map(|(at, stopped)| Some((at?, stopped)))
    }

    /// Takes a piece of output, if it is not the end, and shows it to the watcher.
    fn take(&mut self, index: usize, buffer: &mut [u8]) -> Flow {
        let tap = &mut self.taps[index];
        let stream = tap.stream();
        let bytes = tap.take(buffer);
        if bytes.is_empty() {
            return Flow::GoOn;
        }
        self.state.last_output = clock::monotonic();
        self.watch.output(stream, bytes)
    }

    fn heed(&mut self, flow: Flow) {
        match flow {
            Flow::GoOn => {}
            Flow::Drain(time) => {
                let at = self.state.last_output.checked_add(time);
                self.state.drained_at = self.state.drained_at.or(at);
            }
            Flow::Stop => self.stop(Stopped::Watcher),
        }
    }

    /// Kills what a shim leaves that is gone or does not do its work.
    pub(super) fn clean_up(&mut self, mark: &Mark) -> Swept {
        self.shim.kill();
        let swept = marked::sweep_after_shim(mark, self.shim.pid());
        self.drain(&mut vec![0; CHUNK]);
        swept
    }

    /// Takes what is still in the pipes when nobody of the unit is left to write more, and nothing to stop. Somebody
    /// else may hold them open, so their end is not waited for.
    fn drain(&mut self, buffer: &mut [u8]) {
        for index in 0..self.taps.len() {
            let until = self.taps[index].n_bytes() + self.taps[index].n_waiting();
            while self.taps[index].is_ready() && self.taps[index].n_bytes() < until {
                self.take(index, buffer);
            }
        }
    }

    fn stop(&mut self, stopped: Stopped) {
        if self.state.stopping.is_none() {
            let patience = self.limits.grace.saturating_add(BACKSTOP);
            let until = clock::monotonic().checked_add(patience);
            self.state.stopping = Some((stopped, until));
            self.shim.wake();
            self.shim.tell(&Order::Terminate.encode(), Vec::new());
        }
    }

    /// Does what the time asks for; whether the shim has failed to do so.
    fn pass_time(&mut self) -> bool {
        let now = clock::monotonic();
        if now >= self.state.next_tick {
            self.state.next_tick = now + TICK;
            self.watch.tick(now - self.started);
        }
        if let Some((_, backstop)) = self.state.stopping {
            return backstop.is_some_and(|backstop| now >= backstop);
        }
        let due = self
            .deadlines()
            .filter(|&(at, _)| now >= at)
            .min_by_key(|&(at, _)| at);
        if let Some((_, stopped)) = due {
            self.stop(stopped);
        }
        false
    }
}

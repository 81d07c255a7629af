//! A terminal with a program in front of it: what is typed, and what is seen.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use beads_ralph_runtime::os::clock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use vt100::Parser;

use crate::world::{LONG, Output, Running, World};

/// Columns and lines.
pub(crate) type Size = (u16, u16);

pub(crate) struct Terminal {
    keyboard: File,
    /// The program's end, by which its settings are seen.
    inside: OwnedFd,
    before: Termios,
    screen: Arc<Mutex<Parser>>,
    running: Option<Running>,
    /// Whoever looks at the screen, and how it is told to look away.
    looking: Option<JoinHandle<()>>,
    is_closed: Arc<AtomicBool>,
}

impl Terminal {
    /// Runs a program with a terminal that is its own, as a shell would.
    #[track_caller]
    pub(crate) fn new(world: &World, size: Size, argv: &[&str]) -> Self {
        Self::with(world, size, &[&["--ctty"], argv].concat())
    }

    /// Runs a program in front of a terminal that is not its own, so that no signal tells it when the terminal is closed.
    #[track_caller]
    pub(crate) fn borrowed(world: &World, size: Size, argv: &[&str]) -> Self {
        Self::with(world, size, argv)
    }

    #[track_caller]
    fn with(world: &World, size: Size, setsid: &[&str]) -> Self {
        // Other programs that tests start meanwhile would keep a terminal open that is to be closed.
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let outside = openpt(flags).unwrap();
        grantpt(&outside).unwrap();
        unlockpt(&outside).unwrap();
        set_size(&outside, size);
        let name = ptsname(&outside, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let inside = rustix::fs::open(&*name, flags, Mode::empty()).unwrap();
        let screen = Arc::new(Mutex::new(Parser::new(size.1, size.0, 0)));
        let before = tcgetattr(&inside).unwrap();
        let running = world.tool("setsid", setsid).env("TERM", "xterm-256color");
        let running = running.on(&inside).start();
        let keyboard = File::from(outside);
        let is_closed = Arc::new(AtomicBool::new(false));
        let looking = look(
            keyboard.try_clone().unwrap(),
            Arc::clone(&screen),
            Arc::clone(&is_closed),
        );
        Self {
            keyboard,
            inside,
            before,
            screen,
            running: Some(running),
            looking: Some(looking),
            is_closed,
        }
    }

    /// Closes the terminal, as closing its window does, and gives the program that was in front of it.
    #[track_caller]
    pub(crate) fn close(mut self) -> Running {
        self.is_closed.store(true, Ordering::SeqCst);
        let looking = self.looking.take().expect("it is closed once");
        looking.join().expect("nothing went wrong while looking");
        self.running.take().expect("it has not ended yet")
    }

    pub(crate) fn types(&self, keys: &str) {
        (&self.keyboard).write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn resize(&self, size: Size) {
        let mut screen = self.screen.lock().unwrap();
        screen.screen_mut().set_size(size.1, size.0);
        drop(screen);
        set_size(&self.keyboard, size);
    }

    pub(crate) fn signal(&self, signal: Signal) {
        self.running.iter().for_each(|it| it.signal(signal));
    }

    /// What is seen now.
    pub(crate) fn seen(&self) -> String {
        self.screen.lock().unwrap().screen().contents()
    }

    /// Waits until something is seen.
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) {
        self.becomes(&format!("{text:?} is seen"), |seen| seen.contains(text));
    }

    /// Waits until what is seen is as it should be.
    #[track_caller]
    pub(crate) fn becomes(&self, what: &str, is_so: impl Fn(&str) -> bool) {
        let until = clock::monotonic() + LONG;
        while !is_so(&self.seen()) {
            assert!(
                clock::monotonic() < until,
                "never: {what}; there is\n{}",
                self.seen()
            );
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Whether it is as it was before the program had it: the usual screen, a cursor, and the keyboard's old settings.
    pub(crate) fn is_as_before(&self) -> bool {
        let parser = self.screen.lock().unwrap();
        let screen = parser.screen();
        let settings = |it: &Termios| {
            (
                it.input_modes,
                it.output_modes,
                it.control_modes,
                it.local_modes,
            )
        };
        let now = tcgetattr(&self.inside).unwrap();
        !screen.alternate_screen()
            && !screen.hide_cursor()
            && settings(&now) == settings(&self.before)
    }

    /// Waits for the end of the program, after which the terminal must be as it was.
    #[track_caller]
    pub(crate) fn ends(mut self) -> Output {
        let running = self.running.take().expect("it ends once");
        let output = running.end();
        self.becomes("the terminal is as before", |_| self.is_as_before());
        output
    }
}

fn set_size(terminal: &impl std::os::fd::AsFd, (columns, lines): Size) {
    let size = Winsize {
        ws_row: lines,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(terminal, size).unwrap();
}

/// Takes everything that is written to the screen, until nobody can write any more or it is closed.
fn look(
    mut outside: File,
    screen: Arc<Mutex<Parser>>,
    is_closed: Arc<AtomicBool>,
) -> JoinHandle<()> {
    let pause = Timespec {
        tv_sec: 0,
        tv_nsec: 20_000_000,
    };
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while !is_closed.load(Ordering::SeqCst) {
            let mut asked = [PollFd::new(&outside, PollFlags::IN)];
            if matches!(poll(&mut asked, Some(&pause)), Ok(0)) {
                continue;
            }
            let Ok(n @ 1..) = outside.read(&mut bytes) else {
                return;
            };
            screen.lock().unwrap().process(&bytes[..n]);
        }
    })
}

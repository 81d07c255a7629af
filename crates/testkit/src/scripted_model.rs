//! A model that acts by a scenario: a server on loopback that real agents take for the service that they are made for.
//!
//! It speaks as much of Anthropic's and of OpenAI's streaming interfaces as the real `claude` and the real `codex` need to work:
//! commands and their results, final texts, structured output, refusals, limits, usage; and it can be silent, break off and talk
//! nonsense. What it was asked is kept, so that a test can see which words reached the model ([`ScriptedModel::asked`]).
//!
//! It serves the machine that it runs on and nobody else, and it trusts no client: whatever comes in is bounded, and what
//! is no request is refused. Requests that have no tool to do a turn with are the program's own small talk; they get a
//! short answer and do not count.

mod answer;
mod messages;
mod programs;
mod question;
mod responses;
mod state;

use std::io::{self, BufReader};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use beads_ralph_core::scenario::Scenario;
use beads_ralph_runtime::scenario;
use serde_json::json;

use self::answer::Then;
use self::state::{Admission, State};
use crate::http::{self, Unread};

pub use self::programs::Login;
pub use self::state::{Asked, Done, Protocol};

/// A model that acts by a scenario. It stops when it is dropped.
#[derive(Debug)]
pub struct ScriptedModel {
    address: SocketAddr,
    state: Arc<State>,
    server: Option<JoinHandle<()>>,
}

impl ScriptedModel {
    /// Starts a model on a free port.
    pub fn start(scenario: Scenario) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let state = Arc::new(State::new(scenario));
        let shared = Arc::clone(&state);
        let server = thread::Builder::new()
            .name("scripted model".to_owned())
            .spawn(move || serve(&listener, &shared))?;
        Ok(Self {
            address,
            state,
            server: Some(server),
        })
    }

    /// Starts a model with a scenario in YAML. What is wrong with it is a panic: this is for tests.
    #[track_caller]
    pub fn with(yaml: &str) -> Self {
        let scenario = scenario::parse(yaml.as_bytes());
        let scenario = scenario.unwrap_or_else(|error| panic!("the scenario: {error}"));
        Self::start(scenario).unwrap_or_else(|error| panic!("the scripted model: {error}"))
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it was asked, without small talk, in the order of the questions.
    pub fn asked(&self) -> Vec<Asked> {
        self.state.asked()
    }

    /// How often it was asked in passing.
    pub fn n_asides(&self) -> usize {
        self.state.n_asides()
    }

    /// How many connections are open.
    pub fn n_connections(&self) -> usize {
        self.state.n_connections()
    }

    /// Waits until what it was asked is as wanted; false when that took too long.
    pub fn wait_until(&self, within: Duration, is_met: impl Fn(&[Asked]) -> bool) -> bool {
        self.state.wait_until(within, is_met)
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        self.state.stop();
        // The server waits for a connection; it looks up when there is one.
        drop(TcpStream::connect(self.address));
        let ended = self.server.take().map(JoinHandle::join);
        let is_whole = !matches!(ended, Some(Err(_)));
        assert!(
            is_whole || thread::panicking(),
            "the scripted model broke; its own panic was printed above"
        );
    }
}

/// Serves until it is stopped; the connections' threads end with it.
fn serve(listener: &TcpListener, state: &State) {
    thread::scope(|scope| {
        for n in 0.. {
            let Ok((stream, _)) = listener.accept() else {
                // Out of file descriptors, most likely: others will be closed.
                state.pause(Some(Duration::from_millis(10)));
                continue;
            };
            match state.admit(n, &stream) {
                Admission::Welcome => {}
                Admission::Refused => continue,
                Admission::Stopped => break,
            }
            let connection = move || {
                drop(talk(state, &stream));
                drop(stream.shutdown(Shutdown::Both));
                state.dismiss(n);
            };
            if thread::Builder::new()
                .spawn_scoped(scope, connection)
                .is_err()
            {
                state.dismiss(n);
            }
        }
    });
}

/// Answers the requests of one connection until either side has enough of it.
fn talk(state: &State, stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    loop {
        let request = match http::read(&mut reader, &mut writer) {
            Ok(request) => request,
            Err(Unread::Closed) => return Ok(()),
            Err(Unread::Broken(error)) => return Err(error),
            Err(Unread::Refused(status, reason)) => {
                let body = json!({"error": {"message": reason}}).to_string();
                let close = ("connection", "close".to_owned());
                return http::write_whole(&mut writer, status, &[close], body.as_bytes());
            }
        };
        let then = answer::answer(state, &request, &mut writer)?;
        if then == Then::Close || request.is_last() {
            return Ok(());
        }
    }
}

//! A stand-in for GitHub: a server on this machine that the real `gh` takes for `github.com`.
//!
//! `gh` can be told to send everything through a Unix socket, also what it believes to be encrypted; so no port, no entry among the
//! hosts and no rights are needed, and each test has a server of its own. It speaks as much of the interface as `gh pr list`, `gh pr create`,
//! `gh pr view`, `gh repo view` and `gh auth status` need, refuses what GitHub refuses, and can be told to fail ([`GitHub::plan`]).
//!
//! Limits: it knows one repository. A branch has commits to propose when its head is another commit than the base's. Where a bare git
//! repository stands behind it, its branches are read from plain files, not from reftables.

mod answer;
mod repository;
mod state;

use std::collections::BTreeMap;
use std::io::{self, BufReader};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use beads_ralph_runtime::os::files;
use beads_ralph_runtime::ports::PullState;
use camino::{Utf8Path, Utf8PathBuf};
use tempfile::TempDir;

use self::answer::Reply;
use self::repository::Repository;
use self::state::State;
use crate::http::{self, Unread};

pub use self::repository::{Permission, Pull};
pub use self::state::{Call, Fault};

/// A stand-in for GitHub. It stops when it is dropped.
#[derive(Debug)]
pub struct GitHub {
    socket: Utf8PathBuf,
    state: Arc<State>,
    server: Option<JoinHandle<()>>,
    home: TempDir,
}

impl GitHub {
    /// The only token that is taken.
    pub const TOKEN: &str = "token-of-the-stand-in";

    /// Who has that token.
    pub const LOGIN: &str = "tester";

    /// Starts with one repository, named `owner/name`, that may be pushed to.
    pub fn start(name: &str) -> io::Result<Self> {
        // The path of a socket may have about a hundred bytes, so it is not below the directory of the test.
        let home = tempfile::tempdir()?;
        let directory = Utf8Path::from_path(home.path());
        let directory = directory.ok_or_else(|| io::Error::other("a temporary path in UTF-8"))?;
        let socket = directory.join("socket");
        let listener = UnixListener::bind(&socket)?;
        let settings = format!("version: \"1\"\nhttp_unix_socket: {socket}\n");
        files::write_atomic(&directory.join("config.yml"), settings.as_bytes())
            .map_err(io::Error::other)?;
        let state = Arc::new(State::new(name));
        let shared = Arc::clone(&state);
        let server = thread::Builder::new()
            .name("stand-in for GitHub".to_owned())
            .spawn(move || serve(&listener, &shared))?;
        Ok(Self {
            socket,
            state,
            server: Some(server),
            home,
        })
    }

    /// The environment in which `gh` talks to this and nobody else, logged in.
    pub fn env(&self) -> BTreeMap<String, String> {
        let mut env = self.env_without_login();
        env.insert("GH_TOKEN".to_owned(), Self::TOKEN.to_owned());
        env
    }

    /// The same for a `gh` that nobody has logged in. What the user of this machine has set is overruled: empty counts as not set.
    pub fn env_without_login(&self) -> BTreeMap<String, String> {
        let directory = self.home.path().display().to_string();
        let unset = [
            "GH_TOKEN",
            "GITHUB_TOKEN",
            "GH_ENTERPRISE_TOKEN",
            "GITHUB_ENTERPRISE_TOKEN",
            "GH_HOST",
        ];
        let unset = unset.map(|name| (name.to_owned(), String::new()));
        let own = ("GH_CONFIG_DIR".to_owned(), directory);
        unset.into_iter().chain([own]).collect()
    }

    /// Lets the branches be those of a bare repository, which `git push` reaches.
    pub fn back_by(&self, bare: &Utf8Path) {
        self.state.repository().bare = Some(bare.to_owned());
    }

    /// Sets the head of a branch.
    pub fn set_branch(&self, name: &str, commit: &str) {
        let mut repository = self.state.repository();
        repository
            .branches
            .insert(name.to_owned(), commit.to_owned());
    }

    /// What the owner of the token may do.
    pub fn permit(&self, permission: Permission) {
        self.state.repository().permission = permission;
    }

    /// Makes the repository read-only for everybody.
    pub fn archive(&self) {
        self.state.repository().is_archived = true;
    }

    /// Adds a pull request from a branch into `main`, as if somebody had made it; gives its number.
    pub fn add(&self, head: &str, state: PullState) -> u64 {
        let mut repository = self.state.repository();
        let number = repository.add(Pull {
            head: head.to_owned(),
            base: "main".to_owned(),
            title: head.to_owned(),
            ..Pull::default()
        });
        repository.settle(number, state);
        number
    }

    /// Adds an open pull request from a branch of that name in somebody else's copy of the repository.
    pub fn add_foreign(&self, head: &str) -> u64 {
        self.state.repository().add(Pull {
            head: head.to_owned(),
            base: "main".to_owned(),
            is_foreign: true,
            ..Pull::default()
        })
    }

    /// Merges or closes a pull request, which no longer follows its branch then.
    pub fn settle(&self, number: u64, state: PullState) {
        self.state.repository().settle(number, state);
    }

    /// All pull requests, oldest first.
    pub fn pulls(&self) -> Vec<Pull> {
        self.state.repository().pulls()
    }

    /// How often something was asked for, also where it failed.
    pub fn n_calls(&self, call: Call) -> usize {
        self.state.n_calls(call)
    }

    /// Lets the next call of a kind that has no fault yet meet one.
    pub fn plan(&self, call: Call, fault: Fault) {
        self.state.plan(call, None, fault);
    }

    /// Lets one call of a kind meet a fault: the how-many-th, counted from 1 and from the start of the server.
    pub fn plan_nth(&self, call: Call, number: usize, fault: Fault) {
        self.state.plan(call, Some(number), fault);
    }

    /// Waits until there are so many pull requests; false when that took too long.
    pub fn wait_for_pulls(&self, n: usize, within: Duration) -> bool {
        let is_met = |repository: &Repository| repository.pulls().len() >= n;
        self.state.wait_until(within, is_met)
    }
}

impl Drop for GitHub {
    fn drop(&mut self) {
        self.state.stop();
        // The server waits for a connection; it looks up when there is one.
        drop(UnixStream::connect(&self.socket));
        let ended = self.server.take().map(JoinHandle::join);
        let is_whole = !matches!(ended, Some(Err(_)));
        assert!(
            is_whole || thread::panicking(),
            "the stand-in for GitHub broke; its own panic was printed above"
        );
    }
}

/// Serves until it is stopped; the connections' threads end with it.
fn serve(listener: &UnixListener, state: &State) {
    thread::scope(|scope| {
        for n in 0.. {
            let Ok((stream, _)) = listener.accept() else {
                continue;
            };
            if !state.admit(n, &stream) {
                break;
            }
            scope.spawn(move || {
                // A client that went away is no failure of the server.
                drop(talk(state, &stream));
                drop(stream.shutdown(Shutdown::Both));
                state.dismiss(n);
            });
        }
    });
}

/// Answers the requests of one connection until either side has enough of it.
fn talk(state: &State, stream: &UnixStream) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut writer = stream;
    loop {
        let request = match http::read(&mut reader, &mut writer) {
            Ok(request) => request,
            Err(Unread::Closed) => return Ok(()),
            Err(Unread::Broken(error)) => return Err(error),
            Err(Unread::Refused(status, reason)) => {
                return http::write_whole(&mut writer, status, &[], reason.as_bytes());
            }
        };
        match answer::answer(state, &request) {
            Reply::Text {
                status,
                headers,
                body,
            } => http::write_whole(&mut writer, status, &headers, body.as_bytes())?,
            Reply::Silence => {
                state.wait_for_the_end();
                return Ok(());
            }
            Reply::Cut => return Ok(()),
        }
        if request.is_last() {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use serde_json::{Value, json};

    use super::*;

    /// Sends a request as `gh` does; nothing comes back when the connection is cut.
    fn ask(github: &GitHub, token: &str, body: &Value) -> Option<(u16, Value)> {
        let mut stream = UnixStream::connect(&github.socket).unwrap();
        let body = body.to_string();
        let head = format!(
            "POST /graphql HTTP/1.1\r\nhost: api.github.com\r\nauthorization: token {token}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Some((status, serde_json::from_str(body).unwrap_or(Value::Null)))
    }

    fn creation(head: &str) -> Value {
        let input = json!({"headRefName": head, "baseRefName": "main", "title": "T", "body": "B"});
        json!({"query": "mutation PullRequestCreate { createPullRequest }", "variables": {"input": input}})
    }

    #[test]
    fn it_makes_a_pull_request_once_and_only_for_whom_it_knows() {
        let github = GitHub::start("o/r").unwrap();
        github.set_branch("main", "aa");
        github.set_branch("b", "bb");
        let (status, _) = ask(&github, "wrong", &creation("b")).unwrap();
        assert_eq!((status, github.pulls().len()), (401, 0));
        let (_, refused) = ask(&github, GitHub::TOKEN, &creation("main")).unwrap();
        assert_eq!(
            refused["errors"][0]["message"],
            "No commits between main and main"
        );
        let (_, made) = ask(&github, GitHub::TOKEN, &creation("b")).unwrap();
        let made = &made["data"]["createPullRequest"]["pullRequest"];
        assert_eq!(made["url"], "https://github.com/o/r/pull/1");
        let (_, again) = ask(&github, GitHub::TOKEN, &creation("b")).unwrap();
        assert_eq!(
            again["errors"][0]["message"],
            "A pull request already exists for o:b."
        );
        assert_eq!((github.pulls().len(), github.n_calls(Call::Create)), (1, 4));
    }

    #[test]
    fn it_fails_as_planned_and_once() {
        let github = GitHub::start("o/r").unwrap();
        github.set_branch("main", "aa");
        github.set_branch("b", "bb");
        github.plan(Call::Create, Fault::Cut);
        github.plan(Call::Create, Fault::Status(502));
        github.plan(Call::Create, Fault::CutAfter);
        let status = || ask(&github, GitHub::TOKEN, &creation("b")).map(|(status, _)| status);
        assert_eq!(status(), None);
        assert_eq!(status(), Some(502));
        assert_eq!(github.pulls(), []);
        assert_eq!(status(), None);
        assert_eq!(github.pulls().len(), 1, "it was made all the same");
        assert_eq!(status(), Some(200));
    }

    #[test]
    fn one_call_of_many_fails() {
        let github = GitHub::start("o/r").unwrap();
        github.set_branch("main", "aa");
        github.set_branch("b", "bb");
        github.set_branch("c", "cc");
        github.plan_nth(Call::Create, 2, Fault::CutAfter);
        assert!(!github.wait_for_pulls(1, Duration::ZERO));
        assert!(ask(&github, GitHub::TOKEN, &creation("b")).is_some());
        assert!(ask(&github, GitHub::TOKEN, &creation("c")).is_none());
        assert!(github.wait_for_pulls(2, Duration::ZERO));
    }

    #[test]
    fn one_that_is_silent_ends_with_its_server() {
        let github = GitHub::start("o/r").unwrap();
        github.plan(Call::Viewer, Fault::Hang);
        let mut stream = UnixStream::connect(&github.socket).unwrap();
        let request = format!(
            "GET /user HTTP/1.1\r\nauthorization: token {}\r\n\r\n",
            GitHub::TOKEN
        );
        stream.write_all(request.as_bytes()).unwrap();
        while github.n_calls(Call::Viewer) == 0 {
            thread::yield_now();
        }
        drop(github);
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "");
    }
}

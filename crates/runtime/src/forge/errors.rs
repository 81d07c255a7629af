//! What it means that `gh` failed: whether it helps to try again, and what to do.
//!
//! `gh` has no codes for this, so its words are read; the tests try them with version 2.23. The rule for everything else: what GitHub understood and refused stays so for this bead, and what was not answered may be answered at the next try.

use std::time::Duration;

use beads_ralph_core::engine::{Lasting, Trouble};

use super::remote::Address;
use crate::forge;
use crate::os::process::{Ended, Ending, Stopped, UnitError};

/// With this code `gh` says that nobody is logged in.
const NOT_LOGGED_IN: i32 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    Missing,
    TooOld,
    NotLoggedIn,
    /// There is no such repository, or not for this login.
    NotFound,
    NoRight,
    Limited,
    Service,
    Network,
    Exists,
    Refused,
    /// It timed out, was killed, or failed in an unknown way.
    Unknown,
}

impl Reason {
    pub(super) fn lasting(self) -> Lasting {
        match self {
            Self::Missing | Self::TooOld => Lasting::ForRun,
            Self::NotLoggedIn | Self::NotFound | Self::NoRight => Lasting::ForRun,
            Self::Limited | Self::Service | Self::Network | Self::Unknown => Lasting::Passing,
            // Whoever tries again looks first, and finds it.
            Self::Exists => Lasting::Passing,
            Self::Refused => Lasting::ForBead,
        }
    }

    pub(super) fn words(self, address: &Address) -> String {
        let host = &address.host;
        match self {
            Self::Missing => "`gh` was not found in PATH".to_owned(),
            Self::TooOld => "this `gh` is too old".to_owned(),
            Self::NotLoggedIn => format!("`gh` has no valid login for {host}"),
            Self::NotFound => format!("{address} does not exist, or this login cannot see it"),
            Self::NoRight => format!("the login at {host} is not allowed to do this in {address}"),
            Self::Limited => format!("{host} limits the rate of calls"),
            Self::Service => format!("{host} reports a server error"),
            Self::Network => format!("{host} cannot be reached, or the connection was lost"),
            Self::Exists => "there is one already".to_owned(),
            Self::Refused => format!("{host} refuses it"),
            Self::Unknown => "`gh` failed".to_owned(),
        }
    }

    pub(super) fn action(self, address: &Address) -> Option<String> {
        let host = &address.host;
        match self {
            Self::Missing => Some("install it (https://cli.github.com)".to_owned()),
            Self::TooOld => Some("install version 2.23 or newer".to_owned()),
            Self::NotLoggedIn => Some(format!("log in with `gh auth login --hostname {host}`")),
            Self::NotFound => Some(format!(
                "look at `git remote --verbose` and `gh auth status --hostname {host}`"
            )),
            Self::NoRight => Some(format!(
                "log in with another account or token (`gh auth login --hostname {host}`), or ask for the right to write to {address}"
            )),
            Self::Limited
            | Self::Service
            | Self::Network
            | Self::Exists
            | Self::Refused
            | Self::Unknown => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) reason: Reason,
    /// What is wrong, with the words of `gh`.
    pub(super) problem: String,
    pub(super) action: Option<String>,
}

impl Failure {
    fn new(reason: Reason, doing: &str, said: &str, address: &Address) -> Self {
        let words = reason.words(address);
        Self {
            reason,
            problem: format!("cannot {doing}: {words} ({said})"),
            action: reason.action(address),
        }
    }
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        let message = match failure.action {
            Some(action) => format!("{}; {action}", failure.problem),
            None => failure.problem,
        };
        Self {
            lasting: failure.reason.lasting(),
            message,
        }
    }
}

pub(super) fn printed(
    ended: Result<Ended, UnitError>,
    limit: Duration,
    doing: &str,
    address: &Address,
) -> Result<String, Failure> {
    let failed = |reason: Reason, said: String| Failure::new(reason, doing, &said, address);
    let ended = ended.map_err(|error| {
        let reason = match &error {
            UnitError::Program {
                is_missing: true, ..
            } => Reason::Missing,
            UnitError::Program { .. } | UnitError::Shim(_) => Reason::Unknown,
        };
        failed(reason, error.to_string())
    })?;
    match ended.stopped {
        Some(Stopped::Cancelled) => {
            return Err(failed(Reason::Unknown, "it was cancelled".to_owned()));
        }
        Some(Stopped::Wall | Stopped::Idle | Stopped::Watcher | Stopped::Drained) => {
            let said = format!("no answer within {} s", limit.as_secs_f32());
            return Err(failed(Reason::Network, said));
        }
        None => {}
    }
    match ended.ending {
        Ending::Exited(0) => Ok(ended.stdout.text()),
        Ending::Exited(code) => {
            let words = ended.stderr.text();
            let reason = reason(code, &words);
            let said = format!("`gh` exited with {code}: {}", forge::said(&words));
            Err(failed(reason, said))
        }
        Ending::Signalled(signal) => {
            let said = format!("`gh` was killed by signal {signal}");
            Err(failed(Reason::Unknown, said))
        }
        Ending::Unknown => {
            let said = "`gh` ended without an exit code".to_owned();
            Err(failed(Reason::Unknown, said))
        }
    }
}

/// Why `gh` failed, by the code that it ended with and what it said.
pub(super) fn reason(code: i32, said: &str) -> Reason {
    let said = said.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if code == NOT_LOGGED_IN || has(NO_LOGIN) {
        return Reason::NotLoggedIn;
    }
    // A limit comes as 403, as 429 or as an answer; so it is looked for before all of them.
    if has(LIMITS) {
        return Reason::Limited;
    }
    if let Some(status) = status(&said) {
        return match status {
            401 => Reason::NotLoggedIn,
            403 | 451 => Reason::NoRight,
            404 | 410 => Reason::NotFound,
            408 => Reason::Network,
            429 => Reason::Limited,
            500.. => Reason::Service,
            _ => Reason::Refused,
        };
    }
    let known = [
        (EXISTS, Reason::Exists),
        (NOT_FOUND, Reason::NotFound),
        (NO_RIGHT, Reason::NoRight),
        (SERVICE, Reason::Service),
        (ANSWERED, Reason::Refused),
        (TOO_OLD, Reason::TooOld),
        (NOT_REACHED, Reason::Network),
    ];
    let found = known.into_iter().find(|(words, _)| has(words));
    found.map_or(Reason::Unknown, |(_, reason)| reason)
}

// GitHub's answers name branches. So each of these has a character that no name of a branch can have: a space or a colon.

const NO_LOGIN: &[&str] = &["not logged into any", "not found among authenticated"];

const LIMITS: &[&str] = &[
    "rate limit",
    "submitted too quickly",
    "abuse detection",
    "too many requests",
];

const EXISTS: &[&str] = &["already exists"];

const NOT_FOUND: &[&str] = &["could not resolve to a repository"];

const NO_RIGHT: &[&str] = &[
    "does not have the correct permissions",
    "does not have permission",
    "must have push access",
    "must be a collaborator",
    "resource not accessible",
    "resource protected",
    "has not been granted the required scopes",
    "was archived",
];

const SERVICE: &[&str] = &["something went wrong", "timed out while", "internal error"];

/// With this `gh` begins what GitHub itself answered.
const ANSWERED: &[&str] = &["graphql:"];

const TOO_OLD: &[&str] = &["unknown flag", "unknown json field", "unknown command"];

const NOT_REACHED: &[&str] = &[
    "error connecting to",
    "dial tcp",
    "dial unix",
    "no such host",
    "connection re",
    "network is unreachable",
    "i/o timeout",
    "tls handshake",
    "deadline exceeded",
    ": eof",
    "unexpected eof",
    "invalid character",
];

/// The status of an answer that is none of success, as `gh` words it: `HTTP 502: …` or `non-200 OK status code: 502 …`.
fn status(said: &str) -> Option<u16> {
    ["http ", "status code: "].iter().find_map(|before| {
        said.match_indices(before).find_map(|(at, _)| {
            let digits = said.get(at + before.len()..)?.get(..3)?;
            digits
                .parse()
                .ok()
                .filter(|status| (400..600).contains(status))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l_18_the_words_of_gh_say_whether_it_helps_to_try_again() {
        for (code, said, expected) in [
            (
                4,
                "To get started with GitHub CLI, please run:  gh auth login",
                Reason::NotLoggedIn,
            ),
            (
                1,
                "You are not logged into any GitHub hosts. Run gh auth login to authenticate.",
                Reason::NotLoggedIn,
            ),
            (
                1,
                "You are not logged into any accounts on gitlab.example",
                Reason::NotLoggedIn,
            ),
            (
                1,
                "Hostname \"gitlab.example\" not found among authenticated GitHub hosts",
                Reason::NotLoggedIn,
            ),
            (
                1,
                "HTTP 401: Bad credentials (https://api.github.com/graphql)\nTry authenticating with:  gh auth login",
                Reason::NotLoggedIn,
            ),
            (
                1,
                "non-200 OK status code: 401 Unauthorized body: \"{}\"",
                Reason::NotLoggedIn,
            ),
            (
                1,
                "GraphQL: Could not resolve to a Repository with the name 'o/r'. (repository)",
                Reason::NotFound,
            ),
            (
                1,
                "HTTP 404: Not Found (https://api.github.com/repos/o/r)",
                Reason::NotFound,
            ),
            (
                1,
                "HTTP 403: Resource protected by organization SAML enforcement.",
                Reason::NoRight,
            ),
            (
                1,
                "pull request create failed: GraphQL: octocat does not have the correct permissions to execute `CreatePullRequest` (createPullRequest)",
                Reason::NoRight,
            ),
            (
                1,
                "GraphQL: Resource not accessible by personal access token (createPullRequest)",
                Reason::NoRight,
            ),
            (
                1,
                "GraphQL: Your token has not been granted the required scopes to execute this query.",
                Reason::NoRight,
            ),
            (
                1,
                "pull request create failed: GraphQL: Repository was archived so is read-only. (createPullRequest)",
                Reason::NoRight,
            ),
            (
                1,
                "HTTP 403: You have exceeded a secondary rate limit. Please wait a few minutes",
                Reason::Limited,
            ),
            (1, "HTTP 429: slow down", Reason::Limited),
            (
                1,
                "GraphQL: API rate limit exceeded for user ID 1.",
                Reason::Limited,
            ),
            (
                1,
                "pull request create failed: GraphQL: was submitted too quickly (createPullRequest)",
                Reason::Limited,
            ),
            (
                1,
                "HTTP 502: Bad Gateway (https://api.github.com/graphql)",
                Reason::Service,
            ),
            (
                1,
                "HTTP 503 (https://api.github.com/graphql)",
                Reason::Service,
            ),
            (
                1,
                "GraphQL: Something went wrong while executing your query.",
                Reason::Service,
            ),
            (
                1,
                "error connecting to api.github.com\ncheck your internet connection or https://githubstatus.com",
                Reason::Network,
            ),
            (
                1,
                "Post \"https://api.github.com/graphql\": EOF",
                Reason::Network,
            ),
            (
                1,
                "Post \"https://api.github.com/graphql\": dial tcp 140.82.121.6:443: connect: connection refused",
                Reason::Network,
            ),
            (
                1,
                "Post \"https://api.github.com/graphql\": read tcp: connection reset by peer",
                Reason::Network,
            ),
            (
                1,
                "Post \"https://api.github.com/graphql\": net/http: TLS handshake timeout",
                Reason::Network,
            ),
            (
                1,
                "a pull request for branch \"b\" into branch \"main\" already exists:\nhttps://github.com/o/r/pull/1",
                Reason::Exists,
            ),
            (
                1,
                "pull request create failed: GraphQL: A pull request already exists for o:b. (createPullRequest)",
                Reason::Exists,
            ),
            (
                1,
                "pull request create failed: GraphQL: No commits between main and b (createPullRequest)",
                Reason::Refused,
            ),
            (
                1,
                "pull request create failed: GraphQL: Body is too long (maximum is 65536 characters) (createPullRequest)",
                Reason::Refused,
            ),
            (1, "HTTP 422: Validation Failed", Reason::Refused),
            (
                1,
                "unknown flag: --json\n\nUsage:  gh pr list",
                Reason::TooOld,
            ),
            (1, "Unknown JSON field: \"headRefOid\"", Reason::TooOld),
            (1, "", Reason::Unknown),
            (2, "panic: oh", Reason::Unknown),
        ] {
            assert_eq!(reason(code, said), expected, "{code} {said}");
        }
    }

    #[test]
    fn no_name_of_a_branch_is_taken_for_a_reason() {
        let mut known = [
            NO_LOGIN,
            LIMITS,
            EXISTS,
            NOT_FOUND,
            NO_RIGHT,
            SERVICE,
            ANSWERED,
            TOO_OLD,
            NOT_REACHED,
        ]
        .concat()
        .into_iter();
        assert!(known.all(|words| words.contains([' ', ':'])));
        for branch in [
            "eof",
            "fix-http-502",
            "make-read-only",
            "graphql",
            "rate-limit",
        ] {
            let said = format!(
                "pull request create failed: GraphQL: No commits between main and {branch} (createPullRequest)"
            );
            assert_eq!(reason(1, &said), Reason::Refused, "{said}");
        }
    }

    #[test]
    fn a_number_that_is_no_status_is_none() {
        for said in [
            "http 2",
            "http 20x: no",
            "http 200: fine",
            "http ",
            "http é502",
            "status code: 99",
        ] {
            assert_eq!(status(said), None, "{said}");
        }
    }

    #[test]
    fn a_message_says_what_where_and_what_to_do() {
        let address = Address {
            host: "github.com".to_owned(),
            owner: "o".to_owned(),
            name: "r".to_owned(),
        };
        let failure = Failure::new(Reason::NoRight, "make it", "said so", &address);
        let trouble = Trouble::from(failure);
        assert_eq!(trouble.lasting, Lasting::ForRun);
        assert_eq!(
            trouble.message,
            "cannot make it: the login at github.com is not allowed to do this in github.com/o/r (said so); log in with another account or token (`gh auth login --hostname github.com`), or ask for the right to write to github.com/o/r"
        );
    }
}

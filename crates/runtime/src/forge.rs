//! Pull requests on GitHub, by its own program `gh`.
//!
//! `gh` is told every time which repository is meant: `host/owner/name` of the remote that is pushed to. It is never asked to guess
//! from the checkout, never prompts, and has a time limit for each call. What it says when it fails is read for one thing: whether it
//! helps to try again.
//!
//! Limits: branches and pull requests are in one repository; nothing is proposed from a fork to where it was forked from. A call that
//! failed on the way may have been heard: whoever makes a pull request looks for it again before making another.

mod errors;
mod remote;
mod text;

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use beads_ralph_core::engine::{CommitId, Trouble};
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

use crate::os::process::{
    Cancel, Ended, Environment, Limits, Mark, Silent, Spec, Stdin, UnitError, Units,
};
use crate::ports::{Forge, Found, NewPullRequest, PullRequest, PullState};
use crate::{os::env, os::files};

use self::errors::Failure;

pub use self::remote::Address;
pub use self::remote::{NotReady, ready};

/// How many pull requests of one branch are looked at: the newest.
const MAX_FOUND: &str = "100";

/// How long `gh` may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(1);

/// What is set for every call: no questions, no colours, no news of other versions.
const ALWAYS: [(&str, &str); 5] = [
    ("GH_PROMPT_DISABLED", "1"),
    ("GH_NO_UPDATE_NOTIFIER", "1"),
    ("GH_NO_EXTENSION_UPDATE_NOTIFIER", "1"),
    ("GH_SPINNER_DISABLED", "1"),
    ("NO_COLOR", "1"),
];

/// What would make it print for a terminal or for a debugger, or think of another repository.
const NEVER: [&str; 5] = [
    "CLICOLOR_FORCE",
    "DEBUG",
    "GH_DEBUG",
    "GH_FORCE_TTY",
    "GH_REPO",
];

#[derive(Debug, Clone)]
pub struct Gh<'u> {
    pub units: &'u Units,
    pub program: Option<Utf8PathBuf>,
    pub root: Utf8PathBuf,
    /// How long one call may take.
    pub limit: Duration,
    pub cancel: Cancel,
    pub env: BTreeMap<String, String>,
}

impl<'u> Gh<'u> {
    /// The `gh` of the `PATH` at the root of a repository, with a limit for each call.
    pub fn at(root: &Utf8Path, units: &'u Units, limit: Duration) -> io::Result<Self> {
        Ok(Self {
            units,
            program: env::find_program("gh"),
            root: root.to_owned(),
            limit,
            cancel: Cancel::new()?,
            env: BTreeMap::new(),
        })
    }

    fn run(&self, program: &str, arguments: &[&str], stdin: Stdin) -> Result<Ended, UnitError> {
        let always = ALWAYS.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut with = self.env.clone();
        with.extend(always);
        let argv = [&[program], arguments].concat();
        let spec = Spec {
            mark: Mark::unique(),
            argv: argv.into_iter().map(str::to_owned).collect(),
            cwd: self.root.clone(),
            env: Environment {
                without: NEVER.map(str::to_owned).to_vec(),
                with,
            },
            stdin,
            limits: Limits {
                wall: Some(self.limit),
                idle: None,
                grace: GRACE,
            },
            output: None,
        };
        self.units.run(&spec, &self.cancel, &mut Silent)
    }
}

#[derive(Debug, Clone)]
pub struct GitHub<'u> {
    gh: Gh<'u>,
    program: Utf8PathBuf,
    address: Address,
}

impl GitHub<'_> {
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// What `gh` prints, once it succeeds.
    fn call(&self, doing: &str, arguments: &[&str], stdin: Stdin) -> Result<String, Failure> {
        let ended = self.gh.run(self.program.as_str(), arguments, stdin);
        errors::printed(ended, self.gh.limit, doing, &self.address)
    }
}

/// A pull request as `gh pr list --json` prints it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    number: u64,
    url: String,
    state: RowState,
    head_ref_oid: String,
    is_cross_repository: bool,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum RowState {
    Open,
    Merged,
    Closed,
}

impl From<Row> for Found {
    fn from(row: Row) -> Self {
        let state = match row.state {
            RowState::Open => PullState::Open,
            RowState::Merged => PullState::Merged,
            RowState::Closed => PullState::Closed,
        };
        Self {
            request: PullRequest {
                url: row.url,
                number: row.number,
                state,
            },
            head: CommitId(row.head_ref_oid),
        }
    }
}

/// What `gh pr list` printed. Branches of the same name in other people's forks are not ours.
fn read_rows(printed: &str) -> Result<Vec<Found>, serde_json::Error> {
    let mut rows: Vec<Row> = serde_json::from_str(printed)?;
    rows.retain(|row| !row.is_cross_repository);
    rows.sort_by_key(|row| std::cmp::Reverse(row.number));
    Ok(rows.into_iter().map(Found::from).collect())
}

/// The address and the number that `gh pr create` printed: the last line that has the form of one.
fn read_created(printed: &str) -> Option<PullRequest> {
    let is_address = |line: &&str| line.starts_with("https://") || line.starts_with("http://");
    let lines = printed.lines().map(str::trim).filter(is_address);
    let mut requests = lines.filter_map(|line| {
        let (_, number) = line.rsplit_once("/pull/")?;
        Some(PullRequest {
            url: line.to_owned(),
            number: number.parse().ok()?,
            state: PullState::Open,
        })
    });
    requests.next_back()
}

impl Forge for GitHub<'_> {
    fn find(&self, branch: &str) -> Result<Vec<Found>, Trouble> {
        let doing = format!("look for the pull request of {}", text::branch(branch));
        let (repository, head) = (self.address.to_string(), format!("--head={branch}"));
        let arguments = [
            "pr",
            "list",
            "--repo",
            &repository,
            &head,
            "--state=all",
            "--limit",
            MAX_FOUND,
            "--json=number,url,state,headRefOid,isCrossRepository",
        ];
        let printed = self.call(&doing, &arguments, Stdin::Closed)?;
        read_rows(&printed).map_err(|error| {
            Trouble::passing(format!(
                "cannot {doing}: `gh` printed what is no list of pull requests ({error}); is it `gh` 2.0 or newer?"
            ))
        })
    }

    fn create(&self, new: &NewPullRequest) -> Result<PullRequest, Trouble> {
        let doing = format!("make the pull request of {}", text::branch(&new.head));
        let kept = |error: String| {
            Trouble::passing(format!("cannot {doing}: its text cannot be kept: {error}"))
        };
        // A file takes any text as it is, whereas an argument is bounded and seen by everybody on the machine.
        let directory = tempfile::tempdir().map_err(|error| kept(error.to_string()))?;
        let body = Utf8PathBuf::from_path_buf(directory.path().join("body"));
        let body = body.map_err(|path| kept(format!("{} is not UTF-8", path.display())))?;
        files::create_new(&body, text::body(&new.body).as_bytes())
            .map_err(|error| kept(error.to_string()))?;
        let (repository, title) = (self.address.to_string(), text::title(&new.title, &new.head));
        let arguments = [
            "pr",
            "create",
            "--repo",
            &repository,
            &format!("--head={}", new.head),
            &format!("--base={}", new.base),
            &format!("--title={title}"),
            "--body-file=-",
        ];
        let printed = self.call(&doing, &arguments, Stdin::File(body))?;
        read_created(&printed).ok_or_else(|| {
            let said = text::said(&printed);
            Trouble::passing(format!(
                "`gh` made the pull request of {} and did not say where it is (it said: {said})",
                text::branch(&new.head)
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z_12_pull_requests_are_read_in_every_state_newest_first() {
        let printed = r#"[
            {"headRefOid":"aa","isCrossRepository":false,"number":3,"state":"MERGED","url":"https://h/o/r/pull/3"},
            {"headRefOid":"bb","isCrossRepository":false,"number":12,"state":"OPEN","url":"https://h/o/r/pull/12"},
            {"headRefOid":"cc","isCrossRepository":true,"number":13,"state":"OPEN","url":"https://h/o/r/pull/13"},
            {"headRefOid":"dd","isCrossRepository":false,"number":5,"state":"CLOSED","url":"https://h/o/r/pull/5"}]"#;
        let found = read_rows(printed).unwrap();
        let read: Vec<_> = found
            .iter()
            .map(|found| (found.request.number, found.request.state, &*found.head.0))
            .collect();
        let expected = [
            (12, PullState::Open, "bb"),
            (5, PullState::Closed, "dd"),
            (3, PullState::Merged, "aa"),
        ];
        assert_eq!(read, expected);
        assert_eq!(found[0].request.url, "https://h/o/r/pull/12");
        assert_eq!(read_rows("[]").unwrap(), []);
    }

    #[test]
    fn z_12_what_is_no_list_of_pull_requests_is_not_taken_for_an_empty_one() {
        let row =
            r#"{"headRefOid":"a","isCrossRepository":false,"number":1,"state":"QUEUED","url":"u"}"#;
        for printed in [
            "",
            "{}",
            "null",
            "[{}]",
            "no pull requests",
            &format!("[{row}]"),
        ] {
            assert!(read_rows(printed).is_err(), "{printed}");
        }
    }

    #[test]
    fn l_18_the_number_is_read_from_the_address() {
        let number = |printed: &str| read_created(printed).map(|request| request.number);
        assert_eq!(number("https://github.com/o/r/pull/42\n"), Some(42));
        assert_eq!(
            number("Warning: 1 uncommitted change\n\nhttps://ghe.example/o/r/pull/7"),
            Some(7)
        );
        for printed in [
            "",
            "done",
            "https://github.com/o/r",
            "https://h/o/r/pull/x",
            "/pull/7",
        ] {
            assert_eq!(number(printed), None, "{printed}");
        }
    }
}

//! Pull requests on GitHub, by its own program `gh`.
//!
//! Every call of `gh` names the repository: `host/owner/name` of the remote that is pushed to. It is never asked to guess
//! from the checkout, never prompts, and has a time limit for each call. What it says when it fails is read for one thing: whether it
//! helps to try again.
//!
//! Limits: branches and pull requests are in one repository; nothing is proposed from a fork to where it was forked from. A call that
//! failed on the way may have been heard: whoever makes a pull request looks for it again before making another.

mod errors;
mod remote;

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use beads_ralph_core::engine::{CommitId, Trouble};
use beads_ralph_core::text::{excerpt, visible, without_colour};
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

use self::errors::Failure;
pub use self::remote::{Address, NotReady, ready};
use crate::os::process::{
    Cancel, Ended, Environment, Limits, Mark, Silent, Spec, Stdin, UnitError, Units,
};
use crate::os::{env, files};
use crate::ports::{Forge, Found, NewPullRequest, PullRequest, PullState};

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
        let doing = format!("look for the pull request of {}", shown_branch(branch));
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
                "cannot {doing}: `gh` did not print a list of pull requests ({error}); is it version 2.0 or newer?"
            ))
        })
    }

    fn create(&self, new: &NewPullRequest) -> Result<PullRequest, Trouble> {
        let doing = format!("make the pull request of {}", shown_branch(&new.head));
        let kept = |error: String| {
            Trouble::passing(format!("cannot {doing}: its text cannot be saved: {error}"))
        };
        // A file takes any text as it is, whereas an argument is bounded and seen by everybody on the machine.
        let directory = tempfile::tempdir().map_err(|error| kept(error.to_string()))?;
        let body = Utf8PathBuf::from_path_buf(directory.path().join("body"));
        let body = body.map_err(|path| kept(format!("{} is not UTF-8", path.display())))?;
        files::create_new(&body, fitted_body(&new.body).as_bytes())
            .map_err(|error| kept(error.to_string()))?;
        let (repository, title) = (
            self.address.to_string(),
            fitted_title(&new.title, &new.head),
        );
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
            let said = said(&printed);
            Trouble::passing(format!(
                "`gh` created the pull request of {} but did not print its URL (it printed: {said})",
                shown_branch(&new.head)
            ))
        })
    }
}

/// How long a title may be: GitHub takes 256 characters.
const MAX_TITLE: usize = 250;

/// How long a text may be. GitHub takes 65,536 characters and does not say of which kind, so the units of UTF-16 are counted, of
/// which there are never fewer than characters.
const MAX_BODY: usize = 65_536;

/// What is at the end of a text that was cut.
const CUT: &str = "\n\n*(Truncated: a pull request holds at most 65,536 characters. The full text is in the bead.)*\n";

/// How much of what a program says goes into a message.
const MAX_SAID: usize = 400;

/// A title in one line that is not too long; that of the branch if there is none.
pub(super) fn fitted_title(title: &str, branch: &str) -> String {
    let plain: String = title
        .chars()
        .map(|character| {
            if character.is_control() {
                ' '
            } else {
                character
            }
        })
        .collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let line = if words.is_empty() {
        branch.to_owned()
    } else {
        words.join(" ")
    };
    shortened(&line, MAX_TITLE)
}

/// A text that is not too long, without what no text can hold.
pub(super) fn fitted_body(body: &str) -> String {
    let whole: String = body
        .chars()
        .filter(|character| *character != '\0')
        .collect();
    if whole.encode_utf16().count() <= MAX_BODY {
        return whole;
    }
    let room = MAX_BODY - CUT.encode_utf16().count();
    let mut length = 0;
    let fitting = whole.chars().take_while(|character| {
        length += character.len_utf16();
        length <= room
    });
    let mut kept: String = fitting.collect();
    kept.push_str(CUT);
    kept
}

pub(super) fn shown_branch(name: &str) -> String {
    format!("branch '{}'", excerpt(name))
}

/// What a program said, in one harmless line. What comes after an empty line is help, or advice for people at a terminal.
pub(super) fn said(text: &str) -> String {
    let plain = without_colour(text);
    let lines = plain.trim().lines().map(str::trim);
    let lines: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    let line = visible(&lines.join("; "));
    if line.is_empty() {
        return "nothing".to_owned();
    }
    shortened(&line, MAX_SAID)
}

fn shortened(text: &str, max: usize) -> String {
    let mut characters = text.chars();
    let mut kept: String = characters.by_ref().take(max).collect();
    if characters.next().is_some() {
        kept.push('…');
    }
    kept
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

    #[test]
    fn l_18_a_title_is_one_line_that_github_takes() {
        assert_eq!(fitted_title("Add a thing", "b"), "Add a thing");
        assert_eq!(
            fitted_title(" --help \n\"two\"\tlines\0", "b"),
            "--help \"two\" lines"
        );
        assert_eq!(fitted_title(" \n", "sprint/1.1"), "sprint/1.1");
        let long = fitted_title(&"é".repeat(1000), "b");
        assert_eq!(long.chars().count(), MAX_TITLE + 1);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn l_18_a_text_that_fits_is_left_alone() {
        let text = "-- \"quoted\" $(x) `y`\r\n\n'é'\u{1F980}\n";
        assert_eq!(fitted_body(text), text);
        assert_eq!(fitted_body("a\0b"), "ab");
        let full = "x".repeat(MAX_BODY);
        assert_eq!(fitted_body(&full), full);
    }

    #[test]
    fn l_18_a_text_that_is_too_long_is_cut_and_says_so() {
        for character in ['x', 'é', '\u{1F980}'] {
            let long: String = std::iter::repeat_n(character, 70_000).collect();
            let cut = fitted_body(&long);
            let length = cut.encode_utf16().count();
            assert!(length <= MAX_BODY && length > MAX_BODY - 2, "{length}");
            assert!(cut.ends_with(CUT) && cut.starts_with(character));
        }
    }

    #[test]
    fn what_a_program_said_is_one_harmless_line() {
        assert_eq!(said("one\n two \n\nUsage: gh\n"), "one; two");
        assert_eq!(said("\n\u{1b}[31mred\u{1b}[0m\u{202e}"), "red\\u{202e}");
        assert_eq!(said(" \n"), "nothing");
        assert_eq!(said(&"x".repeat(1000)).chars().count(), MAX_SAID + 1);
    }
}

//! What the real `gh` makes of what GitHub does, and what we make of that.

use std::thread;
use std::time::Duration;

use beads_ralph_core::engine::{Lasting, Trouble};
use beads_ralph_runtime::forge::{self, Gh, GitHub, NotReady};
use beads_ralph_runtime::os::process::{Cancel, Units};
use beads_ralph_runtime::ports::{Forge as _, Found, NewPullRequest, PullRequest, PullState};
use beads_ralph_testkit::github::{Call, Fault, GitHub as StandIn, Permission};

use crate::world::{MAX_WAIT, RealWorld, real};

/// As long as a call may take that is meant to hang.
const SHORT: Duration = Duration::from_secs(1);

/// A repository whose remote is on GitHub by its address, and a bare repository by where a push goes.
struct World {
    real: RealWorld,
    github: StandIn,
    units: Units,
}

impl World {
    /// With `main` pushed.
    #[track_caller]
    fn new() -> Self {
        let real = RealWorld::new("rules: [{lacks: [never], sessions: [[{say: Good.}]]}]");
        let github = StandIn::start("o/r").unwrap();
        let bare = real.beside("remote.git");
        real.git(&["init", "--quiet", "--bare", bare.as_str()]);
        real.git(&["remote", "add", "origin", "https://github.com/o/r.git"]);
        let instead = format!("url.{bare}.insteadOf");
        real.git(&["config", &instead, "https://github.com/o/r.git"]);
        real.git(&["push", "--quiet", "origin", "main"]);
        github.back_by(&bare);
        Self {
            real,
            github,
            units: Units::with_shim(env!("CARGO_BIN_EXE_beads-ralph")),
        }
    }

    /// The same with a branch that has something to propose; and its commit.
    #[track_caller]
    fn with_branch(name: &str) -> (Self, String) {
        let world = Self::new();
        let commit = world.push(name);
        (world, commit)
    }

    /// Pushes a new commit to a branch.
    #[track_caller]
    fn push(&self, branch: &str) -> String {
        let git = |args: &[&str]| self.real.git(args);
        git(&["commit", "--quiet", "--allow-empty", "--message=work"]);
        git(&[
            "push",
            "--quiet",
            "origin",
            &format!("HEAD:refs/heads/{branch}"),
        ]);
        git(&["rev-parse", "HEAD"])
    }

    fn gh(&self) -> Gh<'_> {
        Gh {
            units: &self.units,
            program: Some(real("gh")),
            root: self.real.work(),
            limit: MAX_WAIT,
            cancel: Cancel::new().unwrap(),
            env: self.github.env(),
        }
    }

    #[track_caller]
    fn forge(&self) -> GitHub<'_> {
        GitHub::of_remote(self.gh(), "origin").unwrap()
    }

    /// The same with little patience.
    #[track_caller]
    fn hasty(&self) -> GitHub<'_> {
        let gh = Gh {
            limit: SHORT,
            ..self.gh()
        };
        GitHub::of_remote(gh, "origin").unwrap()
    }
}

#[track_caller]
fn not_ready(gh: Gh<'_>) -> NotReady {
    forge::ready(gh, "origin").unwrap_err()
}

fn proposal(head: &str) -> NewPullRequest {
    NewPullRequest {
        title: "Add a thing".to_owned(),
        body: "Sprint 1.1 of bead x-1".to_owned(),
        head: head.to_owned(),
        base: "main".to_owned(),
    }
}

fn seen(found: &[Found]) -> Vec<(u64, PullState, &str)> {
    let mut seen = Vec::new();
    for Found { request, head } in found {
        seen.push((request.number, request.state, head.0.as_str()));
    }
    seen
}

#[test]
#[ignore = "needs the real gh: scripts/real-tools gh"]
fn z_12_pull_requests_are_found_in_every_state() {
    let branch = "sprint/1.1_é#x";
    let (world, first) = World::with_branch(branch);
    let forge = world.forge();
    assert_eq!(forge.address().to_string(), "github.com/o/r");
    assert_eq!(forge.find(branch).unwrap(), []);
    assert_eq!(forge.find("never-pushed").unwrap(), []);

    let open = world.github.add(branch, PullState::Open);
    world.github.add("another", PullState::Open);
    world.github.add_foreign(branch);
    let found = forge.find(branch).unwrap();
    assert_eq!(seen(&found), [(open, PullState::Open, first.as_str())]);
    assert_eq!(found[0].request.url, "https://github.com/o/r/pull/1");

    world.github.settle(open, PullState::Merged);
    let second = world.push(branch);
    let closed = world.github.add(branch, PullState::Closed);
    let found = forge.find(branch).unwrap();
    let expected = [
        (closed, PullState::Closed, second.as_str()),
        (open, PullState::Merged, first.as_str()),
    ];
    assert_eq!(
        seen(&found),
        expected,
        "a merged one stays at what it merged"
    );
}

#[test]
#[ignore = "needs the real gh: scripts/real-tools gh"]
fn l_18_a_pull_request_is_made() {
    let (world, commit) = World::with_branch("b");
    // A checkout that is not clean, and on another branch, is none of its business.
    world.real.write("dirt", "x");
    let forge = world.forge();
    let made = forge.create(&proposal("b")).unwrap();
    let expected = PullRequest {
        url: "https://github.com/o/r/pull/1".to_owned(),
        number: 1,
        state: PullState::Open,
    };
    assert_eq!(made, expected);
    let pulls = world.github.pulls();
    let [pull] = pulls.as_slice() else {
        panic!("{pulls:#?}");
    };
    assert_eq!(pull.title, "Add a thing");
    assert_eq!(pull.body, "Sprint 1.1 of bead x-1");
    assert_eq!((pull.head.as_str(), pull.base.as_str()), ("b", "main"));
    let found = forge.find("b").unwrap();
    assert_eq!(seen(&found), [(1, PullState::Open, commit.as_str())]);
    assert_eq!(found[0].request, made);
}

#[test]
#[ignore = "needs the real gh: scripts/real-tools gh"]
fn z_12_an_answer_that_is_lost_is_found_and_not_made_again() {
    for fault in [Fault::CutAfter, Fault::HangAfter] {
        let (world, commit) = World::with_branch("b");
        world.github.plan(Call::Create, fault.clone());
        let gh = world.gh();
        let cancel = gh.cancel.clone();
        let forge = GitHub::of_remote(gh, "origin").unwrap();
        let trouble = thread::scope(|scope| {
            let making = scope.spawn(|| forge.create(&proposal("b")).unwrap_err());
            while fault == Fault::HangAfter && world.github.pulls().is_empty() {
                assert!(!making.is_finished(), "it waits for an answer");
                thread::yield_now();
            }
            if fault == Fault::HangAfter {
                cancel.cancel();
            }
            making.join().unwrap()
        });
        assert_eq!(trouble.lasting, Lasting::Passing, "{fault:?} {trouble}");
        let found = world.forge().find("b").unwrap();
        assert_eq!(seen(&found), [(1, PullState::Open, commit.as_str())]);
        assert_eq!(world.github.n_calls(Call::Create), 1);

        // Whoever does not look finds the door closed.
        let again = world.forge().create(&proposal("b")).unwrap_err();
        assert_eq!(again.lasting, Lasting::Passing, "{again}");
        assert!(again.message.contains("there is one already"), "{again}");
        assert_eq!(world.github.pulls().len(), 1);
    }
}

/// What goes wrong, how long it lasts, and what must be said of it.
const FAULTS: [(Fault, Lasting, &str); 13] = [
    (
        Fault::Status(502),
        Lasting::Passing,
        "reports a server error",
    ),
    (
        Fault::Status(500),
        Lasting::Passing,
        "reports a server error",
    ),
    (
        Fault::Status(429),
        Lasting::Passing,
        "limits the rate of calls",
    ),
    (
        Fault::SecondaryLimit,
        Lasting::Passing,
        "secondary rate limit",
    ),
    (
        Fault::RateLimit,
        Lasting::Passing,
        "limits the rate of calls",
    ),
    (Fault::Cut, Lasting::Passing, "cannot be reached"),
    (Fault::Nonsense, Lasting::Passing, "cannot be reached"),
    (
        Fault::Refusal(
            "INTERNAL",
            "Something went wrong while executing your query.",
        ),
        Lasting::Passing,
        "reports a server error",
    ),
    (Fault::Status(401), Lasting::ForRun, "gh auth login"),
    (Fault::Status(403), Lasting::ForRun, "SAML"),
    (Fault::Status(404), Lasting::ForRun, "does not exist"),
    (
        Fault::Refusal("FORBIDDEN", "Resource not accessible by integration"),
        Lasting::ForRun,
        "is not allowed to do this",
    ),
    (
        Fault::Refusal("UNPROCESSABLE", "Base ref must be a branch"),
        Lasting::ForBead,
        "Base ref must be a branch",
    ),
];

#[track_caller]
fn assert_trouble(trouble: &Trouble, lasting: Lasting, words: &str) {
    let is_said = trouble.message.contains(words);
    assert!(
        trouble.lasting == lasting && is_said,
        "{lasting:?} '{words}' is not {trouble:#?}"
    );
}

#[test]
#[ignore = "needs the real gh: scripts/real-tools gh"]
fn l_18_every_fault_says_whether_it_helps_to_try_again() {
    let (world, _) = World::with_branch("b");
    let forge = world.forge();
    for (fault, lasting, words) in FAULTS {
        world.github.plan(Call::List, fault.clone());
        let trouble = forge.find("b").unwrap_err();
        assert_trouble(&trouble, lasting, words);
        for call in [Call::Repository, Call::OpenForBranch, Call::Create] {
            world.github.plan(call, fault.clone());
            let trouble = forge.create(&proposal("b")).unwrap_err();
            assert_trouble(&trouble, lasting, words);
        }
    }
    assert_eq!(world.github.pulls(), [], "nothing was made meanwhile");
    // And then all is well.
    assert_eq!(forge.create(&proposal("b")).unwrap().number, 1);
}

#[test]
#[ignore = "needs the real gh: scripts/real-tools gh"]
fn l_18_a_call_ends_at_its_limit_and_when_it_is_cancelled() {
    let (world, _) = World::with_branch("b");
    world.github.plan(Call::List, Fault::Hang);
    let trouble = world.hasty().find("b").unwrap_err();
    assert_trouble(&trouble, Lasting::Passing, "no answer within 1 s");

    let gh = world.gh();
    gh.cancel.cancel();
    let forge = GitHub::of_remote(gh, "origin").unwrap();
    let trouble = forge.find("b").unwrap_err();
    assert_trouble(&trouble, Lasting::Passing, "cancelled");
}

#[test]
#[ignore = "needs the real gh: scripts/real-tools gh"]
fn l_18_a_service_that_cannot_be_reached_may_be_back_later() {
    let world = World::new();
    let socket = world.real.beside("gone");
    let settings = format!("http_unix_socket: {socket}\n");
    world.real.write("settings/config.yml", &settings);
    let settings = world.real.work().join("settings");
    let mut gh = world.gh();
    gh.env
        .insert("GH_CONFIG_DIR".to_owned(), settings.into_string());
    let forge = GitHub::of_remote(gh.clone(), "origin").unwrap();
    let trouble = forge.find("b").unwrap_err();
    assert_trouble(&trouble, Lasting::Passing, "cannot be reached");
    let not_ready = not_ready(gh);
    assert!(not_ready.is_passing, "{not_ready:#?}");
}

#[test]
#[ignore = "needs the real gh: scripts/real-tools gh"]
fn l_18_what_github_refuses_is_the_beads_trouble() {
    let (world, _) = World::with_branch("b");
    let forge = world.forge();
    let main = world.real.git(&["rev-parse", "origin/main"]);
    world.real.git(&[
        "push",
        "--quiet",
        "origin",
        &format!("{main}:refs/heads/same"),
    ]);
    let trouble = forge.create(&proposal("same")).unwrap_err();
    assert_trouble(
        &trouble,
        Lasting::ForBead,
        "No commits between main and same",
    );
    let trouble = forge.create(&proposal("never-pushed")).unwrap_err();
    assert_trouble(&trouble, Lasting::ForBead, "Head ref must be a branch");
    let elsewhere = NewPullRequest {
        base: "gone".to_owned(),
        ..proposal("b")
    };
    let trouble = forge.create(&elsewhere).unwrap_err();
    assert_trouble(&trouble, Lasting::ForBead, "Base ref must be a branch");
    world.github.permit(Permission::Read);
    let trouble = forge.create(&proposal("b")).unwrap_err();
    assert_trouble(&trouble, Lasting::ForRun, "is not allowed to do this");
    assert_eq!(world.github.pulls(), []);
}

#[test]
#[ignore = "needs the real gh: scripts/real-tools gh"]
fn l_18_titles_and_texts_arrive_as_they_are_whatever_they_hold() {
    let texts = [
        ("--help", "--body"),
        ("-d", "-"),
        ("@file", "@/etc/passwd\n"),
        (
            "\"quotes\" 'both' `x` $(touch pwned) \\ %s",
            "$(touch pwned)\n`touch pwned`\n'\"\\\n\n--\n",
        ),
        ("Zürich 🦀 \u{202e}", "Zürich 🦀\r\n\ttab\u{202e}\n"),
        ("ends with a colon:", ""),
    ];
    let world = World::new();
    let forge = world.forge();
    for (n, (title, body)) in texts.into_iter().enumerate() {
        let branch = format!("b{n}");
        world.push(&branch);
        let new = NewPullRequest {
            title: title.to_owned(),
            body: body.to_owned(),
            ..proposal(&branch)
        };
        let number = forge.create(&new).unwrap().number;
        let pulls = world.github.pulls();
        let pull = pulls.iter().find(|pull| pull.number == number).unwrap();
        assert_eq!(
            (pull.title.as_str(), pull.body.as_str()),
            (title.trim(), body)
        );
    }
    assert!(!world.real.work().join("pwned").exists());
}

#[test]
#[ignore = "needs the real gh: scripts/real-tools gh"]
fn l_18_titles_and_texts_are_cut_to_what_github_takes() {
    let (world, _) = World::with_branch("b");
    let long = NewPullRequest {
        title: format!("two\nlines {}", "é".repeat(300)),
        body: "ä🦀\n".repeat(70_000 / 3),
        ..proposal("b")
    };
    world.forge().create(&long).unwrap();
    let pull = world.github.pulls().remove(0);
    assert!(pull.title.starts_with("two lines éé") && pull.title.ends_with('…'));
    assert!(pull.body.starts_with("ä🦀\n"), "{}", &pull.body[..20]);
    assert!(pull.body.ends_with("The full text is in the bead.)*\n"));
    let n_characters = pull.body.chars().count();
    assert!(
        (40_000..=65_536).contains(&n_characters),
        "{n_characters} characters"
    );
}

#[test]
#[ignore = "needs the real gh: scripts/real-tools gh"]
fn z_16_a_login_that_may_push_is_ready() {
    let world = World::new();
    for permission in [Permission::Write, Permission::Admin] {
        world.github.permit(permission);
        let forge = forge::ready(world.gh(), "origin").unwrap();
        assert_eq!(forge.address().to_string(), "github.com/o/r");
    }
    assert_eq!(world.github.n_calls(Call::Create), 0);
}

#[test]
#[ignore = "needs the real gh: scripts/real-tools gh"]
fn z_16_what_is_in_the_way_is_found_before_anything_is_done() {
    let world = World::new();
    let expect = |gh: Gh<'_>, is_passing: bool, message: &str, action: &str| {
        let not_ready = not_ready(gh);
        let [finding] = not_ready.findings.as_slice() else {
            panic!("{not_ready:#?}");
        };
        assert!(
            not_ready.is_passing == is_passing
                && finding.is_error
                && finding.message.contains(message)
                && finding.action.contains(action)
                && finding.action.contains("integration: merge"),
            "'{message}', '{action}': {not_ready:#?}"
        );
    };
    for permission in [Permission::Read, Permission::Triage] {
        world.github.permit(permission);
        expect(
            world.gh(),
            false,
            "may not push to github.com/o/r",
            "another account",
        );
    }
    world.github.permit(Permission::Write);

    let nobody = || Gh {
        env: world.github.env_without_login(),
        ..world.gh()
    };
    expect(
        nobody(),
        false,
        "no valid login for github.com",
        "gh auth login --hostname github.com",
    );
    let mut wrong = world.gh();
    wrong.env.insert("GH_TOKEN".to_owned(), "old".to_owned());
    expect(
        wrong,
        false,
        "no valid login for github.com",
        "gh auth login",
    );
    let forge = GitHub::of_remote(nobody(), "origin").unwrap();
    let trouble = forge.find("b").unwrap_err();
    assert_trouble(&trouble, Lasting::ForRun, "gh auth login");

    // A `gh` that cannot ask who is logged in may still be able to ask for write access.
    for fault in [Fault::Status(502), Fault::Cut] {
        world.github.plan(Call::Scopes, fault.clone());
        assert!(forge::ready(world.gh(), "origin").is_ok());
        world.github.plan(Call::Repository, fault);
        expect(world.gh(), true, "ask for write access", "try again later");
    }

    world.github.archive();
    expect(world.gh(), false, "is archived", "another remote");
}

#[test]
#[ignore = "needs the real gh: scripts/real-tools gh"]
fn z_16_a_remote_that_is_not_on_github_is_found_with_all_else() {
    let world = World::new();
    let set_remote = |url: &str| {
        let set = ["remote", "set-url", "origin", url];
        world.real.git(&set);
    };
    let messages = |gh: Gh<'_>| -> Vec<String> {
        let not_ready = not_ready(gh);
        assert!(!not_ready.is_passing);
        let findings = not_ready.findings.into_iter();
        findings.map(|finding| finding.message).collect()
    };
    let bare = world.real.beside("remote.git");
    set_remote(bare.as_str());
    let absent = Gh {
        program: None,
        ..world.gh()
    };
    assert_eq!(
        messages(absent),
        [
            "`gh`, which creates pull requests, was not found in PATH".to_owned(),
            format!("the remote 'origin' is {bare}, which is not a GitHub repository"),
        ]
    );
    // `gh` knows no login for a host of somebody else's.
    set_remote("https://user:secret@gitlab.example/o/r.git");
    let said = messages(world.gh());
    assert!(
        said[0].contains("no valid login for gitlab.example"),
        "{said:#?}"
    );
    assert!(!said[0].contains("secret"), "{said:#?}");

    set_remote("https://github.com/o/another.git");
    let said = messages(world.gh());
    assert!(
        said[0].contains("github.com/o/another does not exist"),
        "{said:#?}"
    );

    world.real.git(&["remote", "remove", "origin"]);
    assert_eq!(
        messages(world.gh()),
        ["this repository has no remote 'origin'"]
    );
}

#[test]
#[ignore = "needs the real gh: scripts/real-tools gh"]
fn z_16_an_address_is_that_to_which_git_pushes() {
    let world = World::new();
    let address = || world.forge().address().to_string();
    let git = |args: &[&str]| drop(world.real.git(args));
    git(&["config", "url.https://github.com/.insteadOf", "hub:"]);
    git(&["remote", "set-url", "origin", "hub:some/thing"]);
    assert_eq!(address(), "github.com/some/thing");
    git(&[
        "remote",
        "set-url",
        "--push",
        "origin",
        "git@github.com:mine/thing.git",
    ]);
    assert_eq!(address(), "github.com/mine/thing");
}

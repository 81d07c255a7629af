//! A whole plan: twelve sprints in all five patterns of dependencies, two of which QA sends back once, and one whose branches do not fit.

use std::collections::{BTreeMap, BTreeSet};

use beads_ralph_testkit::github::{Call, Pull};
use beads_ralph_testkit::scripted_model::Login;
use serde_json::{Value, json};

use crate::world::Ended;

use super::ground::{
    Agent, Bead, Ground, MAX_RUN, PLAN, Sprint, data, develops, does, goes_well, judgement_of,
    judges, prompt_of, prompts, rule,
};

/// Sequential (2.1, 4.2), parallel (1.2a and 1.2b), merged (1.3), tracks that part (3a and 3b) and meet (4.1).
pub(super) const SPRINTS: [Sprint; 12] = {
    use Agent::{Claude, Codex};
    const fn sprint(
        number: &'static str,
        title: &'static str,
        (developer, judge): (Agent, Agent),
        after: &'static [&'static str],
    ) -> Sprint {
        Sprint {
            number,
            title,
            developer,
            judge,
            after,
        }
    }
    [
        sprint("1.1", "Foundation", (Claude, Claude), &[]),
        sprint("1.2a", "Reader", (Codex, Claude), &["1.1"]),
        sprint("1.2b", "Writer", (Claude, Codex), &["1.1"]),
        sprint("1.3", "Integration", (Claude, Claude), &["1.2a", "1.2b"]),
        sprint("2.1", "Commands", (Codex, Codex), &["1.3"]),
        sprint("3a.1", "Server", (Claude, Claude), &["2.1"]),
        sprint("3a.2a", "Cache", (Codex, Claude), &["3a.1"]),
        sprint("3a.2b", "Log", (Claude, Claude), &["3a.1"]),
        sprint("3b.1", "Client", (Codex, Claude), &["2.1"]),
        sprint("3b.2", "Retries", (Claude, Codex), &["3b.1"]),
        sprint("4.1", "Both", (Claude, Claude), &["3a.2a", "3a.2b", "3b.2"]),
        sprint("4.2", "Manual", (Codex, Claude), &["4.1"]),
    ]
};

/// The sprints that QA sends back once, and what it says: once `codex`, once `claude`.
const SENT_BACK: [(&str, &str); 2] = [
    ("1.2b", "The writer loses the last line."),
    ("3a.1", "The server forgets its port."),
];

/// The sprints that touch the same file in different ways, and the one that has to bring them together.
const CLASHING: [&str; 2] = ["1.2a", "1.2b"];
const JOINING: &str = "1.3";

fn sprint(number: &str) -> &'static Sprint {
    let found = SPRINTS.iter().find(|sprint| sprint.number == number);
    found.unwrap_or_else(|| panic!("there is no sprint {number}"))
}

/// The file that the second attempt of a sprint makes.
fn mended_file(sprint: &Sprint) -> String {
    format!("sprints/{}.mended", sprint.number)
}

/// What the model does about the whole plan.
pub(super) fn rules() -> Vec<Value> {
    let joining = prompt_of(sprint(JOINING));
    let both = "printf 'a\\nb\\n' >index.txt && git add index.txt && git commit --quiet --no-edit";
    let mut rules = vec![rule(
        "conflict",
        &["A merge with conflicts", &joining],
        &[does(both)],
    )];
    for (number, reason) in SENT_BACK {
        let sprint = sprint(number);
        // QA is told which files changed, and so the model knows which attempt it judges.
        let mended = mended_file(sprint);
        rules.push(rule(
            &format!("mend {number}"),
            &[&prompt_of(sprint), reason],
            &[develops(sprint, &format!("echo mended >{mended}"))],
        ));
        let judgement = judgement_of(sprint);
        rules.push(rule(
            &format!("content qa {number}"),
            &[&judgement, &mended],
            &[judges(sprint, "pass", "Now it is right.")],
        ));
        rules.push(rule(
            &format!("strict qa {number}"),
            &[&judgement],
            &[judges(sprint, "fail", reason)],
        ));
    }
    for number in CLASHING {
        let sprint = sprint(number);
        let file = sprint.file();
        let command =
            format!("mkdir -p sprints && echo {number} >{file} && echo {number} >index.txt");
        let words = prompt_of(sprint);
        rules.push(rule(
            &format!("dev {number}"),
            &[&words],
            &[develops(sprint, &command)],
        ));
    }
    rules.extend(SPRINTS.iter().flat_map(goes_well));
    rules
}

fn attempts(sprint: &Sprint) -> u64 {
    let is_sent_back = SENT_BACK.iter().any(|(number, _)| *number == sprint.number);
    if is_sent_back { 2 } else { 1 }
}

#[test]
#[ignore = "needs the real claude, codex and gh: scripts/real-tools claude codex gh"]
fn a_plan_of_twelve_sprints_runs_to_the_end() {
    let ground = Ground::new(&SPRINTS, &rules(), Login::Key, &json!({}));
    let head = ground.real.git(&["rev-parse", "HEAD"]);
    let ended = ground.run_plan().start().end_within(MAX_RUN);
    all_is_done(&ground, &ended, &head);
    assert_eq!(data(&ended)["adopted"], false);
    feedback_is_heard(&ground);
}

/// The plan was worked off, as everybody can see who looks at the store, the branches, GitHub, the plan and the journal.
#[track_caller]
pub(super) fn all_is_done(ground: &Ground, ended: &Ended, head: &str) {
    assert_eq!(ended.code, Some(0), "{ended:#?}\n{}", prompts(&ground.real));
    let data = data(ended);
    assert_eq!(data["outcome"], "done", "{data:#}");
    let beads = ground.beads(&SPRINTS);
    for sprint in &SPRINTS {
        let bead = &beads[sprint.number];
        closed(sprint, bead);
        executions(sprint, bead);
        comments(sprint, bead);
        result(sprint, bead);
        branch(ground, sprint, &beads);
    }
    pull_requests(ground, &beads);
    annotations(ground);
    main_checkout(ground, head);
    let run = data["run"].as_str().unwrap();
    let replayed = ground.data(&["replay", run, "--json"]);
    assert_eq!(replayed["is_identical"], true, "{replayed:#}");
}

#[track_caller]
fn closed(sprint: &Sprint, bead: &Bead) {
    assert_eq!(bead.0["status"], "closed", "{:#}", bead.0);
    assert!(bead.0["closed_at"].is_string(), "{:#}", bead.0);
    assert_eq!(*bead.metadata("attempt_count"), attempts(sprint));
    let url = bead.metadata("pr_url").as_str().unwrap();
    let number = bead.metadata("pr_number").as_u64().unwrap();
    assert_eq!(url, format!("https://github.com/o/r/pull/{number}"));
    assert_eq!(bead.0["external_ref"], url);
    assert_eq!(bead.0["claim"], Value::Null);
}

/// One execution for each agent and attempt, in the shape of seed 002.
#[track_caller]
fn executions(sprint: &Sprint, bead: &Bead) {
    let n = usize::try_from(attempts(sprint)).unwrap();
    let dev = bead.metadata("dev_agent_executions").as_array().unwrap();
    let qa = bead.metadata("qa_agent_executions").as_array().unwrap();
    // A conflict is solved by the developer before the work begins.
    let n_solved = usize::from(sprint.number == JOINING);
    assert_eq!((dev.len(), qa.len()), (n + n_solved, n), "{:#}", bead.0);
    let reason = SENT_BACK
        .iter()
        .find(|(number, _)| *number == sprint.number);
    for (position, execution) in dev.iter().enumerate() {
        let attempt = position + 1 - n_solved.min(position);
        assert_eq!(execution["attempt"], attempt, "{execution:#}");
        assert_eq!(
            execution["agent_path"], ".claude/agents/dev",
            "{execution:#}"
        );
        assert_eq!(
            (&execution["model"], &execution["status"]),
            (&json!("sonnet"), &json!("completed"))
        );
        let feedback = execution["feedback_from_qa"].as_str();
        let expected = reason.filter(|_| attempt == 2);
        let expected = expected.map(|(_, said)| format!("QA failed: .claude/agents/qa.md: {said}"));
        assert_eq!(feedback, expected.as_deref(), "{execution:#}");
        times(execution);
    }
    for (position, execution) in qa.iter().enumerate() {
        let is_last = position + 1 == n;
        let (status, message) = match (reason, is_last) {
            (Some((_, said)), false) => ("fail", *said),
            (Some(_), true) => ("pass", "Now it is right."),
            (None, _) => ("pass", "It is right."),
        };
        assert_eq!(execution["attempt"], position + 1);
        assert_eq!(
            execution["agent_path"], ".claude/agents/qa",
            "{execution:#}"
        );
        assert_eq!(
            (&execution["status"], &execution["message"]),
            (&json!(status), &json!(message))
        );
        assert_eq!(
            (&execution["model"], &execution["details"]),
            (&json!("haiku"), &json!({}))
        );
        times(execution);
    }
    let sessions: BTreeSet<&str> = (dev.iter().chain(qa))
        .map(|execution| execution["session_id"].as_str().unwrap())
        .collect();
    assert_eq!(sessions.len(), dev.len() + qa.len(), "{sessions:?}");
    let last = &dev[dev.len() - 1]["session_id"];
    assert_eq!(bead.metadata("dev_agent_session_id"), last);
}

#[track_caller]
fn times(execution: &Value) {
    let time = |key: &str| {
        let text = execution[key].as_str().unwrap();
        assert!(text.ends_with('Z') && !text.contains('.'), "{execution:#}");
        text.to_owned()
    };
    assert!(time("started_at") <= time("completed_at"), "{execution:#}");
}

/// Each end of an agent, and each verdict, is also a comment (Z-9).
#[track_caller]
fn comments(sprint: &Sprint, bead: &Bead) {
    let comments = bead.comments();
    let count = |words: &str| comments.iter().filter(|text| text.contains(words)).count();
    let n = usize::try_from(attempts(sprint)).unwrap();
    let n_solved = usize::from(sprint.number == JOINING);
    assert_eq!(count(".claude/agents/dev"), n + n_solved, "{comments:#?}");
    assert_eq!(count("QA .claude/agents/qa"), n, "{comments:#?}");
    assert_eq!(count("QA .claude/agents/qa.md pass"), 1, "{comments:#?}");
    assert_eq!(count("the checks passed"), 1, "{comments:#?}");
}

#[track_caller]
fn result(sprint: &Sprint, bead: &Bead) {
    let message = match attempts(sprint) {
        1 => "It is right.",
        _ => "Now it is right.",
    };
    let expected = json!({
        "bead_id": sprint.bead(), "success": true,
        "pr_url": bead.metadata("pr_url"), "pr_number": bead.metadata("pr_number"),
        "bead_updated": true, "attempt_count": attempts(sprint),
        "qa_results": [{"agent_path": ".claude/agents/qa", "status": "pass", "message": message, "details": {}}],
        "error": null, "fatal": false,
    });
    let mut result = bead.metadata("scrum_result").clone();
    let skipped = result.as_object_mut().unwrap().remove("skipped");
    assert!(matches!(skipped, None | Some(Value::Bool(false))));
    assert_eq!(result, expected);
}

/// The verified commit is what was pushed, has the work of the sprint, and that of everything below it.
#[track_caller]
fn branch(ground: &Ground, sprint: &Sprint, beads: &BTreeMap<&str, Bead>) {
    let verified = beads[sprint.number].verified();
    assert_eq!(ground.pushed(sprint), verified);
    assert_eq!(ground.real.git(&["rev-parse", &sprint.branch()]), verified);
    for below in sprint.after {
        assert!(
            ground.is_ancestor(beads[below].verified(), verified),
            "{} is not in {}",
            below,
            sprint.number
        );
    }
    let file = format!("{verified}:{}", sprint.file());
    assert_eq!(ground.real.git(&["show", &file]), sprint.number);
    let files = ground.real.git(&["ls-tree", "-r", "--name-only", verified]);
    let is_mended = files.lines().any(|file| file == mended_file(sprint));
    assert_eq!(is_mended, attempts(sprint) == 2, "{files}");
    let dependencies = &beads[sprint.number].0["dependencies"];
    let below: Vec<String> = sprint
        .after
        .iter()
        .map(|number| self::sprint(number).bead())
        .collect();
    let named = dependencies.as_array().unwrap();
    assert_eq!(named.len(), below.len(), "{dependencies:#}");
    for id in below {
        assert!(dependencies.to_string().contains(&id), "{dependencies:#}");
    }
}

/// Each was made once, says what it is about, and what is below it (L-18, Z-12).
#[track_caller]
fn pull_requests(ground: &Ground, beads: &BTreeMap<&str, Bead>) {
    let pulls = ground.github.pulls();
    assert_eq!(pulls.len(), SPRINTS.len(), "{pulls:#?}");
    assert_eq!(ground.github.n_calls(Call::Create), SPRINTS.len());
    for sprint in &SPRINTS {
        let of_branch: Vec<&Pull> = pulls
            .iter()
            .filter(|pull| pull.head == sprint.branch())
            .collect();
        let [pull] = of_branch.as_slice() else {
            panic!("{}: {of_branch:#?}", sprint.number);
        };
        let bead = &beads[sprint.number];
        assert_eq!(
            (pull.title.as_str(), pull.base.as_str()),
            (sprint.title, "main")
        );
        assert_eq!(pull.commit, bead.verified());
        assert_eq!(*bead.metadata("pr_number"), pull.number);
        let said = [format!("Sprint {}", sprint.number), sprint.bead()];
        let below = sprint.after.iter().map(|number| {
            let url = beads[number].metadata("pr_url").as_str().unwrap();
            format!("{} {url}", self::sprint(number).bead())
        });
        for words in said.into_iter().chain(below) {
            assert!(pull.body.contains(&words), "{words}: {pull:#?}");
        }
    }
}

#[track_caller]
fn annotations(ground: &Ground) {
    let text = ground.real.text(PLAN);
    for sprint in &SPRINTS {
        let lines = format!(
            "### Sprint {}: {}\n<!-- beads-ralph: {} -->\n",
            sprint.number,
            sprint.title,
            sprint.bead()
        );
        assert!(text.contains(&lines), "{text}");
    }
}

/// Every developer is told its part. What QA said is in the prompt of the second attempt, and in none before it.
#[track_caller]
fn feedback_is_heard(ground: &Ground) {
    let asked = ground.real.model().asked();
    for sprint in &SPRINTS {
        let part = format!("Your part: Do {}\n", sprint.number);
        let is_told = asked.iter().any(|asked| asked.prompt.contains(&part));
        assert!(is_told, "{part}");
    }
    for (number, reason) in SENT_BACK {
        let words = prompt_of(sprint(number));
        let to_developer = asked.iter().filter(|asked| asked.prompt.contains(&words));
        let sessions: BTreeSet<(&str, bool)> = to_developer
            .map(|asked| (asked.session.as_str(), asked.prompt.contains(reason)))
            .collect();
        let n_told = sessions.iter().filter(|(_, is_told)| *is_told).count();
        assert_eq!((sessions.len(), n_told), (2, 1), "{sessions:?}");
    }
}

/// The user's own checkout is where it was, and nothing in it has changed but the plan.
#[track_caller]
fn main_checkout(ground: &Ground, head: &str) {
    let git = |args: &[&str]| ground.real.git(args);
    assert_eq!(git(&["rev-parse", "HEAD"]), head);
    assert_eq!(git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(git(&["status", "--porcelain"]), " M plan.md");
    assert_eq!(git(&["stash", "list"]), "");
}

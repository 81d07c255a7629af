//! `scrum_master: agent`: the real `claude` leads the sprints, and what it claims is looked at before it is believed.

use beads_ralph_testkit::github::{Call, Pull};
use beads_ralph_testkit::scripted_model::Login;
use serde_json::{Value, json};

use super::ground::{Agent, Ground, MAX_RUN, Sprint, prompt_of, prompts, rule};

const fn sprint(
    number: &'static str,
    title: &'static str,
    after: &'static [&'static str],
) -> Sprint {
    Sprint {
        number,
        title,
        developer: Agent::Claude,
        judge: Agent::Claude,
        after,
    }
}

const HONEST: Sprint = sprint("1.1a", "Honest", &[]);
const FORGETFUL: Sprint = sprint("1.1b", "Forgetful", &[]);
const LYING: Sprint = sprint("1.1c", "Lying", &[]);
const DOOMED: Sprint = sprint("1.2", "Doomed", &["1.1a", "1.1b", "1.1c"]);

/// What a recovery run is asked.
const ONLY_PULL: &str = "there is no pull request for";

/// The work of a sprint, with this in its file.
fn works(sprint: &Sprint, text: &str) -> String {
    let file = sprint.file();
    format!(
        "mkdir -p sprints && echo {text} >{file} && git add --all && git commit --quiet --message=work"
    )
}

fn proposes(sprint: &Sprint) -> String {
    let branch = sprint.branch();
    format!(
        "git push --quiet origin HEAD:refs/heads/{branch} && gh pr create --repo o/r --head {branch} --base main --title 'By the scrum-master' --body 'Sprint {}'",
        sprint.number
    )
}

/// Ends with the result that a scrum-master gives, in its fenced block. The pull request that it names is not there.
fn claims(sprint: &Sprint, more: &Value) -> Value {
    let mut result = json!({
        "bead_id": sprint.bead(), "success": true, "pr_url": "https://github.com/o/r/pull/999", "pr_number": 999,
        "bead_updated": true, "attempt_count": 1, "error": null, "fatal": false,
        "qa_results": [{"agent_path": ".claude/agents/qa", "status": "pass", "message": "I looked."}],
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        result[key] = value.clone();
    }
    json!({"say": format!("All is well.\n\n```json\n{result:#}\n```\n")})
}

fn leads(command: &str, claim: Value) -> Vec<Value> {
    vec![json!({"run": command}), claim]
}

fn rules() -> Vec<Value> {
    let all = |sprint: &Sprint| format!("{} && {}", works(sprint, sprint.number), proposes(sprint));
    let claim = |sprint: &Sprint| claims(sprint, &json!({}));
    let words = |sprint: &Sprint| prompt_of(sprint);
    let fatal = json!({"success": false, "pr_url": null, "pr_number": null, "error": "the licence forbids it", "fatal": true});
    vec![
        rule(
            "recovery",
            &[ONLY_PULL, &words(&FORGETFUL)],
            &[
                vec![claim(&FORGETFUL)],
                leads(&proposes(&FORGETFUL), claim(&FORGETFUL)),
            ],
        ),
        rule(
            "honest",
            &[&words(&HONEST)],
            &[leads(&all(&HONEST), claim(&HONEST))],
        ),
        rule(
            "forgetful",
            &[&words(&FORGETFUL)],
            &[leads(
                &works(&FORGETFUL, FORGETFUL.number),
                claim(&FORGETFUL),
            )],
        ),
        rule(
            "caught",
            &[&words(&LYING), "the checks failed"],
            &[leads(&all(&LYING), claim(&LYING))],
        ),
        rule(
            "lying",
            &[&words(&LYING)],
            &[leads(&works(&LYING, "wrong"), claim(&LYING))],
        ),
        rule(
            "doomed",
            &[&words(&DOOMED)],
            &[vec![claims(&DOOMED, &fatal)]],
        ),
    ]
}

#[test]
#[ignore = "needs the real claude and gh: scripts/real-tools claude codex gh"]
fn l_19_an_agent_that_leads_is_believed_only_what_is_so() {
    let sprints = [HONEST, FORGETFUL, LYING, DOOMED];
    let more = json!({"scrum_master": "agent"});
    let ground = Ground::new(&sprints, &rules(), Login::Key, &more);
    let ended = ground.run_plan().start().end_within(MAX_RUN);
    assert_eq!(ended.code, Some(3), "{ended:#?}\n{}", prompts(&ground.real));
    let envelope: Value = serde_json::from_str(&ended.stdout).unwrap();
    let reason = envelope["error"]["message"].as_str().unwrap();
    assert!(reason.contains("the licence forbids it"), "{envelope:#}");

    for (sprint, attempts) in [(HONEST, 1), (FORGETFUL, 1), (LYING, 2)] {
        let bead = ground.bead(&sprint);
        let session = bead.metadata("scrum_master_session_id");
        assert!(sessions(&ground, &sprint).contains(session), "{session}");
        assert_eq!(bead.metadata("scrum_master_agent")["agent_id"], *session);
        assert_eq!(bead.0["status"], "closed", "{:#}", bead.0);
        assert_eq!(*bead.metadata("attempt_count"), attempts);
        assert_eq!(ground.pushed(&sprint), bead.verified());
        let pull = only_pull(&ground, &sprint);
        assert_eq!(pull.commit, bead.verified());
        assert_eq!(pull.title, "By the scrum-master");
        let url = format!("https://github.com/o/r/pull/{}", pull.number);
        let result = bead.metadata("scrum_result");
        assert_eq!(
            (bead.metadata("pr_url"), bead.metadata("pr_number")),
            (&json!(url), &json!(pull.number))
        );
        assert_eq!(
            (&result["pr_url"], &result["attempt_count"]),
            (&json!(url), &json!(attempts)),
            "what is there, not what was claimed"
        );
    }
    assert_eq!(ground.github.n_calls(Call::Create), 3);
    let honest = ground.bead(&HONEST);
    let verdicts = &honest.metadata("scrum_result")["qa_results"];
    assert_eq!(verdicts[0]["message"], "I looked.", "{verdicts:#}");

    let doomed = ground.bead(&DOOMED);
    assert_eq!(doomed.0["status"], "blocked", "{:#}", doomed.0);
    let labels = doomed.0["labels"].as_array().unwrap();
    assert!(labels.contains(&json!("human")), "{labels:?}");
    let result = doomed.metadata("scrum_result");
    assert_eq!(
        (&result["success"], &result["fatal"]),
        (&json!(false), &json!(true))
    );
    asked(&ground);
}

/// The sessions in which something was asked about a sprint.
fn sessions(ground: &Ground, sprint: &Sprint) -> Vec<Value> {
    let asked = ground.real.model().asked();
    let about = asked
        .iter()
        .filter(|it| it.prompt.contains(&prompt_of(sprint)));
    about.map(|it| json!(it.session)).collect()
}

#[track_caller]
fn only_pull(ground: &Ground, sprint: &Sprint) -> Pull {
    let pulls = ground.github.pulls();
    let mut of_branch = pulls.iter().filter(|pull| pull.head == sprint.branch());
    let first = of_branch.next();
    assert_eq!(of_branch.next(), None, "{pulls:#?}");
    first.unwrap_or_else(|| panic!("{pulls:#?}")).clone()
}

/// Nobody but the scrum-masters was asked anything, the forgetful one three times, the lying one what was wrong.
#[track_caller]
fn asked(ground: &Ground) {
    let mut sessions: Vec<(String, String)> = Vec::new();
    for asked in ground.real.model().asked() {
        let rule = asked.done.map(|done| done.rule).unwrap_or_default();
        if !sessions.contains(&(asked.session.clone(), rule.clone())) {
            sessions.push((asked.session, rule));
        }
    }
    let mut rules: Vec<&str> = sessions.iter().map(|(_, rule)| rule.as_str()).collect();
    rules.sort_unstable();
    let expected = [
        "caught",
        "doomed",
        "forgetful",
        "honest",
        "lying",
        "recovery",
        "recovery",
    ];
    assert_eq!(rules, expected);
}

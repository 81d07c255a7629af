//! Limits and cost: an account at its limit is parked until the limit ends, and what agents cost is written down.

use beads_ralph_testkit::scripted_model::Login;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::ground::{
    Agent, Bead, Ground, MAX_RUN, Sprint, does, goes_well, prompt_of, prompts, rule,
};

/// How many seconds the limit lasts: long enough that the first agent meets it, also where everything is slow.
const LIMIT: i64 = 60;

const fn sprint(number: &'static str, title: &'static str, agent: Agent) -> Sprint {
    Sprint {
        number,
        title,
        developer: agent,
        judge: agent,
        after: &[],
    }
}

const LIMITED: Sprint = sprint("1.1a", "Limited", Agent::Claude);
const OTHER: Sprint = sprint("1.1b", "Other", Agent::Codex);

#[test]
#[ignore = "needs the real claude, codex and gh: scripts/real-tools claude codex gh"]
fn z_13_a_limit_parks_its_account_and_costs_no_attempt() {
    let resets_at = now() + LIMIT;
    let file = LIMITED.file();
    let work = format!(
        "mkdir -p sprints && echo {} >{file} && git add --all && git commit --quiet --message=work",
        LIMITED.number
    );
    let mut dear = does(&work);
    dear[0]["usage"] = json!({"input": 100_000, "output": 10_000});
    let refused = vec![json!({"fail": {"status": 429, "resets_at": resets_at}})];
    let mut rules = vec![rule("limited", &[&prompt_of(&LIMITED)], &[refused, dear])];
    rules.extend([LIMITED, OTHER].iter().flat_map(goes_well));
    let ground = Ground::new(&[LIMITED, OTHER], &rules, Login::Plan, &json!({}));

    let run = ["run", "plan.md", "--integration", "pr"];
    let ended = ground.program(&run).start().end_within(MAX_RUN);
    assert_eq!(ended.code, Some(0), "{ended:#?}\n{}", prompts(&ground.real));

    let entries = ground.journal();
    let parked = entries.iter().position(|entry| has(entry, "park"));
    let parked = parked.unwrap_or_else(|| panic!("{entries:#?}"));
    let rest = &entries[parked + 1..];
    let until = Timestamp::from_second(resets_at).unwrap();
    for entry in rest {
        let at: Timestamp = entry["at"].as_str().unwrap().parse().unwrap();
        let is_early = at < until;
        assert!(!(is_early && launches(entry, &LIMITED)), "{entry:#}");
    }
    assert!(rest.iter().any(|entry| launches(entry, &LIMITED)));
    let is_judged = |entry: &&Value| has(entry, "judge") && of(entry, &OTHER);
    let judged = entries.iter().find(is_judged).unwrap();
    let judged: Timestamp = judged["at"].as_str().unwrap().parse().unwrap();
    assert!(judged < until, "the other account went on meanwhile");

    let limited = ground.bead(&LIMITED);
    assert_eq!(limited.0["status"], "closed", "{:#}", limited.0);
    assert_eq!(*limited.metadata("attempt_count"), 1);
    let executions = limited.metadata("dev_agent_executions").as_array().unwrap();
    assert_eq!(executions.len(), 1, "{executions:#?}");

    let limited = Receipt::of(&limited);
    assert!(limited.micros > 100_000, "{limited:?}");
    assert_eq!(limited.n_unpriced, 0, "{limited:?}");
    let other = Receipt::of(&ground.bead(&OTHER));
    assert_eq!((other.micros, other.n_unpriced), (0, 2), "{other:?}");
    assert!(other.tokens > 0, "{other:?}");
    summary(&ended.stdout);
}

/// What a bead has cost, as it is written in it.
#[derive(Debug)]
struct Receipt {
    micros: u64,
    tokens: u64,
    n_unpriced: u64,
}

impl Receipt {
    fn of(bead: &Bead) -> Self {
        let receipt = bead.metadata("receipt");
        let figure = |key: &str| receipt[key].as_u64().unwrap_or(0);
        Self {
            micros: figure("micros"),
            tokens: figure("tokens"),
            n_unpriced: figure("n_unpriced"),
        }
    }
}

/// What people see at the end: what `claude` cost, and that `codex` did not say.
#[track_caller]
fn summary(text: &str) {
    let row = |sprint: &Sprint| {
        let mut lines = text.lines();
        let line = lines.find(|line| line.contains(&sprint.bead()));
        line.unwrap_or_else(|| panic!("{text}")).to_owned()
    };
    assert!(row(&LIMITED).contains('$'), "{text}");
    assert!(row(&OTHER).contains("unknown"), "{text}");
    assert!(text.contains("(2 agent runs reported no cost)"), "{text}");
}

fn effects(entry: &Value) -> impl Iterator<Item = &Value> {
    entry["effects"].as_array().into_iter().flatten()
}

/// Whether an entry asks for something.
fn has(entry: &Value, action: &str) -> bool {
    effects(entry).any(|effect| effect.to_string().contains(&format!("\"{action}\"")))
}

fn of(entry: &Value, sprint: &Sprint) -> bool {
    effects(entry).any(|effect| effect["bead"] == sprint.bead())
}

fn launches(entry: &Value, sprint: &Sprint) -> bool {
    has(entry, "develop") && of(entry, sprint)
}

fn now() -> i64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "limits are about the clock on the wall"
    )]
    let now = Timestamp::now();
    now.as_second()
}

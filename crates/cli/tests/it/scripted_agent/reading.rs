//! What the scripted agent prints, read as any agent's stream is read: by its own rules and by those of `claude`.

use beads_ralph_core::agent::{
    Adapter, Call, Ending, Outcome, Permissions, ProcessEnd, Reader, Session, Status,
};
use beads_ralph_core::bead::Model;
use camino::Utf8Path;
use jiff::Timestamp;
use serde_json::json;

use super::world;
use crate::env::Output;

/// An adapter as it is shipped.
#[track_caller]
fn adapter(name: &str) -> Adapter {
    let folder = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/src/adapters");
    let text = std::fs::read_to_string(folder.join(format!("{name}.yaml"))).unwrap();
    let adapter: Adapter = serde_saphyr::from_str(&text).unwrap();
    adapter.named(name)
}

fn call() -> Call {
    Call {
        session: Session::Named("s-1".to_owned()),
        model: Some(Model::Sonnet),
        options: Some(["--scenario", "scenario.yaml"].map(str::to_owned).to_vec()),
        ..Call::new("Do it.", "/repo", Permissions::Bypass)
    }
}

/// Runs a call as its adapter writes it.
#[track_caller]
fn run(scenario: &str, call: &Call) -> Output {
    let env = world(scenario);
    let invocation = adapter("scripted").invocation(call).unwrap();
    let arguments: Vec<&str> = invocation.argv.iter().map(String::as_str).collect();
    // The program stands first, and is this very one.
    env.command(&arguments[1..])
        .stdin(call.prompt.as_str())
        .run()
}

#[track_caller]
fn read(name: &str, call: &Call, output: &Output) -> Outcome {
    let adapter = adapter(name);
    let mut reader = Reader::new(&adapter, call);
    reader.stdout(output.stdout.as_bytes());
    reader.stderr(output.stderr.as_bytes());
    let ending = Ending {
        end: ProcessEnd::Exited(output.code.unwrap()),
        halt: None,
    };
    reader.finish(&ending, Timestamp::UNIX_EPOCH)
}

/// The outcome of a scenario, about which both readings agree.
#[track_caller]
fn outcome(scenario: &str, call: &Call) -> Outcome {
    let output = run(scenario, call);
    let own = read("scripted", call, &output);
    assert_eq!(own, read("claude", call, &output), "{output:#?}");
    own
}

#[test]
fn success_with_all_that_it_cost() {
    let outcome = outcome(
        "rules: [{sessions: [[{run: echo x, usage: {input: 1000, output: 100, cache_read: 10, cache_write: 1}}, {say: Done.}]]}]",
        &call(),
    );
    assert_eq!(outcome.status, Status::Ok, "{outcome:?}");
    assert_eq!(
        (outcome.session.as_deref(), outcome.model_id.as_deref()),
        (Some("s-1"), Some("scripted-sonnet"))
    );
    assert_eq!(
        (
            outcome.turns,
            outcome.tokens.input,
            outcome.tokens.cache_read
        ),
        (Some(2), 1100, 10)
    );
    assert_eq!(outcome.text.as_deref(), Some("Done."));
    assert!(
        !outcome.is_estimate && outcome.cost.usd.is_some_and(|usd| usd > 0.0),
        "{outcome:?}"
    );
}

#[test]
fn every_end_has_its_status() {
    for (turns, status) in [
        ("{fail: {status: 429}}", Status::Limit),
        ("{fail: {status: 429}, times: 2}, {say: x}", Status::Ok),
        ("{fail: {status: 401}}", Status::Auth),
        ("{fail: {status: 529}}", Status::Failed),
        ("{cut: before}", Status::NoResult),
        ("{run: 'true'}, {cut: midway}", Status::NoResult),
        ("{garbage: <html>}", Status::NoResult),
        ("{garbage: <html>}, {say: x}", Status::Ok),
    ] {
        let scenario = format!("rules: [{{sessions: [[{turns}]]}}]");
        let outcome = outcome(&scenario, &call());
        assert_eq!(outcome.status, status, "{turns}: {outcome:?}");
    }
    let unfit = outcome("rules: [{contains: [no], sessions: [[{say: x}]]}]", &call());
    assert_eq!(unfit.status, Status::Failed, "{unfit:?}");
}

#[test]
fn z_13_a_limit_has_its_end() {
    let outcome = outcome(
        "rules: [{sessions: [[{fail: {status: 429, resets_at: 1900000000}}]]}]",
        &call(),
    );
    assert_eq!(outcome.status, Status::Limit);
    assert_eq!(
        outcome.resets_at,
        Some(Timestamp::from_second(1_900_000_000).unwrap())
    );
}

#[test]
fn a_report_that_is_wanted_must_come() {
    let call = Call {
        schema: Some(json!({"type": "object"})),
        ..call()
    };
    let reported = outcome("rules: [{sessions: [[{report: {ok: true}}]]}]", &call);
    assert_eq!(
        (reported.status, reported.report),
        (Status::Ok, Some(json!({"ok": true})))
    );
    let said = outcome("rules: [{sessions: [[{say: I did it.}]]}]", &call);
    assert_ne!(said.status, Status::Ok, "{said:?}");
}

#[test]
fn a_budget_ends_it_for_good() {
    let mut call = call();
    call.budget.usd = Some(0.5);
    let outcome = outcome(
        "rules: [{sessions: [[{say: x, usage: {output: 1000000}}]]}]",
        &call,
    );
    assert_eq!(
        (outcome.status, outcome.is_retryable),
        (Status::Failed, false),
        "{outcome:?}"
    );
}

#[test]
fn a_scenario_that_is_wrong_is_a_wrong_call() {
    let call = call();
    let output = run("rules: 1", &call);
    assert_eq!(
        read("scripted", &call, &output).status,
        Status::Config,
        "{output:#?}"
    );
    let missing = Call {
        options: Some(Vec::new()),
        ..call
    };
    let output = run("rules: [{sessions: [[{say: x}]]}]", &missing);
    assert_eq!(
        read("scripted", &missing, &output).status,
        Status::Config,
        "{output:#?}"
    );
}

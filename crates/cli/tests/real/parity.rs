//! The scripted agent ends as the real `claude` does when its model does the same.

use beads_ralph_core::agent::{
    Adapter, Call, Ending, Outcome, Permissions, ProcessEnd, Reader, Status,
};
use beads_ralph_testkit::scripted_model::Login;
use camino::Utf8Path;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::world::{Ended, RealWorld};

const PROMPT: &str = "Do the work.";

/// Reads a stream by the rules of `claude`.
#[track_caller]
fn read(ended: &Ended, schema: Option<&Value>) -> Outcome {
    let folder = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/src/adapters");
    let text = std::fs::read_to_string(folder.join("claude.yaml")).unwrap();
    let adapter: Adapter = serde_saphyr::from_str(&text).unwrap();
    let call = Call {
        schema: schema.cloned(),
        ..Call::new(PROMPT, "/repo", Permissions::Bypass)
    };
    let mut reader = Reader::new(&adapter, &call);
    reader.stdout(ended.stdout.as_bytes());
    reader.stderr(ended.stderr.as_bytes());
    let ending = Ending {
        end: ProcessEnd::Exited(ended.code.unwrap()),
        halt: None,
    };
    reader.finish(&ending, Timestamp::UNIX_EPOCH)
}

/// Plays a session with both, and demands that they end alike.
#[track_caller]
fn alike(turns: &str, login: Login, budget: Option<&str>, schema: Option<&Value>) -> Status {
    let scenario = format!("rules: [{{sessions: [[{turns}]]}}]");
    let schema_text = schema.map(Value::to_string);
    let with = |budget_flag: &'static str, schema_flag: &'static str| {
        let mut args = Vec::new();
        args.extend(budget.map(|usd| [budget_flag, usd]).into_iter().flatten());
        args.extend(
            schema_text
                .as_deref()
                .map(|text| [schema_flag, text])
                .into_iter()
                .flatten(),
        );
        args.into_iter().map(str::to_owned).collect::<Vec<String>>()
    };

    let real_world = RealWorld::new(&scenario);
    let args = with("--max-budget-usd", "--json-schema");
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    args.push("--dangerously-skip-permissions");
    let real = read(&real_world.claude(login, PROMPT, &args).run(), schema);

    let scripted_world = RealWorld::new(&scenario);
    let path = scripted_world.write("scenario.yaml", &scenario);
    let args = with("--max-budget-usd", "--schema");
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    args.extend(["scripted-agent", "--scenario", path.as_str()]);
    args.rotate_right(3);
    let scripted = read(&scripted_world.program(&args).stdin(PROMPT).run(), schema);

    let ends = [&real, &scripted].map(|outcome| {
        let Outcome {
            status,
            report,
            resets_at,
            is_retryable,
            exit_code,
            ..
        } = outcome;
        (
            *status,
            report.clone(),
            *resets_at,
            *is_retryable,
            *exit_code,
        )
    });
    assert_eq!(ends[0], ends[1], "{turns}\n{real:#?}\n{scripted:#?}");
    assert_eq!(real.tokens, scripted.tokens, "{turns}");
    real.status
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn work_failures_and_limits_end_alike() {
    for (turns, status) in [
        ("{say: Done.}", Status::Ok),
        ("{run: exit 3}, {say: Done.}", Status::Ok),
        (
            "{fail: {status: 429, retry_after: 0}}, {say: Done.}",
            Status::Ok,
        ),
        ("{fail: {status: 429, retry_after: 0}}", Status::Limit),
        ("{fail: {status: 401}}", Status::Auth),
        ("{fail: {status: 529}}", Status::Failed),
        ("{fail: {status: 400}}", Status::Failed),
    ] {
        assert_eq!(alike(turns, Login::Key, None, None), status, "{turns}");
    }
    let limit = "{fail: {status: 429, resets_at: 1900000000}}";
    assert_eq!(alike(limit, Login::Plan, None, None), Status::Limit);
    let dear = "{run: echo x, usage: {input: 2000000, output: 100000}}, {say: Done.}";
    assert_eq!(alike(dear, Login::Key, Some("1"), None), Status::Failed);
}

#[test]
#[ignore = "needs the real claude: scripts/real-tools claude"]
fn reports_end_alike() {
    let schema =
        json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
    assert_eq!(
        alike("{report: {ok: true}}", Login::Key, None, Some(&schema)),
        Status::Ok
    );
    let late = "{say: I did it.}, {report: {ok: true}}";
    assert_eq!(alike(late, Login::Key, None, Some(&schema)), Status::Ok);
    assert_ne!(
        alike("{say: I did it.}", Login::Key, None, Some(&schema)),
        Status::Ok
    );
}

//! Runs of programs that behave in every way that real ones were seen to.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use beads_ralph_core::agent::{
    Agent, AgentRole, Budget, Call, Context, Outcome, Permissions, ReportFault, Session,
    SpentSoFar, Status, Tokens,
};
use beads_ralph_core::bead::Model;
use beads_ralph_runtime::agent::{self, DRAIN, Job, Observer, Quiet};
use beads_ralph_runtime::config::{self, Config};
use beads_ralph_runtime::os::files;
use beads_ralph_runtime::os::process::{self, Cancel, Mark, Units};
use serde_json::{Value, json};

use super::{recorded, script};
use crate::env::TestEnv;

/// A safety net: a test that comes here has failed.
const LONG: Duration = Duration::from_mins(1);

/// A world with one program, and how it is called.
struct World {
    env: TestEnv,
    config: Config,
    agent: String,
    program: String,
    call: Call,
    drain: Duration,
    mark: Mark,
}

impl World {
    /// A program that is called like the agent `name`.
    #[track_caller]
    fn new(name: &str, body: &str) -> Self {
        Self::with(name, body, "{}")
    }

    #[track_caller]
    fn with(name: &str, body: &str, overrides: &str) -> Self {
        static N_WORLDS: AtomicU64 = AtomicU64::new(0);
        let number = N_WORLDS.fetch_add(1, Ordering::Relaxed);
        let env = TestEnv::new();
        env.make_directory("tree");
        env.make_directory("unit");
        let program = script(&env, "program", body);
        let config = format!("agents: {{adapters: {{{name}: {overrides}}}}}\n");
        let config = config::parse("beads-ralph.yaml".into(), config.as_bytes()).unwrap();
        let call = Call::new("Do it — all of it.", env.path("tree"), Permissions::Bypass);
        Self {
            config,
            agent: name.to_owned(),
            program: program.into_string(),
            call,
            drain: DRAIN,
            mark: Mark(format!("agent-test-{}-{number}", std::process::id())),
            env,
        }
    }

    #[track_caller]
    fn run(&self) -> Outcome {
        self.watched(&Cancel::new().unwrap(), &mut Quiet)
    }

    #[track_caller]
    fn watched(&self, cancel: &Cancel, observer: &mut dyn Observer) -> Outcome {
        let units = Units::with_shim(env!("CARGO_BIN_EXE_beads-ralph"));
        let job = Job {
            adapter: self.config.agents.get(&self.agent).unwrap(),
            program: self.program.as_str().into(),
            call: self.call.clone(),
            context: Context {
                bead: "bd-1-1-x".to_owned(),
                sprint: Some("1.1".to_owned()),
                role: AgentRole::Qa,
                attempt: 2,
                agent: None,
                worktree: self.env.path("tree").into_string(),
                report: None,
                fence: None,
            },
            directory: &self.env.path("unit"),
            mark: self.mark.clone(),
            limit: LONG,
            drain: self.drain,
            withhold: &[],
            before: Tokens::default(),
        };
        let outcome = agent::run(&units, job, cancel, observer).unwrap();
        assert!(
            process::find(&self.mark).is_empty(),
            "nothing is left of it"
        );
        let written = self.env.json("unit/outcome.json");
        assert_eq!(
            written,
            serde_json::to_value(&outcome).unwrap(),
            "it is kept as it is told"
        );
        outcome
    }
}

/// What a run printed, unpacked.
fn raw(outcome: &Outcome) -> String {
    let bytes = files::read_kept(outcome.raw.as_deref().unwrap().into());
    String::from_utf8(bytes.unwrap()).unwrap()
}

/// Prints what a real program printed.
fn printing(program: &str, name: &str) -> String {
    format!("cat '{}'", recorded(program, name))
}

#[test]
fn l_3_a_run_gets_what_it_needs_and_everything_of_it_is_kept() {
    let body = format!(
        "printf '%s\\n' \"$@\" > ../args; cat > ../stdin; pwd -P > ../cwd; env | grep ^BEADS_RALPH_ | sort > ../env; {}",
        printing("claude", "tool-use")
    );
    let mut world = World::with(
        "claude",
        &body,
        "{env: {FOO: bar}, options: [--effort, high]}",
    );
    world.call.model = Some(Model::Sonnet);
    world.call.session = Session::Named("11111111-2222-4333-8444-555555555555".to_owned());
    world.call.agent = Some(Agent {
        name: "dev".to_owned(),
        instructions: "not for stdin".to_owned(),
    });
    let mut seen = Recorder::default();
    let outcome = world.watched(&Cancel::new().unwrap(), &mut seen);
    assert_eq!(
        (outcome.status, outcome.text.as_deref()),
        (Status::Ok, Some("Done."))
    );
    assert_eq!(
        world.env.text("args").replace('\n', " ").trim(),
        "-p --output-format stream-json --verbose --model sonnet --effort high --dangerously-skip-permissions \
         --agent dev --session-id 11111111-2222-4333-8444-555555555555"
    );
    assert_eq!(world.env.text("stdin"), "Do it — all of it.");
    assert_eq!(world.env.text("unit/prompt.md"), "Do it — all of it.");
    assert_eq!(
        world.env.text("cwd").trim(),
        world.env.path("tree").as_str()
    );
    let unit = world.env.path("unit");
    assert_eq!(
        world.env.text("env"),
        format!(
            "BEADS_RALPH_AGENT=\nBEADS_RALPH_ATTEMPT=2\nBEADS_RALPH_BEAD=bd-1-1-x\nBEADS_RALPH_FENCE=\nBEADS_RALPH_REPORT={unit}/report\n\
             BEADS_RALPH_ROLE=qa\nBEADS_RALPH_SPRINT=1.1\nBEADS_RALPH_UNIT={}\nBEADS_RALPH_WORKTREE={}\n",
            world.mark.0,
            world.env.path("tree"),
        )
    );
    let printed = std::fs::read_to_string(recorded("claude", "tool-use")).unwrap();
    assert_eq!(raw(&outcome), printed);
    assert_eq!(
        world.env.names("unit"),
        ["outcome.json", "prompt.md", "stdout.gz"]
    );
    assert_eq!(seen.activities.last().map(String::as_str), Some("Done."));
    assert!(seen.session.is_some());
}

#[derive(Default)]
struct Recorder {
    activities: Vec<String>,
    session: Option<String>,
}

impl Observer for Recorder {
    fn seen(&mut self, activity: Option<&str>, session: Option<&str>, _: &SpentSoFar) {
        self.activities.extend(activity.map(str::to_owned));
        self.session = session.map(str::to_owned);
    }
}

#[test]
fn a_program_that_hangs_after_its_last_word_is_ended_and_has_succeeded() {
    let body = format!(
        "{}; trap '' TERM; sleep 1000",
        printing("claude", "success")
    );
    let mut world = World::new("claude", &body);
    world.drain = Duration::from_millis(200);
    let outcome = world.run();
    assert_eq!(outcome.status, Status::Ok, "{outcome:#?}");
    assert!(
        outcome.notes[0].contains("did not end after its last word"),
        "{:?}",
        outcome.notes
    );
}

#[test]
fn a_program_that_is_silent_is_a_timeout() {
    let body = format!("{}; sleep 1000", printing("codex", "hang"));
    let world = World::with("codex", &body, "{idle_timeout: 1s}");
    let outcome = world.run();
    assert_eq!(outcome.status, Status::Timeout);
    assert!(
        outcome.reason.starts_with("it was silent for 1 second"),
        "{}",
        outcome.reason
    );
    assert!(outcome.session.is_some() && outcome.is_retryable);
}

#[test]
fn a_program_that_goes_on_and_on_is_a_timeout() {
    let world = World::with(
        "claude",
        "while :; do echo noise; sleep 0.1; done",
        "{timeout: 1s}",
    );
    let outcome = world.run();
    assert_eq!(
        (outcome.status, outcome.reason.as_str()),
        (Status::Timeout, "it took longer than 1 second")
    );
}

#[test]
fn a_cancelled_run_is_killed_with_everything_that_it_started() {
    struct CancelAtOnce(Cancel);
    impl Observer for CancelAtOnce {
        fn seen(&mut self, activity: Option<&str>, _: Option<&str>, _: &SpentSoFar) {
            if activity.is_some() {
                self.0.cancel();
            }
        }
    }
    let body = format!("sleep 1000 & {}; sleep 1000", printing("claude", "hang"));
    let world = World::new("claude", &body);
    let cancel = Cancel::new().unwrap();
    let outcome = world.watched(&cancel, &mut CancelAtOnce(cancel.clone()));
    assert_eq!(
        (outcome.status, outcome.reason.as_str()),
        (Status::Killed, "it was cancelled")
    );
}

#[test]
fn a_run_that_spends_too_much_is_stopped_from_outside() {
    let line = |id: usize| {
        let usage = json!({"input_tokens": 1000, "output_tokens": 1});
        json!({"type": "assistant", "message": {"id": id, "content": [], "usage": usage}})
            .to_string()
    };
    let body = format!("echo '{}'; echo '{}'; sleep 1000", line(1), line(2));
    let mut world = World::with(
        "claude",
        &body,
        "{price: {default: {input: 1000, output: 0}}}",
    );
    world.call.budget.tokens = Some(1500);
    let outcome = world.run();
    assert_eq!(
        (outcome.status, outcome.is_retryable),
        (Status::Failed, false)
    );
    assert_eq!(
        outcome.reason,
        "its budget of 1500 tokens is used up (2002 so far)"
    );
    assert!(outcome.is_estimate);
    world.call.budget = Budget {
        usd: Some(1.5),
        ..Budget::default()
    };
    assert_eq!(
        world.run().reason,
        "its budget of $1.5 is used up ($2.00 so far)"
    );
    world.call.budget = Budget {
        turns: Some(1),
        ..Budget::default()
    };
    assert_eq!(world.run().reason, "its budget of 1 turns is used up");
}

#[test]
fn what_cannot_be_started_is_a_matter_of_configuration() {
    let mut world = World::new("claude", "exit 0");
    world.program = "/no/such/program".to_owned();
    let outcome = world.run();
    assert_eq!(outcome.status, Status::Config);
    assert!(
        outcome.reason.contains("cannot start '/no/such/program'"),
        "{}",
        outcome.reason
    );
    world.env.write("no-script", "#!/no/such/interpreter\n");
    world.program = world.env.path("no-script").into_string();
    assert_eq!(world.run().status, Status::Config, "it is not executable");
    let mut world = World::new("opencode", "exit 0");
    world.call.permissions = Permissions::Sandbox;
    let outcome = world.run();
    assert_eq!(
        (outcome.status, outcome.reason.as_str()),
        (
            Status::Config,
            "opencode does not support `permissions: sandbox`"
        )
    );
}

#[test]
fn an_agent_name_that_the_program_refuses_is_a_matter_of_configuration() {
    let world = World::new(
        "claude",
        "echo \"--agent 'x' not found. Available agents: claude\" >&2; exit 1",
    );
    let outcome = world.run();
    assert_eq!(
        (outcome.status, outcome.exit_code),
        (Status::Config, Some(1))
    );
    assert_eq!(outcome.raw, None, "it printed nothing");
    assert_eq!(
        world.env.names("unit"),
        ["outcome.json", "prompt.md", "stderr"]
    );
}

#[test]
fn a_program_that_never_reads_gets_in_nobodys_way() {
    let mut world = World::new("claude", &printing("claude", "success"));
    world.call.prompt = "x".repeat(5_000_000);
    assert_eq!(world.run().status, Status::Ok);
}

#[test]
fn a_process_that_is_left_behind_is_killed_and_noted() {
    let body = format!("sleep 1000 & {}", printing("claude", "success"));
    let outcome = World::new("claude", &body).run();
    assert_eq!(
        (outcome.status, outcome.notes.as_slice()),
        (
            Status::Ok,
            &["1 of its processes were still running and were killed".to_owned()][..]
        )
    );
}

#[test]
fn what_an_agent_puts_into_the_place_of_our_files_is_neither_waited_for_nor_followed() {
    let links = "ln -s ../mine report; ln -s ../mine stdout; ln -s ../mine stderr";
    let later = "until [ -s stdout ]; do :; done; rm stdout; mkfifo stdout";
    for (before, after, n_faults) in [
        ("mkfifo report stdout stderr", "", 2),
        ("mkdir report stdout stderr", "", 2),
        (links, "", 2),
        ("", later, 1),
    ] {
        let printing = printing("claude", "success");
        let to_unit = "cd \"${BEADS_RALPH_REPORT%/*}\"";
        let body = format!("{to_unit}\n{before}\n{printing}\necho oh >&2\n{after}");
        let world = World::new("claude", &body);
        world.env.write("mine", "the user's");
        let outcome = world.run();
        assert_eq!(outcome.status, Status::Ok, "{body}: {outcome:#?}");
        assert!(outcome.text.is_some());
        assert_eq!(world.env.text("mine"), "the user's", "{body}");
        let is_fault = |note: &&String| note.contains("/unit/std");
        let n_found = outcome.notes.iter().filter(is_fault).count();
        assert_eq!(n_found, n_faults, "{body}: {:?}", outcome.notes);
    }
}

#[test]
fn a_second_run_in_a_directory_keeps_its_own_output() {
    let body = format!("echo $$ >&2; {}", printing("claude", "success"));
    let world = World::new("claude", &body);
    let first = world.run();
    let complaint = world.env.text("unit/stderr");
    let second = world.run();
    assert_eq!(first.notes, second.notes);
    assert_ne!(world.env.text("unit/stderr"), complaint);
}

#[test]
fn a_schema_is_a_file_for_who_wants_one() {
    let body = format!(
        "cat \"${{10}}\" > ../schema; printf '%s\\n' \"$@\" > ../args; {}",
        printing("codex", "report")
    );
    let mut world = World::new("codex", &body);
    world.call.schema = Some(json!({"type": "object"}));
    let outcome = world.run();
    assert_eq!(
        outcome.report,
        Some(json!({"status": "pass", "message": "good"})),
        "{outcome:#?}"
    );
    let args = world.env.text("args");
    let schema = world.env.path("unit/schema.json");
    assert!(
        args.contains(&format!("--output-schema\n{schema}\n-")),
        "{args}"
    );
    assert_eq!(
        world.env.json("unit/schema.json"),
        json!({"type": "object"})
    );
}

/// A command of one's own, asked for a QA verdict.
fn qa(body: &str) -> Outcome {
    let mut world = World::with("mine", body, "{executable: x}");
    world.call.schema = Some(Value::Object(serde_json::Map::new()));
    world.run()
}

#[test]
fn l_4_a_command_answers_on_standard_output_or_in_its_report() {
    let verdict = r#"{"status": "pass", "message": "m"}"#;
    let expected: Value = serde_json::from_str(verdict).unwrap();
    let printed = qa(&format!(
        "echo thinking; echo '```json'; echo '{verdict}'; echo '```'"
    ));
    assert_eq!(
        (printed.status, printed.report),
        (Status::Ok, Some(expected.clone()))
    );
    let written = qa(&format!(
        "echo 'no JSON here'; echo '{verdict}' > \"$BEADS_RALPH_REPORT\""
    ));
    assert_eq!(
        (written.status, written.report),
        (Status::Ok, Some(expected))
    );
    let broken = qa("echo '{' > \"$BEADS_RALPH_REPORT\"");
    assert_eq!(
        (broken.status, broken.report_fault),
        (Status::Failed, Some(ReportFault::Invalid))
    );
    let failed = qa(&format!("echo '{verdict}'; exit 1"));
    assert_eq!(
        failed.status,
        Status::Failed,
        "its word alone is no success"
    );
    let empty = qa("exit 0");
    assert_eq!(
        (empty.status, empty.report_fault),
        (Status::Failed, Some(ReportFault::NoJson))
    );
}

//! Seeing what `implement` did: its logs, its stages, and what is left of them (I-16, §7.9).

use std::io::{BufRead as _, BufReader};

use serde_json::Value;

use super::{Bench, SOURCE};

const LOOPED: &str = "ralf:required,auto-mergeable";

/// Workers that also say something; reviewers say nothing but their findings.
const TALKS: &str = "case $role in reviewer) ;; *) echo \"$agent was here\" ;; esac; diligent";

/// A bug that was implemented in a loop, and merged.
fn merged() -> Bench {
    let bench = Bench::with(
        TALKS,
        super::REVIEWERS,
        "gates: {test: sh t.sh}\nintegration: {mode: merge}\n",
    );
    bench.source("bug", LOOPED);
    assert_eq!(bench.implement_all()["ending"], "source_closed");
    bench
}

fn texts(list: &Value, key: &str) -> Vec<String> {
    let list = list.as_array().unwrap_or_else(|| panic!("{list:#}")).iter();
    list.map(|it| it[key].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn i_16_logs_are_what_workers_reviewers_and_checks_wrote_in_the_order_of_the_stages() {
    let bench = merged();
    let root = bench.molecules()[0]["id"].as_str().unwrap().to_owned();
    let data = bench.world.data(&["logs", SOURCE]);
    assert_eq!(data["run"], root.as_str());
    let logs = texts(&data["logs"], "log");
    let at = |name: &str| {
        let at = logs.iter().position(|log| log == name);
        at.unwrap_or_else(|| panic!("{name} is not in {logs:#?}"))
    };
    let ran = [
        "diagnose/bug-diagnoser.run/stdout",
        "red-tests/tdd-red-team.run/prompt.md",
        "green-loop/tdd-green-team-iter1.run/stdout",
        "green-loop/reviews/cycle-1-codex/review.json",
        "verify-ac/verify-ac.run/checks.json",
    ];
    assert!(ran.is_sorted_by_key(|name| at(name)), "{logs:#?}");
    let shown = bench.world.run(&["logs", SOURCE, ran[0]]).exits(0).stdout;
    assert_eq!(shown, "bug-diagnoser was here\n");
    let step = format!("{root}-red-tests");
    let of_step = bench.world.data(&["logs", &step]);
    let of_step = texts(&of_step["logs"], "log");
    assert!(
        of_step.iter().all(|log| log.starts_with("red-tests/")) && !of_step.is_empty(),
        "{of_step:#?}"
    );
    assert_eq!(bench.world.data(&["logs", &root])["logs"], data["logs"]);
    bench
        .world
        .run(&["logs", "proj-9"])
        .exits(1)
        .says("no agent or check has run");
}

#[test]
fn i_16_logs_lead_nowhere_else() {
    let bench = Bench::new("diligent");
    bench.source("bug", "");
    bench.bring_to("red-tests");
    let id = bench.step("red-tests")["id"].as_str().unwrap().to_owned();
    bench.world.write("secrets/key", "secret\n");
    let folder = bench.world.root.join(".beads/worker-audit").join(&id);
    std::os::unix::fs::symlink(bench.world.root.join("secrets"), folder).unwrap();
    let logs = texts(&bench.world.data(&["logs", SOURCE])["logs"], "log");
    assert!(!logs.iter().any(|log| log.contains("key")), "{logs:#?}");
}

#[test]
fn logs_follow_a_bead_from_stage_to_stage() {
    let bench = Bench::new("diligent");
    bench.source("bug", "");
    bench.agent("echo \"$agent begins\"; diligent");
    bench.bring_to("red-tests");
    let (reading, writing) = std::io::pipe().unwrap();
    let mut follow = bench.world.command(&["logs", SOURCE, "-f"]);
    follow.stdout(writing);
    let follow = follow.start();
    let mut lines = BufReader::new(reading).lines().map(Result::unwrap);
    assert_eq!(lines.next().as_deref(), Some("bug-diagnoser begins"));
    bench.implement();
    assert_eq!(lines.next().as_deref(), Some("tdd-red-team begins"));
    follow.signal(rustix::process::Signal::INT);
    follow.end().exits(0);
}

#[test]
fn section_7_9_status_of_a_bead_tells_its_stages() {
    let bench = Bench::new(
        "if [ \"$role:$agent:$attempt\" = worker:tdd-green-team:1 ]; then report failed \"$(tests 1 0 1)\"; else diligent; fi",
    );
    bench.source("bug", "ralf:required");
    bench.bring_to("red-tests");
    bench.implement();
    bench.implement();
    let data = bench.world.data(&["status", "--bead", SOURCE]);
    let molecule = &data["molecules"][0];
    assert_eq!(
        (&molecule["formula"], &molecule["done"]),
        (&"fix-bug".into(), &4.into())
    );
    assert_eq!(molecule["current"], bench.step("quality-sweep")["id"]);
    assert_eq!(molecule["worktree"], bench.worktree());
    let stages = texts(&molecule["steps"], "stage");
    assert_eq!(
        stages[..4],
        ["preflight", "diagnose", "red-tests", "green-loop"]
    );
    let green = &molecule["steps"][3];
    assert_eq!(
        (&green["place"], &green["tries"]),
        (&"done".into(), &1.into()),
        "{green:#}"
    );
    assert_eq!(green["cycles"], 2, "{green:#}");
    assert_eq!(texts(&green["reports"], "status"), ["failed", "complete"]);
    assert_eq!(texts(&green["reports"], "gate"), ["fail", "pass"]);
    assert_eq!(molecule["steps"][4]["tries"], 0);
    let said = bench
        .world
        .run(&["status", "--bead", SOURCE])
        .exits(0)
        .stdout;
    let lines: Vec<&str> = said
        .lines()
        .filter(|it| it.contains("tdd-green-team"))
        .collect();
    assert!(lines[0].starts_with("green-loop"), "{said}");
    assert!(lines[1].contains("complete, gate pass"), "{said}");
    assert!(!said.contains("no agent"), "{said}");
    let all = bench.world.data(&["status"]);
    assert_eq!(
        (&all["implement"][0]["id"], &all["implement"][0]["stage"]),
        (&SOURCE.into(), &"quality-sweep".into())
    );
    let step = green["id"].as_str().unwrap();
    let part = bench.world.data(&["status", "--bead", step]);
    assert_eq!(part["part_of"]["bead"], SOURCE);
}

#[test]
fn section_7_9_status_names_the_stage_that_a_person_is_asked_about() {
    let bench = Bench::new(
        "if [ \"$agent\" = bug-diagnoser ]; then report needs_human 'escalations: [{reason: unclear, detail: two ways}]'; else diligent; fi",
    );
    bench.source("bug", "");
    bench.create("proj-2", "task", "implementation-ready,brainstormed");
    assert_eq!(bench.implement_all()["ending"], "needs_human");
    let data = bench.world.data(&["status"]);
    let told = &data["implement"];
    assert_eq!(texts(told, "id"), [SOURCE, "proj-2"]);
    assert_eq!(
        (&told[0]["stage"], &told[0]["human"]),
        (&"diagnose".into(), &true.into())
    );
    assert_eq!(told[1]["molecule"], Value::Null);
    bench
        .world
        .run(&["status"])
        .exits(0)
        .says("not begun")
        .says("human list");
    let one = bench.world.data(&["status", "--bead", SOURCE]);
    assert!(
        one["last_error"].as_str().unwrap().contains("two ways"),
        "{one:#}"
    );
    bench.answer("the first", &[]);
    let one = bench.world.data(&["status", "--bead", SOURCE]);
    assert_eq!(one["last_error"], Value::Null);
}

#[test]
fn clean_removes_what_implement_merged_and_nothing_before() {
    let bench = Bench::with(
        TALKS,
        super::REVIEWERS,
        "gates: {test: sh t.sh}\nintegration: {mode: merge}\n",
    );
    bench.source("bug", "auto-mergeable");
    bench.implement();
    let clean = |more: &str| bench.world.data(&["clean", "--branches", more]);
    let nothing = clean("--dry-run");
    assert_eq!(nothing["removed"], Value::Array(Vec::new()), "it is open");
    assert_eq!(bench.implement_all()["ending"], "source_closed");
    let worktree = bench.worktree();
    let would = clean("--dry-run");
    assert_eq!(texts(&would["removed"], "kind"), ["worktree", "branch"]);
    assert_eq!(would["removed"][0]["name"], worktree.as_str());
    assert!(std::fs::exists(&worktree).unwrap());
    bench.world.write(&format!("{worktree}/note.txt"), "mine\n");
    let left = clean("--yes");
    assert_eq!(
        texts(&left["left"], "kind"),
        ["worktree", "branch"],
        "{left:#}"
    );
    std::fs::remove_file(format!("{worktree}/note.txt")).unwrap();
    let did = clean("--yes");
    assert_eq!(did["removed"], would["removed"]);
    assert!(!std::fs::exists(&worktree).unwrap());
    let branches = bench.world.git(&["branch", "--format=%(refname:short)"]);
    assert_eq!(branches, "main\nralph/implement");
}

#[test]
fn clean_leaves_work_that_is_nowhere_else_and_worktrees_of_others() {
    let bench = Bench::new("diligent");
    bench.source("bug", "");
    bench.bring_to("red-tests");
    bench.implement();
    bench.bd(&["close", SOURCE, "--force"]);
    let worktree = bench.worktree();
    let would = bench.world.data(&["clean", "--branches", "--dry-run"]);
    assert_eq!(
        texts(&would["removed"], "kind"),
        ["worktree"],
        "its branch is merged nowhere"
    );
    let step = bench.step("green-loop")["id"].as_str().unwrap().to_owned();
    bench.world.run(&["claim", &step]).exits(0);
    let would = bench.world.data(&["clean", "--dry-run"]);
    assert_eq!(would["removed"], Value::Array(Vec::new()), "it is held");
    bench.world.run(&["release", &step]).exits(0);
    let elsewhere = bench.world.base.join("own/place");
    bench.world.git(&[
        "worktree",
        "add",
        "--quiet",
        "-b",
        "own/place",
        elsewhere.as_str(),
    ]);
    let root = bench.molecules()[0]["id"].as_str().unwrap().to_owned();
    let labels = bench.molecules()[0]["labels"].clone();
    let label = labels.as_array().unwrap().iter().find_map(|it| {
        it.as_str()
            .filter(|label| label.starts_with("worktree-path-"))
    });
    let encoded = elsewhere.as_str().replace('_', "_u").replace('/', "__");
    bench.bd(&["label", "remove", &root, label.unwrap()]);
    bench.bd(&["label", "add", &root, &format!("worktree-path-{encoded}")]);
    let would = bench.world.data(&["clean", "--branches", "--dry-run"]);
    assert_eq!(would["removed"], Value::Array(Vec::new()), "{would:#}");
    assert!(std::fs::exists(&worktree).unwrap() && elsewhere.exists());
}

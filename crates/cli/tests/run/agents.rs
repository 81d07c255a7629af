//! Agents that hang, lie, talk nonsense, are at a limit, or are not there.

use crate::world::{DILIGENT, Setup, World, plan};

fn world(agent: &str) -> World {
    World::new(&Setup {
        agent: agent.to_owned(),
        ..Setup::default()
    })
}

#[test]
fn l_16_a_dev_agent_that_says_nothing_any_more_is_ended_and_tried_again() {
    let world = World::new(&Setup {
        agent: format!("[ $role$attempt = dev1 ] && sleep 1000\n{DILIGENT}"),
        adapter: "idle_timeout: 4s".to_owned(),
        ..Setup::default()
    });
    world
        .run(&["run"])
        .exits(0)
        .says("is stopped after 4 s without output");
    assert_eq!(world.log(), ["dev 1.1 1", "dev 1.1 2", "qa 1.1 2"]);
    let bead = world.bead("1.1");
    let dev = &bead["metadata"]["dev_agent_executions"];
    assert_eq!(
        (&dev[0]["status"], &dev[1]["status"]),
        (&"timeout".into(), &"completed".into())
    );
    let feedback = dev[1]["feedback_from_qa"].as_str().unwrap();
    assert!(feedback.contains("silent"), "{feedback}");
}

#[test]
fn l_17_a_judge_that_hangs_has_failed_the_work() {
    let world = World::new(&Setup {
        agent: format!(
            "[ $role$attempt = qa1 ] && sleep 1000\n[ $role$attempt = dev2 ] && touch more.txt\n{DILIGENT}"
        ),
        config: "timeouts: {qa_agent: 1s}\nralph: {poll_interval: 100ms}\n".to_owned(),
        ..Setup::default()
    });
    world.run(&["run"]).exits(0);
    assert_eq!(
        world.verdicts("1.1"),
        ["fail: QA agent timed out after 0.0 minutes", "pass: fine"]
    );
}

#[test]
fn l_16_an_agent_that_says_it_is_done_and_changed_nothing_is_not_believed() {
    let world = World::new(&Setup {
        plan: plan(&[("1.1a", "Liar"), ("1.1b", "Honest"), ("1.2", "Later")]),
        agent: format!("[ $role$sprint = dev1.1a ] && exit 0\n{DILIGENT}"),
        ..Setup::default()
    });
    let ended = world.run(&["run"]).exits(1);
    assert_eq!(
        world.statuses(),
        "1.1a blocked, 1.1b closed, 1.2 open",
        "Z-1: the others go on"
    );
    let error = world.error_of("1.1a");
    assert!(error.contains("nothing was changed"), "{error}");
    let bead = world.bead("1.1a");
    assert!(
        bead["labels"].as_array().unwrap().contains(&"human".into()),
        "{bead}"
    );
    let id = bead["id"].as_str().unwrap();
    let notes = bead["notes"].as_str().unwrap();
    assert!(
        notes.contains(&format!("beads-ralph retry {id}")),
        "{notes}"
    );
    assert!(ended.stderr.contains(id), "{ended:?}");
    assert!(
        !world.log().iter().any(|run| run.contains("qa 1.1a")),
        "nobody judges nothing"
    );
}

#[test]
fn l_16_an_agent_that_writes_outside_of_its_worktree_has_done_nothing() {
    let world = world("[ $role = dev ] && echo x >\"$base/repo/outside.txt\"\n");
    world.run(&["run"]).exits(1);
    assert_eq!(world.statuses(), "1.1 blocked");
    assert!(world.error_of("1.1").contains("nothing was changed"));
    assert_eq!(
        world.git(&["status", "--porcelain"]),
        "?? outside.txt",
        "it is not ours to remove"
    );
    let branches = world.git(&["log", "--all", "--format=%s", "--", "outside.txt"]);
    assert_eq!(branches, "", "nor to commit");
}

#[test]
fn l_17_a_judge_who_talks_nonsense_has_failed_the_work() {
    for (said, verdict) in [
        ("it looks good to me", "QA agent did not return JSON"),
        (
            "```json\n{\"status\": \"pass\",\n```",
            "QA agent returned invalid JSON",
        ),
        (
            "{\"status\": \"great\", \"message\": \"m\"}",
            "QA agent missing required fields",
        ),
        ("{\"status\": \"pass\"}", "QA agent missing required fields"),
        ("", "QA agent did not return JSON"),
    ] {
        let world = world(&format!(
            "[ $role = dev ] && {{ mkdir -p work; date +%N >work/1.1.txt; exit 0; }}\ncat <<'X'\n{said}\nX\n"
        ));
        world.run(&["run"]).exits(1);
        let verdict = format!("fail: {verdict}");
        assert_eq!(
            world.verdicts("1.1"),
            [&*verdict, &verdict, &verdict],
            "{said}"
        );
        assert_eq!(world.statuses(), "1.1 blocked");
    }
}

#[test]
fn l_8_a_judge_who_says_stop_stops_the_run_and_others_finish() {
    let world = World::new(&Setup {
        plan: plan(&[("1.1a", "Bad"), ("1.1b", "Slow"), ("1.2", "Later")]),
        agent: format!(
            "if [ $role$sprint = qa1.1a ]; then echo '{{\"status\": \"stop\", \"message\": \"a key was leaked\"}}'; exit; fi\n\
             if [ $role$sprint = dev1.1b ]; then while ! [ -e \"$base/go\" ]; do sleep 0.05; done; fi\n{DILIGENT}"
        ),
        ..Setup::default()
    });
    let running = world.command(&["run"]).start();
    crate::world::wait_until("1.1a is blocked", || {
        world.statuses().contains("1.1a blocked")
    });
    world.touch("go");
    running.end().exits(3).says("a key was leaked");
    assert_eq!(world.statuses(), "1.1a blocked, 1.1b closed, 1.2 open");
    let result = &world.bead("1.1a")["metadata"]["scrum_result"];
    assert_eq!(
        (&result["fatal"], &result["attempt_count"]),
        (&true.into(), &1.into())
    );
    assert_eq!(
        world
            .log()
            .iter()
            .filter(|run| run.contains("dev 1.1a"))
            .count(),
        1,
        "no retry"
    );
}

/// Reads what our script prints about limits, as adapters of real programs do.
pub(crate) const LIMITS: &str = "read: {stream: json-lines, rules: [\
    {when: {/type: limit}, take: {resets_at: /at, error: /type}, ends: limit}, \
    {when: {/type: done}, take: {text: /text}, ends: ok}]}";

#[test]
fn z_13_a_limit_with_an_end_is_waited_for_and_costs_no_attempt() {
    let agent = r#"
if [ "$role" = dev ] && ! [ -e "$base/limited" ]; then
  touch "$base/limited"
  echo "{\"type\": \"limit\", \"at\": $(($(date +%s) + 3))}"
  exit 1
fi
if [ "$role" = dev ]; then mkdir -p work && echo x >work/$sprint.txt; fi
echo '{"type": "done", "text": "{\"status\": \"pass\", \"message\": \"fine\"}"}'
"#;
    let world = World::new(&Setup {
        plan: plan(&[("1.1a", "One"), ("1.1b", "Two")]),
        agent: agent.to_owned(),
        adapter: LIMITS.to_owned(),
        config: "ralph: {poll_interval: 100ms, max_parallel_sessions: 1}\n".to_owned(),
        ..Setup::default()
    });
    world.run(&["run"]).exits(0).says("limit");
    assert_eq!(world.statuses(), "1.1a closed, 1.1b closed");
    assert_eq!(
        world.log()[..2],
        ["dev 1.1a 1", "dev 1.1a 1"],
        "the same attempt again"
    );
    assert_eq!(world.bead("1.1a")["metadata"]["attempt_count"], 1);
}

#[test]
fn z_13_a_limit_without_an_end_is_waited_for_a_few_times() {
    let agent = "[ $role = dev ] && echo '{\"type\": \"limit\"}'; exit 1\n";
    let world = World::new(&Setup {
        agent: agent.to_owned(),
        adapter: LIMITS.to_owned(),
        config: "claude: {max_retries: 2, rate_limit_backoff: constant}\nralph: {poll_interval: 100ms}\n".to_owned(),
        ..Setup::default()
    });
    world.run(&["run"]).exits(1);
    assert_eq!(world.log(), ["dev 1.1 1"; 3]);
    assert!(
        world
            .error_of("1.1")
            .contains("at its limit, also after 2 waits")
    );
    assert_eq!(world.bead("1.1")["metadata"]["attempt_count"], 0);
}

#[test]
fn z_16_an_agent_that_is_not_there_is_told_before_anything_starts() {
    let more = "";
    let section =
        crate::world::sprint("1.1", "One", more).replace("- `claude` (sonnet)", "- `dev` (sonnet)");
    let world = World::bare(&Setup {
        plan: format!(
            "# Plan: p\n\n{section}{}",
            crate::world::sprint("1.2", "Two", "")
        ),
        ..Setup::default()
    });
    world.write(
        ".claude/agents/dev.md",
        "---\nname: dev\ndescription: d\n---\nWork.\n",
    );
    world.run(&["plan", "apply", "plan.md"]).exits(0);
    std::fs::remove_file(world.root.join(".claude/agents/dev.md")).unwrap();
    world.run(&["run"]).exits(3).says(".claude/agents/dev.md");
    assert_eq!(world.log(), Vec::<String>::new());
    assert_eq!(world.statuses(), "1.1 open, 1.2 open");
}

#[test]
fn z_16_an_agent_that_nobody_committed_is_told_before_anything_starts() {
    let section =
        crate::world::sprint("1.1", "One", "").replace("- `claude` (sonnet)", "- `dev` (sonnet)");
    let world = World::bare(&Setup {
        plan: format!("# Plan: p\n\n{section}"),
        ..Setup::default()
    });
    world.write(
        ".claude/agents/dev.md",
        "---\nname: dev\ndescription: d\n---\nWork.\n",
    );
    world.run(&["plan", "apply", "plan.md"]).exits(0);
    world
        .run(&["run"])
        .exits(3)
        .says("git add .claude/agents/dev.md && git commit, on main");
    assert_eq!(world.statuses(), "1.1 open");
    world.git(&["add", ".claude"]);
    world.git(&["commit", "-m", "agents"]);
    world.run(&["run"]).exits(0);
}

#[test]
fn z_16_a_file_that_is_copied_and_not_ignored_is_warned_of() {
    let world = World::new(&Setup {
        config: "worktrees: {copy: [.env]}\n".to_owned(),
        ..Setup::default()
    });
    world.write(".env", "TOKEN=1\n");
    let told = "git does not ignore .env";
    world.run(&["run", "--dry-run"]).says(told);
    world.write(".gitignore", ".env\n");
    let ended = world.run(&["run", "--dry-run"]);
    assert!(!ended.stderr.contains(told), "{ended:#?}");
}

#[test]
fn z_16_a_program_that_is_not_there_is_told_before_anything_starts() {
    let world = World::new(&Setup::default());
    std::fs::remove_file(world.base.join("agent.sh")).unwrap();
    world.run(&["run"]).exits(3).says("agent.sh");
    assert_eq!(world.statuses(), "1.1 open");
}

#[test]
fn z_23_without_a_choice_a_run_stops_with_the_question() {
    let world = World::new(&Setup::default());
    let config = "disk: {check_before_start: false}\nagents: {default: claude, adapters: {claude: {executable: ../agent.sh}}}\n";
    world.write("beads-ralph.yaml", config);
    world
        .run(&["run"])
        .exits(3)
        .says("no permission mode is set for agents")
        .says("bypass|ask-none|sandbox");
    assert_eq!(world.log(), Vec::<String>::new());
}

#[test]
fn l_14_an_agent_that_closes_its_bead_is_refused() {
    let program = env!("CARGO_BIN_EXE_beads-ralph");
    // One that forgets for whom it works meets the claim all the same.
    let tries: String = ["", "env -u BEADS_RALPH_STORE "]
        .map(|without| {
            format!(
                "{without}{program} close $bead >>\"$base/said\" 2>&1; echo \"ended with $?\" >>\"$base/said\"\n"
            )
        })
        .concat();
    let world = world(&format!("{tries}{DILIGENT}"));
    world.run(&["run"]).exits(0);
    let said = std::fs::read_to_string(world.base.join("said")).unwrap();
    assert_eq!(said.matches("are read-only").count(), 2, "{said}");
    assert_eq!(said.matches("ended with 1").count(), 2, "{said}");
    assert_eq!(said.matches("already claimed").count(), 2, "{said}");
    assert_eq!(said.matches("ended with 4").count(), 2, "{said}");
    let bead = world.bead("1.1");
    assert!(
        bead["close_reason"]
            .as_str()
            .unwrap()
            .starts_with("verified at"),
        "{bead:#}"
    );
}

#[test]
fn z_18_an_agent_changes_no_bead_of_its_run_by_any_name_of_ours() {
    let world = world(&format!(
        "if [ $role = dev ]; then\n  ours=$(readlink -f \"$(command -v bd)\")\n  \
         \"$ours\" close \"$bead\" --force --reason mine 2>\"$base/tried\"; echo \"exit $?\" >>\"$base/tried\"\n  \
         \"$ours\" show \"$bead\" >\"$base/shown\" || exit 1\n  \
         mkdir \"$base/own\" && (cd \"$base/own\" && \"$ours\" init >\"$base/made\") || exit 1\nfi\n{DILIGENT}"
    ));
    world.run(&["run"]).exits(0);
    let read = |name: &str| std::fs::read_to_string(world.base.join(name)).unwrap();
    let tried = read("tried");
    assert!(
        tried.contains("are read-only") && tried.ends_with("exit 1\n"),
        "{tried}"
    );
    let reason = world.bead("1.1")["close_reason"].clone();
    assert!(
        reason.as_str().unwrap().starts_with("verified at"),
        "{reason}"
    );
    assert!(read("made").contains("created"), "another store is its own");
}

#[test]
fn z_18_an_agent_finds_our_bd_and_may_only_read() {
    let world = world(&format!(
        "if [ $role = dev ]; then\n  bd show \"$bead\" --short >\"$base/shown\"\n  \
         bd update \"$bead\" --title changed 2>\"$base/tried\"; echo \"exit $?\" >>\"$base/tried\"\nfi\n{DILIGENT}"
    ));
    world.run(&["run"]).exits(0);
    let read = |name: &str| std::fs::read_to_string(world.base.join(name)).unwrap();
    let shown = read("shown");
    let id = world.bead("1.1")["id"].as_str().unwrap().to_owned();
    assert!(shown.starts_with(&format!("◐ {id} P")), "{shown}");
    let tried = read("tried");
    assert!(tried.contains("read-only inside a run"), "{tried}");
    assert!(tried.ends_with("exit 1\n"), "{tried}");
    assert_eq!(world.bead("1.1")["title"], "Only One");
}

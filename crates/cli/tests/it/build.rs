//! `plan build`: bead files, the envelope of E-3, and nothing at all when anything is wrong.

use serde_json::{Value, json};

use crate::env::{DEMO, DEMO_SPRINTS, NOW, Output, TestEnv, keys, strings};

const BUILD: [&str; 5] = ["plan", "build", "--out-dir", "beads", "plan.md"];

fn build(env: &TestEnv, more: &[&str]) -> Output {
    env.run(&[&BUILD[..], more].concat())
}

#[test]
fn e_14_one_file_for_each_bead() {
    let env = TestEnv::with_demo();
    let output = build(&env, &[]).exits(0);
    let names = env.names("beads");
    assert_eq!(names.len(), DEMO_SPRINTS.len());
    let listed: Vec<&str> = output.stdout.lines().collect();
    assert_eq!(listed[0], "beads/bd-1-1-project-skeleton.json");
    for name in &names {
        assert!(listed.contains(&format!("beads/{name}").as_str()));
        let text = env.text(&format!("beads/{name}"));
        assert!(text.ends_with("}\n") && !text.contains('\r'));
        let bead = env.json(&format!("beads/{name}"));
        assert_eq!(format!("{}.json", bead["id"].as_str().unwrap()), *name);
        assert_eq!(bead["created_at"], NOW);
        assert_eq!(bead["status"], "open");
        assert_eq!(bead["metadata"]["plan_file"], "plan.md");
    }
    assert!(
        output.stderr.contains("wrote 9 beads to beads"),
        "{}",
        output.stderr
    );
    let paths: Vec<String> = names.iter().map(|name| format!("beads/{name}")).collect();
    let mut args = vec!["bead", "validate", "--graph"];
    args.extend(paths.iter().map(String::as_str));
    env.run(&args).exits(0);
    assert_eq!(env.text("plan.md"), DEMO, "A-9: the plan is not written");
}

#[test]
fn e_3_the_envelope_has_exactly_these_keys() {
    let env = TestEnv::with_demo();
    let data = build(&env, &["--json"]).data();
    assert_eq!(
        keys(&data),
        [
            "mode",
            "beads_created",
            "bead_ids",
            "sprints_processed",
            "database_status",
            "plan_annotated",
            "plan_file_updated",
            "warnings",
            "external_dependencies",
            "skipped_existing",
            "bead_files",
            "validation"
        ]
    );
    assert_eq!(data["mode"], "direct");
    assert_eq!(data["beads_created"], 9);
    assert_eq!(strings(&data["sprints_processed"]), DEMO_SPRINTS);
    assert_eq!(data["database_status"], "dry_run");
    assert_eq!(
        (&data["plan_annotated"], &data["plan_file_updated"]),
        (&json!(false), &json!(false))
    );
    for empty in ["warnings", "external_dependencies", "skipped_existing"] {
        assert_eq!(data[empty], json!([]), "{empty}");
    }
    let ids = strings(&data["bead_ids"]);
    let files: Vec<String> = ids.iter().map(|id| format!("beads/{id}.json")).collect();
    assert_eq!(strings(&data["bead_files"]), files);
}

#[test]
fn z_33_the_validation_of_each_bead_is_listed() {
    let env = TestEnv::with_demo();
    let data = build(&env, &["--json"]).data();
    let validation = data["validation"].as_array().unwrap();
    assert_eq!(validation.len(), 9);
    for (one, id) in validation.iter().zip(strings(&data["bead_ids"])) {
        assert_eq!(one, &json!({"id": id, "valid": true, "errors": []}));
    }
}

#[test]
fn e_15_two_runs_give_the_same_bytes() {
    let env = TestEnv::with_demo();
    let first = build(&env, &[]).exits(0).stdout;
    let all = |env: &TestEnv| -> Vec<Vec<u8>> {
        env.names("beads")
            .iter()
            .map(|name| env.read(&format!("beads/{name}")))
            .collect()
    };
    let before = all(&env);
    assert_eq!(build(&env, &[]).exits(0).stdout, first);
    assert_eq!(all(&env), before);
    let crlf = TestEnv::new();
    crlf.write("plan.md", DEMO.replace('\n', "\r\n"));
    build(&crlf, &[]).exits(0);
    assert_eq!(all(&crlf), before, "P-25: line ends do not matter");
}

#[test]
fn b_3_the_generation_is_chosen() {
    let env = TestEnv::with_demo();
    let metadata = |shape: &str| -> Value {
        build(&env, &["--bead-schema", shape]).exits(0);
        env.json("beads/bd-1-1-project-skeleton.json")["metadata"].clone()
    };
    let (v1, v2, both) = (metadata("v1"), metadata("v2"), metadata("both"));
    assert!(v1["dev_agent_path"].is_string() && v1.get("dev_agents").is_none());
    assert!(v1.get("scrum_master_agent").is_none() && v1["qa_agents"][0].get("agent").is_none());
    assert!(v2["dev_agents"].is_array() && v2.get("dev_agent_path").is_none());
    assert!(v2["scrum_master_agent"].is_object() && v2["qa_agents"][0].get("agent_path").is_none());
    assert!(both["dev_agents"].is_array() && both["dev_agent_path"].is_string());
    assert!(
        both["qa_agents"][0]["agent"].is_string() && both["qa_agents"][0]["agent_path"].is_string()
    );
    build(&env, &[]).exits(0);
    assert_eq!(
        env.json("beads/bd-1-1-project-skeleton.json")["metadata"],
        both,
        "the default"
    );
    build(&env, &["--bead-schema", "v3"]).exits(2);
}

#[test]
fn d_15_a_filter_keeps_what_lies_outside_as_external() {
    let env = TestEnv::with_demo();
    let data = build(&env, &["--json", "--sprint-filter", " 1.3 ,, 1.2b "]).data();
    assert_eq!(strings(&data["sprints_processed"]), ["1.2b", "1.3"]);
    assert_eq!(
        strings(&data["external_dependencies"]),
        ["bd-1-1-project-skeleton", "bd-1-2a-count-words"]
    );
    assert_eq!(env.names("beads").len(), 2);
    let bead = env.json("beads/bd-1-3-integration-of-the-counters.json");
    assert_eq!(
        strings(&bead["dependencies"]),
        ["bd-1-2a-count-words", "bd-1-2b-count-bytes-and-lines"]
    );
    assert_eq!(
        strings(&bead["metadata"]["branches_to_merge"]),
        ["feature/1-2a-words", "feature/1-2b-bytes"]
    );
    let all = build(&env, &["--json", "--sprint-filter", " , "]).data();
    assert_eq!(all["beads_created"], 9, "P-26: an empty filter is none");
}

#[test]
fn p_26_a_filter_that_does_not_fit() {
    let env = TestEnv::with_demo();
    for (filter, code) in [
        ("9.9", "DEPENDENCY.UNRESOLVED"),
        ("1.2.3", "PARSE.INVALID_PATTERN"),
        ("1.2A", "PARSE.INVALID_PATTERN"),
        ("1.1,9.9", "DEPENDENCY.UNRESOLVED"),
    ] {
        let output = build(&env, &["--json", "--sprint-filter", filter]).exits(1);
        assert_eq!(output.error_code(), code, "{filter}");
        assert!(
            output.error()["message"]
                .as_str()
                .unwrap()
                .contains(filter.split(',').next_back().unwrap())
        );
        assert_eq!(env.names("."), ["plan.md"], "{filter}");
    }
}

#[test]
fn p_23_what_the_filter_leaves_out_need_not_be_complete() {
    let env = TestEnv::new();
    env.write("plan.md", format!("{DEMO}\n### Sprint 4.1: Later\n"));
    assert_eq!(
        build(&env, &["--json"]).exits(1).error_code(),
        "PARSE.MISSING_SECTION"
    );
    assert_eq!(env.names("."), ["plan.md"]);
    build(&env, &["--sprint-filter", "1.1"]).exits(0);
}

#[test]
fn e_10_nothing_is_written_when_anything_is_wrong() {
    for (what, from, to, code) in [
        (
            "a number",
            "### Sprint 2a.2: ",
            "### Sprint 2A.2: ",
            "PARSE.INVALID_PATTERN",
        ),
        (
            "a heading",
            "### Sprint 2a.2: ",
            "### Sprint 2a.2 ",
            "PARSE.MARKDOWN",
        ),
        (
            "a branch",
            "`feature/3-2-release`",
            "`feature/3.2`",
            "VALIDATION.INVALID_PATTERN",
        ),
        (
            "a twin",
            "### Sprint 3.2: ",
            "### Sprint 3.1: ",
            "DEPENDENCY.DUPLICATE_ID",
        ),
        (
            "a shared branch",
            "`feature/3-2-release`",
            "`feature/3-1-merge`",
            "VALIDATION.CONSTRAINT",
        ),
        (
            "a section",
            "**Tasks**:",
            "**Jobs**:",
            "PARSE.MISSING_SECTION",
        ),
        ("a fence", "# Plan", "```\n# Plan", "PARSE.MARKDOWN"),
    ] {
        let env = TestEnv::new();
        assert!(DEMO.contains(from), "{what}");
        env.write("plan.md", DEMO.replacen(from, to, 1));
        let output = build(&env, &["--json"]).exits(1);
        assert_eq!(output.error_code(), code, "{what}");
        assert_eq!(env.names("."), ["plan.md"], "{what}: no directory is left");
        env.make_directory("beads");
        let human = build(&env, &[]).exits(1);
        assert_eq!(
            (env.names("beads").len(), human.stdout.as_str()),
            (0, ""),
            "{what}"
        );
        assert!(human.stderr.contains(code), "{what}: {}", human.stderr);
    }
}

#[test]
fn p_27_an_out_dir_that_is_a_file() {
    let env = TestEnv::with_demo();
    env.write("beads", "mine");
    let output = build(&env, &["--json"]).exits(3);
    assert_eq!(output.error_code(), "IO.PERMISSION_DENIED");
    assert_eq!(env.text("beads"), "mine");
    let output = env
        .run(&["plan", "build", "--out-dir", "beads/below", "plan.md"])
        .exits(3);
    assert!(
        output.stderr.contains("error[IO.PERMISSION_DENIED]"),
        "{}",
        output.stderr
    );
    assert_eq!(env.names("."), ["beads", "plan.md"]);
}

#[test]
fn e_10_a_bead_that_cannot_be_written_is_named() {
    let env = TestEnv::with_demo();
    env.make_directory("beads/bd-1-2a-count-words.json");
    let error = build(&env, &["--json"]).exits(3).error();
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("bd-1-2a-count-words.json")
    );
    assert_eq!(
        error["details"],
        "written before: beads/bd-1-1-project-skeleton.json"
    );
}

#[test]
fn section_3_2_a_plan_in_a_repository_is_named_from_its_root() {
    let env = TestEnv::new();
    env.make_directory("repo/.git");
    env.write("repo/pm/plans/plan.md", DEMO);
    let plan = env.path("repo/pm/plans/../plans/plan.md");
    env.run(&["plan", "build", "--out-dir", "beads", plan.as_str()])
        .exits(0);
    let bead = env.json("beads/bd-1-1-project-skeleton.json");
    assert_eq!(bead["metadata"]["plan_file"], "pm/plans/plan.md");
    assert_eq!(
        bead["metadata"]["plan_section"],
        "### Sprint 1.1: Project Skeleton"
    );
}

#[test]
fn l_1_the_configuration_of_the_repository_counts() {
    let env = TestEnv::new();
    env.make_directory(".git");
    env.write(
        "plan.md",
        DEMO.replacen("`claude` (sonnet) - set up", "`claude` - set up", 1),
    );
    env.write(
        "beads-ralph.yaml",
        "rig: mine\nagents:\n  default_model: opus\n",
    );
    let data = build(&env, &["--json"]).data();
    assert_eq!(
        data["warnings"].as_array().unwrap().len(),
        1,
        "P-20: {data}"
    );
    let bead = env.json("beads/bd-1-1-project-skeleton.json");
    assert_eq!(bead["metadata"]["rig"], "mine");
    assert_eq!(bead["metadata"]["dev_model"], "opus");
    assert_eq!(bead["metadata"]["scrum_master_agent"]["model"], "opus");
    env.run(&["bead", "validate", "beads/bd-1-1-project-skeleton.json"])
        .exits(0);
    env.write("beads-ralph.yaml", "rig: other\n");
    env.run(&["bead", "validate", "beads/bd-1-1-project-skeleton.json"])
        .exits(1);
}

#[test]
fn z_31_a_machine_check_can_be_required() {
    let env = TestEnv::new();
    env.write("plan.md", DEMO.replacen("**Verifiers**:", "**Notes**:", 1));
    let data = build(&env, &["--json"]).data();
    assert_eq!(data["warnings"].as_array().unwrap().len(), 1);
    env.write(
        "beads-ralph.yaml",
        "verify: {require_machine_check: true}\n",
    );
    assert_eq!(
        build(&env, &["--json"]).exits(1).error_code(),
        "PARSE.MISSING_SECTION"
    );
    env.write("beads-ralph.yaml", "verify: [\n");
    let error = build(&env, &["--json"]).exits(3).error();
    assert_eq!(error["code"], "VALIDATION.CONSTRAINT");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("beads-ralph.yaml")
    );
}

#[test]
fn p_14_completed_sprints_can_be_left_out() {
    let env = TestEnv::new();
    env.write(
        "plan.md",
        DEMO.replacen(
            "**Estimate**: 20m",
            "**Estimate**: 20m\n**Status**: COMPLETED",
            1,
        ),
    );
    assert_eq!(build(&env, &["--json"]).data()["beads_created"], 9);
    let data = build(&env, &["--json", "--skip-completed"]).data();
    assert_eq!(strings(&data["sprints_processed"]), DEMO_SPRINTS[1..]);
    assert_eq!(
        strings(&data["external_dependencies"]),
        ["bd-1-1-project-skeleton"]
    );
}

#[test]
fn a_plan_is_built_from_standard_input() {
    let env = TestEnv::new();
    let output = env
        .command(&["plan", "build", "--out-dir", "beads", "-"])
        .stdin(DEMO)
        .run();
    assert_eq!(output.exits(0).stdout.lines().count(), 9);
}

//! The order of an application (contracts §4.4): plan before store, all or nothing, and the plan's file last.

use super::{applied, apply, differences, events, export, plan, refused, sprint, unapplied};
use crate::env::{DEMO, DEMO_SPRINTS, TestEnv, keys, strings};
use crate::store::{data, error, ids, shown};

const TWO: [(&str, &str); 2] = [("1.1", "One"), ("1.2", "Two")];

#[test]
fn e_3_the_answer_has_the_keys_of_the_contract() {
    let env = unapplied(DEMO);
    let answer = apply(&env, "plan.md");
    assert_eq!(
        keys(&answer)[..10],
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
            "skipped_existing"
        ]
    );
    assert_eq!(answer["mode"], "direct");
    assert_eq!(answer["beads_created"], 9);
    assert_eq!(strings(&answer["sprints_processed"]), DEMO_SPRINTS);
    assert_eq!(answer["database_status"], "inserted");
    assert_eq!(answer["plan_annotated"], false);
    assert_eq!(answer["warnings"], serde_json::json!([]));
    let stored = data(&env, &["list"]);
    let mut stored = ids(&stored);
    stored.sort_unstable();
    assert_eq!(strings(&answer["bead_ids"]), stored);
}

#[test]
fn e_11_plan_errors_need_no_store() {
    let env = TestEnv::new();
    env.write("good.md", plan(&TWO));
    env.write("bad.md", "### Sprint 1.1: One\n\n### Sprint 1.1: Again\n");
    for verb in ["apply", "diff"] {
        let missing = error(&env, &["plan", verb, "good.md"], 3);
        assert_eq!(missing["code"], "DATABASE.NOT_INITIALIZED");
        let action = missing["suggested_action"].as_str().unwrap();
        assert!(action.contains("beads-ralph init"), "{action}");
        let bad = error(&env, &["plan", verb, "bad.md"], 1);
        assert_eq!(bad["code"], "DEPENDENCY.DUPLICATE_ID");
        let absent = error(&env, &["plan", verb, "absent.md"], 3);
        assert_eq!(absent["code"], "IO.FILE_NOT_FOUND");
        let filter = error(
            &env,
            &["plan", verb, "good.md", "--sprint-filter", "9.9"],
            1,
        );
        assert_eq!(filter["code"], "DEPENDENCY.UNRESOLVED");
    }
    assert!(!env.path(".beads").exists(), "no store appears by itself");
}

#[test]
fn e_10_plan_errors_come_before_those_of_a_damaged_store() {
    let env = applied(&plan(&TWO));
    let database = rusqlite::Connection::open(env.path(".beads/beads-ralph.db")).unwrap();
    database
        .execute(
            "UPDATE issues SET document = replace(document, 'One', 'Own')",
            [],
        )
        .unwrap();
    drop(database);
    assert_eq!(
        error(&env, &["plan", "apply", "plan.md"], 3)["code"],
        "IO.PERMISSION_DENIED"
    );
    env.write("plan.md", "### Sprint 1.1: One\n\n### Sprint 1.1: Again\n");
    assert_eq!(
        error(&env, &["plan", "apply", "plan.md"], 1)["code"],
        "DEPENDENCY.DUPLICATE_ID"
    );
}

#[test]
fn e_10_nothing_is_written_when_one_bead_is_bad() {
    let good = sprint("1.1", "One", "");
    let bad = [
        (
            "### Sprint 1.2: Two\n\n**Branch**: `b`\n".to_owned(),
            "PARSE.MISSING_SECTION",
        ),
        (sprint("1.2", "Two", "**Type**: nonsense\n"), ""),
        (sprint("1.2", "Two", "**Labels**: a b\u{7}, c\n"), ""),
        (
            sprint("1.2", "Two", "").replace("`feature/1-2`", "`a..b`"),
            "VALIDATION.",
        ),
        (
            sprint("1.2", "Two", "**Bead ID**: `bd-1-1-one`\n"),
            "DEPENDENCY.DUPLICATE_ID",
        ),
    ];
    for (bad, code) in bad {
        let env = unapplied(&format!("{good}{bad}"));
        for more in ["--quiet", "--annotate", "--check-existing", "--dry-run"] {
            let found = refused(&env, &["plan", "apply", "plan.md", more]);
            assert!(found.starts_with(code), "{found} for {bad}");
        }
        assert_eq!(export(&env), "");
        assert_eq!(env.text("plan.md"), format!("{good}{bad}"));
    }
}

#[test]
fn e_12_an_existing_id_in_all_four_combinations() {
    let combinations: [(&[&str], bool); 4] = [
        (&[], true),
        (&["--check-existing"], true),
        (&["--insert-only"], false),
        (&["--insert-only", "--check-existing"], true),
    ];
    for (flags, succeeds) in combinations {
        let env = applied(&plan(&TWO));
        env.write(
            "plan.md",
            plan(&[("1.1", "Uno"), ("1.2", "Two"), ("1.3", "Three")]),
        );
        let args = [&["plan", "apply", "plan.md"], flags].concat();
        if !succeeds {
            assert_eq!(refused(&env, &args), "DEPENDENCY.DUPLICATE_ID");
            continue;
        }
        let answer = data(&env, &args);
        assert_eq!(strings(&answer["bead_ids"]), ["bd-1-3-three"]);
        let is_reconciling = flags.is_empty();
        let skipped: &[&str] = if is_reconciling {
            &[]
        } else {
            &["bd-1-1-one", "bd-1-2-two"]
        };
        assert_eq!(strings(&answer["skipped_existing"]), skipped);
        let updated: &[&str] = if is_reconciling { &["bd-1-1-one"] } else { &[] };
        assert_eq!(strings(&answer["beads_updated"]), updated);
        let title = if is_reconciling { "Uno" } else { "One" };
        assert_eq!(shown(&env, "bd-1-1-one")["title"], title);
    }
}

#[test]
fn e_12_a_bead_of_somebody_else_is_skipped_or_refused() {
    let env = unapplied(&plan(&TWO));
    let hand = r#"{"id":"bd-1-1-one","title":"by hand"}"#;
    env.command(&["import", "-"]).stdin(hand).run().exits(0);
    let found = error(&env, &["plan", "apply", "plan.md"], 1);
    assert_eq!(found["code"], "DEPENDENCY.DUPLICATE_ID");
    let message = found["message"].as_str().unwrap();
    assert!(message.contains("duplicate key"), "{message}");
    assert!(
        message.contains("bd-1-1-one") && message.contains("not made from a plan"),
        "{message}"
    );
    assert_eq!(
        refused(&env, &["plan", "apply", "plan.md"]),
        "DEPENDENCY.DUPLICATE_ID"
    );
    let answer = data(&env, &["plan", "apply", "plan.md", "--check-existing"]);
    assert_eq!(strings(&answer["skipped_existing"]), ["bd-1-1-one"]);
    assert_eq!(shown(&env, "bd-1-1-one")["title"], "by hand");
    // The way out that the error names.
    let action = found["suggested_action"].as_str().unwrap();
    assert!(
        action.contains("`beads-ralph plan annotate plan.md`"),
        "{action}"
    );
    env.run(&["plan", "annotate", "plan.md"]).exits(0);
    let adopted = apply(&env, "plan.md");
    assert_eq!(differences(&adopted), ["changed bd-1-1-one"]);
    assert_eq!(shown(&env, "bd-1-1-one")["title"], "One");
}

#[test]
fn e_10_dependencies_outside_of_the_filter_can_be_demanded() {
    let env = unapplied(&plan(&TWO));
    let args = ["plan", "apply", "plan.md", "--sprint-filter", "1.2"];
    let strict = [&args[..], &["--require-deps-in-store"]].concat();
    let found = error(&env, &strict, 1);
    assert_eq!(found["code"], "DEPENDENCY.UNRESOLVED");
    assert!(
        found["message"].as_str().unwrap().contains("bd-1-1-one"),
        "{found}"
    );
    assert_eq!(export(&env), "");
    let answer = data(&env, &args);
    assert_eq!(strings(&answer["external_dependencies"]), ["bd-1-1-one"]);
    assert_eq!(
        data(&env, &["ready"])["beads"],
        serde_json::json!([]),
        "it waits"
    );
    apply(&env, "plan.md");
    data(&env, &strict);
}

#[test]
fn e_10_a_dry_run_writes_nothing() {
    let env = unapplied(&plan(&TWO));
    let dry = ["plan", "apply", "plan.md", "--dry-run", "--annotate"];
    for _ in 0..2 {
        let text = env.read("plan.md");
        let (before, log) = (export(&env), events(&env));
        let answer = data(&env, &dry);
        assert_eq!(answer["database_status"], "dry_run");
        assert_eq!(answer["plan_file_updated"], false);
        assert_eq!(answer["plan_annotated"], false);
        assert_eq!((export(&env), events(&env)), (before, log));
        assert_eq!(env.read("plan.md"), text);
        let said = env.run(&dry).exits(0);
        assert!(said.stderr.contains("nothing was written"), "{said:#?}");
        apply(&env, "plan.md");
        env.write(
            "plan.md",
            plan(&[("1.1", "Uno"), ("1.2", "Two"), ("1.3", "Three")]),
        );
    }
}

#[test]
fn e_14_no_bead_files_appear() {
    let env = applied(&plan(&TWO));
    assert_eq!(
        env.names("."),
        [".beads", ".git", ".ralph", "beads-ralph.yaml", "plan.md"]
    );
}

#[test]
fn e_15_the_same_plan_gives_the_same_beads() {
    let one = applied(DEMO);
    let two = applied(DEMO);
    assert_eq!(export(&one), export(&two));
}

#[test]
fn a_6_annotation_follows_the_store_and_is_done_once() {
    let env = unapplied(&plan(&TWO));
    let args = ["plan", "apply", "plan.md", "--annotate"];
    let first = data(&env, &args);
    assert_eq!(
        (&first["plan_annotated"], &first["plan_file_updated"]),
        (&true.into(), &true.into())
    );
    let text = env.text("plan.md");
    assert!(
        text.contains("### Sprint 1.2: Two\n<!-- beads-ralph: bd-1-2-two -->\n"),
        "{text}"
    );
    let second = data(&env, &args);
    assert_eq!(
        (&second["plan_annotated"], &second["plan_file_updated"]),
        (&true.into(), &false.into())
    );
    // A new title keeps the id, so the annotation stays; a wrong annotation is put right.
    let edited = text
        .replace("1.2: Two", "1.2: Zwei")
        .replace("bd-1-1-one -->", "bd-wrong -->");
    env.write("plan.md", &edited);
    let third = data(&env, &args);
    assert_eq!(third["plan_file_updated"], true);
    assert_eq!(env.text("plan.md"), text.replace("1.2: Two", "1.2: Zwei"));
    assert!(
        strings(&third["warnings"])[0].contains("bd-1-1-one"),
        "{third}"
    );
}

#[test]
fn a_7_a_plan_that_cannot_be_annotated_is_refused_before_the_store_is_changed() {
    let text = plan(&TWO).replacen(
        "\n\n",
        "\n<!-- beads-ralph: bd-x -->\n<!-- beads-ralph: bd-y -->\n\n",
        1,
    );
    let env = unapplied(&text);
    for more in ["--quiet", "--dry-run"] {
        let code = refused(&env, &["plan", "apply", "plan.md", "--annotate", more]);
        assert_eq!(code, "DEPENDENCY.DUPLICATE_ID");
    }
    assert_eq!((export(&env).as_str(), env.text("plan.md")), ("", text));
    assert_eq!(
        apply(&env, "plan.md")["plan_annotated"],
        false,
        "nobody asked for annotations"
    );
}

#[cfg(unix)]
#[test]
fn e_13_a_plan_that_cannot_be_written_does_not_hide_what_was_applied() {
    // A limit of the size of files binds root too: the store stays below it, the plan does not.
    let text = format!(
        "{}\n{}",
        plan(&TWO),
        "Words that nobody reads.\n".repeat(200_000)
    );
    let env = unapplied(&text);
    let limited = "trap '' XFSZ; ulimit -f 4096; exec \"$@\"";
    let program = env!("CARGO_BIN_EXE_beads-ralph");
    let args = ["-c", limited, "sh", program, "plan", "apply", "plan.md"];
    let args = [&args[..], &["--annotate", "--json"]].concat();
    let found = env.tool("sh", &args).run().exits(3).error();
    assert_eq!(found["code"], "IO.PERMISSION_DENIED");
    assert_eq!(env.text("plan.md"), text);
    assert!(
        found["details"]
            .as_str()
            .unwrap()
            .contains("the plan was applied: 2 new"),
        "{found}"
    );
    assert_eq!(ids(&data(&env, &["list"])).len(), 2);
}

#[test]
fn e_13_nothing_is_annotated_after_a_failed_insert() {
    let text = plan(&[("1.1", "One"), ("1.2", "Two"), ("1.3", "Three")]);
    let env = unapplied(&text);
    data(
        &env,
        &["plan", "apply", "plan.md", "--sprint-filter", "1.1"],
    );
    // Somebody lets the first sprint wait for what waits for the second, which is not there yet.
    let hand = r#"{"id":"bd-hand","title":"by hand","dependencies":["bd-1-2-two"]}"#;
    env.command(&["import", "-"]).stdin(hand).run().exits(0);
    data(&env, &["dep", "add", "bd-1-1-one", "bd-hand"]);
    for verb in [&["--annotate"][..], &["--annotate", "--check-existing"]] {
        let code = refused(&env, &[&["plan", "apply", "plan.md"], verb].concat());
        assert_eq!(code, "DEPENDENCY.CYCLE_DETECTED");
    }
    assert_eq!(env.text("plan.md"), text);
    assert_eq!(ids(&data(&env, &["list"])).len(), 2);
}

#[test]
fn p_1_a_plan_from_standard_input() {
    let env = unapplied("");
    let run = |more: &[&str], text: &str| {
        let args = [&["plan", "apply", "-", "--json"], more].concat();
        env.command(&args).stdin(text).run()
    };
    let text = plan(&TWO);
    let refused = run(&["--annotate"], &text).exits(1);
    assert_eq!(refused.error_code(), "VALIDATION.CONSTRAINT");
    assert_eq!(export(&env), "");
    assert_eq!(run(&[], &text).exits(0).data()["beads_created"], 2);
    let log = events(&env);
    assert_eq!(run(&[], &text).exits(0).data()["counts"]["unchanged"], 2);
    assert_eq!(events(&env), log);
    assert_eq!(
        shown(&env, "bd-1-1-one")["metadata"]["plan_file"],
        "<stdin>"
    );
    let broken = run(&[], "no sprint here\n").exits(1);
    assert_eq!(broken.error_code(), "PARSE.MARKDOWN");
}

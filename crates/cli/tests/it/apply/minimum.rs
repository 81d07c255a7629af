//! Seed 001's minimum test cases as far as they are about applying, and its integration tests.

use super::mason::{PLAN, mason, refused, seed};
use super::{plan, sprint, unapplied, unfenced, waits_for};
use crate::env::TestEnv;
use crate::store::{data, ids};

/// Sprints, and what each waits for.
type Edges = &'static [(&'static str, &'static [&'static str])];

#[test]
fn s_1_minimum_cases_1_to_5_the_edges_arrive_in_the_store() {
    let cases: [(&[&str], Edges); 5] = [
        (
            &["1.1", "1.2", "1.3"],
            &[("1.2", &["1.1"]), ("1.3", &["1.2"])],
        ),
        (
            &["1.1", "1.2a", "1.2b"],
            &[("1.2a", &["1.1"]), ("1.2b", &["1.1"])],
        ),
        (&["1.2a", "1.2b", "1.3"], &[("1.3", &["1.2a", "1.2b"])]),
        (
            &["2.3", "3a.1", "3b.1"],
            &[("3a.1", &["2.3"]), ("3b.1", &["2.3"])],
        ),
        (&["3a.2", "3b.2", "4.1"], &[("4.1", &["3a.2", "3b.2"])]),
    ];
    let id = |sprint: &str| format!("bd-{}-s", sprint.replace('.', "-"));
    for (sprints, edges) in cases {
        let sprints: Vec<(&str, &str)> = sprints.iter().map(|sprint| (*sprint, "S")).collect();
        let env = unapplied(&plan(&sprints));
        mason(&env, &["--plan-file", "plan.md"]).exits(0);
        for (sprint, targets) in edges {
            let targets: Vec<String> = targets.iter().map(|target| id(target)).collect();
            assert_eq!(waits_for(&env, &id(sprint)), targets, "{sprints:?}");
        }
    }
}

#[test]
fn s_1_minimum_cases_6_to_10_leave_the_store_untouched() {
    let cases = [
        (
            plan(&[("1.1", "Same"), ("1.1", "Same")]),
            "DEPENDENCY.DUPLICATE_ID",
        ),
        (
            sprint("1.1", "A", "**Bead ID**: `bd-same`\n")
                + &sprint("1.2", "B", "**Bead ID**: `bd-same`\n"),
            "DEPENDENCY.DUPLICATE_ID",
        ),
        (plan(&[("1.1", "")]), "PARSE."),
        (plan(&[("1.2.1", "Phase 1.2")]), "PARSE."),
        (
            plan(&[("1.1", "A")]).replace("**Tasks**", "**Taks**"),
            "PARSE.MISSING_SECTION",
        ),
    ];
    for (text, code) in cases {
        let env = unapplied(&plan(&[("5.1", "There")]));
        mason(&env, &["--plan-file", "plan.md"]).exits(0);
        env.write("other.md", &text);
        let found = refused(&env, &["--plan-file", "other.md"], 1);
        assert!(
            found["code"].as_str().unwrap().starts_with(code),
            "{found} for {text}"
        );
        let details = found["details"].as_str().unwrap();
        assert!(details.contains("other.md:"), "the place is named: {found}");
    }
    let env = seed();
    let found = refused(&env, &["--plan-file", PLAN, "--sprint-filter", "1.9"], 1);
    assert_eq!(found["code"], "DEPENDENCY.UNRESOLVED");
    let found = refused(&env, &["--plan-file", PLAN, "--sprint-filter", "one"], 1);
    assert_eq!(found["code"], "PARSE.INVALID_PATTERN");
}

#[test]
fn s_1_integration_1_the_pre_flight_finds_what_is_missing() {
    let env = TestEnv::new();
    env.write("plan.md", plan(&[("1.1", "One")]));
    let no_store = unfenced(&mason(&env, &["--plan-file", "plan.md"]).exits(3));
    assert_eq!(no_store["error"]["code"], "DATABASE.NOT_INITIALIZED");
    assert_eq!(no_store["error"]["recoverable"], false);
    env.make_directory(".beads/embeddeddolt");
    env.write(".beads/metadata.json", "{}");
    let of_bd = unfenced(&mason(&env, &["--plan-file", "plan.md"]).exits(3));
    assert_eq!(of_bd["error"]["code"], "DATABASE.CLI_NOT_FOUND");
    assert!(
        of_bd["error"]["message"]
            .as_str()
            .unwrap()
            .contains("no bd on the PATH"),
        "{of_bd}"
    );
    assert_eq!(
        env.names(".beads"),
        ["embeddeddolt", "metadata.json"],
        "no second store"
    );
}

#[test]
fn s_1_integration_4_the_ready_queue_follows_the_dependencies() {
    let env = seed();
    mason(&env, &["--plan-file", PLAN]).exits(0);
    let ready = |env: &TestEnv| -> Vec<String> {
        let found = data(env, &["ready"]);
        ids(&found).into_iter().map(str::to_owned).collect()
    };
    let first = "bd-1-1-core-schema-validation-script";
    let parallel = [
        "bd-1-2a-example-work-bead-parallel",
        "bd-1-2b-example-merge-bead-parallel",
    ];
    assert_eq!(ready(&env), [first]);
    data(&env, &["claim", first]);
    assert_eq!(ready(&env), [""; 0], "it is taken, and the rest waits");
    data(&env, &["close", first]);
    assert_eq!(ready(&env), parallel);
    data(&env, &["close", parallel[1]]);
    assert_eq!(ready(&env), [parallel[0]]);
    data(&env, &["close", parallel[0]]);
    assert_eq!(ready(&env), ["bd-1-3-integration-documentation"]);
    data(&env, &["close", "bd-1-3-integration-documentation"]);
    assert_eq!(ready(&env), [""; 0]);
}

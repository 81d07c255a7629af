//! Flags that every command takes, wherever they stand.

use super::{answer, bd, done, world};
use crate::env::TestEnv;

#[test]
fn global_flags_stand_before_a_command_and_behind_it() {
    let env = world();
    done(&env, &["create", "A", "--id", "tt-1"]);
    for args in [
        &["--sandbox", "count"][..],
        &["count", "--sandbox"],
        &["--verbose", "-q", "--actor", "ann", "count"],
        &["count", "-v", "--no-color", "--readonly"],
        &["--db", ".beads/beads-ralph.db", "count"],
        &["count", "--db", ".beads"],
        &["--db=.beads/beads-ralph.db", "count"],
    ] {
        assert_eq!(bd(&env, args).exits(0).stdout, "1\n", "{args:?}");
    }
    let counted = bd(&env, &["--format", "json", "count"]).exits(0).stdout;
    assert!(counted.contains("\"count\": 1"), "{counted}");
}

#[test]
fn a_global_flag_that_is_not_served_says_so_wherever_it_stands() {
    let env = world();
    for args in [
        &["--dolt-auto-commit", "off", "list"][..],
        &["list", "--dolt-auto-commit", "off"],
        &["--database", "other", "list"],
        &["--mem-profile", "x.prof", "list"],
        &["--global", "list"],
        &["list", "--cpu-profile"],
    ] {
        let refused = bd(&env, args).exits(1).stderr;
        let flag = args.iter().find(|word| word.starts_with("--")).unwrap();
        let start = format!("Error: beads-ralph's bd does not serve {flag}; ");
        assert!(refused.starts_with(&start), "{args:?}: {refused}");
    }
    // It has the name of a global flag, and is another one.
    let refused = bd(&env, &["list", "--format", "dot"]).exits(1).stderr;
    assert!(refused.contains("does not serve --format"), "{refused}");
}

#[test]
fn a_flag_before_its_command_takes_its_value_with_it() {
    let env = world();
    done(&env, &["create", "A", "--id", "tt-1"]);
    done(&env, &["create", "B", "--id", "tt-2"]);
    let counted = bd(&env, &["--title", "B", "count"]).exits(0).stdout;
    assert_eq!(counted, "1\n");
    for args in [
        &["--lock-timeout", "5s", "list"][..],
        &["--no-daemon", "list"],
        &["list", "--no-daemon", "x"],
    ] {
        let refused = bd(&env, args).exits(1).stderr;
        let flag = args.iter().find(|word| word.starts_with("--")).unwrap();
        assert!(
            refused.starts_with(&format!("Error: unknown flag: {flag}\n")),
            "{args:?}: {refused}"
        );
    }
}

#[test]
fn db_names_a_store_elsewhere() {
    let (env, other) = (world(), TestEnv::new());
    done(&env, &["create", "A", "--id", "tt-1"]);
    let path = env.path(".beads/beads-ralph.db");
    assert_eq!(
        bd(&other, &["--db", path.as_str(), "count"])
            .exits(0)
            .stdout,
        "1\n"
    );
    done(
        &other,
        &["note", "tt-1", "from elsewhere", "--db", path.as_str()],
    );
    assert_eq!(
        answer(&env, &["show", "tt-1"])[0]["notes"],
        "from elsewhere"
    );
    let refused = bd(&other, &["--db", "missing/x.db", "list"])
        .exits(1)
        .stderr;
    assert!(
        refused.starts_with("Error: no beads database found"),
        "{refused}"
    );
    let refused = bd(&other, &["--db", path.as_str(), "init"]).exits(1).stderr;
    assert!(refused.contains("does not serve init --db"), "{refused}");
}

#[test]
fn beads_db_in_the_environment_is_as_db() {
    let (env, other) = (world(), TestEnv::new());
    done(&env, &["create", "A", "--id", "tt-1"]);
    let path = env.path(".beads/beads-ralph.db");
    let counted = other
        .command(&["bd", "count"])
        .env("BEADS_DB", path.as_str());
    assert_eq!(counted.run().exits(0).stdout, "1\n");
}

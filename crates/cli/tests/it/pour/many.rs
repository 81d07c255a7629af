//! Many at once, and many steps.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::with;
use crate::env::Output;
use crate::store::data;

const AT_ONCE: usize = 50;

#[test]
fn f_6_fifty_processes_pour_one_formula_at_once() {
    let env = with(&[]);
    let args = [
        "mol",
        "pour",
        "fix-bug",
        "--var",
        "bug=b",
        "--var",
        "bead-id=x",
        "--json",
    ];
    let children: Vec<_> = (0..AT_ONCE).map(|_| env.command(&args).spawn()).collect();
    let mut roots = BTreeSet::new();
    for child in children {
        let answer = Output::of(child, "mol pour".to_owned()).exits(0).data();
        assert_eq!(answer["beads_created"], 9);
        roots.insert(answer["id"].as_str().unwrap().to_owned());
    }
    let expected: BTreeSet<String> = (1..=AT_ONCE)
        .map(|n| format!("bd-fix-bug-{n:03}"))
        .collect();
    assert_eq!(
        roots, expected,
        "fifty molecules, each with a number of its own"
    );
    let lines = env.run(&["export"]).exits(0).stdout;
    assert_eq!(lines.lines().count(), AT_ONCE * 10, "no step is lost");
    env.run(&["doctor"]).exits(0);
}

#[test]
fn f_6_a_thousand_steps_are_one_transaction() {
    let mut text = "formula = 'long'\n".to_owned();
    for at in 0..1000 {
        let needs = if at == 0 {
            String::new()
        } else {
            format!("needs = ['s{}']\n", at - 1)
        };
        write!(text, "[[steps]]\nid = 's{at}'\ntitle = 'S'\n{needs}").unwrap();
    }
    let env = with(&[("long.formula.toml", &text)]);
    assert_eq!(data(&env, &["mol", "pour", "long"])["beads_created"], 1000);
    let events = data(&env, &["log", "--limit", "0"]);
    let events = events["events"].as_array().unwrap();
    assert_eq!(events.len(), 1001);
    let times: BTreeSet<&str> = events
        .iter()
        .map(|event| event["at"].as_str().unwrap())
        .collect();
    assert_eq!(times.len(), 1, "all of it happened in one step");
}

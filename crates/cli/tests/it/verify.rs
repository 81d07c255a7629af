//! Messages of `verify` about checks of others.

use serde_json::json;

use crate::dod::with_bead;

#[test]
fn names_and_reasons_of_checks_do_not_steer_a_terminal() {
    let name = "a\u{1b}]0;title\u{7}";
    let env = with_bead(
        &json!([{"name": name, "command": "true", "expect": {"stdout_contains": "b\u{1b}[2J\u{202e}"}}]),
    );
    let output = env.run(&["verify", "x"]).exits(1);
    for text in [&output.stdout, &output.stderr] {
        let is_steering = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!text.contains(is_steering), "{text:?}");
    }
    let message = output
        .stderr
        .lines()
        .find(|line| line.contains("did not pass"));
    let escaped = "a\\u{1b}]0;title\\u{7}: stdout does not contain: b\\u{1b}[2J\\u{202e}";
    assert!(
        message.is_some_and(|line| line.contains(escaped)),
        "{output:?}"
    );
}

//! Reports, good and bad.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::schema_json::schema_of;
use super::*;
use crate::implement::Agent;

const RED: &str = "status: complete\nevidence:\n  tests: {command: cargo test, exit_code: 1, skipped: false, passing: 4, failing: 3}\n\
                   escalations: []\ndiscovered_work: []\ncommits: [0123456789abcdef0123456789abcdef01234567]\n";

fn faults(text: &str, agent: &Agent) -> Vec<String> {
    let read = read(text, agent).unwrap();
    read.faults
        .iter()
        .map(|fault| {
            format!(
                "{}:{} {}",
                fault.place.line, fault.place.column, fault.message
            )
        })
        .collect()
}

#[test]
fn w_1_a_report_is_read() {
    let read = read(RED, &Agent::TddRedTeam).unwrap();
    assert!(read.faults.is_empty(), "{:?}", read.faults);
    assert_eq!(read.report.status, ReportStatus::Complete);
    assert_eq!(
        read.report.evidence.tests.as_ref().unwrap().counts.failing,
        Some(3)
    );
    assert_eq!(
        gate(&read.report.evidence),
        EvidenceGate::Fail,
        "which is success here"
    );
    assert_eq!(read.report.commits.len(), 1);
}

#[test]
fn w_1_what_is_missing_is_a_warning_with_a_place() {
    assert_eq!(
        faults("status: failed\n", &Agent::TddGreenTeam),
        [
            "1:1 `evidence` is missing",
            "1:1 `escalations` is missing",
            "1:1 `discovered_work` is missing",
            "1:1 `commits` is missing"
        ]
    );
    let odd = "status: complete\nevidence: {lint: {command: x, skipped: true, exit_code: 0}}\nescalations: [text]\n\
               discovered_work:\n  - {title: a, type: idea, priority: 9, parent_hint: x}\n  - {type: bug}\ncommits: [abc1234, 7]\ngate_status: pass\n";
    let said = faults(odd, &Agent::TddGreenTeam);
    for wanted in [
        "2:",
        "3:15 an escalation is a mapping",
        "5:5 discovered work is a bug, a task or a chore",
        "5:5 the priority of discovered work",
        "`parent_hint` of discovered work is ignored",
        "6:5 discovered work has no `title`",
        "7:11 `abc1234` is not a commit",
        "7:20 `commits` is a number, not a text",
        "8:14 `gate_status` is ignored",
    ] {
        assert!(
            said.iter()
                .any(|line| line.starts_with(wanted) || line.contains(wanted)),
            "{wanted}: {said:#?}"
        );
    }
}

#[test]
fn w_2_needs_human_without_a_reason_gets_one() {
    let text =
        "status: needs_human\nevidence: {}\nescalations: []\ndiscovered_work: []\ncommits: []\n";
    let read = read(text, &Agent::TddRedTeam).unwrap();
    assert_eq!(read.report.escalations[0].reason, "worker gave no reason");
    assert_eq!(read.faults.len(), 1);
}

#[test]
fn i_20_a_report_that_cannot_be_used_says_where() {
    for (text, wanted) in [
        ("", "not a mapping"),
        ("- a\n", "a list, not a mapping"),
        ("just text", "a text, not a mapping"),
        ("evidence: {}\n", "`status` is missing (line 1, column 1)"),
        (
            "evidence: {}\nstatus: done\n",
            "`status` is `done`, and not one of complete, needs_human, failed (line 2, column 9)",
        ),
        ("status: [complete]\n", "`status` is a list"),
        ("status: complete\n  x: 1\n", ""),
        ("status: \"open\n", ""),
    ] {
        let error = read(text, &Agent::TddRedTeam).unwrap_err().to_string();
        assert!(error.contains(wanted), "{text:?}: {error}");
    }
    assert_eq!(
        read(&"#".repeat(MAX_REPORT_BYTES + 1), &Agent::TddRedTeam),
        Err(Malformed::TooLarge)
    );
}

#[test]
fn w_6_a_diagnoser_that_is_done_names_a_cause() {
    let with = |status: &str, note: &str| {
        format!(
            "status: {status}\n{note}evidence: {{}}\nescalations: []\ndiscovered_work: []\ncommits: []\n"
        )
    };
    let diagnoser = Agent::BugDiagnoser;
    assert!(
        read(
            &with("complete", "root_cause_note: the parser\n"),
            &diagnoser
        )
        .is_ok()
    );
    for note in ["", "root_cause_note: \"  \"\n", "root_cause_note:\n"] {
        assert!(
            read(&with("complete", note), &diagnoser)
                .unwrap_err()
                .to_string()
                .contains("root_cause_note"),
            "{note:?}"
        );
        let kept = read(&with("needs_human", note), &diagnoser).unwrap();
        assert_eq!(
            kept.report.status,
            ReportStatus::NeedsHuman,
            "the worker's own word survives"
        );
    }
}

#[test]
fn w_6_a_comment_fixer_does_what_goes_with_its_judgement() {
    let with = |class: &str, action: &str| {
        format!("status: complete\nclassification: {class}\naction: {action}\n")
    };
    let fixer = Agent::PrCommentFixerTeam;
    for (class, action, is_right) in [
        ("FIX", "COMMITTED_FIX", true),
        ("FIX", "ALREADY_ADDRESSED", true),
        ("FIX", "NO_ACTION", false),
        ("SKIP", "NO_ACTION", true),
        ("ESCALATE", "COMMITTED_FIX", false),
        ("MAYBE", "NO_ACTION", false),
    ] {
        assert_eq!(
            read(&with(class, action), &fixer).is_ok(),
            is_right,
            "{class} {action}"
        );
    }
}

#[test]
fn w_5_the_gates_of_the_contract() {
    let block = |exit: &str, skipped: bool| {
        format!("{{command: x, exit_code: {exit}, skipped: {skipped}, passing: 1, failing: 0}}")
    };
    for (evidence, expected) in [
        ("{}".to_owned(), "n/a"),
        (format!("{{tests: {}}}", block("0", false)), "pass"),
        (format!("{{tests: {}}}", block("1", false)), "fail"),
        (format!("{{tests: {}}}", block("null", false)), "fail"),
        (
            format!(
                "{{tests: {}, lint: {}}}",
                block("0", false),
                block("null", true)
            ),
            "partial",
        ),
        (
            format!(
                "{{tests: {}, lint: {}}}",
                block("1", false),
                block("null", true)
            ),
            "fail",
        ),
        (format!("{{lint: {}}}", block("null", true)), "partial"),
    ] {
        let text = format!(
            "status: complete\nevidence: {evidence}\nescalations: []\ndiscovered_work: []\ncommits: []\n"
        );
        let read = read(&text, &Agent::TddGreenTeam).unwrap();
        assert_eq!(gate(&read.report.evidence).as_str(), expected, "{evidence}");
    }
}

#[test]
fn bombs_are_refused() {
    let mut text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (at, name) in ('b'..='k').enumerate() {
        let before = char::from(b'a' + u8::try_from(at).unwrap());
        let uses = vec![format!("*{before}"); 10].join(", ");
        writeln!(text, "{name}: &{name} [{uses}]").unwrap();
    }
    assert!(read(&format!("status: complete\n{text}"), &Agent::TddRedTeam).is_err());
    let deep = format!(
        "status: complete\nevidence: {}{}\n",
        "[".repeat(1000),
        "]".repeat(1000)
    );
    assert!(read(&deep, &Agent::TddRedTeam).is_err());
}

#[test]
fn every_schema_takes_the_report_of_its_worker() {
    for (name, schema) in schemas() {
        assert!(jsonschema::meta::is_valid(&schema), "{name}");
    }
    let red: serde_json::Value = serde_saphyr::from_str(RED).unwrap();
    assert!(jsonschema::is_valid(
        &schema_of("tdd-red-report").unwrap(),
        &red
    ));
    assert!(!jsonschema::is_valid(
        &schema_of("bug-diagnoser-report").unwrap(),
        &red
    ));
    assert_eq!(schema_of("other"), None);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_and_never_a_panic(text in "\\PC{0,120}") {
        for agent in [Agent::TddRedTeam, Agent::BugDiagnoser, Agent::PrCommentFixerTeam, Agent::DocsEditsTeam] {
            drop(read(&text, &agent));
            drop(read(&format!("status: complete\n{text}"), &agent));
        }
    }
}

#[test]
fn z_46_a_list_is_read_where_a_text_may_stand() {
    let text = "status: needs_human\nroot_cause_note:\n- the parser\n- eats a line\nreproduction_steps:\n- run it\n- Expect: 2\n- |\n  two\n  lines\n- [a, b]\n\
                evidence: {}\nescalations:\n- reason: unclear\n  detail: [one, 2, true]\ndiscovered_work:\n- {title: t, type: bug, priority: 1, detail: [x, z]}\ncommits: []\n";
    let read = read(text, &Agent::BugDiagnoser).unwrap();
    assert!(read.faults.is_empty(), "{:?}", read.faults);
    let report = read.report;
    assert_eq!(
        report.root_cause_note.as_deref(),
        Some("- the parser\n- eats a line")
    );
    assert_eq!(
        report.reproduction_steps.as_deref(),
        Some("- run it\n- Expect: 2\n- two\n  lines\n- a; b")
    );
    assert_eq!(report.escalations[0].detail, "- one\n- 2\n- true");
    assert_eq!(report.discovered[0].detail, "- x\n- z");
    // A word is still a word.
    let title = "status: complete\nevidence: {}\nescalations: []\ndiscovered_work:\n- {title: [t], type: bug, priority: 1}\ncommits: []\n";
    assert!(faults(title, &Agent::TddRedTeam)[0].contains("`title` is a list, not a text"));
}

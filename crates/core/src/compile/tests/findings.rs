//! Findings that need more than one sprint, or more than the plan.

use std::fmt::Write as _;

use super::{compiled, compiled_with, settings};
use crate::compile::{AgentCatalog, AgentCheck, AgentFile, CompileSettings, check};
use crate::diag::{Diagnostic, apply_fixes};
use crate::plan::{complete_plan, parse, sprint};

fn codes(findings: &[Diagnostic]) -> Vec<&'static str> {
    findings
        .iter()
        .map(|finding| finding.code.as_str())
        .collect()
}

fn warnings(text: &str) -> Vec<&'static str> {
    codes(&compiled(text, "").unwrap().findings)
}

fn errors(text: &str) -> Vec<&'static str> {
    let findings = compiled(text, "").unwrap_err();
    findings
        .iter()
        .filter(|f| f.error_code().is_some())
        .map(|f| f.code.as_str())
        .collect()
}

#[test]
fn z_31_plans_without_verifiers_are_warned_about_once() {
    let text = complete_plan("") + &sprint("1.2", "B");
    assert_eq!(warnings(&text), ["no-machine-check"]);
    assert_eq!(
        warnings(&(complete_plan("") + "\n**Verifiers**:\n- `make`\n")),
        [""; 0]
    );
    let catalog = AgentCatalog::default();
    let settings = CompileSettings {
        require_machine_check: true,
        ..settings(&catalog)
    };
    let findings = compiled_with(&text, "", &settings).unwrap_err();
    assert_eq!(
        codes(&findings),
        ["PARSE.MISSING_SECTION", "PARSE.MISSING_SECTION"]
    );
}

#[test]
fn b_29_teams_share_neither_branch_nor_worktree() {
    let clash = complete_plan("")
        + &sprint("1.2", "B")
            .replace("feature/1-2", "feature/1-1")
            .replace("../wt/1-2", "../wt/1-1");
    assert_eq!(
        errors(&clash),
        ["VALIDATION.CONSTRAINT", "VALIDATION.CONSTRAINT"]
    );
    let one_team = clash.replace("**Source Branch**", "**Team**: core\n**Source Branch**");
    assert_eq!(warnings(&one_team), ["no-machine-check"]);
    let incomplete = clash.replace("- do it\n", "");
    assert_eq!(
        errors(&incomplete)
            .iter()
            .filter(|code| **code == "VALIDATION.CONSTRAINT")
            .count(),
        2
    );
}

#[test]
fn b_28_a_branch_below_another_is_warned_about() {
    let below_source = complete_plan("").replace("feature/1-1", "main/1-1");
    assert_eq!(
        warnings(&below_source),
        ["branch-clash", "no-machine-check"]
    );
    let below_other =
        complete_plan("") + &sprint("1.2", "B").replace("feature/1-2", "feature/1-1/b");
    assert_eq!(warnings(&below_other), ["branch-clash", "no-machine-check"]);
}

#[test]
fn b_31_a_merge_needs_the_branches_of_its_dependencies() {
    let text = "### Sprint 1.2a: A\n### Sprint 1.2b: B\n".to_owned() + &sprint("1.3", "Merge");
    let findings = compiled(&text, "1.3").unwrap_err();
    assert_eq!(
        codes(&findings)[1..],
        ["PARSE.MISSING_SECTION", "PARSE.MISSING_SECTION"]
    );
    let lone = complete_plan("") + "\n**Type**: merge\n";
    assert_eq!(warnings(&lone), ["no-machine-check", "nothing-to-merge"]);
}

#[test]
fn b_7_one_bead_id_for_two_sprints() {
    let text = complete_plan("")
        + "\n**Bead ID**: `bd-x`\n"
        + &sprint("1.2", "B")
        + "\n**Bead ID**: `bd-x`\n";
    let catalog = AgentCatalog::default();
    let found = codes(&check(&parse(&text), &settings(&catalog)));
    assert!(found.contains(&"DEPENDENCY.DUPLICATE_ID"), "{found:?}");
}

#[test]
fn b_17_agent_files() {
    let found = |catalog: &AgentCatalog, agent_check| {
        let settings = CompileSettings {
            agent_check,
            ..settings(catalog)
        };
        match compiled_with(&complete_plan(""), "", &settings) {
            Ok(compiled) => codes(&compiled.findings),
            Err(findings) => codes(&findings),
        }
    };
    let none = AgentCatalog::default();
    assert_eq!(found(&none, AgentCheck::Off), ["no-machine-check"]);
    assert_eq!(
        found(&none, AgentCheck::Auto),
        ["no-machine-check", "agent-file-missing"]
    );
    let strict = [
        "no-machine-check",
        "VALIDATION.BEAD_SCHEMA",
        "VALIDATION.BEAD_SCHEMA",
    ];
    assert_eq!(found(&none, AgentCheck::Strict), strict);
    let empty = AgentCatalog {
        has_directory: true,
        ..AgentCatalog::default()
    };
    assert_eq!(found(&empty, AgentCheck::Auto), strict);
    let files =
        ["dev", "qa"].map(|name| (format!(".claude/agents/{name}.md"), AgentFile::default()));
    let full = AgentCatalog {
        has_directory: true,
        files: files.into(),
        ..AgentCatalog::default()
    };
    assert_eq!(found(&full, AgentCheck::Strict), ["no-machine-check"]);
}

#[test]
fn b_17_the_message_is_the_one_of_seed_002() {
    let catalog = AgentCatalog::default();
    let settings = CompileSettings {
        agent_check: AgentCheck::Strict,
        ..settings(&catalog)
    };
    let findings = compiled_with(&complete_plan(""), "", &settings).unwrap_err();
    assert!(findings.iter().any(
        |f| f.message == "Agent path '.claude/agents/dev.md' does not exist in .claude/agents/"
    ));
}

#[test]
fn p_20_b_20_a_model_that_the_plan_does_not_name() {
    let text = complete_plan("").replace(" (sonnet)", "");
    let file = AgentFile {
        recommended_model: Some("gpt".to_owned()),
    };
    let catalog = AgentCatalog {
        files: [(".claude/agents/dev.md".to_owned(), file)].into(),
        default_model: Some("opus".to_owned()),
        ..AgentCatalog::default()
    };
    let compiled = compiled_with(&text, "", &settings(&catalog)).unwrap();
    assert_eq!(
        codes(&compiled.findings),
        ["no-machine-check", "model-not-named", "model-skipped"]
    );
    assert_eq!(
        compiled.beads[0].metadata.dev_agents[0]
            .model
            .unwrap()
            .as_str(),
        "opus"
    );
}

#[test]
fn contracts_2_4_numbering_that_is_probably_not_meant() {
    let catalog = AgentCatalog::default();
    let found = |text: &str| codes(&check(&parse(text), &settings(&catalog)));
    let mixed = sprint("1.2", "A") + &sprint("1.2a", "B");
    assert!(found(&mixed).contains(&"mixed-group"));
    assert!(found(&sprint("1.2ab", "A")).contains(&"merged-without-parts"));
    let partly = complete_plan("") + "**Estimate**: 5m\n" + &sprint("1.2", "B");
    assert!(found(&partly).contains(&"partly-estimated"));
}

#[test]
fn z_32_too_many_edges_are_refused_before_they_are_made() {
    let mut text = String::new();
    for number in 1..=2 {
        for n in 0..1001_u32 {
            let letters: String = (0..10)
                .map(|bit| if n >> bit & 1 == 1 { 'b' } else { 'a' })
                .collect();
            writeln!(text, "### Sprint 1.{number}ab{letters}: X").unwrap();
        }
    }
    let catalog = AgentCatalog::default();
    let findings = check(&parse(&text), &settings(&catalog));
    let limit = findings
        .iter()
        .find(|finding| finding.code.as_str() == "VALIDATION.CONSTRAINT")
        .unwrap();
    assert!(
        limit.message.contains("1.1") && limit.message.contains("1.2"),
        "{}",
        limit.message
    );
}

#[test]
fn z_31_an_empty_list_of_verifiers_checks_nothing() {
    let empty = complete_plan("") + "\n**Verifiers**:\n";
    assert_eq!(warnings(&empty), ["no-machine-check"]);
    let catalog = AgentCatalog::default();
    let strict = CompileSettings {
        require_machine_check: true,
        ..settings(&catalog)
    };
    assert!(compiled_with(&empty, "", &strict).is_err());
    let beside = complete_plan("") + "\n**Verifiers**: `make`\n";
    assert_eq!(errors(&beside), ["PARSE.MARKDOWN"]);
}

#[test]
fn z_31_checks_of_the_configuration_count() {
    let catalog = AgentCatalog::default();
    let checked = CompileSettings {
        require_machine_check: true,
        has_default_check: true,
        ..settings(&catalog)
    };
    assert_eq!(
        codes(
            &compiled_with(&complete_plan(""), "", &checked)
                .unwrap()
                .findings
        ),
        [""; 0]
    );
}

#[test]
fn f_16_a_formula_is_not_dropped_without_a_word() {
    assert_eq!(
        warnings(&(complete_plan("") + "\n**Formula**: work\n")),
        ["no-machine-check", "formula-not-poured"]
    );
}

#[test]
fn p_14_a_fix_never_renames_an_optional_field() {
    let text =
        complete_plan("") + "\n**Types**: string and int\n**State**: draft\n**Verifier**: me\n";
    let catalog = AgentCatalog::default();
    let findings = check(&parse(&text), &settings(&catalog));
    assert_eq!(apply_fixes(&text, &findings), (text, 0));
}

#[test]
fn p_19_p_20_every_fault_of_an_agent_is_reported_at_once() {
    let text = complete_plan("").replace("- `qa` (haiku) - judge it", "- `q a` (gpt, x y): foo");
    assert_eq!(
        errors(&text),
        [
            "PARSE.MARKDOWN",
            "VALIDATION.INVALID_PATTERN",
            "PARSE.MARKDOWN",
            "PARSE.MARKDOWN"
        ]
    );
}

#[test]
fn z_32_a_plan_that_is_too_large_is_checked_all_the_same() {
    let mut text = String::new();
    for n in 0..600_u32 {
        let letters: String = (0..10)
            .filter(|bit| n >> bit & 1 == 1)
            .map(|bit| char::from(b'a' + bit))
            .collect();
        writeln!(text, "### Sprint 1.1{letters}z: X").unwrap();
    }
    let catalog = AgentCatalog::default();
    let findings = check(&parse(&text), &settings(&catalog));
    assert!(codes(&findings).contains(&"VALIDATION.CONSTRAINT"));
    assert_eq!(
        codes(&findings)
            .iter()
            .filter(|code| **code == "PARSE.MISSING_SECTION")
            .count(),
        600
    );
}

#[test]
fn e_10_an_id_that_no_file_can_carry_is_found_before_anything_is_written() {
    let text = sprint(&format!("1.1{}", "a".repeat(300)), "Long");
    let catalog = AgentCatalog::default();
    assert!(codes(&check(&parse(&text), &settings(&catalog))).contains(&"VALIDATION.CONSTRAINT"));
    assert!(compiled(&text, "").is_err());
}

//! Any bytes as a plan: nothing panics, every span slices, findings stay short and printable, fixed
//! text can be parsed again, and a plan without errors compiles to beads that validate.

#![no_main]

use beads_ralph_core::bead::{self, BeadShape, Rules, Timestamp};
use beads_ralph_core::compile::{
    self, AgentCatalog, AgentCheck, KnownIds, MergeDetection, CompileSettings,
};
use beads_ralph_core::diag::{self, Diagnostic};
use beads_ralph_core::plan::{self, Filter, Plan};
use beads_ralph_core::text::{LineIndex, Span};
use libfuzzer_sys::fuzz_target;

/// More than any message needs: a few excerpts and the words around them.
const LONGEST_MESSAGE: usize = 4096;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let findings = check(&text);
    let (fixed, n_applied) = diag::apply_fixes(&text, &findings);
    assert!(n_applied > 0 || fixed == text);
    if n_applied > 0 {
        check(&fixed);
    }
});

fn check(text: &str) -> Vec<Diagnostic> {
    let plan = plan::parse(text);
    check_sprints(text, &plan);
    let agents = AgentCatalog::default();
    let settings = settings(&agents, text);
    let findings = compile::check(&plan, &settings);
    let lines = LineIndex::new(text);
    for finding in &findings {
        check_finding(text, &lines, finding);
    }
    if !diag::has_errors(&findings) {
        check_beads(&plan, &settings);
    }
    findings
}

fn settings<'a>(agents: &'a AgentCatalog, text: &'a str) -> CompileSettings<'a> {
    CompileSettings {
        plan_file: "plan.md",
        text: Some(text),
        rig: "beads-ralph",
        now: Timestamp::parse("2026-01-01T00:00:00Z").expect("a constant in the right form"),
        agents,
        agent_check: AgentCheck::Auto,
        merge_detection: MergeDetection::Both,
        skip_completed: false,
        has_default_check: false,
        require_machine_check: false,
        known_ids: KnownIds::new(),
        formula_sprints: beads_ralph_core::compile::FormulaSprints::Ordinary,
    }
}

fn slices(text: &str, span: Span) {
    assert!(text.get(span.range()).is_some(), "{span:?} does not slice");
}

fn check_sprints(text: &str, plan: &Plan) {
    for sprint in &plan.sprints {
        slices(text, sprint.section);
        assert_eq!(sprint.id.span.slice(text), sprint.id.value.as_str());
        assert_eq!(sprint.title.span.slice(text), sprint.title.value);
        assert_eq!(sprint.heading.span.slice(text), sprint.heading.value);
        let body = sprint.body();
        for agent in body.dev_agents.iter().chain(&body.qa_agents) {
            slices(text, agent.span);
            assert_eq!(agent.name.span.slice(text), agent.name.value);
        }
        for item in body.tasks.iter().chain(&body.acceptance) {
            slices(text, item.span);
            assert!(!item.value.trim().is_empty());
        }
        for verifier in &body.verifiers {
            assert_eq!(verifier.command.span.slice(text), verifier.command.value);
        }
    }
}

fn check_finding(text: &str, lines: &LineIndex, finding: &Diagnostic) {
    let places = std::iter::once(&finding.primary).chain(&finding.secondary);
    for place in places {
        slices(text, place.span);
        let at = lines.position(text, place.span.start());
        assert!(at.line >= 1 && at.line <= lines.n_lines());
        assert!(place.text.len() <= LONGEST_MESSAGE);
    }
    if let Some(fix) = &finding.fix {
        slices(text, fix.edit.span);
    }
    assert!(
        finding.message.len() <= LONGEST_MESSAGE,
        "{}",
        finding.message
    );
    assert!(
        !finding.message.contains(char::is_control),
        "{:?}",
        finding.message
    );
}

fn check_beads(plan: &Plan, settings: &CompileSettings<'_>) {
    let graph = compile::plan_graph(plan, &settings.known_ids).expect("check found no error");
    let compiled =
        compile::compile(plan, &graph, &Filter::default(), settings).expect("check found no error");
    for bead in &compiled.beads {
        for shape in [BeadShape::V1, BeadShape::V2, BeadShape::Both] {
            let document = bead.to_document(shape);
            if let Err(errors) = bead::validate(&document, &Rules::default()) {
                panic!("{shape:?}: {errors:?} in {document}");
            }
        }
    }
}

//! Laws that hold for any text.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::bead::BeadId;
use crate::diag::{Diagnostic, apply_fixes};
use crate::plan::fixture::findings;
use crate::plan::{AgentItem, Body, Filter, Plan, Sprint, VerifierItem, annotate, parse};
use crate::text::Span;

/// Lines that plans are made of, and lines that are nearly so.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "(### Sprint |###Sprint |### sprint )[0-9]{1,2}[a-c]{0,2}\\.[0-9]{1,2}[a-c]{0,2}(: |:| - )[ -~é✅]{0,12}",
        3 => "\\*\\*(Worktree|Branch|Source Branch|Dev Agents|QA Agents|Tasks|Verifiers|Labels|Estimate|Type|Bead ID|Status|Dev Agent)\\*\\*: ?[ -~]{0,12}",
        4 => "[ \t]{0,4}[-*+] (\\[x\\] )?`{0,2}[a-z]{0,6}`{0,2} ?(\\((haiku|gpt)(, codex)?\\))? ?[-–]? ?[ -~é]{0,10}",
        1 => "[ ]{0,4}(```|~~~~)[a-z]{0,3}",
        1 => "(<!-- beads-ralph: [a-z-]{1,5} -->|<!-- x|-->|---|## H)",
        1 => "\\PC{0,20}",
        1 => "[\\x00-\\x7f\u{202e}\u{feff}０１]{0,10}",
    ]
}

fn plan_text() -> impl Strategy<Value = String> {
    (
        any::<bool>(),
        prop::collection::vec(
            (line(), prop_oneof![Just("\n"), Just("\r\n"), Just("\r")]),
            0..40,
        ),
    )
        .prop_map(|(bom, lines)| {
            let body: String = lines
                .into_iter()
                .flat_map(|(line, end)| [line, end.to_owned()])
                .collect();
            if bom { format!("\u{feff}{body}") } else { body }
        })
}

/// The spans of a body. Every field is named, so that a new one must be considered here.
fn body_spans(body: &Body) -> Vec<Span> {
    let Body {
        fields,
        misspelt,
        worktree,
        branch,
        source_branch,
        team,
        labels,
        formula,
        bead_id,
        kind,
        estimate,
        dev_agents,
        qa_agents,
        tasks,
        acceptance,
        verifiers,
        is_completed: _,
    } = body;
    let mut spans: Vec<Span> = fields
        .iter()
        .chain(misspelt)
        .map(|field| field.span)
        .collect();
    spans.extend(
        [worktree, source_branch, team, formula]
            .into_iter()
            .flatten()
            .map(|value| value.span),
    );
    spans.extend(branch.iter().map(|value| value.span));
    spans.extend(bead_id.iter().map(|value| value.span));
    spans.extend(kind.iter().map(|value| value.span));
    spans.extend(estimate.iter().map(|value| value.span));
    spans.extend(
        labels
            .iter()
            .chain(tasks)
            .chain(acceptance)
            .map(|item| item.span),
    );
    spans.extend(dev_agents.iter().chain(qa_agents).flat_map(agent_spans));
    for VerifierItem { name, command, .. } in verifiers {
        spans.push(command.span);
        spans.extend(name.iter().map(|name| name.span));
    }
    spans
}

fn agent_spans(agent: &AgentItem) -> Vec<Span> {
    let AgentItem {
        name,
        path: _,
        model,
        adapter,
        text: _,
        span,
    } = agent;
    let model = model.iter().map(|model| model.span);
    let adapter = adapter.iter().map(|adapter| adapter.span);
    [name.span, *span]
        .into_iter()
        .chain(model)
        .chain(adapter)
        .collect()
}

fn spans(plan: &Plan, findings: &[Diagnostic]) -> Vec<Span> {
    let of_sprint = |sprint: &Sprint| {
        let mut spans = vec![
            sprint.id.span,
            sprint.title.span,
            sprint.heading.span,
            sprint.section,
        ];
        spans.extend(sprint.annotations.iter().map(|annotation| annotation.line));
        spans.extend(body_spans(sprint.body()));
        spans
    };
    let of_finding = |finding: &Diagnostic| {
        let fix = finding.fix.iter().map(|fix| fix.edit.span);
        let labels = finding.secondary.iter().map(|label| label.span);
        std::iter::once(finding.primary.span)
            .chain(fix)
            .chain(labels)
            .collect::<Vec<_>>()
    };
    plan.sprints
        .iter()
        .flat_map(of_sprint)
        .chain(findings.iter().flat_map(of_finding))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn parsing_never_panics_and_every_span_slices(text in plan_text()) {
        let plan = parse(&text);
        for span in spans(&plan, &findings(&text)) {
            prop_assert!(text.get(span.range()).is_some(), "{span:?} in {text:?}");
        }
    }

    #[test]
    fn ids_and_titles_stand_where_their_spans_say(text in plan_text()) {
        for sprint in parse(&text).sprints {
            prop_assert_eq!(sprint.id.span.slice(&text), sprint.id.value.as_str());
            prop_assert_eq!(sprint.title.span.slice(&text), &sprint.title.value);
            prop_assert!(sprint.section.slice(&text).starts_with(sprint.heading.span.slice(&text)));
        }
    }

    #[test]
    fn fixing_never_breaks_the_text(text in plan_text()) {
        let (fixed, applied) = apply_fixes(&text, &findings(&text));
        prop_assert!(applied > 0 || fixed == text);
        parse(&fixed);
    }

    #[test]
    fn a_6_annotation_is_idempotent_and_changes_no_other_byte(text in plan_text()) {
        let plan = parse(&text);
        let ids: BTreeMap<_, _> = plan
            .unique()
            .map(|sprint| (sprint.id.value.clone(), BeadId::derive(&sprint.id.value, &sprint.title.value)))
            .collect();
        let Ok(annotated) = annotate(&text, &plan, &Filter::default(), &ids) else { return Ok(()) };
        let again = annotate(&annotated.text, &parse(&annotated.text), &Filter::default(), &ids);
        prop_assert_eq!(again.map(|again| again.n_changed), Ok(0));
        // Taking the annotations out of both must give the same bytes.
        let bare = |text: &str| -> String {
            text.split_inclusive('\n').filter(|line| !line.trim_start().starts_with("<!-- beads-ralph:")).collect()
        };
        let (before, after) = (bare(&text), bare(&annotated.text));
        let is_last_line = before.len() + 2 >= after.len() && after.trim_end() == before.trim_end();
        prop_assert!(before == after || is_last_line, "{before:?} {after:?}");
    }
}

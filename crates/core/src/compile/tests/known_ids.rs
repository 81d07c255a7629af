//! Sprints that a store knows already keep their ids (Z-10).

use super::settings;
use crate::bead::BeadId;
use crate::compile::{AgentCatalog, CompileSettings, Compiled, KnownIds, build, plan_graph};
use crate::diag::Diagnostic;
use crate::number::SprintId;
use crate::plan::{Filter, parse, sprint};

fn known(pairs: &[(&str, &str)]) -> KnownIds {
    pairs
        .iter()
        .map(|(id, bead)| (SprintId::parse(id).unwrap(), BeadId::parse(bead).unwrap()))
        .collect()
}

fn built(text: &str, known_ids: KnownIds) -> Compiled {
    let agents = AgentCatalog::default();
    let settings = CompileSettings {
        known_ids,
        ..settings(&agents)
    };
    build(&parse(text), &Filter::default(), &settings).unwrap()
}

fn messages<'f>(findings: &'f [Diagnostic], code: &str) -> Vec<&'f str> {
    let wanted = findings.iter().filter(|f| f.code.as_str() == code);
    wanted.map(|finding| &*finding.message).collect()
}

#[test]
fn z_10_a_known_id_outlives_the_title_and_the_spelling_of_the_number() {
    let text = sprint("1.01", "New Name") + &sprint("1.2", "After") + &sprint("1.3", "Last");
    let compiled = built(&text, known(&[("1.1", "bd-1-1-old"), ("1.3", "gt-7")]));
    let ids: Vec<&str> = compiled.beads.iter().map(|bead| bead.id.as_str()).collect();
    assert_eq!(ids, ["bd-1-1-old", "bd-1-2-after", "gt-7"]);
    assert_eq!(compiled.beads[0].title, "New Name");
    let after = &compiled.beads[1].dependencies;
    assert_eq!(
        after.iter().map(BeadId::as_str).collect::<Vec<_>>(),
        ["bd-1-1-old"]
    );
    assert!(messages(&compiled.findings, "ignored-bead-id").is_empty());
}

#[test]
fn z_10_the_graph_names_the_known_ids_too() {
    let plan =
        parse("### Sprint 1.1: A\n**Bead ID**: no id\n### Sprint 1.2: B\n**Bead ID**: no id\n");
    let known = known(&[("1.1", "bd-1-1-old")]);
    let graph = plan_graph(&plan, &known).unwrap();
    assert_eq!(graph.ids(), known, "1.2 has no id");
    assert_eq!(graph.unreadable_ids().count(), 1);
}

#[test]
fn z_10_the_stores_id_wins_over_the_plans_and_is_said_so() {
    let text = sprint("1.1", "A") + "\n**Bead ID**: `bd-own`\n";
    let compiled = built(&text, known(&[("1.1", "bd-1-1-old")]));
    assert_eq!(compiled.beads[0].id.as_str(), "bd-1-1-old");
    assert_eq!(
        messages(&compiled.findings, "ignored-bead-id"),
        ["sprint 1.1 is bead bd-1-1-old in the store, so its `Bead ID` is ignored"]
    );
    let same = built(&text, known(&[("1.1", "bd-own")]));
    assert!(messages(&same.findings, "ignored-bead-id").is_empty());
}

#[test]
fn b_7_a_new_sprint_cannot_take_a_known_id() {
    let text = sprint("1.1", "A") + &sprint("1.2", "B");
    let plan = parse(&text);
    let graph = plan_graph(&plan, &known(&[("1.1", "bd-1-2-b")])).unwrap();
    let codes: Vec<&str> = graph.findings.iter().map(|f| f.code.as_str()).collect();
    assert_eq!(codes, ["DEPENDENCY.DUPLICATE_ID"]);
}

//! Back-annotation (contracts §5).

use std::collections::BTreeMap;

use crate::bead::BeadId;
use crate::number::SprintId;
use crate::plan::{Filter, annotate, parse};

fn ids(pairs: &[(&str, &str)]) -> BTreeMap<SprintId, BeadId> {
    pairs
        .iter()
        .map(|(id, bead)| (SprintId::parse(id).unwrap(), BeadId::parse(bead).unwrap()))
        .collect()
}

fn run(text: &str, filter: &str, pairs: &[(&str, &str)]) -> Result<String, Vec<&'static str>> {
    match annotate(
        text,
        &parse(text),
        &Filter::parse(filter).unwrap(),
        &ids(pairs),
    ) {
        Ok(annotated) => {
            assert_eq!(annotated.n_changed == 0, annotated.text == text);
            Ok(annotated.text)
        }
        Err(findings) => Err(findings
            .iter()
            .map(|finding| finding.code.as_str())
            .collect()),
    }
}

const ONE: &[(&str, &str)] = &[("1.2", "bd-1-2-a")];

#[test]
fn a_1_a_2_a_5_the_table_of_the_contract() {
    for (before, after) in [
        (
            "### Sprint 1.2: A\n\nx",
            "### Sprint 1.2: A\n<!-- beads-ralph: bd-1-2-a -->\n\nx",
        ),
        (
            "### Sprint 1.2: A\r\nx\r\n",
            "### Sprint 1.2: A\r\n<!-- beads-ralph: bd-1-2-a -->\r\nx\r\n",
        ),
        (
            "### Sprint 1.2: A\n<!-- beads-ralph: old -->\n",
            "### Sprint 1.2: A\n<!-- beads-ralph: bd-1-2-a -->\n",
        ),
        (
            "### Sprint 1.2: A",
            "### Sprint 1.2: A\n<!-- beads-ralph: bd-1-2-a -->",
        ),
        (
            "x\r\n### Sprint 1.2: A",
            "x\r\n### Sprint 1.2: A\r\n<!-- beads-ralph: bd-1-2-a -->",
        ),
        (
            "\u{feff}### Sprint 1.2: A  \n\x0c",
            "\u{feff}### Sprint 1.2: A  \n<!-- beads-ralph: bd-1-2-a -->\n\x0c",
        ),
        (
            "### Sprint 1.2: A\n  <!-- beads-ralph:x-->  \r\ny",
            "### Sprint 1.2: A\n<!-- beads-ralph: bd-1-2-a -->\r\ny",
        ),
    ] {
        assert_eq!(run(before, "", ONE).as_deref(), Ok(after));
        assert_eq!(
            run(after, "", ONE).as_deref(),
            Ok(after),
            "A-6: a second run changes nothing"
        );
    }
}

#[test]
fn a_3_only_selected_sprints_are_touched() {
    let before = "### Sprint 1.1: S\n<!-- beads-ralph: stale -->\n### Sprint 1.2: A\n";
    let after = "### Sprint 1.1: S\n<!-- beads-ralph: stale -->\n### Sprint 1.2: A\n<!-- beads-ralph: bd-1-2-a -->\n";
    assert_eq!(run(before, "1.2", ONE).as_deref(), Ok(after));
}

#[test]
fn a_4_headings_in_fences_and_comments_are_left_alone() {
    let text = "```\n### Sprint 1.2: A\n```\n### ✅ Sprint 1.2: A\n### ~~Sprint 1.2: A~~\n### Sprint 1.2: A\n";
    let annotated = run(text, "", ONE).unwrap();
    assert_eq!(annotated, format!("{text}<!-- beads-ralph: bd-1-2-a -->\n"));
}

#[test]
fn a_7_what_cannot_be_annotated() {
    let twice = "### Sprint 1.2: A\n<!-- beads-ralph: a -->\n<!-- beads-ralph: b -->\n";
    assert_eq!(run(twice, "", ONE), Err(vec!["DEPENDENCY.DUPLICATE_ID"]));
    let below = "### Sprint 1.2: A\n\n<!-- beads-ralph: a -->\n";
    assert_eq!(run(below, "", ONE), Err(vec!["DEPENDENCY.DUPLICATE_ID"]));
    let two = "### Sprint 1.1: A\n### Sprint 1.2: A\n";
    assert_eq!(run(two, "", ONE), Err(vec!["DEPENDENCY.UNRESOLVED"]));
    assert_eq!(
        run(two, "", &[("1.1", "bd-x"), ("1.2", "bd-x")]),
        Err(vec!["DEPENDENCY.DUPLICATE_ID"])
    );
    assert_eq!(run("# T\n", "", ONE), Err(vec!["PARSE.MARKDOWN"]));
    assert_eq!(
        run("### Sprint 1.2: A\n<!-- beads-ralph: a\n-->\n", "", ONE),
        Err(vec!["PARSE.MARKDOWN"])
    );
}

#[test]
fn a_2_an_annotation_names_one_bead() {
    for (line, id) in [
        ("<!-- beads-ralph: bd-1-2-a -->", Some("bd-1-2-a")),
        ("  <!-- beads-ralph:  gt-7\t-->  ", Some("gt-7")),
        ("<!-- beads-ralph: -->", None),
        ("<!-- beads-ralph:bd-1 -->", None),
        ("<!-- beads-ralph: bd-1-->", None),
        ("<!-- beads-ralph: bd-1 bd-2 -->", None),
    ] {
        let plan = parse(&format!("### Sprint 1.2: A\n{line}\n"));
        let annotation = plan.sprints[0].annotation().unwrap();
        assert_eq!(annotation.id.as_ref().map(BeadId::as_str), id, "{line}");
    }
    let plan = parse("### Sprint 1.2: A\n\n<!-- beads-ralph: bd-1 -->\n");
    assert_eq!(plan.sprints[0].annotation(), None);
}

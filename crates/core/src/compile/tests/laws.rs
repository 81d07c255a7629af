//! Laws that hold for any plan that compiles.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::compiled;
use crate::bead::{BeadShape, Rules, schemas, validate};
use crate::plan::sprint;

static BEAD_SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let schemas = schemas();
    let (_, schema) = schemas.iter().find(|(name, _)| *name == "bead").unwrap();
    jsonschema::validator_for(schema).unwrap()
});

/// Sprints with distinct numbers, titles of any kind, and bodies with varying extras.
fn sprints() -> impl Strategy<Value = Vec<String>> {
    let id = (1..4_u8, "[a-c]{0,2}", 1..5_u8, "[a-c]{0,2}")
        .prop_map(|(p, ps, s, ss)| format!("{p}{ps}.{s}{ss}"));
    let extra = prop_oneof![
        Just(String::new()),
        Just("\n**Verifiers**:\n- a b: `x`\n  - timeout: 5s\n".to_owned()),
        "[ -~]{1,20}".prop_map(|text| format!("\n**Acceptance Criteria**:\n- x{text}\n")),
        "[ -~é]{0,20}".prop_map(|text| format!("  - {text}\n  {text}\n")),
        Just("\n**Labels**: `x`, y\n**Estimate**: 5m\n".to_owned()),
        Just("\n**Type**: merge\n".to_owned()),
    ];
    let item = (id, "[A-Za-z✅é`(]{1}[ -~]{0,20}", extra);
    prop::collection::vec(item, 1..12).prop_map(|items| {
        let mut unique = BTreeMap::new();
        for (id, title, extra) in items {
            unique
                .entry(id.clone())
                .or_insert_with(|| sprint(&id, &title) + &extra);
        }
        unique.into_values().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn every_generated_bead_passes_the_validator_and_the_schema(sprints in sprints()) {
        let compiled = compiled(&sprints.concat(), "");
        let beads = compiled.map_err(|findings| TestCaseError::fail(format!("{findings:?}")))?.beads;
        prop_assert_eq!(beads.len(), sprints.len());
        for bead in beads {
            for shape in [BeadShape::V1, BeadShape::V2, BeadShape::Both] {
                let document = bead.to_document(shape);
                prop_assert!(validate(&document, &Rules::default()).is_ok(), "{document}");
                prop_assert!(BEAD_SCHEMA.is_valid(&document), "{document}");
            }
        }
    }

    #[test]
    fn p_9_e_15_the_order_of_the_document_does_not_matter(
        (sprints, shuffled) in sprints().prop_flat_map(|sprints| (Just(sprints.clone()), Just(sprints).prop_shuffle()))
    ) {
        let documents = |sprints: &[String]| {
            let beads = compiled(&sprints.concat(), "").unwrap().beads;
            beads.iter().map(|bead| bead.to_document(BeadShape::Both)).collect::<Vec<_>>()
        };
        prop_assert_eq!(documents(&sprints), documents(&shuffled));
    }

    #[test]
    fn d_8_every_bead_comes_after_what_it_waits_for(sprints in sprints()) {
        let mut seen = std::collections::BTreeSet::new();
        for bead in compiled(&sprints.concat(), "").unwrap().beads {
            prop_assert!(bead.dependencies.iter().all(|id| seen.contains(id.as_str())));
            seen.insert(bead.id.as_str().to_owned());
        }
    }
}

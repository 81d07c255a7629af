//! Ways to an answer that only a larger store takes.

use super::*;

#[test]
fn a_label_that_many_have_is_found_like_one_that_few_have() {
    let place = place();
    let (mut store, _) = SqliteStore::open_or_create(&place.path).unwrap();
    let batch: Vec<Write> = (0..1200)
        .map(|number| {
            let labels: &[&str] = match number % 40 {
                0 => &["common", "rare"],
                1..4 => &[],
                _ => &["common"],
            };
            let document = json!({
                "id": format!("bd-{number}"), "title": "t", "labels": labels, "priority": number % 5,
            });
            Write::Insert(Box::new(Entry::from_document(document).unwrap()))
        })
        .collect();
    store.write(&batch, by()).unwrap();
    for (labels, expected) in [
        (&["common"][..], 1110),
        (&["rare"], 30),
        (&["common", "rare"], 30),
        (&["none"], 0),
    ] {
        let query = Query {
            labels_all: labels.iter().map(|&label| label.to_owned()).collect(),
            ..Query::default()
        };
        let found = store.find(&query).unwrap();
        assert_eq!(found.len(), expected, "{labels:?}");
        assert_eq!(store.count(&query).unwrap(), expected, "{labels:?}");
        let in_order = |a: &Record, b: &Record| query.order.compare(&a.issue, &b.issue).is_le();
        assert!(found.is_sorted_by(in_order), "{labels:?}");
        let few = store.find(&Query {
            limit: Some(5),
            ..query.clone()
        });
        assert_eq!(few.unwrap(), found[..expected.min(5)], "{labels:?}");
    }
}

//! A row that is not what was written is an error and never an answer.

use super::*;

#[test]
fn a_changed_value_is_seen_whichever_it_is() {
    for change in [
        "UPDATE issues SET document = replace(document, '\"t\"', '\"u\"') WHERE id = 'a'",
        "UPDATE issues SET version = version + 1 WHERE id = 'b'",
        "UPDATE issues SET fence = 0 WHERE id = 'b'",
        "UPDATE issues SET n_comments = 0 WHERE id = 'b'",
        "UPDATE issues SET blocked = 0 WHERE id = 'a'",
        "UPDATE issues SET blocked = 2 WHERE id = 'a'",
        "UPDATE claims SET claim = replace(claim, '\"r\"', '\"q\"')",
        "UPDATE comments SET record = replace(record, 'hi', 'ho')",
        "UPDATE leases SET until = until + 1",
        "UPDATE leases SET fence = 9",
        "UPDATE controls SET value = '2'",
        "UPDATE controls SET version = 2",
        "DELETE FROM comments",
        "DROP TRIGGER events_are_not_changed; UPDATE events SET actor = 'eve' WHERE number = 2",
        "DROP TRIGGER events_are_not_changed; UPDATE events SET number = 99 WHERE number = 2",
    ] {
        let place = place();
        let store = filled(&place.path);
        contents(&store).unwrap();
        store.connection.execute_batch(change).unwrap();
        let error = contents(&store).unwrap_err();
        assert!(
            matches!(error, StoreError::Damaged { .. }),
            "{change}: {error:?}"
        );
    }
}

#[test]
fn the_history_is_only_ever_appended_to() {
    let place = place();
    let store = filled(&place.path);
    for change in ["UPDATE events SET actor = 'eve'", "DELETE FROM events"] {
        let error = store.connection.execute_batch(change).unwrap_err();
        assert!(error.to_string().contains("only ever appended"), "{error}");
    }
}

#[test]
fn what_is_derived_wrongly_shows_nothing_wrong_and_is_found_and_repaired() {
    for change in [
        "UPDATE facts SET status = 'closed' WHERE id = 'a'",
        "UPDATE facts SET priority = 4 WHERE id = 'a'",
        "UPDATE facts SET kind = 'bug' WHERE id = 'b'",
        "UPDATE facts SET assignee = 'eve' WHERE id = 'b'",
        "UPDATE facts SET flags = 2 WHERE id = 'b'",
        "UPDATE facts SET blocked = 1 - blocked WHERE id = 'b'",
        "UPDATE facts SET created = 7 WHERE id = 'b'",
        "UPDATE facts SET deferred = 7 WHERE id = 'b'",
        "UPDATE facts SET name = 'x' WHERE id = 'b'",
        "DELETE FROM facts WHERE id = 'b'",
        "PRAGMA foreign_keys = OFF; UPDATE facts SET id = 'c' WHERE id = 'b'",
        "INSERT INTO fields (key, value, issue_id) VALUES ('lane', 'gate', 'b')",
        "UPDATE tallies SET n = n + 1",
        "DELETE FROM tallies",
        "INSERT INTO tallies VALUES ('open', 9, 'task', '', 0, 0, 1)",
    ] {
        let place = place();
        let store = filled(&place.path);
        let truth = store.find(&everything()).unwrap();
        drop(store);
        let raw = Connection::open(&place.path).unwrap();
        raw.execute_batch(change).unwrap();
        drop(raw);
        let store = SqliteStore::open(&place.path).unwrap();
        for query in [
            everything(),
            Query::default(),
            Query {
                types: vec!["bug".to_owned()],
                ..everything()
            },
            Query {
                is_blocked: Some(true),
                ..everything()
            },
            Query {
                ready_at: Some(by().at),
                ..Query::default()
            },
        ] {
            let found = store.find(&query).unwrap_or_default();
            let is_right = |record: &Record| truth.contains(record) && query.matches(record);
            assert!(found.iter().all(is_right), "{change}: {query:?}");
        }
        drop(store);
        let report = check(&place.path, AT_ONCE).unwrap();
        assert!(!report.is_healthy(), "{change}");
        let repaired = repair(&place.path, BTreeMap::new(), by(), AT_ONCE);
        assert!(repaired.unwrap().is_some(), "{change}");
        let report = check(&place.path, AT_ONCE).unwrap();
        assert_eq!(report.findings, Vec::<String>::new(), "{change}");
        let store = SqliteStore::open(&place.path).unwrap();
        assert_eq!(store.find(&everything()).unwrap(), truth, "{change}");
        assert_eq!(store.count(&everything()).unwrap(), truth.len(), "{change}");
    }
}

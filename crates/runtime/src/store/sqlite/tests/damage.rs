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

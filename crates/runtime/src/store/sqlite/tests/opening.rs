//! Opening files: ours, older, newer, other people's, broken.

use beads_ralph_core::diag::ErrorCode;

use super::*;

/// What both ways of opening say.
fn refusals(path: &Utf8Path) -> [StoreError; 2] {
    [
        SqliteStore::open_with(path, AT_ONCE).unwrap_err(),
        SqliteStore::open_or_create_with(path, AT_ONCE).unwrap_err(),
    ]
}

#[test]
fn reopening_the_file_gives_the_same() {
    let place = place();
    let before = contents(&filled(&place.path)).unwrap();
    let store = SqliteStore::open(&place.path).unwrap();
    assert_eq!(contents(&store).unwrap(), before);
    drop(store);
    let (store, opened) = SqliteStore::open_or_create(&place.path).unwrap();
    assert_eq!(opened, Opened::Existing);
    assert_eq!(contents(&store).unwrap(), before);
}

#[test]
fn a_newer_format_is_refused_and_the_file_untouched() {
    let place = place();
    drop(filled(&place.path));
    let raw = Connection::open(&place.path).unwrap();
    raw.execute_batch("CREATE TABLE invented_later (a)")
        .unwrap();
    raw.pragma_update(None, "user_version", 99).unwrap();
    drop(raw);
    let before = std::fs::read(&place.path).unwrap();
    for error in refusals(&place.path) {
        let formats = format!("has format 99; this program knows formats up to {FORMAT}");
        assert!(error.to_string().contains(&formats), "{error:?}");
        assert_eq!(error.code(), ErrorCode::IoPermissionDenied);
    }
    assert_eq!(std::fs::read(&place.path).unwrap(), before);
}

#[test]
fn a_format_that_never_was_is_damage() {
    let place = place();
    drop(filled(&place.path));
    for odd in [-1, 0, i32::MIN] {
        let raw = Connection::open(&place.path).unwrap();
        raw.pragma_update(None, "user_version", odd).unwrap();
        drop(raw);
        for error in refusals(&place.path) {
            assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
        }
    }
}

#[test]
fn a_database_of_another_program_is_refused_and_left_alone() {
    for setup in [
        "PRAGMA user_version = 3; CREATE TABLE notes (x);",
        "PRAGMA application_id = 7; PRAGMA user_version = 1;",
        "PRAGMA application_id = 7;",
        "CREATE TABLE notes (x); INSERT INTO notes VALUES (1);",
        "CREATE TABLE issues (x);",
    ] {
        let place = place();
        Connection::open(&place.path)
            .unwrap()
            .execute_batch(setup)
            .unwrap();
        let before = std::fs::read(&place.path).unwrap();
        for error in refusals(&place.path) {
            assert!(
                matches!(error, StoreError::Unusable { .. }),
                "{setup}: {error:?}"
            );
            assert_eq!(error.code(), ErrorCode::IoPermissionDenied);
        }
        assert_eq!(std::fs::read(&place.path).unwrap(), before, "{setup}");
    }
}

#[test]
fn a_directory_is_no_store() {
    let place = place();
    std::fs::create_dir(&place.path).unwrap();
    for error in refusals(&place.path) {
        assert!(matches!(error, StoreError::Unusable { .. }), "{error:?}");
    }
}

#[test]
fn a_file_that_is_missing_is_made_only_when_asked() {
    let place = place();
    let error = SqliteStore::open_with(&place.path, AT_ONCE).unwrap_err();
    assert!(matches!(error, StoreError::Unusable { .. }), "{error:?}");
    assert!(!place.path.exists());
    let nowhere = place.path.join("below/x.db");
    for error in refusals(&nowhere) {
        assert!(matches!(error, StoreError::Unusable { .. }), "{error:?}");
        assert_eq!(error.code(), ErrorCode::IoPermissionDenied);
    }
}

#[test]
fn an_empty_file_is_damage_until_it_is_made_anew() {
    let (bare, vacuumed) = (place(), place());
    crate::os::files::write_atomic(&bare.path, b"").unwrap();
    Connection::open(&vacuumed.path)
        .unwrap()
        .execute_batch("CREATE TABLE x (x); DROP TABLE x; VACUUM;")
        .unwrap();
    for place in [bare, vacuumed] {
        let error = SqliteStore::open_with(&place.path, AT_ONCE).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
        let (mut store, _) = SqliteStore::open_or_create_with(&place.path, AT_ONCE).unwrap();
        store.write(&[insertion("a", &[])], by()).unwrap();
    }
}

#[test]
fn a_file_that_is_cut_off_is_damage_wherever_it_is_cut() {
    let place = place();
    let truth = contents(&filled(&place.path)).unwrap();
    let whole = std::fs::read(&place.path).unwrap();
    for length in [
        10,
        99,
        100,
        4096,
        3 * 4096,
        whole.len() / 2,
        whole.len() - 1,
    ] {
        let cut = self::place();
        crate::os::files::write_atomic(&cut.path, &whole[..length]).unwrap();
        let read = SqliteStore::open_with(&cut.path, AT_ONCE).and_then(|store| contents(&store));
        // What is missing may be the end of an index that is not asked for.
        match read {
            Ok(read) => assert_eq!(read, truth, "at {length}"),
            Err(StoreError::Damaged { .. }) => {}
            Err(error) => panic!("at {length}: {error:?}"),
        }
        let report = check(&cut.path, AT_ONCE).unwrap();
        assert!(!report.is_healthy(), "at {length}");
    }
}

#[test]
fn a_file_of_another_kind_is_damage() {
    let place = place();
    crate::os::files::write_atomic(&place.path, "no database\n".repeat(99).as_bytes()).unwrap();
    for error in refusals(&place.path) {
        assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    }
}

#[test]
fn a_file_that_cannot_be_written_can_be_read_and_refuses_writes() {
    let place = place();
    let before = contents(&filled(&place.path)).unwrap();
    let lock = open::lock(&place.path, Access::Shared, AT_ONCE.busy).unwrap();
    let connection =
        Connection::open_with_flags(&place.path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)
            .unwrap();
    let mut store = SqliteStore {
        connection,
        path: place.path.clone(),
        options: AT_ONCE,
        _lock: lock,
    };
    assert_eq!(contents(&store).unwrap(), before);
    let error = store.write(&[insertion("new", &[])], by()).unwrap_err();
    assert!(matches!(error, StoreError::Unusable { .. }), "{error:?}");
    assert_eq!(error.code(), ErrorCode::IoPermissionDenied);
}

//! `schema`: the published JSON Schemas are the program's own.

use camino::Utf8Path;

use crate::env::{TestEnv, is_updating, same_as_file};

fn names(env: &TestEnv) -> Vec<String> {
    let output = env.run(&["schema"]).exits(0);
    output.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn the_schemas_of_the_repository_are_current() {
    let env = TestEnv::new();
    let folder = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas");
    let names = names(&env);
    for name in &names {
        let output = env.run(&["schema", name]).exits(0);
        assert_eq!(output.stderr, "");
        same_as_file(&folder.join(format!("{name}.json")), &output.stdout);
    }
    let mut published: Vec<String> = folder
        .read_dir_utf8()
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_owned())
        .collect();
    published.sort();
    let mut expected: Vec<String> = names.iter().map(|name| format!("{name}.json")).collect();
    expected.sort();
    assert!(
        is_updating() || published == expected,
        "{published:?} for {expected:?}"
    );
}

#[test]
fn the_names_are_listed() {
    let env = TestEnv::new();
    let names = names(&env);
    assert!(
        names.iter().any(|name| name == "bead") && names.len() >= 6,
        "{names:?}"
    );
    let data = env.run(&["schema", "--json"]).data();
    assert_eq!(crate::env::strings(&data["schemas"]), names);
    let data = env.run(&["schema", "--json", "bead"]).data();
    assert_eq!(data["name"], "bead");
    assert!(data["schema"]["$schema"].is_string(), "{data}");
}

#[test]
fn an_unknown_name_is_corrected() {
    let env = TestEnv::new();
    let output = env.run(&["schema", "bed"]).exits(3);
    assert!(output.stderr.contains("did you mean `bead`?") && output.stdout.is_empty());
    let output = env.run(&["schema", "nothing-like-it"]).exits(3);
    assert!(
        output.stderr.contains("the schemas are bead, "),
        "{}",
        output.stderr
    );
}

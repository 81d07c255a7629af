//! The tables of contracts §2.5. In an expectation, `1.2=1.1` means that 1.2 waits for 1.1, and what
//! is not mentioned is not stated by the table; the reference implementation covers the rest.

use super::{dependencies, graph, names, reference};

const SEEDS: &[(&str, &str, &str)] = &[
    ("S-1", "1.1 1.2 1.3", "1.1= 1.2=1.1 1.3=1.2"),
    (
        "S-2",
        "1.1 1.2a 1.2b 1.3",
        "1.2a=1.1 1.2b=1.1 1.3=1.2a,1.2b",
    ),
    (
        "S-3",
        "2.1 2.2 3a.1 3a.2 3b.1 3b.2 4.1",
        "2.2=2.1 3a.1=2.2 3a.2=3a.1 3b.1=2.2 3b.2=3b.1 4.1=3a.2,3b.2",
    ),
    (
        "S-4",
        "2.1 3a.1 3a.2a 3a.2b 3a.3 3b.1 3b.2 4.1",
        "3a.1=2.1 3a.2a=3a.1 3a.2b=3a.1 3a.3=3a.2a,3a.2b 3b.1=2.1 3b.2=3b.1 4.1=3a.3,3b.2",
    ),
    (
        "S-5",
        "4.1 4.2a 4.2b 4.2c 4.3",
        "4.1= 4.2a=4.1 4.2b=4.1 4.2c=4.1 4.3=4.2a,4.2b,4.2c",
    ),
    (
        "S-6",
        "1.1 1.2a 1.2b 1.3",
        "1.2a=1.1 1.2b=1.1 1.3=1.2a,1.2b",
    ),
    ("S-7", "1.1 1.2 2.1 2.2", "1.2=1.1 2.1=1.2 2.2=2.1"),
    (
        "S-8",
        "2.1 3a.1 3b.1 4.1",
        "3a.1=2.1 3b.1=2.1 4.1=3a.1,3b.1",
    ),
    ("S1 no 1.1", "1.2a 1.2b 1.3", "1.2a= 1.2b= 1.3=1.2a,1.2b"),
    ("S1 split", "2.3 3a.1 3b.1", "3a.1=2.3 3b.1=2.3"),
    ("S1 converge", "3a.2 3b.2 4.1", "4.1=3a.2,3b.2"),
];

const TABLE: &[(&str, &str, &str)] = &[
    ("T-9", "2.1 2.2a 2.2b 3.1", "3.1=2.2a,2.2b"),
    (
        "T-10",
        "1.1 2.1a 2.1b 2.2",
        "2.1a=1.1 2.1b=1.1 2.2=2.1a,2.1b",
    ),
    (
        "T-11",
        "1.1a 1.1b 2.1a 2.1b",
        "1.1a= 1.1b= 2.1a=1.1a,1.1b 2.1b=1.1a,1.1b",
    ),
    ("T-12", "1.1 1.3", "1.3=1.1"),
    ("T-13", "1.1 1.2a 1.2b 1.4", "1.4=1.2a,1.2b"),
    ("T-14", "1.1 1.4a 1.4b", "1.4a=1.1 1.4b=1.1"),
    ("T-15", "1.1 3.1", "3.1=1.1"),
    ("T-16", "1.1 2.2 2.3", "2.2=1.1 2.3=2.2"),
    (
        "T-17",
        "1.1 1.2a 1.2b 1.3a 1.3b 1.4",
        "1.3a=1.2a,1.2b 1.3b=1.2a,1.2b 1.4=1.3a,1.3b",
    ),
    (
        "T-18",
        "2.1 3a.1 3b.1 4a.1 4b.1 5.1",
        "4a.1=3a.1,3b.1 4b.1=3a.1,3b.1 5.1=4a.1,4b.1",
    ),
    (
        "T-19",
        "1.1 1.2a 1.2b 1.2ab 1.3",
        "1.2ab=1.2a,1.2b 1.3=1.2ab",
    ),
    (
        "T-20",
        "1.1 1.2a 1.2b 1.2c 1.2ab 1.3",
        "1.2c=1.1 1.3=1.2ab,1.2c",
    ),
    (
        "T-21",
        "2.1 3a.1 3b.1 3ab.1 4.1",
        "3ab.1=3a.1,3b.1 4.1=3ab.1",
    ),
    (
        "T-22",
        "2.1 3a.1 3b.1 3c.1 3ab.1 4.1",
        "3c.1=2.1 4.1=3ab.1,3c.1",
    ),
    (
        "T-23",
        "1.1 1.2 1.2a 1.2b 1.3",
        "1.2=1.1 1.2a=1.1 1.2b=1.1 1.3=1.2,1.2a,1.2b",
    ),
    (
        "T-24",
        "2.1 3.1 3a.1 3b.1 4.1",
        "3.1=2.1 3a.1=2.1 3b.1=2.1 4.1=3.1,3a.1,3b.1",
    ),
    (
        "T-25",
        "2.1 3a.1 3a.2a 3a.2b 3b.1 4.1",
        "4.1=3a.2a,3a.2b,3b.1",
    ),
    (
        "T-26",
        "2.1 2.2a 2.2b 3a.1a 3a.1b 3b.1",
        "3a.1a=2.2a,2.2b 3a.1b=2.2a,2.2b 3b.1=2.2a,2.2b",
    ),
    (
        "T-27",
        "1.1 1.2 1.9 1.10 1.11",
        "1.9=1.2 1.10=1.9 1.11=1.10",
    ),
    ("T-28", "2.1 1.2 1.1", "1.2=1.1 2.1=1.2"),
    ("T-29", "1.0 1.1", "1.1=1.0"),
    (
        "T-30",
        "1.1a 1.1b 1.1c 1.1ab 1.1abc 1.2",
        "1.1ab=1.1a,1.1b 1.1abc=1.1ab,1.1c 1.2=1.1abc",
    ),
    ("T-31", "5.3c", "5.3c="),
    (
        "T-32",
        "1.1 3a.1 3b.1 6.1",
        "3a.1=1.1 3b.1=1.1 6.1=3a.1,3b.1",
    ),
    (
        "T-33",
        REAL_PLAN,
        "2.1=1.3 2.3=2.2a,2.2b 3.1a=2.3 3.1b=2.3 3.2=3.1a,3.1b 4.1=3.2 4.3=4.2a,4.2b,4.2c 5.1=4.3 \
         6.1a=5.3 6.1b=5.3 6.1c=5.3 6.2=6.1a,6.1b,6.1c 6.3=6.2",
    ),
];

/// The sprints of the plan in contracts §1.5.
const REAL_PLAN: &str = "1.1 1.2a 1.2b 1.3 2.1 2.2a 2.2b 2.3 3.1a 3.1b 3.2 4.1 4.2a 4.2b 4.2c 4.3 \
                         5.1 5.2 5.3 6.1a 6.1b 6.1c 6.2 6.3";

fn holds(table: &[(&str, &str, &str)]) {
    for (rule, sprints, expected) in table {
        let graph = graph(sprints);
        for expectation in expected.split_whitespace() {
            let (id, awaited) = expectation.split_once('=').unwrap();
            assert_eq!(dependencies(&graph, id), awaited, "{rule}: {id}");
        }
        reference::agrees(sprints);
    }
}

#[test]
fn s_1_to_s_8_and_the_minimum_cases_of_the_seeds() {
    holds(SEEDS);
    let rules: Vec<&str> = SEEDS.iter().map(|case| case.0).collect();
    for n in 1..=8 {
        assert!(rules.contains(&format!("S-{n}").as_str()), "S-{n}");
    }
}

#[test]
fn t_9_to_t_33_the_table_of_the_contracts() {
    holds(TABLE);
}

#[test]
fn t_9_to_t_33_are_all_in_the_table() {
    let rules: Vec<String> = TABLE.iter().map(|case| case.0.to_owned()).collect();
    let expected: Vec<String> = (9..=33).map(|n| format!("T-{n}")).collect();
    assert_eq!(rules, expected);
}

#[test]
fn t_33_the_real_plan_has_24_sprints() {
    assert_eq!(graph(REAL_PLAN).len(), 24);
}

#[test]
fn d_5_members_of_a_group_and_phases_of_a_level_are_independent() {
    let graph = graph("1.1 1.2 1.2a 1.2b 2.1 2a.1 2b.1");
    for id in ["1.2", "1.2a", "1.2b"] {
        assert_eq!(dependencies(&graph, id), "1.1");
    }
    for id in ["2.1", "2a.1", "2b.1"] {
        assert_eq!(dependencies(&graph, id), "1.2,1.2a,1.2b");
    }
}

#[test]
fn d_6_dependencies_are_in_natural_order() {
    let graph = graph("1.1b 1.1a 1.1c 1.2 2b.1 2a.10 2a.9 3.1");
    assert_eq!(dependencies(&graph, "1.2"), "1.1a,1.1b,1.1c");
    assert_eq!(dependencies(&graph, "3.1"), "2a.10,2b.1");
}

#[test]
fn d_8_the_order_takes_the_smallest_available_key_first() {
    let merged = graph("1.3 1.2ab 1.2b 1.2a 1.1");
    assert_eq!(
        names(&merged, &merged.order()),
        "1.1 1.2a 1.2b 1.2ab 1.3",
        "1.2ab sorts before 1.2b and depends on it"
    );
    let real = graph(REAL_PLAN);
    assert_eq!(names(&real, &real.order()), REAL_PLAN);
}

#[test]
fn n_5_of_two_spellings_the_first_counts() {
    let graph = graph("1.1 01.01 1.2 1.02");
    assert_eq!(names(&graph, &graph.order()), "1.1 1.2");
    assert_eq!(dependencies(&graph, "01.2"), "1.1");
}

#[test]
fn n_3_equal_letter_sets_do_not_cover_each_other() {
    let graph = graph("1.1a 1.1b 1.1ab 1.1ba 1.1aa 1.2");
    assert_eq!(dependencies(&graph, "1.1ab"), "1.1a,1.1aa,1.1b");
    assert_eq!(dependencies(&graph, "1.1ba"), "1.1a,1.1aa,1.1b");
    assert_eq!(dependencies(&graph, "1.1aa"), "");
    assert_eq!(dependencies(&graph, "1.2"), "1.1ab,1.1ba");
}

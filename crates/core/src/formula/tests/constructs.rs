//! Each construct of the format.

use serde_json::json;

use super::*;
use crate::bead::Timestamp;

#[test]
fn f_6_needs_and_depends_on_are_edges() {
    let shelf = main_with(
        r#"
description = "all of it"
[[steps]]
id = "a"
title = "A"
priority = 0
labels = ["x", "y"]
assignee = "ann"
notes = "n"
metadata = { deep = { list = ["1", 2, true] } }
[[steps]]
id = "b"
title = "B"
type = "bug"
depends_on = ["a"]
needs = ["c", "a"]
[[steps]]
id = "c"
name = "C"
"#,
    );
    let molecule = molecule(&shelf);
    assert_eq!(shape(&molecule), ["a", "b <- a c", "c"]);
    assert_eq!(molecule.description, "all of it");
    let a = &molecule.steps[0];
    assert_eq!(
        (a.priority, a.assignee.as_deref(), a.notes.as_str()),
        (0, Some("ann"), "n")
    );
    assert_eq!(a.labels, ["x", "y", "stage-a"]);
    assert_eq!(
        serde_json::Value::from(a.metadata.clone()),
        json!({"deep": {"list": ["1", 2, true]}, "stage": "a"})
    );
    assert_eq!(molecule.steps[1].issue_type, "bug");
    assert_eq!(molecule.steps[2].title, "C");
    assert_eq!(molecule.steps[2].priority, 2);
}

#[test]
fn f_6_a_molecule_is_a_root_with_its_steps() {
    let shelf = main_with(
        "description = 'd'\nintent = 'i'\n[[steps]]\nid = 'a'\ntitle = 'A'\ngate = { type = 'human', id = 'ok', timeout = '1h' }\n\
         [[steps]]\nid = 'b'\ntitle = 'B'\n[[steps.children]]\nid = 'b1'\ntitle = 'B1'\nneeds = ['a']\n",
    );
    let now = Timestamp::parse("2026-01-01T00:00:00Z").unwrap();
    let pouring = Pouring {
        root: "bd-main-001",
        assignee: Some("ann"),
        labels: &["for-x".to_owned()],
        parent: None,
        is_wisp: true,
        now: &now,
        actor: "me",
    };
    let issues = molecule(&shelf).issues(&pouring).unwrap();
    let ids: Vec<&str> = issues.iter().map(|issue| issue.id().as_str()).collect();
    assert_eq!(
        ids,
        [
            "bd-main-001",
            "bd-main-001-a",
            "bd-main-001-gate-a",
            "bd-main-001-b",
            "bd-main-001-b1"
        ]
    );
    let root = &issues[0];
    assert_eq!(
        (root.title(), root.issue_type(), root.assignee()),
        ("main", "molecule", Some("ann"))
    );
    assert_eq!(
        serde_json::Value::from(root.metadata().unwrap().clone()),
        json!({"formula": "main", "steps": ["a", "b", "b1"], "intent": "i"})
    );
    assert!(issues.iter().all(|issue| issue.flag("ephemeral")));
    assert!(root.has_label("for-x") && !issues[1].has_label("for-x"));
    let edges = |at: usize| -> Vec<(String, String)> {
        let edges = issues[at].dependencies().iter();
        edges
            .map(|edge| (edge.kind().to_owned(), edge.target().to_string()))
            .collect()
    };
    let pair = |kind: &str, target: &str| (kind.to_owned(), target.to_owned());
    assert_eq!(
        edges(1),
        [
            pair("parent-child", "bd-main-001"),
            pair("blocks", "bd-main-001-gate-a")
        ]
    );
    assert_eq!(edges(2), [pair("parent-child", "bd-main-001")]);
    assert_eq!(
        edges(4),
        [
            pair("parent-child", "bd-main-001-b"),
            pair("blocks", "bd-main-001-a")
        ]
    );
    assert_eq!(issues[2].issue_type(), "gate");
    assert_eq!(issues[2].title(), "Gate: human ok");
    assert_eq!(
        issues[2].document()["timeout"],
        json!(3_600_000_000_000_u64)
    );
    assert_eq!(issues[3].issue_type(), "epic");
}

#[test]
fn waiting_for_children_is_an_edge_of_its_own() {
    let shelf = main_with(
        "[[steps]]\nid = 'a'\ntitle = 'A'\n[[steps]]\nid = 'b'\ntitle = 'B'\nneeds = ['a']\nwaits_for = 'any-children'\n\
         [[steps]]\nid = 'c'\ntitle = 'C'\nneeds = ['b']\nwaits_for = 'children-of(a)'\n",
    );
    let molecule = molecule(&shelf);
    assert_eq!(
        shape(&molecule),
        ["a", "b <- any-children+(a)", "c <- b all-children(a)"]
    );
    assert_eq!(molecule.steps[1].labels, ["gate:any-children", "stage-b"]);
}

#[test]
fn loops_are_unrolled_and_chained() {
    let shelf = main_with(
        r"
[[steps]]
id = 'first'
title = 'First'
[[steps]]
id = 'l'
title = 'Loop'
needs = ['first']
[steps.loop]
range = '2..3'
var = 'i'
[[steps.loop.body]]
id = 'x'
title = 'X {i}'
description = '{{i}} {i}'
notes = 'turn {i}'
metadata = { turn = '{i}' }
[[steps.loop.body]]
id = 'y'
title = 'Y'
needs = ['x', 'first']
[[steps]]
id = 'last'
title = 'Last'
needs = ['l']
[vars]
i = 'given'
",
    );
    let molecule = molecule(&shelf);
    assert_eq!(
        shape(&molecule),
        [
            "first",
            "l.iter1.x <- first",
            "l.iter1.y <- l.iter1.x first",
            "l.iter2.x <- l.iter1.y",
            "l.iter2.y <- l.iter2.x first",
            "last <- l.iter2.y"
        ]
    );
    let x = &molecule.steps[3];
    assert_eq!(
        (x.title.as_str(), x.description.as_str(), x.notes.as_str()),
        ("X 3", "given 3", "turn 3")
    );
    assert_eq!(x.metadata["turn"], "3");
}

#[test]
fn loops_in_loops_keep_their_needs() {
    let shelf = main_with(
        r"
[[steps]]
id = 'o'
title = 'O'
[steps.loop]
count = 2
[[steps.loop.body]]
id = 'a'
title = 'A'
[[steps.loop.body]]
id = 'n'
title = 'N'
[steps.loop.body.loop]
count = 2
[[steps.loop.body.loop.body]]
id = 'b'
title = 'B'
needs = ['a']
",
    );
    assert_eq!(
        shape(&molecule(&shelf)),
        [
            "o.iter1.a",
            "o.iter1.n.iter1.b <- o.iter1.a",
            "o.iter1.n.iter2.b <- o.iter1.a o.iter1.n.iter1.b",
            "o.iter2.a <- o.iter1.n.iter2.b",
            "o.iter2.n.iter1.b <- o.iter2.a",
            "o.iter2.n.iter2.b <- o.iter2.a o.iter2.n.iter1.b",
        ]
    );
}

#[test]
fn a_loop_until_something_is_made_once_with_a_warning() {
    let shelf = main_with(
        "[[steps]]\nid = 'l'\ntitle = 'L'\nloop = { until = \"x.status == 'complete'\", max = 3, body = [{ id = 'x', title = 'X' }] }\n",
    );
    let compilation = pour(&shelf, &[]);
    let molecule = compilation.molecule.as_ref().unwrap();
    assert_eq!(shape(molecule), ["l.iter1.x"]);
    assert_eq!(
        molecule.steps[0].metadata["loop"],
        json!({"until": "x.status == 'complete'", "max": 3})
    );
    assert!(said(&compilation)[0].contains("nothing here looks at `until`"));
}

#[test]
fn the_range_of_a_loop_may_be_given() {
    let shelf = main_with(
        "[vars]\nn = '2'\n[[steps]]\nid = 'l'\ntitle = 'L'\nloop = { range = '1..{n}', body = [{ id = 'x', title = 'X' }] }\n",
    );
    assert_eq!(pour(&shelf, &[]).molecule.unwrap().steps.len(), 2);
    assert_eq!(pour(&shelf, &["n=4"]).molecule.unwrap().steps.len(), 4);
    assert!(said(&pour(&shelf, &["n=x"]))[0].contains("is not a range"));
    let looked_at = compile(&shelf, "main", Given::NotYet, Strictness::Strict).unwrap();
    assert_eq!(
        looked_at.molecule.unwrap().steps.len(),
        2,
        "the default is known"
    );
}

#[test]
fn conditions_leave_steps_out_and_nobody_starts_earlier() {
    let shelf = main_with(
        r"
[vars]
deploy = 'no'
env = 'prod'
[[steps]]
id = 'a'
title = 'A'
[[steps]]
id = 'b'
title = 'B'
needs = ['a']
condition = '{{deploy}}'
[[steps.children]]
id = 'b1'
title = 'B1'
[[steps]]
id = 'c'
title = 'C'
needs = ['b1']
[[steps]]
id = 'd'
title = 'D'
condition = '{{env}} == prod'
needs = ['b']
",
    );
    assert_eq!(
        shape(&pour(&shelf, &[]).molecule.unwrap()),
        ["a", "c <- a", "d <- a"]
    );
    assert_eq!(
        shape(&pour(&shelf, &["deploy=yes", "env=test"]).molecule.unwrap()),
        ["a", "b <- a", "b1^b", "c <- b1"]
    );
    let looked_at = compile(&shelf, "main", Given::NotYet, Strictness::Strict).unwrap();
    assert_eq!(
        looked_at.molecule.unwrap().steps.len(),
        3,
        "defaults are known"
    );
}

const REVIEW: &str = r#"
formula = "review"
type = "expansion"
[vars]
who = "ann"
[[template]]
id = "{target}.draft"
title = "Draft {target.title} for {who}"
notes = "of {target.id}"
[[template]]
id = "{target}.check"
title = "Check"
description = "{target.description} and {{outer}}"
needs = ["{target}.draft"]
labels = ["by-{who}"]
"#;

#[test]
fn an_expansion_takes_the_place_of_a_step() {
    let steps = |how: &str| {
        format!(
            "formula = 'main'\n[vars]\nouter = 'o'\n[[steps]]\nid = 'a'\ntitle = 'A'\n\
             [[steps]]\nid = 'w'\ntitle = 'Work'\ndescription = 'do it'\nneeds = ['a']\n{how}\n\
             [[steps]]\nid = 'z'\ntitle = 'Z'\nneeds = ['w']\n"
        )
    };
    let inline = steps("expand = 'review'\nexpand_vars = { who = 'bob' }");
    let ruled =
        steps("") + "[[compose.expand]]\ntarget = 'w'\nwith = 'review'\nvars = { who = 'bob' }\n";
    let mapped =
        steps("") + "[[compose.map]]\nselect = 'w*'\nwith = 'review'\nvars = { who = 'bob' }\n";
    for text in [inline, ruled, mapped] {
        let shelf = Texts::default().toml("main", &text).toml("review", REVIEW);
        let molecule = molecule(&shelf);
        assert_eq!(
            shape(&molecule),
            ["a", "w.draft <- a", "w.check <- w.draft", "z <- w.check"],
            "{text}"
        );
        assert_eq!(molecule.steps[1].title, "Draft Work for bob");
        assert_eq!(molecule.steps[1].notes, "of w");
        assert_eq!(molecule.steps[2].description, "do it and o");
        assert_eq!(molecule.steps[2].labels, ["by-bob", "stage-w.check"]);
    }
}

#[test]
fn who_needs_an_expansion_needs_all_of_its_ends() {
    let shelf = main_with("[[steps]]\nid = 'w'\ntitle = 'W'\nexpand = 'fan'\n[[steps]]\nid = 'z'\ntitle = 'Z'\nneeds = ['w']\n")
        .toml("fan", "formula = 'fan'\ntype = 'expansion'\n[[template]]\nid = '{target}.a'\ntitle = 'A'\n[[template]]\nid = '{target}.b'\ntitle = 'B'\n");
    assert_eq!(shape(&molecule(&shelf)), ["w.a", "w.b", "z <- w.a w.b"]);
}

#[test]
fn advice_and_aspects_put_steps_around_others() {
    let advice = r"
[[advice]]
target = 'impl*'
before = { id = 'pre-{step.id}', title = 'Before {step.title}' }
[advice.around]
before = [{ id = 'open-{step.id}' }]
after = [{ id = 'close-{step.id}', description = 'd', type = 'chore' }]
";
    let steps = "[[steps]]\nid = 'design'\ntitle = 'D'\n[[steps]]\nid = 'impl'\ntitle = 'I'\nneeds = ['design']\n";
    let own = main_with(&format!("{steps}{advice}"));
    let aspect = main_with(&format!("{steps}[compose]\naspects = ['care']\n")).toml(
        "care",
        &format!("formula = 'care'\ntype = 'aspect'\n{advice}"),
    );
    for shelf in [own, aspect] {
        let molecule = molecule(&shelf);
        assert_eq!(
            shape(&molecule),
            [
                "design",
                "pre-impl",
                "open-impl <- pre-impl",
                "impl <- design open-impl",
                "close-impl <- impl"
            ]
        );
        assert_eq!(molecule.steps[1].title, "Before I");
        assert_eq!(
            (
                molecule.steps[4].title.as_str(),
                molecule.steps[4].issue_type.as_str()
            ),
            ("close-impl", "chore")
        );
    }
}

#[test]
fn branches_fork_and_join_and_gate_rules_are_labels() {
    let shelf = main_with(
        "[[steps]]\nid = 'a'\ntitle = 'A'\n[[steps]]\nid = 'b'\ntitle = 'B'\n[[steps]]\nid = 'c'\ntitle = 'C'\n[[steps]]\nid = 'd'\ntitle = 'D'\n\
         [[compose.branch]]\nfrom = 'a'\nsteps = ['b', 'c']\njoin = 'd'\n[[compose.gate]]\nbefore = 'd'\ncondition = \"b.status == 'complete'\"\n",
    );
    let compilation = pour(&shelf, &[]);
    let molecule = compilation.molecule.as_ref().unwrap();
    assert_eq!(shape(molecule), ["a", "b <- a", "c <- a", "d <- b c"]);
    assert_eq!(
        molecule.steps[3].labels[0],
        "gate:{\"condition\":\"b.status == 'complete'\"}"
    );
    assert!(
        said(&compilation)[0].contains("only gets a label"),
        "{:?}",
        said(&compilation)
    );
}

#[test]
fn extends_merges_in_order_and_loses_nothing() {
    let shelf = main_with(
        "extends = ['one', 'two']\n[vars]\nv = 'child'\n[[steps]]\nid = 'b'\ntitle = 'B of main'\nneeds = ['a']\n[[steps]]\nid = 'z'\ntitle = '{{v}} {{w}}'\n",
    )
    .toml(
        "one",
        "formula = 'one'\nphase = 'vapor'\ndescription = 'of one'\n[vars]\nv = 'parent'\nw = 'w'\n[[steps]]\nid = 'a'\ntitle = 'A'\n[[steps]]\nid = 'b'\ntitle = 'B'\n\
         [[compose.branch]]\nfrom = 'a'\nsteps = ['b']\njoin = 'c'\n[[steps]]\nid = 'c'\ntitle = 'C'\n",
    )
    .toml("two", "formula = 'two'\n[[steps]]\nid = 'd'\ntitle = 'D'\n[[advice]]\ntarget = 'd'\nafter = { id = 'e' }\n");
    let molecule = molecule(&shelf);
    assert_eq!(
        shape(&molecule),
        ["a", "b <- a", "c <- b", "d", "e <- d", "z"]
    );
    assert_eq!(molecule.steps[1].title, "B of main");
    assert_eq!(molecule.steps[5].title, "child w");
    assert_eq!(
        (molecule.description.as_str(), molecule.phase),
        ("of one", Phase::Vapor)
    );
}

#[test]
fn f_9_a_formula_for_wisps_is_poured_with_a_warning() {
    let shelf = main_with("phase = 'vapor'\n[[steps]]\nid = 'a'\ntitle = 'A'\n");
    let compilation = pour(&shelf, &[]);
    assert!(compilation.molecule.is_some());
    assert!(
        vapor_warning(&compilation)
            .unwrap()
            .diagnostic
            .help
            .unwrap()
            .contains("mol wisp main")
    );
}

#[test]
fn f_1_json_and_toml_say_the_same() {
    let json = Texts::default().json(
        "main",
        r#"{"formula": "main", "version": 1, "vars": {"v": "x", "n": {"default": 3, "type": "int"}},
            "steps": [{"id": "a", "title": "{{v}} {{n}}", "priority": 1, "assignee": null}]}"#,
    );
    let toml = main_with(
        "version = 1\nvars = { v = 'x', n = { default = 3, type = 'int' } }\n[[steps]]\nid = 'a'\ntitle = '{{v}} {{n}}'\npriority = 1\n",
    );
    assert_eq!(molecule(&json), molecule(&toml));
    assert_eq!(molecule(&json).steps[0].title, "x 3");
}

#[test]
fn a_step_waits_for_its_needs_those_of_its_parents_and_its_children() {
    let molecule = molecule(&main_with(
        "[[steps]]\nid = 'a'\ntitle = 'A'\n[[steps]]\nid = 'b'\ntitle = 'B'\nneeds = ['a']\n\
         [[steps.children]]\nid = 'c'\ntitle = 'C'\n[[steps.children]]\nid = 'd'\ntitle = 'D'\nneeds = ['c']\ngate = { type = 'human' }\n\
         [[steps]]\nid = 'e'\ntitle = 'E'\nwaits_for = 'children-of(b)'\n",
    ));
    let ids: Vec<&str> = molecule.steps.iter().map(|step| step.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c", "d", "gate-d", "e"]);
    let waits: [&[usize]; 6] = [&[], &[0, 2, 3, 4], &[0], &[0, 2, 4], &[0], &[1]];
    assert_eq!(molecule.waits(), waits);
}

#[test]
fn who_needs_a_loop_waits_for_all_of_its_last_turn() {
    let shelf = main_with(
        "[[steps]]\nid = 'l'\ntitle = 'L'\n[steps.loop]\ncount = 1\n[[steps.loop.body]]\nid = 's'\ntitle = 'S'\n\
         children = [{ id = 'c1', title = 'C1' }, { id = 'c2', title = 'C2' }]\n[[steps.loop.body]]\nid = 't'\ntitle = 'T'\nneeds = ['c1']\n\
         [[steps]]\nid = 'after'\ntitle = 'A'\nneeds = ['l']\n",
    );
    let shape = shape(&molecule(&shelf));
    assert_eq!(
        shape.last().unwrap(),
        "after <- l.iter1.s l.iter1.t",
        "{shape:?}"
    );
}

#[test]
fn what_waited_for_the_omitted_waits_for_what_they_waited_for() {
    let shelf = main_with(
        "[vars]\nno = 'no'\n[[steps]]\nid = 'a'\ntitle = 'A'\n\
         [[steps]]\nid = 'b'\ntitle = 'B'\nneeds = ['a']\ncondition = '{{no}}'\nchildren = [{ id = 'b1', title = 'B1' }]\n\
         [[steps]]\nid = 'c'\ntitle = 'C'\nwaits_for = 'children-of(b)'\n\
         [[steps]]\nid = 'e'\ntitle = 'E'\ncondition = '{{no}}'\nchildren = [{ id = 'e1', title = 'E1', needs = ['a'] }]\n\
         [[steps]]\nid = 'd'\ntitle = 'D'\nneeds = ['e']\n",
    );
    assert_eq!(shape(&molecule(&shelf)), ["a", "c <- a", "d <- a"]);
}

#[test]
fn names_of_loops_and_expansions_reach_conditions_and_labels() {
    let shelf = main_with(
        "[vars]\nenv = '2'\n[[steps]]\nid = 'l'\ntitle = 'L'\nloop = { range = '1..3', var = 'n', body = [{ id = 'x', title = 'X', condition = '{{env}} == {n}' }] }\n\
         [[steps]]\nid = 'w'\nexpand = 'fan'\n",
    )
    .toml(
        "fan",
        "formula = 'fan'\ntype = 'expansion'\n[[template]]\nid = '{target}.sp'\ntitle = 'S'\n[[template]]\nid = '{target}.z'\ntitle = 'Z'\nwaits_for = 'children-of({target}.sp)'\n",
    );
    let molecule = molecule(&shelf);
    assert_eq!(
        shape(&molecule),
        ["l.iter2.x", "w.sp", "w.z <- all-children(w.sp)"]
    );
    assert_eq!(molecule.steps[2].labels[0], "gate:children-of(w.sp)");
}

#[test]
fn f_2_a_value_is_not_scanned_again_through_an_expansion() {
    let shelf = main_with("[vars]\nv = ''\nw = 'SECRET'\n[[steps]]\nid = 'a'\nexpand = 'e'\nexpand_vars = { note = '{{v}}' }\n")
        .toml("e", "formula = 'e'\ntype = 'expansion'\n[vars]\nnote = 'n'\n[[template]]\nid = '{target}.x'\ntitle = 'note: {note}'\n");
    let poured = pour(&shelf, &["v={{w}} {target} {{mustache}}"]);
    assert_eq!(
        poured.molecule.as_ref().unwrap().steps[0].title,
        "note: {{w}} {target} {{mustache}}",
        "{:?}",
        said(&poured)
    );
}

#[test]
fn an_expansion_brings_what_it_extends() {
    let shelf = main_with("[[steps]]\nid = 'a'\nexpand = 'child'\n")
        .toml("base", "formula = 'base'\ntype = 'expansion'\n[vars]\nwho = 'ann'\n[[template]]\nid = '{target}.one'\ntitle = 'One {who}'\n")
        .toml("child", "formula = 'child'\ntype = 'expansion'\nextends = ['base']\n[[template]]\nid = '{target}.two'\ntitle = 'Two'\nneeds = ['{target}.one']\n");
    let molecule = molecule(&shelf);
    assert_eq!(shape(&molecule), ["a.one", "a.two <- a.one"]);
    assert_eq!(molecule.steps[0].title, "One ann");
}

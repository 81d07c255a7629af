//! What cannot be poured, and the findings about it.

use super::*;

const STEP: &str = "[[steps]]\nid = 'a'\ntitle = 'A'\n";

fn first(shelf: &Texts) -> String {
    let compilation = pour(shelf, &[]);
    assert!(compilation.molecule.is_none());
    said(&compilation)
        .into_iter()
        .find(|line| line.starts_with("FORMULA."))
        .unwrap()
}

#[test]
fn f_1_a_formula_that_is_not_there_is_said_with_its_neighbour() {
    let absent = compile(&main_with(STEP), "mian", Given::NotYet, Strictness::Strict).unwrap_err();
    assert_eq!(absent.code().as_str(), "FORMULA.NOT_FOUND");
    assert_eq!(
        absent,
        Absent::NotFound {
            name: "mian".to_owned(),
            near: Some("main".to_owned())
        }
    );
    assert!(
        compile(
            &main_with(STEP),
            "../main",
            Given::NotYet,
            Strictness::Strict
        )
        .is_err()
    );
}

#[test]
fn f_5_broken_graphs_are_refused() {
    for (rest, wanted) in [
        (
            "[[steps]]\nid = 'a'\ntitle = 'B'\n",
            "there are two steps `a`",
        ),
        (
            "[[steps]]\nid = 'b'\ntitle = 'B'\nneeds = ['c']\n",
            "the step `b` needs `c`, which does not exist",
        ),
        (
            "[[steps]]\nid = 'b'\ntitle = 'B'\nneeds = ['b']\n",
            "the step `b` needs itself",
        ),
        (
            "[[steps]]\nid = 'b'\ntitle = 'B'\nneeds = ['c']\n[[steps]]\nid = 'c'\ntitle = 'C'\nneeds = ['b']\n",
            "steps wait for each other: b -> c -> b",
        ),
        (
            "[[steps]]\nid = 'b'\ntitle = 'B'\n[[steps.children]]\nid = 'c'\ntitle = 'C'\nneeds = ['b']\n",
            "steps wait for each other: b -> c -> b",
        ),
        (
            "[[steps]]\nid = 'b'\ntitle = 'B'\nneeds = ['c']\n[[steps.children]]\nid = 'c'\ntitle = 'C'\n",
            "steps wait for each other: c -> c",
        ),
        (
            "[[steps]]\nid = '../b'\ntitle = 'B'\n",
            "is not a safe name",
        ),
        ("[[steps]]\nid = 'b'\ntitle = ' '\n", "`title` is empty"),
        ("[[steps]]\nid = 'b'\n", "a step needs `title`"),
        (
            "[[steps]]\nid = 'b'\ntitle = ''\nname = 'C'\n",
            "`title` is empty",
        ),
        (
            "[[steps]]\nid = 'b'\ntitle = 'B'\npriority = 9\n",
            "`priority` is a whole number from 0 to 4, not 9",
        ),
        (
            "[[steps]]\nid = 'b'\ntitle = 'B'\nlabels = ['a,b']\n",
            "label 'a,b'",
        ),
        (
            "[[steps]]\nid = 'b'\ntitle = 'B'\nmetadata = { stage = 'x' }\n",
            "cannot be set",
        ),
        (
            "[[steps]]\nid = 'b'\ntitle = 'B'\nwaits_for = 'all-children'\n",
            "nothing says whose children",
        ),
        (
            "[[steps]]\nid = 'b'\ntitle = 'B'\nwaits_for = 'some'\n",
            "`waits_for` cannot be `some`",
        ),
        (
            "[[steps]]\nid = 'b'\ntitle = 'B'\ncondition = 'maybe'\n",
            "`maybe` is not a condition",
        ),
        (
            "[[steps]]\nid = 'b'\ntitle = 'B'\ngate = { type = 'humn' }\n",
            "did you mean `human`?",
        ),
        (
            "[[steps]]\nid = 'b'\ntitle = 'B'\ngate = { type = 'human', timeout = 'soon' }\n",
            "`soon` is not a duration",
        ),
        (
            "[[steps]]\nid = 'b'\ntitle = 'B'\nloop = { count = 2 }\n",
            "a loop needs a `body`",
        ),
        (
            "[[steps]]\nid = 'b'\ntitle = 'B'\nloop = { body = [{ id = 'x', title = 'X' }] }\n",
            "a loop has one of",
        ),
        (
            "[[steps]]\nid = 'b'\ntitle = 'B'\nloop = { range = '5..1', body = [{ id = 'x', title = 'X' }] }\n",
            "before it begins",
        ),
        (
            "[[steps]]\nid = 'b'\ntitle = 'B'\nloop = { count = 1, body = [{ id = 'x', title = 'X', needs = ['q'] }] }\n",
            "needs `q`, which does not exist",
        ),
        (
            "[[steps]]\nid = 'b'\nexpand = 'nope'\n",
            "unknown formula `nope`",
        ),
        (
            "[[compose.expand]]\ntarget = 'q'\nwith = 'main'\n",
            "unknown step `q`",
        ),
        (
            "[[compose.expand]]\ntarget = 'a'\nwith = 'main'\n",
            "is a formula of type workflow, not an expansion",
        ),
        (
            "[[compose.branch]]\nfrom = 'a'\nsteps = ['q']\njoin = 'a'\n",
            "unknown step `q`",
        ),
        (
            "[[steps]]\nid = 'b'\ntitle = 'B'\nneeds = 'a'\n",
            "`needs` is a list, not a text",
        ),
        ("[[steps]\n", "invalid TOML"),
    ] {
        let said = first(&main_with(&format!("{STEP}{rest}")));
        assert!(
            said.starts_with("FORMULA.POUR_FAILED") || said.contains("unknown formula"),
            "{said}"
        );
        assert!(said.contains(wanted), "{rest}\n{said}");
    }
}

#[test]
fn z_38_unknown_fields_are_errors_and_warnings_in_foreign_files() {
    let shelf = main_with("tags = ['x']\n[[steps]]\nid = 'a'\ntitle = 'A'\ndepend_on = ['b']\n");
    let strict = pour(&shelf, &[]);
    assert_eq!(
        said(&strict),
        [
            "FORMULA.POUR_FAILED [tags] a formula has no field `tags`; it has formula, description, version, type, phase, extends, vars, steps, template, compose, advice, intent, pour, pointcuts, source",
            "FORMULA.POUR_FAILED [depend_on] a step has no field `depend_on`; did you mean `depends_on`?",
        ]
    );
    let lenient = compile(&shelf, "main", Given::NotYet, Strictness::Lenient).unwrap();
    assert!(lenient.molecule.is_some());
    assert!(
        said(&lenient)
            .iter()
            .all(|line| line.starts_with("formula-field")),
        "{:?}",
        said(&lenient)
    );
}

#[test]
fn z_38_every_field_that_is_ignored_is_said() {
    let rest = "pour = false\npointcuts = []\n[[steps]]\nid = 'a'\ntitle = 'A'\non_complete = { for_each = 'output.x', bond = 'y' }\n\
                [compose]\nbond_points = []\nhooks = []\n[[advice]]\ntarget = 'a'\nafter = { id = 'b', args = {}, output = {} }\n";
    let compilation = pour(&main_with(rest), &[]);
    assert!(compilation.molecule.is_some());
    let said = said(&compilation).join("\n");
    for field in [
        "pour",
        "pointcuts",
        "on_complete",
        "bond_points",
        "hooks",
        "args",
        "output",
    ] {
        assert!(said.contains(&format!("`{field}` of a")), "{field}: {said}");
    }
    let asked = pour(
        &main_with("pour = true\n[[steps]]\nid = 'a'\ntitle = 'A'\n"),
        &[],
    );
    assert!(asked.findings.is_empty());
    let replaced = pour(
        &main_with(
            "[[steps]]\nid = 'a'\ntitle = 'A'\nlabels = ['l']\nloop = { count = 1, body = [{ id = 'x', title = 'X' }] }\n",
        ),
        &[],
    );
    assert!(super::said(&replaced)[0].contains("its labels is ignored"));
}

#[test]
fn formulas_that_extend_each_other_in_a_circle_are_refused() {
    let shelf =
        main_with("extends = ['two']\n").toml("two", "formula = 'two'\nextends = ['main']\n");
    assert!(first(&shelf).contains("in a circle: main -> two -> main"));
    let own = main_with("extends = ['main']\n");
    assert!(first(&own).contains("in a circle: main -> main"));
    let clash = main_with("extends = ['x', 'y']\n")
        .toml("x", &format!("formula = 'x'\n{STEP}"))
        .toml("y", "formula = 'y'\n[[steps]]\nid = 'a'\ntitle = 'other'\n");
    assert!(first(&clash).contains("two of the extended formulas have a step `a`"));
    let diamond = main_with("extends = ['x', 'y']\n")
        .toml("x", "formula = 'x'\nextends = ['base']\n")
        .toml("y", "formula = 'y'\nextends = ['base']\n")
        .toml("base", &format!("formula = 'base'\n{STEP}"));
    assert_eq!(
        shape(&molecule(&diamond)),
        ["a"],
        "what both have from one parent is there once"
    );
}

#[test]
fn bombs_are_refused_with_a_bound() {
    let loops = "[[steps]]\nid = 'l'\ntitle = 'L'\nloop = { count = 4000000000, body = [{ id = 'x', title = 'X' }] }\n";
    assert!(first(&main_with(loops)).contains("more than 10000 steps"));
    let range = "[[steps]]\nid = 'l'\ntitle = 'L'\nloop = { range = '1..2^62', body = [{ id = 'x', title = 'X' }] }\n";
    assert!(first(&main_with(range)).contains("more than 10000 steps"));
    let nested = (0..6).fold("{ id = 'x', title = 'X' }".to_owned(), |body, at| {
        format!("{{ id = 'l{at}', title = 'L', loop = {{ count = 100, body = [{body}] }} }}")
    });
    assert!(first(&main_with(&format!("steps = [{nested}]\n"))).contains("more than 10000 steps"));
    let doubling = "formula = 'd'\ntype = 'expansion'\n[[template]]\nid = '{target}.x'\ntitle = 'X'\nexpand = 'e'\ndescription = '".to_owned()
        + &"{target.description}".repeat(60)
        + "'\n";
    let e = doubling
        .replace("formula = 'd'", "formula = 'e'")
        .replace("expand = 'e'", "expand = 'd'");
    let shelf = main_with(&format!(
        "[[steps]]\nid = 'a'\nexpand = 'd'\ndescription = '{}'\n",
        "y".repeat(1000)
    ))
    .toml("d", &doubling)
    .toml("e", &e);
    let said = first(&shelf);
    assert!(
        said.contains("MiB of text") || said.contains("nested more than 5 deep"),
        "{said}"
    );
    let own = main_with("[[steps]]\nid = 'a'\nexpand = 'r'\n")
        .toml("r", "formula = 'r'\ntype = 'expansion'\n[[template]]\nid = '{target}.x'\ntitle = 'X'\nexpand = 'r'\n");
    assert!(first(&own).contains("nested more than 5 deep"));
}

#[test]
fn a_value_that_is_put_in_many_times_is_bounded() {
    let shelf = main_with(&format!(
        "[vars]\nv = 'x'\n[[steps]]\nid = 'a'\ntitle = 'A'\ndescription = '{}'\n",
        "{{v}}".repeat(1000)
    ));
    let big = format!("v={}", "y".repeat(100_000));
    let compilation = pour(&shelf, &[&big]);
    assert!(said(&compilation)[0].contains("more than 32 MiB of text"));
}

#[test]
fn f_1_only_a_workflow_can_be_poured_and_the_name_is_the_files() {
    for kind in ["convoy", "task", "patrol"] {
        let said = first(&main_with(&format!("type = '{kind}'\n{STEP}")));
        assert!(
            said.contains(&format!("a formula of type {kind} cannot be poured")),
            "{said}"
        );
    }
    let expansion = "type = 'expansion'\n[[template]]\nid = '{target}'\ntitle = 'T'\n";
    assert!(first(&main_with(expansion)).contains("cannot be poured"));
    let looked_at = compile(
        &main_with(expansion),
        "main",
        Given::NotYet,
        Strictness::Strict,
    )
    .unwrap();
    assert!(!looked_at.has_errors());
    let other = Texts::default().toml("main", &format!("formula = 'other'\n{STEP}"));
    assert!(first(&other).contains("called `other`, but its file is called `main`"));
    assert!(first(&main_with("type = 'workflw'\n")).contains("did you mean `workflow`?"));
    assert!(
        first(&main_with("version = 0\n")).contains("`version` is a whole number from 1, not 0")
    );
    assert!(first(&main_with("")).contains("the formula has no steps"));
    assert!(
        first(&main_with(
            "[vars]\nv = 'no'\n[[steps]]\nid = 'a'\ntitle = 'A'\ncondition = '{{v}}'\n"
        ))
        .contains("makes no steps")
    );
}

#[test]
fn bombs_of_text_needs_and_parents_are_refused_in_time() {
    let empty = "[[steps]]\nid = 'l'\ntitle = 'L'\nloop = { count = 4000000000, body = [] }\n";
    assert!(first(&main_with(empty)).contains("a loop needs a `body` with steps"));

    let mut family = main_with("extends = ['x0']\n");
    for n in 0..26 {
        family = family.toml(
            &format!("x{n}"),
            &format!("formula = 'x{n}'\nextends = ['x{}', 'y{}']\n", n + 1, n + 1),
        );
        family = family.toml(
            &format!("y{}", n + 1),
            &format!("formula = 'y{}'\nextends = ['x{}']\n", n + 1, n + 2),
        );
    }
    family = family
        .toml("x26", &format!("formula = 'x26'\n{STEP}"))
        .toml("x27", &format!("formula = 'x27'\n{STEP}"));
    assert!(
        pour(&family, &[]).formula.is_some(),
        "each parent is put together once"
    );
    assert!(
        first(&main_with("extends = ['a', 'a']\n").toml("a", &format!("formula = 'a'\n{STEP}")))
            .contains("is extended twice")
    );

    for field in ["title", "id"] {
        let value = if field == "id" {
            "{target}"
        } else {
            "{target.title}"
        };
        let mut shelf = main_with("[[steps]]\nid = 'a'\ntitle = 'aaaaaaaaaa'\nexpand = 'e1'\n");
        for n in 1..=4 {
            let (id, title) = if field == "id" {
                (value.repeat(1000), "t".to_owned())
            } else {
                ("{target}.x".to_owned(), value.repeat(1000))
            };
            let next = if n < 4 {
                format!("expand = 'e{}'\n", n + 1)
            } else {
                String::new()
            };
            shelf = shelf.toml(&format!("e{n}"), &format!("formula = 'e{n}'\ntype = 'expansion'\n[[template]]\nid = '{id}'\ntitle = '{title}'\n{next}"));
        }
        let said = first(&shelf);
        assert!(said.contains("MiB of text"), "{field}: {said}");
    }
    let default = format!(
        "[vars]\nv = '{}'\n[[steps]]\nid = 'a'\ntitle = 'A'\ndescription = '{}'\n",
        "y".repeat(1_000_000),
        "{{v}}".repeat(20_000)
    );
    assert!(first(&main_with(&default)).contains("MiB of text"));
    let root = format!(
        "description = '{}'\n[vars]\nv = '{}'\n{STEP}",
        "{{v}}".repeat(20_000),
        "y".repeat(1_000_000)
    );
    assert!(first(&main_with(&root)).contains("the description has more than"));

    let wide: Vec<String> = (0..1000)
        .map(|at| format!("[[template]]\nid = '{{target}}.{at}'\ntitle = 'T'\n"))
        .collect();
    let wide = wide.concat();
    let shelf = main_with(
        "[[steps]]\nid = 'a'\nexpand = 'w'\n[[steps]]\nid = 'b'\nexpand = 'w'\nneeds = ['a']\n",
    )
    .toml("w", &format!("formula = 'w'\ntype = 'expansion'\n{wide}"));
    assert!(first(&shelf).contains("need each other more than 100000 times"));
}

#[test]
fn hostile_files_are_looked_at_once() {
    let braces = format!(
        "[[steps]]\nid = 'a'\ntitle = 'A'\ndescription = '{}'\n",
        "{".repeat(300_000)
    );
    assert!(pour(&main_with(&braces), &[]).molecule.is_some());
    let rules: Vec<String> = (0..50)
        .map(|at| format!("[[advice]]\ntarget = '*x{at}*'\nafter = {{ id = 'n{at}' }}\n"))
        .collect();
    let rules = rules.concat();
    let many = format!(
        "[[steps]]\nid = 'l'\ntitle = 'L'\nloop = {{ count = 3000, body = [{{ id = 'y', title = 'Y' }}] }}\n{rules}"
    );
    assert!(pour(&main_with(&many), &[]).molecule.is_some());
    let needs: Vec<String> = (0..3000)
        .map(|at| format!("[[steps]]\nid = 's{at}'\ntitle = 'S'\nneeds = ['t{at}']\n"))
        .collect();
    let needs = needs.concat();
    assert!(first(&main_with(&needs)).contains("which does not exist"));
    let fields: Vec<String> = (0..15_000).map(|at| format!("f{at} = 1\n")).collect();
    let fields = fields.concat();
    let compilation = pour(&main_with(&fields), &[]);
    assert!(compilation.has_errors() && compilation.findings.len() <= 1001);
}

#[test]
fn a_gate_has_a_name_of_its_own_and_circles_go_through_children() {
    let clash = "[[steps]]\nid = 'z'\ntitle = 'Z'\ngate = { type = 'human' }\n[[steps]]\nid = 'gate-z'\ntitle = 'G'\n";
    assert!(first(&main_with(clash)).contains("would have the name of the step `gate-z`"));
    let circle = "[[steps]]\nid = 'a'\ntitle = 'A'\nwaits_for = 'children-of(b)'\n[[steps]]\nid = 'b'\ntitle = 'B'\nneeds = ['a']\nchildren = [{ id = 'b1', title = 'B1' }]\n";
    assert!(first(&main_with(circle)).contains("steps wait for each other"));
    let timer = pour(
        &main_with("[[steps]]\nid = 'z'\ntitle = 'Z'\ngate = { type = 'timer', timeout = '1s' }\n"),
        &[],
    );
    assert!(said(&timer)[0].contains("nothing here looks at a gate of type timer"));
    let aspect = main_with(
        "type = 'aspect'\n[vars]\nv = 'x'\n[[steps]]\nid = 'a'\ntitle = 'A'\n[[advice]]\ntarget = 'a'\nafter = { id = 'b' }\n",
    );
    let looked_at = compile(&aspect, "main", Given::NotYet, Strictness::Strict).unwrap();
    let unused = said(&looked_at).join("\n");
    assert!(
        unused.contains("`steps` means nothing") && unused.contains("`vars` means nothing"),
        "{unused}"
    );
}

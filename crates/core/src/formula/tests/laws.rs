//! Laws that hold for every text and every formula.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

/// A formula of some steps that need earlier ones, with everything that multiplies steps.
fn formula() -> impl Strategy<Value = String> {
    let step = (
        0..4_usize,
        0..3_u8,
        any::<bool>(),
        proptest::option::of(0..3_usize),
    );
    proptest::collection::vec(step, 1..8).prop_map(|steps| {
        let mut text = "formula = 'main'\n[vars]\nyes = 'yes'\nno = 'no'\n".to_owned();
        for (at, (n_loop, condition, is_wide, need)) in steps.iter().enumerate() {
            let needs: Vec<String> = need.iter().filter(|need| **need < at).map(|need| format!("'s{need}'")).collect();
            write!(text, "[[steps]]\nid = 's{at}'\ntitle = 'S {{{{yes}}}} {at}'\nneeds = [{}]\n", needs.join(", ")).unwrap();
            text += match condition { 0 => "", 1 => "condition = '{{yes}}'\n", _ => "condition = '{{no}}'\n" };
            if *n_loop > 0 {
                let second = if *is_wide { "" } else { "needs = ['x']" };
                write!(text, "[steps.loop]\ncount = {n_loop}\n[[steps.loop.body]]\nid = 'x'\ntitle = 'X'\n[[steps.loop.body]]\nid = 'y'\ntitle = 'Y'\n{second}\n").unwrap();
            }
        }
        text
    })
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_and_never_a_panic(text in "\\PC{0,200}", is_json in any::<bool>()) {
        let shelf = if is_json { Texts::default().json("main", &text) } else { Texts::default().toml("main", &text) };
        let compilation = compile(&shelf, "main", Given::NotYet, Strictness::Lenient).unwrap();
        for finding in &compilation.findings {
            prop_assert!(finding.diagnostic.primary.span.end() <= text.len());
        }
        prop_assert!(compilation.molecule.is_some() || compilation.has_errors() || compilation.formula.is_some());
    }

    #[test]
    fn f_5_what_is_compiled_has_unique_steps_that_need_what_is_there(text in formula()) {
        let compilation = pour(&Texts::default().toml("main", &text), &[]);
        let Some(molecule) = &compilation.molecule else {
            prop_assert!(said(&compilation).iter().any(|line| line.contains("makes no steps")), "{:?}", said(&compilation));
            return Ok(());
        };
        let ids: std::collections::BTreeSet<&str> = molecule.steps.iter().map(|step| step.id.as_str()).collect();
        prop_assert_eq!(ids.len(), molecule.steps.len());
        for step in &molecule.steps {
            prop_assert!(step.needs.iter().all(|need| ids.contains(need.step.as_str())));
            prop_assert!(!step.title.contains("{{"), "no placeholder is left");
        }
    }

    #[test]
    fn a_loop_orders_all_of_a_turn_before_the_next(turns in 2..5_u64, width in 1..4_usize) {
        let body: Vec<String> = (0..width).map(|at| format!("{{ id = 'x{at}', title = 'X' }}")).collect();
        let text = format!("[[steps]]\nid = 'l'\ntitle = 'L'\nloop = {{ count = {turns}, body = [{}] }}\n", body.join(", "));
        let molecule = molecule(&main_with(&text));
        for step in molecule.steps.iter().skip(width) {
            prop_assert_eq!(step.needs.len(), width, "each waits for all of the turn before");
        }
    }
}

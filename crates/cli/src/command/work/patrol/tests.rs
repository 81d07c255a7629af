//! How long the patrol waits.

use std::cell::RefCell;

use beads_ralph_core::patrol::PatrolCheck;
use beads_ralph_runtime::store::StoreError;

use super::*;

fn filed() -> Report {
    Report {
        check: Check {
            watched: PatrolCheck::Unit,
            command: "false".to_owned(),
        },
        reason: Some("why".to_owned()),
        log: None,
        done: Done::Filed(BeadId::parse("x").unwrap()),
    }
}

#[test]
fn g_6_a_cycle_that_the_store_cut_off_changed_nothing() {
    let mut n_cycles = 0;
    let cycle = || {
        n_cycles += 1;
        match n_cycles {
            1 => Ok(vec![filed()]),
            2 | 3 => Err(PatrolError::Store(StoreError::Busy {
                path: "store".into(),
                seconds: 1,
            })),
            _ => Err(PatrolError::Interrupted),
        }
    };
    let waits = RefCell::new(Vec::new());
    let wait = |n_idle| {
        waits.borrow_mut().push(n_idle);
        false
    };
    let (n_cycles, last) = walk(cycle, wait, false, &Ui::for_json(false)).unwrap();
    assert_eq!((n_cycles, last), (3, vec![filed()]));
    assert_eq!(waits.into_inner(), [0, 1, 2]);
}

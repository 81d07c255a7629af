//! The loop under a clock that the tests hold.

use crate::dod::*;

const START: i64 = 1_767_323_045;

fn at(seconds: u64) -> Moment {
    Moment {
        now: Timestamp::from_second(START + i64::try_from(seconds).unwrap()).unwrap(),
        elapsed: Duration::from_secs(seconds),
    }
}

fn settings() -> RetrySettings {
    RetrySettings {
        max_iterations: 4,
        backoff: Duration::from_secs(30),
        time_budget: None,
        deadline: None,
        has_agent: true,
        verifies_first: false,
    }
}

const DONE: AgentEnd = AgentEnd::Done { has_changed: true };

fn failed(reason: &str) -> RetryStep {
    RetryStep::End(RetryEnd::Failed(reason.to_owned()))
}

fn wait(step: &RetryStep) -> u64 {
    match step {
        RetryStep::Wait { time, .. } => time.as_secs(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn v_10_the_timeline_of_a_bead_that_always_fails() {
    let mut retry_loop = RetryLoop::new(settings());
    let mut waits = Vec::new();
    let mut step = retry_loop.begin(at(0));
    for iteration in 1..=4 {
        assert_eq!(step, RetryStep::Agent { iteration });
        assert_eq!(
            retry_loop.agent_ended(DONE, at(1)),
            RetryStep::Verify { iteration }
        );
        step = retry_loop.verified(false, "t: red", at(2));
        if iteration < 4 {
            waits.push(wait(&step));
            step = retry_loop.waited(at(3));
        }
    }
    assert_eq!(waits, [30, 60, 120]);
    assert_eq!(step, failed("Max iterations reached"));
}

#[test]
fn v_10_the_wait_is_never_longer_than_five_minutes() {
    let mut retry_loop = RetryLoop::new(RetrySettings {
        max_iterations: 9,
        backoff: Duration::from_secs(200),
        ..settings()
    });
    retry_loop.begin(at(0));
    let waits: Vec<u64> = (0..4)
        .map(|_| {
            let step = retry_loop.agent_ended(AgentEnd::Failed("x".to_owned()), at(1));
            retry_loop.waited(at(2));
            wait(&step)
        })
        .collect();
    assert_eq!(waits, [200, 300, 300, 300]);
    let mut none = RetryLoop::new(RetrySettings {
        backoff: Duration::ZERO,
        ..settings()
    });
    none.begin(at(0));
    assert_eq!(
        none.agent_ended(AgentEnd::Failed("x".to_owned()), at(1)),
        RetryStep::Agent { iteration: 2 }
    );
}

#[test]
fn v_11_an_agent_that_failed_is_not_verified() {
    let mut retry_loop = RetryLoop::new(settings());
    retry_loop.begin(at(0));
    let step = retry_loop.agent_ended(AgentEnd::Failed("crashed".to_owned()), at(1));
    assert_eq!(
        step,
        RetryStep::Wait {
            time: Duration::from_secs(30),
            why: "crashed".to_owned()
        }
    );
    assert_eq!(retry_loop.waited(at(31)), RetryStep::Agent { iteration: 2 });
    assert_eq!(
        retry_loop.agent_ended(AgentEnd::Hopeless("no login".to_owned()), at(32)),
        failed("no login")
    );
}

#[test]
fn v_11_checks_before_the_first_agent_may_be_enough() {
    let mut retry_loop = RetryLoop::new(RetrySettings {
        verifies_first: true,
        ..settings()
    });
    assert_eq!(retry_loop.begin(at(0)), RetryStep::Verify { iteration: 0 });
    assert_eq!(
        retry_loop.verified(true, "", at(1)),
        RetryStep::End(RetryEnd::Completed)
    );
    assert_eq!(retry_loop.iteration(), 0, "no agent was called");
    let mut red = RetryLoop::new(RetrySettings {
        verifies_first: true,
        ..settings()
    });
    red.begin(at(0));
    assert_eq!(
        red.verified(false, "t", at(1)),
        RetryStep::Agent { iteration: 1 },
        "no wait before the first agent"
    );
}

#[test]
fn v_11_without_an_agent_there_is_one_pass() {
    let mut retry_loop = RetryLoop::new(RetrySettings {
        has_agent: false,
        ..settings()
    });
    assert_eq!(retry_loop.begin(at(0)), RetryStep::Verify { iteration: 0 });
    assert_eq!(
        retry_loop.verified(false, "t", at(1)),
        RetryStep::End(RetryEnd::Red)
    );
}

#[test]
fn an_agent_that_changed_nothing_while_checks_were_red_is_no_pass() {
    let idle = AgentEnd::Done { has_changed: false };
    let mut retry_loop = RetryLoop::new(settings());
    retry_loop.begin(at(0));
    // Nothing is known to be red yet: perhaps there was nothing to do.
    assert_eq!(
        retry_loop.agent_ended(idle.clone(), at(1)),
        RetryStep::Verify { iteration: 1 }
    );
    retry_loop.verified(false, "t", at(2));
    retry_loop.waited(at(3));
    let step = retry_loop.agent_ended(idle, at(4));
    assert_eq!(
        step,
        RetryStep::Wait {
            time: Duration::from_mins(1),
            why: RetryLoop::NO_CHANGE.to_owned()
        }
    );
}

#[test]
fn z_22_checks_that_could_not_be_run_are_run_again_without_an_agent() {
    let mut retry_loop = RetryLoop::new(settings());
    retry_loop.begin(at(0));
    retry_loop.agent_ended(DONE, at(1));
    let mut waits = Vec::new();
    for n in 1..=5 {
        waits.push(wait(&retry_loop.unverified("no tool", at(2))));
        assert_eq!(retry_loop.n_blind(), n);
        assert_eq!(retry_loop.waited(at(3)), RetryStep::Verify { iteration: 1 });
    }
    assert_eq!(waits, [30, 60, 120, 240, 300]);
    assert_eq!(retry_loop.unverified("no tool", at(4)), failed("no tool"));
    // Once they say something it goes on as ever.
    let mut mended = RetryLoop::new(settings());
    mended.begin(at(0));
    mended.agent_ended(DONE, at(1));
    mended.unverified("no tool", at(2));
    mended.waited(at(3));
    assert_eq!(wait(&mended.verified(false, "t: red", at(4))), 30);
    assert_eq!(mended.n_blind(), 0);
    assert_eq!(mended.waited(at(5)), RetryStep::Agent { iteration: 2 });
}

#[test]
fn z_22_checks_that_could_not_be_run_keep_the_limits_of_the_bead() {
    let mut retry_loop = RetryLoop::new(RetrySettings {
        time_budget: Some(Duration::from_secs(100)),
        ..settings()
    });
    retry_loop.begin(at(0));
    retry_loop.agent_ended(DONE, at(1));
    assert_eq!(wait(&retry_loop.unverified("no tool", at(2))), 30);
    assert_eq!(retry_loop.waited(at(100)), failed("Time budget exceeded"));
    let mut first = RetryLoop::new(RetrySettings {
        verifies_first: true,
        ..settings()
    });
    first.begin(at(0));
    let step = first.unverified("no tool", at(1));
    assert_eq!(step, RetryStep::Agent { iteration: 1 });
    let mut alone = RetryLoop::new(RetrySettings {
        has_agent: false,
        ..settings()
    });
    alone.begin(at(0));
    assert_eq!(
        alone.unverified("no tool", at(1)),
        RetryStep::End(RetryEnd::Red)
    );
}

#[test]
fn v_12_the_time_budget_is_kept() {
    let budget = RetrySettings {
        time_budget: Some(Duration::from_secs(100)),
        ..settings()
    };
    let mut retry_loop = RetryLoop::new(budget.clone());
    retry_loop.begin(at(0));
    assert_eq!(retry_loop.time_left(at(30)), Some(Duration::from_secs(70)));
    retry_loop.agent_ended(DONE, at(30));
    assert_eq!(wait(&retry_loop.verified(false, "t", at(40))), 30);
    assert_eq!(retry_loop.waited(at(101)), failed("Time budget exceeded"));
    // A wait after which no time would be left is not begun.
    let mut late = RetryLoop::new(budget);
    late.begin(at(0));
    late.agent_ended(DONE, at(70));
    assert_eq!(
        late.verified(false, "t", at(75)),
        failed("Time budget exceeded")
    );
    assert_eq!(
        late.agent_ended(DONE, at(200)),
        failed("Time budget exceeded")
    );
}

#[test]
fn v_13_a_deadline_that_has_passed_ends_it() {
    let deadline = Some(at(50).now);
    let mut retry_loop = RetryLoop::new(RetrySettings {
        deadline,
        ..settings()
    });
    assert_eq!(retry_loop.begin(at(60)), failed("Deadline passed"));
    let mut retry_loop = RetryLoop::new(RetrySettings {
        deadline,
        time_budget: Some(Duration::from_mins(15)),
        ..settings()
    });
    assert_eq!(retry_loop.begin(at(0)), RetryStep::Agent { iteration: 1 });
    assert_eq!(retry_loop.time_left(at(20)), Some(Duration::from_secs(30)));
    retry_loop.agent_ended(DONE, at(25));
    assert_eq!(
        retry_loop.verified(false, "t", at(30)),
        failed("Deadline passed")
    );
}

#[test]
fn z_13_a_limit_costs_no_iteration() {
    let limit = |resets_at| AgentEnd::Limit {
        resets_at,
        reason: "limit".to_owned(),
    };
    let mut retry_loop = RetryLoop::new(settings());
    retry_loop.begin(at(0));
    assert_eq!(
        wait(&retry_loop.agent_ended(limit(Some(at(500).now)), at(100))),
        400
    );
    assert_eq!(
        retry_loop.waited(at(500)),
        RetryStep::Agent { iteration: 1 }
    );
    let waits: Vec<u64> = (0..4)
        .map(|_| {
            let step = retry_loop.agent_ended(limit(None), at(600));
            retry_loop.waited(at(601));
            wait(&step)
        })
        .collect();
    assert_eq!(waits, [120, 240, 480, 960]);
    assert_eq!(
        retry_loop.agent_ended(limit(None), at(700)),
        failed("limit")
    );
    assert_eq!(retry_loop.iteration(), 1);
}

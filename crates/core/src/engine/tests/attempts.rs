//! One bead: its steps, its attempts, and the feedback for the next one.

use super::*;

#[test]
fn z_5_l_14_the_steps_of_a_bead_have_one_order() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    assert_eq!(stage.play_well(), Some(Outcome::Done));
    assert_eq!(
        stage.story("a"),
        [
            "claim", "prepare", "develop", "seal", "record", "judge", "verify", "keep", "close"
        ]
    );
    assert!(is_closed(&stage.state("a")));
}

#[test]
fn l_16_dev_agents_run_in_order_and_what_each_made_is_sealed() {
    let mut two = task("a", &[]);
    two.developers.push("codex".to_owned());
    let claimed = two.clone();
    let mut stage = Stage::new(settings(), vec![two]);
    stage.play(|effect, _| match effect.action {
        Action::Claim { .. } => otherwise(Answer::Claimed {
            fence: Fence(1),
            task: Box::new(claimed.clone()),
        }),
        _ => Fate::Well,
    });
    assert_eq!(
        stage.story("a")[2..6],
        ["develop", "seal", "develop", "seal"]
    );
    let Action::Develop { agent, launch, .. } = stage.last("a", "develop").action else {
        panic!()
    };
    assert_eq!((agent, launch.account.as_str()), (1, "codex"));
    assert!(is_closed(&stage.state("a")));
}

#[test]
fn l_16_a_failed_qa_sends_it_back_with_its_words() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    let outcome = stage.play(|effect, n| match effect.action {
        Action::Judge { .. } if n == 1 => otherwise(judged(QaStatus::Fail, "no tests")),
        _ => Fate::Well,
    });
    assert_eq!(outcome, Some(Outcome::Done));
    let Action::Develop {
        feedback, launch, ..
    } = stage.last("a", "develop").action
    else {
        panic!()
    };
    assert_eq!(feedback.as_deref(), Some("QA failed: dev: no tests"));
    assert_eq!((launch.attempt, launch.number), (2, 3));
    let Action::Close { progress, .. } = stage.last("a", "close").action else {
        panic!()
    };
    assert_eq!(progress.attempts, 2);
    assert_eq!(stage.times("a", "prepare"), 1, "the worktree stays");
}

#[test]
fn l_16_a_failed_dev_agent_skips_qa() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    stage.play(|effect, n| match effect.action {
        Action::Develop { .. } if n == 1 => otherwise(Answer::Ended {
            report: report(Status::Timeout),
        }),
        _ => Fate::Well,
    });
    assert_eq!(
        stage.story("a")[2..5],
        ["develop", "record", "develop"],
        "neither sealed nor judged"
    );
    assert!(is_closed(&stage.state("a")));
}

#[test]
fn z_1_attempts_that_are_used_up_need_a_person_and_stop_nobody_else() {
    let mut stage = Stage::new(settings(), vec![task("a", &[]), task("b", &[])]);
    let outcome = stage.play(|effect, _| match effect.action {
        Action::Verify { ref commit, .. } if effect.bead.as_str() == "a" => {
            otherwise(Answer::Verified {
                commit: commit.clone(),
                is_green: false,
                summary: "test: Exit code 1".to_owned(),
                is_cut_off: false,
            })
        }
        _ => Fate::Well,
    });
    assert_eq!(outcome, Some(Outcome::NeedsPerson));
    assert_eq!(stage.times("a", "develop"), 3);
    let state = stage.state("a");
    assert!(
        reason(&state).starts_with("max retry attempts reached"),
        "{state:?}"
    );
    assert!(is_closed(&stage.state("b")));
    let Action::Block { is_fatal, .. } = stage.last("a", "block").action else {
        panic!()
    };
    assert!(!is_fatal);
}

#[test]
fn the_same_work_with_the_same_failure_ends_a_bead_early() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    stage.play(|effect, _| match effect.action {
        Action::Seal { .. } => otherwise(Answer::Sealed {
            commit: commit("same"),
            tree: "same".to_owned(),
            n_changed: 1,
            unresolved: Vec::new(),
            refused: None,
        }),
        Action::Judge { .. } => otherwise(judged(QaStatus::Fail, "no")),
        _ => Fate::Well,
    });
    assert_eq!(stage.times("a", "develop"), 2);
    assert!(reason(&stage.state("a")).contains("the same work and the same failure"));
}

#[test]
fn an_empty_diff_is_not_done_except_for_a_merge() {
    for is_merge in [false, true] {
        let one = Task {
            is_merge,
            ..task("a", &[])
        };
        let claimed = one.clone();
        let mut stage = Stage::new(settings(), vec![one]);
        stage.play(|effect, _| match effect.action {
            Action::Claim { .. } => otherwise(Answer::Claimed {
                fence: Fence(1),
                task: Box::new(claimed.clone()),
            }),
            Action::Seal { .. } => otherwise(Answer::Sealed {
                commit: commit("base"),
                tree: "t".to_owned(),
                n_changed: 0,
                unresolved: Vec::new(),
                refused: None,
            }),
            _ => Fate::Well,
        });
        assert_eq!(is_closed(&stage.state("a")), is_merge);
    }
}

#[test]
fn z_5_a_verdict_on_another_commit_is_no_verdict() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    stage.play(|effect, _| match effect.action {
        Action::Verify { .. } => otherwise(Answer::Verified {
            commit: commit("another"),
            is_green: true,
            summary: String::new(),
            is_cut_off: false,
        }),
        _ => Fate::Well,
    });
    assert_eq!(stage.times("a", "close"), 0);
}

#[test]
fn l_21_a_conflict_is_the_first_task_of_the_dev_agent() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    let outcome = stage.play(|effect, n| match effect.action {
        Action::Prepare { .. } if n == 1 => otherwise(Answer::Prepared {
            head: commit("base"),
            conflicts: vec!["f".to_owned()],
            merging: Some("b".to_owned()),
            from: String::new(),
            is_anew: false,
        }),
        _ => Fate::Well,
    });
    assert_eq!(outcome, Some(Outcome::Done));
    assert_eq!(
        stage.story("a")[..6],
        ["claim", "prepare", "resolve", "seal", "prepare", "develop"]
    );
}

#[test]
fn l_21_conflicts_that_stay_are_listed_when_it_is_given_up() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    stage.play(|effect, _| match effect.action {
        Action::Prepare { .. } => otherwise(Answer::Prepared {
            head: commit("base"),
            conflicts: vec!["src/f".to_owned()],
            merging: Some("b".to_owned()),
            from: String::new(),
            is_anew: false,
        }),
        Action::Seal { .. } => otherwise(Answer::Sealed {
            commit: commit("base"),
            tree: "t".to_owned(),
            n_changed: 0,
            unresolved: vec!["src/f".to_owned()],
            refused: None,
        }),
        _ => Fate::Well,
    });
    assert_eq!(stage.times("a", "resolve"), 3);
    assert!(reason(&stage.state("a")).contains("src/f"));
}

#[test]
fn c_2_work_that_is_refused_fails_the_attempt_and_the_next_one_hears_why() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    stage.play(|effect, n| match effect.action {
        Action::Seal { .. } if n == 1 => otherwise(Answer::Sealed {
            commit: commit("base"),
            tree: "t".to_owned(),
            n_changed: 0,
            unresolved: Vec::new(),
            refused: Some("there is a repository in sub".to_owned()),
        }),
        _ => Fate::Well,
    });
    assert_eq!(stage.times("a", "develop"), 2);
    assert!(is_closed(&stage.state("a")));
}

#[test]
fn z_11_work_that_does_not_fit_the_target_is_merged_with_it_and_judged_again() {
    let merging = Settings {
        integration: Integration::Merge {
            target: "ralph/plan".to_owned(),
        },
        ..settings()
    };
    let mut stage = Stage::new(merging, vec![task("a", &[])]);
    let outcome = stage.play(|effect, n| match effect.action {
        Action::Merge { .. } if n == 1 => otherwise(Answer::Conflicted {
            target: commit("theirs"),
            files: vec!["f".to_owned()],
        }),
        Action::Prepare { .. } if n == 2 => otherwise(Answer::Prepared {
            head: commit("mine"),
            conflicts: vec!["f".to_owned()],
            merging: Some("the target branch".to_owned()),
            from: String::new(),
            is_anew: false,
        }),
        _ => Fate::Well,
    });
    assert_eq!(outcome, Some(Outcome::Done));
    assert_eq!(
        stage.times("a", "develop"),
        1,
        "the tasks were done already"
    );
    assert_eq!(
        stage.story("a")[8..],
        [
            "merge", "record", "prepare", "resolve", "seal", "prepare", "seal", "record", "judge",
            "verify", "keep", "merge", "close"
        ]
    );
    let Action::Judge { base, .. } = stage.last("a", "judge").action else {
        panic!()
    };
    assert_eq!(base, commit("theirs"), "what came in is nobody's change");
}

#[test]
fn l_18_l_20_a_pull_request_is_made_after_the_push_and_written_with_the_close() {
    let proposing = Settings {
        integration: Integration::Pr,
        cleans_up: true,
        ..settings()
    };
    let mut stage = Stage::new(proposing, vec![task("a", &[])]);
    assert_eq!(stage.play_well(), Some(Outcome::Done));
    assert_eq!(
        stage.story("a")[7..],
        ["keep", "push", "propose", "close", "clean_up"],
        "L-22"
    );
    let Action::Close { pull, commit, .. } = stage.last("a", "close").action else {
        panic!()
    };
    assert_eq!(pull.unwrap().number, 7);
    let Action::Verify {
        commit: verified, ..
    } = stage.last("a", "verify").action
    else {
        panic!()
    };
    assert_eq!(commit, verified);
}

#[test]
fn l_19_a_leader_that_forgot_the_pull_request_is_asked_for_it() {
    let led = Settings {
        integration: Integration::Pr,
        leader: Leader::Agent,
        ..settings()
    };
    let mut stage = Stage::new(led.clone(), vec![task("a", &[])]);
    let outcome = stage.play(|effect, n| match effect.action {
        Action::Propose { .. } if n == 1 => otherwise(Answer::NotProposed),
        _ => Fate::Well,
    });
    assert_eq!(outcome, Some(Outcome::Done));
    assert_eq!(
        stage.story("a")[2..],
        [
            "lead", "seal", "record", "verify", "keep", "push", "propose", "lead", "propose",
            "close"
        ]
    );
    let mut stage = Stage::new(led, vec![task("a", &[])]);
    let outcome = stage.play(|effect, _| match effect.action {
        Action::Propose { .. } => otherwise(Answer::NotProposed),
        _ => Fate::Well,
    });
    assert!(matches!(outcome, Some(Outcome::Fatal(_))), "{outcome:?}");
    assert_eq!(stage.times("a", "lead"), 3, "two more, then a person");
}

#[test]
fn z_31_what_no_program_checks_is_judged_also_when_an_agent_leads() {
    for has_checks in [true, false] {
        let led = Settings {
            leader: Leader::Agent,
            ..settings()
        };
        let task = Task {
            has_checks,
            ..task("a", &[])
        };
        let mut stage = Stage::new(led, vec![task.clone()]);
        let outcome = stage.play(|effect, _| match effect.action {
            Action::Claim { .. } => otherwise(Answer::Claimed {
                fence: Fence(1),
                task: Box::new(task.clone()),
            }),
            _ => Fate::Well,
        });
        assert_eq!(outcome, Some(Outcome::Done));
        assert_eq!(stage.times("a", "judge"), usize::from(!has_checks));
        assert_eq!(stage.times("a", "verify"), 1);
    }
}

#[test]
fn l_16_a_leader_whose_qa_agents_did_not_all_pass_has_no_success() {
    let led = Settings {
        leader: Leader::Agent,
        ..settings()
    };
    let outcome_with = |status: QaStatus| {
        let mut stage = Stage::new(led.clone(), vec![task("a", &[])]);
        let outcome = stage.play(|effect, n| match &effect.action {
            Action::Lead { .. } if n == 1 => otherwise(Answer::Led {
                report: report(Status::Ok),
                is_success: true,
                is_fatal: false,
                error: None,
                qa_results: vec![QaReport {
                    agent_path: "qa".to_owned(),
                    status,
                    message: "there is a hole".to_owned(),
                    details: Map::new(),
                }],
            }),
            _ => Fate::Well,
        });
        (outcome, stage)
    };
    let (outcome, stage) = outcome_with(QaStatus::Fail);
    assert_eq!(outcome, Some(Outcome::Done));
    assert_eq!(stage.times("a", "lead"), 2);
    let told = stage
        .effects
        .iter()
        .find_map(|effect| match &effect.action {
            Action::Lead { feedback, .. } => feedback.clone(),
            _ => None,
        });
    assert_eq!(told.as_deref(), Some("QA failed: qa: there is a hole"));
    let (outcome, stage) = outcome_with(QaStatus::Stop);
    assert!(matches!(outcome, Some(Outcome::Fatal(_))), "{outcome:?}");
    assert_eq!(stage.times("a", "lead"), 1);
}

#[test]
fn l_20_what_a_leader_says_of_its_qa_agents_goes_into_the_result_of_that_attempt() {
    let led = Settings {
        leader: Leader::Agent,
        ..settings()
    };
    let said = |message: &str| {
        vec![QaReport {
            agent_path: "qa".to_owned(),
            status: QaStatus::Pass,
            message: message.to_owned(),
            details: Map::new(),
        }]
    };
    let mut stage = Stage::new(led, vec![task("a", &[])]);
    let outcome = stage.play(|effect, n| match &effect.action {
        Action::Lead { .. } => otherwise(Answer::Led {
            report: report(Status::Ok),
            is_success: true,
            is_fatal: false,
            error: None,
            qa_results: if n == 1 { said("fine") } else { Vec::new() },
        }),
        Action::Verify { commit, .. } if n == 1 => otherwise(Answer::Verified {
            commit: commit.clone(),
            is_green: false,
            summary: "red".to_owned(),
            is_cut_off: false,
        }),
        _ => Fate::Well,
    });
    assert_eq!(outcome, Some(Outcome::Done));
    let told = |effect: &Effect| match &effect.action {
        Action::Record { progress } | Action::Close { progress, .. } => {
            Some(progress.qa_results.clone())
        }
        _ => None,
    };
    let told: Vec<_> = stage.effects.iter().filter_map(told).collect();
    assert_eq!(told, [said("fine"), said("fine"), vec![], vec![]]);
}

#[test]
fn l_17_a_leader_without_a_word_from_qa_has_no_pass() {
    let led = Settings {
        leader: Leader::Agent,
        ..settings()
    };
    let mute = |is_success: bool, qa_results: Vec<QaReport>| {
        otherwise(Answer::Led {
            report: report(Status::Ok),
            is_success,
            is_fatal: false,
            error: None,
            qa_results,
        })
    };
    let mut stage = Stage::new(led.clone(), vec![task("a", &[])]);
    let outcome = stage.play(|effect, _| match &effect.action {
        Action::Lead { .. } => mute(true, Vec::new()),
        _ => Fate::Well,
    });
    assert_eq!(outcome, Some(Outcome::Done));
    assert_eq!(stage.times("a", "judge"), 1, "ours are asked");

    let stop = QaReport {
        agent_path: "qa".to_owned(),
        status: QaStatus::Stop,
        message: "a secret".to_owned(),
        details: Map::new(),
    };
    let mut stage = Stage::new(led, vec![task("a", &[])]);
    let outcome = stage.play(|effect, _| match &effect.action {
        Action::Lead { .. } => mute(false, vec![stop.clone()]),
        _ => Fate::Well,
    });
    assert!(matches!(outcome, Some(Outcome::Fatal(_))), "{outcome:?}");
    assert_eq!(stage.times("a", "lead"), 1, "a stop is no failure to retry");
}

#[test]
fn l_21_whoever_gives_a_merge_up_has_used_an_attempt() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    let outcome = stage.play(|effect, _| match &effect.action {
        Action::Prepare { .. } => otherwise(Answer::Prepared {
            head: commit("base"),
            conflicts: vec!["shared.txt".to_owned()],
            merging: Some("b".to_owned()),
            from: String::new(),
            is_anew: false,
        }),
        _ => Fate::Well,
    });
    assert_eq!(outcome, Some(Outcome::NeedsPerson));
    assert_eq!(stage.times("a", "resolve"), 3, "once in each attempt");
    let Action::Block { reason, .. } = stage.last("a", "block").action else {
        panic!()
    };
    assert!(
        reason.contains("the conflict with b was not solved"),
        "{reason}"
    );
}

#[test]
fn l_16_what_went_wrong_is_told_to_whoever_goes_on() {
    let mut stage = Stage::new(settings(), vec![task("a", &[])]);
    stage.play(|effect, n| match &effect.action {
        Action::Judge { .. } => otherwise(judged(QaStatus::Fail, "too short")),
        Action::Record { .. } if n == 2 => Fate::Silence,
        _ => Fate::Well,
    });
    stage.tell(&Event::StopAsked { now: false });
    assert_eq!(stage.play_well(), Some(Outcome::Stopped));
    let Action::Release { progress } = stage.last("a", "release").action else {
        panic!()
    };
    let feedback = progress.feedback.expect("somebody must know");
    let given_back = Task {
        attempts: progress.attempts,
        feedback: Some(feedback.clone()),
        ..task("a", &[])
    };
    let mut stage = Stage::new(settings(), vec![given_back.clone()]);
    stage.play(|effect, _| match &effect.action {
        Action::Claim { .. } => otherwise(Answer::Claimed {
            fence: Fence(2),
            task: Box::new(given_back.clone()),
        }),
        Action::Develop { .. } => Fate::Silence,
        _ => Fate::Well,
    });
    let Action::Develop {
        launch,
        feedback: told,
        ..
    } = stage.last("a", "develop").action
    else {
        panic!()
    };
    assert_eq!((launch.attempt, told), (2, Some(feedback)));
}

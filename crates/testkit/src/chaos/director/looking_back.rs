//! What is looked at after decisions and at the end, and the words for it.

use super::{
    Action, AgentReport, Answer, Director, Effect, Event, Happening, MAX_CALM_STARTS, Outcome,
    Play, QaStatus, Recorded, RunFile, Source, Status, Trouble, WorldModel, launches, laws, replay,
};

impl Director<'_> {
    /// Plans the next wake, or ends the process when its run is over.
    pub(super) fn after_decision(&mut self, me: usize) {
        if !self.lives(me) {
            return;
        }
        let Some(process) = &self.processes[me] else {
            return;
        };
        if let Some(outcome) = process.engine.outcome() {
            return self.finish(me, &outcome);
        }
        if let Some(wake) = process.engine.next_wake() {
            let at = wake.max(self.now());
            self.plan_at(at, Happening::Wake(me));
        }
    }

    pub(super) fn finish(&mut self, me: usize, outcome: &Outcome) {
        self.performers[me].tidy(&std::collections::BTreeSet::new());
        if !self.lives(me) {
            return;
        }
        let Some(process) = self.processes[me].take() else {
            return;
        };
        let file = &mut self.runs[process.run];
        file.entries.extend(process.unwritten);
        file.is_over = true;
        file.lock = None;
        {
            let mut world = self.world();
            world.lives[me].is_alive = false;
            world.say(|| format!("p{me} ends: {outcome:?}"));
        }
        self.after_end(process.is_fresh, outcome);
    }

    pub(super) fn after_end(&mut self, is_fresh: bool, outcome: &Outcome) {
        let is_good = matches!(outcome, Outcome::Done | Outcome::NeedsPerson);
        if !self.is_calm {
            if !is_good || self.below(3) == 0 {
                let wait = 60_000 + self.below(3_600_000);
                self.plan(wait, Happening::Start);
            }
            return;
        }
        if self.is_anybody_there() {
            return;
        }
        self.n_calm_starts += 1;
        if is_fresh && is_good || self.n_calm_starts > MAX_CALM_STARTS {
            self.is_satisfied = true;
        } else {
            self.plan(60_000, Happening::Start);
        }
    }

    /// What must be so when everything is over.
    pub(super) fn look_back(&mut self) {
        if !self.world().violations.is_empty() {
            return;
        }
        if !self.is_satisfied {
            self.world()
                .violate("end: nothing happens any more, and it is not over".to_owned());
        }
        laws::at_the_end(&mut self.world());
        for file in &self.runs {
            let broken = look_back_at(file);
            let mut world = self.world();
            world.counts.events += file.entries.len() as u64;
            let effects = file.entries.iter().map(|entry| entry.effects.len() as u64);
            world.counts.effects += effects.sum::<u64>();
            if let Some(broken) = broken {
                world.violate(broken);
            }
        }
    }
}

/// Whether a journal gives the same decisions when it is folded, and the same launches when it is played with its own durations.
pub(super) fn look_back_at(file: &RunFile) -> Option<String> {
    let run = &file.head.settings.run;
    if let Err(error) = replay(&file.head, &file.entries) {
        return Some(format!("replay: {run}: {error}"));
    }
    let recorded = Recorded::new(&file.entries)?;
    let round = Play {
        settings: file.head.settings.clone(),
        tasks: recorded.tasks(),
        model: &WorldModel::default(),
        source: Source::Again(&recorded),
        seed: 0,
        began: recorded.began(),
    }
    .run();
    let of = |effects: Vec<Effect>| {
        let pairs = effects
            .into_iter()
            .map(|effect| (effect.bead, effect.action));
        pairs.collect::<Vec<_>>()
    };
    let (then, now) = (of(launches(&file.entries)), of(round.launches()));
    let n_same = then.iter().zip(&now).take_while(|(a, b)| a == b).count();
    (then != now).then(|| {
        format!(
            "simulate: {run} launches otherwise when it is played again, from {n_same} of {} on: {:?} was {:?}",
            then.len(),
            now.get(n_same),
            then.get(n_same)
        )
    })
}

/// The attempt that failed by this answer.
pub(super) fn failed_attempt(action: &Action, answer: &Result<Answer, Trouble>) -> Option<u32> {
    let is_failure = |report: &AgentReport| {
        matches!(
            report.status,
            Status::Failed | Status::Denied | Status::Timeout | Status::Crashed | Status::NoResult
        )
    };
    let is_failed = match answer.as_ref().ok()? {
        Answer::Ended { report } => is_failure(report),
        Answer::Led { report, .. } => is_failure(report),
        Answer::Judged { verdict, report } => match verdict {
            Some(verdict) => verdict.status == QaStatus::Fail,
            None => is_failure(report),
        },
        Answer::Verified {
            is_green,
            is_cut_off,
            ..
        } => !is_green && !is_cut_off,
        _ => false,
    };
    let attempt = match action {
        Action::Verify { attempt, .. } => Some(*attempt),
        Action::Lead {
            only_pull: true, ..
        } => None,
        other => other.launch().map(|launch| launch.attempt),
    };
    attempt.filter(|_| is_failed)
}

pub(super) fn told(event: &Event) -> String {
    match event {
        Event::Seen {
            tasks,
            gone,
            parked,
        } => {
            let tasks: Vec<String> = (tasks.iter())
                .map(|task| {
                    format!(
                        "{} {:?} waits for {:?}",
                        task.id, task.standing, task.waits_for
                    )
                })
                .collect();
            format!("sees {tasks:?}, gone {gone:?}, parked {parked:?}")
        }
        Event::Answered { effect, answer } => format!("hears {effect}: {}", heard(answer)),
        other => format!("{other:?}"),
    }
}

pub(super) fn heard(answer: &Result<Answer, Trouble>) -> String {
    match answer {
        Err(trouble) => format!("{:?} {trouble}", trouble.lasting),
        Ok(Answer::Claimed { fence, task }) => {
            format!("claimed with fence {fence}, attempts {}", task.attempts)
        }
        Ok(Answer::Ended { report } | Answer::Led { report, .. }) => {
            format!("{} {}", report.status, report.reason)
        }
        Ok(Answer::Judged { verdict, report }) => {
            let verdict = verdict.as_ref().map(|verdict| verdict.status);
            format!("{} {verdict:?}", report.status)
        }
        Ok(other) => format!("{other:?}"),
    }
}

//! Effects begin, are performed when their time is over, and are answered; what is true of attempts and money is noted.

use super::{
    Action, Answer, BeadId, Director, Effect, EffectId, Entry, Event, Happening, Heard, Plant,
    Spent, Timestamp, Trouble, failed_attempt, heard, told,
};

impl Director<'_> {
    pub(super) fn begin_all(&mut self, me: usize, entry: &Entry) {
        {
            let mut world = self.world();
            world.say(|| format!("p{me} {}", told(&entry.event)));
        }
        for effect in &entry.effects {
            self.begin(me, effect);
        }
    }

    pub(super) fn begin(&mut self, me: usize, effect: &Effect) {
        {
            let mut world = self.world();
            world.say(|| {
                format!(
                    "p{me}   → {} {} {}",
                    effect.id,
                    effect.bead,
                    effect.action.name()
                )
            });
        }
        let Some(process) = &mut self.processes[me] else {
            return;
        };
        if effect.action == Action::Cancel {
            return self.cancel(me, &effect.bead);
        }
        process.begun.insert(effect.id, effect.clone());
        self.check_launch(me, effect);
        let wait = self.duration(&effect.action);
        self.plan(wait, Happening::Perform(me, effect.clone()));
    }

    pub(super) fn duration(&self, action: &Action) -> u64 {
        match action {
            Action::Develop { .. } | Action::Lead { .. } | Action::Resolve { .. } => {
                60_000 + self.below(1_800_000)
            }
            Action::Judge { .. } => 30_000 + self.below(600_000),
            Action::Verify { .. } => 10_000 + self.below(300_000),
            _ => 100 + self.below(3_000),
        }
    }

    /// What must be so when an agent begins.
    pub(super) fn check_launch(&mut self, me: usize, effect: &Effect) {
        let Some(launch) = effect.action.launch() else {
            return;
        };
        let Some(run) = self.processes[me].as_ref().map(|process| process.run) else {
            return;
        };
        let bead = &effect.bead;
        let (team, most) = {
            let world = self.world();
            let known = world.scenario.beads.iter().find(|it| it.id == *bead);
            let team = known.map_or_else(String::new, |it| it.metadata.team_name.clone());
            let most = known.map_or(0, |it| it.metadata.max_retry_attempts);
            (team, most)
        };
        let file = &mut self.runs[run];
        let broken = (file.books).begin(effect.id, (bead, &team), launch, &file.caps);
        let is_work = match &effect.action {
            Action::Develop { .. } | Action::Resolve { .. } => true,
            Action::Lead { only_pull, .. } => !only_pull,
            _ => false,
        };
        let mut world = self.world();
        if let Some(broken) = broken {
            world.violate(broken);
        }
        if launch.attempt > most {
            let attempt = launch.attempt;
            world.violate(format!(
                "attempts: attempt {attempt} at {bead}, which may have {most}"
            ));
        }
        let failed = world.truth.failed.get(&(run, bead.clone())).copied();
        let failed = failed.max(world.truth.recorded.get(bead).copied());
        if is_work && failed.is_some_and(|failed| launch.attempt <= failed) {
            world.violate(format!(
                "attempts: attempt {} at {bead} again, after attempt {failed:?} failed",
                launch.attempt
            ));
        }
        let is_forced = world.truth.forced.contains(bead);
        drop(world);
        let is_elsewhere = (self.processes.iter().enumerate()).any(|(other, process)| {
            let mut begun = process.iter().flat_map(|process| process.begun.values());
            other != me && begun.any(|it| it.bead == *bead && it.action.launch().is_some())
        });
        if is_work && is_elsewhere && !is_forced {
            self.world()
                .violate(format!("two holders: two processes work on {bead}"));
        }
    }

    /// Ends what runs for a bead, now.
    pub(super) fn cancel(&mut self, me: usize, bead: &BeadId) {
        let runs = |happening: &Happening| match happening {
            Happening::Perform(who, effect) => {
                let is_running = effect.action.launch().is_some()
                    || matches!(effect.action, Action::Verify { .. });
                *who == me && effect.bead == *bead && is_running
            }
            _ => false,
        };
        if let Some(process) = &self.processes[me] {
            self.runs[process.run].books.forget_bead(bead);
        }
        let slots: Vec<(Timestamp, u64)> = (self.agenda.iter())
            .filter(|(_, happening)| runs(happening))
            .map(|(slot, _)| *slot)
            .collect();
        for slot in slots {
            let Some(Happening::Perform(_, effect)) = self.agenda.remove(&slot) else {
                continue;
            };
            {
                let mut world = self.world();
                if effect.action.launch().is_some() {
                    world.cancelled.insert((me, effect.id));
                } else {
                    world.cut_off.insert(effect.bead.clone());
                }
            }
            self.plan(100, Happening::Perform(me, effect));
        }
    }

    pub(super) fn perform(&mut self, me: usize, effect: &Effect) {
        if !self.lives(me) {
            return;
        }
        let mut answer = self.performers[me].perform(effect);
        if !self.lives(me) {
            return;
        }
        if let Some(process) = &mut self.processes[me] {
            process.begun.remove(&effect.id);
        }
        self.note_written(effect, &answer);
        {
            let mut world = self.world();
            if world.is_planted(Plant::RedToldAsGreen)
                && let Ok(Answer::Verified { is_green, .. }) = &mut answer
            {
                *is_green = true;
            }
            world.say(|| format!("p{me} {} {}: {}", effect.id, effect.bead, heard(&answer)));
        }
        let (wait, twice) = {
            let mut world = self.world();
            let rate = world.rates.twice;
            (world.random.below(2_000), world.random.is_hit(rate))
        };
        let answer = Box::new(answer);
        if twice {
            self.world().counts.twice += 1;
            let again = wait + self.below(600_000);
            self.plan(again, Happening::Reply(me, effect.id, answer.clone()));
        }
        self.plan(wait, Happening::Reply(me, effect.id, answer));
    }

    /// How many attempts are in the store now.
    pub(super) fn note_written(&self, effect: &Effect, answer: &Result<Answer, Trouble>) {
        let (Action::Record { progress }
        | Action::Release { progress }
        | Action::Block { progress, .. }) = &effect.action
        else {
            return;
        };
        if answer.is_ok() {
            let mut world = self.world();
            let bead = effect.bead.clone();
            world.truth.recorded.insert(bead.clone(), progress.attempts);
            if matches!(effect.action, Action::Release { .. }) {
                world.truth.failed.retain(|(_, failed), _| *failed != bead);
            }
        }
    }

    pub(super) fn reply(
        &mut self,
        me: usize,
        effect: EffectId,
        answer: Box<Result<Answer, Trouble>>,
    ) {
        if !self.lives(me) {
            return;
        }
        let Some(process) = &self.processes[me] else {
            return;
        };
        let run = process.run;
        let asked = process.engine.outstanding().find(|it| it.id == effect);
        let asked = asked.cloned();
        self.heard = Some(Heard {
            run,
            effect,
            asked,
            answer: answer.clone(),
        });
        self.go_on(me, vec![Event::Answered { effect, answer }]);
        self.heard = None;
    }

    /// What a run was told of an attempt, and could not write down before it lost the bead, is lost with it.
    pub(super) fn note_losses(&self, me: usize) {
        let Some(process) = &self.processes[me] else {
            return;
        };
        let mut world = self.world();
        for id in process.engine.lost() {
            world.truth.failed.remove(&(process.run, id));
        }
    }

    /// What an answer says about attempts and money, the first time that it is heard.
    pub(super) fn note_answer(&mut self) {
        let Some(heard) = self.heard.take() else {
            return;
        };
        let (run, effect, answer) = (heard.run, heard.effect, &*heard.answer);
        let Some(asked) = heard.asked else {
            return self.runs[run].books.forget(effect);
        };
        let report = answer.as_ref().ok().and_then(Answer::report);
        let spent = report.map_or_else(Spent::default, |report| report.spent);
        let file = &mut self.runs[run];
        let broken = file.books.end(effect, &spent, &file.caps);
        let mut world = self.world();
        if let Some(broken) = broken {
            world.violate(broken);
        }
        if let Some(attempt) = failed_attempt(&asked.action, answer) {
            let key = (run, asked.bead);
            let known = world.truth.failed.entry(key).or_default();
            *known = attempt.max(*known);
        }
    }
}

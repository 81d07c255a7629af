//! Runs of agents: begun unless the run is stopping, their account is at its limit, or the budget is used up.

use jiff::Timestamp;

use super::budget::Grant;
use super::effect::{Action, Effect};
use super::machine::Engine;
use super::work::{Doom, Held, Work};
use crate::bead::BeadId;

impl Engine {
    /// Lets what has waited go on.
    pub(super) fn go_on(&mut self, now: Timestamp) {
        if self.fatal.is_some() {
            self.give_up_launches(now);
        }
        let ids: Vec<BeadId> = (self.works.iter())
            .filter(|(_, work)| !work.held.is_empty())
            .map(|(id, _)| id.clone())
            .collect();
        for id in ids {
            let held = match self.works.get_mut(&id) {
                Some(work) => std::mem::take(&mut work.held),
                None => continue,
            };
            for held in held {
                if held.until.is_some_and(|until| until > now) {
                    if let Some(work) = self.works.get_mut(&id) {
                        work.held.push(held);
                    }
                } else if let Some(again) = held.again {
                    self.issue_as(again, &id, held.action);
                } else {
                    self.perform(now, &id, held.action);
                }
            }
        }
    }

    /// After a fatal word nobody waits for an account or for money (L-8).
    fn give_up_launches(&mut self, now: Timestamp) {
        let waits = |work: &Work| {
            let mut held = work.held.iter();
            held.any(|held| held.action.launch().is_some())
        };
        let works = self.works.iter().filter(|(_, work)| waits(work));
        let ids: Vec<BeadId> = works.map(|(id, _)| id.clone()).collect();
        for id in ids {
            self.doom(now, &id, Doom::Release);
        }
    }

    /// Does something for a bead: at once, or when its account and its budget allow it.
    pub(super) fn perform(&mut self, now: Timestamp, id: &BeadId, action: Action) {
        match action.launch() {
            None => {
                self.issue(id, action);
            }
            Some(launch) => {
                let account = launch.account.clone();
                self.launch(now, id, action, &account);
            }
        }
    }

    fn launch(&mut self, now: Timestamp, id: &BeadId, mut action: Action, account: &str) {
        if self.stopping.is_some() {
            return self.doom(now, id, Doom::Release);
        }
        let parked = self.parked.get(account).copied();
        if let Some(until) = parked.filter(|until| *until > now) {
            let why = format!("{account} is at its limit");
            return self.hold(id, Some(until), action, why);
        }
        let Some(task) = self.queue.get(id).cloned() else {
            return;
        };
        let grant = match self.ledger.grant(&task, &self.settings.caps) {
            Grant::Given(grant) => grant,
            Grant::Wait => {
                let why = "what is left of the budget is set aside for agents that run".to_owned();
                return self.hold(id, None, action, why);
            }
            Grant::BeadSpent(reason) => {
                return self.doom(now, id, Doom::block(reason));
            }
            // The bead is not at fault: it goes on when there is money again.
            Grant::RunSpent(reason) => {
                self.fatal.get_or_insert(reason);
                return self.doom(now, id, Doom::Release);
            }
        };
        let work = self.work(id);
        work.n_launches += 1;
        let number = work.n_launches;
        let (Action::Develop { launch, .. }
        | Action::Resolve { launch, .. }
        | Action::Lead { launch, .. }
        | Action::Judge { launch, .. }) = &mut action
        else {
            return;
        };
        (launch.number, launch.grant) = (number, grant);
        let effect = self.issue(id, action);
        self.ledger.reserve(effect, &task, grant);
    }

    pub(super) fn hold(
        &mut self,
        id: &BeadId,
        until: Option<Timestamp>,
        action: Action,
        why: String,
    ) {
        if let Some(work) = self.works.get_mut(id) {
            work.held.push(Held {
                until,
                action,
                again: None,
                why,
            });
        }
    }

    /// Does an effect again at another time. It stays the same effect, because it may have been done; only a run of
    /// an agent is another one each time.
    pub(super) fn hold_effect(&mut self, effect: Effect, until: Timestamp, why: String) {
        let again = effect.action.launch().is_none().then_some(effect.id);
        if let Some(work) = self.works.get_mut(&effect.bead) {
            work.held.push(Held {
                until: Some(until),
                action: effect.action,
                again,
                why,
            });
        }
    }
}

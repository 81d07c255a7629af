//! What a run keeps an eye on besides its effects: the store, what people ask for, and whether its beads are still its own.
//!
//! Times are handed in, so that a simulation can let them pass as it likes.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::engine::{Effect, Engine, Event, Trouble};
use beads_ralph_core::issue::Fence;

use super::conduct::Stop;
use super::perform::Performer;
use super::tasks::Sight;
use crate::controls::{self, Orders};
use crate::store::StoreError;

/// How often holders say that they are alive.
const BEAT: Duration = Duration::from_mins(1);

/// How long the store may be unreachable before the run stops.
const MAX_BLIND: Duration = Duration::from_mins(5);

#[derive(Debug)]
pub struct Lookout {
    sight: Sight,
    poll: Duration,
    stopped: Option<Stop>,
    /// The last order to stop before this run; it was for another one.
    stops_known: Option<u64>,
    /// What the engine was last told about it; nothing yet.
    is_paused: Option<bool>,
    polled: Option<Instant>,
    blind_since: Option<Instant>,
    beaten: Instant,
    /// The beads that the engine lost, as far as the store was looked at again for them.
    lost: BTreeSet<BeadId>,
}

#[derive(Debug, Default)]
pub struct Noticed {
    pub events: Vec<Event>,
    /// Why the store could not be looked at.
    pub warning: Option<String>,
    pub has_looked: bool,
}

impl Lookout {
    /// A lookout with what is known of the store, which looks so often.
    pub fn new(sight: Sight, poll: Duration, now: Instant) -> Self {
        Self {
            sight,
            poll,
            stopped: None,
            stops_known: None,
            is_paused: None,
            polled: None,
            blind_since: None,
            beaten: now,
            lost: BTreeSet::new(),
        }
    }

    /// What people have asked for before anything was done.
    pub fn orders(
        &mut self,
        engine: &Engine,
        performer: &Performer<'_>,
    ) -> Result<Vec<Event>, StoreError> {
        self.is_paused = Some(engine.is_paused());
        let orders = controls::read(&**performer.store())?;
        Ok(self.heed(&orders))
    }

    /// Makes it time to look at the store.
    pub fn hurry(&mut self) {
        self.polled = None;
    }

    /// Looks at the store, when it is time. It is an error when the store was out of reach for too long.
    pub fn look(
        &mut self,
        engine: &Engine,
        performer: &Performer<'_>,
        now: Instant,
    ) -> Result<Noticed, StoreError> {
        let mut noticed = Noticed {
            events: self.beat(engine, performer, now),
            ..Noticed::default()
        };
        if self
            .polled
            .is_some_and(|polled| now.saturating_duration_since(polled) < self.poll)
        {
            return Ok(noticed);
        }
        self.polled = Some(now);
        noticed.has_looked = true;
        // What is worked on stands as the engine knows it. What was worked on, or asked for in vain, is looked at like all others.
        let lost = engine.lost();
        self.sight.doubt(lost.difference(&self.lost).cloned());
        self.lost = lost;
        // Why a bead was not to be had may be nothing that its own history tells.
        self.sight.doubt(engine.refused());
        let ours = engine.ours();
        let is_ours = |id: &BeadId| ours.contains(id);
        let store = performer.store();
        // The orders stand as long as they hold, so that nothing is lost when they are read first and the look fails.
        let looked = controls::read(&**store).and_then(|orders| {
            let now = (performer.now)();
            let seen = self.sight.look(&**store, performer.reader, now, &is_ours)?;
            Ok((seen, orders))
        });
        drop(store);
        match looked {
            Ok((seen, orders)) => {
                self.blind_since = None;
                // Who wants nothing to begin is heard before anything is seen that could.
                let asked = self.heed(&orders);
                noticed.events.extend(asked);
                noticed.events.extend(seen);
            }
            Err(error) => {
                let since = *self.blind_since.get_or_insert(now);
                if now.saturating_duration_since(since) >= MAX_BLIND {
                    return Err(error);
                }
                noticed.warning = Some(error.to_string());
            }
        }
        Ok(noticed)
    }

    /// Renews the claims when it is time. A lost claim goes to the engine as the answer to whatever runs for its bead.
    fn beat(&mut self, engine: &Engine, performer: &Performer<'_>, now: Instant) -> Vec<Event> {
        if now.saturating_duration_since(self.beaten) < BEAT {
            return Vec::new();
        }
        self.beaten = now;
        let held: Vec<(BeadId, Fence)> = engine.held();
        let lost = performer.beat(&held);
        let outstanding = engine
            .outstanding()
            .filter(|effect| lost.contains(&effect.bead));
        let lost = |effect: &Effect| Event::Answered {
            effect: effect.id,
            answer: Box::new(Err(Trouble::lost("another process has claimed it"))),
        };
        outstanding.map(lost).collect()
    }

    /// What people asked for through the store (Z-15).
    fn heed(&mut self, orders: &Orders) -> Vec<Event> {
        let mut events = Vec::new();
        let is_paused = orders.pause.is_some();
        if self.is_paused != Some(is_paused) {
            self.is_paused = Some(is_paused);
            events.push(Event::PauseAsked { is_paused });
        }
        let known = *self.stops_known.get_or_insert(orders.stop_version());
        let stop = orders.stop_since(known);
        let stop = stop.map(|order| if order.now { Stop::Now } else { Stop::Gently });
        events.extend(self.stop(stop));
        events
    }

    /// The events of a request to end the run; repeating it changes nothing.
    pub fn stop(&mut self, stop: Option<Stop>) -> Option<Event> {
        let stop = stop.filter(|stop| Some(*stop) > self.stopped)?;
        self.stopped = Some(stop);
        Some(Event::StopAsked {
            now: stop == Stop::Now,
        })
    }
}

//! The books of the world: what agents may still spend, and what they did, by run.

use std::collections::BTreeMap;

use beads_ralph_core::bead::BeadId;
use beads_ralph_core::engine::{Caps, EffectId, Launch, Spent};

/// What is known of the spending in one run, in millionths of a dollar.
#[derive(Debug, Default)]
pub(super) struct Books {
    running: BTreeMap<EffectId, Grant>,
    spent: BTreeMap<Level, u64>,
}

#[derive(Debug, Clone)]
struct Grant {
    levels: [Level; 3],
    micros: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Run,
    Team(String),
    Bead(BeadId),
}

impl Level {
    fn cap(&self, caps: &Caps) -> Option<u64> {
        match self {
            Self::Run => caps.run.micros,
            Self::Team(_) => caps.team.micros,
            Self::Bead(_) => caps.bead.micros,
        }
    }
}

impl Books {
    /// An agent begins. The answer is what is wrong with that.
    pub(super) fn begin(
        &mut self,
        effect: EffectId,
        (bead, team): (&BeadId, &str),
        launch: &Launch,
        caps: &Caps,
    ) -> Option<String> {
        let levels = [
            Level::Run,
            Level::Team(team.to_owned()),
            Level::Bead(bead.clone()),
        ];
        let micros = launch.grant.micros;
        let grant = Grant {
            levels: levels.clone(),
            micros,
        };
        self.running.insert(effect, grant);
        if caps
            .attempt
            .micros
            .is_some_and(|most| micros.is_none_or(|micros| micros > most))
        {
            return Some(format!(
                "budget: an agent for {bead} may spend more than an attempt may"
            ));
        }
        levels.iter().find_map(|level| {
            let most = level.cap(caps)?;
            let running = self.running.values().filter(|it| it.levels.contains(level));
            let aside: Option<u64> = running.map(|grant| grant.micros).sum();
            let spent = self.spent.get(level).copied().unwrap_or(0);
            let is_within = aside.is_some_and(|aside| spent + aside <= most);
            (!is_within).then(|| {
                format!(
                    "budget: {level:?} may spend {most}; {spent} are spent and {aside:?} set aside"
                )
            })
        })
    }

    /// An agent has ended. The answer is what is wrong with that.
    pub(super) fn end(&mut self, effect: EffectId, spent: &Spent, caps: &Caps) -> Option<String> {
        let grant = self.running.remove(&effect)?;
        grant.levels.iter().find_map(|level| {
            let sum = self.spent.entry(level.clone()).or_default();
            *sum += spent.micros;
            let most = level.cap(caps)?;
            (*sum > most).then(|| format!("budget: {level:?} may spend {most} and spent {sum}"))
        })
    }

    /// Nobody will hear what an agent spent.
    pub(super) fn forget(&mut self, effect: EffectId) {
        self.running.remove(&effect);
    }

    /// Nobody will hear what the agents of a bead spent.
    pub(super) fn forget_bead(&mut self, bead: &BeadId) {
        let level = Level::Bead(bead.clone());
        self.running
            .retain(|_, grant| !grant.levels.contains(&level));
    }

    /// The process is dead, and so are its agents.
    pub(super) fn forget_all(&mut self) {
        self.running.clear();
    }
}

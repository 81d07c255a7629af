//! Who holds an issue, and when a holder counts as gone (Z-2, Z-3, Z-4).

use std::fmt;

use serde::{Deserialize, Serialize};

use jiff::Timestamp;

/// The number that a claim gives out. It rises with every claim of an issue and is never reset, so that a
/// holder of the past can be told from the present one.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Fence(pub u64);

/// The greatest fence that is taken from outside. From here it can rise for longer than there will be claims, and
/// every reader of JSON can hold it.
pub(super) const MAX_FENCE: Fence = Fence(1 << 52);

impl Fence {
    /// The fence of the next claim; there is none after the greatest number.
    pub fn next(self) -> Option<Self> {
        self.0.checked_add(1).map(Self)
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Who holds an issue: a run of the program, or a person at a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The run, or the person's name.
    pub run: String,
    /// The machine.
    pub host: String,
    /// The process that lives as long as the claim is meant; people at a terminal have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<HolderProcess>,
}

/// A process that can be told from every other one, also after a restart of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HolderProcess {
    /// Its number.
    pub pid: u32,
    /// When it started, in the system's own unit.
    pub started: u64,
    /// The boot of the machine that it started in.
    pub boot: String,
}

/// That an issue is held, by whom and until when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The fence that every write of the holder carries.
    pub fence: Fence,
    /// The holder.
    pub holder: Holder,
    /// When it was claimed.
    pub claimed_at: Timestamp,
    /// Until when the holder counts as alive unless it says so again.
    pub lease_until: Timestamp,
}

/// Why a holder counts as gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abandoned {
    /// Its process is dead, which was seen on its own machine.
    ProcessDead,
    /// Its lease is over, and there is no process here to look at.
    LeaseOver,
}

impl Abandoned {
    /// The reason in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ProcessDead => "its process is dead",
            Self::LeaseOver => "its lease is over",
        }
    }
}

impl Claim {
    /// Whether the holder is gone (Z-4). A process of this machine must be seen to be dead, however old
    /// its lease; of any other holder only the lease is known.
    pub fn is_abandoned(
        &self,
        now: Timestamp,
        here: &str,
        is_alive: impl FnOnce(&HolderProcess) -> bool,
    ) -> Option<Abandoned> {
        match &self.holder.process {
            Some(process) if self.holder.host == here => {
                (!is_alive(process)).then_some(Abandoned::ProcessDead)
            }
            _ => (self.lease_until < now).then_some(Abandoned::LeaseOver),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(process: Option<HolderProcess>) -> Claim {
        Claim {
            fence: Fence(3),
            holder: Holder {
                run: "r1".to_owned(),
                host: "here".to_owned(),
                process,
            },
            claimed_at: Timestamp::UNIX_EPOCH,
            lease_until: Timestamp::from_second(100).unwrap(),
        }
    }

    #[test]
    fn z_4_a_process_of_this_machine_must_be_seen_dead() {
        let process = HolderProcess {
            pid: 1,
            started: 2,
            boot: "b".to_owned(),
        };
        let late = Timestamp::from_second(1000).unwrap();
        let claim = claim(Some(process));
        assert_eq!(claim.is_abandoned(late, "here", |_| true), None);
        assert_eq!(
            claim.is_abandoned(Timestamp::UNIX_EPOCH, "here", |_| false),
            Some(Abandoned::ProcessDead)
        );
        assert_eq!(
            claim.is_abandoned(late, "there", |_| true),
            Some(Abandoned::LeaseOver)
        );
    }

    #[test]
    fn z_4_without_a_process_the_lease_decides() {
        let claim = claim(None);
        assert_eq!(
            claim.is_abandoned(claim.lease_until, "here", |_| false),
            None
        );
        let later = Timestamp::from_second(101).unwrap();
        assert_eq!(
            claim.is_abandoned(later, "here", |_| true),
            Some(Abandoned::LeaseOver)
        );
    }
}

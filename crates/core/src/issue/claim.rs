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
    /// The machine's own id, which stays the same through every boot, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The namespace that its number belongs to, where the system says: another container counts from 1 again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// What is known about a holder's process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// It was seen to run.
    Alive,
    /// It is proven to be gone.
    Dead,
    /// It can be seen neither to run nor to be gone.
    Unknown,
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
    /// Its lease is over, and no process of it can be seen.
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
    /// Whether the holder is gone (Z-4). What is seen to run keeps its claim, however old the lease; to lose it
    /// sooner, a process of this machine must be proven dead. Of any other holder only the lease is known.
    pub fn is_abandoned(
        &self,
        now: Timestamp,
        here: &str,
        liveness: impl FnOnce(&HolderProcess) -> Liveness,
    ) -> Option<Abandoned> {
        let process = self.holder.process.as_ref();
        match process.map_or(Liveness::Unknown, liveness) {
            Liveness::Alive => None,
            Liveness::Dead if self.holder.host == here => Some(Abandoned::ProcessDead),
            Liveness::Dead | Liveness::Unknown => {
                (self.lease_until < now).then_some(Abandoned::LeaseOver)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process() -> HolderProcess {
        HolderProcess {
            pid: 1,
            started: 2,
            boot: "b".to_owned(),
            machine: None,
            namespace: None,
        }
    }

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
        let (early, late) = (Timestamp::UNIX_EPOCH, Timestamp::from_second(1000).unwrap());
        let claim = claim(Some(process()));
        for (liveness, host, at_early, at_late) in [
            (Liveness::Alive, "here", None, None),
            (Liveness::Alive, "renamed", None, None),
            (
                Liveness::Dead,
                "here",
                Some(Abandoned::ProcessDead),
                Some(Abandoned::ProcessDead),
            ),
            (Liveness::Dead, "there", None, Some(Abandoned::LeaseOver)),
            (Liveness::Unknown, "here", None, Some(Abandoned::LeaseOver)),
            (Liveness::Unknown, "there", None, Some(Abandoned::LeaseOver)),
        ] {
            let gone = |now| claim.is_abandoned(now, host, |_| liveness);
            assert_eq!(gone(early), at_early, "{liveness:?} {host}");
            assert_eq!(gone(late), at_late, "{liveness:?} {host}");
        }
    }

    #[test]
    fn z_4_without_a_process_the_lease_decides() {
        let claim = claim(None);
        assert_eq!(
            claim.is_abandoned(claim.lease_until, "here", |_| Liveness::Dead),
            None
        );
        let later = Timestamp::from_second(101).unwrap();
        assert_eq!(
            claim.is_abandoned(later, "here", |_| Liveness::Alive),
            Some(Abandoned::LeaseOver)
        );
    }

    #[test]
    fn z_3_a_process_of_an_older_record_is_read_and_written_as_it_was() {
        let old = r#"{"pid":1,"started":2,"boot":"b"}"#;
        let read: HolderProcess = serde_json::from_str(old).unwrap();
        assert_eq!(read, process());
        assert_eq!(serde_json::to_string(&read).unwrap(), old);
        let whole = HolderProcess {
            machine: Some("m".to_owned()),
            namespace: Some("pid:[1]".to_owned()),
            ..read
        };
        let text = serde_json::to_string(&whole).unwrap();
        assert_eq!(serde_json::from_str::<HolderProcess>(&text).unwrap(), whole);
    }
}

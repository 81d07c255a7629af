//! How much room there must be before anything starts (contracts §7.1, L-10).

use serde::Deserialize;

use super::values::Count;

/// How much room there must be before anything starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSettings {
    /// How many gigabytes (10⁹ bytes) must be free.
    pub min_free_gb: u64,
    pub check_before_start: bool,
}

impl Default for DiskSettings {
    fn default() -> Self {
        Self {
            min_free_gb: 10,
            check_before_start: true,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct DiskKey {
    pub(super) min_free_gb: Count<0>,
    pub(super) check_before_start: Option<bool>,
}

impl DiskKey {
    /// The settings of a nested layout, with what only the flat one has.
    pub(super) fn settings(self, flat: Self) -> DiskSettings {
        let default = DiskSettings::default();
        let room = self.min_free_gb.or(flat.min_free_gb).0;
        let is_checked = self.check_before_start.or(flat.check_before_start);
        DiskSettings {
            min_free_gb: room.map_or(default.min_free_gb, u64::from),
            check_before_start: is_checked.unwrap_or(default.check_before_start),
        }
    }
}

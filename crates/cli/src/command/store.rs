//! The commands over the beads of the store.

pub(crate) mod claim;
pub(crate) mod close;
pub(crate) mod dep;
pub(crate) mod doctor;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod recover;
pub(crate) mod show;
pub(crate) mod stats;
pub(crate) mod update;

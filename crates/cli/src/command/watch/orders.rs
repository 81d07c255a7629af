//! What keys ask of the store: a bead tried again, all runs paused or stopped.

use beads_ralph_core::bead::BeadId;
use beads_ralph_runtime::controls;

use crate::args::{Global, GuardArgs};
use crate::beads::Beads;
use crate::board::Wish;
use crate::command::{reopen, retry};
use crate::failure::Failure;

/// Does what was asked for, and says what became of it.
pub(super) fn carry_out(wish: &Wish, global: &Global) -> String {
    let done = match wish {
        Wish::Retry(id) => try_again(id, global),
        Wish::Pause => pause(global),
        Wish::Stop { now } => stop(*now, global),
        Wish::Nothing | Wish::Quit | Wish::Suspend => Ok(String::new()),
    };
    done.unwrap_or_else(|failure| failure.message().to_owned())
}

fn try_again(id: &BeadId, global: &Global) -> Result<String, Failure> {
    let mut beads = Beads::open(global)?;
    let before = beads.resolve(id.as_str())?;
    retry::refuse_others(&before)?;
    let done = reopen::open_again(
        &before,
        "to be tried again:",
        &GuardArgs::default(),
        &mut beads,
    )?;
    Ok(done.said)
}

fn pause(global: &Global) -> Result<String, Failure> {
    let mut beads = Beads::open(global)?;
    let store = beads.store.as_mut();
    if controls::resume(store, beads.by.stamp())? {
        return Ok("runs on this store go on".to_owned());
    }
    controls::pause(store, beads.by.stamp())?;
    Ok("runs on this store begin nothing new; p lets them go on".to_owned())
}

fn stop(now: bool, global: &Global) -> Result<String, Failure> {
    let mut beads = Beads::open(global)?;
    controls::stop(beads.store.as_mut(), now, beads.by.stamp())?;
    Ok(if now {
        "runs on this store are asked to stop now: their agents are ended".to_owned()
    } else {
        "runs on this store are asked to stop: what agents do now is finished".to_owned()
    })
}

//! `run` with the real program, real git and agents that are shell scripts: killed at every place, and met by every fault.

#[cfg(test)]
#[path = "../common/snapshot.rs"]
mod snapshot;

#[cfg(test)]
mod agents;
#[cfg(test)]
mod checks;
#[cfg(test)]
mod closed;
#[cfg(test)]
mod ends;
#[cfg(test)]
mod flakes;
#[cfg(test)]
mod followed;
#[cfg(test)]
mod gates;
#[cfg(test)]
mod implement;
#[cfg(test)]
mod kill;
#[cfg(test)]
mod left;
#[cfg(test)]
mod molecules;
#[cfg(test)]
mod orders;
#[cfg(test)]
mod picture;
#[cfg(test)]
mod places;
#[cfg(test)]
mod reached;
#[cfg(test)]
mod replayed;
#[cfg(test)]
mod report;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod together;
#[cfg(test)]
mod upgrade;
#[cfg(test)]
mod watch;
#[cfg(test)]
mod world;

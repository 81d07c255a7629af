//! `run` with the real program, real git and agents that are shell scripts: killed at every place, and met by every fault.

#[cfg(test)]
mod checks;
#[cfg(test)]
mod ends;
#[cfg(test)]
mod kill;
#[cfg(test)]
mod left;
#[cfg(test)]
mod picture;
#[cfg(test)]
mod world;

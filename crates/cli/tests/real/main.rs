//! The real `claude` and the real `codex` at work, with a scripted model in place of the services that they are made for.
//!
//! `scripts/real-tools claude codex` installs them; `cargo test --test real -- --ignored` runs these tests. Without the programs they
//! fail: a test that was asked for is not skipped.

#![cfg(unix)]

#[cfg(test)]
mod claude;
#[cfg(test)]
mod codex;
#[cfg(test)]
mod exec;
#[cfg(test)]
mod parity;
#[cfg(test)]
mod world;

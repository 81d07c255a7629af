//! The real `claude`, the real `codex` and the real `gh` at work, with a scripted model and a stand-in for GitHub in place of the
//! services that they are made for; and the real `bd` beside ours, also in pipelines with the real `jq`; programs of others that work through `bd`; pages in the real `chromium`.
//!
//! `scripts/real-tools` installs them; `cargo test --test real -- --ignored` runs these tests. Without the programs they
//! fail: a test that was asked for is not skipped.

#![cfg(unix)]

#[cfg(test)]
mod bd_face;
#[cfg(test)]
mod claude;
#[cfg(test)]
mod clients;
#[cfg(test)]
mod codex;
#[cfg(test)]
mod exec;
#[cfg(test)]
mod formulas;
#[cfg(test)]
mod gh;
#[cfg(test)]
mod implement;
#[cfg(test)]
mod parity;
#[cfg(test)]
mod pipelines;
#[cfg(test)]
mod remote;
#[cfg(test)]
mod report;
#[cfg(test)]
mod run;
#[cfg(test)]
mod world;

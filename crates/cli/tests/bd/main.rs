//! The real `bd` as a store: what it keeps, what it refuses, and what becomes of it when it is not well.
//!
//! `scripts/real-tools bd` builds it; `cargo test --test bd -- --ignored` runs these tests. Without the program they fail: a test
//! that was asked for is not skipped.

#![cfg(unix)]

#[cfg(test)]
mod answers;
#[cfg(test)]
mod claims;
#[cfg(test)]
mod contract;
#[cfg(test)]
mod implement;
#[cfg(test)]
mod moving;
#[cfg(test)]
mod pouring;
#[cfg(test)]
mod seed;
#[cfg(test)]
mod whole;
#[cfg(test)]
mod world;

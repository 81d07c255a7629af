//! The program as people and scripts meet it: arguments in; output, files and exit codes out.
//!
//! Tests are named for the rules in `docs/spec` that they hold the program to.

#[cfg(test)]
#[path = "../common/snapshot.rs"]
mod snapshot;

#[cfg(test)]
mod agents;
#[cfg(test)]
mod annotate;
#[cfg(test)]
mod apply;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod bd_face;
#[cfg(test)]
mod bd_links;
#[cfg(test)]
mod bd_program;
#[cfg(test)]
mod bead;
#[cfg(test)]
mod build;
#[cfg(test)]
mod check;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod dod;
#[cfg(test)]
mod env;
#[cfg(test)]
mod formula;
#[cfg(test)]
mod gate;
#[cfg(test)]
mod graph;
#[cfg(test)]
mod human;
#[cfg(test)]
mod logs;
#[cfg(test)]
mod molecules;
#[cfg(test)]
mod output;
#[cfg(test)]
mod patrol;
#[cfg(test)]
mod pour;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod scripted_agent;
#[cfg(test)]
mod simulate;
#[cfg(test)]
mod store;
#[cfg(test)]
mod surface;
#[cfg(test)]
mod tidy;
#[cfg(test)]
mod verify;
#[cfg(test)]
mod watchdog;

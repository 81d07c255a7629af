//! `implement` with real parts: git, `claude`, `codex` and `gh`, against a model that acts by a scenario and a stand-in for GitHub.

mod bug;
mod crash;
mod docs;
mod feature;
mod ground;
mod limit;
mod people;

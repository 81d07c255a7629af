//! `run` with real parts: git, `claude`, `codex` and `gh`, against a model that acts by a scenario and a stand-in for GitHub.

mod ground;
mod killed;
mod led;
mod limits;
mod whole;

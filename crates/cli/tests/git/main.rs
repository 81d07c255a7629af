//! Real git under the loop: worktrees, merges, what is kept, and what crashes and users leave behind.
//!
//! Every test has a repository whose path has spaces and letters beyond ASCII, and whose main checkout is dirty; at the end of
//! each it is looked at whether that is still exactly as it was.

#[cfg(test)]
mod clashing;
#[cfg(test)]
mod copying;
#[cfg(test)]
mod crashed;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod integrating;
#[cfg(test)]
mod misled;
#[cfg(test)]
mod preparing;
#[cfg(test)]
mod reached;
#[cfg(test)]
mod remotes;
#[cfg(test)]
mod removing;
#[cfg(test)]
mod restoring;
#[cfg(test)]
mod sealing;
#[cfg(test)]
mod together;
#[cfg(test)]
mod world;

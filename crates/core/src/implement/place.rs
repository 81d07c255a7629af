//! Where the report of a worker lies (I-16): beside the store of the main repository, so that it outlives every worktree.

use thiserror::Error;

use super::worker::Agent;
use crate::bead::BeadId;
use crate::text::excerpt;

/// The directory of reports below `.beads`.
pub const AUDIT_DIRECTORY: &str = "worker-audit";

/// A name that cannot be a part of a path.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{}` cannot be a part of a report's path", excerpt(.0))]
pub struct UnsafePart(String);

/// The path of a report below `.beads`: `worker-audit/<step>/<agent>[-iter<N>].yaml`.
pub fn report_path(
    step: &BeadId,
    agent: &Agent,
    iteration: Option<u32>,
) -> Result<String, UnsafePart> {
    let (step, agent) = (safe_part(step.as_str())?, safe_part(agent.as_str())?);
    Ok(match iteration {
        Some(n) => format!("{AUDIT_DIRECTORY}/{step}/{agent}-iter{n}.yaml"),
        None => format!("{AUDIT_DIRECTORY}/{step}/{agent}.yaml"),
    })
}

/// Checks that an id or a name can be a part of a report's path.
pub fn safe_part(part: &str) -> Result<&str, UnsafePart> {
    let is_path = part.is_empty() || part.contains(['/', '\\', '\0']) || part.contains("..");
    if is_path || part.starts_with('.') {
        return Err(UnsafePart(part.to_owned()));
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i_16_a_report_lies_below_its_step() {
        let path = |step: &str, agent: &str, n| {
            report_path(&BeadId::parse(step).unwrap(), &Agent::named(agent), n)
        };
        assert_eq!(
            path("bd-1", "tdd-red-team", None).unwrap(),
            "worker-audit/bd-1/tdd-red-team.yaml"
        );
        assert_eq!(
            path("7bk.19", "tdd-green-team", Some(2)).unwrap(),
            "worker-audit/7bk.19/tdd-green-team-iter2.yaml"
        );
        for (step, agent) in [
            ("a/b", "x"),
            ("..", "x"),
            ("a..b", "x"),
            ("a", "../x"),
            ("a", ".x"),
            ("a\\b", "x"),
        ] {
            assert!(path(step, agent, None).is_err(), "{step} {agent}");
        }
    }
}

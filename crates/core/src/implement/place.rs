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
    let (folder, agent) = (report_folder(step)?, safe_part(agent.as_str())?);
    Ok(match iteration {
        Some(n) => format!("{folder}/{agent}-iter{n}.yaml"),
        None => format!("{folder}/{agent}.yaml"),
    })
}

/// The folder of a step's reports below `.beads`.
pub fn report_folder(step: &BeadId) -> Result<String, UnsafePart> {
    Ok(format!("{AUDIT_DIRECTORY}/{}", safe_part(step.as_str())?))
}

/// Whose report a file is, by its name; none when it is no report.
pub fn reporter(file: &str) -> Option<Agent> {
    let name = file.strip_suffix(".yaml").filter(|name| !name.is_empty())?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let agent = name.rsplit_once("-iter").filter(|(_, n)| is_number(n));
    Some(Agent::named(agent.map_or(name, |(agent, _)| agent)))
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
        let whose = |file: &str| reporter(file).map(|agent| agent.as_str().to_owned());
        assert_eq!(
            whose("tdd-green-team-iter2.yaml").as_deref(),
            Some("tdd-green-team")
        );
        assert_eq!(whose("my-iter.yaml").as_deref(), Some("my-iter"));
        assert_eq!(whose("notes.txt"), None);
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

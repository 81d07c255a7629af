//! The agents that come with the program: workers and reviewers of the dispatcher (I-19, R-4), and those of plans.

use camino::{Utf8Path, Utf8PathBuf};

use super::{DIRECTORY, Definition, called, read_definition};
use crate::os::files::{self, FileError};

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("instructions/", $name, ".md")))),*]
    };
}

/// The agents that come with the program: their names, and the texts of their files.
pub const BUILT_IN: &[(&str, &str)] = built_in![
    "beads-ralph-scrum-master",
    "bug-diagnoser",
    "docs-edits-team",
    "fresh-eyes-reviewer",
    "general-purpose",
    "pr-comment-fixer-team",
    "qa-agent",
    "quality-reviewer",
    "simplifier",
    "tdd-green-team",
    "tdd-red-team",
];

/// The agent of a name that comes with the program. Its path leads nowhere: it is for people.
pub fn built_in(name: &str) -> Option<Definition> {
    let (_, text) = BUILT_IN.iter().find(|(own, _)| *own == name)?;
    Some(read_definition(format!("<built-in>/{name}.md"), text))
}

/// Writes the agents that come with the program below a root, for people to change, and names the files that it wrote. One that is
/// there may be somebody's own, also in a folder of its own, and is left alone: two of one name would be taken for each other.
pub fn write_built_in(root: &Utf8Path) -> Result<Vec<Utf8PathBuf>, FileError> {
    let directory = root.join(DIRECTORY);
    files::create_directory(&directory)?;
    let mut written = Vec::new();
    for (name, text) in BUILT_IN {
        if !called(root, name).is_empty() {
            continue;
        }
        let path = directory.join(format!("{name}.md"));
        match files::create_new(&path, text.as_bytes()) {
            Ok(()) => written.push(path),
            Err(FileError::Exists { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use beads_ralph_core::agent::report_in;
    use beads_ralph_core::bead::{AgentPath, Model, QaResult, ScrumResult};
    use beads_ralph_core::implement::ralf::Severity;
    use beads_ralph_core::implement::report::{Gate, Read, Status, gate, read};
    use beads_ralph_core::implement::{AUDITED, Agent, Mode, Stage, worker_for};
    use serde_json::Value;

    use super::super::definition;
    use super::*;

    /// Agents that write a report.
    const WORKERS: [&str; 7] = [
        "bug-diagnoser",
        "docs-edits-team",
        "general-purpose",
        "pr-comment-fixer-team",
        "simplifier",
        "tdd-green-team",
        "tdd-red-team",
    ];

    const REVIEWERS: [&str; 2] = ["fresh-eyes-reviewer", "quality-reviewer"];

    fn instructions(name: &str) -> String {
        built_in(name).unwrap().instructions
    }

    /// The report that a worker's file shows.
    fn report_of(name: &str) -> Read {
        let text = instructions(name);
        let blocks: Vec<&str> = text.split("```yaml\n").skip(1).collect();
        assert_eq!(blocks.len(), 1, "{name}");
        let (example, _) = blocks[0].split_once("```").unwrap();
        read(example, &Agent::named(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The answer that an agent's file shows, found as the answers of agents are.
    fn answer_of(name: &str) -> Value {
        report_in(&instructions(name)).unwrap().value
    }

    #[test]
    fn i_19_every_worker_has_its_file() {
        for (name, _) in BUILT_IN {
            let agent = built_in(name).unwrap();
            assert_eq!(agent.name.as_deref(), Some(*name));
            assert!(agent.description.is_some(), "{name}");
            let model = agent.recommended_model.unwrap();
            assert!(Model::parse(&model).is_ok(), "{name}: {model}");
            assert!(agent.instructions.starts_with("\n# "), "{name}");
        }
        for stage in Stage::ALL {
            for mode in Mode::ALL {
                let worker = worker_for(stage, mode);
                assert!(WORKERS.contains(&worker.as_str()), "{worker:?}");
            }
        }
        let names = WORKERS.iter().chain(&REVIEWERS).chain(&AUDITED);
        for name in names {
            assert!(built_in(name).is_some(), "{name}");
        }
        assert_eq!(built_in("nobody"), None);
    }

    #[test]
    fn w_1_every_report_that_a_worker_is_shown_is_without_fault() {
        for name in WORKERS {
            assert_eq!(report_of(name).faults, [], "{name}");
        }
    }

    #[test]
    fn w_6_the_reports_that_are_shown_are_what_success_means() {
        let report = |name| report_of(name).report;
        let red = report("tdd-red-team");
        assert_eq!(
            (red.status, gate(&red.evidence)),
            (Status::Complete, Gate::Fail)
        );
        let tests = red.evidence.tests.unwrap();
        assert!(tests.counts.failing.unwrap() > 0);
        let green = report("tdd-green-team");
        assert_eq!(
            (green.status, gate(&green.evidence)),
            (Status::Complete, Gate::Pass)
        );
        let cause = report("bug-diagnoser");
        assert!(cause.commits.is_empty() && cause.reproduction_steps.is_some());
        assert!(
            cause
                .root_cause_note
                .unwrap()
                .contains("Direction of a fix")
        );
        let docs = report("docs-edits-team");
        let edits = docs.docs_edits.unwrap();
        assert_eq!(gate(&docs.evidence), Gate::NotApplicable);
        assert!(docs.commits.contains(&edits.commit.unwrap()));
        assert!(!edits.summary.is_empty() && edits.skipped.len() == 1);
        assert!(report("pr-comment-fixer-team").comment_fix.is_some());
        assert_eq!(report("general-purpose").status, Status::NeedsHuman);
    }

    #[test]
    fn i_23_nobody_is_told_of_beads_or_starts_others() {
        for name in WORKERS.iter().chain(&REVIEWERS) {
            let text = instructions(name);
            for rule in ["Never run `bd`", "Start no agents of your own."] {
                assert!(text.contains(rule), "{name}: {rule}");
            }
        }
        for name in WORKERS {
            let text = instructions(name);
            let reason = "`tests-runner-unparseable`";
            let runs_tests = name != "docs-edits-team";
            assert_eq!(text.contains(reason), runs_tests, "{name}");
        }
        let red = instructions("tdd-red-team");
        assert!(red.contains("`red-tests-passed-unexpectedly`"));
    }

    #[test]
    fn r_5_the_findings_that_reviewers_are_shown_can_be_read() {
        for name in REVIEWERS {
            let answer = answer_of(name);
            let findings = answer["findings"].as_array().unwrap();
            assert!(!findings.is_empty() && answer["summary"].is_string());
            for finding in findings {
                let severity = finding["severity"].as_str().unwrap();
                assert!(Severity::parse(severity).is_some(), "{name}: {severity}");
                for key in ["title", "detail", "file"] {
                    assert!(finding[key].is_string(), "{name}: {key}");
                }
            }
        }
    }

    #[test]
    fn l_16_the_answers_of_plans_agents_can_be_read() {
        let led = answer_of("beads-ralph-scrum-master");
        assert!(ScrumResult::from_document(&led).unwrap().success);
        let judged = QaResult::from_document(&answer_of("qa-agent")).unwrap();
        assert!(!judged.message.is_empty());
    }

    #[test]
    fn what_is_there_is_left_alone_wherever_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(directory.path().to_owned()).unwrap();
        let own = root.join(DIRECTORY);
        files::create_directory(&own.join("team")).unwrap();
        files::write_atomic(&own.join("qa-agent.md"), b"---\nname: other\n---\n").unwrap();
        files::write_atomic(&own.join("team/red.md"), b"---\nname: tdd-red-team\n---\n").unwrap();
        let written = write_built_in(&root).unwrap();
        assert_eq!(written.len(), BUILT_IN.len() - 2);
        assert!(!own.join("tdd-red-team.md").exists());
        let find = |name: &str| definition(&root, &AgentPath::for_name(name).unwrap()).unwrap();
        assert_eq!(find("qa-agent").called(), "other");
        let (on_disk, embedded) = (find("simplifier"), built_in("simplifier").unwrap());
        assert_eq!(on_disk.instructions, embedded.instructions);
        assert_eq!(on_disk.called(), embedded.called());
        assert!(write_built_in(&root).unwrap().is_empty());
    }
}

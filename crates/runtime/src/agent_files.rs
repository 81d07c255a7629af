//! Agent files: `.claude/agents/**/*.md` of a repository, and those that come with the program (I-19, R-4).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;

use beads_ralph_core::bead::AgentPath;
use beads_ralph_core::compile::AgentFile;
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

use crate::os::files::{self, FileError};
use crate::repo;

const DIRECTORY: &str = ".claude/agents";

/// How deep folders may be nested; deeper ones are more likely a mistake than an agent.
const MAX_DEPTH: usize = 8;

/// How much of an agent's file is read: its front matter is at the top.
const MAX_FRONT_MATTER: u64 = 64 * 1024;

/// How much of an agent's file is taken as what it tells the agent.
const MAX_FILE: u64 = 1024 * 1024;

#[derive(Default, Deserialize)]
#[serde(default)]
struct FrontMatter {
    name: Option<String>,
    description: Option<String>,
    recommended_model: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// Where it is, from the repository's root.
    pub path: String,
    pub name: Option<String>,
    pub description: Option<String>,
    /// `recommended_model` of its front matter, as written (B-20).
    pub recommended_model: Option<String>,
    /// What it tells the agent: all but the front matter.
    pub instructions: String,
}

impl Definition {
    /// What the agent is called: its name, else that of its file.
    pub fn called(&self) -> &str {
        let stem = || Utf8Path::new(&self.path).file_stem().unwrap_or_default();
        self.name.as_deref().unwrap_or_else(stem)
    }
}

/// The file of an agent below a root; nothing when there is none (B-16: a path without `.md` may leave it out).
pub fn definition(root: &Utf8Path, agent: &AgentPath) -> Option<Definition> {
    let path = [agent.clone(), agent.with_md()]
        .into_iter()
        .map(|path| path.as_str().to_owned())
        .find(|path| root.join(path).is_file())?;
    let text = read_start(&root.join(&path), MAX_FILE);
    Some(read_definition(path, &text))
}

fn read_definition(path: String, text: &str) -> Definition {
    let (front, instructions) = split(text);
    let front = front.unwrap_or_default();
    let filled = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    Definition {
        path,
        name: filled(front.name),
        description: filled(front.description),
        recommended_model: front.recommended_model,
        instructions: instructions.to_owned(),
    }
}

pub fn called(root: &Utf8Path, name: &str) -> Vec<String> {
    let paths = paths(root).unwrap_or_default();
    let is_called = |path: &String| {
        let found = AgentPath::parse(path).ok();
        let found = found.and_then(|path| definition(root, &path));
        found.is_some_and(|found| found.called() == name)
    };
    paths.into_iter().filter(is_called).collect()
}

/// The agent files below a root, by their path from it; empty without a directory for them.
pub fn agent_files(root: &Utf8Path) -> Option<BTreeMap<String, AgentFile>> {
    let files = paths(root)?.into_iter().map(|path| {
        let file = read_agent(&root.join(&path));
        (path, file)
    });
    Some(files.collect())
}

/// The sorted paths of the agent files below a root; empty without a directory for them.
fn paths(root: &Utf8Path) -> Option<BTreeSet<String>> {
    let directory = root.join(DIRECTORY);
    if !directory.is_dir() {
        return None;
    }
    let mut paths = BTreeSet::new();
    let mut pending: Vec<(Utf8PathBuf, usize)> = vec![(directory, 0)];
    while let Some((directory, depth)) = pending.pop() {
        let Ok(entries) = directory.read_dir_utf8() else {
            continue;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            // A link to a file is an agent; a link to a folder could lead in a circle.
            if path.is_dir() && !is_link && depth < MAX_DEPTH {
                pending.push((path.to_owned(), depth + 1));
            } else if path.extension() == Some("md")
                && path.is_file()
                && let Ok(name) = path.strip_prefix(root)
            {
                paths.insert(repo::slashed(name));
            }
        }
    }
    Some(paths)
}

fn read_agent(path: &Utf8Path) -> AgentFile {
    let text = read_start(path, MAX_FRONT_MATTER);
    AgentFile {
        recommended_model: split(&text).0.and_then(|front| front.recommended_model),
    }
}

/// The beginning of a file. One that cannot be read says nothing; that it is there is all that counts.
fn read_start(path: &Utf8Path, max: u64) -> String {
    let mut text = Vec::new();
    drop(fs::File::open(path).and_then(|file| file.take(max).read_to_end(&mut text)));
    String::from_utf8_lossy(&text).into_owned()
}

fn split(text: &str) -> (Option<FrontMatter>, &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some((first, rest)) = text.split_once('\n') else {
        return (None, text);
    };
    if first.trim_end() != "---" {
        return (None, text);
    }
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let front = serde_saphyr::from_str(&rest[..end]).ok();
            return (front, &rest[end + line.len()..]);
        }
        end += line.len();
    }
    (None, text)
}

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("agent_files/instructions/", $name, ".md")))),*]
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
/// there, in any folder, may be the user's and is left alone: two agents of one name would be confused.
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
    use beads_ralph_core::bead::{Model, QaResult, ScrumResult};
    use beads_ralph_core::implement::ralf::Severity;
    use beads_ralph_core::implement::report::{EvidenceGate, Read, ReportStatus, gate, read};
    use beads_ralph_core::implement::{AUDITED, Agent, Mode, Stage, worker_for};
    use serde_json::Value;

    use super::*;

    #[test]
    fn b_20_a_recommended_model_is_read_from_front_matter() {
        let read = |text| split(text).0.and_then(|front| front.recommended_model);
        assert_eq!(
            read("---\nname: x\nrecommended_model: opus\n---\nbody").as_deref(),
            Some("opus")
        );
        assert_eq!(
            read("---\r\nrecommended_model: haiku\r\n---\r\n").as_deref(),
            Some("haiku")
        );
        assert_eq!(read("---\nname: x\n---\n"), None);
        assert_eq!(read("no front matter\n---\n"), None);
        assert_eq!(read("---\nnever: closed\n"), None);
        assert_eq!(read("---\n[: broken\n---\n"), None);
    }

    #[test]
    fn b_17_files_are_found_in_folders_too() {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(directory.path().to_owned()).unwrap();
        assert_eq!(agent_files(&root), None);
        fs::create_dir_all(root.join(".claude/agents/team")).unwrap();
        crate::os::files::write_atomic(&root.join(".claude/agents/team/dev.md"), b"").unwrap();
        let files = agent_files(&root).unwrap();
        assert_eq!(
            files.keys().collect::<Vec<_>>(),
            [".claude/agents/team/dev.md"]
        );
    }

    #[test]
    fn l_3_an_agent_is_called_by_its_front_matter_or_its_file() {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(directory.path().to_owned()).unwrap();
        fs::create_dir_all(root.join(".claude/agents")).unwrap();
        let write = |name: &str, text: &str| {
            crate::os::files::write_atomic(
                &root.join(".claude/agents").join(name),
                text.as_bytes(),
            )
            .unwrap();
        };
        write(
            "a.md",
            "---\nname: dev\ndescription: works\nrecommended_model: opus\n---\nYou work.\n",
        );
        write("b.md", "Just words.\n");
        let find = |path: &str| definition(&root, &AgentPath::parse(path).unwrap());
        let dev = find(".claude/agents/a.md").unwrap();
        assert_eq!(
            (dev.called(), dev.description.as_deref()),
            ("dev", Some("works"))
        );
        assert_eq!(
            (dev.recommended_model.as_deref(), dev.instructions.as_str()),
            (Some("opus"), "You work.\n")
        );
        assert_eq!(
            find(".claude/agents/a"),
            Some(dev),
            "generation 1 leaves the ending out"
        );
        let plain = find(".claude/agents/b.md").unwrap();
        assert_eq!((plain.called(), plain.name.as_deref()), ("b", None));
        assert_eq!(plain.instructions, "Just words.\n");
        assert_eq!(find(".claude/agents/c.md"), None);
        assert_eq!(find("claude"), None);
    }

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
            (ReportStatus::Complete, EvidenceGate::Fail)
        );
        let tests = red.evidence.tests.unwrap();
        assert!(tests.counts.failing.unwrap() > 0);
        let green = report("tdd-green-team");
        assert_eq!(
            (green.status, gate(&green.evidence)),
            (ReportStatus::Complete, EvidenceGate::Pass)
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
        assert_eq!(gate(&docs.evidence), EvidenceGate::NotApplicable);
        assert!(docs.commits.contains(&edits.commit.unwrap()));
        assert!(!edits.summary.is_empty() && edits.skipped.len() == 1);
        assert!(report("pr-comment-fixer-team").comment_fix.is_some());
        assert_eq!(report("general-purpose").status, ReportStatus::NeedsHuman);
    }

    #[test]
    fn i_23_nobody_is_told_of_beads_or_starts_others() {
        for name in WORKERS.iter().chain(&REVIEWERS) {
            let text = instructions(name);
            for rule in ["Never run `bd`", "Do not start other agents."] {
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

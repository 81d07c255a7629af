//! The agent files of a repository: `.claude/agents/**/*.md`, what their front matter says, and what they tell the agent; and those
//! that come with the program.

mod built_in;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;

use beads_ralph_core::bead::AgentPath;
use beads_ralph_core::compile::AgentFile;
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

pub use built_in::{BUILT_IN, built_in, write_built_in};

use crate::repo;

/// Where agents live, from the repository's root.
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

/// The agent files below a root, by their path from it; nothing when there is no directory for them.
pub fn agent_files(root: &Utf8Path) -> Option<BTreeMap<String, AgentFile>> {
    let files = paths(root)?.into_iter().map(|path| {
        let file = read_agent(&root.join(&path));
        (path, file)
    });
    Some(files.collect())
}

/// The paths of the agent files below a root, in order; nothing when there is no directory for them.
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

#[cfg(test)]
mod tests {
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
}

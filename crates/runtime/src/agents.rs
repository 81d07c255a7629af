//! The agent files of a repository: `.claude/agents/**/*.md` and what their front matter recommends.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;

use beads_ralph_core::compile::AgentFile;
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;

use crate::repo;

/// Where agents live, from the repository's root.
const DIRECTORY: &str = ".claude/agents";

/// How deep folders may be nested; deeper ones are more likely a mistake than an agent.
const MAX_DEPTH: usize = 8;

/// How much of an agent's file is read: its front matter is at the top.
const MAX_FRONT_MATTER: u64 = 64 * 1024;

#[derive(Deserialize)]
struct FrontMatter {
    recommended_model: Option<String>,
}

/// The agent files below a root, by their path from it; nothing when there is no directory for them.
pub fn agent_files(root: &Utf8Path) -> Option<BTreeMap<String, AgentFile>> {
    let directory = root.join(DIRECTORY);
    if !directory.is_dir() {
        return None;
    }
    let mut files = BTreeMap::new();
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
                files.insert(repo::slashed(name), read_agent(path));
            }
        }
    }
    Some(files)
}

fn read_agent(path: &Utf8Path) -> AgentFile {
    let mut text = Vec::new();
    // An agent that cannot be read has no recommendation; that it is there is all that counts.
    drop(fs::File::open(path).and_then(|file| file.take(MAX_FRONT_MATTER).read_to_end(&mut text)));
    let text = String::from_utf8_lossy(&text);
    AgentFile {
        recommended_model: front_matter(&text).and_then(|front| front.recommended_model),
    }
}

fn front_matter(text: &str) -> Option<FrontMatter> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return serde_saphyr::from_str(&rest[..end]).ok();
        }
        end += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b_20_a_recommended_model_is_read_from_front_matter() {
        let read = |text| front_matter(text).and_then(|front| front.recommended_model);
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
        crate::files::write_atomic(&root.join(".claude/agents/team/dev.md"), b"").unwrap();
        let files = agent_files(&root).unwrap();
        assert_eq!(
            files.keys().collect::<Vec<_>>(),
            [".claude/agents/team/dev.md"]
        );
    }
}

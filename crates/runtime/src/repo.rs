//! Where the repository is, and how paths are named in beads and to people.

use beads_ralph_core::text::visible;
use camino::{Utf8Path, Utf8PathBuf};

/// A repository's root: the nearest directory, from a path upwards, that holds `.git`. A linked worktree
/// and a submodule have `.git` as a file, which counts as well.
pub fn root_of(path: &Utf8Path) -> Option<Utf8PathBuf> {
    let absolute = path.canonicalize_utf8().ok()?;
    absolute
        .ancestors()
        .find(|directory| directory.join(".git").exists())
        .map(Utf8Path::to_owned)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Home {
    /// The root of the main worktree; for a submodule that of the repository that holds it.
    Worktree(Utf8PathBuf),
    /// The git directory, where no main worktree can be found from it, as with a bare repository.
    GitDirectory(Utf8PathBuf),
}

impl Home {
    pub fn path(&self) -> &Utf8Path {
        match self {
            Self::Worktree(path) | Self::GitDirectory(path) => path,
        }
    }
}

/// The home of the repository that a path is in (Z-26). What git wrote into its files is followed, without asking
/// git; a dangling link makes a separate repository.
pub fn home_of(path: &Utf8Path) -> Option<Home> {
    let absolute = path.canonicalize_utf8().ok()?;
    absolute.ancestors().find_map(|directory| {
        let link = directory.join(".git");
        if link.is_dir() {
            Some(Home::Worktree(directory.to_owned()))
        } else if link.exists() {
            let home = named_in(&link, "gitdir:").and_then(|git| home_of_git(&git));
            Some(home.unwrap_or_else(|| Home::Worktree(directory.to_owned())))
        } else if is_git_directory(directory) {
            home_of_git(directory)
        } else {
            None
        }
    })
}

/// The root of the main worktree ([`home_of`]), or where there is none that of the worktree that a path is in.
pub fn main_root_of(path: &Utf8Path) -> Option<Utf8PathBuf> {
    match home_of(path)? {
        Home::Worktree(root) => Some(root),
        Home::GitDirectory(git) => root_of(path).or(Some(git)),
    }
}

/// A submodule of a linked worktree of a submodule takes a few steps; files that lead in a circle are not followed
/// for ever.
const MAX_STEPS: usize = 8;

fn home_of_git(git: &Utf8Path) -> Option<Home> {
    let mut git = git.to_owned();
    for _ in 0..MAX_STEPS {
        match git.ancestors().find_map(common_of) {
            Some(common) => git = common,
            None => break,
        }
    }
    let main = git
        .ancestors()
        .find(|above| above.file_name() == Some(".git"));
    if let Some(root) = main.and_then(Utf8Path::parent) {
        return Some(Home::Worktree(root.to_owned()));
    }
    // The git directory of a submodule lies in that of the repository that holds it.
    let outermost = git
        .ancestors()
        .filter(|above| is_git_directory(above))
        .last();
    outermost.map(|git| Home::GitDirectory(git.to_owned()))
}

/// The git directory that one of a linked worktree belongs to.
fn common_of(git: &Utf8Path) -> Option<Utf8PathBuf> {
    let is_one = git.join("HEAD").is_file();
    is_one.then(|| named_in(&git.join("commondir"), ""))?
}

fn is_git_directory(path: &Utf8Path) -> bool {
    path.join("HEAD").is_file() && path.join("objects").is_dir() && path.join("refs").is_dir()
}

/// The directory that a file names after a word, from where the file lies.
fn named_in(file: &Utf8Path, word: &str) -> Option<Utf8PathBuf> {
    let text = std::fs::read_to_string(file).ok()?;
    let named = text.trim().strip_prefix(word)?.trim();
    file.parent()?.join(named).canonicalize_utf8().ok()
}

/// The path of a plan as it goes into beads (contracts §3.2): relative to the repository's root when it
/// lies inside, else as given; with `/` between its parts.
pub fn plan_file(plan: &Utf8Path, root: Option<&Utf8Path>) -> String {
    let inside = root.and_then(|root| {
        let absolute = plan.canonicalize_utf8().ok()?;
        absolute.strip_prefix(root).ok().map(Utf8Path::to_owned)
    });
    slashed(&inside.unwrap_or_else(|| plan.to_owned()))
}

/// A path with `/` between its parts on every system.
pub fn slashed(path: &Utf8Path) -> String {
    if cfg!(windows) {
        path.as_str().replace('\\', "/")
    } else {
        path.to_string()
    }
}

/// A path as it may be shown to people: what steers a terminal or changes the direction of the text is
/// escaped; nothing is cut, because half a path is of no use.
pub fn shown(path: &Utf8Path) -> String {
    visible(path.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shown_path_is_whole_and_harmless() {
        let long = format!("{}/plan é.md", "x".repeat(200));
        assert_eq!(shown(Utf8Path::new(&long)), long);
        assert_eq!(
            shown(Utf8Path::new("a\n\u{1b}[31m\u{202e}b")),
            "a\\n\\u{1b}[31m\\u{202e}b"
        );
    }

    #[test]
    fn a_plan_inside_the_repository_is_named_from_its_root() {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(directory.path().canonicalize().unwrap()).unwrap();
        std::fs::create_dir_all(root.join("pm")).unwrap();
        std::fs::create_dir(root.join(".git")).unwrap();
        crate::os::files::write_atomic(&root.join("pm/plan.md"), b"").unwrap();
        let plan = root.join("pm/../pm/plan.md");
        assert_eq!(root_of(&plan).as_deref(), Some(root.as_path()));
        assert_eq!(plan_file(&plan, Some(&root)), "pm/plan.md");
        assert_eq!(
            plan_file(Utf8Path::new("absent.md"), Some(&root)),
            "absent.md"
        );
        assert_eq!(plan_file(Utf8Path::new("absent.md"), None), "absent.md");
    }
}

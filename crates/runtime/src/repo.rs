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

/// The root of the main worktree: for a linked worktree the one that it was made from, for a submodule the
/// repository that holds it (Z-26). What git wrote into the `.git` file is followed, without asking git.
pub fn main_root_of(path: &Utf8Path) -> Option<Utf8PathBuf> {
    let root = root_of(path)?;
    let link = root.join(".git");
    if link.is_dir() {
        return Some(root);
    }
    let text = std::fs::read_to_string(&link).ok()?;
    let git_dir = root.join(text.trim().strip_prefix("gitdir:")?.trim());
    let git_dir = git_dir.canonicalize_utf8().ok()?;
    let above = git_dir
        .ancestors()
        .skip(1)
        .find(|directory| directory.file_name() == Some(".git"))
        .and_then(Utf8Path::parent);
    match above {
        // A submodule of a submodule leads to the outermost repository, step by step.
        Some(above) => main_root_of(above).or_else(|| Some(above.to_owned())),
        None => Some(root),
    }
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
            "a\\u{a}\\u{1b}[31m\\u{202e}b"
        );
    }

    #[test]
    fn a_plan_inside_the_repository_is_named_from_its_root() {
        let directory = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(directory.path().canonicalize().unwrap()).unwrap();
        std::fs::create_dir_all(root.join("pm")).unwrap();
        std::fs::create_dir(root.join(".git")).unwrap();
        crate::files::write_atomic(&root.join("pm/plan.md"), b"").unwrap();
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

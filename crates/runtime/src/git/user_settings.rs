//! The user's git settings, written down so that git can read them from another place, and the identity that commits are made with.

use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use beads_ralph_core::engine::Trouble;
use camino::{Utf8Path, Utf8PathBuf};

use super::Git;
use super::call::{Call, Caller};
use crate::os::env::{self, Variable};
use crate::os::process::Units;

pub(super) const GLOBAL: &str = "global";
pub(super) const EXCLUDES: &str = "excludes";
pub(super) const ATTRIBUTES: &str = "attributes";

/// What of a repository's config is not taken: where its files are is ours to say, and includes are resolved.
const LEFT_OUT: [&str; 5] = [
    "core.worktree",
    "core.excludesfile",
    "core.attributesfile",
    "extensions.worktreeconfig",
    "include.path",
];

#[derive(Debug)]
pub(super) struct Setup {
    /// Whether hooks are somewhere else than in the repository.
    pub has_hooks_elsewhere: bool,
    /// The files of a view, by their names there.
    pub files: Vec<(&'static str, Vec<u8>)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    scope: String,
    key: String,
    /// Nothing where only the name stands there, which means true.
    value: Option<String>,
}

impl Setup {
    pub(super) fn of(units: &Units, root: &Utf8Path, common: &Utf8Path) -> Result<Self, Trouble> {
        let arguments = ["config", "--list", "-z", "--show-scope", "--includes"];
        let call = Call::new(root, &arguments).for_run();
        let answer = Caller::new(units).ask(&call)?;
        let settings = read(&String::from_utf8_lossy(&answer));
        let last = |key: &str| {
            let mut named = settings.iter().rev().filter(|it| it.key == key);
            named.next().and_then(|it| it.value.clone())
        };
        let own = |key: &str, default: &str| {
            let named = last(key).map(|path| expanded(&path, root));
            let path = named.or_else(|| Some(config_home()?.join(default)));
            path.and_then(|path| fs::read(path).ok())
                .unwrap_or_default()
        };
        let info = |name: &str| fs::read(common.join("info").join(name)).unwrap_or_default();
        Ok(Self {
            has_hooks_elsewhere: last("core.hookspath").is_some(),
            files: vec![
                ("config", local(&settings, common).into_bytes()),
                (GLOBAL, global(&settings).into_bytes()),
                (EXCLUDES, own("core.excludesfile", "git/ignore")),
                (ATTRIBUTES, own("core.attributesfile", "git/attributes")),
                ("info/exclude", info("exclude")),
                ("info/attributes", info("attributes")),
            ],
        })
    }
}

/// Whether the settings in a view say that only parts are checked out.
pub(super) fn is_sparse(home: &Utf8Path) -> bool {
    let text = [GLOBAL, "config"].map(|name| fs::read_to_string(home.join(name)));
    let text: String = text.into_iter().flatten().collect();
    let mut named = text.lines().rev();
    let last = named.find_map(|line| line.trim().strip_prefix("sparsecheckout"));
    last.is_some_and(|value| {
        let value = value.trim_matches([' ', '=', '"']).to_lowercase();
        matches!(value.as_str(), "" | "true" | "yes" | "on" | "1")
    })
}

fn config_home() -> Option<Utf8PathBuf> {
    let home = env::get(Variable::ConfigHome).map(Utf8PathBuf::from);
    home.or_else(|| Some(Utf8PathBuf::from(env::get(Variable::Home)?).join(".config")))
}

fn expanded(path: &str, root: &Utf8Path) -> Utf8PathBuf {
    match (path.strip_prefix("~/"), env::get(Variable::Home)) {
        (Some(rest), Some(home)) => Utf8PathBuf::from(home).join(rest),
        _ => root.join(path),
    }
}

/// What `git config --list -z --show-scope` says, without what this call itself was told.
fn read(answer: &str) -> Vec<Setting> {
    let mut parts = answer.split('\0');
    let mut settings = Vec::new();
    while let (Some(scope), Some(line)) = (parts.next(), parts.next()) {
        let (key, value) = match line.split_once('\n') {
            Some((key, value)) => (key, Some(value.to_owned())),
            None => (line, None),
        };
        settings.push(Setting {
            scope: scope.to_owned(),
            key: key.to_owned(),
            value,
        });
    }
    settings.retain(|it| it.scope != "command");
    settings
}

/// The repository's own config, those of its worktrees with it, and where the copies of ignore rules and attributes are.
fn local(settings: &[Setting], common: &Utf8Path) -> String {
    let is_local = |it: &&Setting| matches!(it.scope.as_str(), "local" | "worktree");
    let is_taken = |it: &&Setting| {
        let is_conditional = it.key.starts_with("includeif.");
        !is_conditional && !LEFT_OUT.contains(&it.key.as_str())
    };
    let mut text: String = (settings.iter().filter(is_local).filter(is_taken))
        .map(written)
        .collect();
    let view = common.join(super::view::HOME).join("view");
    let mut set = |key: &str, path: &Utf8Path| {
        text.push_str(&written(&Setting {
            scope: String::new(),
            key: key.to_owned(),
            value: Some(path.to_string()),
        }));
    };
    set("core.excludesfile", &view.join(EXCLUDES));
    set("core.attributesfile", &view.join(ATTRIBUTES));
    // Git LFS keeps what it stores in the git directory, which for it is the view.
    if settings.iter().any(|it| it.key.starts_with("filter.lfs.")) {
        let named = settings.iter().rev().find(|it| it.key == "lfs.storage");
        let named = named.and_then(|it| it.value.as_deref()).unwrap_or("lfs");
        set("lfs.storage", &common.join(named));
    }
    text
}

/// The user's settings for all repositories.
fn global(settings: &[Setting]) -> String {
    let is_global = |it: &&Setting| it.scope == "global";
    let is_resolved = |it: &&Setting| it.key != "include.path" && !it.key.starts_with("includeif.");
    (settings.iter().filter(is_global).filter(is_resolved))
        .map(written)
        .collect()
}

/// A setting as it stands in a config, with its section above it.
fn written(setting: &Setting) -> String {
    let key = &setting.key;
    let (section, rest) = key.split_once('.').unwrap_or((key, ""));
    let (sub, name) = match rest.rsplit_once('.') {
        Some((sub, name)) => (Some(sub), name),
        None => (None, rest),
    };
    let mut text = format!("[{section}");
    if let Some(sub) = sub {
        let sub = sub.replace('\\', "\\\\").replace('"', "\\\"");
        _ = write!(text, " \"{sub}\"");
    }
    _ = write!(text, "]\n\t{name}");
    if let Some(value) = &setting.value {
        _ = write!(text, " = \"{}\"", escaped(value));
    }
    text.push('\n');
    text
}

fn escaped(value: &str) -> String {
    let escape = |character: char| match character {
        '\\' => "\\\\".to_owned(),
        '"' => "\\\"".to_owned(),
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        '\u{8}' => "\\b".to_owned(),
        other => other.to_string(),
    };
    value.chars().map(escape).collect()
}

/// How long git may take to say who the user is.
const ASKING_LIMIT: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// The user's, as git has it: `Name <address>`.
    User(String),
    /// Git knows nobody, so ours is used: [`Identity::OWN_NAME`] and [`Identity::OWN_ADDRESS`].
    Own,
}

impl Identity {
    /// The name under which we commit where git knows none.
    pub const OWN_NAME: &str = "beads-ralph";

    pub const OWN_ADDRESS: &str = "beads-ralph@localhost";

    pub(super) fn options(&self) -> &'static [&'static str] {
        match self {
            Self::User(_) => &[],
            Self::Own => &[
                "-c",
                "user.name=beads-ralph",
                "-c",
                "user.email=beads-ralph@localhost",
            ],
        }
    }
}

impl Git {
    pub fn identity(&self) -> &Identity {
        self.identity.get_or_init(|| {
            let of = |variable: &str| {
                let said = self.caller.act(&Call::new(&self.root, &["var", variable]));
                // The time follows the address.
                let line = said.ok()?.line();
                line.rsplit_once('>')
                    .map(|(person, _)| format!("{person}>"))
            };
            match (of("GIT_AUTHOR_IDENT"), of("GIT_COMMITTER_IDENT")) {
                (Some(author), Some(_)) => Identity::User(author),
                _ => Identity::Own,
            }
        })
    }
}

/// The branch that is checked out in a directory; nothing where there is none, or no repository.
pub fn branch_of(units: Arc<Units>, directory: &Utf8Path) -> Option<String> {
    let arguments = ["symbolic-ref", "--short", "HEAD"];
    let call = Call {
        limit: ASKING_LIMIT,
        ..Call::new(directory, &arguments)
    };
    let branch = Caller::new(units).act(&call).ok()?.line();
    (!branch.is_empty()).then_some(branch)
}

/// Who the user is by git's settings in a directory, which need not be a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Person {
    pub name: Option<String>,
    pub email: Option<String>,
}

impl Person {
    /// Asks git; whoever it does not know, or cannot be asked about, is nobody.
    pub fn of(units: Arc<Units>, directory: &Utf8Path) -> Self {
        let arguments = ["config", "--get-regexp", r"^user\.(name|email)$"];
        let call = Call {
            limit: ASKING_LIMIT,
            ..Call::new(directory, &arguments)
        };
        let Ok(said) = Caller::new(units).act(&call) else {
            return Self::default();
        };
        let answer = said.stdout.text();
        let value = |key: &str| {
            // The last setting counts.
            let lines = answer.lines().rev();
            let mut values = lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
            values
                .next()
                .filter(|value| !value.is_empty())
                .map(str::to_owned)
        };
        Self {
            name: value("user.name"),
            email: value("user.email"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_2_settings_are_written_as_git_reads_them() {
        let answer = "system\0core.a\nx\0local\0filter.x.y \"z\\.clean\nsed 's/\"a\"\\t/b/' # no\nmore\0local\0core.flag\0local\0core.worktree\n/user\0global\0user.name\nAnn\0";
        let settings = read(answer);
        assert_eq!(settings.len(), 5);
        let text = local(&settings, "/repo/.git".into());
        let expected = "[filter \"x.y \\\"z\\\\\"]\n\tclean = \"sed 's/\\\"a\\\"\\\\t/b/' # no\\nmore\"\n[core]\n\tflag\n[core]\n\texcludesfile = \"/repo/.git/beads-ralph/view/excludes\"\n";
        assert!(text.starts_with(expected), "{text}");
        assert!(!text.contains("/user"), "{text}");
        assert_eq!(global(&settings), "[user]\n\tname = \"Ann\"\n");
    }
}

//! The environment of a unit (Z-23).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use super::{Environment, Mark};
use crate::os::env;

impl Environment {
    /// What is kept from every unit unless it is added by name: what ties git to one repository, which a unit in a worktree
    /// must not be tied to, and what tells an agent that it runs inside another one.
    pub const TRAPS: &[&str] = &[
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_QUARANTINE_PATH",
        "GIT_REFLOG_ACTION",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
        "CLAUDECODE",
        "CLAUDE_CODE_*",
    ];

    /// What looks like a trap and is none: how the user signs in, where to, and within which bounds.
    const NO_TRAPS: &[&str] = &[
        "CLAUDE_CODE_API_KEY_*",
        "CLAUDE_CODE_CLIENT_*",
        "CLAUDE_CODE_DISABLE_*",
        "CLAUDE_CODE_MAX_*",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_SKIP_*",
        "CLAUDE_CODE_USE_*",
    ];

    /// What ends a name that stands for several.
    const ANY: char = '*';

    /// The whole environment of a unit, from the one that it would inherit.
    pub(super) fn resolve(
        &self,
        inherited: impl Iterator<Item = (OsString, OsString)>,
        mark: &Mark,
    ) -> Vec<(OsString, OsString)> {
        let mut resolved: BTreeMap<OsString, OsString> = inherited.collect();
        let mark = mark.inside(resolved.get(OsStr::new(Mark::VARIABLE)));
        resolved.retain(|name, _| !self.is_withheld(name));
        for (name, value) in &self.with {
            resolved.insert(name.into(), value.into());
        }
        resolved.insert(Mark::VARIABLE.into(), mark);
        resolved.into_iter().collect()
    }

    fn is_withheld(&self, name: &OsStr) -> bool {
        let is_trap = is_one_of(name, Self::TRAPS) && !is_one_of(name, Self::NO_TRAPS);
        is_trap || is_one_of(name, &self.without)
    }

    /// What we have ourselves of these names, to be [added](Self::with) although it looks like a trap, less what is withheld. In
    /// both, a name that ends in `*` stands for all that begin so.
    pub fn kept(names: &[String], withheld: &[String]) -> BTreeMap<String, String> {
        kept_of(env::inherited(), names, withheld)
    }
}

fn kept_of(
    inherited: impl Iterator<Item = (OsString, OsString)>,
    names: &[String],
    withheld: &[String],
) -> BTreeMap<String, String> {
    inherited
        .filter(|(name, _)| is_one_of(name, names) && !is_one_of(name, withheld))
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

fn is_one_of(name: &OsStr, patterns: &[impl AsRef<str>]) -> bool {
    let mut patterns = patterns.iter().map(AsRef::as_ref);
    patterns.any(|pattern| match pattern.strip_suffix(Environment::ANY) {
        Some(beginning) => name.as_bytes().starts_with(beginning.as_bytes()),
        None => name == pattern,
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;

    fn resolve(environment: &Environment, inherited: &[(&str, &str)]) -> Vec<(String, String)> {
        let inherited = inherited
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        let resolved = environment.resolve(inherited, &Mark("m".to_owned()));
        let text = |text: OsString| text.into_string().unwrap();
        resolved
            .into_iter()
            .map(|(name, value)| (text(name), text(value)))
            .collect()
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn z_23_traps_and_withheld_names_are_kept_from_a_unit() {
        let inherited = [
            ("GIT_DIR", "/elsewhere"),
            ("GIT_DIRECTORY", "stays"),
            ("GIT_AUTHOR_NAME", "stays"),
            ("CLAUDECODE", "1"),
            ("CLAUDE_CODE_ENTRYPOINT", "cli"),
            ("CLAUDE_CODE_OAUTH_TOKEN", "stays"),
            ("CLAUDE_CODE_USE_BEDROCK", "stays"),
            ("SECRET_KEY", "s"),
            ("TOKEN", "t"),
            ("TOKENS", "stays"),
        ];
        let environment = Environment {
            without: vec!["SECRET*".to_owned(), "TOKEN".to_owned()],
            with: BTreeMap::new(),
        };
        let expected = [
            pair("BEADS_RALPH_UNIT", "m"),
            pair("CLAUDE_CODE_OAUTH_TOKEN", "stays"),
            pair("CLAUDE_CODE_USE_BEDROCK", "stays"),
            pair("GIT_AUTHOR_NAME", "stays"),
            pair("GIT_DIRECTORY", "stays"),
            pair("TOKENS", "stays"),
        ];
        assert_eq!(resolve(&environment, &inherited), expected);
    }

    #[test]
    fn z_23_what_an_agent_keeps_is_what_is_named_and_not_withheld() {
        let inherited = ["CLAUDE_CODE_A", "CLAUDE_CODE_B", "CLAUDECODE", "GIT_DIR"];
        let inherited = inherited.map(|name| (name.into(), "v".into()));
        let names = |names: &[&str]| {
            names
                .iter()
                .map(|&name| name.to_owned())
                .collect::<Vec<_>>()
        };
        let kept = kept_of(
            inherited.into_iter(),
            &names(&["CLAUDE_CODE_*", "GIT_DIR"]),
            &names(&["*_B", "GIT_*", "CLAUDE_CODE_B"]),
        );
        assert_eq!(kept, BTreeMap::from([pair("CLAUDE_CODE_A", "v")]));
    }

    #[test]
    fn z_23_what_is_added_comes_last() {
        let environment = Environment {
            without: vec!["*".to_owned()],
            with: BTreeMap::from([pair("GIT_DIR", "wanted"), pair("A", "2")]),
        };
        let expected = [
            pair("A", "2"),
            pair("BEADS_RALPH_UNIT", "m"),
            pair("GIT_DIR", "wanted"),
        ];
        assert_eq!(resolve(&environment, &[("A", "1"), ("B", "1")]), expected);
    }

    #[test]
    fn z_19_a_unit_inside_a_unit_carries_both_marks() {
        let inherited = [("BEADS_RALPH_UNIT", "outer")];
        let resolved = resolve(&Environment::default(), &inherited);
        assert_eq!(resolved, [pair("BEADS_RALPH_UNIT", "outer m")]);
    }

    #[test]
    fn z_23_values_that_are_not_utf_8_survive() {
        let value = OsString::from_vec(vec![0xff, b'x', 0xfe]);
        let inherited = [(OsString::from("ODD"), value.clone())];
        let resolved = Environment::default().resolve(inherited.into_iter(), &Mark("m".to_owned()));
        assert!(resolved.contains(&("ODD".into(), value)));
    }
}

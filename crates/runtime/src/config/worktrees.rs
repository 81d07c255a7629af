//! Where beads are worked on, and what is there besides the repository's files (contracts §7.1, §7.6, Z-22).

use std::fmt;
use std::ops::RangeInclusive;

use beads_ralph_core::text::excerpt;
use camino::{Utf8Component, Utf8Path};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::document::{Branch, Text};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorktreeSettings {
    /// The repository's name in the paths of worktrees; without one, that of its directory.
    pub repo_name: Option<String>,
    pub source_branch: String,
    /// Whether the worktree of a closed bead is removed (L-22).
    pub cleanup_on_complete: bool,
    pub base: Base,
    /// A command line that makes a new worktree ready, run in it by the shell.
    pub setup: Option<String>,
    /// Files, or patterns of them, that are copied from the main checkout and never committed; relative to its root.
    pub copy: Vec<String>,
    pub ports: u16,
    /// Where they are taken from.
    pub port_range: RangeInclusive<u16>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Base {
    /// The source branch, with the verified work of what the bead waited for.
    #[default]
    Dependencies,
    Source,
}

impl Default for WorktreeSettings {
    fn default() -> Self {
        Self {
            repo_name: None,
            source_branch: "main".to_owned(),
            cleanup_on_complete: false,
            base: Base::Dependencies,
            setup: None,
            copy: Vec::new(),
            ports: 0,
            port_range: 41000..=41999,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct WorktreesKey {
    repo_name: RepoName,
    source_branch: Branch,
    cleanup_on_complete: Option<bool>,
    base: Option<Base>,
    setup: Text,
    copy: Vec<Copied>,
    ports: PortsKey,
}

impl WorktreesKey {
    /// What the flat layout can say.
    pub(super) fn flat(
        repo_name: RepoName,
        source_branch: Branch,
        cleanup_on_complete: Option<bool>,
    ) -> Self {
        Self {
            repo_name,
            source_branch,
            cleanup_on_complete,
            ..Self::default()
        }
    }

    /// The settings of a nested layout, with what only the flat one has.
    pub(super) fn settings(self, flat: Self) -> Result<WorktreeSettings, String> {
        let default = WorktreeSettings::default();
        let branch = self.source_branch.0.or(flat.source_branch.0);
        let is_removed = self.cleanup_on_complete.or(flat.cleanup_on_complete);
        let ports = self.ports.count.unwrap_or(default.ports);
        let port_range = self.ports.range.map_or(default.port_range, |range| range.0);
        let (first, last) = (*port_range.start(), *port_range.end());
        if u32::from(ports) > u32::from(last) - u32::from(first) + 1 {
            return Err(format!(
                "`worktrees.ports` asks for {ports} ports, but there are fewer from {first} to {last}"
            ));
        }
        Ok(WorktreeSettings {
            repo_name: self.repo_name.0.or(flat.repo_name.0),
            source_branch: branch.unwrap_or(default.source_branch),
            cleanup_on_complete: is_removed.unwrap_or(default.cleanup_on_complete),
            base: self.base.unwrap_or_default(),
            setup: self.setup.0,
            copy: self.copy.into_iter().map(|copied| copied.0).collect(),
            ports,
            port_range,
        })
    }
}

/// A name that can be part of a path, if there is one.
#[derive(Debug, Default)]
pub(super) struct RepoName(Option<String>);

impl<'de> Deserialize<'de> for RepoName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Text::deserialize(deserializer)?.0;
        let is_odd = |name: &&str| {
            matches!(*name, "." | "..") || name.contains(|c: char| c == '/' || c.is_control())
        };
        match name.as_deref().filter(is_odd) {
            None => Ok(Self(name)),
            Some(name) => Err(de::Error::custom(format!(
                "'{}' cannot be the name of a directory",
                excerpt(name)
            ))),
        }
    }
}

/// A file, or a pattern of files, below the root of the repository.
#[derive(Debug)]
struct Copied(String);

impl<'de> Deserialize<'de> for Copied {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let path = Utf8Path::new(&text);
        let is_inside = |part| matches!(part, Utf8Component::Normal(_) | Utf8Component::CurDir);
        let is_ours = |part| matches!(part, Utf8Component::Normal(".git" | ".beads"));
        if text.trim().is_empty()
            || !path.components().all(is_inside)
            || path.components().any(is_ours)
        {
            let text = excerpt(&text);
            return Err(de::Error::custom(format!(
                "'{text}' is not the path of a file inside the repository that can be copied"
            )));
        }
        Ok(Self(text))
    }
}

/// `ports`: how many, or a section that says also where from.
#[derive(Debug, Default)]
struct PortsKey {
    count: Option<u16>,
    range: Option<PortRange>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PortsSection {
    count: Option<PortCount>,
    range: Option<PortRange>,
}

impl<'de> Deserialize<'de> for PortsKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CountOrSection)
    }
}

struct CountOrSection;

impl<'de> Visitor<'de> for CountOrSection {
    type Value = PortsKey;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of ports, or a section with `count` and `range`")
    }

    fn visit_i64<E: de::Error>(self, count: i64) -> Result<Self::Value, E> {
        Ok(PortsKey {
            count: Some(port_count(count)?),
            range: None,
        })
    }

    fn visit_u64<E: de::Error>(self, count: u64) -> Result<Self::Value, E> {
        self.visit_i64(i64::try_from(count).unwrap_or(i64::MAX))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(PortsKey::default())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let section = PortsSection::deserialize(MapAccessDeserializer::new(map))?;
        Ok(PortsKey {
            count: section.count.map(|count| count.0),
            range: section.range,
        })
    }
}

fn port_count<E: de::Error>(count: i64) -> Result<u16, E> {
    let fits = u16::try_from(count);
    fits.map_err(|_| E::custom(format!("{count} is not a valid number of ports")))
}

#[derive(Debug)]
struct PortCount(u16);

impl<'de> Deserialize<'de> for PortCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        i64::deserialize(deserializer)
            .and_then(port_count)
            .map(PortCount)
    }
}

/// `41000-41999`.
#[derive(Debug)]
struct PortRange(RangeInclusive<u16>);

impl<'de> Deserialize<'de> for PortRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let range = text.split_once('-').and_then(|(first, last)| {
            let first: u16 = first.trim().parse().ok().filter(|first| *first > 0)?;
            let last: u16 = last.trim().parse().ok()?;
            (first <= last).then_some(first..=last)
        });
        range.map(Self).ok_or_else(|| {
            let text = excerpt(&text);
            de::Error::custom(format!("invalid range '{text}': write it as 41000-41999"))
        })
    }
}

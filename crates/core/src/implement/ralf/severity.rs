//! How bad the findings of a review are.

use serde::Serialize;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It stops all further work.
    Blocking,
    /// It must be fixed before use.
    Critical,
    /// It should be fixed.
    Major,
    /// Everything else.
    Minor,
}

impl Severity {
    /// The word in records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Blocking => "blocking",
            Self::Critical => "critical",
            Self::Major => "major",
            Self::Minor => "minor",
        }
    }

    /// Reads a word; `nit` is minor, and case does not matter.
    pub fn parse(text: &str) -> Option<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "blocking" => Some(Self::Blocking),
            "critical" => Some(Self::Critical),
            "major" => Some(Self::Major),
            "minor" | "nit" => Some(Self::Minor),
            _ => None,
        }
    }
}

/// How many findings of each kind there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Blocking ones.
    pub blocking: u32,
    /// Critical ones.
    pub critical: u32,
    /// Major ones.
    pub major: u32,
    /// Minor ones.
    pub minor: u32,
}

impl Counts {
    /// Counts findings.
    pub fn of(severities: impl IntoIterator<Item = Severity>) -> Self {
        let mut counts = Self::default();
        for severity in severities {
            let count = match severity {
                Severity::Blocking => &mut counts.blocking,
                Severity::Critical => &mut counts.critical,
                Severity::Major => &mut counts.major,
                Severity::Minor => &mut counts.minor,
            };
            *count = count.saturating_add(1);
        }
        counts
    }

    /// Whether something must be mended.
    pub fn rejects(&self) -> bool {
        self.blocking > 0 || self.critical > 0
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            blocking: self.blocking.saturating_add(other.blocking),
            critical: self.critical.saturating_add(other.critical),
            major: self.major.saturating_add(other.major),
            minor: self.minor.saturating_add(other.minor),
        }
    }

    /// As notes have it.
    pub fn to_note(&self) -> String {
        format!(
            "blocking:{},critical:{},major:{},minor:{}",
            self.blocking, self.critical, self.major, self.minor
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_5_a_nit_is_minor() {
        let words = ["blocking", "Critical", "major", "minor", "nit", "odd"];
        let counts = Counts::of(words.iter().filter_map(|word| Severity::parse(word)));
        assert_eq!(counts.to_note(), "blocking:1,critical:1,major:1,minor:2");
    }
}

//! What a reviewer answers: findings, each with its severity.

use serde::Serialize;
use serde_json::{Value, json};

crate::text::word_enum! {
    /// How bad a finding is.
    #[derive(PartialOrd, Ord)]
    pub enum Severity {
        /// It stops all further work.
        Blocking = "blocking",
        /// It must be fixed before use.
        Critical = "critical",
        /// It should be fixed.
        Major = "major",
        /// Everything else.
        Minor = "minor",
    }
}

impl Severity {
    /// Reads a reviewer's word; `nit` is minor, and case does not matter.
    pub fn read(text: &str) -> Option<Self> {
        match text.trim().to_ascii_lowercase().as_str() {
            "nit" => Some(Self::Minor),
            word => Self::parse(word),
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

/// The most findings of one review that are kept; a reviewer that finds more has found enough.
const MAX_FINDINGS: usize = 200;

/// Something that a reviewer found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// In a line.
    pub title: String,
    /// In full.
    pub detail: String,
    /// Where, if it is somewhere.
    pub file: Option<String>,
}

/// What a reviewer said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// What it found, the worst first.
    pub list: Vec<Finding>,
    /// What it says about the whole.
    pub summary: String,
}

impl Findings {
    /// How many there are of each kind.
    pub fn counts(&self) -> Counts {
        Counts::of(self.list.iter().map(|finding| finding.severity))
    }

    /// Reads an answer; nothing when it is no review. A severity that nobody knows makes it none, because it might have been the worst.
    pub fn read(answer: &Value) -> Option<Self> {
        let items = answer.get("findings")?.as_array()?;
        let mut list =
            (items.iter().take(MAX_FINDINGS).map(finding)).collect::<Option<Vec<_>>>()?;
        list.sort_by_key(|finding| finding.severity);
        let summary = answer.get("summary").and_then(Value::as_str);
        Some(Self {
            list,
            summary: summary.unwrap_or_default().to_owned(),
        })
    }

    /// The JSON Schema of an answer.
    pub fn schema() -> Value {
        let text = || json!({"type": "string"});
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["findings", "summary"],
            "properties": {
                "summary": text(),
                "findings": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "additionalProperties": false,
                        "required": ["severity", "title", "detail", "file"],
                        "properties": {
                            "severity": {"type": "string", "enum": ["blocking", "critical", "major", "minor"]},
                            "title": text(),
                            "detail": text(),
                            "file": text(),
                        },
                    },
                },
            },
        })
    }
}

fn finding(item: &Value) -> Option<Finding> {
    let text = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
    Some(Finding {
        severity: Severity::read(text("severity"))?,
        title: text("title").to_owned(),
        detail: text("detail").to_owned(),
        file: Some(text("file").to_owned()).filter(|file| !file.is_empty()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_5_a_nit_is_minor() {
        let words = ["blocking", "Critical", "major", "minor", "nit", "odd"];
        let counts = Counts::of(words.iter().filter_map(|word| Severity::read(word)));
        assert_eq!(counts.to_note(), "blocking:1,critical:1,major:1,minor:2");
    }
}

#[cfg(test)]
mod findings_tests {
    use super::*;

    #[test]
    fn r_5_findings_are_counted_by_severity_and_a_word_that_nobody_knows_is_no_review() {
        let read = |severity: &str| {
            Findings::read(
                &json!({"findings": [{"severity": "nit", "title": "a"}, {"severity": severity, "title": "b"}]}),
            )
        };
        let review = read("Critical").unwrap();
        assert_eq!(review.list[0].title, "b", "the worst first");
        assert_eq!(
            review.counts().to_note(),
            "blocking:0,critical:1,major:0,minor:1"
        );
        assert_eq!(read("terrible"), None);
        assert_eq!(Findings::read(&json!({"summary": "fine"})), None);
        assert_eq!(Findings::read(&json!([])), None);
        let clean = Findings::read(&json!({"findings": [], "summary": "fine"})).unwrap();
        assert_eq!(clean.counts(), Counts::default());
    }
}

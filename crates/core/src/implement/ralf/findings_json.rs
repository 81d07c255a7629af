//! The JSON of a reviewer's answer: its schema, and how it is read.

use serde_json::{Value, json};

use super::{Counts, Finding, Findings, Severity};

/// The most findings of one review that are kept; a reviewer that finds more has found enough.
const MAX_FINDINGS: usize = 200;

impl Findings {
    /// How many there are of each kind.
    pub fn counts(&self) -> Counts {
        Counts::of(self.list.iter().map(|finding| finding.severity))
    }

    /// Reads an answer; `None` if it is not a review. An unknown severity makes the whole answer unusable, because it might be the worst.
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

//! What of a report is kept in beads: texts that every store takes, and not more of them than somebody reads.

use super::model::{Discovered, Escalation, Report};

/// The most items of discovered work, and the most escalations.
const MAX_ITEMS: usize = 50;

/// The longest title of a bead; stores refuse longer ones.
const MAX_TITLE: usize = 300;

/// The longest text that goes into the notes of a bead; all of it is in the report.
const MAX_DETAIL: usize = 8 * 1024;

impl Report {
    /// The same within bounds. What was left out is said.
    pub(super) fn bounded(mut self) -> (Self, Vec<String>) {
        let mut left_out = Vec::new();
        if self.discovered.len() > MAX_ITEMS {
            let n = self.discovered.len();
            left_out.push(format!(
                "`discovered_work` has {n} items; only the first {MAX_ITEMS} become beads"
            ));
            self.discovered.truncate(MAX_ITEMS);
        }
        if self.escalations.len() > MAX_ITEMS {
            let n = self.escalations.len();
            left_out.push(format!(
                "only the first {MAX_ITEMS} of {n} escalations are kept"
            ));
            self.escalations.truncate(MAX_ITEMS);
        }
        for item in &mut self.discovered {
            item.bound();
        }
        for Escalation { reason, detail } in &mut self.escalations {
            *reason = shortened(&plain(reason), MAX_TITLE);
            *detail = shortened(&plain(detail), MAX_DETAIL);
        }
        (self, left_out)
    }
}

impl Discovered {
    /// A title is one line that every store takes; what does not fit stands in the detail.
    fn bound(&mut self) {
        let title = plain(&self.title).replace(['\n', '\t'], " ");
        let detail = plain(&self.detail);
        self.title = shortened(title.trim(), MAX_TITLE);
        self.detail = if self.title == title.trim() {
            shortened(&detail, MAX_DETAIL)
        } else {
            shortened(&format!("{title}\n\n{detail}"), MAX_DETAIL)
        };
    }
}

/// A text without characters that steer terminals, or that a store cannot keep.
fn plain(text: &str) -> String {
    let is_kept = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    text.chars().filter(is_kept).collect()
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use std::fmt::Write as _;

    use super::*;
    use crate::implement::Agent;

    #[test]
    fn w_4_what_goes_into_beads_is_bounded_and_plain() {
        let mut text = String::from(
            "status: failed\nescalations: [{reason: \"a\\0b\", detail: \"x\\u001b[1m\"}]\ndiscovered_work:\n",
        );
        for n in 0..60 {
            let title = "t".repeat(400);
            _ = writeln!(
                text,
                "- {{title: \"{title}{n}\", type: bug, priority: 1, detail: d}}"
            );
        }
        let read = read(&text, &Agent::TddGreenTeam).unwrap();
        assert_eq!(read.report.discovered.len(), MAX_ITEMS);
        let item = &read.report.discovered[0];
        assert_eq!(item.title.chars().count(), MAX_TITLE + 1);
        assert!(item.detail.starts_with(&"t".repeat(400)));
        let escalation = &read.report.escalations[0];
        assert_eq!(
            (escalation.reason.as_str(), escalation.detail.as_str()),
            ("ab", "x[1m")
        );
        assert!(
            read.faults
                .iter()
                .any(|fault| fault.message.contains("60 items"))
        );
    }
}

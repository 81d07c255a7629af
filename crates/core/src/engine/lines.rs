//! A journal as text: a head, and one entry on each line.
//!
//! A process that dies while it writes leaves half a line at the end. What it was about to write had not been acted upon, so that half is
//! left out; whatever else cannot be read is a fault.

use thiserror::Error;

use super::journal::{Entry, Head};
use crate::text::excerpt;

/// A journal, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Journal {
    /// Its head.
    pub head: Head,
    /// Its entries.
    pub entries: Vec<Entry>,
    /// How many bytes of the text it takes; half a line may follow.
    pub n_bytes: usize,
}

/// A line of a journal that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("line {line} of the journal cannot be read: {reason}")]
pub struct LineFault {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

impl Journal {
    /// Reads the text of a journal.
    pub fn read(text: &str) -> Result<Self, LineFault> {
        let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
        let mut lines = (1..).zip(whole.lines());
        let Some((line, head)) = lines.next() else {
            let reason = "it has no head".to_owned();
            return Err(LineFault { line: 1, reason });
        };
        let fault = |line: usize| {
            move |error: serde_json::Error| LineFault {
                line,
                reason: excerpt(&error.to_string()),
            }
        };
        let head = serde_json::from_str(head).map_err(fault(line))?;
        let entries = lines
            .map(|(line, text)| serde_json::from_str(text).map_err(fault(line)))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            head,
            entries,
            n_bytes: whole.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::super::{Backoff, Caps, Event, Integration, Leader, Order, Settings};
    use super::*;

    fn settings() -> Settings {
        Settings {
            run: "run".to_owned(),
            seed: 1,
            max_parallel: 1,
            poll_ms: 1,
            max_tries: 1,
            max_limit_tries: 1,
            backoff: Backoff::Constant,
            limit_backoff: Backoff::Constant,
            max_pull_tries: 1,
            integration: Integration::None,
            leader: Leader::Native,
            order: Order::Urgency,
            caps: Caps::default(),
            cleans_up: false,
            watches: false,
            is_once: false,
        }
    }

    #[test]
    fn z_4_half_a_line_at_the_end_is_left_out_and_no_other_is() {
        let head = Head::new(settings(), "1", "mark", Timestamp::UNIX_EPOCH);
        let entry = |seq| Entry {
            seq,
            at: Timestamp::UNIX_EPOCH,
            event: Event::Woke,
            effects: Vec::new(),
        };
        let mut text = serde_json::to_string(&head).unwrap() + "\n";
        for seq in 1..=2 {
            text += &(serde_json::to_string(&entry(seq)).unwrap() + "\n");
        }
        let read = Journal::read(&text).unwrap();
        assert_eq!((read.head.clone(), read.entries.len()), (head, 2));
        assert_eq!(read.n_bytes, text.len());
        let last_line = text.trim_end().rfind('\n').unwrap() + 1;
        for end in last_line..text.len() {
            let cut = Journal::read(&text[..end]).unwrap();
            assert_eq!((cut.entries.len(), cut.n_bytes), (1, last_line));
        }
        let broken = text.replacen("{\"seq\":1", "{\"sq\":1", 1);
        assert_eq!(Journal::read(&broken).unwrap_err().line, 2);
        assert_eq!(Journal::read("").unwrap_err().line, 1);
        assert_eq!(Journal::read("{}\n").unwrap_err().line, 1);
    }
}

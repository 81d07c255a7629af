//! From what was seen of a run, and how its program ended, to its outcome.
//!
//! Success takes all of it: the program's own last word that it succeeded, exit code 0, and the report if one was asked
//! for. Anything less is a failure, whose class is looked for first in what the program said in fields, then in its exit
//! code, and only then in the words of its errors.

use jiff::Timestamp;

use crate::text::visible;

use super::json::observe::Observed;
use super::limit_reset::reset_in;
use super::{
    Adapter, Cost, CostSource, Outcome, Price, ReportFault, Status, StreamKind, Tokens, report_in,
};

/// What people are shown of a program's own words.
const MAX_QUOTED: usize = 300;

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// What became of its process.
    pub end: ProcessEnd,
    /// Why we ended it, if we did.
    pub halt: Option<Halt>,
}

/// What became of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessEnd {
    /// It ended with this code.
    Exited(i32),
    /// It was ended by this signal.
    Signalled(i32),
    /// How is unknown.
    Lost,
    /// It never began.
    NotStarted {
        /// Why.
        reason: String,
        /// Whether it may well begin a little later.
        is_temporary: bool,
    },
}

impl ProcessEnd {
    /// The code as a shell would give it.
    fn code(&self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(*code),
            Self::Signalled(signal) => Some(128 + signal),
            Self::Lost | Self::NotStarted { .. } => None,
        }
    }
}

/// Why we ended a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Halt {
    /// It took longer than this, in words.
    Wall(String),
    /// It was silent for longer than this, in words.
    Idle(String),
    /// Somebody cancelled it.
    Cancelled,
    /// It spent too much; of what, in words.
    Budget(String),
    /// It had said its last word, and did not end.
    Drained,
}

/// Signals by which a person, a supervisor or the system ends a process, as opposed to those of which it dies.
const ENDED_BY_OTHERS: [i32; 4] = [1, 2, 9, 15];

/// Everything that was seen of a run.
pub(super) struct Seen<'a> {
    pub(super) adapter: &'a Adapter,
    pub(super) observed: Observed<'a>,
    pub(super) stderr: String,
    pub(super) stray: String,
    pub(super) n_stray: usize,
    pub(super) n_cut: usize,
    pub(super) is_report_wanted: bool,
    pub(super) report_text: Option<String>,
    pub(super) before: Tokens,
    pub(super) price: Option<Price>,
}

/// A status and why.
struct Verdict {
    status: Status,
    reason: String,
    is_retryable: Option<bool>,
    notes: Vec<String>,
}

impl Verdict {
    fn new(status: Status, reason: String) -> Self {
        Self {
            status,
            reason,
            is_retryable: None,
            notes: Vec::new(),
        }
    }
}

impl Seen<'_> {
    pub(super) fn outcome(mut self, ending: &Ending, now: Timestamp) -> Outcome {
        let fault = self.find_report();
        let mut verdict = self.verdict(ending);
        if verdict.status == Status::Ok
            && self.is_report_wanted
            && let Some(fault) = fault
        {
            let fault = fault.as_str();
            let reason = format!("it ended without the report that was asked for: {fault}");
            verdict = Verdict::new(Status::Failed, reason);
        }
        let is_refused = matches!(verdict.status, Status::Failed | Status::NoResult)
            && !self.observed.denials().is_empty()
            && !matches!(ending.halt, Some(Halt::Budget(_)));
        if is_refused {
            let denials = self.observed.denials().join(", ");
            let reason = format!("it was not allowed to use {denials}; {}", verdict.reason);
            verdict = Verdict {
                notes: verdict.notes,
                ..Verdict::new(Status::Denied, quoted(&reason))
            };
        }
        self.into_outcome(verdict, fault, ending, now)
    }

    /// Puts the report where it belongs; why there is none, if there is none.
    fn find_report(&mut self) -> Option<ReportFault> {
        if let Some(text) = self.report_text.take() {
            return match report_in(&text) {
                Ok(report) => {
                    self.observed.report = Some(report.value);
                    None
                }
                Err(fault) => Some(fault),
            };
        }
        if self.observed.report.is_some() || !self.is_report_wanted {
            return None;
        }
        if self.adapter.reports_by_field() {
            return Some(ReportFault::NoJson);
        }
        match report_in(self.observed.text.as_deref().unwrap_or_default()) {
            Ok(report) => {
                self.observed.report = Some(report.value);
                if self.observed.session.is_none() {
                    self.observed.session = report.session;
                }
                None
            }
            Err(fault) => Some(fault),
        }
    }

    fn verdict(&self, ending: &Ending) -> Verdict {
        if let ProcessEnd::NotStarted {
            reason,
            is_temporary,
        } = &ending.end
        {
            let status = if *is_temporary {
                Status::Failed
            } else {
                Status::Config
            };
            return Verdict::new(status, quoted(reason));
        }
        match &ending.halt {
            Some(Halt::Cancelled) => {
                return Verdict::new(Status::Killed, "it was cancelled".to_owned());
            }
            Some(Halt::Budget(reason)) => {
                return Verdict {
                    is_retryable: Some(false),
                    ..Verdict::new(Status::Failed, reason.clone())
                };
            }
            Some(Halt::Wall(_) | Halt::Idle(_) | Halt::Drained) | None => {}
        }
        match self.observed.last_word {
            Some(last) if last.status == Status::Ok => success(ending, last.n_pending),
            Some(last) => {
                let class = match last.status {
                    Status::Failed => self.class(ending),
                    _ => None,
                };
                let status = class.unwrap_or(last.status);
                let is_retryable = last.is_retryable.filter(|_| class.is_none());
                Verdict {
                    is_retryable,
                    ..Verdict::new(status, self.reason(status))
                }
            }
            None => self.without_last_word(ending),
        }
    }

    fn without_last_word(&self, ending: &Ending) -> Verdict {
        match (&ending.halt, &ending.end) {
            (Some(Halt::Wall(limit)), _) => self.timeout(&format!("it took longer than {limit}")),
            (Some(Halt::Idle(limit)), _) => self.timeout(&format!("it was silent for {limit}")),
            (_, ProcessEnd::Lost) => {
                Verdict::new(Status::Crashed, "nobody saw how it ended".to_owned())
            }
            (_, end) => match end.code() {
                Some(code) if code > 128 && code < 128 + 65 => self.signalled(code - 128, ending),
                Some(0) if self.adapter.read.stream == StreamKind::Text => {
                    Verdict::new(Status::Ok, Status::Ok.sentence().to_owned())
                }
                code => self.unexplained(code, ending),
            },
        }
    }

    /// It ran out of time; what held it up, if it said so, helps.
    fn timeout(&self, reason: &str) -> Verdict {
        let suspect = self.observed.suspect.map(Status::sentence);
        let reason = match (suspect, self.observed.activity.as_deref()) {
            (Some(suspect), _) => format!("{reason}; {suspect}"),
            (None, Some(activity)) => format!("{reason}; last seen: {activity}"),
            (None, None) => reason.to_owned(),
        };
        Verdict::new(Status::Timeout, reason)
    }

    fn signalled(&self, signal: i32, ending: &Ending) -> Verdict {
        // A shell's or a program's own code of this height may be meant as a code, so fields go first.
        let is_code = matches!(ending.end, ProcessEnd::Exited(_));
        if is_code && let Some(class) = self.class(ending) {
            return Verdict::new(class, self.reason(class));
        }
        let (status, how) = if ENDED_BY_OTHERS.contains(&signal) {
            (Status::Killed, "somebody or something ended it")
        } else {
            (Status::Crashed, "it died")
        };
        Verdict::new(status, format!("{how}, by signal {signal}"))
    }

    /// It ended by itself and did not say how.
    fn unexplained(&self, code: Option<i32>, ending: &Ending) -> Verdict {
        let class = self.class(ending);
        let is_text = self.adapter.read.stream == StreamKind::Text;
        let status = match class {
            Some(class) => class,
            None if is_text => Status::Failed,
            None => Status::NoResult,
        };
        let mut reason = self.reason(status);
        if let Some(code) = code.filter(|_| class.is_none()) {
            reason = format!("{reason} (exit code {code})");
        }
        Verdict::new(status, reason)
    }

    /// The class of a failure: by what fields gave reason to suspect, by its exit code, by the words of its errors.
    fn class(&self, ending: &Ending) -> Option<Status> {
        let by_exit = || match ending.end {
            ProcessEnd::Exited(code) => self.adapter.read.exits.get(&code).map(|failure| failure.0),
            ProcessEnd::Signalled(_) | ProcessEnd::Lost | ProcessEnd::NotStarted { .. } => None,
        };
        let suspect = self.observed.suspect;
        suspect.or_else(by_exit).or_else(|| self.class_by_words())
    }

    fn class_by_words(&self) -> Option<Status> {
        let words = self.words()?;
        let mut rules = self.adapter.read.failures.iter();
        let found = rules.find(|rule| rule.matches.is_match(words));
        found.map(|rule| rule.status.0)
    }

    /// A failed program's own words: what it gave as its error, else what it complained about.
    fn words(&self) -> Option<&str> {
        let text = match self.adapter.read.stream {
            StreamKind::Text => None,
            StreamKind::JsonLines | StreamKind::Json => self.observed.text.as_deref(),
        };
        let has_failed = self.observed.last_word.is_some();
        let candidates = [
            self.observed.error.as_deref(),
            text.filter(|_| has_failed),
            Some(self.stderr.as_str()),
            Some(self.stray.as_str()),
        ];
        let mut candidates = candidates.into_iter().flatten();
        candidates.find(|words| !words.trim().is_empty())
    }

    fn reason(&self, status: Status) -> String {
        match self.words() {
            Some(words) => quoted(&format!("{}: {words}", status.sentence())),
            None => status.sentence().to_owned(),
        }
    }

    fn notes(&self, mut notes: Vec<String>) -> Vec<String> {
        match self.n_stray {
            0 => {}
            1 => notes.push("a line of its output was not JSON".to_owned()),
            n => notes.push(format!("{n} lines of its output were not JSON")),
        }
        if self.n_cut > 0 {
            let n = self.n_cut;
            notes.push(format!("its output was cut: {n} bytes were not read"));
        }
        notes
    }

    fn cost(&self, tokens: &Tokens, is_known: bool) -> Cost {
        let price = self.price.filter(|_| is_known);
        let (usd, source) = match (self.observed.cost(), price) {
            (Some(usd), _) => (Some(usd), CostSource::Reported),
            (None, Some(price)) => (Some(price.of(tokens)), CostSource::Computed),
            (None, None) => (None, CostSource::Unknown),
        };
        Cost { usd, source }
    }

    fn into_outcome(
        self,
        verdict: Verdict,
        fault: Option<ReportFault>,
        ending: &Ending,
        now: Timestamp,
    ) -> Outcome {
        let has_tokens = self.observed.has_tokens();
        let reported = self.observed.tokens();
        let is_total = self.adapter.read.is_cumulative && has_tokens;
        let tokens = if is_total {
            reported.since(&self.before)
        } else {
            reported
        };
        let is_known = has_tokens || self.observed.has_estimate();
        let resets_at = match verdict.status {
            Status::Limit => {
                let by_words = || self.words().and_then(|words| reset_in(words, now));
                self.observed.resets_at.or_else(by_words)
            }
            _ => None,
        };
        let cost = self.cost(&tokens, is_known);
        let notes = self.notes(verdict.notes);
        let denials = self.observed.denials().to_vec();
        let observed = self.observed;
        Outcome {
            turns: observed.turns(),
            tokens,
            session_tokens: is_total.then_some(reported),
            is_estimate: observed.has_estimate(),
            cost,
            session: observed.session,
            model_id: observed.model_id,
            text: observed.text,
            report: observed.report,
            report_fault: fault.filter(|_| self.is_report_wanted),
            denials,
            resets_at,
            is_retryable: (verdict.is_retryable).unwrap_or(verdict.status.is_retryable()),
            exit_code: ending.end.code(),
            notes,
            ..Outcome::new(verdict.status, verdict.reason)
        }
    }
}

/// The program says that it succeeded: so must its end.
fn success(ending: &Ending, n_pending: usize) -> Verdict {
    let ok = || Verdict::new(Status::Ok, Status::Ok.sentence().to_owned());
    match (&ending.halt, &ending.end) {
        (Some(Halt::Drained | Halt::Wall(_) | Halt::Idle(_)), _) => {
            let mut verdict = ok();
            let note = match n_pending {
                0 => "it did not end after its last word, and was ended",
                _ => {
                    "it had done its work, and was ended while it waited for what it had started in the background"
                }
            };
            verdict.notes.push(note.to_owned());
            verdict
        }
        (_, ProcessEnd::Exited(0)) => ok(),
        (_, end) => {
            let how = match end {
                ProcessEnd::Exited(code) => format!("exit code {code}"),
                ProcessEnd::Signalled(signal) => format!("signal {signal}"),
                ProcessEnd::Lost | ProcessEnd::NotStarted { .. } => {
                    "an end that nobody saw".to_owned()
                }
            };
            let reason = format!("it said that it succeeded, and ended with {how}");
            Verdict::new(Status::Failed, reason)
        }
    }
}

/// A program's words on one line, cut and harmless.
fn quoted(text: &str) -> String {
    // Only so much is shown, so only so much is looked at; an error can be megabytes long.
    let start: String = text.chars().take(4 * MAX_QUOTED).collect();
    let words: Vec<&str> = start.split_whitespace().collect();
    let line = words.join(" ");
    let mut cut: String = line.chars().take(MAX_QUOTED).collect();
    if cut.len() < line.len() {
        cut.push('…');
    }
    visible(&cut)
}

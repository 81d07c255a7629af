//! `scripted-agent`: an agent that acts by a scenario, for demonstrations and for tests that need no installed agent.
//!
//! It takes a prompt on standard input, runs the scenario's commands for real, and prints what it does as `claude` does, so that it is
//! read by the same rules. `BEADS_RALPH_ATTEMPT` selects the session of a rule.
//!
//! A failure that a real program would try again after is followed by the next turn, as there; the last turn of a session would repeat for
//! ever, and there it gives up. A connection that is cut for good is its own death: it ends without a result.

mod wire;

use std::time::{Duration, Instant};
use std::{io, thread};

use beads_ralph_core::diag::ErrorCode;
use beads_ralph_core::scenario::{Action, Cut, Failure as Refusal, Session, SessionProgress, Turn};
use beads_ralph_core::text::excerpt;
use beads_ralph_runtime::os::env::{self, Variable};
use beads_ralph_runtime::os::process::{
    Cancel, Ended, Environment, Limits, Mark, Silent, Spec, Stdin, Units,
};
use beads_ralph_runtime::{os::clock, os::files, scenario};
use camino::Utf8PathBuf;
use clap::Args;
use serde_json::Value;

use self::wire::{Limit, Stream, Tally, Word};
use crate::failure::Failure;
use crate::ui::Ui;

#[derive(Debug, Args)]
pub(crate) struct ScriptedAgentArgs {
    /// The scenario: what to do for which prompt
    #[arg(long, value_name = "FILE")]
    pub(crate) scenario: Utf8PathBuf,
    /// The id of its session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// The model that it reports
    #[arg(long, value_name = "ID", default_value = "scripted")]
    pub(crate) model: String,
    /// The JSON Schema of its report; without one a report is a text
    #[arg(long, value_name = "JSON")]
    pub(crate) schema: Option<String>,
    /// Stop after this many turns
    #[arg(long, value_name = "N")]
    pub(crate) max_turns: Option<u32>,
    /// Stop when this much was spent
    #[arg(long, value_name = "USD")]
    pub(crate) max_budget_usd: Option<f64>,
}

/// How much of a command's output goes into the stream.
const MAX_OUTPUT_CHARS: usize = 30_000;

pub(crate) fn run(args: &ScriptedAgentArgs, ui: &Ui) -> Result<(), Failure> {
    let scenario = scenario::load(&args.scenario)?;
    let attempt = attempt()?;
    let prompt = files::read_limited(io::stdin().lock(), "standard input".into())?;
    let prompt = String::from_utf8_lossy(&prompt);
    let mut agent = Agent::new(args, ui)?;
    agent.print(&agent.stream.init(agent.cwd.as_str()))?;
    let end = match scenario.rule_for(&prompt) {
        Some((_, rule)) => agent.perform(rule.session(attempt))?,
        None => End::Word(Word::Refused(unfit(&prompt))),
    };
    agent.end(&end)
}

/// The how-many-th attempt this is; the first, when nobody says so.
fn attempt() -> Result<usize, Failure> {
    let Some(text) = env::get(Variable::Attempt) else {
        return Ok(1);
    };
    text.parse().map_err(|_| {
        let name = Variable::Attempt.name();
        let message = format!("invalid {name} '{}': not a number", excerpt(&text));
        Failure::new(ErrorCode::ValidationConstraint, message)
            .action(format!("set {name} to 1 or more, or unset it"))
    })
}

/// The answer to a prompt that the scenario does not know.
fn unfit(prompt: &str) -> Refusal {
    Refusal {
        status: 400,
        retry_after: None,
        resets_at: None,
        message: format!(
            "no rule of the scenario fits the prompt '{}'",
            excerpt(prompt)
        ),
    }
}

#[derive(Debug)]
enum End {
    Word(Word),
    Death,
    /// As if all were well, but without a last line.
    Silence,
}

struct Agent<'a> {
    args: &'a ScriptedAgentArgs,
    ui: &'a Ui,
    units: Units,
    cancel: Cancel,
    cwd: Utf8PathBuf,
    stream: Stream,
    tally: Tally,
    n_retries: u32,
    has_insisted: bool,
    started: Instant,
}

impl<'a> Agent<'a> {
    fn new(args: &'a ScriptedAgentArgs, ui: &'a Ui) -> Result<Self, Failure> {
        let broken = |error: io::Error| {
            let message = format!("cannot start processes: {error}");
            Failure::new(ErrorCode::IoPermissionDenied, message)
        };
        let session = args.session.clone();
        Ok(Self {
            args,
            ui,
            units: Units::own().map_err(broken)?,
            // Whoever ends this process ends its commands: their shim notices.
            cancel: Cancel::new().map_err(broken)?,
            cwd: env::current_dir().unwrap_or_else(|| ".".into()),
            stream: Stream {
                session: session.unwrap_or_else(|| format!("scripted-{}", std::process::id())),
                model: args.model.clone(),
            },
            tally: Tally::NOTHING,
            n_retries: 0,
            has_insisted: false,
            started: clock::monotonic(),
        })
    }

    fn print(&self, line: &Value) -> Result<(), Failure> {
        self.ui.out(&format!("{line}\n"))
    }

    fn perform(&mut self, session: &Session) -> Result<End, Failure> {
        let mut progress = SessionProgress::default();
        let mut n_results = 0;
        loop {
            let next = progress.next(session, n_results);
            let turn = &session.turns()[next];
            let is_last = next + 1 == session.turns().len();
            thread::sleep(turn.delay);
            let end = if let Action::Run(command) = &turn.action {
                n_results += 1;
                self.work(command, turn)?
            } else {
                self.answer(turn, is_last)?
            };
            if let Some(end) = end {
                return Ok(end);
            }
        }
    }

    fn work(&mut self, command: &str, turn: &Turn) -> Result<Option<End>, Failure> {
        let n = self.tally.n_turns + 1;
        let call = Stream::call(n, "Bash", &Stream::command(command));
        if let Some(end) = self.say(&call, turn)? {
            return Ok(Some(end));
        }
        let (text, is_error) = self.shell(command);
        let id = Stream::call_id(n);
        self.print(&self.stream.tool_result(&id, &text, is_error))?;
        Ok(None)
    }

    /// Performs an action other than a command; without an end, the next turn follows.
    fn answer(&mut self, turn: &Turn, is_last: bool) -> Result<Option<End>, Failure> {
        match &turn.action {
            Action::Run(_) => Ok(None),
            Action::Say(text) => {
                let limit = self.say(&Stream::text(text), turn)?;
                if limit.is_none() && self.args.schema.is_some() && !self.has_insisted {
                    return self.insist();
                }
                let done = End::Word(Word::Done(text.clone(), None));
                Ok(Some(limit.unwrap_or(done)))
            }
            Action::Report(report) => self.report(report, turn).map(Some),
            Action::Fail(refusal) if is_last || !refusal.is_retried() => {
                if let Some(resets_at) = refusal.resets_at {
                    self.print(&self.stream.rate_limit(resets_at))?;
                }
                Ok(Some(End::Word(Word::Refused(refusal.clone()))))
            }
            Action::Fail(refusal) => self.retry(Some(refusal)),
            Action::Hang(None) => loop {
                thread::park();
            },
            Action::Hang(Some(duration)) => {
                thread::sleep(*duration);
                self.lost(is_last)
            }
            Action::Cut(Cut::Before) => self.lost(is_last),
            Action::Cut(Cut::Midway) => {
                if is_last {
                    let line = self.stream.init(self.cwd.as_str()).to_string();
                    let half: String = line.chars().take(line.len() / 4).collect();
                    self.ui.out(&half)?;
                }
                self.lost(is_last)
            }
            Action::Garbage(text) => {
                self.ui.out(&format!("{text}\n"))?;
                Ok(is_last.then_some(End::Silence))
            }
        }
    }

    /// Says something, and gives the end if it was one thing too many.
    fn say(&mut self, block: &Value, turn: &Turn) -> Result<Option<End>, Failure> {
        if let Some(n) = self.args.max_turns
            && self.tally.n_turns >= n
        {
            return Ok(Some(End::Word(Word::Limit(Limit::Turns(n)))));
        }
        self.tally.add(turn.usage);
        let line = (self.stream).assistant(self.tally.n_turns, block, turn.usage);
        self.print(&line)?;
        let budget = self.args.max_budget_usd;
        let spent = budget.filter(|budget| self.tally.usd() >= *budget);
        Ok(spent.map(|budget| End::Word(Word::Limit(Limit::Budget(budget)))))
    }

    /// Asks once for the report that was wanted; the next turn is the answer.
    fn insist(&mut self) -> Result<Option<End>, Failure> {
        self.has_insisted = true;
        self.print(&self.stream.insistence())?;
        Ok(None)
    }

    /// Ends with a report: as structured output if that is wanted, else as a text.
    fn report(&mut self, report: &Value, turn: &Turn) -> Result<End, Failure> {
        let text = report.to_string();
        let is_wanted = self.args.schema.is_some();
        let block = if is_wanted {
            Stream::call(self.tally.n_turns + 1, "StructuredOutput", report)
        } else {
            Stream::text(&text)
        };
        let limit = self.say(&block, turn)?;
        let done = || End::Word(Word::Done(text, is_wanted.then(|| report.clone())));
        Ok(limit.unwrap_or_else(done))
    }

    fn lost(&mut self, is_last: bool) -> Result<Option<End>, Failure> {
        if is_last {
            return Ok(Some(End::Death));
        }
        self.retry(None)
    }

    /// Says that it tries again, after as long as the service wants.
    fn retry(&mut self, refusal: Option<&Refusal>) -> Result<Option<End>, Failure> {
        self.n_retries += 1;
        self.print(&self.stream.retry(self.n_retries, refusal))?;
        let seconds = refusal.and_then(|refusal| refusal.retry_after);
        thread::sleep(Duration::from_secs(seconds.unwrap_or(0)));
        Ok(None)
    }

    /// Runs a command of the shell and gives what it printed, and whether it failed.
    fn shell(&self, command: &str) -> (String, bool) {
        let spec = Spec {
            mark: Mark(format!(
                "scripted-{}-{}",
                std::process::id(),
                self.tally.n_turns
            )),
            argv: ["/bin/sh", "-c", command].map(str::to_owned).to_vec(),
            cwd: self.cwd.clone(),
            env: Environment::default(),
            stdin: Stdin::Closed,
            limits: Limits::default(),
            output: None,
        };
        match self.units.run(&spec, &self.cancel, &mut Silent) {
            Ok(ended) => printed(&ended),
            Err(error) => (error.to_string(), true),
        }
    }

    /// Prints the last line, and ends as a real agent would.
    fn end(&self, end: &End) -> Result<(), Failure> {
        let is_well = match end {
            End::Word(word) => {
                let duration = clock::monotonic() - self.started;
                let result = self.stream.result(word, &self.tally, duration.as_millis());
                self.print(&result)?;
                matches!(word, Word::Done(..))
            }
            End::Death => false,
            End::Silence => true,
        };
        // Who reads the stream knows why.
        let failure = || Failure::new(ErrorCode::ValidationConstraint, "the run failed").told();
        is_well.then_some(()).ok_or_else(failure)
    }
}

/// The output of a command, as agents get it, and whether it failed.
fn printed(ended: &Ended) -> (String, bool) {
    let both = [ended.stdout.text(), ended.stderr.text()].concat();
    let text: String = both.trim_end().chars().take(MAX_OUTPUT_CHARS).collect();
    match ended.ending.code() {
        Some(0) if text.is_empty() => ("(Bash completed with no output)".to_owned(), false),
        Some(0) => (text, false),
        Some(code) => (format!("Exit code {code}\n{text}"), true),
        None => (format!("It was lost.\n{text}"), true),
    }
}

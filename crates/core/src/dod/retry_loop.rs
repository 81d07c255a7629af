//! The loop: agent, checks, wait, again (V-10 … V-13). A state machine: it takes what happened and says what to do.
//!
//! Time is handed in as a [`Moment`]. A wait for an account that is at its limit costs no iteration (Z-13).

use std::time::Duration;

use jiff::Timestamp;

/// The longest wait between two iterations (V-10).
const MAX_BACKOFF: Duration = Duration::from_mins(5);

/// How often an account without a known reset time is tried again before the bead fails (§7.7).
const MAX_LIMIT_RETRIES: u32 = 5;

/// How often checks that the environment keeps from running are run again before the bead fails.
const MAX_BLIND_RETRIES: u32 = 5;

/// The first wait for an account without a known reset time; it doubles.
const LIMIT_BACKOFF: Duration = Duration::from_mins(1);

/// When it is: by the wall clock for deadlines, and since the start by one that nobody can set for budgets.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// The wall clock.
    pub now: Timestamp,
    /// How long the loop has run.
    pub elapsed: Duration,
}

/// How a loop is to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetrySettings {
    /// How often an agent may try.
    pub max_iterations: u32,
    /// How long to wait after the first failure; it doubles.
    pub backoff: Duration,
    /// How long all of it may take.
    pub time_budget: Option<Duration>,
    /// When it must be done.
    pub deadline: Option<Timestamp>,
    /// Whether agents are called at all. Without them there is one pass of the checks.
    pub has_agent: bool,
    /// Whether the checks run before the first agent.
    pub verifies_first: bool,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RetryStep {
    /// Call an agent.
    Agent {
        /// The iteration, from 1.
        iteration: u32,
    },
    /// Run the checks.
    Verify {
        /// The iteration, from 1; 0 for the pass before the first.
        iteration: u32,
    },
    /// Wait.
    Wait {
        /// This long.
        time: Duration,
        /// For this.
        why: String,
    },
    /// Stop.
    End(RetryEnd),
}

/// How a loop ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RetryEnd {
    /// Every check passed.
    Completed,
    /// The checks are red, and no agent is called to fix that.
    Red,
    /// It failed for good.
    Failed(String),
}

/// How an agent's call ended, as far as the loop cares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEnd {
    /// It did its work.
    Done {
        /// Whether anything in the work tree is different from before.
        has_changed: bool,
    },
    /// It failed, and a retry may succeed.
    Failed(String),
    /// The account is at its limit.
    Limit {
        /// When it is not any more, if that is known.
        resets_at: Option<Timestamp>,
        /// Why.
        reason: String,
    },
    /// It failed, and no retry will succeed: no login, no such agent, forbidden.
    Hopeless(String),
}

/// What the loop waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    /// The next iteration.
    Next,
    /// The same agent again.
    Again,
    /// The same checks again.
    Checks,
}

/// The loop of one bead.
#[derive(Debug)]
pub struct RetryLoop {
    settings: RetrySettings,
    iteration: u32,
    backoff: Duration,
    n_limits: u32,
    n_blind: u32,
    is_red: bool,
    after: After,
}

impl RetryLoop {
    /// The reason when all iterations are used up.
    pub const EXHAUSTED: &str = "Max iterations reached";
    /// The reason when the time is used up.
    pub const OVER_BUDGET: &str = "Time budget exceeded";
    /// The reason when it is too late.
    pub const TOO_LATE: &str = "Deadline passed";
    /// The reason of an iteration in which an agent left everything as it was.
    pub const NO_CHANGE: &str = "The agent changed nothing while checks were red";

    /// A loop that has not begun.
    pub fn new(settings: RetrySettings) -> Self {
        Self {
            backoff: settings.backoff,
            settings,
            iteration: 0,
            n_limits: 0,
            n_blind: 0,
            is_red: false,
            after: After::Next,
        }
    }

    /// The number of the iteration under way.
    pub fn iteration(&self) -> u32 {
        self.iteration
    }

    /// How often in a row the checks could not be run since the last agent.
    pub fn n_blind(&self) -> u32 {
        self.n_blind
    }

    /// How much time is left for whatever runs now (V-12).
    pub fn time_left(&self, at: Moment) -> Option<Duration> {
        let budget = (self.settings.time_budget).map(|budget| budget.saturating_sub(at.elapsed));
        let deadline = self.settings.deadline.map(|deadline| {
            let left = deadline.duration_since(at.now);
            Duration::try_from(left).unwrap_or(Duration::ZERO)
        });
        match (budget, deadline) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    /// The first step.
    pub fn begin(&mut self, at: Moment) -> RetryStep {
        if let Some(end) = self.out_of_time(at) {
            return end;
        }
        if !self.settings.has_agent || self.settings.verifies_first {
            return RetryStep::Verify { iteration: 0 };
        }
        self.next_iteration(at)
    }

    /// The step after an agent.
    pub fn agent_ended(&mut self, end: AgentEnd, at: Moment) -> RetryStep {
        match end {
            AgentEnd::Done { has_changed: false } if self.is_red => {
                self.failed(at, Self::NO_CHANGE.to_owned())
            }
            AgentEnd::Done { .. } => {
                self.n_limits = 0;
                self.out_of_time(at).unwrap_or(self.verify())
            }
            AgentEnd::Failed(why) => self.failed(at, why),
            AgentEnd::Limit { resets_at, reason } => self.limited(resets_at, reason, at),
            AgentEnd::Hopeless(why) => RetryStep::End(RetryEnd::Failed(why)),
        }
    }

    /// The step after the checks.
    pub fn verified(&mut self, is_green: bool, summary: &str, at: Moment) -> RetryStep {
        self.n_blind = 0;
        if is_green {
            return RetryStep::End(RetryEnd::Completed);
        }
        self.is_red = true;
        if !self.settings.has_agent {
            return RetryStep::End(RetryEnd::Red);
        }
        if self.iteration == 0 {
            return self.next_iteration(at);
        }
        self.failed(at, summary.to_owned())
    }

    /// The step after checks that the environment kept from running: a wait as between two iterations, and the checks again. No agent could
    /// fix that, and it costs no iteration. Before the first agent the checks only tell whether there is anything to do, and without agents
    /// there is one pass.
    pub fn unverified(&mut self, why: &str, at: Moment) -> RetryStep {
        if !self.settings.has_agent || self.iteration == 0 {
            return self.verified(false, why, at);
        }
        if let Some(end) = self.out_of_time(at) {
            return end;
        }
        self.n_blind += 1;
        if self.n_blind > MAX_BLIND_RETRIES {
            return RetryStep::End(RetryEnd::Failed(why.to_owned()));
        }
        self.after = After::Checks;
        let first = self.settings.backoff;
        let time = first * 2_u32.pow(self.n_blind - 1);
        self.wait(time.min(MAX_BACKOFF).max(first), why.to_owned(), at)
    }

    /// The step after a wait.
    pub fn waited(&mut self, at: Moment) -> RetryStep {
        match self.after {
            After::Next => self.next_iteration(at),
            After::Again => self.out_of_time(at).unwrap_or(self.call()),
            After::Checks => self.out_of_time(at).unwrap_or(self.verify()),
        }
    }

    fn next_iteration(&mut self, at: Moment) -> RetryStep {
        if let Some(end) = self.out_of_time(at) {
            return end;
        }
        self.iteration += 1;
        self.call()
    }

    fn call(&self) -> RetryStep {
        let iteration = self.iteration;
        RetryStep::Agent { iteration }
    }

    fn verify(&self) -> RetryStep {
        let iteration = self.iteration;
        RetryStep::Verify { iteration }
    }

    /// After a failed iteration: wait, then double the wait; not after the last one (V-10).
    fn failed(&mut self, at: Moment, why: String) -> RetryStep {
        if let Some(end) = self.out_of_time(at) {
            return end;
        }
        if self.iteration >= self.settings.max_iterations {
            return RetryStep::End(RetryEnd::Failed(Self::EXHAUSTED.to_owned()));
        }
        let time = self.backoff;
        self.backoff = (time * 2).min(MAX_BACKOFF).max(time);
        self.after = After::Next;
        if time.is_zero() {
            return self.next_iteration(at);
        }
        self.wait(time, why, at)
    }

    fn limited(&mut self, resets_at: Option<Timestamp>, reason: String, at: Moment) -> RetryStep {
        self.n_limits += 1;
        if self.n_limits > MAX_LIMIT_RETRIES {
            return RetryStep::End(RetryEnd::Failed(reason));
        }
        self.after = After::Again;
        let known =
            resets_at.and_then(|reset| Duration::try_from(reset.duration_since(at.now)).ok());
        let doubled = LIMIT_BACKOFF * 2_u32.pow(self.n_limits - 1);
        self.wait(known.unwrap_or(doubled), reason, at)
    }

    /// Waits, unless the time would be over before: then there is nothing to wait for.
    fn wait(&mut self, time: Duration, why: String, at: Moment) -> RetryStep {
        match self.time_left(at) {
            Some(left) if left <= time => {
                RetryStep::End(RetryEnd::Failed(self.overdue(at, time).to_owned()))
            }
            _ => RetryStep::Wait { time, why },
        }
    }

    fn out_of_time(&self, at: Moment) -> Option<RetryStep> {
        let left = self.time_left(at)?;
        let reason = self.overdue(at, Duration::ZERO);
        left.is_zero()
            .then(|| RetryStep::End(RetryEnd::Failed(reason.to_owned())))
    }

    /// Which of the two limits comes first, when a time from now is waited.
    fn overdue(&self, at: Moment, time: Duration) -> &'static str {
        let is_late = (self.settings.deadline).is_some_and(|deadline| {
            Duration::try_from(deadline.duration_since(at.now)).unwrap_or_default() <= time
        });
        if is_late {
            Self::TOO_LATE
        } else {
            Self::OVER_BUDGET
        }
    }
}

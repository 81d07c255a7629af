//! Scenarios: what a scripted model does, by what it is asked.
//!
//! The scripted model of the tests, which real agents talk to, and the scripted agent, which stands in for a real one, act
//! by the same scenario. A scenario knows nothing of how it is performed: it has no protocol, no process and no clock.
//!
//! It is a list of rules. The first rule that fits a prompt answers it, with the session whose turn it is: the first time
//! that a rule is needed its first session, then its second; the last one serves all that follow. A session is
//! a list of turns, and a turn does one thing. As YAML:
//!
//! ```yaml
//! rules:
//!   - name: developer                # for logs; optional
//!     contains: [greeting.txt]       # what the prompt must have, all of it; optional
//!     lacks: [review]                # what it must not have, any of it; optional
//!     sessions:
//!       - - run: echo Helo >greeting.txt
//!         - say: Done.
//!       - - run: echo Hello >greeting.txt
//!           usage: {input: 1200, output: 80, cache_read: 900, cache_write: 100}
//!         - fail: {status: 529}      # overloaded, twice; who tries again gets the next turn
//!           times: 2
//!         - say: Now it is right.
//!           delay: 200ms             # before it
//!   - name: reviewer
//!     contains: [review]
//!     sessions:
//!       - - report: {passed: true, notes: []}
//!   - sessions:                      # fits every other prompt
//!       - - say: Nothing to do.
//! ```
//!
//! | Turn | What it does |
//! |---|---|
//! | `run: COMMAND` | runs a command of the shell; the next turn follows its result |
//! | `say: TEXT` | ends with a text |
//! | `report: VALUE` | ends with structured output |
//! | `fail: {status, retry_after, resets_at, message}` | refuses with this HTTP status; `retry_after` in seconds; `resets_at`, in seconds since 1970, is the end of a plan's limit, which no program tries again before |
//! | `hang: forever` or `hang: 30s` | is silent, and then cuts the connection |
//! | `cut: before` or `cut: midway` | cuts the connection before the answer or in the middle of it |
//! | `garbage: TEXT` | answers with this instead of what the protocol wants |
//!
//! Every turn may have `times` (as if it stood there so often), `delay` and `usage` (the tokens that it costs).
//!
//! Which turn is next follows from how many commands have given their results, and from how often was asked since ([`SessionProgress`]):
//! a command is asked for again until its result comes, anything else is done once, and the last turn of a session repeats, so
//! that a session that ends in a failure fails for ever.

mod model;
mod read;
#[cfg(test)]
mod tests;

pub use model::{
    Action, Cue, Cut, Failure, Play, Rule, Scenario, Session, SessionProgress, Turn, Usage,
};

//! Agents: how a program that works by itself is called, and how its end is read.
//!
//! Everything that is known about one agent program is data, an [`Adapter`]: one file for each program that we know, and
//! whatever users write into their configuration. An adapter turns a [`Call`] (what somebody wants) into an [`Invocation`]
//! (arguments, environment, what to write to standard input), and a [`Reader`] turns what the program then prints into
//! an [`Outcome`], which looks the same for all of them. Nothing here starts a program.
//!
//! # How a call is written
//!
//! `call` is a list of groups of arguments. A group that names a placeholder without a value is left out, so
//! `["--max-turns", "{max_turns}"]` is there when turns are limited and not otherwise. The placeholders are those
//! of [`Placeholder`]; `{permissions}` and `{options}` stand alone and become any number of arguments. A call that does not
//! name `{prompt}` gets the prompt on standard input.
//!
//! # How an end is read
//!
//! `read.rules` are tried in order on each JSON object that the program prints, all of them:
//!
//! | Key | Meaning |
//! |---|---|
//! | `when` | JSON pointers and what must be there: a value, a list of values, `{matches: regex}`, `{present: bool}`; `null` is "null or absent" |
//! | `once` | a pointer: objects for which the value is the same as the last time are passed over |
//! | `each`, `of` | the rest of the rule is about each element there for which `of` holds, as `when` |
//! | `take` | fields of the outcome, and where their values are; later values replace earlier ones |
//! | `add` | numbers and the text, and what is added to them |
//! | `estimate` | numbers to be counted on the way; they count until a last word reports the same |
//! | `say` | what it does now, for people: a text with `{/pointer\|/pointer}` in it |
//! | `deny` | a tool that it was not allowed to use, written as `say` |
//! | `suspect` | what a failure from here on is due to; `nothing` takes it back |
//! | `pending` | a list of what it started and waits for: while there is something, no last word is the last |
//! | `goes_on` | that it continues after all: its last word is taken back |
//! | `ends` | that this is the last word, and which [`Status`] it means; the first rule that says so counts |
//! | `retry` | whether the same call can succeed later, where the status alone does not tell |
//!
//! In a pointer, `*` stands for every member; numbers that it finds are added up. `read.exits` gives a status to exit codes, and
//! `read.failures` gives one to texts of errors: both only where the fields gave none, and never that of success.

mod adapter;
mod argument;
mod call;
mod context;
mod cost;
mod ending;
mod json;
mod limit_reset;
mod outcome;
mod reader;

pub use adapter::{Adapter, AgentFiles, Capability, Overrides, Probe, Trial, version_in};
pub use argument::{Argument, ArgumentPart, Placeholder};
pub use call::{Agent, Budget, Call, CallError, Files, Input, Invocation, Permissions, Session};
pub use context::{AgentRole, Context};
pub use cost::{Cost, CostSource, Price, PriceTable, Tokens};
pub use ending::{Ending, Halt, ProcessEnd};
pub use json::Pointer;
pub use json::observe::SpentSoFar;
pub use json::report::{Report, ReportFault, qa_result, report_in};
pub use json::rule::{Failure, Reading, Rule, StreamKind, Suspect, TextRule};
pub use outcome::{Outcome, Status};
pub use reader::Reader;

#[cfg(test)]
mod tests;

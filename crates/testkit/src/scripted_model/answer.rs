//! Answering: one request in, one turn of the scenario out.

use std::io::{self, Write};

use beads_ralph_core::scenario::{Action, Cut, Failure, Turn, Usage};
use beads_ralph_core::text::excerpt;
use serde_json::{Value, json};

use super::question::Question;
use super::state::{Protocol, State};
use super::{messages, responses};
use crate::http::{self, Request};

/// What a model says.
#[derive(Debug, Clone, Copy)]
pub(super) enum Said<'turn> {
    Command(&'turn str),
    Text(&'turn str),
    Report(&'turn Value),
}

/// What a model says, and to what.
#[derive(Debug)]
pub(super) struct Answer<'turn> {
    /// A number that no other answer has.
    pub(super) n: usize,
    pub(super) question: &'turn Question,
    pub(super) said: Said<'turn>,
    pub(super) usage: Usage,
}

impl Answer<'_> {
    /// What it says when it is no call of a tool.
    pub(super) fn text(&self) -> String {
        match self.said {
            Said::Command(text) | Said::Text(text) => text.to_owned(),
            Said::Report(report) => report.to_string(),
        }
    }
}

/// What becomes of a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Then {
    KeepOpen,
    Close,
}

/// Answers one request.
pub(super) fn answer(
    state: &State,
    request: &Request,
    writer: &mut impl Write,
) -> io::Result<Then> {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    match (request.method.as_str(), request.path.as_str()) {
        ("POST", "/v1/messages") => converse(state, Protocol::Messages, request, &body, writer),
        ("POST", "/v1/responses") => converse(state, Protocol::Responses, request, &body, writer),
        ("POST", "/v1/messages/count_tokens") => {
            // Four bytes to a token is what is usually reckoned with.
            let tokens = json!({"input_tokens": request.body.len() / 4});
            write_json(writer, 200, Vec::new(), &tokens)
        }
        // The answer to HEAD has no body.
        ("HEAD", _) => http::write_whole(writer, 200, &[], b"").map(|()| Then::KeepOpen),
        ("GET", "/") => write_json(writer, 200, Vec::new(), &json!({})),
        _ => write_json(
            writer,
            404,
            Vec::new(),
            &json!({"error": {"message": "there is nothing here"}}),
        ),
    }
}

fn converse(
    state: &State,
    protocol: Protocol,
    request: &Request,
    body: &Value,
    writer: &mut impl Write,
) -> io::Result<Then> {
    let question = match protocol {
        Protocol::Messages => messages::question(request, body),
        Protocol::Responses => responses::question(request, body),
    };
    let mut reply = Reply { protocol, writer };
    let question = match question {
        Ok(question) => question,
        Err(reason) => return reply.refuse(&unfit(reason.to_owned())),
    };
    let n = state.next_number();
    if question.is_aside() {
        state.heard_aside();
        let said = Said::Text("ok");
        return reply.say(&Answer {
            n,
            question: &question,
            said,
            usage: Usage::NONE,
        });
    }
    let Some(turn) = state.ask(protocol, &question) else {
        let prompt = excerpt(&question.prompt);
        let reason = format!("no rule of the scenario fits the prompt '{prompt}'");
        return reply.refuse(&unfit(reason));
    };
    perform(state, &mut reply, n, &question, &turn)
}

fn perform<W: Write>(
    state: &State,
    reply: &mut Reply<'_, W>,
    n: usize,
    question: &Question,
    turn: &Turn,
) -> io::Result<Then> {
    state.pause(Some(turn.delay));
    let answer = |said| Answer {
        n,
        question,
        said,
        usage: turn.usage,
    };
    match &turn.action {
        Action::Run(_) if !question.can_run => reply.refuse(&unfit(
            "the scenario runs a command, but no tool for it is offered".to_owned(),
        )),
        Action::Run(command) => reply.say(&answer(Said::Command(command))),
        Action::Say(text) => reply.say(&answer(Said::Text(text))),
        Action::Report(report) => reply.say(&answer(Said::Report(report))),
        Action::Fail(failure) => reply.refuse(failure),
        Action::Hang(duration) => {
            state.pause(*duration);
            Ok(Then::Close)
        }
        Action::Cut(Cut::Before) => Ok(Then::Close),
        Action::Cut(Cut::Midway) => reply.begin(&answer(Said::Text("This is going to be"))),
        Action::Garbage(text) => reply.babble(text),
    }
}

/// A request that the scenario has no answer to; no program tries such a one again.
fn unfit(message: String) -> Failure {
    Failure {
        status: 400,
        retry_after: None,
        resets_at: None,
        message,
    }
}

/// The way back to the program.
struct Reply<'writer, W> {
    protocol: Protocol,
    writer: &'writer mut W,
}

impl<W: Write> Reply<'_, W> {
    fn say(&mut self, answer: &Answer<'_>) -> io::Result<Then> {
        if !answer.question.is_stream {
            let whole = match self.protocol {
                Protocol::Messages => messages::message(answer),
                Protocol::Responses => responses::response(answer),
            };
            return write_json(self.writer, 200, Vec::new(), &whole);
        }
        http::begin_stream(self.writer)?;
        for event in self.events(answer) {
            self.write_event(&event)?;
        }
        http::end_stream(self.writer)?;
        Ok(Then::KeepOpen)
    }

    /// Says only the first half.
    fn begin(&mut self, answer: &Answer<'_>) -> io::Result<Then> {
        http::begin_stream(self.writer)?;
        let events = self.events(answer);
        for event in &events[..events.len().div_ceil(2)] {
            self.write_event(event)?;
        }
        Ok(Then::Close)
    }

    fn babble(&mut self, text: &str) -> io::Result<Then> {
        http::begin_stream(self.writer)?;
        http::write_piece(self.writer, format!("{text}\n\n").as_bytes())?;
        http::end_stream(self.writer)?;
        Ok(Then::KeepOpen)
    }

    fn refuse(&mut self, failure: &Failure) -> io::Result<Then> {
        let (mut headers, body) = match self.protocol {
            Protocol::Messages => messages::refusal(failure),
            Protocol::Responses => responses::refusal(failure),
        };
        if let Some(seconds) = failure.retry_after {
            headers.push(("retry-after", seconds.to_string()));
        }
        write_json(self.writer, failure.status, headers, &body)
    }

    fn events(&self, answer: &Answer<'_>) -> Vec<Value> {
        match self.protocol {
            Protocol::Messages => messages::events(answer),
            Protocol::Responses => responses::events(answer),
        }
    }

    fn write_event(&mut self, event: &Value) -> io::Result<()> {
        let name = event["type"].as_str().unwrap_or_default();
        let lines = format!("event: {name}\ndata: {event}\n\n");
        http::write_piece(self.writer, lines.as_bytes())
    }
}

fn write_json(
    writer: &mut impl Write,
    status: u16,
    mut headers: Vec<(&'static str, String)>,
    body: &Value,
) -> io::Result<Then> {
    headers.push(("content-type", "application/json".to_owned()));
    http::write_whole(writer, status, &headers, body.to_string().as_bytes())?;
    Ok(Then::KeepOpen)
}

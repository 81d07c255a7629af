//! A client that is made by hand, so that it can be as wrong as a test wants it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use beads_ralph_testkit::scripted_model::ScriptedModel;
use serde_json::{Value, json};

/// Nothing that a test waits for takes this long.
pub(crate) const MAX_WAIT: Duration = Duration::from_mins(1);

/// One connection.
#[derive(Debug)]
pub(crate) struct Client {
    reader: BufReader<TcpStream>,
}

/// An answer, with its pieces put together.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
    /// Whether the connection lasted until the answer's end.
    pub(crate) is_whole: bool,
}

impl Client {
    #[track_caller]
    pub(crate) fn new(model: &ScriptedModel) -> Self {
        Self::to(model.address())
    }

    #[track_caller]
    pub(crate) fn to(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(MAX_WAIT)).unwrap();
        Self {
            reader: BufReader::new(stream),
        }
    }

    /// Sends bytes as they are. The other side may have closed already, which the answer shows.
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        drop(self.reader.get_mut().write_all(bytes.as_ref()));
    }

    /// Posts JSON and waits for the answer.
    #[track_caller]
    pub(crate) fn post(&mut self, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        self.send_post(path, headers, body);
        self.answer().expect("an answer")
    }

    pub(crate) fn send_post(&mut self, path: &str, headers: &[(&str, &str)], body: &Value) {
        let body = body.to_string();
        let mut request = format!("POST {path} HTTP/1.1\r\nHost: x\r\n");
        for (name, value) in headers {
            request.push_str(&[*name, ": ", *value, "\r\n"].concat());
        }
        request.push_str(
            &[
                "Content-Length: ",
                &body.len().to_string(),
                "\r\n\r\n",
                &body,
            ]
            .concat(),
        );
        self.send(request);
    }

    /// The next answer; nothing when the connection is closed instead.
    #[track_caller]
    pub(crate) fn answer(&mut self) -> Option<Answer> {
        let first = self.line();
        let status = first.split(' ').nth(1)?.parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(": ") else {
                break;
            };
            headers.push((name.to_owned(), value.to_owned()));
        }
        let mut answer = Answer {
            status,
            headers,
            body: String::new(),
            is_whole: true,
        };
        if answer.header("transfer-encoding") == Some("chunked") {
            self.pieces(&mut answer);
        } else if status != 100 {
            let length: u64 = answer.header("content-length").unwrap().parse().unwrap();
            let body = &mut answer.body;
            self.reader
                .by_ref()
                .take(length)
                .read_to_string(body)
                .unwrap();
        }
        Some(answer)
    }

    fn pieces(&mut self, answer: &mut Answer) {
        loop {
            let line = self.line();
            if line.is_empty() {
                answer.is_whole = false;
                return;
            }
            let length = u64::from_str_radix(&line, 16).unwrap();
            let body = &mut answer.body;
            self.reader
                .by_ref()
                .take(length)
                .read_to_string(body)
                .unwrap();
            assert_eq!(self.line(), "");
            if length == 0 {
                return;
            }
        }
    }

    /// A line without its end; an empty one when there is nothing more.
    fn line(&mut self) -> String {
        let mut line = String::new();
        // A connection that is reset has nothing more to give either.
        drop(self.reader.read_line(&mut line));
        line.trim_end().to_owned()
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// The data of the events, whose names are their types.
    #[track_caller]
    pub(crate) fn events(&self) -> Vec<Value> {
        let blocks = self.body.split_terminator("\n\n");
        let event = |block: &str| {
            let (name, data) = block.split_once('\n').unwrap();
            let data: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
            assert_eq!(
                Some(name),
                data["type"]
                    .as_str()
                    .map(|kind| format!("event: {kind}"))
                    .as_deref()
            );
            data
        };
        blocks.map(event).collect()
    }
}

/// What `claude` sends: the user's words, and then for each command its call and its result.
pub(crate) fn messages(prompt: &str, calls: &[&str]) -> Value {
    let mut messages = vec![json!({"role": "user", "content": [
        {"type": "text", "text": "<system-reminder>\nThe date is a date.\n</system-reminder>"},
        {"type": "text", "text": prompt},
    ]})];
    for id in calls {
        messages.push(json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "x"}},
        ]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": format!("result of {id}")},
        ]}));
    }
    json!({
        "model": "some-model",
        "system": [{"type": "text", "text": "Be good."}],
        "messages": messages,
        "tools": [{"name": "Bash"}, {"name": "Read"}],
        "stream": true,
    })
}

/// What `codex` sends, likewise.
pub(crate) fn responses(prompt: &str, calls: &[&str]) -> Value {
    let said = |role: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]});
    let mut items = vec![
        said("developer", "Be good."),
        said(
            "user",
            "# AGENTS.md instructions for /x\n\nNever say never.",
        ),
        said(
            "user",
            "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>",
        ),
        said("user", prompt),
    ];
    for id in calls {
        items.push(json!({"type": "function_call", "call_id": id, "name": "exec_command", "arguments": "{}"}));
        items.push(json!({"type": "function_call_output", "call_id": id, "output": format!("result of {id}")}));
    }
    json!({
        "model": "some-model",
        "input": items,
        "tools": [{"type": "function", "name": "exec_command"}],
        "prompt_cache_key": "from-the-key",
        "stream": true,
    })
}

/// Asks as `claude` does, in a session.
#[track_caller]
pub(crate) fn ask(client: &mut Client, session: &str, body: &Value) -> Answer {
    client.post(
        "/v1/messages?beta=true",
        &[("X-Claude-Code-Session-Id", session)],
        body,
    )
}

/// Asks as `codex` does, in a session.
#[track_caller]
pub(crate) fn ask_responses(client: &mut Client, session: &str, body: &Value) -> Answer {
    client.post("/v1/responses", &[("session-id", session)], body)
}

/// The id, the tool and the input of the call in a stream of messages.
#[track_caller]
pub(crate) fn call(answer: &Answer) -> (String, String, Value) {
    let events = answer.events();
    let block = &events[1]["content_block"];
    assert_eq!(events[4]["delta"]["stop_reason"], "tool_use", "{events:?}");
    let input = events[2]["delta"]["partial_json"].as_str().unwrap();
    (
        text(&block["id"]),
        text(&block["name"]),
        serde_json::from_str(input).unwrap(),
    )
}

/// The text in a stream of messages.
#[track_caller]
pub(crate) fn said(answer: &Answer) -> String {
    let events = answer.events();
    assert_eq!(events[4]["delta"]["stop_reason"], "end_turn", "{events:?}");
    text(&events[2]["delta"]["text"])
}

/// The item in a stream of responses.
#[track_caller]
pub(crate) fn item(answer: &Answer) -> Value {
    answer.events()[1]["item"].clone()
}

#[track_caller]
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

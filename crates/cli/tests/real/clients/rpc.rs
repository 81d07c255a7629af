//! A server of the Model Context Protocol: JSON-RPC, one message on each line of its standard input and output.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::ChildStdin;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use serde_json::{Value, json};

use crate::world::{Invocation, MAX_WAIT, Running};

/// A server that runs.
pub(super) struct Server {
    stdin: ChildStdin,
    answers: Receiver<Value>,
    n_asked: u64,
    /// Ends it together with the test.
    _running: Running,
}

impl Server {
    #[track_caller]
    pub(super) fn start(invocation: Invocation) -> Self {
        let (running, stdin, stdout) = invocation.talk();
        let (send, answers) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if let Ok(message) = serde_json::from_str(&line)
                    && send.send(message).is_err()
                {
                    break;
                }
            }
        });
        Self {
            stdin,
            answers,
            n_asked: 0,
            _running: running,
        }
    }

    /// Says hello.
    #[track_caller]
    pub(super) fn initialize(&mut self) {
        let hello = json!({
            "protocolVersion": "2024-11-05", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        self.ask("initialize", &hello);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }

    /// Asks, and gives the result.
    #[track_caller]
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.n_asked += 1;
        let id = self.n_asked;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let answer = self.answers.recv_timeout(MAX_WAIT).expect("an answer");
            // What the server says of itself in between is not asked for.
            if answer["id"] == id {
                assert_eq!(answer.get("error"), None, "{method} {params}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    /// Calls a tool, and gives what it says: the JSON in its text, or the text.
    #[track_caller]
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let result = self.ask("tools/call", &params);
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        let said: Value = serde_json::from_str(text).unwrap_or_else(|_| text.into());
        let is_error = result["isError"] == true || said.get("error").is_some();
        assert!(!is_error, "{tool} {arguments}: {result}");
        // What is no object stands under `result`.
        match result.get("structuredContent") {
            Some(structured) => structured.get("result").unwrap_or(structured).clone(),
            None => said,
        }
    }

    #[track_caller]
    fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.stdin.write_all(line.as_bytes()).unwrap();
        self.stdin.flush().unwrap();
    }
}

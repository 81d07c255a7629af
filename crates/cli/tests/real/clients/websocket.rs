//! The least that is needed to talk to beads-ui as its page does: text messages over a WebSocket on this machine.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::world::MAX_WAIT;

/// How long to wait before the next try to connect.
const PAUSE: Duration = Duration::from_millis(50);

/// A port that nobody listens on.
pub(super) fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// A connection to beads-ui.
pub(super) struct Socket {
    stream: TcpStream,
    n_asked: u64,
}

impl Socket {
    /// Connects as soon as the server listens.
    #[track_caller]
    pub(super) fn connect(port: u16) -> Self {
        let mut tries = MAX_WAIT.as_millis() / PAUSE.as_millis();
        let mut stream = loop {
            match TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
                Ok(stream) => break stream,
                Err(error) => assert!(tries > 0, "{error}"),
            }
            tries -= 1;
            thread::sleep(PAUSE);
        };
        stream.set_read_timeout(Some(MAX_WAIT)).unwrap();
        let hello = format!(
            "GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        );
        stream.write_all(hello.as_bytes()).unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.extend(byte);
        }
        let head = String::from_utf8_lossy(&head).into_owned();
        assert!(head.starts_with("HTTP/1.1 101 "), "{head}");
        Self { stream, n_asked: 0 }
    }

    /// Asks, and gives what comes back.
    #[track_caller]
    pub(super) fn ask(&mut self, kind: &str, payload: &Value) -> Value {
        self.n_asked += 1;
        let id = format!("r{}", self.n_asked);
        self.send(&json!({"id": id, "type": kind, "payload": payload}));
        loop {
            let message = self.receive();
            if message["id"] == id.as_str() {
                assert_eq!(message["ok"], true, "{kind} {payload}: {message}");
                return message["payload"].clone();
            }
        }
    }

    /// The items of a list, as the page gets them when it asks for one.
    #[track_caller]
    pub(super) fn list(&mut self, kind: &str, params: &Value) -> Value {
        self.n_asked += 1;
        let (id, list) = (format!("r{}", self.n_asked), format!("l{}", self.n_asked));
        let payload = json!({"id": list, "type": kind, "params": params});
        self.send(&json!({"id": id, "type": "subscribe-list", "payload": payload}));
        let mut items = Value::Null;
        loop {
            let message = self.receive();
            let payload = &message["payload"];
            if message["type"] == "snapshot" && payload["id"] == list.as_str() {
                items = payload["issues"].clone();
            }
            if message["id"] == id.as_str() {
                assert_eq!(message["ok"], true, "{kind}: {message}");
                break;
            }
        }
        self.ask("unsubscribe-list", &json!({"id": list}));
        items
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let length = u16::try_from(text.len()).unwrap();
        // A whole text message with a length of two bytes; a client has to mask it, and may do so with zeros.
        let mut frame = vec![0x81, 0xfe];
        frame.extend(length.to_be_bytes());
        frame.extend([0; 4]);
        frame.extend(text.as_bytes());
        self.stream.write_all(&frame).unwrap();
    }

    /// The next text message.
    #[track_caller]
    fn receive(&mut self) -> Value {
        loop {
            let mut head = [0; 2];
            self.stream.read_exact(&mut head).unwrap();
            let length = match head[1] & 0x7f {
                126 => {
                    let mut length = [0; 2];
                    self.stream.read_exact(&mut length).unwrap();
                    u64::from(u16::from_be_bytes(length))
                }
                127 => {
                    let mut length = [0; 8];
                    self.stream.read_exact(&mut length).unwrap();
                    u64::from_be_bytes(length)
                }
                length => u64::from(length),
            };
            let mut body = vec![0; usize::try_from(length).unwrap()];
            self.stream.read_exact(&mut body).unwrap();
            // Anything else only keeps the connection alive.
            if head[0] == 0x81 {
                return serde_json::from_slice(&body).unwrap();
            }
        }
    }
}

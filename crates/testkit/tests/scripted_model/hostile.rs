//! Clients that mean no good, or cannot do better.

use std::net::TcpStream;

use beads_ralph_testkit::scripted_model::ScriptedModel;
use serde_json::{Value, json};

use crate::client::{Client, ask, messages, said};

fn model() -> ScriptedModel {
    ScriptedModel::with("rules: [{sessions: [[{say: hello}]]}]")
}

#[track_caller]
fn is_well(model: &ScriptedModel) {
    assert_eq!(
        said(&ask(&mut Client::new(model), "s", &messages("x", &[]))),
        "hello"
    );
}

#[test]
fn what_is_no_request_is_refused_and_the_next_client_served() {
    let model = model();
    let long = format!("GET / HTTP/1.1\r\nA: {}\r\n\r\n", "x".repeat(1_000_000));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(10_000));
    for (bytes, status) in [
        (&b"\x16\x03\x01\x00\xa5\x01\n\n"[..], 400),
        (b"\xff\xff\xff\xff\n", 400),
        (b"GET / HTTP/9.9\r\n\r\n", 505),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n\r\n", 413),
        (b"POST /v1/messages HTTP/1.1\r\nContent-Length: 18446744073709551616\r\n\r\n", 400),
        (b"POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", 400),
        (b"POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n", 413),
        (long.as_bytes(), 431),
        (many.as_bytes(), 431),
    ] {
        let mut client = Client::new(&model);
        client.send(bytes);
        // One that is still sending when it is refused may lose the answer.
        let answer = client.answer().map(|answer| answer.status);
        let is_long = bytes.len() > 10_000;
        assert!(answer == Some(status) || (is_long && answer.is_none()), "{answer:?} {:?}", bytes.get(..80));
        is_well(&model);
    }
}

#[test]
fn bodies_of_any_shape_are_answered() {
    let model = model();
    let mut client = Client::new(&model);
    let shapes = [
        json!(null),
        json!([]),
        json!({"messages": 1}),
        json!({"messages": [1, null, {"role": "user"}, {"role": "user", "content": 5}], "tools": [{"name": "Bash"}]}),
        json!({"messages": [{"role": "user", "content": [{"type": "text"}, {"type": "tool_result"}, 7]}], "tools": 9}),
        json!({"metadata": {"user_id": "{"}, "messages": [], "tools": [{"name": 1}, {"name": "Bash"}]}),
    ];
    for shape in &shapes {
        let status = client.post("/v1/messages", &[], shape).status;
        assert!([200, 400].contains(&status), "{shape}");
    }
    let items = json!([1, {}, {"type": "message", "role": "user"}, {"type": "function_call_output", "output": {}}]);
    for shape in [
        json!({"input": {}}),
        json!({"input": items, "tools": [{"name": "exec_command"}]}),
    ] {
        let status = client.post("/v1/responses", &[], &shape).status;
        assert!([200, 400].contains(&status), "{shape}");
    }
    let deep = "[".repeat(100_000);
    client.send(format!(
        "POST /v1/messages HTTP/1.1\r\nContent-Length: {}\r\n\r\n{deep}",
        deep.len()
    ));
    assert_eq!(client.answer().unwrap().status, 400);
    is_well(&model);
}

#[test]
fn clients_that_stop_in_the_middle_harm_nobody() {
    let model = model();
    let half = |text: &str| {
        let mut client = Client::new(&model);
        client.send(text);
        client
    };
    let stuck = [
        half(""),
        half("POST /v1/mess"),
        half("POST /v1/messages HTTP/1.1\r\nContent-"),
        half("POST /v1/messages HTTP/1.1\r\nContent-Length: 100\r\n\r\n{"),
        half("POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"),
    ];
    is_well(&model);
    drop(stuck);
    is_well(&model);
    // A client that never reads its answers.
    let mut deaf = Client::new(&model);
    for _ in 0..200 {
        deaf.send_post("/v1/messages", &[], &messages("x", &[]));
    }
    is_well(&model);
}

#[test]
fn a_crowd_is_served_or_turned_away_and_then_gone() {
    let model = model();
    let crowd: Vec<TcpStream> = (0..300)
        .map(|_| TcpStream::connect(model.address()).unwrap())
        .collect();
    drop(crowd);
    let body: Value = messages("x", &[]);
    // Places become free as the server notices that the crowd has left.
    let is_served = (0..10_000).any(|_| {
        let mut client = Client::new(&model);
        client.send_post("/v1/messages", &[], &body);
        client.answer().is_some()
    });
    assert!(is_served);
}

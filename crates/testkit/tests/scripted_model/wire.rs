//! HTTP as the programs speak it.

use beads_ralph_testkit::scripted_model::ScriptedModel;
use serde_json::json;

use crate::client::{Client, messages, responses, said};

fn model() -> ScriptedModel {
    ScriptedModel::with("rules: [{sessions: [[{say: hello}]]}]")
}

#[test]
fn a_body_may_come_in_chunks_and_a_connection_lasts() {
    let model = model();
    let mut client = Client::new(&model);
    let body = messages("x", &[]).to_string();
    for _ in 0..3 {
        client.send("POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
        for piece in body.as_bytes().chunks(100) {
            client.send(format!("{:X}\r\n", piece.len()));
            client.send(piece);
            client.send("\r\n");
        }
        client.send("0\r\n\r\n");
        assert_eq!(said(&client.answer().unwrap()), "hello");
    }
    assert_eq!(model.asked().len(), 3);
}

#[test]
fn who_asks_first_may_send() {
    let model = model();
    let mut client = Client::new(&model);
    let body = messages("x", &[]).to_string();
    client.send(format!(
        "POST /v1/messages HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        body.len()
    ));
    assert_eq!(client.answer().unwrap().status, 100);
    client.send(body);
    assert_eq!(said(&client.answer().unwrap()), "hello");
}

#[test]
fn requests_may_come_before_the_answers() {
    let model = model();
    let mut client = Client::new(&model);
    for _ in 0..3 {
        client.send_post("/v1/messages", &[], &messages("x", &[]));
    }
    for _ in 0..3 {
        assert_eq!(said(&client.answer().unwrap()), "hello");
    }
}

#[test]
fn who_wants_to_close_is_let_go() {
    let model = model();
    let mut client = Client::new(&model);
    client.send_post(
        "/v1/messages",
        &[("Connection", "close")],
        &messages("x", &[]),
    );
    assert_eq!(said(&client.answer().unwrap()), "hello");
    assert!(client.answer().is_none());
}

#[test]
fn probes_are_answered() {
    let model = model();
    let mut client = Client::new(&model);
    for (request, status) in [
        ("HEAD / HTTP/1.1\r\n\r\n", 200),
        ("GET / HTTP/1.1\r\n\r\n", 200),
        ("GET /v1/models HTTP/1.1\r\n\r\n", 404),
        (
            "POST /v1/nothing HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
            404,
        ),
        ("DELETE /v1/messages HTTP/1.1\r\n\r\n", 404),
    ] {
        client.send(request);
        assert_eq!(client.answer().unwrap().status, status, "{request}");
    }
    let body = messages("x", &[]);
    let counted = client.post("/v1/messages/count_tokens?beta=true", &[], &body);
    assert_eq!(counted.json()["input_tokens"], body.to_string().len() / 4);
    assert!(model.asked().is_empty());
}

#[test]
fn who_wants_no_stream_gets_one_object() {
    let model = model();
    let mut client = Client::new(&model);
    let mut body = messages("x", &[]);
    body["stream"] = json!(false);
    let message = client.post("/v1/messages", &[], &body).json();
    assert_eq!(
        message["content"],
        json!([{"type": "text", "text": "hello"}])
    );
    assert_eq!(
        (&message["stop_reason"], &message["usage"]["input_tokens"]),
        (&json!("end_turn"), &json!(100))
    );
    let mut body = responses("x", &[]);
    body["stream"] = json!(false);
    let response = client.post("/v1/responses", &[], &body).json();
    assert_eq!(
        (
            &response["status"],
            &response["output"][0]["content"][0]["text"]
        ),
        (&json!("completed"), &json!("hello"))
    );
}

//! Anthropic's `/v1/messages`, as `claude` uses it.
//!
//! Every request holds the whole conversation. A command is a call of the tool `Bash`; structured output is a call of the
//! tool `StructuredOutput`, which the program offers when it was given a schema, and with which it ends.

use beads_ralph_core::scenario::{Failure, Usage};
use serde_json::{Value, json};

use super::answer::{Answer, Said};
use super::question::Question;
use crate::http::Request;

/// How the ids of the calls begin that run a command; their results are told from those of other calls by it.
const RUN: &str = "toolu_run_";

/// How texts begin that the program puts into the user's mouth.
const NOT_THE_USER: [&str; 2] = ["<system-reminder>", "[structured-output-enforce]"];

/// Reads what is asked.
pub(super) fn question(request: &Request, body: &Value) -> Result<Question, &'static str> {
    let messages = body["messages"].as_array().ok_or("`messages` is no list")?;
    let mut question = Question {
        session: session(request, body),
        model: text(&body["model"]),
        system: texts(&body["system"]).join("\n"),
        can_run: has_tool(body, "Bash"),
        wants_report: has_tool(body, "StructuredOutput"),
        is_stream: body["stream"] == true,
        ..Question::default()
    };
    for message in messages.iter().filter(|message| message["role"] == "user") {
        hear(&mut question, &message["content"]);
    }
    Ok(question)
}

/// The session by the header, or by the metadata, whose `user_id` is JSON itself.
fn session(request: &Request, body: &Value) -> String {
    if let Some(session) = request.header("x-claude-code-session-id") {
        return session.to_owned();
    }
    let user = body["metadata"]["user_id"].as_str().unwrap_or_default();
    let user: Value = serde_json::from_str(user).unwrap_or_default();
    text(&user["session_id"])
}

fn has_tool(body: &Value, name: &str) -> bool {
    let tools = body["tools"].as_array();
    tools.is_some_and(|tools| tools.iter().any(|tool| tool["name"] == name))
}

/// Takes in what the user or his tools said in one message.
fn hear(question: &mut Question, content: &Value) {
    let mut spoken = Vec::new();
    let results = content.as_array().into_iter().flatten();
    for result in results.filter(|block| block["type"] == "tool_result") {
        let id = result["tool_use_id"].as_str().unwrap_or_default();
        if id.starts_with(RUN) {
            question.results.push(texts(&result["content"]).join("\n"));
        }
    }
    for text in texts(content) {
        if !NOT_THE_USER.iter().any(|mark| text.starts_with(mark)) {
            spoken.push(text);
        }
    }
    if !spoken.is_empty() {
        question.prompted(&spoken.join("\n"));
    }
}

/// The texts of a content, which is a text itself or a list of blocks.
fn texts(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        Value::Array(blocks) => (blocks.iter())
            .filter(|block| block["type"] == "text")
            .filter_map(|block| block["text"].as_str())
            .collect(),
        _ => Vec::new(),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The answer as events of a stream: the message without its content, then the content.
pub(super) fn events(answer: &Answer<'_>) -> Vec<Value> {
    let mut message = message(answer);
    let end = json!({"stop_reason": message["stop_reason"].take(), "stop_sequence": null});
    let usage = message["usage"].clone();
    message["usage"]["output_tokens"] = json!(1);
    let mut block = message["content"][0].take();
    message["content"] = json!([]);
    let delta = if block["type"] == "tool_use" {
        let input = std::mem::replace(&mut block["input"], json!({}));
        json!({"type": "input_json_delta", "partial_json": input.to_string()})
    } else {
        let text = std::mem::replace(&mut block["text"], json!(""));
        json!({"type": "text_delta", "text": text})
    };
    vec![
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": end, "usage": usage}),
        json!({"type": "message_stop"}),
    ]
}

/// The answer as one object, for who did not ask for a stream.
pub(super) fn message(answer: &Answer<'_>) -> Value {
    let call = call(answer);
    let stop = if call.is_some() {
        "tool_use"
    } else {
        "end_turn"
    };
    let text = || json!({"type": "text", "text": answer.text()});
    json!({
        "id": format!("msg_{}", answer.n),
        "type": "message",
        "role": "assistant",
        "model": answer.question.model,
        "content": [call.unwrap_or_else(text)],
        "stop_reason": stop,
        "stop_sequence": null,
        "usage": usage(answer.usage),
    })
}

/// The call of a tool that an answer is, if it is one.
fn call(answer: &Answer<'_>) -> Option<Value> {
    let (id, name, input) = match answer.said {
        Said::Command(command) => {
            let input = json!({"command": command, "description": "A step of the scenario"});
            (format!("{RUN}{}", answer.n), "Bash", input)
        }
        Said::Report(report) if answer.question.wants_report => {
            let id = format!("toolu_report_{}", answer.n);
            (id, "StructuredOutput", report.clone())
        }
        Said::Report(_) | Said::Text(_) => return None,
    };
    Some(json!({"type": "tool_use", "id": id, "name": name, "input": input}))
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
    })
}

/// What a refusal says, beside its status.
pub(super) fn refusal(failure: &Failure) -> (Vec<(&'static str, String)>, Value) {
    let kind = match failure.status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        400..500 => "invalid_request_error",
        _ => "api_error",
    };
    let body = json!({"type": "error", "error": {"type": kind, "message": failure.message}});
    let headers = failure.resets_at.map_or_else(Vec::new, |resets_at| {
        vec![
            ("anthropic-ratelimit-unified-status", "rejected".to_owned()),
            ("anthropic-ratelimit-unified-reset", resets_at.to_string()),
            (
                "anthropic-ratelimit-unified-representative-claim",
                "five_hour".to_owned(),
            ),
            (
                "anthropic-ratelimit-unified-overage-status",
                "rejected".to_owned(),
            ),
        ]
    });
    (headers, body)
}

//! OpenAI's `/v1/responses`, as `codex` uses it.
//!
//! Every request holds the whole conversation. A command is a call of the function `exec_command`; structured output is a
//! message whose text is JSON.

use beads_ralph_core::scenario::{Failure, Usage};
use serde_json::{Value, json};

use super::answer::{Answer, Said};
use super::question::Question;
use crate::http::Request;

/// How the ids of the calls begin that run a command.
const RUN: &str = "call_run_";

/// For how many milliseconds a command may run before the program calls it unfinished: the longest that it takes.
const YIELD: u32 = 30_000;

/// How messages begin that the program puts into the user's mouth between a result and the next answer.
const NOT_THE_USER: [&str; 2] = ["<environment_context>", "<turn_aborted>"];

/// Reads what is asked.
pub(super) fn question(request: &Request, body: &Value) -> Result<Question, &'static str> {
    let items = body["input"].as_array().ok_or("`input` is no list")?;
    let key = body["prompt_cache_key"].as_str();
    let session = request.header("session-id").or(key).unwrap_or_default();
    let tools = body["tools"].as_array().map_or(&[][..], Vec::as_slice);
    let mut question = Question {
        session: session.to_owned(),
        model: text(&body["model"]),
        system: text(&body["instructions"]),
        can_run: tools.iter().any(|tool| tool["name"] == "exec_command"),
        wants_report: body["text"]["format"]["type"] == "json_schema",
        is_stream: body["stream"] == true,
        ..Question::default()
    };
    let mut was_user = false;
    for item in items {
        was_user = hear(&mut question, item, was_user);
    }
    Ok(question)
}

/// Takes in one item, and says whether it leaves the word with the user. Several messages of the user in a row are one prompt: the
/// last is his own, and what precedes it was put there by the program (the instructions of a project, say).
fn hear(question: &mut Question, item: &Value, was_user: bool) -> bool {
    match (item["type"].as_str(), item["role"].as_str()) {
        (Some("message"), Some("user")) => {
            let text = texts(&item["content"]);
            if NOT_THE_USER.iter().any(|mark| text.starts_with(mark)) {
                return was_user;
            }
            if was_user {
                question.n_prompts -= 1;
            }
            question.prompted(&text);
            true
        }
        (Some("message"), Some("developer" | "system")) => {
            for part in [texts(&item["content"]).as_str(), "\n"] {
                question.system.push_str(part);
            }
            was_user
        }
        (Some("function_call_output"), _) => {
            let id = item["call_id"].as_str().unwrap_or_default();
            if id.starts_with(RUN) {
                question.results.push(texts(&item["output"]));
            }
            false
        }
        _ => false,
    }
}

/// The texts of a content, which is a text itself or a list of parts.
fn texts(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The answer as events of a stream.
pub(super) fn events(answer: &Answer<'_>) -> Vec<Value> {
    let response = response(answer);
    let created = json!({"id": response["id"], "model": response["model"]});
    let item = &response["output"][0];
    vec![
        json!({"type": "response.created", "response": created}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": response}),
    ]
}

/// The answer as one object, for who did not ask for a stream.
pub(super) fn response(answer: &Answer<'_>) -> Value {
    json!({
        "id": format!("resp_{}", answer.n),
        "object": "response",
        "status": "completed",
        "model": answer.question.model,
        "output": [item(answer)],
        "usage": usage(answer.usage),
    })
}

fn item(answer: &Answer<'_>) -> Value {
    match answer.said {
        Said::Command(command) => json!({
            "type": "function_call",
            "id": format!("fc_{}", answer.n),
            "call_id": format!("{RUN}{}", answer.n),
            "name": "exec_command",
            "arguments": json!({"cmd": command, "yield_time_ms": YIELD}).to_string(),
        }),
        Said::Text(_) | Said::Report(_) => json!({
            "type": "message",
            "id": format!("msg_{}", answer.n),
            "role": "assistant",
            "content": [{"type": "output_text", "text": answer.text(), "annotations": []}],
        }),
    }
}

/// Here what comes from the cache is part of the input.
fn usage(usage: Usage) -> Value {
    let input = usage.input + usage.cache_read + usage.cache_write;
    json!({
        "input_tokens": input,
        "input_tokens_details": {"cached_tokens": usage.cache_read},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input + usage.output,
    })
}

/// What a refusal says, beside its status.
pub(super) fn refusal(failure: &Failure) -> (Vec<(&'static str, String)>, Value) {
    let kind = match failure.status {
        401 => "invalid_api_key",
        429 if failure.resets_at.is_some() => "usage_limit_reached",
        429 => "rate_limit_exceeded",
        400..500 => "invalid_request_error",
        _ => "server_error",
    };
    let mut error = json!({"type": kind, "code": kind, "message": failure.message});
    if let Some(resets_at) = failure.resets_at {
        error["plan_type"] = json!("plus");
        error["resets_at"] = json!(resets_at);
    }
    (Vec::new(), json!({"error": error}))
}

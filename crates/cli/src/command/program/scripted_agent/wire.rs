//! The lines of an agent's stream, in the format of `claude`.

use beads_ralph_core::scenario::{Failure as Refusal, Usage};
use serde_json::{Value, json};

/// What tokens cost, in thousand-millionths of a US dollar: in the order of what models cost, and always the same.
const INPUT: u64 = 3_000;
const OUTPUT: u64 = 15_000;
const CACHE_READ: u64 = 300;
const CACHE_WRITE: u64 = 3_750;

#[derive(Debug, Clone, Copy)]
pub(super) struct Tally {
    pub(super) usage: Usage,
    pub(super) n_turns: u32,
}

impl Tally {
    pub(super) const NOTHING: Self = Self {
        usage: Usage::NONE,
        n_turns: 0,
    };

    /// Takes one more turn into account.
    pub(super) fn add(&mut self, turn: Usage) {
        let sum = &mut self.usage;
        sum.input = sum.input.saturating_add(turn.input);
        sum.output = sum.output.saturating_add(turn.output);
        sum.cache_read = sum.cache_read.saturating_add(turn.cache_read);
        sum.cache_write = sum.cache_write.saturating_add(turn.cache_write);
        self.n_turns += 1;
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a sum of money that is shown, and compared with a limit"
    )]
    pub(super) fn usd(&self) -> f64 {
        let Usage {
            input,
            output,
            cache_read,
            cache_write,
        } = self.usage;
        let costs = [
            (input, INPUT),
            (output, OUTPUT),
            (cache_read, CACHE_READ),
            (cache_write, CACHE_WRITE),
        ];
        let nano = costs.map(|(n_tokens, price)| n_tokens.saturating_mul(price));
        nano.into_iter().fold(0, u64::saturating_add) as f64 / 1e9
    }
}

/// How a run ends, as its last line says it.
#[derive(Debug)]
pub(super) enum Word {
    /// With a text, and the report if there is one.
    Done(String, Option<Value>),
    Refused(Refusal),
    Limit(Limit),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Limit {
    Turns(u32),
    Budget(f64),
}

/// A stream in the making: each function gives one line, without its end.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) session: String,
    pub(super) model: String,
}

impl Stream {
    pub(super) fn init(&self, cwd: &str) -> Value {
        json!({
            "type": "system",
            "subtype": "init",
            "cwd": cwd,
            "session_id": self.session,
            "tools": ["Bash", "StructuredOutput"],
            "mcp_servers": [],
            "model": self.model,
            "permissionMode": "bypassPermissions",
            "apiKeySource": "none",
        })
    }

    /// A call of a tool; `n` tells the calls apart.
    pub(super) fn call(n: u32, tool: &str, input: &Value) -> Value {
        json!({"type": "tool_use", "id": Self::call_id(n), "name": tool, "input": input})
    }

    pub(super) fn command(command: &str) -> Value {
        json!({"command": command, "description": "A step of the scenario"})
    }

    pub(super) fn call_id(n: u32) -> String {
        format!("toolu_{n}")
    }

    pub(super) fn text(text: &str) -> Value {
        json!({"type": "text", "text": text})
    }

    /// Something that the model says; `n` tells its messages apart.
    pub(super) fn assistant(&self, n: u32, block: &Value, usage: Usage) -> Value {
        json!({
            "type": "assistant",
            "message": {
                "id": format!("msg_{n}"),
                "type": "message",
                "role": "assistant",
                "model": self.model,
                "content": [block],
                "stop_reason": null,
                "stop_sequence": null,
                "usage": api_usage(usage),
            },
            "parent_tool_use_id": null,
            "session_id": self.session,
        })
    }

    pub(super) fn tool_result(&self, id: &str, text: &str, is_error: bool) -> Value {
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error});
        json!({
            "type": "user",
            "message": {"role": "user", "content": [block]},
            "parent_tool_use_id": null,
            "session_id": self.session,
        })
    }

    /// A report was wanted, and a text came.
    pub(super) fn insistence(&self) -> Value {
        let text = "[structured-output-enforce] You MUST call the StructuredOutput tool to complete this request. Call this tool now.";
        json!({
            "type": "user",
            "message": {"role": "user", "content": [{"type": "text", "text": text}]},
            "parent_tool_use_id": null,
            "session_id": self.session,
        })
    }

    /// The service failed, and is asked again.
    pub(super) fn retry(&self, attempt: u32, refusal: Option<&Refusal>) -> Value {
        let error = match refusal.map(|refusal| refusal.status) {
            Some(401) => "authentication_failed",
            Some(429) => "rate_limit",
            Some(529) => "overloaded",
            Some(500..) => "server_error",
            Some(_) | None => "unknown",
        };
        json!({
            "type": "system",
            "subtype": "api_retry",
            "attempt": attempt,
            "max_retries": 10,
            "retry_delay_ms": refusal.and_then(|refusal| refusal.retry_after).unwrap_or(0).saturating_mul(1000),
            "error_status": refusal.map(|refusal| refusal.status),
            "error": error,
            "session_id": self.session,
        })
    }

    pub(super) fn rate_limit(&self, resets_at: i64) -> Value {
        json!({
            "type": "rate_limit_event",
            "rate_limit_info": {"status": "rejected", "resetsAt": resets_at, "rateLimitType": "five_hour"},
            "session_id": self.session,
        })
    }

    pub(super) fn result(&self, word: &Word, tally: &Tally, duration_ms: u128) -> Value {
        let costs = json!({self.model.as_str(): model_usage(tally)});
        let mut result = json!({
            "type": "result",
            "subtype": "success",
            "is_error": false,
            "api_error_status": null,
            "duration_ms": u64::try_from(duration_ms).unwrap_or(u64::MAX),
            "num_turns": tally.n_turns,
            "session_id": self.session,
            "total_cost_usd": tally.usd(),
            "usage": api_usage(tally.usage),
            "modelUsage": costs,
            "model_usage_since_last_result": costs,
            "permission_denials": [],
            "terminal_reason": "completed",
        });
        let mut set = |key: &str, value: Value| result[key] = value;
        match word {
            Word::Done(text, report) => {
                set("result", json!(text));
                if let Some(report) = report {
                    set("structured_output", report.clone());
                }
            }
            Word::Refused(refusal) => {
                set("is_error", json!(true));
                set("api_error_status", json!(refusal.status));
                set("terminal_reason", json!("api_error"));
                set("result", json!(complaint(refusal)));
                if refusal.resets_at.is_some() {
                    set("api_error", json!("usage_limit_reached"));
                }
            }
            Word::Limit(limit) => {
                let (subtype, reason, error) = match limit {
                    Limit::Turns(n) => (
                        "error_max_turns",
                        "max_turns",
                        format!("Reached maximum number of turns ({n})"),
                    ),
                    Limit::Budget(usd) => (
                        "error_max_budget_usd",
                        "budget_exhausted",
                        format!("Reached maximum budget (${usd})"),
                    ),
                };
                set("subtype", json!(subtype));
                set("is_error", json!(true));
                set("terminal_reason", json!(reason));
                set("errors", json!([error]));
            }
        }
        result
    }
}

fn model_usage(tally: &Tally) -> Value {
    json!({
        "inputTokens": tally.usage.input,
        "outputTokens": tally.usage.output,
        "cacheReadInputTokens": tally.usage.cache_read,
        "cacheCreationInputTokens": tally.usage.cache_write,
        "costUSD": tally.usd(),
    })
}

/// A refusal in the words of `claude`.
fn complaint(refusal: &Refusal) -> String {
    match (refusal.resets_at, refusal.status) {
        (Some(resets_at), _) => format!("You've hit your limit · resets at {resets_at}"),
        (None, 401) => format!("Failed to authenticate. API Error: 401 {}", refusal.message),
        (None, 429) => format!("API Error: Request rejected (429) · {}", refusal.message),
        (None, status) => format!("API Error: {status} {}", refusal.message),
    }
}

fn api_usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "output_tokens": usage.output,
    })
}

//! Answers as Anthropic's Messages gives them.

use super::{Answer, BEFORE_A_TOOL, USED};
use serde_json::{Value, json};

pub fn whole(answer: &Answer, number: usize, model: &str) -> Value {
    let text = |text: &str| json!({"type": "text", "text": text});
    let (content, why) = match answer {
        Answer::Text(said) => (vec![text(said)], "end_turn"),
        Answer::Tool(name, input) => {
            let call = json!({"type": "tool_use", "id": format!("toolu_{number:06}"),
                              "name": name, "input": input});
            (vec![text(BEFORE_A_TOOL), call], "tool_use")
        }
        _ => unreachable!("errors are answered by their status"),
    };
    let (read, cached, written) = USED;
    let usage = json!({"input_tokens": read - cached, "cache_read_input_tokens": cached,
                       "cache_creation_input_tokens": 0, "output_tokens": written});
    json!({"id": format!("msg_{number:06}"), "type": "message", "role": "assistant",
           "model": model, "content": content, "stop_reason": why, "stop_sequence": null,
           "usage": usage})
}

pub fn streamed(answer: &Answer, number: usize, model: &str) -> String {
    let done = whole(answer, number, model);
    let mut begun = done.clone();
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    begun["usage"]["output_tokens"] = 1.into();
    let mut events = vec![json!({"type": "message_start", "message": begun})];
    for (index, block) in done["content"].as_array().expect("a list").iter().enumerate() {
        let mut empty = block.clone();
        let delta = if block["type"] == "text" {
            empty["text"] = "".into();
            json!({"type": "text_delta", "text": block["text"]})
        } else {
            empty["input"] = json!({});
            json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})
        };
        let at = |kind: &str| json!({"type": kind, "index": index});
        let with = |mut event: Value, name: &str, value: Value| {
            event[name] = value;
            event
        };
        events.push(with(at("content_block_start"), "content_block", empty));
        events.push(with(at("content_block_delta"), "delta", delta));
        events.push(at("content_block_stop"));
    }
    let end = json!({"stop_reason": done["stop_reason"], "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": end, "usage": done["usage"]}));
    events.push(json!({"type": "message_stop"}));
    let event =
        |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(event).collect()
}

/// An error in the service's own words.
pub fn error(status: u16, message: &str) -> Value {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    json!({"type": "error", "error": {"type": kind, "message": message}})
}

//! Answers as OpenAI's Chat Completions gives them.

use super::{Answer, BEFORE_A_TOOL, USED};
use serde_json::{Value, json};

fn usage() -> Value {
    let (read, cached, written) = USED;
    json!({"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written,
           "prompt_tokens_details": {"cached_tokens": cached}})
}

/// The text and tool calls of an answer, and why it ends.
fn parts(answer: &Answer, number: usize) -> (&'static str, Vec<Value>, &'static str) {
    match answer {
        Answer::Text(text) => (text, Vec::new(), "stop"),
        Answer::Tool(name, arguments) => {
            let function = json!({"name": name, "arguments": arguments.to_string()});
            let call = json!({"index": 0, "id": format!("call_{number}"), "type": "function",
                              "function": function});
            (BEFORE_A_TOOL, vec![call], "tool_calls")
        }
        _ => unreachable!("errors are answered by their status"),
    }
}

pub fn whole(answer: &Answer, number: usize, model: &str) -> Value {
    let (text, calls, why) = parts(answer, number);
    let mut message = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    json!({"id": format!("chatcmpl-{number}"), "object": "chat.completion", "created": 1,
           "model": model, "usage": usage(),
           "choices": [{"index": 0, "message": message, "finish_reason": why}]})
}

pub fn streamed(answer: &Answer, number: usize, model: &str) -> String {
    let (text, calls, why) = parts(answer, number);
    let chunk = |choices: Value, usage: Value| {
        json!({"id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 1,
               "model": model, "choices": choices, "usage": usage})
    };
    let delta = |delta: Value, why: Option<&str>| {
        chunk(json!([{"index": 0, "delta": delta, "finish_reason": why}]), Value::Null)
    };
    let mut events = vec![delta(json!({"role": "assistant", "content": text}), None)];
    if !calls.is_empty() {
        events.push(delta(json!({"tool_calls": calls}), None));
    }
    events.push(delta(json!({}), Some(why)));
    events.push(chunk(json!([]), usage()));
    let events = events.iter().map(|event| format!("data: {event}\n\n"));
    events.collect::<String>() + "data: [DONE]\n\n"
}

//! Answers as Google's Gemini service gives them.

use super::{Answer, BEFORE_A_TOOL, USED};
use serde_json::{Value, json};

pub fn whole(answer: &Answer, number: usize) -> Value {
    let parts = match answer {
        Answer::Text(text) => json!([{"text": text}]),
        Answer::Tool(name, arguments) => {
            let call = json!({"functionCall": {"name": name, "args": arguments}});
            json!([{"text": BEFORE_A_TOOL}, call])
        }
        Answer::Error(..) => unreachable!("errors are answered by their status"),
    };
    let (read, cached, written) = USED;
    json!({
        "candidates": [{"index": 0, "content": {"role": "model", "parts": parts},
                        "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": read, "cachedContentTokenCount": cached,
                          "candidatesTokenCount": written, "totalTokenCount": read + written},
        "modelVersion": "scripted", "responseId": format!("r{number}"),
    })
}

/// A text comes in two pieces, as it does from the service.
pub fn streamed(answer: &Answer, number: usize) -> String {
    let event = |value: &Value| format!("data: {value}\n\n");
    let done = whole(answer, number);
    let Answer::Text(text) = answer else { return event(&done) };
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let piece = |text: &str| json!([{"text": text}]);
    let mut first = done.clone();
    first["candidates"] = json!([{"index": 0, "content":
                                  {"role": "model", "parts": piece(&text[..middle])}}]);
    first["usageMetadata"] = Value::Null;
    let mut last = done;
    last["candidates"][0]["content"]["parts"] = piece(&text[middle..]);
    event(&first) + &event(&last)
}

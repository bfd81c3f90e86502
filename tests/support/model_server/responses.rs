//! Answers as OpenAI's Responses gives them.

use super::{Answer, USED};
use serde_json::{Value, json};

/// The items of an answer: what is said, and the tool call after it.
fn items(answer: &Answer, number: usize) -> Vec<Value> {
    let message = |text: &str| {
        json!({"type": "message", "id": format!("msg_{number}"), "role": "assistant",
               "status": "completed",
               "content": [{"type": "output_text", "text": text, "annotations": []}]})
    };
    match answer {
        Answer::Text(text) => vec![message(text)],
        Answer::Tool(name, arguments) => {
            let call = json!({"type": "function_call", "id": format!("fc_{number}"),
                              "call_id": format!("call_{number}"), "name": name,
                              "arguments": arguments.to_string(), "status": "completed"});
            vec![message(super::BEFORE_A_TOOL), call]
        }
        Answer::Error(..) => unreachable!("errors are answered by their status"),
    }
}

pub fn whole(answer: &Answer, number: usize, model: &str) -> Value {
    let (read, cached, written) = USED;
    let usage = json!({"input_tokens": read, "input_tokens_details": {"cached_tokens": cached},
                       "output_tokens": written, "total_tokens": read + written,
                       "output_tokens_details": {"reasoning_tokens": 0}});
    json!({"id": format!("resp_{number}"), "object": "response", "created_at": 1, "model": model,
           "status": "completed", "output": items(answer, number), "usage": usage})
}

pub fn streamed(answer: &Answer, number: usize, model: &str) -> String {
    let done = whole(answer, number, model);
    let mut begun = done.clone();
    begun["status"] = "in_progress".into();
    begun["output"] = json!([]);
    let mut events = vec![json!({"type": "response.created", "response": begun})];
    for (index, item) in items(answer, number).into_iter().enumerate() {
        let mut open = item.clone();
        open["status"] = "in_progress".into();
        let id = item["id"].clone();
        if item["type"] == "message" {
            let text = item["content"][0]["text"].clone();
            open["content"] = json!([]);
            let part = json!({"type": "output_text", "text": "", "annotations": []});
            let at = |event: &str| {
                json!({"type": event, "output_index": index, "content_index": 0, "item_id": id})
            };
            let with = |mut event: Value, name: &str, value: Value| {
                event[name] = value;
                event
            };
            events.push(added(index, &open));
            events.push(with(at("response.content_part.added"), "part", part));
            events.push(with(at("response.output_text.delta"), "delta", text.clone()));
            events.push(with(at("response.output_text.done"), "text", text));
        } else {
            open["arguments"] = "".into();
            events.push(added(index, &open));
            let arguments = &item["arguments"];
            events.push(json!({"type": "response.function_call_arguments.done",
                               "output_index": index, "item_id": id, "arguments": arguments}));
        }
        events.push(json!({"type": "response.output_item.done", "output_index": index,
                           "item": item}));
    }
    events.push(json!({"type": "response.completed", "response": done}));
    let event = |(number, mut event): (usize, Value)| {
        event["sequence_number"] = number.into();
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().expect("a type"))
    };
    events.into_iter().enumerate().map(event).collect()
}

fn added(index: usize, item: &Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

//! A reader takes whatever a program prints: it never panics, and never makes a success of it that
//! nobody reported.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use towpath_agent::{Backend as _, ClaudeCode, End, Exit, Script, Scripted};

/// Field names and words that the reader looks for, where it does not expect them.
const WORDS: &[&str] = &[
    "type",
    "result",
    "assistant",
    "system",
    "subtype",
    "api_retry",
    "session_id",
    "message",
    "content",
    "tool_use",
    "text",
    "name",
    "input",
    "command",
    "is_error",
    "usage",
    "modelUsage",
    "model_usage_since_last_result",
    "inputTokens",
    "costUSD",
    "input_tokens",
    "total_cost_usd",
    "permission_denials",
    "tool_name",
    "rate_limit_event",
    "rate_limit_info",
    "status",
    "rejected",
    "resetsAt",
    "error",
    "rate_limit",
    "api_error_status",
    "errors",
    "attempt",
    "retry_delay_ms",
];

fn value() -> impl Strategy<Value = Value> {
    let word = || prop::sample::select(WORDS).prop_map(str::to_owned);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((word(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// An object of a type the reader knows, its other fields at random.
fn event() -> impl Strategy<Value = Value> {
    let kinds = vec!["result", "assistant", "system", "rate_limit_event", "user"];
    let fields = prop::collection::vec((prop::sample::select(WORDS), value()), 0..8);
    (prop::sample::select(kinds), fields).prop_map(|(kind, fields)| {
        let mut event: Map<String, Value> =
            fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        event.insert("type".into(), json!(kind));
        Value::Object(event)
    })
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let whole = prop_oneof![3 => event(), 1 => value()].prop_map(|v| v.to_string().into_bytes());
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..80),
        whole.clone(),
        (whole, any::<prop::sample::Index>()).prop_map(|(mut bytes, at)| {
            bytes.truncate(at.index(bytes.len().max(1)));
            bytes
        }),
    ]
}

fn exit() -> impl Strategy<Value = Exit> {
    let number = || proptest::option::of(-1..256i32);
    (number(), number()).prop_map(|(code, signal)| Exit { code, signal })
}

fn reports_success(line: &[u8]) -> bool {
    let good = |v: &Value| v["type"] == "result" && v["is_error"] == false;
    match serde_json::from_slice::<Value>(line) {
        Ok(Value::Array(events)) => events.iter().any(good),
        Ok(value) => good(&value),
        Err(_) => false,
    }
}

proptest! {
    #[test]
    fn claude_code_never_panics_and_invents_no_success(
        lines in prop::collection::vec(line(), 0..12), exit in exit(), stderr in ".{0,40}",
    ) {
        let mut reader = ClaudeCode::new("/bin/claude".into()).reader();
        for line in &lines {
            reader.line(line);
        }
        let reply = reader.end(&End::new(exit, &stderr));
        if reply.result.is_ok() {
            // Pieces of broken lines may add up to one value.
            let joined = lines.join(&b'\n');
            prop_assert!(lines.iter().any(|l| reports_success(l)) || joined.windows(8).any(|w| w == b"is_error"));
        }
        if let Some(cost) = reply.usage.and_then(|usage| usage.cost_usd) {
            prop_assert!(cost >= 0.0);
        }
    }

    #[test]
    fn scripted_never_panics(
        text in ".{0,60}", lines in prop::collection::vec(line(), 0..6), exit in exit(),
    ) {
        let written = serde_json::to_string(&text).unwrap();
        let script = Script::parse("s", &written).unwrap();
        let line = script.line(1).expect("the first line").clone();
        let backend = Scripted { line, bash: "/bin/bash".into() };
        let mut reader = backend.reader();
        for line in &lines {
            reader.line(line);
        }
        prop_assert_eq!(reader.end(&End::new(exit, "")).result.is_ok(), exit.code == Some(0));
    }

    #[test]
    fn any_text_is_a_script_or_an_error_with_its_line(text in "(\\PC|\n){0,120}") {
        if let Err(error) = Script::parse("s", &text) {
            prop_assert!(error.line >= 1 && error.line as usize <= text.lines().count());
        }
    }

    #[test]
    fn a_line_of_known_keys_is_a_script_or_an_error(value in value()) {
        let keys = ["text", "error", "until", "session_id", "cost_usd", "delay_ms", "run"];
        for key in keys {
            let line = json!({"text": "t", key: value}).to_string();
            let made = Script::parse("s", &line);
            prop_assert!(made.is_ok() || made.is_err_and(|e| e.line == 1 && e.message.contains(key)));
        }
    }
}

//! Reads what Claude Code prints: one object a line, and also the single object or array that its
//! other output format and older versions print, in one line or many. Unknown lines are passed
//! over; only a `result` ends a call well, and only together with exit code 0.

use super::fault::Heard;
use super::{doing, usage};
use crate::backend::Reader;
use crate::call::{CallFault, Exit, Reply, Sign};
use serde_json::Value;
use towpath_core::{FaultKind, Usage};

/// How much unreadable output is kept, in the hope that it is one value over many lines.
const LARGEST_REST: usize = 4 << 20;

#[derive(Debug, Default)]
pub(super) struct ClaudeReader {
    session: Option<String>,
    heard: Heard,
    /// The last `result` object.
    result: Option<Value>,
    usage: Option<Usage>,
    rest: Vec<u8>,
}

impl Reader for ClaudeReader {
    fn line(&mut self, line: &[u8]) -> Vec<Sign> {
        let mut signs = Vec::new();
        match serde_json::from_slice::<Value>(line) {
            Ok(value) if is_event(&value) => self.event(value, &mut signs),
            Ok(Value::Array(events)) if events.iter().any(is_event) => {
                events.into_iter().for_each(|event| self.event(event, &mut signs));
            }
            _ => self.keep(line),
        }
        signs
    }

    fn end(mut self: Box<Self>, exit: Exit, stderr_tail: &str) -> Reply {
        if self.result.is_none() {
            self.read_rest();
        }
        let denials = self.result.as_ref().map(denials).unwrap_or_default();
        let result = match &self.result {
            None => Err(no_result(exit, stderr_tail)),
            Some(result) => self.judge(result, exit, stderr_tail),
        };
        Reply { result, session: self.session, usage: self.usage, denials }
    }
}

impl ClaudeReader {
    fn event(&mut self, event: Value, signs: &mut Vec<Sign>) {
        if let Some(id) = event.get("session_id").and_then(Value::as_str)
            && self.session.as_deref() != Some(id)
            && !id.is_empty()
        {
            self.session = Some(id.to_owned());
            signs.push(Sign::Session(id.to_owned()));
        }
        match event.get("type").and_then(Value::as_str) {
            Some("assistant") => self.assistant(&event, signs),
            Some("rate_limit_event") => {
                self.heard.limit(event.get("rate_limit_info").unwrap_or(&Value::Null));
            }
            Some("system") if event.get("subtype").is_some_and(|s| s == "api_retry") => {
                signs.push(Sign::Retrying(doing::retry(&event)));
            }
            Some("result") => {
                self.usage = usage::add(self.usage, &event);
                self.result = Some(event);
            }
            _ => {}
        }
    }

    fn assistant(&mut self, event: &Value, signs: &mut Vec<Sign>) {
        let of_subagent = event.get("parent_tool_use_id").is_some_and(|id| !id.is_null());
        if !of_subagent {
            self.heard.assistant(event);
        }
        let blocks = event.pointer("/message/content").and_then(Value::as_array);
        for block in blocks.into_iter().flatten() {
            let field = |name: &str| block.get(name).and_then(Value::as_str);
            let doing = match field("type") {
                Some("tool_use") => {
                    let input = block.get("input").unwrap_or(&Value::Null);
                    Some(doing::tool_use(field("name").unwrap_or("tool"), input))
                }
                Some("text") => field("text").and_then(doing::last_line),
                _ => None,
            };
            signs.extend(doing.map(Sign::Doing));
        }
    }

    fn keep(&mut self, line: &[u8]) {
        if self.rest.len().saturating_add(line.len()) < LARGEST_REST {
            self.rest.extend_from_slice(line);
            self.rest.push(b'\n');
        }
    }

    fn read_rest(&mut self) {
        let rest = std::mem::take(&mut self.rest);
        let values = serde_json::Deserializer::from_slice(&rest).into_iter::<Value>();
        for value in values.map_while(Result::ok) {
            let events = match value {
                Value::Array(events) => events,
                one => vec![one],
            };
            for event in events {
                self.event(event, &mut Vec::new());
            }
        }
    }

    /// Exit code 0 and `is_error` false: nothing weaker is a success.
    fn judge(&self, result: &Value, exit: Exit, stderr: &str) -> Result<String, CallFault> {
        let said = result.get("result").and_then(Value::as_str).unwrap_or("");
        match result.get("is_error").and_then(Value::as_bool) {
            Some(true) => Err(self.heard.fault(result)),
            Some(false) if exit.success() => Ok(said.to_owned()),
            Some(false) => Err(crash(&format!("Claude Code {exit}"), &[stderr, said])),
            None => {
                Err(crash("Claude Code's result does not say whether it is an error", &[stderr]))
            }
        }
    }
}

fn is_event(value: &Value) -> bool {
    value.get("type").is_some_and(Value::is_string)
}

fn denials(result: &Value) -> Vec<String> {
    let list = result.get("permission_denials").and_then(Value::as_array);
    let one = |denial: &Value| {
        let name = denial.get("tool_name").and_then(Value::as_str).unwrap_or("tool");
        doing::tool_use(name, denial.get("tool_input").unwrap_or(&Value::Null))
    };
    list.into_iter().flatten().map(one).collect()
}

fn no_result(exit: Exit, stderr: &str) -> CallFault {
    crash(&format!("Claude Code {exit} and gave no result"), &[stderr])
}

/// A crash, with the first of `texts` that says something.
fn crash(what: &str, texts: &[&str]) -> CallFault {
    match texts.iter().map(|text| text.trim()).find(|text| !text.is_empty()) {
        Some(text) => CallFault::new(FaultKind::Crash, format!("{what}: {text}")),
        None => CallFault::new(FaultKind::Crash, what),
    }
}

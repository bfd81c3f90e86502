//! One line of a script: its fields, and how they are read from JSON. A key that is not known,
//! comes twice or has the wrong type is refused; nothing in a script is passed over in silence.

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::fmt;
use towpath_core::{FaultKind, SessionId, StepPath, Usage, nearest};

/// The longest `run`: the limit of one argument of a program on Linux.
const LONGEST_RUN: usize = 131_071;

/// What a call that takes this line does and answers. In a script's file its keys are others; this is
/// how it travels with a job.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ScriptLine {
    /// The answer, or the message of the fault.
    pub text: Option<String>,
    pub error: Option<FaultKind>,
    /// When trying again is worth it, in milliseconds since 1970.
    pub until_ms: Option<i64>,
    pub session_id: Option<SessionId>,
    pub usage: Option<Usage>,
    pub delay_ms: u64,
    /// The prompt must contain this.
    pub matches: Option<String>,
    /// Only calls of this step take the line: its path without visits, or its id.
    pub step: Option<String>,
    /// The line can be taken any number of times.
    pub repeat: bool,
    /// A bash command run in the agent's directory before the answer.
    pub run: Option<String>,
}

const KEYS: &[&str] = &[
    "text",
    "error",
    "until",
    "session_id",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "delay_ms",
    "match",
    "step",
    "repeat",
    "run",
];

impl ScriptLine {
    /// Whether a call of this step with this prompt may take the line.
    pub(super) fn fits(&self, step: &StepPath, prompt: &str) -> bool {
        let of_step = |wanted: &String| {
            let path = step.without_visits();
            path == *wanted || path.rsplit('/').next() == Some(wanted)
        };
        self.step.as_ref().is_none_or(of_step)
            && self.matches.as_ref().is_none_or(|part| prompt.contains(part))
    }

    pub(super) fn parse(text: &str) -> Result<ScriptLine, String> {
        match serde_json::from_str::<Written>(text).map_err(|e| not_json(&e))? {
            Written::Answer(text) => Ok(ScriptLine { text: Some(text), ..ScriptLine::default() }),
            Written::Fields(fields) => from_fields(fields),
        }
    }
}

fn from_fields(fields: Vec<(String, Value)>) -> Result<ScriptLine, String> {
    let mut line = ScriptLine::default();
    let mut usage = Usage::default();
    for (position, (key, value)) in fields.iter().enumerate() {
        if fields[..position].iter().any(|(earlier, _)| earlier == key) {
            return Err(format!("`{key}` is there twice"));
        }
        match key.as_str() {
            "text" => line.text = Some(string(key, value)?),
            "error" => {
                let (kind, message) = fault(&string(key, value)?);
                line.error = Some(kind);
                line.text = line.text.or(message);
            }
            "until" => line.until_ms = Some(until(value)?),
            "session_id" => line.session_id = Some(SessionId::new(string(key, value)?)),
            "input_tokens" => usage.input_tokens = Some(whole(key, value)?),
            "output_tokens" => usage.output_tokens = Some(whole(key, value)?),
            "cost_usd" => usage.cost_usd = Some(amount(key, value)?),
            "delay_ms" => line.delay_ms = whole(key, value)?,
            "match" => line.matches = Some(string(key, value)?),
            "step" => line.step = Some(string(key, value)?),
            "repeat" => line.repeat = boolean(key, value)?,
            "run" => line.run = Some(string(key, value)?),
            _ => return Err(unknown(key)),
        }
    }
    line.usage = (usage != Usage::default()).then_some(usage);
    check(line)
}

fn check(line: ScriptLine) -> Result<ScriptLine, String> {
    if line.text.is_none() && line.error.is_none() && line.run.is_none() {
        return Err("a line needs `text`, `error` or `run`".into());
    }
    if line.until_ms.is_some() && line.error.is_none() {
        return Err("`until` needs an `error`".into());
    }
    let run = line.run.as_deref().unwrap_or("");
    if run.len() > LONGEST_RUN || run.contains('\0') {
        return Err(format!("`run` may have {LONGEST_RUN} bytes at most, and no NUL"));
    }
    Ok(line)
}

/// The kind of a written error; any text that is no kind is a crash with that message.
fn fault(word: &str) -> (FaultKind, Option<String>) {
    let kind = match word {
        "auth" => FaultKind::Auth,
        "limit" => FaultKind::Limit,
        "overloaded" => FaultKind::Overloaded,
        "bad_request" => FaultKind::BadRequest,
        "unknown_session" => FaultKind::UnknownSession,
        "too_long" => FaultKind::TooLong,
        "crash" => FaultKind::Crash,
        "timeout" => FaultKind::Timeout,
        message => return (FaultKind::Crash, Some(message.to_owned())),
    };
    (kind, None)
}

fn until(value: &Value) -> Result<i64, String> {
    let seconds = |v: &Value| v.as_i64()?.checked_mul(1000);
    let time = |v: &Value| Some(v.as_str()?.parse::<jiff::Timestamp>().ok()?.as_millisecond());
    seconds(value).or_else(|| time(value)).ok_or_else(|| {
        format!("`until` is a time such as \"2030-01-31T12:00:00Z\" or unix seconds, not {value}")
    })
}

fn string(key: &str, value: &Value) -> Result<String, String> {
    let text = value.as_str().map(str::to_owned);
    text.ok_or_else(|| format!("`{key}` is a text, not {value}"))
}

fn boolean(key: &str, value: &Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| format!("`{key}` is true or false, not {value}"))
}

fn whole(key: &str, value: &Value) -> Result<u64, String> {
    value.as_u64().ok_or_else(|| format!("`{key}` is a whole number, not {value}"))
}

fn amount(key: &str, value: &Value) -> Result<f64, String> {
    let number = value.as_f64().filter(|n| n.is_finite() && *n >= 0.0);
    number.ok_or_else(|| format!("`{key}` is an amount, not {value}"))
}

fn unknown(key: &str) -> String {
    match nearest(key, KEYS.iter().copied()) {
        Some(near) => format!("unknown key `{key}`; did you mean `{near}`?"),
        None => format!("unknown key `{key}`; known are {}", KEYS.join(", ")),
    }
}

fn not_json(error: &serde_json::Error) -> String {
    // The position within the line is kept; serde's own line number is always 1 here.
    let text = error.to_string();
    let text = text.replace(" at line 1 column ", " at column ");
    format!("a line is a JSON text or object: {text}")
}

/// A line as written, each key as often as it is there: JSON itself would let the last one win.
enum Written {
    Answer(String),
    Fields(Vec<(String, Value)>),
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Written, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Written;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or an object")
            }

            fn visit_str<E>(self, text: &str) -> Result<Written, E> {
                Ok(Written::Answer(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Written, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Written::Fields(fields))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

//! What an agent reports: the outcome in the last lines of its answer. Only one line counts, the
//! newest one that looks like a JSON object; nothing is guessed from prose, and an older line never
//! replaces it.

use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use towpath_recipe::OTHER;

/// How many lines from the end the outcome may be.
const WINDOW: usize = 5;
/// What the prompt's example shows: repeating it is no description.
pub(crate) const PLACEHOLDER: &str = "<brief description>";

/// An outcome that one of the step's transitions answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reported {
    pub outcome: String,
    /// What `other` means this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Why it is a failure: how a command ended, or what went wrong in a called recipe. It is for
    /// the user; no transition depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Reported {
    /// An outcome without a description.
    pub fn plain(outcome: &str) -> Reported {
        Reported { outcome: outcome.to_owned(), description: None, why: None }
    }

    pub(crate) fn failure(why: String) -> Reported {
        Reported { why: Some(why), ..Reported::plain("failure") }
    }
}

/// Why an answer reports nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Misreport {
    pub kind: MisreportKind,
    pub error: String,
    /// The line that was meant as the outcome.
    pub candidate: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MisreportKind {
    NoBlock,
    /// The line is no JSON.
    Invalid,
    /// It is JSON, but no outcome.
    NoOutcome,
    /// The outcome is not one of the step's.
    Unlisted,
    /// `other` without a description.
    NoDescription,
}

impl MisreportKind {
    /// Whether the line cannot have been meant as an outcome at all.
    pub fn reports_nothing(self) -> bool {
        matches!(self, Self::NoBlock | Self::Invalid | Self::NoOutcome)
    }
}

/// Takes the outcome out of an answer.
pub fn read_report<'a>(
    answer: &str,
    outcomes: impl Iterator<Item = &'a str> + Clone,
) -> Result<Reported, Misreport> {
    let lines = answer.trim_end().rsplit('\n').take(WINDOW).map(bare);
    let Some(line) = lines.into_iter().find(|l| l.starts_with('{') && l.ends_with('}')) else {
        let error = "No JSON block found in response".to_owned();
        return Err(Misreport { kind: MisreportKind::NoBlock, error, candidate: None });
    };
    read_line(line, outcomes).map_err(|(kind, error)| Misreport {
        kind,
        error,
        candidate: Some(line.to_owned()),
    })
}

/// An answer as it is shown: without the line that reports its outcome, and a code fence around that
/// line alone.
pub fn without_report(answer: &str) -> String {
    let mut lines: Vec<&str> = answer.trim_end().split('\n').collect();
    let window = lines.len().saturating_sub(WINDOW)..lines.len();
    let is_object = |line: &str| line.starts_with('{') && line.ends_with('}');
    let Some(at) = window.rev().find(|at| is_object(bare(lines[*at]))) else {
        return answer.to_owned();
    };
    let written = serde_json::from_str::<OutcomeLine>(bare(lines[at]));
    if !written.is_ok_and(|written| matches!(written.outcome, Some(Value::String(_)))) {
        return answer.to_owned();
    }
    let is_fence = |line: Option<&&str>| {
        line.is_some_and(|line| line.trim_start().starts_with("```") && bare(line).is_empty())
    };
    let fenced = at > 0 && is_fence(lines.get(at - 1)) && is_fence(lines.get(at + 1));
    lines.drain(if fenced { at - 1..at + 2 } else { at..at + 1 });
    let text = lines.join("\n");
    match text.trim_end() {
        "" => String::new(),
        text => format!("{text}\n"),
    }
}

fn read_line<'a>(
    line: &str,
    mut outcomes: impl Iterator<Item = &'a str> + Clone,
) -> Result<Reported, (MisreportKind, String)> {
    use MisreportKind::{Invalid, NoDescription, NoOutcome, Unlisted};
    let written: OutcomeLine =
        serde_json::from_str(line).map_err(|e| (Invalid, format!("Invalid JSON: {e}")))?;
    if written.twice {
        return Err((NoOutcome, "'outcome' is there twice: two answers are no answer".to_owned()));
    }
    let outcome = match written.outcome {
        None => return Err((NoOutcome, "JSON is missing the 'outcome' field".to_owned())),
        Some(Value::String(outcome)) => outcome,
        Some(_) => return Err((NoOutcome, "'outcome' must be a string".to_owned())),
    };
    if !outcomes.clone().any(|known| known == outcome) {
        let known: Vec<&str> = outcomes.by_ref().collect();
        let known = known.join(", ");
        return Err((Unlisted, format!("Outcome '{outcome}' is not one of: {known}")));
    }
    if outcome != OTHER {
        return Ok(Reported::plain(&outcome));
    }
    match written.description {
        Some(Value::String(text)) if !text.trim().is_empty() && text != PLACEHOLDER => {
            Ok(Reported { outcome, description: Some(text), why: None })
        }
        _ => {
            let error = "Outcome 'other' requires a non-empty 'otherDescription'".to_owned();
            Err((NoDescription, error))
        }
    }
}

/// A line without blanks and code marks around it: fences with their language, or one pair of
/// single backticks.
fn bare(line: &str) -> &str {
    let line = line.trim();
    let Some(rest) = line.strip_prefix("```") else {
        let inline = line.strip_prefix('`').and_then(|l| l.strip_suffix('`'));
        let inline = inline.filter(|l| !l.starts_with('`') && !l.ends_with('`'));
        return inline.map_or_else(|| without_closing(line), str::trim);
    };
    let language = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '+');
    without_closing(rest.trim_start_matches(language).trim())
}

fn without_closing(line: &str) -> &str {
    line.strip_suffix("```").map_or(line, str::trim_end)
}

/// The two fields that count. Every other one may be there.
struct OutcomeLine {
    outcome: Option<Value>,
    description: Option<Value>,
    twice: bool,
}

impl<'de> Deserialize<'de> for OutcomeLine {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OutcomeLine, D::Error> {
        deserializer.deserialize_map(OutcomeLineVisitor)
    }
}

struct OutcomeLineVisitor;

impl<'de> Visitor<'de> for OutcomeLineVisitor {
    type Value = OutcomeLine;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OutcomeLine, A::Error> {
        let mut written = OutcomeLine { outcome: None, description: None, twice: false };
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "outcome" => {
                    written.twice |= written.outcome.is_some();
                    written.outcome = Some(map.next_value()?);
                }
                "otherDescription" => written.description = Some(map.next_value()?),
                _ => drop(map.next_value::<IgnoredAny>().map_err(A::Error::custom)?),
            }
        }
        Ok(written)
    }
}

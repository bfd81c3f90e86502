//! What a hook appends to the log of calls: one record is one line of JSON. The log is folded into
//! the store later, so that a hook never waits for a database.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookRecord {
    /// A call that has ended.
    Called(CalledRecord),
    /// A call that a rule changed, refused, or would have changed.
    Corrected(CorrectedRecord),
    /// What a host ran after a correction.
    Ran { id: String, ran: String },
}

/// Where and when a record was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordOrigin {
    /// The same call recorded again has the same id.
    pub id: String,
    pub at_ms: i64,
    pub host: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalledRecord {
    pub origin: RecordOrigin,
    pub tool: String,
    /// The command of a shell tool, the input as JSON of any other one. Without secrets.
    pub input: String,
    /// The input is a command.
    pub shell: bool,
    pub failed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorrectedRecord {
    pub origin: RecordOrigin,
    pub rules: Vec<u64>,
    pub before: String,
    /// Empty where the call was refused.
    pub after: String,
    pub decision: RecordedDecision,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordedDecision {
    /// The host was given another input, and judges it by its own rules.
    Rewritten,
    /// The host was given another input, and must not ask.
    Allowed,
    /// The call was refused with the corrected one as the reason.
    Suggested,
    Denied,
    /// Nothing was changed: what would have been.
    Reported,
}

impl RecordedDecision {
    pub const ALL: [RecordedDecision; 5] = [
        RecordedDecision::Rewritten,
        RecordedDecision::Allowed,
        RecordedDecision::Suggested,
        RecordedDecision::Denied,
        RecordedDecision::Reported,
    ];

    pub fn name(self) -> &'static str {
        match self {
            RecordedDecision::Rewritten => "rewritten",
            RecordedDecision::Allowed => "allowed",
            RecordedDecision::Suggested => "suggested",
            RecordedDecision::Denied => "denied",
            RecordedDecision::Reported => "reported",
        }
    }
}

impl HookRecord {
    /// One line, with its end.
    pub fn to_line(&self) -> String {
        let mut line = serde_json::to_string(self).expect("a record has nothing but texts");
        line.push('\n');
        line
    }

    /// `None` for a line that was not written completely.
    pub fn from_line(line: &str) -> Option<HookRecord> {
        serde_json::from_str(line).ok()
    }
}

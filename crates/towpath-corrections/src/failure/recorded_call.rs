//! A call as it was recorded, and the mistake that it was.

use super::classify_failed_call::{classify, classify_tool};
use super::mistake::Mistake;
use crate::tool_call::ToolCall;

#[derive(Debug, Clone, PartialEq)]
pub struct RecordedCall {
    /// Calls of one session follow each other.
    pub session: String,
    pub at_ms: i64,
    pub call: ToolCall,
    pub failed: bool,
    pub exit_code: Option<i64>,
    pub error: String,
}

impl RecordedCall {
    /// The command line of a call of the shell.
    pub fn line(&self) -> Option<&str> {
        self.call.command().map(|(_, line)| line)
    }

    /// None for a call that succeeded, and for one that failed for another reason.
    pub fn mistake(&self) -> Option<Mistake> {
        if !self.failed {
            return None;
        }
        match self.line() {
            Some(line) => classify(line, self.exit_code, &self.error),
            None => classify_tool(&self.call.host, &self.call.tool, &self.error),
        }
    }
}

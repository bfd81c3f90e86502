//! Reads a scripted call's child: what it printed is the answer, byte for byte where it is UTF-8.
//! A child that failed is a crash, whatever the line promises: its command did not do what the
//! script's author wanted, and that must be seen.

use super::script_line::ScriptLine;
use crate::backend::Reader;
use crate::call_progress::CallProgress;
use crate::program_exit::End;
use crate::reply::{CallFault, Reply};
use towpath_core::FaultKind;

pub(super) struct ScriptedReader {
    line: ScriptLine,
    answer: Vec<u8>,
    /// The last line came without its newline: owed if another one follows.
    open: bool,
    named: bool,
}

impl ScriptedReader {
    pub(super) fn new(line: ScriptLine) -> ScriptedReader {
        ScriptedReader { line, answer: Vec::new(), open: false, named: false }
    }

    fn fault(&self, end: &End<'_>) -> Option<CallFault> {
        if !end.exit.success() {
            let what = format!("the scripted command {}", end.exit);
            return Some(CallFault::with_first(FaultKind::Crash, &what, &[end.stderr]));
        }
        let kind = self.line.error?;
        let message = match &self.line.text {
            Some(text) => text.clone(),
            None => format!("scripted fault: {}", kind.as_str()),
        };
        Some(CallFault { kind, until_ms: self.line.until_ms, message })
    }
}

impl Reader for ScriptedReader {
    fn line(&mut self, line: &[u8]) -> Vec<CallProgress> {
        if self.open {
            self.answer.push(b'\n');
        }
        self.answer.extend_from_slice(line);
        self.open = !line.ends_with(b"\n");
        let mut progress = Vec::new();
        if !self.named {
            self.named = true;
            progress.extend(self.line.session_id.clone().map(CallProgress::Session));
        }
        let doing = String::from_utf8_lossy(line).trim().to_owned();
        if !doing.is_empty() {
            progress.push(CallProgress::Writing(doing));
        }
        progress
    }

    fn end(self: Box<Self>, end: &End<'_>) -> Reply {
        let result = match self.fault(end) {
            Some(fault) => Err(fault),
            None => Ok(String::from_utf8_lossy(&self.answer).into_owned()),
        };
        let ScriptLine { session_id: session, usage, .. } = self.line;
        // A call that is ended before its answer has not reported what it cost.
        let usage = usage.filter(|_| end.exit.success());
        Reply { usage, ..Reply::new(result, session) }
    }
}

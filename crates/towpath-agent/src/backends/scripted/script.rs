//! A script: JSON lines, one answer for one call. A call takes the first line that fits its step and
//! prompt and is unused, or may be used again; which line a call took is recorded by the engine, so
//! that a resumed run continues where it was. The script itself reads no file and remembers nothing
//! beyond its own lifetime.

use super::script_line::ScriptLine;
use crate::reply::CallFault;
use towpath_core::{FaultKind, StepPath};

#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    name: String,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq)]
struct Entry {
    /// The number in the file, from 1: empty lines count.
    number: u32,
    line: ScriptLine,
    used: bool,
}

/// A line that cannot be understood, or is gone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}:{line}: {message}")]
pub struct ScriptError {
    /// The file, as the user named it.
    pub name: String,
    pub line: u32,
    pub message: String,
}

impl Script {
    pub fn parse(name: &str, text: &str) -> Result<Script, ScriptError> {
        let mut entries = Vec::new();
        for (number, written) in (1..).zip(text.lines()) {
            if written.trim().is_empty() {
                continue;
            }
            let line = ScriptLine::parse(written).map_err(|message| ScriptError {
                name: name.to_owned(),
                line: number,
                message,
            })?;
            entries.push(Entry { number, line, used: false });
        }
        Ok(Script { name: name.to_owned(), entries })
    }

    /// A call of an earlier owner of this run took this line. A line that is gone from the file
    /// is ignored.
    pub fn mark_used(&mut self, line: u32) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.number == line) {
            entry.used = true;
        }
    }

    /// Takes the first line that fits and is left, and gives its number.
    pub fn take(&mut self, step: &StepPath, prompt: &str) -> Option<u32> {
        let left = |entry: &Entry| !entry.used || entry.line.repeat;
        let mut entries = self.entries.iter_mut();
        let entry = entries.find(|entry| left(entry) && entry.line.fits(step, prompt))?;
        entry.used = true;
        Some(entry.number)
    }

    /// The line of a number that `take` gave, now or to an earlier owner of this run: the file may
    /// have lost it since.
    pub fn line(&self, number: u32) -> Result<&ScriptLine, ScriptError> {
        let entry = self.entries.iter().find(|entry| entry.number == number);
        entry.map(|entry| &entry.line).ok_or_else(|| ScriptError {
            name: self.name.clone(),
            line: number,
            message: "this line, which answers an interrupted call, is gone from the script".into(),
        })
    }

    pub fn unused(&self) -> Vec<u32> {
        self.entries.iter().filter(|entry| !entry.used).map(|entry| entry.number).collect()
    }

    /// The fault of a call for which `take` found nothing.
    pub fn exhausted(&self, step: &StepPath) -> CallFault {
        let left = self.unused();
        let message = match left.as_slice() {
            [] => format!("{} has no answer left: all {} are used", self.name, self.entries.len()),
            left => {
                let numbers: Vec<String> = left.iter().map(u32::to_string).collect();
                let lines = numbers.join(", ");
                let by_step = self.entries.iter().any(|entry| entry.line.step.is_some());
                let what = if by_step {
                    format!("this prompt of step {}", step.without_visits())
                } else {
                    "this prompt".to_owned()
                };
                format!("{} has no answer for {what}: no unused line matches ({lines})", self.name)
            }
        };
        CallFault::new(FaultKind::Backend, message)
    }
}

//! Which lines of a script belong to which calls. It is recorded with each call, so that a resumed run
//! continues where it was.

use std::collections::BTreeMap;
use towpath_core::JobKey;
use towpath_executor::{Script, ScriptError, ScriptedAnswer};
use towpath_run::{Fact, JobEnd, JobStatus};

#[derive(Debug, Default)]
pub(crate) struct ScriptLines {
    /// `None` where no script answers.
    script: Option<Script>,
    /// The line of each call that was started and not finished, by its key without the attempt.
    open: BTreeMap<String, u32>,
}

impl ScriptLines {
    /// Reads from the record which lines are used, and which belong to interrupted calls. A script that
    /// replaces another has no line that was used.
    pub fn replay(script: Option<Script>, replaced: bool, facts: &[(Fact, i64)]) -> ScriptLines {
        let mut lines = ScriptLines { script, open: BTreeMap::new() };
        for (fact, _) in facts {
            match fact {
                Fact::JobStarted { line: Some(_), .. } if replaced => {}
                Fact::JobStarted { key, line: Some(line), .. } => {
                    lines.script.iter_mut().for_each(|script| script.mark_used(*line));
                    lines.open.insert(call_of(key), *line);
                }
                Fact::JobFinished { key, end } => lines.finished(key, end),
                _ => {}
            }
        }
        lines
    }

    pub fn finished(&mut self, key: &JobKey, end: &JobEnd) {
        if end.status != JobStatus::Stopped {
            self.open.remove(&call_of(key));
        }
    }

    /// The line that answers a call; none where no script answers. The inner error is what is wrong
    /// when the script has no line for the call, the outer one when the line of an interrupted call is
    /// gone: then another line would be a wrong answer.
    pub fn take(
        &mut self,
        key: &JobKey,
        prompt: &str,
    ) -> Result<Result<Option<ScriptedAnswer>, String>, ScriptError> {
        let interrupted = self.interrupted(key);
        let Some(script) = &mut self.script else { return Ok(Ok(None)) };
        let step = key.step_path();
        let Some(number) = interrupted.or_else(|| script.take(&step, prompt)) else {
            return Ok(Err(script.exhausted(&step).message));
        };
        let line = script.line(number)?.clone();
        self.open.insert(call_of(key), number);
        Ok(Ok(Some(ScriptedAnswer { number, line })))
    }

    /// The line of a call that was interrupted: of the same call, or of the reminder after it, where the
    /// step begins from its first call.
    fn interrupted(&mut self, key: &JobKey) -> Option<u32> {
        let reminder = call_of(&JobKey { call: 1, ..key.clone() });
        let of_reminder = (key.call == 0).then(|| self.open.remove(&reminder)).flatten();
        self.open.get(&call_of(key)).copied().or(of_reminder)
    }

    /// Lines of the script that no call has taken.
    pub fn unused(&self) -> Vec<u32> {
        self.script.as_ref().map(Script::unused).unwrap_or_default()
    }
}

fn call_of(key: &JobKey) -> String {
    JobKey { attempt: 0, ..key.clone() }.to_string()
}

//! The audit file of a run: one JSON line per step that ended or was skipped, written as it happens,
//! for whoever keeps such files. The run's own record is the journal; this file is never read again
//! and decides nothing. A file that cannot be written in full is an error that is reported, never a
//! shorter file that looks whole.

use crate::environment::Environment;
use crate::exit::CommandError;
use crate::terminal::format::{now_ms, rfc3339};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use towpath_core::{RunId, StepPath};
use towpath_engine::{Event, EventKind, Reporter};
use towpath_run::{Output, StepResult, StepStatus};
use towpath_view::result_json::step_error;

/// More of a recipe's name does not go into a file's name.
const LONGEST_NAME: usize = 100;
/// Runs that begin in the same millisecond and have the same id are the same run, resumed.
const TRIES: i64 = 100;

#[derive(Debug)]
pub struct Audit {
    directory: PathBuf,
    file: Option<Open>,
    problem: Option<String>,
}

#[derive(Debug)]
struct Open {
    file: File,
    path: PathBuf,
    run: RunId,
    /// Bytes of whole lines.
    len: u64,
}

impl Audit {
    /// The directory that was asked for, made and writable.
    pub fn in_directory(
        env: &Environment,
        given: Option<&Path>,
    ) -> Result<Option<Audit>, CommandError> {
        let Some(given) = given else { return Ok(None) };
        let directory = env.current.join(env.expand_home(given));
        let failed =
            |e: io::Error| CommandError::setup(format!("--audit-dir {}: {e}", given.display()));
        DirBuilder::new().recursive(true).mode(0o700).create(&directory).map_err(failed)?;
        let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
        rustix::fs::access(&directory, access).map_err(|e| failed(e.into()))?;
        Ok(Some(Audit { directory, file: None, problem: None }))
    }

    /// Makes the file of a run; one that is there already is never written to.
    pub fn begin(&mut self, recipe: &str, run: &RunId) -> Result<(), CommandError> {
        let now = now_ms();
        let mut last = None;
        for later in 0..TRIES {
            let path = self.directory.join(file_name(recipe, now + later, run));
            match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
                Ok(file) => {
                    self.file = Some(Open { file, path, run: run.clone(), len: 0 });
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = Some(error),
                Err(error) => {
                    last = Some(error);
                    break;
                }
            }
        }
        let why = last.map_or(String::new(), |error| error.to_string());
        let directory = self.directory.display();
        Err(CommandError::setup(format!(
            "--audit-dir {directory}: {why}; nothing was run; to continue: towpath resume {run}"
        )))
    }

    /// Why the file is not complete.
    pub fn problem(self) -> Option<String> {
        self.problem
    }

    fn write(&mut self, line: &Value) {
        let Some(open) = &mut self.file else { return };
        let text = format!("{line}\n");
        match open.file.write_all(text.as_bytes()) {
            Ok(()) => open.len += text.len() as u64,
            Err(error) => {
                // Half a line would be taken for a whole one by whoever adds to it.
                let _ = open.file.set_len(open.len);
                self.give_up(&error);
            }
        }
    }

    fn give_up(&mut self, error: &io::Error) {
        if let Some(open) = self.file.take() {
            self.problem = Some(format!(
                "the audit file {} is not complete: {error}; the run's own record is: \
                 towpath show {}",
                open.path.display(),
                open.run
            ));
        }
    }

    fn step_ended(&mut self, step: &StepPath, result: &StepResult, tolerated: bool, took_ms: i64) {
        let Some(open) = &self.file else { return };
        let line = line(step, result, tolerated, took_ms, &open.run);
        self.write(&line);
    }
}

impl Reporter for Audit {
    fn event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::StepEnded { step, result, tolerated, took_ms } => {
                self.step_ended(step, result, *tolerated, *took_ms);
            }
            EventKind::RunEnded { .. } => {
                if let Some(Err(error)) = self.file.as_ref().map(|open| open.file.sync_data()) {
                    self.give_up(&error);
                }
            }
            _ => {}
        }
    }
}

fn line(step: &StepPath, result: &StepResult, tolerated: bool, took_ms: i64, run: &RunId) -> Value {
    let (status, reason) = match &result.status {
        StepStatus::Completed => ("Completed", None),
        StepStatus::Degraded { reason } => ("Degraded", Some(reason.clone())),
        StepStatus::Recovered { failure } => ("Recovered", Some(failure.message.clone())),
        StepStatus::Skipped { reason } => ("Skipped", Some(reason.clone())),
        StepStatus::Failed(_) => ("Failed", None),
    };
    let error = step_error(result);
    let mut line = json!({
        "step_id": step,
        "status": status,
        "duration_ms": took_ms,
        "error": (!error.is_empty()).then_some(error),
        "output_len": output_len(&result.output),
        "run_id": run,
        "timestamp": rfc3339(now_ms()),
    });
    if let Some(reason) = reason {
        line["reason"] = json!(reason);
    }
    if tolerated {
        line["tolerated"] = json!(true);
    }
    line
}

fn output_len(output: &Output) -> u64 {
    match output {
        Output::None => 0,
        Output::Text(text) => text.len() as u64,
        Output::OnDisk { len } | Output::TooLarge { len } => *len,
    }
}

/// `build_20260730T101112.345Z_7f3k.jsonl`: nothing in it leaves its directory or hides.
fn file_name(recipe: &str, at_ms: i64, run: &RunId) -> String {
    let kept = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let name: String =
        recipe.chars().take(LONGEST_NAME).map(|c| if kept(c) { c } else { '_' }).collect();
    let name = match name.strip_prefix(['.', '-']) {
        Some(rest) => format!("_{rest}"),
        None => name,
    };
    let time = Timestamp::from_millisecond(at_ms).unwrap_or_default();
    format!("{name}_{}_{run}.jsonl", time.strftime("%Y%m%dT%H%M%S.%3fZ"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_its_directory() {
        let run = RunId::new("7f3k").unwrap();
        let name = |recipe| file_name(recipe, 1_785_406_272_345, &run);
        assert_eq!(name("build"), "build_20260730T101112.345Z_7f3k.jsonl");
        assert_eq!(name("../evil/x"), "_._evil_x_20260730T101112.345Z_7f3k.jsonl");
        assert_eq!(name("-rf é\n"), "_rf____20260730T101112.345Z_7f3k.jsonl");
        assert!(name(&"x".repeat(5000)).len() < 150);
    }
}

//! Records the bash steps that fail in a run, so that mistakes in recipes are learned from like those
//! of agents. The command is the recipe's own text: a value may be anything. A run never fails because
//! of this.

use super::hook_errors;
use crate::environment::Environment;
use crate::terminal::out;
use std::path::PathBuf;
use std::sync::Arc;
use towpath_core::{RunId, StepPath};
use towpath_corrections::failure::RUN_HOST;
use towpath_corrections::hook_log::record::{CalledRecord, HookRecord, RecordOrigin};
use towpath_corrections::hooks_directory::HooksDirectory;
use towpath_corrections::masking::Masking;
use towpath_corrections::{SHELL_TOOL, hook_log};
use towpath_engine::{Event, EventKind, Reporter};
use towpath_recipe::{Program, Step, Work};
use towpath_run::{Failure, FailureKind, StepResult, StepStatus};

#[derive(Debug)]
pub struct FailedSteps<'a> {
    env: &'a Environment,
    program: Arc<Program>,
    run: RunId,
    directory: Option<PathBuf>,
}

impl<'a> FailedSteps<'a> {
    pub fn new(env: &'a Environment, program: &Arc<Program>, run: &RunId) -> FailedSteps<'a> {
        FailedSteps { env, program: Arc::clone(program), run: run.clone(), directory: None }
    }

    fn record(&self, step: &StepPath, result: &StepResult, failure: &Failure, at_ms: i64) {
        let Some(command) = self.command(step) else { return };
        let variables = self.env.variables.iter();
        let masking = Masking::new(variables.filter_map(|(n, v)| Some((n.to_str()?, v.to_str()?))));
        let masked = |text: &str| masking.text(&out::masked(text));
        let error = match failure.detail.is_empty() {
            true => &failure.message,
            false => &failure.detail,
        };
        let record = HookRecord::Called(CalledRecord {
            origin: RecordOrigin {
                id: format!("{RUN_HOST} {} {step} {at_ms}", self.run),
                at_ms,
                host: RUN_HOST.to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
                session: Some(self.run.to_string()),
                directory: self.directory.as_ref().map(|path| path.display().to_string()),
            },
            tool: SHELL_TOOL.to_owned(),
            input: masked(command),
            shell: true,
            failed: true,
            exit_code: result.exit_code.map(i64::from),
            error: Some(masked(error)),
        });
        let directory = HooksDirectory::of(&self.env.directories.state);
        if let Err(error) = hook_log::append(&directory, &[record]) {
            hook_errors::record(&directory, "run", &format!("a failed step: {error}"));
        }
    }

    /// The text of a bash step, if it is the only one of that name.
    fn command(&self, path: &StepPath) -> Option<&str> {
        let last = path.as_str().rsplit('/').next()?;
        let id = last.split('#').next()?;
        let bash =
            |step: &'_ Step| matches!(step.work, Work::Bash { .. }) && step.id.as_str() == id;
        let mut found =
            self.program.recipes.iter().flat_map(|recipe| &recipe.steps).filter(|s| bash(s));
        match (found.next().map(|step| &step.work), found.next()) {
            (Some(Work::Bash { command }), None) => Some(command.text()),
            _ => None,
        }
    }
}

impl Reporter for FailedSteps<'_> {
    fn event(&mut self, event: &Event) {
        match &event.kind {
            EventKind::RunStarted { directory, .. } => self.directory = Some(directory.clone()),
            EventKind::StepEnded { step, result, .. } => {
                if let StepStatus::Failed(failure) = &result.status
                    && failure.kind == FailureKind::Command
                    && failure.origin.is_none()
                {
                    self.record(step, result, failure, event.at_ms);
                }
            }
            _ => {}
        }
    }
}

//! What a resume would do, before it is done: the run itself is asked, on a copy.

use crate::run_json::ShownRun;
use serde_json::{Value, json};
use towpath_core::RunStatus;
use towpath_run::{Fact, StepState, StepView};

/// The paths of the steps that a resume would keep, run again, run for the first time, and ask about;
/// null for a run that is done or running.
pub fn resume_preview(shown: &ShownRun, now_ms: i64) -> Value {
    if matches!(shown.status, RunStatus::Done | RunStatus::Running) {
        return Value::Null;
    }
    let mut resumed = shown.run().clone();
    if resumed.apply(&Fact::Resumed, now_ms).is_err() {
        return Value::Null;
    }
    let mut preview = Preview::default();
    preview.add(&resumed.view());
    let Preview { keeps, again, to_come, asks } = preview;
    json!({ "keeps": keeps, "again": again, "to_come": to_come, "asks": asks })
}

#[derive(Default)]
struct Preview {
    keeps: Vec<String>,
    again: Vec<String>,
    to_come: Vec<String>,
    asks: Vec<String>,
}

impl Preview {
    /// Only steps that do work themselves are counted; one that calls a recipe is its steps.
    fn add(&mut self, steps: &[StepView]) {
        for step in steps {
            if !step.children.is_empty() {
                self.add(&step.children);
                continue;
            }
            let path = step.path.to_string();
            match step.state {
                StepState::Ended => self.keeps.push(path),
                // The recipe that it is in ended without it.
                StepState::NotReached => {}
                StepState::Asking => self.asks.push(path),
                _ if step.attempts > 0 => self.again.push(path),
                _ => self.to_come.push(path),
            }
        }
    }
}

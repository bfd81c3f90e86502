//! A conversation that is gone, or too long to continue, is replaced by another session. The agent
//! there knows nothing: what the run has recorded of the machine's steps comes before its prompt.

use crate::job_end::tail;
use crate::machine_state::Conversation;
use crate::run::Run;
use crate::step_view::StepView;
use std::fmt::Write as _;
use towpath_core::JobKind;

/// As much of the end of an answer as is shown.
const ANSWER: usize = 1_500;
/// As much as all steps together may take. The latest count most.
const ALL: usize = 12_000;

impl Run {
    /// The next call opens a session of its own. An answer that waited for its reminder is asked for
    /// from the beginning: the new session does not know it.
    pub(crate) fn begin_new_sessions(&mut self) {
        for frame in &mut self.frames {
            if let Some(machine) = frame.flow.machine_mut() {
                machine.conversation = Conversation { replaces: true, ..Conversation::default() };
            }
            frame.steps.iter_mut().for_each(|visit| visit.reminder = None);
        }
        for (job, at) in std::mem::take(&mut self.ready) {
            // A recovery has a session of its own in any case.
            if job.key.kind == JobKind::Agent && !self.is_recovering(at) {
                self.begin_work(at);
            } else {
                self.ready.push((job, at));
            }
        }
    }

    /// The record of a machine's steps, for an agent that has not seen them.
    pub(super) fn recap(&self, frame: usize) -> String {
        let recipe = self.recipe(frame);
        let mut steps = Vec::new();
        let mut length = 0;
        let past = self.machine(frame).visited();
        for visit in past.iter().rev() {
            let text = describe(&visit.view);
            length += text.len();
            if length > ALL {
                break;
            }
            steps.push(text);
        }
        let mut text = format!(
            "## Record\n\nThis work began in an earlier conversation, which is not available any \
             more. Its recipe is `{}`",
            recipe.name
        );
        match recipe.description.as_str() {
            "" => text.push_str(".\n\n"),
            what => {
                let _ = write!(text, ": {}\n\n", what.trim());
            }
        }
        match past.len() - steps.len() {
            0 if steps.is_empty() => text.push_str("No step of it is finished.\n"),
            0 => text.push_str("Finished steps, the latest last:\n\n"),
            left => {
                let _ =
                    write!(text, "Finished steps, the latest last ({left} earlier left out):\n\n");
            }
        }
        steps.iter().rev().for_each(|step| text.push_str(step));
        text.push_str("\nWhat the steps changed is in the working directory.");
        text
    }
}

/// `- look: broken`, and the end of what was answered.
fn describe(visit: &StepView) -> String {
    let result = visit.result.as_ref();
    let outcome = match result.and_then(|result| result.report.as_ref()) {
        Some(report) => match &report.description {
            Some(more) => format!("{} ({more})", report.outcome),
            None => report.outcome.clone(),
        },
        None => result.map_or("not finished", |result| result.status.as_str()).to_owned(),
    };
    let mut text = format!("- {}: {outcome}\n", visit.path);
    let answer = result.and_then(|result| result.output.text()).unwrap_or_default().trim();
    if !answer.is_empty() {
        let end = tail(answer, ANSWER);
        let cut = if end.len() < answer.len() { "…" } else { "" };
        let _ = writeln!(text, "  {cut}{}", end.replace('\n', "\n  "));
    }
    text
}

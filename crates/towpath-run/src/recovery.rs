//! Recovery: when a called recipe fails and its step has `recovery`, an agent gets what was done,
//! what failed and what was left, and one attempt to finish the work. Whether it did is read from
//! its answer, of which "I have not recovered it" recovers nothing.

use crate::failure::{Failure, FailureKind};
use crate::flow::FrameResult;
use crate::frame::{FrameState, StepAt};
use crate::job::{AgentJob, Job, JobWork, NON_INTERACTIVE_FOOTER};
use crate::job_end::{JobEnd, JobStatus, Output, tail};
use crate::progress::{Activity, Progress, WorkEnd};
use crate::run::Run;
use crate::step_result::{StepResult, StepStatus};
use std::fmt::Write as _;
use towpath_core::{JobKind, extract_json};
use towpath_recipe::Work;

/// As much of an output as helps to understand it.
const SHOWN: usize = 2_000;

impl Run {
    pub(crate) fn tries_recovery(&self, at: StepAt, failure: &Failure) -> bool {
        let asked = matches!(self.step(at).work, Work::Recipe { recovery: true, .. });
        asked
            && failure.kind.tolerable()
            && matches!(self.visit(at).progress, Progress::Working(Activity::Called(_)))
            && self.frames[at.frame].state == FrameState::Open
    }

    pub(crate) fn want_recovery(&mut self, at: StepAt, called: usize, failure: Failure) {
        let prompt = self.recovery_prompt(called, &failure);
        let work = JobWork::Agent(Box::new(AgentJob { prompt, ..AgentJob::default() }));
        let directory = self.frames[called].directory.clone();
        let timeout = Some(self.recovery_timeout());
        let job = Job::new(self.key(at, JobKind::Agent), work, directory, timeout);
        self.ready.push((job, at));
        let recovery = Activity::Recovery { called, failure };
        self.visit_mut(at).progress = Progress::Working(recovery);
    }

    pub(crate) fn recovery_finished(
        &mut self,
        at: StepAt,
        called: usize,
        mut failure: Failure,
        end: &JobEnd,
    ) {
        if end.status == JobStatus::Stopped {
            let stopped = self.end_of_failure(at, Failure::stopped());
            return self.settle(at, WorkEnd { called: Some(called), ..stopped });
        }
        if let JobStatus::Faulted(fault) = &end.status
            && !fault.kind.tolerable()
        {
            let kind = FailureKind::Agent(fault.kind);
            let message = format!("recovery: agent: {}", fault.kind.as_str());
            failure = Failure { detail: end.error.clone(), ..Failure::new(kind, message) };
        }
        let answer = end.output.text().unwrap_or_default();
        let status = if end.succeeded() && reports_recovery(answer) {
            StepStatus::Recovered { failure }
        } else {
            let note = "an agent could not finish its work";
            let detail = match failure.detail.as_str() {
                "" => note.to_owned(),
                detail => format!("{detail}\n{note}"),
            };
            StepStatus::Failed(Failure { detail, ..failure })
        };
        let output = Output::Text(answer.to_owned());
        let given = FrameResult { output, value: None, exit: None };
        let writes = self.writes_of_caller(at, called, &status, &given);
        let result = StepResult { usage: end.usage, ..StepResult::new(status, given.output) };
        self.settle(at, WorkEnd { called: Some(called), ..WorkEnd::new(result, writes) });
    }

    fn recovery_prompt(&self, child: usize, failure: &Failure) -> String {
        let recipe = self.recipe(child);
        let mut text = format!(
            "The recipe `{}` failed on its way. Finish its work.\n\nWhat it is for: {}\n\nIts \
             steps:\n",
            recipe.name,
            if recipe.description.is_empty() { "(not stated)" } else { &recipe.description },
        );
        for (index, step) in recipe.steps.iter().enumerate() {
            let result = self.frames[child].steps[index].progress.result();
            let state = result.map_or("not reached", |result| result.status.as_str());
            let what = match &step.work {
                Work::Bash { command } => format!("bash: {}", command.text().trim_end()),
                Work::Agent(agent) => format!("agent: {}", agent.prompt.source().trim_end()),
                Work::Recipe { name, .. } => format!("recipe: {name}"),
            };
            let _ = writeln!(text, "- {} [{state}] {}", step.id, indented(&what));
            let output = result.and_then(|r| r.output.text()).unwrap_or_default();
            if !output.is_empty() {
                let _ = writeln!(text, "  printed: {}", indented(tail(output, SHOWN)));
            }
        }
        let _ = write!(text, "\nThe failure: {}\n", failure.message);
        if !failure.detail.is_empty() {
            let _ = writeln!(text, "{}", tail(&failure.detail, SHOWN));
        }
        text.push_str(
            "\nFind out why it failed, fix the cause, and do what the failed step and the steps \
             that were not reached were to do, in their order. Do not repeat what is completed. Do \
             not weaken a test or a check to get past it. Verify the result.\n\nEnd your answer \
             with the line {\"outcome\":\"recovered\"} only if all of it is done and verified; else \
             end it with {\"outcome\":\"failed\"} and report what is missing before it.\n\n",
        );
        text.push_str(NON_INTERACTIVE_FOOTER);
        text
    }
}

/// Whether an answer reports that the work is done. The outcome that was asked for, at its end, decides;
/// else the answer must contain `STATUS: COMPLETE` or the word `recovered`, and not "not recovered".
fn reports_recovery(answer: &str) -> bool {
    let last = answer.trim_end().lines().next_back().unwrap_or_default().trim();
    let outcome = last.rfind('{').and_then(|at| extract_json(&last[at..]));
    if let Some(value) = outcome.filter(|value| value["outcome"].is_string()) {
        return value["outcome"] == "recovered" && last.ends_with('}');
    }
    answer.contains("STATUS: COMPLETE") || contains_recovered(answer)
}

/// Whether `recovered` is among the words of a text, and nowhere after a word that denies it.
fn contains_recovered(text: &str) -> bool {
    let text = text.to_lowercase();
    let words: Vec<&str> = text
        .split(|c: char| !(c.is_alphanumeric() || "'’_-".contains(c)))
        .filter(|word| !word.is_empty())
        .collect();
    let found: Vec<usize> = (0..words.len()).filter(|at| words[*at] == "recovered").collect();
    let denied = |at: &usize| words[at.saturating_sub(DENIAL_REACH)..*at].iter().any(denies);
    !found.is_empty() && !found.iter().any(denied)
}

/// How many words before `recovered` may deny it, as in "could not be recovered".
const DENIAL_REACH: usize = 3;

fn denies(word: &&str) -> bool {
    ["not", "never", "cannot", "nothing", "no"].contains(word)
        || word.ends_with("n't")
        || word.ends_with("n’t")
}

fn indented(text: &str) -> String {
    text.replace('\n', "\n  ")
}

#[cfg(test)]
mod tests {
    use super::reports_recovery;

    #[test]
    fn an_answer_reports_that_it_is_done_by_its_outcome_or_by_the_words_for_it() {
        for yes in [
            "all good\n{\"outcome\":\"recovered\"}\n",
            "done\nrecovered",
            "x\nSTATUS: COMPLETE\n\n",
            "so: {\"outcome\": \"recovered\"}",
            "STATUS: COMPLETE\nAll steps were done.",
            "The deployment has been recovered, and its tests pass.",
            "RECOVERED: see the log",
            "not sure at first\n{\"outcome\":\"recovered\"}",
        ] {
            assert!(reports_recovery(yes), "{yes}");
        }
        for no in [
            "",
            "I have NOT recovered anything",
            "not recovered",
            "It could not be recovered.",
            "It hasn't recovered",
            "the first step is recovered, the second is not recovered",
            "unrecovered, and irrecoverable",
            "recovered_files is empty",
            "Status: incomplete",
            "{\"outcome\":\"failed\"}",
            "recovered some of it\n{\"outcome\":\"failed\"}",
        ] {
            assert!(!reports_recovery(no), "{no}");
        }
    }
}

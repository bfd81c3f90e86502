//! The documents that a step's prompt and its agent's instructions are made of. Their commands and the
//! files that they embed are jobs of the step, one after the other, before the agent is asked; each is
//! rendered once in a visit. What has finished is not run again when the run is resumed.

use crate::failure::{Failure, FailureKind};
use crate::frame::StepAt;
use crate::job::{Job, JobWork};
use crate::job_end::{JobEnd, JobStatus, Output, tail};
use crate::progress::WorkEnd;
use crate::prompt_rendering::{DocumentUse, PromptRendering, RenderState};
use crate::run::Run;
use std::sync::Arc;
use towpath_core::{JobKey, JobKind, Map};
use towpath_recipe::{AgentWork, PromptDocument};

/// How much of the end of stdout a failure carries.
const STDOUT_TAIL: usize = 2000;

/// A document waits for a job that is wanted now, or the step has failed.
pub(crate) struct NotYet;

impl Run {
    /// The text that a document gives.
    pub(crate) fn text_of_document(
        &mut self,
        at: StepAt,
        part: DocumentUse,
        document: &PromptDocument,
        values: &Map,
        directory: &str,
    ) -> Result<String, NotYet> {
        match self.render_document(at, part, document, values) {
            Ok(RenderState::Rendered(text)) => return Ok(text),
            Ok(RenderState::Wants(wanted)) => {
                let (call, attempt) = (wanted.number, wanted.attempt);
                let key = JobKey { call, attempt, ..self.key(at, JobKind::Document) };
                let work =
                    JobWork::Bash(wanted.script).failing(self.recipe(at.frame).fails_on(None));
                let job = Job::new(key, work, directory.to_owned(), self.work_timeout(at));
                let environment = vec![
                    ("PROJECTPATH".to_owned(), document.roots.project.clone()),
                    ("HOMEPATH".to_owned(), document.roots.home.clone()),
                ];
                self.ready.push((Job { environment, ..job }, at));
            }
            Ok(RenderState::Evaluating) => {}
            Err(failure) => self.fail(at, failure),
        }
        Err(NotYet)
    }

    /// The instructions of the agent that a step names, if it names one.
    pub(crate) fn instructions(
        &mut self,
        at: StepAt,
        agent: &AgentWork,
        values: &Map,
        directory: &str,
    ) -> Result<Option<String>, NotYet> {
        let Some(reference) = &agent.agent else { return Ok(None) };
        let program = Arc::clone(&self.program);
        match program.agent_document(&reference.name) {
            None => Ok(program.agent(&reference.name).map(|agent| agent.text.clone())),
            Some(document) => {
                let part = DocumentUse::Instructions;
                let text = self.text_of_document(at, part, document, values, directory)?;
                Ok(Some(text.trim().to_owned()))
            }
        }
    }

    fn render_document(
        &mut self,
        at: StepAt,
        part: DocumentUse,
        document: &PromptDocument,
        extra: &Map,
    ) -> Result<RenderState, Failure> {
        let mut rendering = match self.visit_mut(at).documents.remove(&part) {
            Some(rendering) => rendering,
            None => self.begin_document(at, document, extra)?,
        };
        let state = rendering.proceed(document);
        self.visit_mut(at).documents.insert(part, rendering);
        state
    }

    fn begin_document(
        &self,
        at: StepAt,
        document: &PromptDocument,
        extra: &Map,
    ) -> Result<PromptRendering, Failure> {
        let frame = &self.frames[at.frame];
        let read = document.set.free_references();
        let mut read = read.iter().filter(|name| !extra.contains_key(name.path.root()));
        if let Some(failure) = read.find_map(|name| frame.unreadable(&name.path)) {
            return Err(failure);
        }
        let mut inputs = frame.context.clone();
        inputs.extend(extra.clone());
        let lines: usize = self.visit(at).documents.values().map(PromptRendering::lines).sum();
        PromptRendering::begin(document, inputs, u32::try_from(lines).unwrap_or(u32::MAX))
    }

    pub(crate) fn document_job_started(&mut self, at: StepAt, key: &JobKey) {
        if let Some(wanted) = self.waiting_document(at).and_then(PromptRendering::wanted) {
            wanted.attempt = key.attempt + 1;
        }
    }

    /// A command of a document, or a file, is there: the work continues with it.
    pub(crate) fn document_job_finished(&mut self, at: StepAt, end: &JobEnd) {
        match self.printed_for_document(at, end) {
            Ok(text) => {
                if let Some(rendering) = self.waiting_document(at) {
                    rendering.answer(text);
                }
                self.begin_work(at);
            }
            Err(failure) => {
                let failed = self.end_of_failure(at, failure);
                self.settle(at, WorkEnd { interrupted: end.interrupted(), ..failed });
            }
        }
    }

    fn printed_for_document(&mut self, at: StepAt, end: &JobEnd) -> Result<String, Failure> {
        let location = self.waiting_document(at).and_then(PromptRendering::location);
        let location = location.unwrap_or_else(|| "the prompt file".to_owned());
        match (&end.status, &end.output) {
            (JobStatus::Stopped, _) => Err(Failure::stopped()),
            (JobStatus::Exited(0), Output::Text(text)) => Ok(text.clone()),
            (JobStatus::Exited(0), Output::None) => Ok(String::new()),
            (JobStatus::Exited(0), Output::OnDisk { len } | Output::TooLarge { len }) => {
                let message = format!("{location} printed {len} bytes, too many for a prompt");
                Err(Failure::new(FailureKind::Value, message))
            }
            _ => {
                let failure = self.failure_of_job(at, end);
                let message = format!("{location}: {}", failure.message);
                // Many programs report on stdout.
                let stdout = end.output.text().unwrap_or_default().trim_end();
                let parts = [&failure.detail, tail(stdout, STDOUT_TAIL)];
                let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                Err(Failure { message, detail: parts.join("\n"), ..failure })
            }
        }
    }

    /// The document of a step that waits for a job.
    fn waiting_document(&mut self, at: StepAt) -> Option<&mut PromptRendering> {
        let documents = &mut self.visit_mut(at).documents;
        documents.values_mut().find_map(|r| r.wanted().is_some().then_some(r))
    }
}

//! The one reminder: an agent whose answer must hold JSON and does not is asked again, in the same
//! session, for the JSON alone. The first answer is paid for and kept: what is interrupted later
//! repeats the reminder, never the prompt.

use crate::fact::{JobEnd, Output};
use crate::frame::{Answered, Phase, StepAt};
use crate::happening::Happening;
use crate::job::{AgentJob, JSON_REMINDER, Job, JobWork};
use crate::run::Run;
use crate::step_end::json_in;
use towpath_core::{JobKey, JobKind, Usage};
use towpath_recipe::{AgentWork, ParseJson, Work};

/// How the answer of a step's work was read.
pub(crate) enum Answer {
    /// It lacks its JSON, and its agent is reminded.
    Reminded,
    /// This is what counts.
    Final(Output, Option<Usage>),
}

impl Run {
    /// Takes the end of a step's work; an agent's answer without JSON leads to the reminder.
    pub(crate) fn read_answer(&mut self, at: StepAt, key: &JobKey, end: &JobEnd) -> Answer {
        let definition = self.step(at);
        let parse = definition.parse_json;
        let is_agent = matches!(definition.work, Work::Agent(_));
        let found = json_in(parse, &end.output).is_some();
        let progress = self.progress_mut(at);
        if let Some(first) = &progress.answer {
            let usage = sum(first.usage, end.usage);
            if !end.succeeded() {
                // The first answer stays: only the reminder is tried again.
                return Answer::Final(first.output.clone(), usage);
            }
            let output = if found { end.output.clone() } else { first.output.clone() };
            progress.answer = None;
            return Answer::Final(output, usage);
        }
        if !is_agent || parse == ParseJson::No || found || !end.succeeded() {
            return Answer::Final(end.output.clone(), end.usage);
        }
        progress.answer = Some(Answered {
            key: key.clone(),
            output: end.output.clone(),
            usage: end.usage,
            reminded: false,
        });
        let (step_path, error) = (self.path(at), "no JSON in the answer".to_owned());
        self.happenings.push(Happening::Reminded { step: step_path, error });
        self.begin_work(at);
        Answer::Reminded
    }

    pub(crate) fn want_reminder(&mut self, at: StepAt, agent: &AgentWork, directory: String) {
        let timeout = self.work_timeout(at);
        let progress = self.progress_mut(at);
        progress.phase = Phase::Work;
        let next = progress.attempts.work;
        let Some(answer) = &mut progress.answer else { return };
        let attempt = if answer.reminded { next } else { answer.key.attempt };
        answer.reminded = true;
        let continues = Some(answer.key.clone());
        let earlier = answer.output.text().map(str::to_owned);
        let key = JobKey { call: 1, ..self.key(at, attempt, JobKind::Agent) };
        let work = JobWork::Agent(Box::new(AgentJob {
            prompt: JSON_REMINDER.to_owned(),
            model: agent.model.clone(),
            mode: agent.mode.as_ref().map(|mode| mode.name.clone()),
            agent: agent.agent.as_ref().map(|agent| agent.name.clone()),
            system: None,
            continues,
            earlier,
            ..AgentJob::default()
        }));
        let job = Job { key, work, directory, timeout, environment: Vec::new() };
        self.ready.push((job, at));
    }
}

/// The usage of two calls; what one of them did not report is unknown for both.
pub(crate) fn sum(a: Option<Usage>, b: Option<Usage>) -> Option<Usage> {
    let (a, b) = (a?, b?);
    let add = |a: Option<u64>, b: Option<u64>| Some(a? + b?);
    Some(Usage {
        input_tokens: add(a.input_tokens, b.input_tokens),
        output_tokens: add(a.output_tokens, b.output_tokens),
        cost_usd: a.cost_usd.and_then(|a| Some(a + b.cost_usd?)),
    })
}

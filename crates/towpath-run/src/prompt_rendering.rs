//! The documents that a step's prompt and its agent's instructions are made of. Their commands and the
//! files that they embed are jobs of the step, one after the other, before the agent is asked; each is
//! rendered once in a visit. What has finished is not run again when the run is resumed.

use crate::frame::StepAt;
use crate::job::{Job, JobWork};
use crate::job_end::{JobEnd, JobStatus, Output};
use crate::run::Run;
use crate::scope::value_failure;
use crate::settle::stopped;
use crate::step_result::{Failure, FailureKind};
use std::sync::{Arc, LazyLock};
use towpath_core::{Diagnostic, JobKey, JobKind, Map};
use towpath_document::{CommandEnd, Evaluation, Inputs, Next, check_loaded, plain_path};
use towpath_recipe::{AgentWork, PromptDocument};
use towpath_shell::{Filled, ShellText};

/// How much of the end of stdout a failure carries.
const STDOUT_TAIL: usize = 2000;

/// What a document is for. Instructions come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DocumentUse {
    Instructions,
    Prompt,
}

/// A document while it is rendered, and afterwards.
#[derive(Debug, Clone)]
pub(crate) struct PromptRendering {
    /// Added to the numbers of its lines, so that no two documents of a step have one number.
    offset: u32,
    evaluation: Evaluation,
    /// What it waits for.
    wanted: Option<Wanted>,
    /// How often that was started.
    attempt: u32,
    rendered: Option<String>,
}

/// A command or a file that a document needs.
#[derive(Debug, Clone)]
struct Wanted {
    /// The line that needs it.
    number: u32,
    script: Filled,
    embeds: bool,
}

/// Prints a file, whatever its name is.
static PRINT_FILE: LazyLock<ShellText> = LazyLock::new(|| {
    let text = "[ -f {{path}} ] || { printf '%s: there is no such file\\n' {{path}} >&2; exit 1; }; \
                cat -- {{path}}";
    ShellText::parse(text).expect("a command with placeholders parses")
});

impl Run {
    /// The text that a document gives; `None` while it waits for a job, or when the step has failed.
    pub(crate) fn text_of_document(
        &mut self,
        at: StepAt,
        part: DocumentUse,
        document: &PromptDocument,
        values: &Map,
        directory: &str,
    ) -> Option<String> {
        if !self.progress(at).documents.contains_key(&part) {
            match self.begin_document(at, document, values) {
                Ok(rendering) => drop(self.progress_mut(at).documents.insert(part, rendering)),
                Err(failure) => {
                    self.fail(at, failure);
                    return None;
                }
            }
        }
        self.continue_document(at, part, document, directory)
    }

    /// The instructions of the agent that a step names, if it names one; `None` as above.
    pub(crate) fn instructions(
        &mut self,
        at: StepAt,
        agent: &AgentWork,
        values: &Map,
        directory: &str,
    ) -> Option<Option<String>> {
        let Some(reference) = &agent.agent else { return Some(None) };
        let program = Arc::clone(&self.program);
        match program.agent_document(&reference.name) {
            None => Some(program.agent(&reference.name).map(|agent| agent.text.clone())),
            Some(document) => {
                let part = DocumentUse::Instructions;
                let text = self.text_of_document(at, part, document, values, directory)?;
                Some(Some(text.trim().to_owned()))
            }
        }
    }

    fn begin_document(
        &self,
        at: StepAt,
        document: &PromptDocument,
        extra: &Map,
    ) -> Result<PromptRendering, Failure> {
        let frame = &self.frames[at.frame];
        for reference in document.set.free_references() {
            let root = reference.path.root();
            if let Some(failure) = frame.unreadable(&reference.path)
                && !extra.contains_key(root)
            {
                return Err(failure);
            }
        }
        let mut inputs = frame.context.clone();
        inputs.extend(extra.clone());
        let (roots, inputs) = (document.roots.clone(), Inputs::from(inputs));
        let checked = check_loaded(document.set.clone(), &roots, &inputs);
        if let Some(problem) = checked.problems.iter().find(|problem| problem.is_error()) {
            return Err(value_failure(located(problem)));
        }
        let earlier = self.progress(at).documents.values();
        let lines: usize = earlier.map(|rendering| rendering.evaluation.set().lines()).sum();
        let offset = u32::try_from(lines).unwrap_or(u32::MAX);
        let evaluation = Evaluation::new(document.set.clone(), roots, inputs);
        Ok(PromptRendering { offset, evaluation, wanted: None, attempt: 0, rendered: None })
    }

    fn continue_document(
        &mut self,
        at: StepAt,
        part: DocumentUse,
        document: &PromptDocument,
        directory: &str,
    ) -> Option<String> {
        let rendering = self.progress_mut(at).documents.get_mut(&part)?;
        if rendering.rendered.is_none() && rendering.wanted.is_none() {
            rendering.advance(document);
        }
        if let Some(text) = &rendering.rendered {
            return Some(text.clone());
        }
        let Some(wanted) = rendering.wanted.clone() else {
            let failure = rendering.failure();
            self.fail(at, failure);
            return None;
        };
        let attempt = rendering.attempt;
        let key = self.key(at, attempt, JobKind::Document);
        let job = Job {
            key: JobKey { call: wanted.number, ..key },
            work: JobWork::Bash(wanted.script).failing(self.recipe(at.frame).fails_on(None)),
            directory: directory.to_owned(),
            timeout: self.work_timeout(at),
            environment: vec![
                ("PROJECTPATH".to_owned(), document.roots.project.clone()),
                ("HOMEPATH".to_owned(), document.roots.home.clone()),
            ],
            sandboxed: false,
        };
        self.ready.push((job, at));
        None
    }

    pub(crate) fn document_job_started(&mut self, at: StepAt, key: &JobKey) {
        if let Some(rendering) = self.waiting_document(at) {
            rendering.attempt = key.attempt + 1;
        }
    }

    /// A command of a document, or a file, is there: the work continues with it.
    pub(crate) fn document_job_finished(&mut self, at: StepAt, end: &JobEnd) {
        self.progress_mut(at).interrupted = matches!(
            end.status,
            JobStatus::TimedOut | JobStatus::Stopped | JobStatus::Signalled(_)
        );
        if end.status == JobStatus::Stopped {
            return self.fail(at, stopped());
        }
        let text = match (&end.status, &end.output) {
            (JobStatus::Exited(0), Output::Text(text)) => text.clone(),
            (JobStatus::Exited(0), Output::None) => String::new(),
            (JobStatus::Exited(0), Output::OnDisk { len } | Output::TooLarge { len }) => {
                let location = self.location_in_document(at);
                let message = format!("{location} printed {len} bytes, too many for a prompt");
                return self.fail(at, value_failure(message));
            }
            _ => {
                let failure = self.failure_of_job(at, end);
                let message = format!("{}: {}", self.location_in_document(at), failure.message);
                let detail = with_stdout(failure.detail.clone(), end.output.text());
                return self.fail(at, Failure { message, detail, ..failure });
            }
        };
        if let Some(rendering) = self.waiting_document(at) {
            rendering.answer(text);
        }
        self.begin_work(at);
    }

    /// The file and the line that a document of a step waits for.
    fn location_in_document(&mut self, at: StepAt) -> String {
        let rendering = self.waiting_document(at);
        let location = rendering.and_then(|rendering| {
            let number = rendering.wanted.as_ref()?.number - rendering.offset;
            let (file, line) = rendering.evaluation.set().located(number)?;
            Some(format!("{file}:{line}"))
        });
        location.unwrap_or_else(|| "the prompt file".to_owned())
    }

    /// The document of a step that waits for a job.
    fn waiting_document(&mut self, at: StepAt) -> Option<&mut PromptRendering> {
        self.progress_mut(at).documents.values_mut().find(|rendering| rendering.wanted.is_some())
    }
}

impl PromptRendering {
    /// Continues until a job is needed, or the document is rendered or has failed.
    fn advance(&mut self, document: &PromptDocument) {
        match self.evaluation.advance() {
            Next::Run(command) => {
                let script = command.filled.unwrap_or_else(|| Filled::plain("false"));
                self.want(command.number, script, false);
            }
            Next::Embed { path, number } => {
                let path = match &document.directory {
                    Some(directory) if !path.starts_with('/') => {
                        plain_path(&format!("{directory}{path}"))
                    }
                    _ => path,
                };
                let filled = PRINT_FILE.fill(&mut |_| Some(path.clone()));
                self.want(number, filled.unwrap_or_else(|_| Filled::plain("false")), true);
            }
            Next::Import { path } => {
                self.evaluation.imported(Err(format!("{path} is not in the plan")));
                self.advance(document);
            }
            Next::Done if self.evaluation.failed() => {}
            Next::Done => {
                let text = String::from_utf8_lossy(self.evaluation.output()).into_owned();
                self.rendered = Some(text).filter(|text| !text.trim().is_empty());
            }
        }
    }

    fn want(&mut self, number: u32, script: Filled, embeds: bool) {
        self.attempt = 0;
        let number = number.saturating_add(self.offset);
        self.wanted = Some(Wanted { number, script, embeds });
    }

    fn answer(&mut self, text: String) {
        match self.wanted.take() {
            Some(Wanted { embeds: true, .. }) => self.evaluation.embedded(Ok(text.into_bytes())),
            _ => self.evaluation.command_ended(CommandEnd::Succeeded(text.into_bytes())),
        }
    }

    /// Why there is no prompt.
    fn failure(&self) -> Failure {
        let problem = self.evaluation.problems().iter().find(|problem| problem.is_error());
        let message = problem.map_or_else(|| "the prompt file gives no text".to_owned(), located);
        Failure::new(FailureKind::Value, message)
    }
}

/// The stderr of a failed command, and then the end of its stdout: many programs report there.
fn with_stdout(stderr: String, stdout: Option<&str>) -> String {
    let stdout = stdout.unwrap_or_default().trim_end();
    let mut from = stdout.len().saturating_sub(STDOUT_TAIL);
    while !stdout.is_char_boundary(from) {
        from += 1;
    }
    let parts = [stderr.as_str(), &stdout[from..]];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

fn located(problem: &Diagnostic) -> String {
    match problem.labels.first() {
        Some(label) => {
            let (line, _) = label.source.line_column(label.span.start);
            format!("{}:{line}: {}", label.source.name, problem.message)
        }
        None => problem.message.clone(),
    }
}

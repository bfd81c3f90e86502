//! A document while it is rendered into a prompt: what it needs next, and the text that it gives.

use crate::failure::{Failure, FailureKind};
use std::sync::LazyLock;
use towpath_core::{Diagnostic, Map};
use towpath_document::{CommandEnd, Evaluation, Inputs, Next, check_loaded, plain_path};
use towpath_recipe::PromptDocument;
use towpath_shell::{Filled, ShellText};

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
    state: RenderState,
}

#[derive(Debug, Clone)]
pub(crate) enum RenderState {
    Evaluating,
    /// It waits for a job.
    Wants(Wanted),
    Rendered(String),
}

/// A command or a file that a document needs.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// The line that needs it.
    pub number: u32,
    pub script: Filled,
    /// How often its job was started.
    pub attempt: u32,
    embeds: bool,
}

/// Prints a file, whatever its name is.
static PRINT_FILE: LazyLock<ShellText> = LazyLock::new(|| {
    let text = "[ -f {{path}} ] || { printf '%s: there is no such file\\n' {{path}} >&2; exit 1; }; \
                cat -- {{path}}";
    ShellText::parse(text).expect("a command with placeholders parses")
});

impl PromptRendering {
    pub fn begin(
        document: &PromptDocument,
        inputs: Map,
        offset: u32,
    ) -> Result<PromptRendering, Failure> {
        let (roots, inputs) = (document.roots.clone(), Inputs::from(inputs));
        let checked = check_loaded(document.set.clone(), &roots, &inputs);
        if let Some(problem) = checked.problems.iter().find(|problem| problem.is_error()) {
            return Err(Failure::new(FailureKind::Value, located(problem)));
        }
        let evaluation = Evaluation::new(document.set.clone(), roots, inputs);
        Ok(PromptRendering { offset, evaluation, state: RenderState::Evaluating })
    }

    /// The lines of its files.
    pub fn lines(&self) -> usize {
        self.evaluation.set().lines()
    }

    /// What it waits for.
    pub fn wanted(&mut self) -> Option<&mut Wanted> {
        match &mut self.state {
            RenderState::Wants(wanted) => Some(wanted),
            _ => None,
        }
    }

    /// Continues until a job is needed, or the document is rendered or has failed.
    pub fn proceed(&mut self, document: &PromptDocument) -> Result<RenderState, Failure> {
        while matches!(self.state, RenderState::Evaluating) {
            self.state = match self.evaluation.advance() {
                Next::Run(command) => {
                    let script = command.filled.unwrap_or_else(|| Filled::plain("false"));
                    self.wants(command.number, script, false)
                }
                Next::Embed { path, number } => {
                    let path = match &document.directory {
                        Some(directory) if !path.starts_with('/') => {
                            plain_path(&format!("{directory}{path}"))
                        }
                        _ => path,
                    };
                    let filled = PRINT_FILE.fill(&mut |_| Some(path.clone()));
                    self.wants(number, filled.unwrap_or_else(|_| Filled::plain("false")), true)
                }
                Next::Import { path } => {
                    self.evaluation.imported(Err(format!("{path} is not in the plan")));
                    continue;
                }
                Next::Done => RenderState::Rendered(self.text()?),
            };
        }
        Ok(self.state.clone())
    }

    fn wants(&self, number: u32, script: Filled, embeds: bool) -> RenderState {
        let number = number.saturating_add(self.offset);
        RenderState::Wants(Wanted { number, script, attempt: 0, embeds })
    }

    /// The text of a document that is evaluated.
    fn text(&self) -> Result<String, Failure> {
        let text = String::from_utf8_lossy(self.evaluation.output());
        if !self.evaluation.failed() && !text.trim().is_empty() {
            return Ok(text.into_owned());
        }
        let problem = self.evaluation.problems().iter().find(|problem| problem.is_error());
        let message = problem.map_or_else(|| "the prompt file gives no text".to_owned(), located);
        Err(Failure::new(FailureKind::Value, message))
    }

    /// Takes what the wanted job has printed.
    pub fn answer(&mut self, text: String) {
        match std::mem::replace(&mut self.state, RenderState::Evaluating) {
            RenderState::Wants(Wanted { embeds: true, .. }) => {
                self.evaluation.embedded(Ok(text.into_bytes()));
            }
            _ => self.evaluation.command_ended(CommandEnd::Succeeded(text.into_bytes())),
        }
    }

    /// The file and the line of what it waits for.
    pub fn location(&mut self) -> Option<String> {
        let number = self.wanted()?.number - self.offset;
        let (file, line) = self.evaluation.set().located(number)?;
        Some(format!("{file}:{line}"))
    }
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

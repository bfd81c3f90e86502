//! One document from its file to its result: read, checked, run, written.

use super::progress_line::ProgressLine;
use super::read_document_files::{DocumentFiles, Entry};
use super::scratch_directory::ScratchDirectory;
use super::{command_list, import_trust, watch, write_or_compare_output};
use crate::environment::Environment;
use crate::exit_codes_and_errors::{CommandError, ErrorKind, Exit};
use crate::session::{choose_agent, request_flags, secret_flag, signals};
use crate::terminal::diagnostics;
use crate::terminal::out;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use towpath_core::{Diagnostic, Map, Secrets, Severity, nearest};
use towpath_document::{
    Checked, CommandEnd, Evaluation, Files as _, Next, Permitted, Roots, check, tree_json,
};
use towpath_engine::{
    Controller, DocumentRunner, GRACE, RenderConfig, RenderEnd, StopReason, WardenStart,
};

/// What a user asks for.
#[derive(Debug, Clone)]
pub struct RenderRequest {
    /// `-`: standard input.
    pub file: PathBuf,
    pub writes: Writes,
    pub format: Format,
    pub regions: bool,
    pub set: Vec<String>,
    pub secrets: Vec<String>,
    /// Where commands run, if not in the document's directory.
    pub directory: Option<PathBuf>,
    /// What `$HOMEPATH` is, if not the user's home.
    pub home: Option<PathBuf>,
    pub timeout: Option<Duration>,
    pub no_run: bool,
    pub list_commands: bool,
    pub permitted: Permitted,
    pub strict: bool,
    pub verbose: bool,
    pub watch: bool,
}

/// Where the result goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Writes {
    Stdout,
    File(PathBuf),
    /// It is compared with this file.
    Check(PathBuf),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    #[default]
    #[value(alias = "markdown")]
    Md,
    Json,
}

/// A document that is read and checked.
struct CheckedDocument {
    checked: Checked,
    roots: Roots,
    inputs: Map,
}

/// What starts when the warden has started: the thread that waits for signals.
type Ready = fn(Controller) -> std::io::Result<()>;

/// Renders documents, one after the other where the user watches them.
pub struct Rendering<'a> {
    env: &'a Environment,
    request: &'a RenderRequest,
    entry: Entry,
    pub files: DocumentFiles,
    secrets: Secrets,
    runner: Option<DocumentRunner<Ready>>,
    /// Removed with this value, after the runner has ended what runs.
    _scratch: Option<ScratchDirectory>,
}

pub fn execute(env: &Environment, request: &RenderRequest) -> Result<Exit, CommandError> {
    let secrets = secret_flag::of_run(env, &request.secrets)?;
    secret_flag::refuse_set(&secrets, &request.set)?;
    let entry = Entry::new(env, &request.file)?;
    refuse_own_file(env, request, &entry)?;
    let files = DocumentFiles::of(&entry);
    let mut rendering =
        Rendering { env, request, entry, files, secrets, runner: None, _scratch: None };
    if request.watch {
        return watch::watch(rendering);
    }
    let rendered = rendering.render();
    let closed = rendering.close();
    let exit = rendered?;
    closed?;
    Ok(exit)
}

/// The result must not replace the document.
fn refuse_own_file(
    env: &Environment,
    request: &RenderRequest,
    entry: &Entry,
) -> Result<(), CommandError> {
    let (Writes::File(output), Some(file)) = (&request.writes, &entry.path) else { return Ok(()) };
    let real = |path: &PathBuf| env.current.join(path).canonicalize().ok();
    if !request.regions && real(output).is_some() && real(output) == real(file) {
        let message = "the output would replace the document: write it to another file";
        return Err(CommandError::bad_input(message));
    }
    Ok(())
}

impl Rendering<'_> {
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Renders the document as it is now.
    pub fn render(&mut self) -> Result<Exit, CommandError> {
        let request = self.request;
        let CheckedDocument { checked, roots, inputs } = match self.check()? {
            Ok(checked) => checked,
            Err(exit) => return Ok(exit),
        };
        if request.list_commands {
            match request.format {
                Format::Md => command_list::print(self.env, &checked.commands),
                Format::Json => out::json(&command_list::json(&checked.commands)),
            }
            return Ok(Exit::Done);
        }
        if request.no_run {
            let problems = checked.problems.clone();
            let bytes = checked.without_running(&roots, &inputs, &self.files);
            if request.format == Format::Json {
                let mut value = diagnostics::verdict_json(true, problems.iter());
                value["document"] = self.entry.name().into();
                value["output"] = String::from_utf8_lossy(&bytes).into();
                return self.write(format!("{value:#}\n").as_bytes());
            }
            return self.write(&bytes);
        }
        import_trust::require(self.env, &checked.set, &roots)?;
        refuse_forbidden(&checked, &request.permitted)?;
        if let Some(output) = checked.output().filter(|_| request.format == Format::Md) {
            return self.write(output);
        }
        let runs_nothing = checked.commands.is_empty();
        let warnings = checked.problems;
        let evaluation = Evaluation::new(checked.set, roots.clone(), inputs);
        if runs_nothing {
            let evaluation = without_commands(evaluation, &self.files);
            return self.finish(evaluation, warnings);
        }
        let mut progress = ProgressLine::new(self.env, request.verbose);
        self.prepare_runner(&roots)?;
        let Some(runner) = &mut self.runner else { return Err(no_runner()) };
        match runner.render(evaluation, &self.files, &mut progress)? {
            RenderEnd::Stopped(StopReason::Signal(signal)) => Ok(Exit::of_signal(signal)),
            RenderEnd::Stopped(StopReason::Cancel) => Ok(Exit::Terminated),
            RenderEnd::Finished(evaluation) => self.finish(*evaluation, warnings),
        }
    }

    /// Ends what commands have left running.
    pub fn close(mut self) -> Result<(), CommandError> {
        match self.runner.take() {
            Some(runner) => Ok(runner.close()?),
            None => Ok(()),
        }
    }

    /// Starts what must be there before the first thread.
    pub fn open(&mut self) -> Result<(), CommandError> {
        let roots = self.entry.roots(self.env, self.request.home.as_deref());
        self.prepare_runner(&roots)?;
        match &mut self.runner {
            Some(runner) => Ok(runner.open()?),
            None => Ok(()),
        }
    }

    /// A stop that the user asked for while nothing was running.
    pub fn stopped(&self) -> Option<Exit> {
        self.runner.as_ref()?.stopped().map(|reason| match reason {
            StopReason::Signal(signal) => Exit::of_signal(signal),
            StopReason::Cancel => Exit::Terminated,
        })
    }

    fn prepare_runner(&mut self, roots: &Roots) -> Result<(), CommandError> {
        if self.runner.is_some() {
            return Ok(());
        }
        signals::block();
        let scratch = ScratchDirectory::new(self.env)?;
        let directory = self.request.directory.as_ref();
        let directory =
            directory.map_or_else(|| self.entry.directory.clone(), |d| self.env.current.join(d));
        let mut environment = secret_flag::environment(self.env, &self.secrets);
        for (name, value) in [("PROJECTPATH", &roots.project), ("HOMEPATH", &roots.home)] {
            environment.retain(|(known, _)| known != name);
            environment.push((name.into(), OsString::from(value)));
        }
        let config = RenderConfig {
            directory,
            scratch: scratch.path.clone(),
            environment,
            bash: choose_agent::bash(self.env)?,
            secrets: self.secrets.clone(),
            timeout: self.request.timeout,
            grace: GRACE,
            warden: WardenStart::Fork,
        };
        self.runner = Some(DocumentRunner::new(config, signals::listen_to_render));
        self._scratch = Some(scratch);
        Ok(())
    }

    /// Reads the document and everything that it imports, and reports what is wrong with them.
    fn check(&self) -> Result<Result<CheckedDocument, Exit>, CommandError> {
        let request = self.request;
        let set = self.entry.load(self.env, request.regions)?;
        let roots = self.entry.roots(self.env, request.home.as_deref());
        let inputs = request_flags::inputs(&request.set)?;
        let mut checked = check(set, &roots, &inputs, &self.files);
        warn_unread(&mut checked, &inputs);
        if request.strict {
            for problem in checked.problems.iter_mut().filter(|p| p.severity == Severity::Warning) {
                problem.severity = Severity::Error;
            }
        }
        let failed = checked.has_errors();
        self.show(&checked.problems, failed);
        Ok(match failed {
            true => Err(Exit::BadInput),
            false => Ok(CheckedDocument { checked, roots, inputs }),
        })
    }

    /// Problems for the user: drawn, or as JSON where they are all that there is.
    fn show(&self, problems: &[Diagnostic], all: bool) {
        if self.request.format == Format::Json {
            if all {
                out::json(&diagnostics::verdict_json(false, problems.iter()));
            }
            return;
        }
        diagnostics::draw(problems, self.env.color);
        if all {
            out::note(diagnostics::tally(problems, &self.entry.name()));
        }
    }

    fn finish(
        &self,
        evaluation: Evaluation,
        warnings: Vec<Diagnostic>,
    ) -> Result<Exit, CommandError> {
        let problems = evaluation.problems();
        if evaluation.failed() {
            let command = problems.iter().any(|problem| problem.code == "EXECUTION_FAILED");
            let exit = if command { Exit::Failed } else { Exit::BadInput };
            self.show_failure(problems);
            return Ok(exit);
        }
        self.show(problems, false);
        if self.request.format == Format::Json {
            let all = warnings.iter().chain(problems);
            let mut value = diagnostics::verdict_json(true, all);
            value["document"] = self.entry.name().into();
            value["output"] = String::from_utf8_lossy(evaluation.output()).into();
            value["nodes"] = tree_json(&evaluation);
            let text = format!("{value:#}\n");
            return self.write(text.as_bytes());
        }
        self.write(evaluation.output())
    }

    /// What a failed command printed on stderr is on the screen already.
    fn show_failure(&self, problems: &[Diagnostic]) {
        if self.request.format == Format::Json {
            return self.show(problems, true);
        }
        let mut problems = problems.to_vec();
        for problem in problems.iter_mut().filter(|problem| problem.code == "EXECUTION_FAILED") {
            problem.help = None;
        }
        diagnostics::draw(&problems, self.env.color);
    }

    fn write(&self, bytes: &[u8]) -> Result<Exit, CommandError> {
        let bytes = self.secrets.mask_bytes(bytes);
        write_or_compare_output::write(self.env, &self.request.writes, &bytes)
    }
}

/// Evaluates a document that runs no commands.
fn without_commands(mut evaluation: Evaluation, files: &DocumentFiles) -> Evaluation {
    loop {
        match evaluation.advance() {
            Next::Done => return evaluation,
            Next::Run(_) => evaluation.command_ended(CommandEnd::NotRun),
            Next::Embed { path, .. } => evaluation.embedded(files.embed(&path)),
            Next::Import { path } => evaluation.imported(files.import(&path)),
        }
    }
}

fn no_runner() -> CommandError {
    CommandError::setup("the commands of the document cannot be run")
}

/// A variable that the document does not read is most likely misspelt.
fn warn_unread(checked: &mut Checked, inputs: &Map) {
    let read = checked.set.names_read();
    for name in inputs.keys().filter(|name| !read.contains(*name)) {
        let message = format!("the document does not read `{name}`, which --set gives");
        let mut problem = Diagnostic::warning("unread-variable", message);
        problem.help = nearest(name, read.iter().map(String::as_str))
            .map(|near| format!("did you mean `{near}`?"));
        checked.problems.push(problem);
    }
}

/// Refuses a document that runs what is not allowed, before anything runs.
fn refuse_forbidden(checked: &Checked, permitted: &Permitted) -> Result<(), CommandError> {
    let refused: Vec<String> = checked
        .commands
        .iter()
        .filter(|command| !permitted.allows(command))
        .map(|command| {
            let what = match &command.name {
                Some(name) => format!("${name}: allow it with --allow {name}"),
                None => "a command of its own: allow it with --allow-shell".to_owned(),
            };
            format!("\n  {}:{} runs {what}", command.file, command.line)
        })
        .collect();
    if refused.is_empty() {
        return Ok(());
    }
    let message = format!("the document may not run these; nothing was run{}", refused.concat());
    Err(CommandError::new(Exit::Setup, ErrorKind::NotTrusted, message))
}

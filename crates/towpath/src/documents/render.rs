//! One document from its file to its result: read, checked, run, written.

use super::progress_line::ProgressLine;
use super::read_document_files::{DocumentFiles, Entry, ReadAs, ReadFile};
use super::scratch_directory::ScratchDirectory;
use super::{command_list, import_trust, watch, write};
use crate::environment::Environment;
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::session::{choose_agent, request_flags, secret_flag, signals};
use crate::terminal::diagnostics;
use crate::terminal::out;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use towpath_core::{Diagnostic, Map, Secrets, Severity, nearest};
use towpath_document::{
    Checked, CommandEnd, Document, Evaluation, FileKind, Files as _, Inputs, Next, Permitted,
    Roots, SHELL_VARIABLE, check, tree_json,
};
use towpath_engine::{
    Controller, DocumentRunner, GRACE, RenderConfig, RenderEnd, RenderLocation, StopReason,
    WardenStart,
};
use towpath_shell::FailFast;

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
    /// Files outside of the project are read also where little is allowed.
    pub allow_read: bool,
    /// Which failures inside a command fail it.
    pub fails_on: FailFast,
    /// Commands that fail leave a message in the document.
    pub keep_going: bool,
    /// By the rules of Meld, whatever the file is called.
    pub meld: bool,
    pub strict: bool,
    pub verbose: bool,
    pub watch: bool,
}

/// Where the result goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Writes {
    Stdout,
    File(PathBuf),
    /// Into the document itself, if that is still what was rendered.
    Regions(PathBuf),
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
    inputs: Inputs,
}

/// What starts when the warden has started: the thread that waits for signals.
type Ready = fn(Controller) -> std::io::Result<()>;

/// Renders documents, one after the other where the user watches them.
pub struct Rendering<'a> {
    env: &'a Environment,
    request: &'a RenderRequest,
    entry: Entry,
    /// As it was read last.
    document: Option<Arc<Document>>,
    pub files: DocumentFiles<'a>,
    secrets: Secrets,
    commands: &'a mut Commands,
}

/// Runs the commands of all documents: what ends them is there once in a process.
#[derive(Default)]
struct Commands {
    runner: Option<DocumentRunner<Ready>>,
    /// Removed with this value, after the runner has ended what runs.
    scratch: Option<ScratchDirectory>,
    /// More may run after a document is written.
    stay: bool,
}

impl Commands {
    /// Ends what commands have left running.
    fn end(&mut self) -> Result<(), CommandError> {
        let closed = self.runner.take().map_or(Ok(()), DocumentRunner::close);
        self.scratch = None;
        Ok(closed?)
    }
}

/// Renders several documents, one after the other; the most severe exit is that of all.
pub fn execute_all(env: &Environment, requests: &[RenderRequest]) -> Result<Exit, CommandError> {
    let mut commands = Commands { stay: requests.len() > 1, ..Commands::default() };
    if let [request] = requests {
        return execute(env, request, &mut commands);
    }
    let mut worst = Exit::Done;
    for request in requests {
        let exit = execute(env, request, &mut commands).unwrap_or_else(|error| {
            if !error.shown {
                out::note(format!("error: {}", error.message));
            }
            error.exit
        });
        worst = worse(worst, exit);
        if matches!(exit, Exit::Hangup | Exit::Interrupted | Exit::Terminated) {
            worst = exit;
            break;
        }
    }
    commands.end()?;
    Ok(worst)
}

/// Problems of a document, or with the regions of a file: nothing runs.
pub fn validate(
    env: &Environment,
    file: &Path,
    set: &[String],
) -> Result<Vec<Diagnostic>, CommandError> {
    let entry = Entry::new(env, file)?;
    let files = DocumentFiles::of(env, &entry, true);
    let loaded = entry.load(env, ReadAs::RegionsIfAny)?;
    let inputs = outside(&env.variables, request_flags::inputs(set)?);
    let mut checked = check(loaded, &entry.roots(env, None), &inputs, &files);
    warn_unread(&mut checked, &inputs.values);
    Ok(checked.problems)
}

/// Values that a document gets from outside.
fn outside(environment: &[(OsString, OsString)], values: Map) -> Inputs {
    let names = environment.iter().map(|(name, _)| name.to_string_lossy().into_owned());
    let exported = names.chain(["PROJECTPATH", "HOMEPATH"].map(str::to_owned)).collect();
    Inputs { values, override_definitions: true, exported: Arc::new(exported) }
}

fn execute(
    env: &Environment,
    request: &RenderRequest,
    commands: &mut Commands,
) -> Result<Exit, CommandError> {
    let secrets = secret_flag::of_run(env, &request.secrets)?;
    secret_flag::refuse_set(&secrets, &request.set)?;
    let entry = Entry::new(env, &request.file)?;
    refuse_own_file(env, request, &entry)?;
    let little = request.no_run || request.list_commands || request.permitted != Permitted::All;
    let files = DocumentFiles::of(env, &entry, little && !request.allow_read);
    commands.stay |= request.watch;
    let mut rendering = Rendering { env, request, entry, document: None, files, secrets, commands };
    if request.watch {
        return watch::watch(rendering);
    }
    let rendered = rendering.render();
    let closed = if rendering.commands.stay { Ok(()) } else { rendering.close() };
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
    if real(output).is_some() && real(output) == real(file) {
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
        let files = self.files.peek_read();
        if request.list_commands {
            match request.format {
                Format::Md => command_list::print(&checked.commands, &files),
                Format::Json => out::json(&command_list::json(&checked.commands, &files)),
            }
            return Ok(Exit::Done);
        }
        if request.no_run {
            for file in files.iter().filter(|file| file.refused) {
                out::note(format!(
                    "warning: {} is outside of the project, and was not read; to read it: \
                     --allow-read",
                    file.name
                ));
            }
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
        refuse_forbidden(&checked, &request.permitted, &files)?;
        if let Some(output) = checked.output().filter(|_| request.format == Format::Md) {
            return self.write(output);
        }
        let runs_nothing = checked.commands.is_empty();
        let warnings = checked.problems;
        let mut evaluation = Evaluation::new(checked.set, roots.clone(), inputs);
        if request.keep_going {
            evaluation = evaluation.keep_going();
        }
        if runs_nothing {
            let evaluation = without_commands(evaluation, &self.files);
            return self.finish(evaluation, warnings);
        }
        let mut progress = ProgressLine::new(self.env, request.verbose);
        self.prepare_runner(&roots)?;
        let Some(runner) = &mut self.commands.runner else { return Err(no_runner()) };
        match runner.render(evaluation, &self.files, &mut progress)? {
            RenderEnd::Stopped(StopReason::Signal(signal)) => Ok(Exit::of_signal(signal)),
            RenderEnd::Stopped(StopReason::Cancel) => Ok(Exit::Terminated),
            RenderEnd::Finished(evaluation) => self.finish(*evaluation, warnings),
        }
    }

    /// Ends what commands have left running.
    pub fn close(self) -> Result<(), CommandError> {
        self.commands.end()
    }

    /// Starts what must be there before the first thread.
    pub fn open(&mut self) -> Result<(), CommandError> {
        let roots = self.entry.roots(self.env, self.request.home.as_deref());
        self.prepare_runner(&roots)?;
        match &mut self.commands.runner {
            Some(runner) => Ok(runner.open()?),
            None => Ok(()),
        }
    }

    /// A stop that the user asked for while nothing was running.
    pub fn stopped(&self) -> Option<Exit> {
        self.commands.runner.as_ref()?.stopped().map(|reason| match reason {
            StopReason::Signal(signal) => Exit::of_signal(signal),
            StopReason::Cancel => Exit::Terminated,
        })
    }

    fn prepare_runner(&mut self, roots: &Roots) -> Result<(), CommandError> {
        let directory = self.request.directory.as_ref();
        let directory =
            directory.map_or_else(|| self.entry.directory.clone(), |d| self.env.current.join(d));
        let variables = [("PROJECTPATH", &roots.project), ("HOMEPATH", &roots.home)];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.clone())).to_vec();
        let location = RenderLocation { directory, variables };
        if let Some(runner) = &mut self.commands.runner {
            runner.move_to(location);
            return Ok(());
        }
        signals::block();
        let scratch = ScratchDirectory::new(self.env)?;
        let config = RenderConfig {
            location,
            scratch: scratch.path.clone(),
            environment: secret_flag::environment(self.env, &self.secrets),
            bash: choose_agent::bash(self.env)?,
            secrets: self.secrets.clone(),
            fails_on: self.request.fails_on,
            timeout: self.request.timeout,
            grace: GRACE,
            warden: WardenStart::Fork,
        };
        self.commands.runner = Some(DocumentRunner::new(config, signals::listen_to_render));
        self.commands.scratch = Some(scratch);
        Ok(())
    }

    /// Reads the document and everything that it imports, and reports what is wrong with them.
    fn check(&mut self) -> Result<Result<CheckedDocument, Exit>, CommandError> {
        let request = self.request;
        let kind = if request.meld { FileKind::Meld } else { FileKind::of(&self.entry.name()) };
        let how = if request.regions { ReadAs::Regions } else { ReadAs::Document(kind) };
        let set = self.entry.load(self.env, how)?;
        self.document = Some(Arc::clone(set.entry()));
        let roots = self.entry.roots(self.env, request.home.as_deref());
        let inputs = outside(&self.env.variables, request_flags::inputs(&request.set)?);
        let mut checked = check(set, &roots, &inputs, &self.files);
        warn_unread(&mut checked, &inputs.values);
        // Notes are for `towpath validate`.
        checked.problems.retain(|problem| problem.severity != Severity::Note);
        for problem in &mut checked.problems {
            // Where Meld would have put its value in, another one must not be.
            if request.strict || (request.meld && problem.code == SHELL_VARIABLE) {
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
        &mut self,
        evaluation: Evaluation,
        warnings: Vec<Diagnostic>,
    ) -> Result<Exit, CommandError> {
        let request = self.request;
        let problems = evaluation.problems();
        let failed = evaluation.failed() || (request.strict && !problems.is_empty());
        let command = problems.iter().any(|problem| problem.code == "EXECUTION_FAILED");
        // What is compared has an exit code of its own for a difference.
        let checks = matches!(request.writes, Writes::Check(_));
        let exit = match (failed, command && !checks) {
            (false, _) => Exit::Done,
            (true, true) => Exit::Failed,
            (true, false) => Exit::BadInput,
        };
        let whole = !failed || request.keep_going;
        if request.format == Format::Json {
            let mut value = diagnostics::verdict_json(!failed, warnings.iter().chain(problems));
            value["document"] = self.entry.name().into();
            value["output"] = String::from_utf8_lossy(evaluation.output()).into();
            value["nodes"] = tree_json(&evaluation);
            let text = format!("{value:#}\n");
            if !whole {
                out::stdout(&self.secrets.mask_bytes(text.as_bytes()));
                return Ok(exit);
            }
            return Ok(worse(exit, self.write(text.as_bytes())?));
        }
        diagnostics::draw(&without_stderr(problems), self.env.color);
        match whole {
            true => Ok(worse(exit, self.write(evaluation.output())?)),
            false => Ok(exit),
        }
    }

    /// Writes the result. Nothing runs any more: a signal ends this process, also while nobody reads.
    fn write(&mut self, bytes: &[u8]) -> Result<Exit, CommandError> {
        let let_through = signals::LetThrough::new();
        if let Some(exit) = self.stopped() {
            return Ok(exit);
        }
        if !self.commands.stay {
            self.commands.end()?;
        }
        let bytes = self.secrets.mask_bytes(bytes);
        let before = self.document.as_ref().map(|document| document.bytes()).unwrap_or_default();
        let written = write::write(self.env, &self.request.writes, before, &bytes);
        drop(let_through);
        written
    }
}

fn worse(one: Exit, other: Exit) -> Exit {
    if one.severity() >= other.severity() { one } else { other }
}

/// The stderr of a failed command is on the screen already.
fn without_stderr(problems: &[Diagnostic]) -> Vec<Diagnostic> {
    let mut problems = problems.to_vec();
    for problem in problems.iter_mut().filter(|problem| problem.code == "EXECUTION_FAILED") {
        let help = problem.help.take().unwrap_or_default();
        problem.help = help.find("it printed on stdout:").map(|at| help[at..].to_owned());
    }
    problems
}

/// Evaluates a document that runs no commands.
fn without_commands(mut evaluation: Evaluation, files: &DocumentFiles<'_>) -> Evaluation {
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
fn refuse_forbidden(
    checked: &Checked,
    permitted: &Permitted,
    files: &[ReadFile],
) -> Result<(), CommandError> {
    let mut refused: Vec<String> = checked
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
    let runs = !refused.is_empty();
    refused.extend(files.iter().filter(|file| file.refused).map(|file| {
        let name = &file.name;
        format!("\n  it reads {name}, outside of the project: allow it with --allow-read")
    }));
    if refused.is_empty() {
        return Ok(());
    }
    let what = if runs { "run" } else { "read" };
    let message = format!("the document may not {what} these; nothing was run{}", refused.concat());
    Err(CommandError::new(Exit::Setup, ErrorKind::NotTrusted, message))
}

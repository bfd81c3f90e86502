//! Renders one document: its commands run one after the other, with the same warden, files and signals
//! as the steps of a run. Nothing is recorded.

use crate::controller::{Control, Controller};
use crate::error::{EngineError, io_error};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};
use towpath_core::{JobKey, JobKind, RunId, Secrets, StepPath, Stream};
use towpath_document::{Command, CommandEnd, Evaluation, Files, Next, Printed};
use towpath_executor::{
    Acquire, DirectoryVariables, EndStatus, Executor as _, Finished, JobEvent, JobId, JobSpec,
    LocalAgents, LocalConfig, LocalExecutor, Observer, ProcessError, RunLock, Sandbox, WardenStart,
    Work,
};
use towpath_run::StopReason;
use towpath_shell::{FailFast, Filled};

/// How long the loop waits at most before it looks around.
const LOOK: Duration = Duration::from_millis(40);
/// The most that one command may add to a document.
const MOST_OUTPUT: u64 = 256 << 20;
/// How much of the end of its output a failure carries.
const ERROR_TAIL: u64 = 4096;

/// What the commands of a document are started with.
#[derive(Debug)]
pub struct RenderConfig {
    pub location: RenderLocation,
    /// An empty directory for the files of commands, and for a lock: absolute and UTF-8.
    pub scratch: PathBuf,
    /// The complete environment of the commands.
    pub environment: Vec<(OsString, OsString)>,
    pub bash: PathBuf,
    /// Masked in everything that comes out of the commands.
    pub secrets: Secrets,
    /// Which failures inside a command fail it.
    pub fails_on: FailFast,
    /// Of each command.
    pub timeout: Option<Duration>,
    /// How long a command may take to end after TERM.
    pub grace: Duration,
    pub warden: WardenStart,
}

/// Settings that differ between the commands of documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderLocation {
    /// Where they run: absolute.
    pub directory: PathBuf,
    /// Variables beside those of the environment.
    pub variables: Vec<(String, String)>,
}

/// What is shown while a document is rendered.
pub trait RenderReporter {
    fn command_started(&mut self, command: &Command);

    /// What a command prints on stderr.
    fn stderr(&mut self, bytes: &[u8]);

    fn command_ended(&mut self, command: &Command, took: Duration);

    /// Called often while a command runs.
    fn tick(&mut self);
}

/// How rendering ended.
#[derive(Debug)]
pub enum RenderEnd {
    /// With the document, or with its problems.
    Finished(Box<Evaluation>),
    Stopped(StopReason),
}

/// Runs the commands of documents. The warden is started with the first command.
pub struct DocumentRunner<R> {
    config: RenderConfig,
    ready: Option<R>,
    open: Option<Open>,
    jobs: u32,
    /// What the last rendering asked for and got, in its order.
    answers: Vec<Answer>,
}

/// The warden is there.
struct Open {
    executor: LocalExecutor,
    controls: Receiver<Control>,
    _lock: RunLock,
}

impl<R> std::fmt::Debug for DocumentRunner<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DocumentRunner").field("config", &self.config).finish_non_exhaustive()
    }
}

/// One command or file of a document, and what it gave.
#[derive(Debug, Clone, PartialEq)]
enum Answer {
    Ran(Filled, CommandEnd),
    Read(String, Result<Vec<u8>, String>),
}

impl<R: FnOnce(Controller) -> std::io::Result<()>> DocumentRunner<R> {
    /// `ready` is called once, when the warden is started and threads may be.
    pub fn new(config: RenderConfig, ready: R) -> DocumentRunner<R> {
        let ready = Some(ready);
        DocumentRunner { config, ready, open: None, jobs: 0, answers: Vec::new() }
    }

    /// The next document is another one.
    pub fn move_to(&mut self, location: RenderLocation) {
        if self.config.location != location {
            self.config.location = location;
            self.answers.clear();
        }
    }

    /// Starts the warden, where no command has.
    pub fn open(&mut self) -> Result<(), EngineError> {
        if let Some(ready) = self.ready.take() {
            let id = new_id()?;
            let path = self.config.lock();
            let Acquire::Acquired(lock) = RunLock::try_acquire(&path).map_err(io_error(&path))?
            else {
                return Err(EngineError::Owned { run: id, holder: "another process".to_owned() });
            };
            let executor =
                LocalExecutor::open(self.config.local(), &self.config.warden, &id, lock.as_fd())?;
            let (sender, controls) = mpsc::channel();
            ready(Controller::new(sender, executor.waker())).map_err(|source| {
                ProcessError::System { doing: "cannot start a thread", source }
            })?;
            self.open = Some(Open { executor, controls, _lock: lock });
        }
        Ok(())
    }

    /// Renders a document. What the last rendering ran is not run again, up to the first command or
    /// file that is another now.
    pub fn render(
        &mut self,
        mut evaluation: Evaluation,
        files: &dyn Files,
        reporter: &mut dyn RenderReporter,
    ) -> Result<RenderEnd, EngineError> {
        let mut earlier: VecDeque<Answer> = std::mem::take(&mut self.answers).into();
        loop {
            match evaluation.advance() {
                Next::Done => return Ok(RenderEnd::Finished(Box::new(evaluation))),
                Next::Import { path } => evaluation.imported(files.import(&path)),
                Next::Embed { path, .. } => {
                    let answer = Answer::Read(path.clone(), files.embed(&path));
                    if earlier.pop_front().as_ref() != Some(&answer) {
                        earlier.clear();
                    }
                    if let Answer::Read(_, found) = &answer {
                        evaluation.embedded(found.clone());
                    }
                    self.answers.push(answer);
                }
                Next::Run(command) => {
                    let filled = command.filled.clone().unwrap_or_else(|| Filled::plain("false"));
                    let end = match earlier.pop_front() {
                        Some(Answer::Ran(before, end)) if before == filled => end,
                        _ => {
                            earlier.clear();
                            match self.run(&command, filled.clone(), reporter)? {
                                Ok(end) => end,
                                Err(reason) => return Ok(RenderEnd::Stopped(reason)),
                            }
                        }
                    };
                    if matches!(end, CommandEnd::Succeeded(_)) {
                        self.answers.push(Answer::Ran(filled, end.clone()));
                    }
                    evaluation.command_ended(end);
                }
            }
        }
    }

    /// Ends what commands have left running.
    pub fn close(mut self) -> Result<(), EngineError> {
        if let Some(mut open) = self.open.take() {
            open.executor.close(&mut Observed::nothing())?;
            open.executor.shut_down();
        }
        Ok(())
    }

    /// A stop of the user that arrived while nothing was running.
    pub fn stopped(&self) -> Option<StopReason> {
        let open = self.open.as_ref()?;
        open.controls.try_iter().find_map(|control| match control {
            Control::Stop(reason) => Some(reason),
            Control::Pause(meanwhile) => {
                meanwhile();
                None
            }
        })
    }

    fn run(
        &mut self,
        command: &Command,
        script: Filled,
        reporter: &mut dyn RenderReporter,
    ) -> Result<Result<CommandEnd, StopReason>, EngineError> {
        self.open()?;
        let Some(open) = &mut self.open else { return Err(EngineError::WardenGone) };
        reporter.command_started(command);
        let began = Instant::now();
        self.jobs += 1;
        let id = JobId(self.jobs);
        let spec = self.config.job(id, command, script);
        let (finished, printed) = match open.wait_for(spec, reporter)? {
            Ok(finished) => finished,
            Err(reason) => return Ok(Err(reason)),
        };
        reporter.command_ended(command, began.elapsed());
        let end = self.config.end_of(&finished, printed);
        Ok(Ok(end?))
    }
}

impl RenderConfig {
    fn local(&self) -> LocalConfig {
        LocalConfig {
            run_directory: self.scratch.clone(),
            environment: self.environment.clone(),
            bash: self.bash.clone(),
            agents: LocalAgents::None,
            calls: None,
            session_tree: None,
            directory_variables: DirectoryVariables::default(),
            secrets: self.secrets.clone(),
            grace: self.grace,
            text_if_killed: None,
        }
    }

    fn job(&self, id: JobId, command: &Command, script: Filled) -> JobSpec {
        let step = StepPath::new(format!("line-{}", command.number));
        let script = script.failing(self.fails_on);
        JobSpec {
            id,
            key: JobKey::of_step(&step, 0, JobKind::Bash),
            work: Work::Script { script, substitute: false },
            directory: self.location.directory.clone(),
            timeout: self.timeout,
            idle_timeout: None,
            environment: self.location.variables.clone(),
            sandbox: Sandbox::None,
        }
    }

    /// `printed`: it has printed something on stdout.
    fn end_of(&self, finished: &Finished, printed: bool) -> Result<CommandEnd, EngineError> {
        if finished.status == EndStatus::Exited(0) {
            return self.output(finished, printed);
        }
        let (stdout, stderr) = (self.tail(&finished.stdout)?, self.tail(&finished.stderr)?);
        let printed = Printed { stdout, stderr };
        let end = match finished.status {
            EndStatus::Exited(code) => CommandEnd::Exited { code, printed },
            EndStatus::Signalled(signal) => CommandEnd::Signalled { signal, printed },
            EndStatus::TimedOut | EndStatus::Silent(_) => {
                CommandEnd::TimedOut { after: self.timeout.unwrap_or_default(), printed }
            }
            EndStatus::Stopped | EndStatus::NotStarted | EndStatus::Faulted { .. } => {
                CommandEnd::NotStarted { error: finished.message.clone().unwrap_or_default() }
            }
        };
        self.remove_files(finished);
        Ok(end)
    }

    /// A command that printed nothing has no file; one whose file is gone must not look like it.
    fn output(&self, finished: &Finished, printed: bool) -> Result<CommandEnd, EngineError> {
        let path = self.scratch.join(&finished.stdout);
        let lost = || printed || !self.lock().exists();
        let bytes = match fs::metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !lost() => Vec::new(),
            Err(error) => return Err(io_error(&path)(error)),
            Ok(file) if file.len() > MOST_OUTPUT => {
                let error = format!("it printed {} bytes, and 256 MiB are the most", file.len());
                return Ok(CommandEnd::TooLarge { error });
            }
            Ok(_) => fs::read(&path).map_err(io_error(&path))?,
        };
        self.remove_files(finished);
        Ok(CommandEnd::Succeeded(bytes))
    }

    fn lock(&self) -> PathBuf {
        self.scratch.join("lock")
    }

    fn tail(&self, name: &str) -> Result<String, EngineError> {
        let path = self.scratch.join(name);
        match read_tail(&path) {
            Ok(text) => Ok(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(io_error(&path)(error)),
        }
    }

    /// What was printed is in the document now, or nowhere.
    fn remove_files(&self, finished: &Finished) {
        for name in [&finished.stdout, &finished.stderr] {
            let _ = fs::remove_file(self.scratch.join(name));
        }
    }
}

fn read_tail(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(ERROR_TAIL)))?;
    let mut bytes = Vec::new();
    file.take(ERROR_TAIL).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn new_id() -> Result<RunId, EngineError> {
    let mut random = [0; 12];
    getrandom::fill(&mut random).map_err(|error| EngineError::Random(error.to_string()))?;
    Ok(RunId::from_random(&random, random.len()))
}

impl Open {
    /// Runs one command to its end, or until the user stops it. With whether it has printed anything.
    fn wait_for(
        &mut self,
        spec: JobSpec,
        reporter: &mut dyn RenderReporter,
    ) -> Result<Result<(Finished, bool), StopReason>, EngineError> {
        let id = spec.id;
        self.executor.start(spec)?;
        let mut stopping: Option<StopReason> = None;
        let mut printed = false;
        loop {
            let mut observed = Observed { reporter: Some(reporter), finished: None, printed };
            self.executor.events(Instant::now() + LOOK, &mut observed)?;
            printed = observed.printed;
            if let Some(finished) = observed.finished.take().filter(|finished| finished.job == id) {
                return Ok(stopping.map_or(Ok((*finished, printed)), Err));
            }
            reporter.tick();
            while let Ok(control) = self.controls.try_recv() {
                match control {
                    Control::Stop(_) if stopping.is_some() => self.executor.kill(id)?,
                    Control::Stop(reason) => {
                        stopping = Some(reason);
                        self.executor.stop(id)?;
                    }
                    Control::Pause(meanwhile) => {
                        self.executor.pause()?;
                        meanwhile();
                        self.executor.resume()?;
                    }
                }
            }
        }
    }
}

/// Passes stderr on, and keeps the end of the command.
struct Observed<'a> {
    reporter: Option<&'a mut dyn RenderReporter>,
    finished: Option<Box<Finished>>,
    /// Something was printed on stdout.
    printed: bool,
}

impl Observed<'_> {
    fn nothing() -> Observed<'static> {
        Observed { reporter: None, finished: None, printed: false }
    }
}

impl Observer for Observed<'_> {
    fn event(&mut self, event: JobEvent<'_>) {
        match event {
            JobEvent::Output { stream: Stream::Stderr, bytes, .. } => {
                if let Some(reporter) = &mut self.reporter {
                    reporter.stderr(bytes);
                }
            }
            JobEvent::Output { stream: Stream::Stdout, .. } => self.printed = true,
            JobEvent::Finished(finished) => self.finished = Some(finished),
            _ => {}
        }
    }

    fn ready(&self) -> bool {
        true
    }
}

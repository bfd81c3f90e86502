//! A job in flight: its files, its deadline, what has been read of its output, and what its end
//! means.

use crate::adapter::AdapterError;
use crate::agents::Prepared;
use crate::driver::in_time;
use crate::error::EngineError;
use crate::event::{Event, Reporter, Stream};
use crate::files::Files;
use crate::handed::Handed;
use crate::journal::{Reads, as_value, file_output, io_error, now_ms};
use crate::showing::{Showing, Shown};
use crate::silence::Silence;
use std::io::{Read, Seek, SeekFrom};
use std::time::{Duration, Instant};
use towpath_agent::{CallFault, End, Exit, Reader, Reply, Sign};
use towpath_core::{FaultKind, JobKey, JobKind, StepPath};
use towpath_process::{ExitStatus, Follow, Lost, Stream as Printed};
use towpath_run::{Fault, Job, JobEnd, JobStatus, JobWork, Output};
use towpath_store::{OutputRef, settle_output};

/// How much of stderr's end a failure carries.
const ERROR_TAIL: u64 = 4096;
/// How much of a line that is no JSON a failure carries.
const LONGEST_STRAY: usize = 500;
/// How much of the end of a large output an outcome is looked for in.
const REPORT_TAIL: u64 = 64 << 10;

/// How long a program may take to end by itself once it has printed its result.
const AFTER_RESULT: Duration = Duration::from_secs(5);

/// Why we asked a job to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    TimedOut,
    /// It had printed nothing for too long.
    Silent,
    Stopped,
}

/// The agent call that a job in flight is.
pub(crate) struct Asking {
    pub id: u64,
    pub job: Job,
    pub prepared: Prepared,
    pub began: Instant,
}

impl Asking {
    /// Whether the call is to be made once more because its session is not there.
    pub fn opens_after(&self, end: &JobEnd) -> bool {
        let unknown = matches!(&end.status, JobStatus::Faulted(fault)
            if fault.kind == FaultKind::UnknownSession);
        self.prepared.may_open && self.prepared.call.resume && unknown
    }
}

pub(crate) struct Live {
    pub key: JobKey,
    pub step: StepPath,
    pub files: Files,
    pub deadline: Option<Instant>,
    pub asked: Option<Asked>,
    pub call: Option<Asking>,
    /// A session that the program has named since this was last looked at.
    pub named: Option<String>,
    /// When the program is ended that has printed its result and lives on.
    pub over: Option<Instant>,
    pub silence: Option<Silence>,
    /// An adapter has it, and no child.
    pub handed: Option<Handed>,
    pub showing: Showing,
    agent: Option<AgentLines>,
}

/// What a job's end amounts to.
pub(crate) struct Finished {
    pub end: JobEnd,
    pub stdout: Option<OutputRef>,
    pub stderr: Option<OutputRef>,
    pub warnings: Vec<String>,
    /// The session that the program named at the end.
    pub session: Option<String>,
    /// What of its output has not been shown yet.
    pub showing: Showing,
}

/// An agent's output, line by line as it comes.
struct AgentLines {
    reader: Box<dyn Reader>,
    stdout: Option<Follow>,
    partial: Vec<u8>,
    /// The last line that is no JSON: a program that dies may say why.
    stray: String,
}

impl Live {
    pub fn new(
        key: JobKey,
        files: Files,
        timeout: Option<Duration>,
        reader: Option<Box<dyn Reader>>,
    ) -> Live {
        let step = key.step_path();
        let deadline = timeout.map(in_time);
        let showing = Showing::new(&key, reader.is_some());
        let agent = reader.map(AgentLines::new);
        Live {
            key,
            step,
            files,
            deadline,
            asked: None,
            call: None,
            named: None,
            over: None,
            silence: None,
            handed: None,
            showing,
            agent,
        }
    }

    /// Whether it has printed nothing for too long.
    pub fn is_silent(&mut self, now: Instant) -> bool {
        let files = &self.files;
        self.silence.as_mut().is_some_and(|silence| silence.is_over(files, now))
    }

    /// Shows what is new in the output, and what an agent is doing.
    pub fn follow(&mut self, reporter: &mut dyn Reporter) -> Shown {
        self.showing.open(&self.files);
        let shown = self.showing.show(reporter);
        let Some(agent) = &mut self.agent else { return shown };
        let (heard, signs) = agent.read(&self.files);
        if heard {
            reporter.event(&Event::Heard { step: &self.step });
        }
        for sign in signs {
            if let Some(what) = sign.doing() {
                // It works on: another result will come.
                self.over = None;
                let what = self.files.secrets.mask(&what);
                reporter.event(&Event::Doing { step: &self.step, what: &what });
            }
            match sign {
                Sign::Session(id) => self.named = Some(id),
                Sign::Complete => {
                    let lingers = |call: &Asking| call.prepared.backend.row().can.lingers;
                    let known = self.call.as_ref().is_some_and(lingers);
                    self.over = Some(in_time(if known { Duration::ZERO } else { AFTER_RESULT }));
                }
                _ => {}
            }
        }
        shown
    }

    /// Takes what an adapter has said in the place of a process: an agent's answer, or what a command
    /// has printed.
    pub fn told(&mut self, said: Result<String, AdapterError>) -> Result<ExitStatus, EngineError> {
        let code = said.as_ref().map_or_else(|error| error.exit_code, |_| 0);
        if self.key.kind == JobKind::Agent {
            let reader = Box::new(Told(said));
            self.agent = Some(AgentLines::new(reader));
        } else {
            let (stream, text) = match &said {
                Ok(text) => ("stdout", text),
                Err(error) => ("stderr", &error.message),
            };
            if !text.is_empty() {
                self.files.create(stream, text.as_bytes())?;
            }
        }
        Ok(ExitStatus { code: Some(code), signal: None })
    }

    /// What the end of the process means, with the outputs on their way into the record.
    pub fn end(
        mut self,
        status: ExitStatus,
        left: Vec<String>,
        reads: &Reads,
        reporter: &mut dyn Reporter,
    ) -> Result<Finished, EngineError> {
        self.follow(reporter);
        self.files.forget_inputs();
        let stdout = settle_output(&self.files.directory, &self.files.name("stdout"))?;
        let stderr = settle_output(&self.files.directory, &self.files.name("stderr"))?;
        let error = self.tail(stderr.as_ref())?;
        let job_status = match (self.asked, status.code, status.signal) {
            (Some(Asked::TimedOut | Asked::Silent), ..) => JobStatus::TimedOut,
            (Some(Asked::Stopped), ..) => JobStatus::Stopped,
            (None, Some(code), _) => JobStatus::Exited(code),
            (None, None, signal) => JobStatus::Signalled(signal.unwrap_or(9)),
        };
        let mut end = JobEnd { error, left, ..JobEnd::new(job_status) };
        if self.asked == Some(Asked::Silent) {
            end.silent_ms = self.silence.as_ref().map(Silence::limit_ms);
        }
        let mut warnings = Vec::new();
        let mut session = None;
        if let Some(lines) = self.agent.take() {
            (warnings, session) = self.agent_end(lines, status, &mut end, reporter);
        }
        if self.key.kind == JobKind::Bash
            && let Some(OutputRef::Inline { bytes, .. }) = &stdout
            && reads.wants(&self.key)
            && std::str::from_utf8(bytes).is_err()
        {
            warnings.push("its output is not UTF-8: as a value, bad bytes become U+FFFD".into());
        }
        if end.succeeded() {
            // What a good step said on stderr is in the record; it is no error.
            end.error.clear();
        }
        if !matches!(end.output, Output::Text(_)) {
            end.output = match &stdout {
                None => Output::Text(String::new()),
                Some(OutputRef::Inline { bytes, .. }) => Output::Text(as_value(bytes)),
                Some(OutputRef::File { name, len }) => {
                    let path = self.files.directory.join(name);
                    file_output(&path, *len, reads.wants(&self.key)).map_err(io_error(&path))?
                }
            };
        }
        if let (Output::TooLarge { len }, Some(OutputRef::File { name, .. })) =
            (&end.output, &stdout)
            && reads.reports(&self.key)
        {
            end.tail = Some(self.last_of(name, *len, REPORT_TAIL)?);
        }
        Ok(Finished { end, stdout, stderr, warnings, session, showing: self.showing })
    }

    /// The end of what was said on stderr, as text.
    fn tail(&self, stderr: Option<&OutputRef>) -> Result<String, EngineError> {
        let bytes = match stderr {
            None => Vec::new(),
            Some(OutputRef::Inline { bytes, .. }) => {
                bytes[bytes.len().saturating_sub(ERROR_TAIL as usize)..].to_owned()
            }
            Some(OutputRef::File { name, len }) => {
                return Ok(self.last_of(name, *len, ERROR_TAIL)?.trim_end().to_owned());
            }
        };
        Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
    }

    /// The last bytes of a file in the run's directory, as text.
    fn last_of(&self, name: &str, len: u64, most: u64) -> Result<String, EngineError> {
        let path = self.files.directory.join(name);
        let read = || -> std::io::Result<Vec<u8>> {
            let mut file = std::fs::File::open(&path)?;
            file.seek(SeekFrom::Start(len.saturating_sub(most)))?;
            let mut bytes = Vec::new();
            file.take(most).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().map_err(io_error(&path))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Whether later calls go on with this call's session.
    pub fn keeps_session(&self) -> bool {
        let keeps = |call: &Asking| matches!(&call.job.work, JobWork::Agent(a) if a.keeps_session);
        self.call.as_ref().is_some_and(keeps)
    }

    /// An output that the disk did not take: the run stops as for any other record that cannot be
    /// written, and what was recorded stays.
    pub fn lost(&self, lost: Lost) -> EngineError {
        let suffix = match lost.stream {
            Printed::Stdout => "stdout",
            Printed::Stderr => "stderr",
        };
        io_error(&self.files.path(suffix))(lost.error())
    }

    fn agent_end(
        &self,
        lines: AgentLines,
        status: ExitStatus,
        end: &mut JobEnd,
        reporter: &mut dyn Reporter,
    ) -> (Vec<String>, Option<String>) {
        let exit = Exit { code: status.code, signal: status.signal };
        let files = self.files.left();
        let interrupted = self.asked.is_some() || exit == Exit { code: None, signal: None };
        let stderr = &end.error;
        let ended = End { exit, stderr, at_ms: now_ms(), files: &files, interrupted };
        let Reply { result, usage, denials, session, session_total } = lines.finish(&ended);
        self.files.forget_private();
        end.usage = usage;
        end.session_total = session_total;
        // The lines were masked as they came. Reading may uncover what an unusual escape hid.
        let mask = |text: String| self.files.secrets.mask(&text).into_owned();
        match result {
            Ok(text) => {
                let text = mask(text);
                let mut bytes = text.clone().into_bytes();
                if !bytes.ends_with(b"\n") {
                    bytes.push(b'\n');
                }
                let stream = Stream::Stdout;
                reporter.event(&Event::Output { step: &self.step, stream, bytes: &bytes });
                end.output = Output::Text(text.trim_end_matches('\n').to_owned());
                // It is paid for. What ended the process afterwards does not matter.
                end.status = JobStatus::Exited(0);
                end.silent_ms = None;
            }
            Err(CallFault { kind, until_ms, message }) => {
                end.output = Output::Text(String::new());
                // What our own signal did to the process explains nothing.
                if self.asked.is_none() || kind != FaultKind::Crash {
                    end.error = mask(message);
                }
                if self.asked.is_none() {
                    end.status = JobStatus::Faulted(Fault { kind, until_ms });
                }
            }
        }
        let told = |denial| mask(format!("the agent was denied: {denial}"));
        (denials.into_iter().map(told).collect(), session)
    }
}

/// An answer that came whole.
struct Told(Result<String, AdapterError>);

impl Reader for Told {
    fn line(&mut self, _: &[u8]) -> Vec<Sign> {
        Vec::new()
    }

    fn end(self: Box<Self>, _: &End<'_>) -> Reply {
        let fault =
            |e: AdapterError| CallFault { kind: e.kind, until_ms: e.until_ms, message: e.message };
        Reply {
            result: self.0.map_err(fault),
            session: None,
            usage: None,
            session_total: None,
            denials: Vec::new(),
        }
    }
}

impl AgentLines {
    fn new(reader: Box<dyn Reader>) -> AgentLines {
        AgentLines { reader, stdout: None, partial: Vec::new(), stray: String::new() }
    }

    /// Reads what is new, and whether something was. It is the backend's to understand, whether or not
    /// anybody looks.
    fn read(&mut self, files: &Files) -> (bool, Vec<Sign>) {
        let (mut heard, mut signs) = (false, Vec::new());
        let opened = self.stdout.take().or_else(|| Follow::open(&files.path("stdout")).ok());
        if let Some(mut follow) = opened {
            // A file that cannot be read now is read when the job ends, where errors count.
            let _ = follow.read_new(&mut |bytes| {
                heard = true;
                self.take(bytes, &mut signs);
            });
            self.stdout = Some(follow);
        }
        (heard, signs)
    }

    fn take(&mut self, bytes: &[u8], signs: &mut Vec<Sign>) {
        for &byte in bytes {
            if byte == b'\n' {
                let line = std::mem::take(&mut self.partial);
                self.note_stray(&line);
                signs.extend(self.reader.line(&line));
            } else {
                self.partial.push(byte);
            }
        }
    }

    fn finish(mut self, end: &End<'_>) -> Reply {
        if !self.partial.is_empty() {
            let line = std::mem::take(&mut self.partial);
            self.note_stray(&line);
            self.reader.line(&line);
        }
        let mut reply = self.reader.end(end);
        if let Err(fault) = &mut reply.result
            && fault.kind == FaultKind::Crash
            && end.stderr.is_empty()
            && !fault.message.contains(&self.stray)
        {
            fault.message = format!("{}: {}", fault.message, self.stray);
        }
        reply
    }

    fn note_stray(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        if !line.is_empty() && !line.starts_with(['{', '[']) {
            self.stray = line.chars().take(LONGEST_STRAY).collect();
        }
    }
}

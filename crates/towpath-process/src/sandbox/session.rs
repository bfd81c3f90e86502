//! The owner's side of a sandbox: starts it, hands it one command after the other, and ends it. The
//! sandbox ends with its owner because it sees the owner's process and its end of the socket; so no
//! thread of the owner has to live as long as the session. An answer that comes late or cannot be true
//! closes the session.

use super::SERVER_ARGUMENT;
use super::bubblewrap;
use super::confinement::Confinement;
use super::error::SandboxError;
use super::mount_plan::{SCRATCH, TEMPORARY, mount_plan};
use super::policy::Policy;
use super::protocol::{
    Answer, Answers, Begin, CommandIo, MAX_ANSWER, Message, Request, WireCommand,
};
use super::sandbox_command::{CommandDirectory, SandboxCommand, SandboxedEnd};
use super::server::{SCRATCH_PREFIX, SESSION_ARGUMENT};
use crate::os::{self, Group};
use crate::warden_protocol::encode;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair,
};
use rustix::process::{PidfdFlags, geteuid, getpid, pidfd_open};
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Seek as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use towpath_core::Stream;
use towpath_core::os_text::OsText;

/// How long the mechanism may take, on a machine that is busy.
const READY_WITHIN: Duration = Duration::from_secs(30);
/// What the server may take to end a command whose time is over, and to report it.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a sandbox that is closed may take to end, before it is killed.
const END_WITHIN: Duration = Duration::from_secs(15);
/// How much of the mechanism's own messages is kept.
const LONGEST_REASON: u64 = 2000;

/// A sandbox in which commands run one after the other. Dropping it, or the end of the owner's process,
/// also by `kill -9`, ends everything in it.
#[derive(Debug)]
pub struct SandboxSession {
    socket: Option<OwnedFd>,
    process: Child,
    /// What the mechanism printed.
    messages: File,
    answers: Answers,
    buffer: Vec<u8>,
    /// Fresh directories on the machine's own disk, where the mechanism cannot make a private one.
    scratch: Option<PathBuf>,
}

/// What the commands of a session get as stdin, stdout and stderr.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionIo {
    /// Files of their own, read by the session.
    Own,
    /// The owner's.
    Inherited,
}

impl SandboxSession {
    /// `own_program`: this program, which calls [`serve`](super::serve) for its hidden argument.
    pub fn open(
        confinement: &Confinement,
        policy: &Policy,
        own_program: &Path,
    ) -> Result<SandboxSession, SandboxError> {
        SandboxSession::open_with(confinement, policy, own_program, SessionIo::Own)
    }

    pub(super) fn open_with(
        confinement: &Confinement,
        policy: &Policy,
        own_program: &Path,
        io: SessionIo,
    ) -> Result<SandboxSession, SandboxError> {
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
                .map_err(SandboxError::system("cannot make the sandbox's socket"))?;
        let messages = rustix::fs::memfd_create("sandbox messages", MemfdFlags::CLOEXEC)
            .map_err(SandboxError::system("cannot make a file for the sandbox's messages"))?;
        let messages = File::from(messages);
        let process = start(confinement, policy, own_program, theirs, io, &messages)?;
        let scratch = (!confinement.has_namespaces()).then(private_directory);
        let mut session = SandboxSession {
            socket: Some(ours),
            process,
            messages,
            answers: Answers::default(),
            buffer: vec![0; MAX_ANSWER],
            scratch,
        };
        session.begin(confinement, policy)?;
        Ok(session)
    }

    fn begin(&mut self, confinement: &Confinement, policy: &Policy) -> Result<(), SandboxError> {
        let scratch = self.scratch.as_deref().unwrap_or(Path::new(SCRATCH)).to_owned();
        let begin = Begin {
            confinement: confinement.clone(),
            policy: policy.clone(),
            scratch: (&scratch).into(),
        };
        let failed = |reason| SandboxError::Setup { confinement: confinement.as_str(), reason };
        let answer = self
            .send(&Request::Begin(begin))
            .and_then(|()| self.answer(Instant::now() + READY_WITHIN));
        match answer {
            Ok(Answer::Message(Message::Ready)) => Ok(()),
            Ok(Answer::Message(Message::Failed { reason })) => Err(failed(reason)),
            Ok(_) => Err(SandboxError::Garbled),
            Err(SandboxError::Gone { .. }) => {
                self.end();
                let printed = self.printed();
                let reason =
                    if printed.is_empty() { "it ended at once".to_owned() } else { printed };
                Err(failed(reason))
            }
            Err(error) => Err(error),
        }
    }

    /// Runs one command to its end. `output` sees what it prints as it comes.
    pub fn run(
        &mut self,
        command: &SandboxCommand,
        output: &mut dyn FnMut(Stream, &[u8]),
    ) -> Result<SandboxedEnd, SandboxError> {
        self.run_wire(WireCommand::from(command), output)
    }

    pub(super) fn run_wire(
        &mut self,
        command: WireCommand,
        output: &mut dyn FnMut(Stream, &[u8]),
    ) -> Result<SandboxedEnd, SandboxError> {
        let result = self.converse(command, output);
        // After a refusal the server waits for the next command. Anything else leaves it in doubt.
        if !matches!(result, Ok(_) | Err(SandboxError::Command { .. } | SandboxError::Closed)) {
            self.end();
        }
        match result {
            Err(SandboxError::Gone { .. }) => Err(SandboxError::Gone { detail: self.detail() }),
            result => result,
        }
    }

    fn converse(
        &mut self,
        command: WireCommand,
        output: &mut dyn FnMut(Stream, &[u8]),
    ) -> Result<SandboxedEnd, SandboxError> {
        let started = Instant::now();
        let limit = command.time_limit_ms.map(Duration::from_millis);
        let until = limit.and_then(|limit| started.checked_add(limit)?.checked_add(PATIENCE));
        let until = until.unwrap_or_else(|| started + FAR);
        let output_limit = command.output_limit;
        self.send(&Request::Run(command))?;
        let (mut stdout, mut stderr, mut printed) = (Vec::new(), Vec::new(), 0_u64);
        loop {
            match self.answer(until)? {
                Answer::Output(stream, bytes) => {
                    printed = printed.saturating_add(bytes.len() as u64);
                    if printed > output_limit {
                        return Err(SandboxError::Garbled);
                    }
                    output(stream, &bytes);
                    match stream {
                        Stream::Stdout => stdout.extend(bytes),
                        Stream::Stderr => stderr.extend(bytes),
                    }
                }
                Answer::Message(Message::Ended { status, took_us }) if status.is_possible() => {
                    let took = Duration::from_micros(took_us).min(started.elapsed());
                    return Ok(SandboxedEnd { status, stdout, stderr, took });
                }
                Answer::Message(Message::Refused { reason }) => {
                    return Err(SandboxError::Command { reason });
                }
                Answer::Message(_) => return Err(SandboxError::Garbled),
            }
        }
    }

    fn send(&self, request: &Request) -> Result<(), SandboxError> {
        let socket = self.socket.as_ref().ok_or(SandboxError::Closed)?;
        let frame = encode(request);
        let mut rest = &frame[..];
        while !rest.is_empty() {
            match send(socket, rest, SendFlags::NOSIGNAL) {
                Ok(sent) => rest = &rest[sent..],
                Err(Errno::INTR) => {}
                Err(_) => return Err(SandboxError::Gone { detail: String::new() }),
            }
        }
        Ok(())
    }

    fn answer(&mut self, until: Instant) -> Result<Answer, SandboxError> {
        loop {
            if let Some(answer) = self.answers.next().map_err(|_| SandboxError::Garbled)? {
                return Ok(answer);
            }
            let socket = self.socket.as_ref().ok_or(SandboxError::Closed)?;
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(SandboxError::Silent);
            }
            let left = Timespec::try_from(left).ok();
            match poll(&mut [PollFd::new(socket, PollFlags::IN)], left.as_ref()) {
                Ok(0) | Err(Errno::INTR) => continue,
                Ok(_) => {}
                Err(errno) => {
                    return Err(SandboxError::system("cannot wait for the sandbox")(errno));
                }
            }
            match recv(socket, &mut self.buffer[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Err(SandboxError::Gone { detail: String::new() }),
                Ok((length, _)) => self.answers.push(&self.buffer[..length]),
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(_) => return Err(SandboxError::Gone { detail: String::new() }),
            }
        }
    }

    /// Ends everything in the sandbox, and waits for that.
    fn end(&mut self) {
        // The server sees the end of the socket, ends all, and then itself.
        self.socket = None;
        let (until, mut pause) = (Instant::now() + END_WITHIN, Duration::from_micros(100));
        while matches!(self.process.try_wait(), Ok(None)) {
            if Instant::now() >= until {
                let _ = self.process.kill();
                let _ = self.process.wait();
                break;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
        if let Some(scratch) = self.scratch.take() {
            // The server has removed it, unless it was killed.
            let _ = std::fs::remove_dir_all(scratch);
        }
    }

    fn detail(&mut self) -> String {
        let printed = self.printed();
        if printed.is_empty() { printed } else { format!(": {printed}") }
    }

    /// What the mechanism printed, on one line.
    fn printed(&mut self) -> String {
        let mut bytes = Vec::new();
        let read = self
            .messages
            .rewind()
            .and_then(|()| (&self.messages).take(LONGEST_REASON).read_to_end(&mut bytes));
        if read.is_err() {
            return String::new();
        }
        String::from_utf8_lossy(&bytes).trim().replace(|c: char| c.is_control(), " ")
    }
}

impl Drop for SandboxSession {
    fn drop(&mut self) {
        self.end();
    }
}

/// For a command whose time is limited by someone else.
const FAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

impl From<&SandboxCommand> for WireCommand {
    fn from(command: &SandboxCommand) -> WireCommand {
        let program = OsText::from(&command.program);
        let pair = |(name, value): &(OsString, OsString)| (name.into(), value.into());
        WireCommand {
            programs: vec![program.clone()],
            arguments: std::iter::once(program)
                .chain(command.arguments.iter().map(OsText::from))
                .collect(),
            environment: command.environment.iter().map(pair).collect(),
            directory: match &command.directory {
                CommandDirectory::Fresh => None,
                CommandDirectory::At(path) => Some(path.into()),
            },
            io: if command.terminal { CommandIo::Terminal } else { CommandIo::Pipes },
            time_limit_ms: Some(u64::try_from(command.time_limit.as_millis()).unwrap_or(u64::MAX)),
            output_limit: command.output_limit,
        }
    }
}

/// Starts the mechanism, with the server behind it.
fn start(
    confinement: &Confinement,
    policy: &Policy,
    own_program: &Path,
    socket: OwnedFd,
    io: SessionIo,
    messages: &File,
) -> Result<Child, SandboxError> {
    let failed = |program: &Path, source| SandboxError::Start { program: program.into(), source };
    let own = rustix::fs::open(own_program, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
        .map_err(|errno| failed(own_program, errno.into()))?;
    let owner = pidfd_open(getpid(), PidfdFlags::empty())
        .map_err(SandboxError::system("cannot watch this process"))?;
    let plan = mount_plan(policy)?;
    // By its file: it may be where the sandbox shows nothing, or be replaced on disk.
    let own_file = format!("/proc/self/fd/{}", own.as_raw_fd());
    let (program, mut command) = match confinement {
        Confinement::Bubblewrap { program } => {
            let mut command = Command::new(program);
            command.args(bubblewrap::arguments(policy, &plan, geteuid().is_root())).arg(own_file);
            (&**program, command)
        }
        _ => (own_program, Command::new(own_file)),
    };
    let files = [socket.as_fd(), owner.as_fd()];
    command.arg(SERVER_ARGUMENT).arg(SESSION_ARGUMENT);
    command.args(files.map(|file| file.as_raw_fd().to_string()));
    command.env_clear().current_dir("/");
    let group = match io {
        SessionIo::Own => {
            let stderr = messages.try_clone().map_err(|source| failed(program, source))?;
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
            Group::Own
        }
        SessionIo::Inherited => Group::Parents,
    };
    let inherited: Vec<BorrowedFd<'_>> = files.into_iter().chain([own.as_fd()]).collect();
    os::inherit_files(&mut command, &inherited, group);
    command.spawn().map_err(|source| failed(program, source))
}

/// A path that nobody else uses. The server makes it when it needs it, and refuses one that exists.
fn private_directory() -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos());
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("{SCRATCH_PREFIX}{}-{nanos:x}-{number}", std::process::id());
    Path::new(TEMPORARY).join(name)
}

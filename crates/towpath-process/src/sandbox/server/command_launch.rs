//! From a command of the owner to a process that can be launched: its files, its directory and its
//! limits.

use super::super::confinement::Confinement;
use super::super::landlock;
use super::super::protocol::{CommandIo, WireCommand};
use super::Server;
use super::give_up_rights::Counted;
use crate::os::{self, Launch, ResourceLimit, Restrictions};
use crate::start_child::{c_string, pair};
use rustix::fs::{Mode, OFlags, fcntl_setfl, open};
use rustix::io::Errno;
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::ffi::OsString;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use towpath_core::Stream;
use towpath_core::os_text::OsText;

const WINDOW: Winsize = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
/// Processor time beyond the time limit, on every processor.
const SPARE_SECONDS: u64 = 10;

/// How many threads a user may start elsewhere while a command runs.
const ROOM: u64 = 4096;

type Outputs = Vec<(Stream, OwnedFd)>;

/// The three files of a command.
struct Files {
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: Option<OwnedFd>,
    outputs: Outputs,
}

pub(super) fn prepare(
    server: &mut Server,
    command: WireCommand,
) -> Result<(Launch, Outputs), String> {
    let mut environment: Vec<(OsString, OsString)> =
        command.environment.into_iter().map(|(name, value)| (name.0, value.0)).collect();
    let is_job = command.io == CommandIo::Inherited;
    let directory = server.directory(command.directory, is_job, &mut environment)?;
    let text = |text: &OsText, what: &str| c_string(&text.0, what).map_err(|error| error.text);
    let files = Files::open(command.io).map_err(|errno| format!("no files for it: {errno}"))?;
    let launch = Launch {
        programs: command
            .programs
            .iter()
            .map(|program| text(program, "the program's name"))
            .collect::<Result<_, _>>()?,
        arguments: command
            .arguments
            .iter()
            .map(|argument| text(argument, "an argument"))
            .collect::<Result<_, _>>()?,
        environment: environment
            .iter()
            .map(|variable| pair(variable).map_err(|error| error.text))
            .collect::<Result<_, _>>()?,
        directory: text(&OsText(directory), "the directory")?,
        stdin: files.stdin,
        stdout: files.stdout,
        stderr: files.stderr,
        terminal: command.io == CommandIo::Terminal,
        restrictions: server.restrictions(command.time_limit_ms)?,
    };
    Ok((launch, files.outputs))
}

impl Files {
    fn open(io: CommandIo) -> Result<Files, Errno> {
        match io {
            CommandIo::Pipes => {
                let null =
                    open(Path::new("/dev/null"), OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
                let (out, stdout) = os::output_pipe()?;
                let (err, stderr) = os::output_pipe()?;
                let outputs = vec![(Stream::Stdout, out), (Stream::Stderr, err)];
                Ok(Files { stdin: null?, stdout, stderr: Some(stderr), outputs })
            }
            CommandIo::Terminal => {
                let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
                let ours = openpt(flags)?;
                unlockpt(&ours)?;
                tcsetwinsize(&ours, WINDOW)?;
                let theirs = ioctl_tiocgptpeer(&ours, flags)?;
                fcntl_setfl(&ours, OFlags::NONBLOCK)?;
                let copy = rustix::io::fcntl_dupfd_cloexec(&theirs, 3)?;
                let outputs = vec![(Stream::Stdout, ours)];
                Ok(Files { stdin: copy, stdout: theirs, stderr: None, outputs })
            }
            CommandIo::Inherited => {
                let copy = |file| rustix::io::fcntl_dupfd_cloexec(file, 3);
                Ok(Files {
                    stdin: copy(std::io::stdin().as_fd())?,
                    stdout: copy(std::io::stdout().as_fd())?,
                    stderr: Some(copy(std::io::stderr().as_fd())?),
                    outputs: Vec::new(),
                })
            }
        }
    }
}

impl Server {
    /// Where the command runs. With a home of its own, and with temporary files that it may write. A job
    /// has its home in the private `/tmp`, which Landlock cannot make.
    fn directory(
        &mut self,
        wanted: Option<OsText>,
        is_job: bool,
        environment: &mut Vec<(OsString, OsString)>,
    ) -> Result<OsString, String> {
        if wanted.is_some() && self.confinement != Confinement::Landlock {
            return Ok(wanted.map(|directory| directory.0).unwrap_or_default());
        }
        let fresh = self.scratch.make();
        let fresh = fresh.map_err(|error| format!("no fresh directory can be made: {error}"))?;
        let mut set = |name: &str, path: PathBuf| {
            environment.retain(|(known, _)| known != name);
            environment.push((name.into(), path.into()));
        };
        set("TMPDIR", fresh.temporary);
        if wanted.is_none() || is_job {
            set("HOME", fresh.home);
        }
        Ok(wanted.map_or(fresh.work.into(), |directory| directory.0))
    }

    fn restrictions(&self, time_limit_ms: Option<u64>) -> Result<Restrictions, String> {
        let mut limits = vec![
            // One byte is less than any core, and unlike none it also keeps it from a program that would
            // collect it.
            ResourceLimit { resource: libc::RLIMIT_CORE, value: 1 },
            ResourceLimit { resource: libc::RLIMIT_FSIZE, value: self.policy.limits.file_bytes },
            // Message queues outlive their processes.
            ResourceLimit { resource: libc::RLIMIT_MSGQUEUE, value: 0 },
        ];
        if let Some(ms) = time_limit_ms {
            // Of one process, whose threads may use every processor until the time is over.
            let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
            let seconds = (ms / 1000).saturating_add(SPARE_SECONDS).saturating_mul(processors);
            limits.push(ResourceLimit { resource: libc::RLIMIT_CPU, value: seconds });
        }
        let value = self.most_threads();
        limits.push(ResourceLimit { resource: libc::RLIMIT_NPROC, value });
        let rules = (self.confinement == Confinement::Landlock)
            .then(|| landlock::rules(&self.policy, self.scratch.base()));
        Ok(Restrictions {
            limits,
            user: self.user(),
            capabilities: self.rights.capabilities_of_commands,
            rules: rules.transpose()?,
            no_new_privileges: self.confinement != Confinement::None,
        })
    }

    /// Where the kernel does not count the command apart, all that its user has are counted with it.
    /// Others of these come and go, so this only stops what multiplies without end: the exact number is
    /// watched.
    fn most_threads(&self) -> u64 {
        let allowed = self.policy.limits.processes;
        match self.rights.counted {
            Counted::Apart { ours } => allowed.saturating_add(ours),
            Counted::WithUser { others } => {
                others.saturating_add(allowed.saturating_mul(4).max(ROOM))
            }
        }
    }
}

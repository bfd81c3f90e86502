//! From a `ChildSpec` to a running process: opens its files and pipes, finds its program, and turns
//! what the system refuses into a sentence. Runs in the warden; nothing here may wait for anything but a
//! disk.

use crate::child_spec::{ChildSpec, Sandbox};
use crate::error::{StartError, StartErrorKind as Kind};
use crate::os::{self, Launch, LaunchFailure, Restrictions};
use crate::output::{Output, Target, open_private};
use crate::process_marker::Marker;
use crate::sandbox::job_arguments;
use crate::warden_event::Stream;
use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, open, stat};
use rustix::io::Errno;
use std::ffi::{CString, OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use towpath_core::Secrets;

/// Where a program is searched when the environment has no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Starts the job; returns its process number and its outputs, one where both are the same.
pub(crate) fn start(
    spec: &ChildSpec,
    marker: &Marker,
    secrets: &Secrets,
) -> Result<(i32, Vec<Output>), StartError> {
    let (launch, outputs) = prepare(spec, marker, secrets)?;
    let pid =
        os::launch(&launch).map_err(|failure| explain(failure, &spec.program, &spec.directory))?;
    Ok((pid, outputs))
}

fn prepare(
    spec: &ChildSpec,
    marker: &Marker,
    secrets: &Secrets,
) -> Result<(Launch, Vec<Output>), StartError> {
    let (programs, first) = match &spec.sandbox {
        Sandbox::None => (None, vec![spec.program.clone()]),
        Sandbox::Confined { confinement, policy } => {
            let arguments = job_arguments(confinement, policy, &spec.directory, &spec.program);
            let own = c_string(os::own_executable().as_os_str(), "the program's name")?;
            (Some(vec![own]), arguments.into())
        }
    };
    let arguments = first.iter().chain(&spec.arguments);
    let environment = marker.put(&spec.job, spec.environment.clone());
    let (stdout, stdout_end) = open_output(Stream::Stdout, &spec.stdout, secrets)?;
    let (mut outputs, mut stderr_end) = (vec![stdout], None);
    if spec.stderr != spec.stdout {
        let (stderr, end) = open_output(Stream::Stderr, &spec.stderr, secrets)?;
        outputs.push(stderr);
        stderr_end = Some(end);
    }
    let launch = Launch {
        programs: programs.map_or_else(|| candidates(&spec.program, &environment), Ok)?,
        arguments: arguments.map(|a| c_string(a, "an argument")).collect::<Result<_, _>>()?,
        environment: environment.iter().map(pair).collect::<Result<_, _>>()?,
        directory: c_string(spec.directory.as_os_str(), "the directory")?,
        stdin: open_input(spec.stdin.as_deref())?,
        stdout: stdout_end,
        stderr: stderr_end,
        terminal: false,
        restrictions: Restrictions::default(),
    };
    Ok((launch, outputs))
}

pub(crate) fn candidates(
    program: &OsStr,
    environment: &[(OsString, OsString)],
) -> Result<Vec<CString>, StartError> {
    if program.is_empty() {
        return Err(StartError::new(Kind::ProgramNotFound, "the program's name is empty"));
    }
    if program.as_bytes().contains(&b'/') {
        return Ok(vec![c_string(program, "the program's name")?]);
    }
    let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value);
    let path = path.map_or(OsStr::new(DEFAULT_PATH), OsString::as_os_str);
    let file = |entry: &[u8]| {
        let directory = if entry.is_empty() { b"." } else { entry };
        let file = [directory, b"/", program.as_bytes()].concat();
        c_string(OsStr::from_bytes(&file), "the program's name")
    };
    path.as_bytes().split(|&b| b == b':').map(file).collect()
}

pub(crate) fn pair((name, value): &(OsString, OsString)) -> Result<CString, StartError> {
    let mut text = name.clone();
    text.push("=");
    text.push(value);
    if name.is_empty() || name.as_bytes().contains(&b'=') {
        let text = format!("`{}` cannot be the name of a variable", name.display());
        return Err(StartError::new(Kind::Other, text));
    }
    // Described only when it is refused: there are dozens of variables, for every job.
    CString::new(text.into_vec())
        .map_err(|_| nul_byte(&format!("the environment variable `{}`", name.display())))
}

pub(crate) fn c_string(text: &OsStr, what: &str) -> Result<CString, StartError> {
    CString::new(text.as_bytes()).map_err(|_| nul_byte(what))
}

fn nul_byte(what: &str) -> StartError {
    StartError::new(Kind::NulByte, format!("{what} contains a NUL byte"))
}

/// With the end for the job.
fn open_output(
    stream: Stream,
    path: &Path,
    secrets: &Secrets,
) -> Result<(Output, OwnedFd), StartError> {
    let wrong = |errno| file_error(path, errno);
    let file = match stat(path) {
        Ok(_) => Target::Open(open_private(path).map_err(wrong)?),
        // It is made with the first byte; that its directory exists is checked now.
        Err(Errno::NOENT) => {
            stat(path.parent().unwrap_or(Path::new("/"))).map_err(wrong)?;
            Target::Later(path.to_owned())
        }
        Err(errno) => return Err(wrong(errno)),
    };
    Output::new(stream, file, secrets).map_err(|errno| {
        let kind = if is_scarcity(errno) { Kind::NoResources } else { Kind::Other };
        StartError::new(kind, format!("cannot make a pipe for the job's output: {errno}"))
    })
}

fn open_input(path: Option<&Path>) -> Result<OwnedFd, StartError> {
    let Some(path) = path else {
        let (null, flags) = (Path::new("/dev/null"), OFlags::RDONLY | OFlags::CLOEXEC);
        return open(null, flags, Mode::empty()).map_err(|errno| file_error(null, errno));
    };
    let file = open_file(path, OFlags::RDONLY)?;
    // The job, unlike the warden, may wait for its input.
    let flags = fcntl_getfl(&file).map_err(|errno| file_error(path, errno))?;
    fcntl_setfl(&file, flags - OFlags::NONBLOCK).map_err(|errno| file_error(path, errno))?;
    Ok(file)
}

/// Without waiting, lest a pipe with nobody at its other end blocks the warden.
fn open_file(path: &Path, flags: OFlags) -> Result<OwnedFd, StartError> {
    let now = flags | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    open(path, now, Mode::from_raw_mode(0o600)).map_err(|errno| file_error(path, errno))
}

fn file_error(path: &Path, errno: Errno) -> StartError {
    let kind = if is_scarcity(errno) { Kind::NoResources } else { Kind::File };
    StartError::new(kind, format!("cannot open `{}`: {errno}", path.display()))
}

fn is_scarcity(errno: Errno) -> bool {
    matches!(errno, Errno::AGAIN | Errno::NOMEM | Errno::MFILE | Errno::NFILE)
}

fn explain(failure: LaunchFailure, program: &OsStr, directory: &Path) -> StartError {
    let name = program.display();
    let (errno, doing) = match failure {
        LaunchFailure::Directory(errno) => return directory_error(directory, errno),
        LaunchFailure::Execute(Errno::NOENT | Errno::NOTDIR) => {
            return not_found(program, directory);
        }
        LaunchFailure::Execute(Errno::ACCESS) => {
            return StartError::new(Kind::NotExecutable, format!("`{name}` is not executable"));
        }
        LaunchFailure::Execute(Errno::NOEXEC) => {
            let text = format!("`{name}` is neither a program nor a script with a `#!` line");
            return StartError::new(Kind::NotExecutable, text);
        }
        LaunchFailure::Execute(Errno::TOOBIG) => {
            let text = format!(
                "the arguments and environment for `{name}` are too big for the system \
                 (one text may have 128 KiB, all together usually 2 MiB)"
            );
            return StartError::new(Kind::TooBig, text);
        }
        LaunchFailure::Execute(errno) | LaunchFailure::Setup(errno) => (errno, "start"),
        LaunchFailure::Fork(errno) => (errno, "make a process for"),
    };
    let kind = if is_scarcity(errno) { Kind::NoResources } else { Kind::Other };
    StartError::new(kind, format!("cannot {doing} `{name}`: {errno}"))
}

fn directory_error(directory: &Path, errno: Errno) -> StartError {
    let path = directory.display();
    let text = match errno {
        Errno::NOENT => format!("the directory `{path}` does not exist"),
        Errno::NOTDIR => format!("`{path}` is not a directory"),
        errno => format!("cannot enter the directory `{path}`: {errno}"),
    };
    StartError::new(Kind::DirectoryMissing, text)
}

fn not_found(program: &OsStr, directory: &Path) -> StartError {
    let name = program.display();
    // A file that is there and yet "not found" names an interpreter that is missing.
    let named = program.as_bytes().contains(&b'/');
    let text = if named && directory.join(program).exists() {
        format!("`{name}` cannot run: the interpreter it names does not exist")
    } else if named {
        format!("the program `{name}` does not exist")
    } else {
        format!("the program `{name}` was not found on PATH")
    };
    StartError::new(Kind::ProgramNotFound, text)
}

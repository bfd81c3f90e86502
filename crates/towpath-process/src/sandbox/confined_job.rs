//! A job of a run in a sandbox. The warden starts this program instead of the job's own; it opens a
//! sandbox whose one command is the job, with the files that the warden gave it, and ends exactly as
//! the command does. A request to end goes through to the command. What the job leaves in the
//! background ends with it. The job keeps its user.

use super::SERVER_ARGUMENT;
use super::confinement::Confinement;
use super::policy::Policy;
use super::protocol::{CommandIo, WireCommand};
use super::sandbox_command::EndStatus;
use super::session::{SandboxSession, SessionIo};
use crate::error::StartError;
use crate::os::{self, Signals};
use crate::start_child::candidates;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use towpath_core::os_text::OsText;

/// The argument after the hidden one; a `ConfinedJob`, the job's program and its arguments follow.
pub(super) const JOB_ARGUMENT: &str = "job";
/// The name of the process, for whoever lists processes.
const NAME: &str = "towpath-sandbox";

/// As the shell reports a program that is not there, and one that cannot be executed.
const NOT_FOUND: u8 = 127;
const NOT_EXECUTABLE: u8 = 126;
/// The sandbox itself has failed.
const NO_SANDBOX: u8 = 125;
/// As if killed for lack of memory.
const OVER_LIMIT: u8 = 137;

#[derive(Debug, Serialize, Deserialize)]
struct ConfinedJob {
    confinement: Confinement,
    policy: Policy,
    directory: OsText,
}

/// What the warden executes instead of `program`: this program, with these arguments.
pub(crate) fn job_arguments(
    confinement: &Confinement,
    policy: &Policy,
    directory: &Path,
    program: &OsStr,
) -> [OsString; 5] {
    let policy = Policy { drop_user: false, ..policy.clone() };
    let job =
        ConfinedJob { confinement: confinement.clone(), policy, directory: (&directory).into() };
    let job = serde_json::to_string(&job).expect("a job has text keys");
    [NAME.into(), SERVER_ARGUMENT.into(), JOB_ARGUMENT.into(), job.into(), program.to_owned()]
}

/// Runs the job that the arguments describe, and ends as it does. Its environment is this process's own.
pub(super) fn run_job(job: &OsStr, program: &OsStr, arguments: &[OsString]) -> u8 {
    // A request to end goes to all of this job's group: the server inside passes it on.
    let Ok(_signals) = Signals::take_over() else { return NO_SANDBOX };
    let Ok(job) = serde_json::from_slice::<ConfinedJob>(job.as_bytes()) else { return NO_SANDBOX };
    let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    match run(job, program, arguments, &environment) {
        Ok(status) => end_as(status, program),
        Err(reason) => fail(NO_SANDBOX, &reason),
    }
}

fn run(
    job: ConfinedJob,
    program: &OsStr,
    arguments: &[OsString],
    environment: &[(OsString, OsString)],
) -> Result<EndStatus, String> {
    let ConfinedJob { confinement, policy, directory } = job;
    let own = os::own_executable();
    let mut session = SandboxSession::open_with(&confinement, &policy, own, SessionIo::Inherited)
        .map_err(|error| error.to_string())?;
    let programs = candidates(program, environment).map_err(|error: StartError| error.text)?;
    let text = |program: std::ffi::CString| OsText(OsString::from_vec(program.into_bytes()));
    let command = WireCommand {
        programs: programs.into_iter().map(text).collect(),
        arguments: std::iter::once(OsText(program.to_owned()))
            .chain(arguments.iter().map(OsText::from))
            .collect(),
        environment: environment.iter().map(|(name, value)| (name.into(), value.into())).collect(),
        directory: Some(directory),
        io: CommandIo::Inherited,
        time_limit_ms: None,
        output_limit: 0,
    };
    let end = session.run_wire(command, &mut |_, _| {}).map_err(|error| error.to_string())?;
    Ok(end.status)
}

fn end_as(status: EndStatus, program: &OsStr) -> u8 {
    match status {
        EndStatus::Exited(code) => u8::try_from(code).unwrap_or(NO_SANDBOX),
        EndStatus::Signaled(signal) => os::end_by_signal(signal),
        EndStatus::NotStarted(errno) => {
            let missing = ["ENOENT", "ENOTDIR"].contains(&errno.as_str());
            let code = if missing { NOT_FOUND } else { NOT_EXECUTABLE };
            fail(code, &format!("cannot execute `{}`: {errno}", program.display()))
        }
        EndStatus::MemoryLimit => fail(OVER_LIMIT, "more memory was used than the sandbox allows"),
        EndStatus::ProcessLimit => {
            fail(OVER_LIMIT, "more processes were made than the sandbox allows")
        }
        EndStatus::TimedOut | EndStatus::OutputLimit => NO_SANDBOX,
    }
}

/// On the job's own stderr, which is its log.
fn fail(code: u8, reason: &str) -> u8 {
    let _ = writeln!(std::io::stderr(), "{NAME}: {reason}");
    code
}

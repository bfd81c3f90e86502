//! Which mechanism this machine has. A program that is installed or a kernel that is new enough proves
//! nothing, because settings and containers forbid single steps: so each is tried, strongest first, by
//! a real session with a real command.

use super::confinement::Confinement;
use super::policy::Policy;
use super::sandbox_command::{CommandDirectory, EndStatus, SandboxCommand};
use super::session::SandboxSession;
use rustix::fs::{Access, access};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why no mechanism can be used: its name, and what went wrong with it.
#[derive(Debug, thiserror::Error)]
#[error("no sandbox can be made on this machine: {}", reasons(attempts))]
pub struct NoConfinement {
    pub attempts: Vec<(&'static str, String)>,
}

fn reasons(attempts: &[(&'static str, String)]) -> String {
    let reason = |(name, reason): &(&str, String)| format!("{name}: {reason}");
    attempts.iter().map(reason).collect::<Vec<_>>().join("; ")
}

const TRIAL_TIME: Duration = Duration::from_secs(20);
/// No program ends with it by accident.
const TRIAL_CODE: i32 = 83;

/// The strongest that works here. `path`: the user's `PATH`, for bubblewrap.
pub fn find_confinement(
    own_program: &Path,
    path: Option<&OsStr>,
) -> Result<Confinement, NoConfinement> {
    let mut attempts = Vec::new();
    let bubblewrap = match path.and_then(|path| program_on(path, "bwrap")) {
        Some(program) => Some(Confinement::Bubblewrap { program }),
        None => {
            attempts.push(("bubblewrap", "`bwrap` is not installed".to_owned()));
            None
        }
    };
    for confinement in
        bubblewrap.into_iter().chain([Confinement::Namespaces, Confinement::Landlock])
    {
        match trial(&confinement, own_program) {
            Ok(()) => return Ok(confinement),
            Err(reason) => attempts.push((confinement.as_str(), reason)),
        }
    }
    Err(NoConfinement { attempts })
}

fn trial(confinement: &Confinement, own_program: &Path) -> Result<(), String> {
    let policy = Policy { drop_user: true, ..Policy::default() };
    let command = SandboxCommand {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), format!("exit {TRIAL_CODE}").into()],
        environment: Vec::new(),
        directory: CommandDirectory::Fresh,
        terminal: false,
        time_limit: TRIAL_TIME,
        output_limit: 1000,
    };
    let mut session = SandboxSession::open(confinement, &policy, own_program)
        .map_err(|error| error.to_string())?;
    let end = session.run(&command, &mut |_, _| {}).map_err(|error| error.to_string())?;
    match end.status {
        EndStatus::Exited(TRIAL_CODE) => Ok(()),
        status => Err(format!("a trial ended with {status:?}")),
    }
}

fn program_on(path: &OsStr, name: &str) -> Option<PathBuf> {
    let files = std::env::split_paths(path).filter(|entry| entry.is_absolute());
    files
        .map(|entry| entry.join(name))
        .find(|file| file.is_file() && access(file, Access::EXEC_OK).is_ok())
}

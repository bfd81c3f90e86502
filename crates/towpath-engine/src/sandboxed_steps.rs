//! Commands that run in a sandbox, or not at all. What they can reach is the same for all: their working
//! directory, the programs that the plan requires and the system's own, without network, with private
//! temporary files that are their home, too. How a sandbox is made on this machine is found out before
//! anything is recorded; a run whose steps need one does not begin or continue without.

use crate::error::EngineError;
use crate::required_programs::MetRequirements;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use towpath_executor::{Confinement, JobSpec, Limits, Policy, Sandbox, find_confinement};
use towpath_recipe::Program;

/// How the sandboxed steps of a program can be confined on this machine; none where it has none. `guard`
/// is the program that guards the run's processes, `path` where bubblewrap is looked for.
pub fn find_sandbox(
    program: &Program,
    guard: &Path,
    path: Option<&OsStr>,
) -> Result<Option<Confinement>, EngineError> {
    let steps = program.sandboxed_steps();
    if steps.is_empty() {
        return Ok(None);
    }
    match find_confinement(guard, path) {
        Ok(confinement) => Ok(Some(confinement)),
        Err(reason) => Err(EngineError::NoSandbox { steps, reason: reason.to_string() }),
    }
}

/// What a sandboxed step can do on this machine although it should not, each as the end of "it does not
/// limit …".
pub fn not_enforced(confinement: &Confinement) -> Vec<&'static str> {
    confinement.not_enforced(&policy())
}

/// Refuses a program with steps that nothing would confine.
pub(crate) fn refuse_unconfined(
    program: &Program,
    confinement: Option<&Confinement>,
) -> Result<(), EngineError> {
    let steps = program.sandboxed_steps();
    match confinement {
        Some(Confinement::None) | None if !steps.is_empty() => {
            Err(EngineError::NoSandbox { steps, reason: "nobody has looked for one".to_owned() })
        }
        _ => Ok(()),
    }
}

/// Where a command finds its home and its temporary files.
const PRIVATE: &str = "/tmp";

/// The job in its sandbox.
pub(crate) fn confined(
    mut job: JobSpec,
    confinement: &Confinement,
    requirements: &MetRequirements,
) -> JobSpec {
    // A link on the way to it would not be there.
    job.directory = job.directory.canonicalize().unwrap_or(job.directory);
    let required = requirements.iter().flat_map(|met| met.found().readable.clone());
    let policy =
        Policy { readable: required.collect(), writable: vec![job.directory.clone()], ..policy() };
    for name in ["HOME", "TMPDIR"] {
        job.environment.retain(|(known, _)| known != name);
        job.environment.push((name.to_owned(), PRIVATE.to_owned()));
    }
    job.sandbox = Sandbox::Confined { confinement: confinement.clone(), policy };
    job
}

/// Without the paths of a job. A step may use as much as it likes, but for its private files, which
/// are in memory.
fn policy() -> Policy {
    let limits = Limits {
        memory_bytes: u64::MAX,
        processes: u64::MAX,
        file_bytes: u64::MAX,
        ..Limits::default()
    };
    let (readable, writable): (Vec<PathBuf>, Vec<PathBuf>) = (Vec::new(), Vec::new());
    Policy { readable, writable, network: false, drop_user: false, limits }
}

//! Runs the check of a recipe against an install, with the same sandbox and the same evaluator as
//! everywhere: after a repair, at install and whenever a tool is verified later.

use super::files_on_disk::{FilesOnDisk, look_at_file};
use super::probe_report::{ProgramUnderTest, not_run, observe};
use super::sandbox_setup::{SandboxSetup, VerifyError};
use crate::choose_next_probe::ProbeRequest;
use crate::evaluate_verify_section::{CheckOutcome, check};
use crate::observation::Observation;
use crate::verify_section::VerifySection;
use std::path::PathBuf;
use towpath_process::sandbox::SandboxSession;

/// A check that was run.
#[derive(Debug, Clone)]
pub struct CheckRun {
    pub outcome: CheckOutcome,
    pub observation: Observation,
}

/// Runs a check. Its command's first word is a program of the install, found by its name, and never one
/// that happens to be on PATH; `cargo x` runs the `cargo-x` of the install through its host.
pub fn run_check(
    section: &VerifySection,
    version: &str,
    tested: &ProgramUnderTest,
    binaries: &[(String, PathBuf)],
    setup: &SandboxSetup,
    session: &mut SandboxSession,
) -> Result<CheckRun, VerifyError> {
    let words = section.command_words(version)?;
    let (first, rest) = words.split_first().ok_or_else(|| VerifyError::NoProgram(String::new()))?;
    let named = |name: &str| binaries.iter().find(|(known, _)| known == name);
    let subcommand = || rest.first().and_then(|word| named(&format!("{first}-{word}")));
    let (host, (name, program)) = match (named(first), subcommand()) {
        (Some(found), _) => (None, found),
        (None, Some(found)) if first == "cargo" => (Some("cargo"), found),
        _ => return Err(VerifyError::NoProgram(first.clone())),
    };
    let tested =
        ProgramUnderTest { program: program.clone(), name: name.clone(), ..tested.clone() };
    let file = look_at_file(program, &FilesOnDisk::new(setup.search_path()));
    let request = ProbeRequest { host, arguments: rest.to_vec(), terminal: false };
    let observation = match file.fault() {
        None => observe(&tested, &request, &file, setup, session)?,
        Some(_) => not_run(name, rest, &file),
    };
    let outcome = check(section, Some(&observation), tested.expected_version.as_deref());
    Ok(CheckRun { outcome, observation })
}

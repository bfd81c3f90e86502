//! Probes one program until the detector has decided: its file first, then `--version`, then what the
//! ladder has next. A file that cannot run is not run.

use super::sandbox_setup::{SandboxSetup, process_end};
use super::static_check_on_disk::{FilesOnDisk, look_at_file};
use crate::choose_next_probe::{ProbeRequest, next_probe};
use crate::clean_printed_text::captured_text;
use crate::combine_probe_verdicts::{Probe, ToolVerdict, combine};
use crate::probe_observation::{Observation, ProcessEnd, Via};
use crate::static_file_facts::FileFacts;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use towpath_process::sandbox::{SandboxError, SandboxSession};

/// The end of a probe that was not run, because its file cannot.
const NOT_RUN: &str = "not-run";

/// A program to judge.
#[derive(Debug, Clone, Default)]
pub struct ProgramUnderTest {
    /// Absolute.
    pub program: PathBuf,
    pub name: String,
    /// Other names that it may print: of its recipe, its package.
    pub aliases: Vec<String>,
    pub expected_version: Option<String>,
    /// The directory of its install, whose name may contain the version.
    pub install: Option<PathBuf>,
}

/// What probing has found.
#[derive(Debug, Clone, Serialize)]
pub struct ProbeReport {
    pub name: String,
    pub file: FileFacts,
    #[serde(flatten)]
    pub verdict: ToolVerdict,
    pub probes: Vec<Probe>,
    #[serde(rename = "took_ms", serialize_with = "in_milliseconds")]
    pub took: Duration,
}

fn in_milliseconds<S: serde::Serializer>(took: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(u64::try_from(took.as_millis()).unwrap_or(u64::MAX))
}

/// Probes a program.
pub fn probe(
    tested: &ProgramUnderTest,
    setup: &SandboxSetup,
    session: &mut SandboxSession,
) -> Result<ProbeReport, SandboxError> {
    probe_after(tested, setup, session, Vec::new())
}

/// As `probe`, with probes that were made already.
pub(crate) fn probe_after(
    tested: &ProgramUnderTest,
    setup: &SandboxSetup,
    session: &mut SandboxSession,
    mut probes: Vec<Probe>,
) -> Result<ProbeReport, SandboxError> {
    let began = Instant::now();
    let file = look_at_file(&tested.program, &FilesOnDisk::new(setup.search_path()));
    if file.fault().is_some() {
        let end = ProcessEnd::NotStarted(NOT_RUN.to_owned());
        let mut observation = Observation::new(&tested.name, &["--version"], end);
        observation.file = Some(file.clone());
        probes.push(Probe::new(observation));
    }
    while let Some(request) = next_probe(&tested.name, &probes) {
        let observation = observe(tested, &request, &file, setup, session)?;
        probes.push(Probe::new(observation));
    }
    let verdict = combine(&probes);
    let name = tested.name.clone();
    Ok(ProbeReport { name, file, verdict, probes, took: began.elapsed() })
}

/// Runs one probe.
pub(crate) fn observe(
    tested: &ProgramUnderTest,
    request: &ProbeRequest,
    file: &FileFacts,
    setup: &SandboxSetup,
    session: &mut SandboxSession,
) -> Result<Observation, SandboxError> {
    let program = match request.host {
        None => tested.program.clone(),
        Some(host) => find_host(host, setup),
    };
    let end = setup.run(session, &program, &request.arguments, request.terminal)?;
    let shown = request.host.unwrap_or(&tested.name);
    let words: Vec<&str> = request.arguments.iter().map(String::as_str).collect();
    let mut observation = Observation::new(shown, &words, process_end(&end.status));
    observation.tool.clone_from(&tested.name);
    observation.via = Via::Exec;
    observation.stdout = captured_text(&end.stdout);
    observation.stderr = captured_text(&end.stderr);
    observation.file = Some(file.clone());
    observation.expected_version.clone_from(&tested.expected_version);
    observation.aliases.clone_from(&tested.aliases);
    observation.install_path = tested.install.as_deref().map(Path::display).map(|p| p.to_string());
    observation.terminal = request.terminal;
    Ok(observation)
}

/// The program of which a tool is a subcommand. A name that is nowhere cannot be started, which is what
/// the probe then sees.
fn find_host(host: &str, setup: &SandboxSetup) -> PathBuf {
    let files = setup.search_path().into_iter().map(|directory| directory.join(host));
    let found = files.into_iter().find(|file| file.is_file());
    found.unwrap_or_else(|| Path::new("/usr/bin").join(host))
}

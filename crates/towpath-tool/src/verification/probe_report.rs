//! Probes one program until the detector has decided: its file first, then `--version`, then what the
//! ladder has next. A file that cannot run is not run.

use super::files_on_disk::{FilesOnDisk, look_at_file};
use super::sandbox_setup::{SandboxSetup, process_end};
use crate::choose_next_probe::{ProbeRequest, next_probe};
use crate::observation::{Observation, ProcessEnd};
use crate::printed_text::captured_text;
use crate::probe::{Probe, ToolVerdict, combine};
use crate::static_file_facts::FileFacts;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use towpath_process::sandbox::{SandboxError, SandboxSession};

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
        probes.push(Probe::new(not_run(&tested.name, &["--version".to_owned()], &file)));
    }
    while let Some(request) = next_probe(&tested.name, &probes) {
        let observation = observe(tested, &request, &file, setup, session)?;
        probes.push(Probe::new(observation));
    }
    let verdict = combine(&probes);
    let name = tested.name.clone();
    Ok(ProbeReport { name, file, verdict, probes, took: began.elapsed() })
}

/// A run that was not made, because the file cannot run.
pub(super) fn not_run(name: &str, arguments: &[String], file: &FileFacts) -> Observation {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let end = ProcessEnd::NotStarted("not-run".to_owned());
    Observation { file: Some(file.clone()), ..Observation::new(name, &words, end) }
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
    Ok(Observation {
        tool: tested.name.clone(),
        stdout: captured_text(&end.stdout),
        stderr: captured_text(&end.stderr),
        file: Some(file.clone()),
        expected_version: tested.expected_version.clone(),
        aliases: tested.aliases.clone(),
        install_path: tested.install.as_ref().map(|path| path.display().to_string()),
        terminal: request.terminal,
        ..Observation::new(shown, &words, process_end(&end.status))
    })
}

/// The program of which a tool is a subcommand. A name that is nowhere cannot be started, which is what
/// the probe then sees.
fn find_host(host: &str, setup: &SandboxSetup) -> PathBuf {
    let files = setup.search_path().into_iter().map(|directory| directory.join(host));
    let found = files.into_iter().find(|file| file.is_file());
    found.unwrap_or_else(|| Path::new("/usr/bin").join(host))
}

//! Probes one program until the detector has decided: its file first, then `--version`, then what the
//! ladder has next, at last under another name where the name that it prints decides; or runs one check.

use super::files_on_disk::{FilesOnDisk, look_at_file};
use super::sandbox_setup::{SandboxSetup, VerifyError};
use crate::file_facts::FileFacts;
use crate::observation::{Observation, ProcessEnd, made_up_name};
use crate::printed_text::captured_text;
use crate::probe::{Probe, ProbeRequest, ToolVerdict, combine, next_name_proof, next_probe};
use crate::verify_section::{CheckOutcome, VerifySection, check};
use regex::bytes::Regex;
use serde::Serialize;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
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
    tested.probe_after(Vec::new(), setup, session)
}

/// What starts a program under another name: the file is the same, so that it finds all that belongs to it.
const RENAMED: &str =
    r#"ln -s "$1" "$TMPDIR/$2" && file="$TMPDIR/$2" && shift 2 && exec "$file" "$@""#;

/// Shorter parts of a name are in any file.
const SHORTEST_PART: usize = 4;

impl ProgramUnderTest {
    /// Probes a program of which some probes were made already.
    pub(crate) fn probe_after(
        &self,
        mut probes: Vec<Probe>,
        setup: &SandboxSetup,
        session: &mut SandboxSession,
    ) -> Result<ProbeReport, SandboxError> {
        let began = Instant::now();
        let file = self.look_at_file(setup);
        if file.fault().is_some() {
            let request = ProbeRequest::new(vec!["--version".to_owned()]);
            probes.push(Probe::new(self.observe(&request, &file, setup, session)?));
        }
        while let Some(request) = next_probe(&self.name, &probes) {
            probes.push(Probe::new(self.observe(&request, &file, setup, session)?));
        }
        self.prove_name(&mut probes, setup, session)?;
        let (name, verdict) = (self.name.clone(), combine(&probes));
        Ok(ProbeReport { name, file, verdict, probes, took: began.elapsed() })
    }

    /// Runs again under another name what proves nothing if the printed name is an echo.
    pub(crate) fn prove_name(
        &self,
        probes: &mut Vec<Probe>,
        setup: &SandboxSetup,
        session: &mut SandboxSession,
    ) -> Result<(), SandboxError> {
        while let Some(request) =
            next_name_proof(probes).filter(|_| !self.has_name_in_file() && !self.has_manual())
        {
            let file = self.look_at_file(setup);
            probes.push(Probe::new(self.observe(&request, &file, setup, session)?));
        }
        Ok(())
    }

    fn look_at_file(&self, setup: &SandboxSetup) -> FileFacts {
        look_at_file(&self.program, &FilesOnDisk::new(setup.search_path()))
    }

    /// Whether the program's file has one of its names or a part of one, or the link to it has: `foo` of
    /// `../lib/foo/cli.js` and of `../foo/bin/foo`. A file that only got the name has not.
    fn has_name_in_file(&self) -> bool {
        let names = self.aliases.iter().chain([&self.name]).flat_map(|name| {
            let parts = name.split(['-', '_', '.']).filter(|part| part.len() >= SHORTEST_PART);
            parts.chain([name.as_str()])
        });
        let names: Vec<String> = names.map(regex::escape).collect();
        let names = Regex::new(&format!("(?i-u){}", names.join("|"))).expect("escaped words");
        let link = std::fs::read_link(&self.program).unwrap_or_default();
        let renames = link.file_name() != self.program.file_name();
        let naming =
            if renames { Some(&*link) } else { link.parent().filter(|_| link.is_relative()) };
        naming.is_some_and(|path| names.is_match(path.as_os_str().as_bytes()))
            || std::fs::read(&self.program).map_or(true, |bytes| names.is_match(&bytes))
    }

    /// Whether the manual of this name is beside the program: `../share/man/man1/NAME.1.gz`.
    fn has_manual(&self) -> bool {
        let entries = |path: PathBuf| std::fs::read_dir(path).into_iter().flatten().flatten();
        let prefix = self.program.parent().and_then(Path::parent);
        let sections = prefix.into_iter().flat_map(|prefix| entries(prefix.join("share/man")));
        let mut pages = sections.flat_map(|section| entries(section.path()));
        let page = format!("{}.", self.name);
        pages.any(|entry| entry.file_name().as_bytes().starts_with(page.as_bytes()))
    }

    /// Runs one probe. A file that cannot run is not run.
    fn observe(
        &self,
        request: &ProbeRequest,
        file: &FileFacts,
        setup: &SandboxSetup,
        session: &mut SandboxSession,
    ) -> Result<Observation, SandboxError> {
        let words: Vec<&str> = request.arguments.iter().map(String::as_str).collect();
        if file.fault().is_some() {
            let end = ProcessEnd::NotStarted("not-run".to_owned());
            let observation = Observation::new(&self.name, &words, end);
            return Ok(Observation { file: Some(file.clone()), ..observation });
        }
        let (mut name, mut program) = (self.name.clone(), self.program.clone());
        let mut arguments: Vec<OsString> = Vec::new();
        if let Some(host) = request.host {
            (name, program) = (host.to_owned(), find_host(host, setup));
        } else if request.renamed {
            name = made_up_name(&self.name);
            arguments = ["-c", RENAMED, "sh"].map(OsString::from).into();
            arguments.extend([program.into(), OsString::from(&name)]);
            program = PathBuf::from("/bin/sh");
        }
        arguments.extend(words.iter().map(OsString::from));
        let end = setup.run(session, program, arguments, request.terminal)?;
        Ok(Observation {
            tool: self.name.clone(),
            stdout: captured_text(&end.stdout),
            stderr: captured_text(&end.stderr),
            file: Some(file.clone()),
            expected_version: self.expected_version.clone(),
            aliases: self.aliases.clone(),
            install_path: self.install.as_ref().map(|path| path.display().to_string()),
            terminal: request.terminal,
            ..Observation::new(&name, &words, end.status)
        })
    }
}

/// The program of which a tool is a subcommand. A name that is nowhere cannot be started, which is what
/// the probe then sees.
fn find_host(host: &str, setup: &SandboxSetup) -> PathBuf {
    let files = setup.search_path().into_iter().map(|directory| directory.join(host));
    let found = files.into_iter().find(|file| file.is_file());
    found.unwrap_or_else(|| Path::new("/usr/bin").join(host))
}

/// A check that was run.
#[derive(Debug, Clone)]
pub struct CheckRun {
    pub outcome: CheckOutcome,
    pub observation: Observation,
}

/// Runs the check of a recipe against an install, with the same sandbox and the same evaluator as
/// everywhere. Its command's first word is a program of the install, found by its name, and never one
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
    let request = ProbeRequest { host, ..ProbeRequest::new(rest.to_vec()) };
    let file = tested.look_at_file(setup);
    let observation = tested.observe(&request, &file, setup, session)?;
    let outcome = check(section, Some(&observation), tested.expected_version.as_deref());
    Ok(CheckRun { outcome, observation })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_into_a_directory_of_the_name_has_the_name() {
        let home = tempfile::tempdir().unwrap();
        let at = |path: &str| home.path().join(path);
        for directory in ["heron/bin", "other/bin", "bin"] {
            std::fs::create_dir_all(at(directory)).unwrap();
            std::fs::write(at(directory).join("heron"), "echo $0").unwrap();
        }
        let has_name = |program: PathBuf| {
            let name = "heron".to_owned();
            ProgramUnderTest { program, name, ..Default::default() }.has_name_in_file()
        };
        symlink("../heron/bin/heron", at("bin/heron-link")).unwrap();
        std::fs::rename(at("bin/heron-link"), at("bin/heron")).unwrap();
        assert!(has_name(at("bin/heron")), "the package is named so");
        symlink("../other/bin/heron", at("bin/heron-link")).unwrap();
        std::fs::rename(at("bin/heron-link"), at("bin/heron")).unwrap();
        assert!(!has_name(at("bin/heron")), "another program that only got the name");
    }
}

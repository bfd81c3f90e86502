//! Steps on plain files: download, extract, install binaries, run a command. What is extracted is in the
//! install's `files/`, where commands run and where the paths of binaries begin.

use super::BuildStep;
use super::Built;
use super::archive_url::{LARGEST_DOWNLOAD, file_name};
use super::artifact_cache::PartialArtifact;
use super::client_sandbox::{Call, ClientSandbox, Configuration, find_program};
use super::copy_tree::merge_tree;
use super::fetch_plan::FILES;
use super::host_platform::HostPlatform;
use super::installed_programs::{is_inner_path, link_program, real_directory, refuse_links};
use super::source_context::{SourceContext, Unit};
use super::source_error::SourceError;
use crate::archive::{ArchiveLimits, unpack};
use crate::download::Expected;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// What a command of a recipe finds beside the install's own programs.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// A command with network has no configuration of the user.
const NO_REGISTRY: Configuration =
    Configuration { variable: "TOWPATH_NO_FILE", below_home: &[], files: &[], variables: &[] };

pub(super) fn download(
    url: &str,
    sha256: &str,
    file: Option<&str>,
    version: &str,
    partial: &mut PartialArtifact,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    let platform = HostPlatform::current();
    let url = platform.fill(url, version);
    let name = file.map_or_else(|| file_name(&url).to_owned(), |file| platform.fill(file, version));
    let target = inner(&partial.part(FILES)?, &name)?;
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent).map_err(SourceError::io(parent))?;
    }
    let (http, progress) = (context.http(), &mut *context.progress);
    progress.line(&name);
    let expected = Expected { sha256: Some(sha256), most_bytes: LARGEST_DOWNLOAD };
    http.download(&url, &target, expected, &mut |done, total| {
        progress.amount(done, total, Unit::Bytes);
    })?;
    partial.checksums.push((name, format!("sha256:{sha256}")));
    Ok(())
}

pub(super) fn extract(file: &str, strip: u32, step: &BuildStep<'_>) -> Result<(), SourceError> {
    let name = HostPlatform::current().fill(file, step.version);
    let archive = inner(&step.fetched, &name)?;
    if !archive.is_file() {
        return Err(SourceError::NoFile(name));
    }
    let files = files_of(step)?;
    let unpacked = step.install.join(".unpacked");
    refuse_links(step.install)?;
    unpack(&archive, &name, &unpacked, strip, &ArchiveLimits::default())?;
    merge_tree(&unpacked, &files).map_err(SourceError::io(&files))
}

pub(super) fn install_binaries(
    binaries: &[String],
    names: &[String],
    step: &BuildStep<'_>,
    built: &mut Built,
) -> Result<(), SourceError> {
    let files = files_of(step)?;
    for (index, path) in binaries.iter().enumerate() {
        let path = HostPlatform::current().fill(path, step.version);
        let target = inner(&files, &path)?;
        let fetched = step.fetched.join(&path);
        // A program that came as it is, not in an archive.
        if target.symlink_metadata().is_err() && fetched.is_file() {
            let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
            real_directory(step.install, &format!("{FILES}/{parent}"))?;
            fs::copy(&fetched, &target).map_err(SourceError::io(&target))?;
        }
        let own = path.rsplit('/').next().unwrap_or(&path);
        let name = names.get(index).map_or(own, String::as_str);
        link_program(built, step.install, name, &format!("{FILES}/{path}"))?;
    }
    Ok(())
}

pub(super) fn run(
    command: &[String],
    network: bool,
    step: &BuildStep<'_>,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    let filled = command.iter().map(|word| HostPlatform::current().fill(word, step.version));
    let mut words = filled.map(OsString::from);
    let Some(program) = words.next() else { return Ok(()) };
    let files = files_of(step)?;
    let program = program_of(&program, &files)?;
    let fetched = step.fetched.is_dir().then(|| step.fetched.clone());
    let readable = fetched.into_iter().collect();
    let (clients, progress) = context.split();
    let network = network.then_some(&NO_REGISTRY);
    let mut sandbox = ClientSandbox::open(&clients, network, readable, step.install)?;
    let name = "a command of the recipe";
    let mut call = Call::new(name, program, &[]).arguments(words);
    call = call.variable("INSTALL", step.install).variable("FETCHED", &step.fetched);
    call.path.push(step.install.join("bin"));
    call.directory = Some(files);
    sandbox.run(call, &mut |line| progress.line(line))?.success(name).map(|_| ())
}

/// A path, or a name that the system has.
fn program_of(program: &OsStr, files: &Path) -> Result<PathBuf, SourceError> {
    let text = program.to_string_lossy();
    if text.starts_with('/') {
        return Ok(program.into());
    }
    if text.contains('/') {
        return inner(files, text.trim_start_matches("./"));
    }
    let found = find_program(OsStr::new(SYSTEM_PATH), &text);
    found.ok_or_else(|| SourceError::NoFile(text.into_owned()))
}

fn files_of(step: &BuildStep<'_>) -> Result<PathBuf, SourceError> {
    real_directory(step.install, FILES)
}

/// A path below a directory; what was filled in could have changed that.
fn inner(directory: &Path, path: &str) -> Result<PathBuf, SourceError> {
    match is_inner_path(path) {
        true => Ok(directory.join(path)),
        false => Err(SourceError::NoFile(path.to_owned())),
    }
}

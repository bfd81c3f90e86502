//! Steps on plain files: download, extract, install programs, run a command. What is extracted is in the
//! install's `files/`, where commands run and where the paths of programs begin.

use super::archive_url::{LARGEST_DOWNLOAD, can_be_replaced};
use super::artifact_cache::{Locks, PartialArtifact};
use super::client_sandbox::{Call, ClientSandbox, Configuration, find_program};
use super::copy_tree::merge_tree;
use super::fetch_plan::{Address, RemoteFile};
use super::github::{self, find_asset};
use super::host_platform::HostPlatform;
use super::installed_programs::{is_inner_path, link_program, real_directory, refuse_links};
use super::release_asset::listed_sha256;
use super::source_context::{SourceContext, Unit};
use super::source_error::SourceError;
use super::{BuildStep, Built};
use crate::archive::{ArchiveLimits, unpack};
use crate::download::Expected;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// The part of an artifact that has plain files.
pub(super) const FILES: &str = "files";

/// Directories of programs for the commands of recipes, after the install's own.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// A command with network has no configuration of the user.
const NO_REGISTRY: Configuration =
    Configuration { variable: "TOWPATH_NO_FILE", below_home: &[], files: &[], variables: &[] };
const LARGEST_LIST: u64 = 16 << 20;

/// Downloads a file, and locks it by its hash and where it was. The recipe or its source has the hash; where
/// neither has, it is that of the first download.
pub(super) fn download(
    remote: &RemoteFile,
    version: &str,
    locks: &Locks,
    partial: &mut PartialArtifact,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    let name = &remote.file;
    let key = lock_key(name);
    let locked = locks.get(&key).and_then(|lock| lock.split_once(' '));
    let (url, sha256) = match (locked, &remote.at) {
        (Some((sha256, url)), _) => (url.to_owned(), Some(sha256.to_owned())),
        (None, Address::Url { url, checksums }) => {
            let listed = checksums.as_ref().map(|list| {
                let text = context.split().0.http().text(list, &[], LARGEST_LIST)?;
                let file = super::archive_url::file_name(url);
                let sha256 = text.and_then(|text| listed_sha256(&text, file));
                sha256.ok_or_else(|| SourceError::NoFile(format!("{file} in {list}")))
            });
            (url.clone(), remote.sha256.clone().map_or(listed.transpose()?, Some))
        }
        (None, Address::Asset { repository, name }) => {
            let asset = find_asset(repository, version, name, context)?;
            (asset.url, asset.sha256)
        }
    };
    if sha256.is_none() && can_be_replaced(&url) {
        return Err(SourceError::Replaceable(url));
    }
    let target = inner(&partial.part(FILES)?, name)?;
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent).map_err(SourceError::io(parent))?;
    }
    let (clients, progress) = context.split();
    progress.line(name);
    let expected = Expected { sha256: sha256.as_deref(), most_bytes: LARGEST_DOWNLOAD };
    let done = clients.http().download(&url, &target, expected, &mut |done, total| {
        progress.amount(done, total, Unit::Bytes);
    })?;
    partial.add_file(name, &done.sha256, &url);
    if let (None, Address::Asset { repository, .. }) = (locked, &remote.at) {
        let attested = github::attestation(repository, name, &done.sha256, context)?;
        partial.artifact.attestation = Some(attested);
    }
    Ok(())
}

/// Files differ by machine.
pub(super) fn lock_key(file: &str) -> String {
    format!("{file} {}", HostPlatform::current().word())
}

pub(super) fn extract(name: &str, strip: u32, step: &BuildStep<'_>) -> Result<(), SourceError> {
    let archive = inner(&step.fetched, name)?;
    if !archive.is_file() {
        return Err(SourceError::NoFile(name.to_owned()));
    }
    let files = real_directory(step.install, FILES)?;
    let unpacked = step.install.join(".unpacked");
    refuse_links(step.install)?;
    unpack(&archive, name, &unpacked, strip, &ArchiveLimits::default())?;
    merge_tree(&unpacked, &files).map_err(SourceError::io(&files))
}

pub(super) fn install_programs(
    programs: &[(String, String)],
    step: &BuildStep<'_>,
    built: &mut Built,
) -> Result<(), SourceError> {
    let files = real_directory(step.install, FILES)?;
    for (path, name) in programs {
        let target = inner(&files, path)?;
        let fetched = step.fetched.join(path);
        // A program that came as it is, not in an archive.
        if target.symlink_metadata().is_err() && fetched.is_file() {
            let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
            real_directory(step.install, &format!("{FILES}/{parent}"))?;
            fs::copy(&fetched, &target).map_err(SourceError::io(&target))?;
        }
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
    let mut words = command.iter().map(OsString::from);
    let Some(program) = words.next() else { return Ok(()) };
    let files = real_directory(step.install, FILES)?;
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

/// A path below a directory; what was filled in could have changed that.
fn inner(directory: &Path, path: &str) -> Result<PathBuf, SourceError> {
    match is_inner_path(path) {
        true => Ok(directory.join(path)),
        false => Err(SourceError::NoFile(path.to_owned())),
    }
}

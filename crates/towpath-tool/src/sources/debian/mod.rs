//! Debian packages: looked up and fetched by apt with the machine's own configuration, together with the
//! dependencies that the machine lacks, and unpacked without being installed into the system. No script
//! of a package runs. What is missing is decided by what is installed here and now.

mod alternatives;
mod apt_lists;
mod control_record;
mod hardcoded_system_paths;
mod program_wrapper;
mod simulated_install;
mod unpack_root;

pub(super) use unpack_root::build;

use super::artifact_cache::PartialArtifact;
use super::candidate::{Candidate, Unusable};
use super::registry_clients::{Clients, FETCH_TIME};
use super::source_context::{SourceContext, Unit};
use super::source_error::SourceError;
use super::source_ref::{SourceKind, SourceRef, check_version};
use super::tree_hash::file_sha256;
use alternatives::alternatives_of;
use apt_lists::AptLists;
use control_record::{is_without_programs, read_record};
use simulated_install::packages_to_install;
use std::fs;
use std::path::{Path, PathBuf};

const APT: &str = "apt-get";
const APT_CACHE: &str = "apt-cache";
const DPKG: &str = "dpkg-deb";

/// Where programs are in a package.
const PROGRAM_DIRECTORIES: &[&str] = &["usr/bin", "usr/sbin", "usr/games", "bin", "sbin"];

pub(super) fn look_up(
    name: &str,
    version: Option<&str>,
    clients: &Clients<'_>,
    directory: &Path,
    cache: &Path,
) -> Result<Option<Candidate>, SourceError> {
    clients.find(APT)?;
    let lists = AptLists::usable(clients, cache, directory)?;
    let wanted = version.map_or_else(|| name.to_owned(), |version| format!("{name}={version}"));
    let call = clients.call(APT_CACHE, directory, &["show", "--no-all-versions", &wanted])?;
    let output = clients.run(lists.options(call), &mut |_| {})?;
    let Some(record) = read_record(&output.stdout, name) else {
        let missing = output.succeeded() || output.stderr.contains("E: No packages found");
        return if missing { Ok(None) } else { Err(output.failure(APT_CACHE)) };
    };
    check_version(&record.version).map_err(|error| SourceError::output(APT_CACHE, error))?;
    let source = SourceRef::new(SourceKind::Deb, name)
        .map_err(|error| SourceError::output(APT_CACHE, error))?;
    let mut candidate = Candidate::new(source, &record.version).described(
        record.description.as_deref(),
        record.homepage.as_deref(),
        None,
    );
    let library = record.section.as_deref().is_some_and(is_without_programs);
    candidate.unusable = library.then_some(Unusable::Library);
    Ok(Some(candidate))
}

pub(super) fn fetch(
    packages: &[String],
    version: &str,
    part: &str,
    partial: &mut PartialArtifact,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    let (directory, cache) = (partial.part(part)?, context.cache.clone());
    let lists = AptLists::usable(&context.split().0, &cache, &directory)?;
    match download(packages, version, &lists, &directory, context) {
        // The machine's lists are older than the archive.
        Err(error) if lists.is_system() && is_gone(&error) => {
            let own = AptLists::own(&context.split().0, &cache, &directory)?;
            download(packages, version, &own, &directory, context)?;
        }
        other => other?,
    }
    for file in packages_in(&directory)? {
        let sha256 = file_sha256(&file).map_err(SourceError::io(&file))?;
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        partial.checksums.push((name, format!("sha256:{sha256}")));
    }
    let programs = programs_in(packages, &directory, &context.split().0)?;
    match programs.is_empty() {
        true => Err(SourceError::unusable(
            SourceKind::Deb,
            main_package(packages),
            version,
            Unusable::Library,
        )),
        false => Ok(()),
    }
}

/// Downloads the packages, the first in its version, and what the machine lacks for them.
fn download(
    packages: &[String],
    version: &str,
    lists: &AptLists,
    directory: &Path,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    let (clients, progress) = context.split();
    let mut wanted: Vec<String> = packages.to_vec();
    if let Some(first) = wanted.first_mut() {
        *first = format!("{first}={version}");
    }
    let call =
        clients.call(APT, directory, &["--simulate", "--no-install-recommends", "install"])?;
    let call = call.arguments(&wanted);
    let output = clients.run(lists.options(call), &mut |_| {})?;
    if !output.succeeded() && simulated_install::is_not_found(&output.stderr) {
        return Err(SourceError::not_found(SourceKind::Deb, main_package(packages), version));
    }
    let missing = packages_to_install(&output.success(APT)?.stdout);
    // What is installed already is not among them, and is wanted all the same.
    let is_missing = |package: &str| missing.iter().any(|(name, _)| name == package);
    let named = packages.iter().zip(&wanted).filter(|(name, _)| !is_missing(name));
    let mut all: Vec<String> = named.map(|(_, wanted)| wanted.clone()).collect();
    all.extend(missing.iter().map(|(name, version)| format!("{name}={version}")));
    let call = clients.call(APT, directory, &["download"])?;
    let call = call.arguments(&all);
    let (mut fetched, total) = (0, all.len() as u64);
    let output = clients.run(lists.options(call).time_limit(FETCH_TIME), &mut |line| {
        if line.starts_with("Get:") {
            fetched += 1;
            progress.amount(fetched, Some(total), Unit::Items);
            progress.line(line.split_whitespace().nth(4).unwrap_or_default());
        }
    })?;
    output.success(APT).map(|_| ())
}

fn main_package(packages: &[String]) -> &str {
    packages.first().map_or("", String::as_str)
}

/// The archive has a newer version than the lists.
fn is_gone(error: &SourceError) -> bool {
    matches!(error, SourceError::Client { message, .. } if message.contains("404"))
}

fn packages_in(directory: &Path) -> Result<Vec<PathBuf>, SourceError> {
    let entries = fs::read_dir(directory).map_err(SourceError::io(directory))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "deb"));
    files.sort();
    Ok(files)
}

/// The package of a file `NAME_VERSION_ARCH.deb`.
fn package_of(file: &Path) -> String {
    let file = file.file_name().unwrap_or_default().to_string_lossy();
    file.split('_').next().unwrap_or_default().to_owned()
}

/// The programs that the named packages contain, by name and path. Those of a package that only brings
/// others are in the ones that are named like it.
fn programs_in(
    packages: &[String],
    directory: &Path,
    clients: &Clients<'_>,
) -> Result<Vec<(String, String)>, SourceError> {
    let files = packages_in(directory)?;
    let named = |file: &&PathBuf| packages.contains(&package_of(file));
    let alike = |file: &&PathBuf| {
        let package = package_of(file);
        !packages.contains(&package) && packages.iter().any(|named| package.starts_with(named))
    };
    let programs = programs_of(files.iter().filter(named), directory, clients)?;
    if programs.is_empty() {
        return programs_of(files.iter().filter(alike), directory, clients);
    }
    Ok(programs)
}

fn programs_of<'f>(
    files: impl Iterator<Item = &'f PathBuf>,
    directory: &Path,
    clients: &Clients<'_>,
) -> Result<Vec<(String, String)>, SourceError> {
    let mut programs = Vec::new();
    for file in files {
        let call = clients.call(DPKG, directory, &["--contents"])?.argument(file);
        let output = clients.run(call, &mut |_| {})?.success(DPKG)?;
        let paths = control_record::programs_of_contents(&output.stdout);
        let name = |path: &String| path.rsplit('/').next().unwrap_or(path).to_owned();
        programs.extend(paths.into_iter().map(|path| (name(&path), path)));
        // A package without this script has no alternatives.
        let call = clients.call(DPKG, directory, &["--info"])?.argument(file).argument("postinst");
        let output = clients.run(call, &mut |_| {})?;
        let own = package_of(file);
        let alternatives = alternatives_of(&output.stdout).into_iter();
        programs.extend(alternatives.filter(|(name, path)| is_own_name(name, path, &own)));
    }
    Ok(programs)
}

/// `vim` for `vim.basic`, and `vimdiff`, but not `editor`: that is not what is asked for.
fn is_own_name(name: &str, path: &str, package: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or(path);
    let longer = file.strip_prefix(name).is_some_and(|rest| rest.starts_with(['.', '-', '_']));
    longer || name.starts_with(package)
}

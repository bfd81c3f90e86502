//! Packages of PyPI: looked up and fetched by pip, only as wheels, because anything else would run the
//! package's code while it is fetched; installed into a virtual environment of their own.

mod build_virtual_environment;
mod find_python;
mod install_report;
mod wheel_programs;

pub(super) use build_virtual_environment::build;

use super::artifact_cache::{Artifact, PartialArtifact};
use super::candidate::{Candidate, Unusable};
use super::registry_clients::{ClientCall, Clients, FETCH_TIME, LOOK_UP_TIME};
use super::source_context::{SourceContext, Unit};
use super::source_error::SourceError;
use super::source_ref::{SourceKind, SourceRef, check_version};
use super::tree_hash::file_sha256;
use find_python::Python;
use install_report::{found_version, is_not_found, read_report};
use std::fs;
use std::path::{Path, PathBuf};
use wheel_programs::wheel_programs;

const PIP: &str = "pip";

pub(super) fn look_up(
    name: &str,
    version: Option<&str>,
    clients: &Clients<'_>,
    directory: &Path,
) -> Result<Option<Candidate>, SourceError> {
    let python = Python::find(clients, directory)?;
    let wanted = version.map_or_else(|| name.to_owned(), |version| format!("{name}=={version}"));
    let arguments =
        ["install", "--dry-run", "--ignore-installed", "--no-deps", "--only-binary", ":all:"];
    let call = pip(&python, directory, &arguments);
    let call = call.argument("--quiet").argument("--report").argument("-").argument(&wanted);
    // Nothing is installed, so it does not matter who manages this Python.
    let call = call.variable("PIP_BREAK_SYSTEM_PACKAGES", "1");
    let output = clients.run(call, &mut |_| {})?;
    if !output.succeeded() {
        return match is_not_found(&output.stderr) {
            true if version.is_none() => without_wheel(name, &python, clients, directory),
            true => Ok(None),
            false => Err(output.failure(PIP)),
        };
    }
    let report =
        read_report(&output.stdout).ok_or_else(|| SourceError::output(PIP, "no report"))?;
    check_version(&report.version).map_err(|error| SourceError::output(PIP, error))?;
    let source =
        SourceRef::new(SourceKind::Pypi, name).map_err(|error| SourceError::output(PIP, error))?;
    let mut candidate = Candidate::new(source, &report.version).described(
        report.summary.as_deref(),
        report.homepage.as_deref(),
        report.license.as_deref(),
    );
    candidate = candidate.with_repository(report.repository.as_deref());
    candidate.exact = same_package(&report.name, name);
    Ok(Some(candidate))
}

/// Nothing was found among the wheels: is there anything?
fn without_wheel(
    name: &str,
    python: &Python,
    clients: &Clients<'_>,
    directory: &Path,
) -> Result<Option<Candidate>, SourceError> {
    let call = pip(python, directory, &["index", "versions", name]);
    let output = clients.run(call, &mut |_| {})?;
    let version = found_version(&output.stdout).filter(|version| check_version(version).is_ok());
    // An old pip does not have this command; then nothing is known but that there is no wheel.
    let Some(version) = version.filter(|_| output.succeeded()) else { return Ok(None) };
    let source =
        SourceRef::new(SourceKind::Pypi, name).map_err(|error| SourceError::output(PIP, error))?;
    let mut candidate = Candidate::new(source, version);
    candidate.unusable = Some(Unusable::NoWheel);
    Ok(Some(candidate))
}

pub(super) fn fetch(
    package: &str,
    extras: &[String],
    version: &str,
    part: &str,
    partial: &mut PartialArtifact,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    let (directory, scratch) = (partial.part(part)?, partial.scratch(part)?);
    let (clients, progress) = context.split();
    let python = Python::find(&clients, &scratch)?;
    let call =
        pip(&python, &scratch, &["download", "--only-binary", ":all:", "--progress-bar", "off"]);
    let call = call.argument("--dest").argument(&directory);
    let call = call.argument(requirement(package, extras, version)).time_limit(FETCH_TIME);
    let mut fetched = 0;
    let output = clients.run(call, &mut |line| {
        if let Some(what) =
            line.strip_prefix("Downloading ").or_else(|| line.strip_prefix("Using cached "))
        {
            fetched += 1;
            progress.amount(fetched, None, Unit::Items);
            progress.line(what);
        }
    })?;
    if !output.succeeded() && is_not_found(&output.stderr) {
        return Err(SourceError::not_found(SourceKind::Pypi, package, version));
    }
    output.success(PIP)?;
    for wheel in wheels(&directory)? {
        let sha256 = file_sha256(&wheel).map_err(SourceError::io(&wheel))?;
        let name = wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
        partial.checksums.push((name, format!("sha256:{sha256}")));
    }
    if programs(&directory, package, extras)?.is_empty() {
        return Err(SourceError::unusable(SourceKind::Pypi, package, version, Unusable::Library));
    }
    partial.made_for = Some(python.tag);
    Ok(())
}

/// Whether wheels that were fetched before are for the Python that is here now. Without a Python that
/// is not known, and nothing else could be fetched.
pub(super) fn is_for_this_python(artifact: &Artifact, context: &mut SourceContext<'_>) -> bool {
    let (clients, _) = context.split();
    match Python::find(&clients, &artifact.directory) {
        Ok(python) => artifact.made_for.as_deref() == Some(python.tag.as_str()),
        Err(_) => true,
    }
}

fn pip<'c>(python: &Python, directory: &'c Path, arguments: &[&str]) -> ClientCall<'c> {
    let mut words = vec!["-m", "pip", "--disable-pip-version-check", "--no-input", "--no-color"];
    words.extend(arguments);
    ClientCall {
        program: python.program.clone(),
        arguments: words.into_iter().map(Into::into).collect(),
        directory,
        variables: Vec::new(),
        time_limit: LOOK_UP_TIME,
    }
}

fn requirement(package: &str, extras: &[String], version: &str) -> String {
    match extras {
        [] => format!("{package}=={version}"),
        extras => format!("{package}[{}]=={version}", extras.join(",")),
    }
}

fn wheels(directory: &Path) -> Result<Vec<PathBuf>, SourceError> {
    let entries = fs::read_dir(directory).map_err(SourceError::io(directory))?;
    let mut wheels: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    wheels.retain(|path| path.extension().is_some_and(|extension| extension == "whl"));
    wheels.sort();
    Ok(wheels)
}

/// The programs of a package, by its wheel.
fn programs(
    directory: &Path,
    package: &str,
    extras: &[String],
) -> Result<Vec<String>, SourceError> {
    let is_own = |path: &&PathBuf| {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        file.split('-').next().is_some_and(|name| same_package(name, package))
    };
    let wheel = wheels(directory)?.iter().find(is_own).cloned();
    let wheel = wheel.ok_or_else(|| SourceError::NoFile(format!("a wheel of {package}")))?;
    wheel_programs(&wheel, extras)
}

/// Capital letters and separators do not matter in names of packages.
fn same_package(one: &str, two: &str) -> bool {
    let plain = |name: &str| {
        let lower = name.to_ascii_lowercase();
        lower.split(['-', '_', '.']).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
    };
    plain(one) == plain(two)
}

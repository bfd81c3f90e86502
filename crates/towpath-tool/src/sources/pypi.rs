//! Packages of PyPI: resolved by `pip install --dry-run`, locked by the hashes of every wheel, fetched by `pip
//! download --require-hashes`, installed into a virtual environment without network. Only wheels are taken,
//! and only from an index: anything else would have to be built, or is at an address of its package's own.

use super::artifact_cache::{Artifact, PartialArtifact};
use super::candidate::{Candidate, Unusable};
use super::client_sandbox::{Call, ClientSandbox, Clients, Configuration, LOOK_UP_TIME};
use super::installed_programs::{link_program, outside_of_system};
use super::pip_report::{PackageReport, is_not_found, read_report};
use super::source_context::{SourceContext, Unit};
use super::source_error::SourceError;
use super::source_ref::{SourceKind, SourceRef, check_version};
use super::tree_hash::file_sha256;
use super::wheel_programs::wheel_programs;
use super::{BuildStep, Built, FetchStep};
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

const PIP: &str = "pip";
const PYTHON: &str = "python3";
const ENVIRONMENT: &str = "venv";

const CONFIGURATION: Configuration = Configuration {
    variable: "PIP_CONFIG_FILE",
    below_home: &[".config/pip/pip.conf", ".pip/pip.conf"],
    files: &[],
    variables: &["PIP_"],
};

/// The user's Python, with where its files are.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Python {
    program: PathBuf,
    prefixes: Vec<PathBuf>,
    pip: Option<PathBuf>,
    /// The key by which wheels are chosen.
    tag: String,
}

const QUESTION: &str = "\
import sys, json, os, sysconfig
try:
    import pip
    pip = os.path.dirname(os.path.dirname(os.path.abspath(pip.__file__)))
except ImportError:
    pip = None
tag = '%s-%d.%d-%s' % (sys.implementation.name, *sys.version_info[:2], sysconfig.get_platform())
print(json.dumps({'program': sys.executable, 'prefixes': sorted({sys.prefix, sys.base_prefix}), 'pip': pip, 'tag': tag}))
";

impl Python {
    fn find(clients: &Clients<'_>) -> Result<Python, SourceError> {
        let printed = clients.ask(PYTHON, &["-c", QUESTION])?;
        let answer = printed.lines().last().unwrap_or_default();
        let python: Python =
            serde_json::from_str(answer).map_err(|error| SourceError::output(PYTHON, error))?;
        if python.pip.is_none() { Err(SourceError::MissingClient(PIP)) } else { Ok(python) }
    }

    fn readable(&self) -> Vec<PathBuf> {
        let all = self.prefixes.iter().chain(&self.pip);
        let mut outside: Vec<PathBuf> = all.flat_map(|path| outside_of_system([path])).collect();
        let inside =
            |path: &PathBuf| self.prefixes.iter().any(|p| p != path && path.starts_with(p));
        outside.retain(|path| !inside(path));
        outside
    }

    fn pip(&self, arguments: &[&str]) -> Call {
        let fixed = ["-m", "pip", "--disable-pip-version-check", "--no-input", "--no-color"];
        let call = Call::new(PIP, self.program.clone(), &fixed).arguments(arguments);
        let apart =
            self.pip.as_ref().filter(|pip| !self.prefixes.iter().any(|p| pip.starts_with(p)));
        let call = apart.into_iter().fold(call, |call, pip| call.variable("PYTHONPATH", pip));
        call.variable("PIP_BREAK_SYSTEM_PACKAGES", "1").variable("PIP_NO_CACHE_DIR", "1")
    }

    /// The packages of an install; none if there is nothing of that name that is built for this machine.
    fn resolve(
        &self,
        wanted: &str,
        options: &[&str],
        sandbox: &mut ClientSandbox,
    ) -> Result<Option<Vec<PackageReport>>, SourceError> {
        let dry =
            ["install", "--dry-run", "--ignore-installed", "--only-binary", ":all:", "--quiet"];
        let call = self.pip(&dry).arguments(options).arguments(["--report", "-", wanted]);
        let output = sandbox.run(call, &mut |_| {})?;
        if !output.succeeded() {
            let nothing = is_not_found(&output.stderr);
            return if nothing { Ok(None) } else { Err(output.failure(PIP)) };
        }
        let mut report =
            read_report(&output.stdout).ok_or_else(|| SourceError::output(PIP, "no report"))?;
        // Older ones have it in a warning only.
        for package in &mut report {
            let warning = format!("is a yanked version: '{}' candidate", package.name);
            package.is_yanked |= output.stderr.contains(&warning);
        }
        Ok(Some(report))
    }
}

pub(super) fn look_up(
    name: &str,
    version: Option<&str>,
    clients: &Clients<'_>,
    directory: &Path,
) -> Result<Option<Candidate>, SourceError> {
    let python = Python::find(clients)?;
    let mut sandbox =
        ClientSandbox::open(clients, Some(&CONFIGURATION), python.readable(), directory)?;
    let wanted = version.map_or_else(|| name.to_owned(), |version| format!("{name}=={version}"));
    let Some(found) = python.resolve(&wanted, &["--no-deps"], &mut sandbox)? else {
        return without_wheel(name, version, &python, &mut sandbox);
    };
    let Some(report) = found.into_iter().next() else { return Ok(None) };
    check_version(&report.version).map_err(|error| SourceError::output(PIP, error))?;
    if !same_package(&report.name, name) {
        return Err(SourceError::output(PIP, format!("`{}` for `{name}`", report.name)));
    }
    let mut candidate = candidate(name, &report.version)?.described(
        report.summary.as_deref(),
        report.homepage.as_deref(),
        report.license.as_deref(),
    );
    candidate.owner = report.author;
    Ok(Some(candidate))
}

fn candidate(name: &str, version: &str) -> Result<Candidate, SourceError> {
    let source =
        SourceRef::new(SourceKind::Pypi, name).map_err(|error| SourceError::output(PIP, error))?;
    Ok(Candidate::new(source, version))
}

/// A package that has only source code.
fn without_wheel(
    name: &str,
    version: Option<&str>,
    python: &Python,
    sandbox: &mut ClientSandbox,
) -> Result<Option<Candidate>, SourceError> {
    let mut call = python.pip(&["index", "versions", name]);
    call.time_limit = LOOK_UP_TIME;
    let output = sandbox.run(call, &mut |_| {})?;
    // `docopt (0.6.2)`
    let found = output.stdout.lines().find_map(|line| line.split_once(" (")?.1.strip_suffix(')'));
    let found = found.filter(|found| output.succeeded() && check_version(found).is_ok());
    let Some(found) = found.filter(|_| version.is_none()) else { return Ok(None) };
    let mut candidate = candidate(name, found)?;
    candidate.unusable = Some(Unusable::NoWheel);
    Ok(Some(candidate))
}

pub(super) fn fetch(
    step: &FetchStep<'_>,
    partial: &mut PartialArtifact,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    let directory = partial.part(step.part)?;
    let (clients, progress) = context.split();
    let python = Python::find(&clients)?;
    let mut sandbox = ClientSandbox::open(
        &clients,
        Some(&CONFIGURATION),
        python.readable(),
        partial.directory(),
    )?;
    let key = format!("{} {}", step.part, python.tag);
    let lock = match step.locks.get(&key) {
        Some(lock) => lock.clone(),
        None => {
            let found = python.resolve(&step.requirement(), &[], &mut sandbox)?;
            lock_of(
                &found.ok_or_else(|| {
                    SourceError::not_found(SourceKind::Pypi, step.package, step.version)
                })?,
                step,
            )?
        }
    };
    let requirements = sandbox.work().join("requirements.txt");
    fs::write(&requirements, &lock).map_err(SourceError::io(&requirements))?;
    sandbox.give(&requirements)?;
    let download = ["download", "--only-binary", ":all:", "--no-deps", "--progress-bar", "off"];
    let call = python.pip(&download).arguments(["--require-hashes", "--dest"]);
    let call = call.arguments([&directory]).arguments(["-r".into(), requirements.into_os_string()]);
    let mut fetched = 0;
    let output = sandbox.run(call, &mut |line| {
        if let Some(what) = line.strip_prefix("Downloading ") {
            fetched += 1;
            progress.amount(fetched, None, Unit::Items);
            progress.line(what);
        }
    })?;
    drop(sandbox);
    output.success(PIP)?;
    for wheel in wheels(&directory)? {
        let sha256 = file_sha256(&wheel).map_err(SourceError::io(&wheel))?;
        let name = wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
        partial.checksums.push((name, format!("sha256:{sha256}")));
    }
    if programs(&directory, step.package, step.extras)?.is_empty() {
        let why = Unusable::Library;
        return Err(SourceError::unusable(SourceKind::Pypi, step.package, step.version, why));
    }
    partial.locks.insert(key, lock);
    partial.made_for = Some(python.tag);
    Ok(())
}

/// The choice of pip, as a file of requirements with hashes.
fn lock_of(found: &[PackageReport], step: &FetchStep<'_>) -> Result<String, SourceError> {
    let refuse =
        |why| Err(SourceError::unusable(SourceKind::Pypi, step.package, step.version, why));
    let mut lines = Vec::new();
    for package in found {
        let Some(sha256) = package.sha256.as_ref().filter(|_| !package.is_direct) else {
            return refuse(Unusable::DirectReference);
        };
        if package.is_yanked && same_package(&package.name, step.package) {
            return refuse(Unusable::Yanked);
        }
        let (name, version, url) = (&package.name, &package.version, &package.url);
        lines.push(format!("{name}=={version} --hash=sha256:{sha256}  # {url}\n"));
    }
    lines.sort();
    Ok(lines.concat())
}

/// Whether what was fetched is for the Python that is here now. Where there is none, what is there is used.
pub(super) fn is_for_this_python(artifact: &Artifact, context: &mut SourceContext<'_>) -> bool {
    let python = Python::find(&context.split().0);
    python.map_or(true, |python| artifact.made_for.as_deref() == Some(python.tag.as_str()))
}

/// A virtual environment with the wheels, whose programs are linked.
pub(super) fn build(
    package: &str,
    extras: &[String],
    step: &BuildStep<'_>,
    built: &mut Built,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    let (install, environment) = (step.install, step.install.join(ENVIRONMENT));
    let (clients, progress) = context.split();
    let python = Python::find(&clients)?;
    let readable = python.readable().into_iter().chain([step.fetched.clone()]).collect();
    let mut sandbox = ClientSandbox::open(&clients, None, readable, install)?;
    let make = Call::new(PYTHON, python.program.clone(), &["-m", "venv", "--without-pip"]);
    let fill = python.pip(&["--python"]).arguments([environment.join("bin/python")]);
    let fill = fill.arguments(["install", "--no-index", "--no-deps", "--ignore-installed"]);
    let fill = fill.arguments(["--no-warn-script-location"]);
    for call in [make.arguments([&environment]), fill.arguments(wheels(&step.fetched)?)] {
        let (name, call) = (call.name, call.variable("PIP_CONFIG_FILE", "/dev/null"));
        sandbox.run(call, &mut |line| progress.line(line))?.success(name)?;
    }
    drop(sandbox);
    for program in programs(&step.fetched, package, extras)? {
        link_program(built, install, &program, &format!("{ENVIRONMENT}/bin/{program}"))?;
    }
    let outside = |path: &PathBuf| outside_of_system([path]);
    built.runtime.extend(python.prefixes.iter().flat_map(outside));
    Ok(())
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

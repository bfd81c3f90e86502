//! Packages of PyPI: resolved by `pip install --dry-run`, locked by the hashes of every wheel, fetched by `pip
//! download --require-hashes`, installed into a virtual environment without network. Only wheels are taken,
//! and only from an index: anything else would have to be built, or is at an address of its package's own.

use super::Fetching;
use super::artifact_cache::Artifact;
use super::building::{Building, is_program_name, outside_of_system};
use super::candidate::{Candidate, Unusable};
use super::client_sandbox::{Call, ClientSandbox, Configuration};
use super::look_up::{Asked, Offer};
use super::registry::{Package, Registry, plain_name};
use super::source_context::SourceContext;
use super::source_error::{AtPath as _, Result, SourceError};
use super::source_ref::{SourceKind, SourceRef, check_version};
use crate::attestation::{Attestation, AttestedFile};
use crate::file_hash::file_sha256;
use serde::Deserialize;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const PIP: &str = "pip";
const PYTHON: &str = "python3";
const ENVIRONMENT: &str = "venv";
/// Before a version that is not wanted.
const EXCLUDED: &str = "!=";

/// The user's Python, with where its files are.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Pip {
    program: PathBuf,
    prefixes: Vec<PathBuf>,
    pip: Option<PathBuf>,
    /// The key by which wheels are chosen.
    tag: String,
    /// Where pip asks if its configuration has no other index.
    #[serde(default)]
    index: String,
}

const QUESTION: &str = "\
import sys, json, os, sysconfig
try:
    import pip
    pip = os.path.dirname(os.path.dirname(os.path.abspath(pip.__file__)))
except ImportError:
    pip = None
try:
    from pip._internal.models.index import PyPI
    index = PyPI.simple_url
except Exception:
    index = ''
tag = '%s-%d.%d-%s' % (sys.implementation.name, *sys.version_info[:2], sysconfig.get_platform())
print(json.dumps({'program': sys.executable, 'prefixes': sorted({sys.prefix, sys.base_prefix}), 'pip': pip, 'tag': tag, 'index': index}))
";

impl Pip {
    pub fn find(context: &SourceContext<'_>) -> Result<Pip> {
        let printed = context.ask(PYTHON, &["-c", QUESTION])?;
        let answer = printed.lines().last().unwrap_or_default();
        let python: Pip =
            serde_json::from_str(answer).map_err(|error| SourceError::output(PYTHON, error))?;
        if python.pip.is_none() { Err(SourceError::MissingClient(PIP)) } else { Ok(python) }
    }

    fn pip(&self, words: &str) -> Call {
        let fixed = "-m pip --disable-pip-version-check --no-input --no-color";
        let call = Call::new(PIP, &self.program, fixed).list(words.split_whitespace());
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
        sandbox: &mut ClientSandbox<'_>,
    ) -> Result<Option<Vec<Reported>>> {
        let call = self.pip("install --dry-run --ignore-installed --only-binary :all: --quiet");
        let call = call.list(options).arguments(&[&"--report", &"-", &wanted]);
        let output = sandbox.run(call)?;
        if !output.succeeded() {
            let nothing = is_not_found(&output.stderr);
            return if nothing { Ok(None) } else { Err(output.failure(PIP)) };
        }
        let report: Report = serde_json::from_str(&output.stdout)
            .map_err(|error| SourceError::output(PIP, error))?;
        let mut packages = report.install;
        // Older ones have it in a warning only.
        for package in &mut packages {
            let warning = format!("is a yanked version: '{}' candidate", package.name());
            package.is_yanked |= output.stderr.contains(&warning);
        }
        Ok(Some(packages))
    }

    /// A package that has only source code.
    fn without_wheel(
        &self,
        asked: &Asked<'_>,
        sandbox: &mut ClientSandbox<'_>,
    ) -> Result<Option<Offer>> {
        let output = sandbox.run(self.pip("index versions").arguments(&[&asked.source.name()]))?;
        // `docopt (0.6.2)`
        let mut lines = output.stdout.lines();
        let found = lines.find_map(|line| line.split_once(" (")?.1.strip_suffix(')'));
        let found = found.filter(|found| output.succeeded() && check_version(found).is_ok());
        Ok(found.filter(|_| asked.version.is_none()).map(|found| {
            let unusable = Some(Unusable::NoWheel);
            let candidate = Candidate { unusable, ..Candidate::new(asked.source.clone(), found) };
            Offer { candidate, older: None }
        }))
    }

    /// The files of a package with their times, where the index answers in JSON. Older pips do not
    /// show them.
    fn files_in_index(&self, name: &str, sandbox: &mut ClientSandbox<'_>) -> Vec<IndexFile> {
        let list = sandbox.run(self.pip("config list"));
        let list = list.map(|output| output.stdout).unwrap_or_default();
        let mut set = list.lines().filter_map(|line| line.split_once(".index-url='"));
        let index =
            set.next_back().map_or(self.index.as_str(), |(_, url)| url.trim_end_matches('\''));
        let url = format!("{}/{}/", index.trim_end_matches('/'), plain_name(name));
        let accept = [("accept", "application/vnd.pypi.simple.v1+json")];
        let answer = sandbox.context.http().text(&url, &accept, LARGEST_INDEX).ok().flatten();
        let page: Option<IndexPage> = answer.and_then(|text| serde_json::from_str(&text).ok());
        page.map(|page| page.files).unwrap_or_default()
    }
}

const LARGEST_INDEX: u64 = 64 << 20;

/// The report of an install that does not happen.
#[derive(Debug, Deserialize)]
struct Report {
    install: Vec<Reported>,
}

#[derive(Debug, Deserialize)]
struct Reported {
    metadata: Value,
    download_info: Value,
    /// It comes from an address that a package has, and not from an index.
    #[serde(default)]
    is_direct: bool,
    #[serde(default)]
    is_yanked: bool,
}

impl Reported {
    fn name(&self) -> &str {
        self.metadata["name"].as_str().unwrap_or_default()
    }
}

#[derive(Debug, Deserialize)]
struct IndexPage {
    files: Vec<IndexFile>,
}

#[derive(Debug, Deserialize)]
struct IndexFile {
    filename: String,
    #[serde(default, rename = "upload-time")]
    upload_time: Option<String>,
    /// Where its attestation is.
    #[serde(default)]
    provenance: Option<String>,
}

impl IndexFile {
    /// The version in the name of a wheel.
    fn version(&self) -> Option<&str> {
        self.filename.strip_suffix(".whl")?.split('-').nth(1)
    }
}

impl Registry for Pip {
    fn configuration(&self) -> &'static Configuration {
        &Configuration {
            variable: "PIP_CONFIG_FILE",
            below_home: &[".config/pip/pip.conf", ".pip/pip.conf"],
            files: &[],
            variables: &["PIP_"],
        }
    }

    fn readable(&self) -> Vec<PathBuf> {
        let mut outside = outside_of_system(self.prefixes.iter().chain(&self.pip).cloned());
        let inside =
            |path: &PathBuf| self.prefixes.iter().any(|p| p != path && path.starts_with(p));
        outside.retain(|path| !inside(path));
        outside
    }

    fn look_up(&self, asked: &Asked<'_>, sandbox: &mut ClientSandbox<'_>) -> Result<Option<Offer>> {
        let excludes = asked.version.is_some_and(|version| version.starts_with(EXCLUDED));
        let wanted = asked.wanted(if excludes { "" } else { "==" });
        let found = self.resolve(&wanted, &["--no-deps"], sandbox)?;
        let Some(package) = found.and_then(|found| found.into_iter().next()) else {
            return self.without_wheel(asked, sandbox);
        };
        let candidate = candidate_of(&package.metadata);
        let mut candidate =
            candidate.ok_or_else(|| SourceError::output(PIP, "a package without a name"))?;
        let files = self.files_in_index(asked.source.name(), sandbox);
        let published = |version: &str| {
            let own = files.iter().filter(|file| file.version() == Some(version));
            own.filter_map(|file| file.upload_time.as_deref()).max()
        };
        candidate.published = published(&candidate.version).map(str::to_owned);
        let mut young: Vec<&str> = files.iter().filter_map(IndexFile::version).collect();
        young.sort_unstable();
        young.dedup();
        young.retain(|version| asked.is_too_young(published(version)));
        let young = young.iter().map(|version| format!("{EXCLUDED}{version}"));
        Ok(Some(Offer { candidate, older: Some(young.collect::<Vec<_>>().join(",")) }))
    }

    fn fetch(
        &self,
        package: &Package<'_>,
        work: &mut Fetching<'_>,
        mut sandbox: ClientSandbox<'_>,
    ) -> Result<()> {
        let directory = work.partial.part(&package.part)?;
        let key = format!("{} {}", package.part, self.tag);
        let locked = work.locks.get(&key);
        let lock = match locked {
            Some(lock) => lock.clone(),
            None => {
                let extras = match package.options {
                    [] => String::new(),
                    extras => format!("[{}]", extras.join(",")),
                };
                let wanted = format!("{}{extras}=={}", package.name, package.version);
                let found = self.resolve(&wanted, &[], &mut sandbox)?;
                lock_of(&found.ok_or_else(|| package.not_found())?, package)?
            }
        };
        let requirements = sandbox.work().join("requirements.txt");
        fs::write(&requirements, &lock).at(&requirements)?;
        sandbox.give(&requirements)?;
        let call = self.pip("download --only-binary :all: --no-deps --progress-bar off");
        let call = call.arguments(&[&"--require-hashes", &"--dest", &directory]);
        let call = call.arguments(&[&"-r", &requirements]);
        sandbox.run_shown(call, "Downloading ")?.success(PIP)?;
        let artifact = &mut work.partial.artifact;
        let mut index = Vec::new();
        if locked.is_none() {
            index = self.files_in_index(package.name, &mut sandbox);
            artifact.attestation = Some(Attestation::Absent);
        }
        drop(sandbox);
        for wheel in wheels(&directory)? {
            let sha256 = file_sha256(&wheel).at(&wheel)?;
            let name = wheel.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let listed = index.iter().find(|file| file.filename == name);
            if let Some(url) = listed.and_then(|file| file.provenance.as_deref()) {
                let file = AttestedFile::pypi(&name, &sha256)?;
                artifact.attestation = Some(work.context.attestation(url, &[], &file, true)?);
            }
            artifact.checksums.push((name, format!("sha256:{sha256}")));
        }
        artifact.locks.insert(key, lock);
        artifact.made_for = Some(self.tag.clone());
        Ok(())
    }

    /// A virtual environment with the wheels, whose programs are linked.
    fn build(
        &self,
        package: &Package<'_>,
        work: &mut Building<'_>,
        mut sandbox: ClientSandbox<'_>,
    ) -> Result<()> {
        let environment = work.install.join(ENVIRONMENT);
        let make = Call::new(PYTHON, &self.program, "-m venv --without-pip");
        let make = make.arguments(&[&environment]);
        let fill = self.pip("--python").arguments(&[&environment.join("bin/python")]);
        let options = "install --no-index --no-deps --ignore-installed --no-warn-script-location";
        let fill = fill.list(options.split(' '));
        for call in [make, fill.list(wheels(&work.fetched(&package.part))?)] {
            let name = call.name;
            let call = call.variable("PIP_CONFIG_FILE", "/dev/null");
            sandbox.run_shown(call, "")?.success(name)?;
        }
        drop(sandbox);
        let programs = installed_programs(&environment, package)?;
        if programs.is_empty() {
            return Err(package.unusable(Unusable::Library));
        }
        for program in programs {
            work.link_program(&program, &format!("{ENVIRONMENT}/bin/{program}"))?;
        }
        work.built.runtime.extend(outside_of_system(self.prefixes.iter().cloned()));
        Ok(())
    }
}

/// A package in a report of `pip install --dry-run --report -`, by its metadata.
fn candidate_of(metadata: &Value) -> Option<Candidate> {
    let string = |key: &str| metadata[key].as_str().filter(|text| !text.trim().is_empty());
    let list = |key: &str| metadata[key].as_array().into_iter().flatten().filter_map(Value::as_str);
    // `Repository, https://…`
    let labelled = |label: &str| {
        let mut urls = list("project_url").filter_map(|text| text.split_once(','));
        urls.find(|(known, _)| known.trim().eq_ignore_ascii_case(label)).map(|(_, url)| url.trim())
    };
    let page = string("home_page").or_else(|| PAGES.iter().find_map(|label| labelled(label)));
    // `License :: OSI Approved :: MIT License`
    let classified = list("classifier").find_map(|text| {
        let license = text.strip_prefix("License :: ")?.rsplit(" :: ").next()?;
        (license != "OSI Approved").then_some(license)
    });
    let license = string("license_expression")
        .or_else(|| string("license").filter(|text| text.len() <= 80))
        .or(classified);
    let source = SourceRef::checked(SourceKind::Pypi, string("name")?.to_owned());
    let mut candidate =
        Candidate::new(source, string("version")?).described(string("summary"), page, license);
    candidate.owner = string("author").or_else(|| string("author_email")).map(str::to_owned);
    Some(candidate)
}

const PAGES: &[&str] =
    &["homepage", "home", "repository", "source", "source code", "sources", "code", "github"];

/// Whether pip has found nothing, rather than failed.
fn is_not_found(stderr: &str) -> bool {
    let has = |text: &str| stderr.lines().any(|line| line.starts_with(text));
    let unreachable = ["Retrying (", "Failed to establish a new connection", "Could not fetch URL"];
    has("ERROR: No matching distribution found for")
        && !unreachable.iter().any(|text| stderr.contains(text))
}

/// The choice of pip, as a file of requirements with hashes.
fn lock_of(found: &[Reported], wanted: &Package<'_>) -> Result<String> {
    let mut lines = Vec::new();
    for package in found {
        let download = &package.download_info;
        let sha256 = download["archive_info"]["hashes"]["sha256"].as_str();
        let Some(sha256) = sha256.filter(|_| !package.is_direct) else {
            return Err(wanted.unusable(Unusable::DirectReference));
        };
        let (name, version) = (package.name(), package.metadata["version"].as_str());
        if package.is_yanked && plain_name(name) == plain_name(wanted.name) {
            return Err(wanted.unusable(Unusable::Yanked));
        }
        let (version, url) = (version.unwrap_or_default(), download["url"].as_str());
        let url = url.unwrap_or_default();
        lines.push(format!("{name}=={version} --hash=sha256:{sha256}  # {url}\n"));
    }
    lines.sort();
    Ok(lines.concat())
}

/// Whether what was fetched is for the Python that is here now. Where there is none, what is there is used.
pub(super) fn is_for_this_python(artifact: &Artifact, context: &SourceContext<'_>) -> bool {
    let python = Pip::find(context);
    python.map_or(true, |python| artifact.made_for.as_deref() == Some(python.tag.as_str()))
}

fn wheels(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).at(directory)?;
    let mut wheels: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    wheels.retain(|path| path.extension().is_some_and(|extension| extension == "whl"));
    wheels.sort();
    Ok(wheels)
}

/// The programs of a package, as pip has recorded them.
fn installed_programs(environment: &Path, package: &Package<'_>) -> Result<Vec<String>> {
    let library = environment.join("lib");
    let pythons = fs::read_dir(&library).at(&library)?.flatten();
    let packages =
        pythons.flat_map(|python| fs::read_dir(python.path().join("site-packages"))).flatten();
    let own = packages.flatten().map(|entry| entry.path()).find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.strip_suffix(".dist-info").and_then(|name| name.split('-').next());
        name.is_some_and(|name| plain_name(name) == plain_name(package.name))
    });
    let own = own.ok_or_else(|| SourceError::NoFile(format!("a wheel of {}", package.name)))?;
    let record = own.join("RECORD");
    let record = fs::read_to_string(&record).at(&record)?;
    let points = fs::read_to_string(own.join("entry_points.txt")).unwrap_or_default();
    Ok(programs_in_record(&record, &points, package.options))
}

/// The names in `bin/`. A script that needs an extra counts only if the extra is installed.
fn programs_in_record(record: &str, entry_points: &str, extras: &[String]) -> Vec<String> {
    let lacks_extra = |program: &str| {
        let line = entry_points.lines().find_map(|line| {
            let (name, function) = line.split_once('=')?;
            (name.trim() == program).then_some(function)
        });
        let needed = line.and_then(|line| line.split_once('[')).map_or("", |(_, rest)| rest);
        let mut needed = needed.trim_end().trim_end_matches(']').split(',').map(str::trim);
        needed.any(|extra| !extra.is_empty() && extras.iter().all(|known| known != extra))
    };
    let files = record.lines().filter_map(|line| line.split(',').next()?.split_once("/bin/"));
    let programs = files.filter(|(above, _)| above.split('/').all(|part| part == ".."));
    let mut programs: Vec<String> = programs
        .map(|(_, name)| name.to_owned())
        .filter(|name| is_program_name(name) && !lacks_extra(name))
        .collect();
    programs.sort();
    programs
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLACK: &str = r#"{
        "metadata_version": "2.5", "name": "black", "version": "26.10.1",
        "summary": "The uncompromising code formatter.", "license_expression": "MIT",
        "project_url": [ "Documentation, https://black.readthedocs.io/",
            "Repository, https://github.com/psf/black", "Issues, https://x/issues" ]
        }"#;

    #[test]
    fn a_report_is_read() {
        let read = |text: &str| candidate_of(&serde_json::from_str(text).unwrap());
        let black = read(BLACK).unwrap();
        assert_eq!((black.source.name(), black.version.as_str()), ("black", "26.10.1"));
        assert_eq!(black.homepage.as_deref(), Some("https://github.com/psf/black"));
        assert_eq!(black.license.as_deref(), Some("MIT"));
        let classified = "\"classifier\": [\"License :: OSI Approved\", \"License :: OSI Approved :: MIT License\"]";
        let long = format!("\"license\": \"{}\", {classified}", "text ".repeat(40));
        let old = BLACK.replace("\"license_expression\": \"MIT\"", &long);
        assert_eq!(read(&old).unwrap().license.as_deref(), Some("MIT License"));
        assert_eq!(read("{}"), None);
        assert_eq!(read(r#"{"name":"x"}"#), None);
    }

    #[test]
    fn the_absence_of_a_package_is_read() {
        let nothing = "ERROR: Could not find a version that satisfies the requirement x (from versions: none)\nERROR: No matching distribution found for x\n";
        assert!(is_not_found(nothing));
        let offline =
            format!("WARNING: Retrying (Retry(total=4)) after connection broken by x\n{nothing}");
        assert!(!is_not_found(&offline));
        assert!(!is_not_found("ERROR: pip is broken"));
    }

    #[test]
    fn programs_are_read_from_the_record_of_pip() {
        let record = "../../../bin/black,sha256=x,12\n../../../bin/blackd,sha256=y,1\nblack/bin/no.py,,\n\
            ../../../bin/ruff,,\nblack-26.dist-info/RECORD,,\n";
        let points = "[console_scripts]\nblack = black:main\nblackd = blackd:main [d, e]\n";
        assert_eq!(programs_in_record(record, points, &[]), ["black", "ruff"]);
        let extras = ["d".to_owned(), "e".to_owned()];
        assert_eq!(programs_in_record(record, points, &extras), ["black", "blackd", "ruff"]);
        assert_eq!(programs_in_record(record, points, &extras[..1]), ["black", "ruff"]);
        assert!(programs_in_record("", "", &[]).is_empty());
    }
}

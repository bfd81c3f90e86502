//! Packages of npm: looked up by `npm view`, fetched by `npm install --ignore-scripts`, locked by npm's own
//! lock file. The scripts of packages that have some run in the build, without network.

use super::Fetching;
use super::building::{Building, is_program_name, outside_of_system, real_directory};
use super::candidate::{Candidate, Unusable};
use super::client_sandbox::{Call, ClientSandbox, Configuration};
use super::look_up::{Asked, Offer};
use super::registry::{Package, Registry};
use super::source_context::SourceContext;
use super::source_error::{AtPath as _, Result, SourceError};
use super::source_ref::{SourceKind, SourceRef};
use crate::attestation::AttestedFile;
use crate::file_hash::copy_tree;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

const NPM: &str = "npm";
const LOCK: &str = "package-lock.json";
/// Where the tree is in an install.
const LIBRARY: &str = "lib/npm";

/// Options of every call: npm neither asks, nor reports, nor looks for a project around us.
const QUIET: &str = "--no-audit --no-fund --no-update-notifier --no-progress --no-color --logs-max=0 \
    --no-global";

/// Whatever the user's configuration has: all that a package needs on this machine, none of its scripts, and
/// nothing from git repositories, whose configuration runs programs.
const INSTALL: &str = "install --ignore-scripts --allow-git=none --git=/bin/false --omit=dev \
    --include=optional --package-lock=true --omit-lockfile-registry-resolved=false --bin-links=true \
    --install-strategy=hoisted --loglevel=http";

/// The fields that are asked for.
const FIELDS: &str = "name version description homepage license repository bin maintainers time";

/// The user's Node with its npm.
pub(super) struct Npm {
    /// The directory above `bin/`, which a version manager may have anywhere.
    prefix: PathBuf,
    /// `…/npm/bin/npm-cli.js`
    npm: PathBuf,
}

impl Npm {
    pub fn find(context: &SourceContext<'_>) -> Result<Npm> {
        let program = PathBuf::from(context.ask("node", &["-p", "process.execPath"])?.trim());
        let prefix = program.parent().and_then(Path::parent).filter(|_| program.is_absolute());
        let prefix = prefix.ok_or(SourceError::MissingClient("node"))?.to_owned();
        let own = context.find(NPM)?.canonicalize().ok();
        // The npm of a version manager on PATH may only start the real one.
        let beside = prefix.join("lib/node_modules/npm/bin/npm-cli.js");
        let is_script = |file: &PathBuf| file.extension().is_some_and(|end| end == "js");
        let npm = own.filter(is_script).or(Some(beside).filter(|file| file.is_file()));
        Ok(Npm { prefix, npm: npm.ok_or(SourceError::MissingClient(NPM))? })
    }

    /// The directory of npm itself.
    fn library(&self) -> PathBuf {
        self.npm.ancestors().nth(2).unwrap_or(&self.npm).to_owned()
    }

    fn call(&self, words: &str, sandbox: &ClientSandbox<'_>) -> Call {
        let mut call = Call::new(NPM, self.prefix.join("bin/node"), "").arguments(&[&self.npm]);
        call.path.push(self.prefix.join("bin"));
        let call = call.list(words.split_whitespace()).list(QUIET.split_whitespace());
        call.arguments(&[&"--cache", &sandbox.work().join("npm-cache")])
    }

    /// Whether a package is for the Node that is here, by npm's own reading of its manifest.
    fn fits_node(&self, range: &Value, sandbox: &mut ClientSandbox<'_>) -> Result<bool> {
        let Some(range) = range.as_str() else { return Ok(true) };
        let semver = self.library().join("node_modules/semver");
        let question = "require(process.argv[1]).satisfies(process.version, process.argv[2])";
        let call = Call::new(NPM, self.prefix.join("bin/node"), "-p");
        let call = call.arguments(&[&question, &semver, &range]);
        Ok(sandbox.run(call)?.stdout.trim() != "false")
    }
}

impl Registry for Npm {
    fn configuration(&self) -> &'static Configuration {
        &Configuration {
            variable: "NPM_CONFIG_USERCONFIG",
            below_home: &[".npmrc"],
            files: &[],
            variables: &["NPM_CONFIG_"],
        }
    }

    fn readable(&self) -> Vec<PathBuf> {
        outside_of_system([self.prefix.clone(), self.library()])
    }

    fn look_up(&self, asked: &Asked<'_>, sandbox: &mut ClientSandbox<'_>) -> Result<Option<Offer>> {
        let call = self.call("view --json", sandbox).list([asked.wanted("@")]);
        let call = call.list(FIELDS.split(' '));
        let output = sandbox.run(call)?;
        let json = match read_json(&output.stdout) {
            Some(json) => json,
            None if output.succeeded() => return Err(SourceError::output(NPM, "no JSON")),
            None => return Err(output.failure(NPM)),
        };
        if json["error"]["code"] == "E404" {
            return Ok(None);
        }
        let candidate = candidate_of(&json).ok_or_else(|| output.failure(NPM))?;
        let older = newest_version(&json["time"], |time| !asked.is_too_young(Some(time)));
        Ok(Some(Offer { candidate, older }))
    }

    fn fetch(
        &self,
        package: &Package<'_>,
        work: &mut Fetching<'_>,
        mut sandbox: ClientSandbox<'_>,
    ) -> Result<()> {
        let directory = work.partial.part(&package.part)?;
        let (name, version) = (package.name, package.version);
        let manifest = json!({ "private": true, "dependencies": { name: version } });
        let write = |name: &str, text: &str| {
            let file = directory.join(name);
            fs::write(&file, text).at(&file)
        };
        write("package.json", &manifest.to_string())?;
        let locked = work.locks.get(&package.part);
        if let Some(text) = locked {
            write(LOCK, text)?;
        }
        sandbox.give(&directory)?;
        let before = work.context.released_before.as_ref().filter(|_| locked.is_none());
        let call = self.call(INSTALL, &sandbox).arguments(&[&"--prefix", &directory]);
        let mut call = call.list(before.map(|time| format!("--before={time}")));
        call.directory = Some(directory.clone());
        let output = sandbox.run_shown(call, "http fetch GET ")?;
        if !output.succeeded() && is_not_found(&output.stderr, name) {
            return Err(package.not_found());
        }
        output.success(NPM)?;
        let text = read(&directory.join(LOCK))?;
        let lock = LockFile::read(&text);
        if locked.is_none()
            && let Some((registry, integrity)) = lock.origin(name)
        {
            let escaped = name.replace('/', "%2f");
            let url = format!("{registry}-/npm/v1/attestations/{escaped}@{version}");
            let file = AttestedFile::npm(name, version, integrity)?;
            let attestation = work.context.attestation(&url, &[], &file, false)?;
            work.partial.artifact.attestation = Some(attestation);
        }
        if lock.has_direct_reference() {
            return Err(package.unusable(Unusable::DirectReference));
        }
        let checksums = lock.checksums().ok_or_else(|| package.unusable(Unusable::NoHash))?;
        // `npm ci` would refuse a lock without optional packages that a mirror did not have.
        let known = locked.and_then(|locked| LockFile::read(locked).checksums());
        if known.is_some_and(|known| !checksums.iter().all(|one| known.contains(one))) {
            return Err(package.other_bytes());
        }
        if !self.fits_node(&lock.package(name)["engines"]["node"], &mut sandbox)? {
            return Err(package.unusable(Unusable::OtherNode));
        }
        work.partial.artifact.checksums.extend(checksums);
        let lock = locked.cloned().unwrap_or(text);
        work.partial.artifact.locks.insert(package.part.clone(), lock);
        Ok(())
    }

    /// The tree is copied, scripts run if there are any, and its programs are linked. They are scripts for
    /// Node, which the user's PATH or the install's runtime has.
    fn build(
        &self,
        package: &Package<'_>,
        work: &mut Building<'_>,
        mut sandbox: ClientSandbox<'_>,
    ) -> Result<()> {
        let tree = real_directory(work.install, "lib")?.join(NPM);
        copy_tree(&work.fetched(&package.part), &tree).at(&tree)?;
        sandbox.give(&tree)?;
        if LockFile::read(&read(&tree.join(LOCK))?).has_install_scripts() {
            let mut call = self.call("rebuild --offline --foreground-scripts", &sandbox);
            call.directory = Some(tree.clone());
            sandbox.run_shown(call, "")?.success(NPM)?;
        }
        drop(sandbox);
        let manifest = read(&tree.join("node_modules").join(package.name).join("package.json"))?;
        let json: Value =
            serde_json::from_str(&manifest).map_err(|error| SourceError::output(NPM, error))?;
        for program in programs_of(package.name, &json["bin"]) {
            work.link_program(&program, &format!("{LIBRARY}/node_modules/.bin/{program}"))?;
        }
        work.built.runtime.extend(outside_of_system([self.prefix.clone()]));
        Ok(())
    }
}

fn read(file: &Path) -> Result<String> {
    fs::read_to_string(file).at(file)
}

/// The answer to `npm view`, also to a failed one. A range has several versions, in the order of their
/// publication.
fn read_json(text: &str) -> Option<Value> {
    match serde_json::from_str(text).ok()? {
        Value::Array(versions) => versions.into_iter().next_back(),
        one => Some(one),
    }
}

fn candidate_of(json: &Value) -> Option<Candidate> {
    let (name, version) = (json["name"].as_str()?, json["version"].as_str()?);
    let repository = json["repository"]["url"].as_str().or_else(|| json["repository"].as_str());
    let page = json["homepage"].as_str().or(repository);
    let source = SourceRef::checked(SourceKind::Npm, name.to_owned());
    let mut candidate = Candidate::new(source, version).described(
        json["description"].as_str(),
        page,
        json["license"].as_str(),
    );
    let owners = json["maintainers"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let owners: Vec<&str> = owners.take(3).filter_map(|owner| owner.split(" <").next()).collect();
    candidate.owner = (!owners.is_empty()).then(|| owners.join(", "));
    candidate.published = json["time"][version].as_str().map(str::to_owned);
    candidate.binaries = programs_of(name, &json["bin"]);
    candidate.unusable = candidate.binaries.is_empty().then_some(Unusable::Library);
    Some(candidate)
}

/// The version that was published last, of those that are not for trying out. Times are in the order of their
/// texts.
fn newest_version(times: &Value, is_old_enough: impl Fn(&str) -> bool) -> Option<String> {
    let times =
        times.as_object()?.iter().filter_map(|(version, time)| Some((version, time.as_str()?)));
    let released = times.filter(|(version, time)| {
        version.starts_with(|c: char| c.is_ascii_digit())
            && !version.contains('-')
            && is_old_enough(time)
    });
    released.max_by_key(|(_, time)| time.to_owned()).map(|(version, _)| version.clone())
}

/// Whether `npm install` failed because there is no such package, or not this version.
fn is_not_found(stderr: &str, package: &str) -> bool {
    let has = |text: &str| stderr.contains(text);
    has(&format!("No matching version found for {package}@"))
        || (has("npm error code E404") && has(&format!("'{package}@")))
}

/// `bin` of a manifest: a map of names, or one path for the package's own name without its scope.
fn programs_of(package: &str, bin: &Value) -> Vec<String> {
    let own = package.rsplit('/').next().unwrap_or(package);
    let names = match bin {
        Value::String(path) if !path.is_empty() => vec![own],
        Value::Object(map) => map.keys().map(String::as_str).collect(),
        _ => Vec::new(),
    };
    names.into_iter().filter(|name| is_program_name(name)).map(str::to_owned).collect()
}

/// `package-lock.json`
struct LockFile(Value);

impl LockFile {
    fn read(text: &str) -> LockFile {
        LockFile(serde_json::from_str(text).unwrap_or_default())
    }

    fn packages(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.0["packages"].as_object().into_iter().flatten()
    }

    /// A package that was asked for itself.
    fn package(&self, name: &str) -> &Value {
        &self.0["packages"][format!("node_modules/{name}")]
    }

    /// The registry's checksums of all packages: `semver-7.8.6` and `sha512-…`. None if one has none.
    fn checksums(&self) -> Option<Vec<(String, String)>> {
        self.0["packages"].as_object()?;
        // A package inside of another one came with it.
        let fetched = self
            .packages()
            .filter(|(path, package)| !path.is_empty() && package["inBundle"] != true);
        let checksum = |(path, package): (&String, &Value)| {
            let name = path.rsplit_once("node_modules/")?.1;
            let version = package["version"].as_str()?;
            Some((format!("{name}-{version}"), package["integrity"].as_str()?.to_owned()))
        };
        fetched.map(checksum).collect()
    }

    /// Whether a package names another one by an address instead of a version. An alias, `npm:…`, is of
    /// the registry.
    fn has_direct_reference(&self) -> bool {
        let needed = self.packages().flat_map(|(_, package)| {
            let kinds = ["dependencies", "optionalDependencies", "peerDependencies"];
            kinds.map(|kind| package[kind].as_object()).into_iter().flatten().flatten()
        });
        let mut wanted = needed.filter_map(|(_, wanted)| wanted.as_str());
        wanted.any(|wanted| !wanted.starts_with("npm:") && wanted.contains(['/', ':']))
    }

    /// The address of the registry that a package came from, and the hash of the package.
    fn origin(&self, name: &str) -> Option<(&str, &str)> {
        let package = self.package(name);
        let (registry, _) = package["resolved"].as_str()?.split_once(&format!("{name}/-/"))?;
        Some((registry, package["integrity"].as_str()?))
    }

    /// Whether a package has scripts for its installation.
    fn has_install_scripts(&self) -> bool {
        self.packages().any(|(_, package)| package["hasInstallScript"] == true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COWSAY: &str = r#"{
        "name": "cowsay",
        "version": "1.6.0",
        "description": "cowsay is a configurable talking cow",
        "license": "MIT",
        "repository": { "type": "git", "url": "git+https://github.com/piuccio/cowsay.git" },
        "maintainers": ["a <a@b.c>", "d <e@f.g>"],
        "time": { "created": "2020-01-01T00:00:00.000Z", "1.5.0": "2023-05-05T00:00:00.000Z",
            "1.6.0": "2024-01-02T03:04:05.678Z", "1.7.0-beta.1": "2024-02-02T00:00:00.000Z" },
        "bin": { "cowsay": "./cli.js", "cowthink": "./cli.js" }
    }"#;

    #[test]
    fn answers_of_npm_are_read() {
        let json = read_json(COWSAY).unwrap();
        let cowsay = candidate_of(&json).unwrap();
        assert_eq!((cowsay.source.name(), cowsay.version.as_str()), ("cowsay", "1.6.0"));
        assert_eq!(cowsay.binaries, ["cowsay", "cowthink"]);
        assert_eq!(cowsay.homepage.as_deref(), Some("https://github.com/piuccio/cowsay"));
        assert_eq!(
            (cowsay.license.as_deref(), cowsay.owner.as_deref()),
            (Some("MIT"), Some("a, d"))
        );
        assert_eq!(cowsay.published.as_deref(), Some("2024-01-02T03:04:05.678Z"));
        assert_eq!(newest_version(&json["time"], |_| true).as_deref(), Some("1.6.0"));
        assert_eq!(newest_version(&json["time"], |time| time < "2024").as_deref(), Some("1.5.0"));
        assert_eq!(newest_version(&json["time"], |_| false), None);
        for text in ["", "\n", "npm error", "[]"] {
            assert_eq!(read_json(text), None, "{text:?}");
        }
        let several =
            r#"[{"name":"a","version":"1.0.0"},{"name":"a","version":"1.1.0","bin":"x.js"}]"#;
        let last = candidate_of(&read_json(several).unwrap()).unwrap();
        assert_eq!((last.version.as_str(), &last.binaries[..]), ("1.1.0", &["a".to_owned()][..]));
        assert_eq!(candidate_of(&serde_json::json!({ "name": "x" })), None);
    }

    #[test]
    fn what_is_not_there_is_not_a_failure() {
        let version = "npm error code ETARGET\nnpm error notarget No matching version found for semver@99.0.0.\n";
        let package = "npm error code E404\nnpm error 404  The requested resource 'no-such@1.0.0' could not be found\n";
        assert!(is_not_found(version, "semver") && is_not_found(package, "no-such"));
        assert!(
            !is_not_found(version, "other") && !is_not_found("npm error code ECONNREFUSED", "x")
        );
    }

    #[test]
    fn one_path_is_the_program_of_the_package() {
        let programs = |package, bin: &str| {
            programs_of(package, &serde_json::from_str(bin).unwrap_or_default())
        };
        assert_eq!(programs("@scope/tool", r#""cli.js""#), ["tool"]);
        assert_eq!(programs("tool", r#"{"a": "x", "../b": "y", "-c": "z"}"#), ["a"]);
        assert!(programs("tool", r#""""#).is_empty());
        assert!(programs("tool", "null").is_empty());
    }

    #[test]
    fn a_lock_file_has_checksums_and_scripts() {
        let lock = r#"{ "packages": {
            "": { "dependencies": { "@a/b": "1.0.0" } },
            "node_modules/@a/b": { "version": "1.0.0", "integrity": "sha512-x" },
            "node_modules/c/node_modules/d": { "version": "2.0.0", "integrity": "sha512-y", "hasInstallScript": true },
            "node_modules/e": { "version": "3.0.0", "inBundle": true }
        } }"#;
        let expected = [("@a/b-1.0.0", "sha512-x"), ("d-2.0.0", "sha512-y")];
        let expected = expected.map(|(name, sum)| (name.to_owned(), sum.to_owned()));
        assert_eq!(LockFile::read(lock).checksums(), Some(expected.into()));
        assert_eq!(
            LockFile::read(&lock.replace("sha512-y", "").replace("\"integrity\": \"\",", ""))
                .checksums(),
            None
        );
        assert!(LockFile::read(lock).has_install_scripts());
        assert!(!LockFile::read(&lock.replace("true", "false")).has_install_scripts());
        assert!(!LockFile::read(lock).has_direct_reference());
        for wanted in ["http://x/y.tgz", "git+ssh://x/y", "github:a/b", "a/b", "file:../x"] {
            assert!(
                LockFile::read(
                    &lock.replace(
                        "{ \"@a/b\": \"1.0.0\" }",
                        &format!("{{ \"@a/b\": \"{wanted}\" }}")
                    )
                )
                .has_direct_reference(),
                "{wanted}"
            );
        }
        assert!(
            LockFile::read("no JSON").checksums().is_none()
                && !LockFile::read("").has_install_scripts()
        );
    }
}

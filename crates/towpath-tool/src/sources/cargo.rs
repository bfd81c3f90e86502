//! Crates: looked up and downloaded by `cargo info`, fetched with everything they need by `cargo vendor`,
//! locked by their own `Cargo.lock`, built by `cargo install` without network. A crate's own code, its build
//! scripts too, first runs in the build.

use super::Fetching;
use super::building::{Building, outside_of_system};
use super::candidate::{Candidate, Unusable};
use super::client_sandbox::{Call, ClientSandbox, Configuration};
use super::look_up::{Asked, Offer};
use super::registry::{Package, Registry};
use super::source_context::SourceContext;
use super::source_error::{AtPath as _, Result, SourceError};
use super::source_ref::{SourceKind, SourceRef};
use crate::file_hash::{copy_tree, file_sha256, sorted_tree};
use serde_json::Value;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const CARGO: &str = "cargo";
/// The crate itself, in the directory of its step.
const PACKAGE: &str = "package";
/// Its dependencies.
const VENDOR: &str = "vendor";
const LOCK: &str = "Cargo.lock";
/// The first line of what is locked; the rest is the crate's lock file.
const OWN_HASH: &str = "# sha256 of the crate: ";

/// The user's Rust: rustup's own program cannot run without its configuration.
pub(super) struct Cargo {
    sysroot: PathBuf,
}

/// A crate that was downloaded.
struct Crate {
    /// Its part of `cargo metadata`.
    metadata: Value,
    source: PathBuf,
    archive: PathBuf,
}

impl Crate {
    /// The programs that it has: those that its manifest lists, and those that Cargo finds by their files.
    fn programs(&self) -> Vec<String> {
        let targets = self.metadata["targets"].as_array().into_iter().flatten();
        let is_program = |target: &&Value| {
            target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "bin"))
        };
        let names = targets.filter(is_program).filter_map(|target| target["name"].as_str());
        names.map(str::to_owned).collect()
    }

    fn candidate(&self) -> Option<Candidate> {
        let string = |key: &str| self.metadata[key].as_str();
        let source = SourceRef::checked(SourceKind::Cargo, string("name")?.to_owned());
        let page = string("homepage").or_else(|| string("repository"));
        let mut candidate = Candidate::new(source, string("version")?).described(
            string("description"),
            page,
            string("license"),
        );
        let authors = self.metadata["authors"].as_array().into_iter().flatten();
        candidate.owner = authors.filter_map(Value::as_str).next().map(str::to_owned);
        candidate.binaries = self.programs();
        candidate.unusable = candidate.binaries.is_empty().then_some(Unusable::Library);
        Some(candidate)
    }
}

impl Cargo {
    pub fn find(context: &SourceContext<'_>) -> Result<Cargo> {
        let sysroot = PathBuf::from(context.ask("rustc", &["--print", "sysroot"])?.trim());
        let has_cargo = sysroot.join("bin/cargo").is_file();
        if has_cargo { Ok(Cargo { sysroot }) } else { Err(SourceError::MissingClient(CARGO)) }
    }

    fn call(&self, words: &str) -> Call {
        let mut call = Call::new(CARGO, self.sysroot.join("bin/cargo"), words);
        call.path.push(self.sysroot.join("bin"));
        // A version that this Rust can compile, where the crate does not decide.
        call.variable("CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS", "fallback")
    }

    /// Asks for a crate, which is downloaded and unpacked for that.
    fn info(&self, wanted: &str, sandbox: &mut ClientSandbox<'_>) -> Result<Option<Crate>> {
        let registry = sandbox.work().join("configuration/registry");
        for part in ["src", "cache"] {
            let _ = fs::remove_dir_all(registry.join(part));
        }
        let output = sandbox.run(self.call("info --color never").arguments(&[&wanted]))?;
        if !output.succeeded() {
            let nothing = is_not_found(&output.stderr);
            return if nothing { Ok(None) } else { Err(output.failure(CARGO)) };
        }
        // One crate was downloaded, by one registry.
        let inside = |part: &str| {
            let one = |path: PathBuf| fs::read_dir(path).ok()?.flatten().next().map(|e| e.path());
            let found = one(registry.join(part)).and_then(one);
            found.ok_or_else(|| SourceError::NoFile(wanted.to_owned()))
        };
        let (source, archive) = (inside("src")?, inside("cache")?);
        let manifest = source.join("Cargo.toml");
        let call = self.call("metadata --no-deps --offline --format-version=1 --manifest-path");
        let output = sandbox.run(call.arguments(&[&manifest]))?;
        let json: Value = serde_json::from_str(&output.success(CARGO)?.stdout).unwrap_or_default();
        Ok(Some(Crate { metadata: json["packages"][0].clone(), source, archive }))
    }

    /// The versions of a crate with their times, as the index has them, in the order of their publication.
    fn versions(&self, name: &str, sandbox: &ClientSandbox<'_>) -> Vec<(String, String)> {
        let index = sandbox.work().join("configuration/registry/index");
        let files = sorted_tree(&index).unwrap_or_default();
        let name = name.to_ascii_lowercase();
        let file = files.into_iter().find(|file| file.file_name() == Some(name.as_ref()));
        let bytes = file.and_then(|file| fs::read(file).ok()).unwrap_or_default();
        // Each version is a JSON object between two zeroes, after its number.
        let rows = bytes.split(|byte| *byte == 0);
        let read = |row: &[u8]| {
            let json: Value = serde_json::from_slice(row).ok()?;
            let version = json["vers"].as_str().filter(|version| !version.contains('-'))?;
            let usable = json["yanked"] != true;
            usable.then(|| Some((version.to_owned(), json["pubtime"].as_str()?.to_owned())))?
        };
        rows.filter_map(read).collect()
    }
}

impl Registry for Cargo {
    fn configuration(&self) -> &'static Configuration {
        &Configuration {
            variable: "CARGO_HOME",
            below_home: &[".cargo"],
            files: &["config.toml", "config", "credentials.toml", "credentials"],
            variables: &["CARGO_REGISTR", "CARGO_SOURCE_", "CARGO_HTTP_", "CARGO_NET_"],
        }
    }

    fn readable(&self) -> Vec<PathBuf> {
        outside_of_system([self.sysroot.clone()])
    }

    fn look_up(&self, asked: &Asked<'_>, sandbox: &mut ClientSandbox<'_>) -> Result<Option<Offer>> {
        let Some(found) = self.info(&asked.wanted("@"), sandbox)? else { return Ok(None) };
        let candidate = found.candidate();
        let mut candidate = candidate.ok_or_else(|| SourceError::output(CARGO, "no version"))?;
        let versions = self.versions(asked.source.name(), sandbox);
        let own = versions.iter().find(|(version, _)| *version == candidate.version);
        candidate.published = own.map(|(_, time)| time.clone());
        let older = versions.into_iter().rfind(|(_, time)| !asked.is_too_young(Some(time)));
        Ok(Some(Offer { candidate, older: older.map(|(version, _)| version) }))
    }

    fn fetch(
        &self,
        package: &Package<'_>,
        work: &mut Fetching<'_>,
        mut sandbox: ClientSandbox<'_>,
    ) -> Result<()> {
        let (name, version) = (package.name, package.version);
        let target = work.partial.part(&package.part)?;
        let found = self.info(&format!("{name}@{version}"), &mut sandbox)?;
        let found = found.ok_or_else(|| package.not_found())?;
        if found.programs().is_empty() {
            return Err(package.unusable(Unusable::Library));
        }
        let hash = file_sha256(&found.archive).at(&found.archive)?;
        let own = target.join(PACKAGE);
        copy_tree(&found.source, &own).at(&own)?;
        prepare_package(&own)?;
        let (lock, vendor) = (own.join(LOCK), target.join(VENDOR));
        if let Some(locked) = work.locks.get(&package.part) {
            let (first, rest) = locked.split_once('\n').unwrap_or_default();
            if first.strip_prefix(OWN_HASH) != Some(&hash) {
                return Err(package.other_bytes());
            }
            fs::write(&lock, rest).at(&lock)?;
        }
        sandbox.give(&target)?;
        let call = self.call("vendor --versioned-dirs");
        let call = call.list(lock.is_file().then_some("--locked"));
        let call = call.arguments(&[&"--manifest-path", &own.join("Cargo.toml"), &vendor]);
        sandbox.run_shown(call, "Downloaded ")?.success(CARGO)?;
        drop(sandbox);
        // Without dependencies nothing is made.
        fs::create_dir_all(&vendor).at(&vendor)?;
        let text = fs::read_to_string(&lock).at(&lock)?;
        let artifact = &mut work.partial.artifact;
        artifact.checksums.push((format!("{name}-{version}.crate"), format!("sha256:{hash}")));
        artifact.locks.insert(package.part.clone(), format!("{OWN_HASH}{hash}\n{text}"));
        Ok(())
    }

    fn build(
        &self,
        package: &Package<'_>,
        work: &mut Building<'_>,
        mut sandbox: ClientSandbox<'_>,
    ) -> Result<()> {
        let (directory, fetched) = (sandbox.work(), work.fetched(&package.part));
        // A string of JSON is one of TOML too.
        let vendored = Value::from(fetched.join(VENDOR).to_string_lossy().into_owned());
        let vendored = format!("source.vendored.directory={vendored}");
        let replaced = "--config source.crates-io.replace-with=\"vendored\" --config";
        let mut call = self.call("install --offline --locked --no-track");
        call = call.list(replaced.split(' ')).arguments(&[&vendored]);
        call = call.arguments(&[&"--path", &fetched.join(PACKAGE), &"--root", &work.install]);
        if !package.options.is_empty() {
            call = call.arguments(&[&"--features", &package.options.join(",")]);
        }
        call = call.variable("CARGO_HOME", directory.join("cargo-home"));
        call = call.variable("CARGO_TARGET_DIR", directory.join("target"));
        sandbox.run_shown(call, "Compiling ")?.success(CARGO)?;
        drop(sandbox);
        work.add_programs("bin")
    }
}

/// Whether cargo has found nothing, rather than failed.
fn is_not_found(stderr: &str) -> bool {
    stderr.lines().any(|line| line.starts_with("error: could not find `"))
}

/// The crate as `cargo install NAME` sees it: without configuration of its own, in no workspace.
fn prepare_package(package: &Path) -> Result<()> {
    for name in [".cargo", "rust-toolchain", "rust-toolchain.toml"] {
        let path = package.join(name);
        let removed =
            if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        if let Some(error) = removed.err().filter(|error| error.kind() != ErrorKind::NotFound) {
            return Err(error).at(&path);
        }
    }
    let manifest = package.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).at(&manifest)?;
    if text.lines().any(|line| line.trim() == "[workspace]") {
        return Ok(());
    }
    fs::write(&manifest, format!("{text}\n[workspace]\n")).at(&manifest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_found_is_not_a_failure() {
        assert!(is_not_found(
            "    Updating index\nerror: could not find `x@9.9` in registry `y`\n"
        ));
        assert!(!is_not_found(
            "error: failed to download from `z`\n\nCaused by:\n  [7] Could not connect"
        ));
    }
}

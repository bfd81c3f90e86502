//! Crates: looked up and downloaded by `cargo info`, fetched with everything they need by `cargo vendor`,
//! locked by their own `Cargo.lock`, built by `cargo install` without network. A crate's own code, its build
//! scripts too, first runs in the build.

use super::artifact_cache::PartialArtifact;
use super::candidate::{Candidate, Unusable};
use super::client_sandbox::{Call, ClientSandbox, Clients, Configuration, LOOK_UP_TIME, Output};
use super::copy_tree::copy_tree;
use super::crate_info::{CrateInfo, is_not_found, read_crate_info};
use super::crate_programs::crate_programs;
use super::installed_programs::{add_directory, outside_of_system};
use super::source_context::{SourceContext, Unit};
use super::source_error::SourceError;
use super::source_ref::{SourceKind, SourceRef, check_version};
use super::tree_hash::file_sha256;
use super::{BuildStep, Built, FetchStep};
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

const CONFIGURATION: Configuration = Configuration {
    variable: "CARGO_HOME",
    below_home: &[".cargo"],
    files: &["config.toml", "config", "credentials.toml", "credentials"],
    variables: &["CARGO_REGISTR", "CARGO_SOURCE_", "CARGO_HTTP_", "CARGO_NET_"],
};

/// The user's Rust: rustup's own program cannot run without its configuration.
struct Rust {
    sysroot: PathBuf,
}

impl Rust {
    fn find(clients: &Clients<'_>) -> Result<Rust, SourceError> {
        let sysroot = PathBuf::from(clients.ask("rustc", &["--print", "sysroot"])?.trim());
        let has_cargo = sysroot.join("bin/cargo").is_file();
        if has_cargo { Ok(Rust { sysroot }) } else { Err(SourceError::MissingClient(CARGO)) }
    }

    fn call(&self, arguments: &[&str]) -> Call {
        let mut call = Call::new(CARGO, self.sysroot.join("bin/cargo"), arguments);
        call.path.push(self.sysroot.join("bin"));
        // A version that this Rust can compile, where the crate does not decide.
        call.variable("CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS", "fallback")
    }

    fn readable(&self) -> Vec<PathBuf> {
        outside_of_system([&self.sysroot])
    }

    /// Asks for a crate, which is downloaded and unpacked for that.
    fn info(
        &self,
        wanted: &str,
        sandbox: &mut ClientSandbox,
    ) -> Result<Option<Crate>, SourceError> {
        let mut call = self.call(&["info", "--color", "never", wanted]);
        call.time_limit = LOOK_UP_TIME;
        let output: Output = sandbox.run(call, &mut |_| {})?;
        if !output.succeeded() {
            let nothing = is_not_found(&output.stderr);
            return if nothing { Ok(None) } else { Err(output.failure(CARGO)) };
        }
        let info = read_crate_info(&output.stdout)
            .ok_or_else(|| SourceError::output(CARGO, "no version"))?;
        check_version(&info.version).map_err(|error| SourceError::output(CARGO, error))?;
        let name = format!("{}-{}", info.name, info.version);
        let home = sandbox.work().join("configuration/registry");
        let inside = |part: &str, name: &str| {
            let registries = fs::read_dir(home.join(part)).into_iter().flatten().flatten();
            registries.map(|entry| entry.path().join(name)).find(|path| path.exists())
        };
        let source = inside("src", &name).ok_or_else(|| SourceError::NoFile(name.clone()))?;
        let archive = format!("{name}.crate");
        let archive = inside("cache", &archive).ok_or(SourceError::NoFile(archive))?;
        Ok(Some(Crate { info, source, archive }))
    }
}

/// A crate that was downloaded.
struct Crate {
    info: CrateInfo,
    source: PathBuf,
    archive: PathBuf,
}

pub(super) fn look_up(
    name: &str,
    version: Option<&str>,
    clients: &Clients<'_>,
    directory: &Path,
) -> Result<Option<Candidate>, SourceError> {
    let rust = Rust::find(clients)?;
    let mut sandbox =
        ClientSandbox::open(clients, Some(&CONFIGURATION), rust.readable(), directory)?;
    let wanted = version.map_or_else(|| name.to_owned(), |version| format!("{name}@{version}"));
    let Some(Crate { info, source, .. }) = rust.info(&wanted, &mut sandbox)? else {
        return Ok(None);
    };
    // Cargo takes `Serde` for `serde`, and `-` for `_`: they cannot be two crates.
    let same = |name: &str| name.to_ascii_lowercase().replace('_', "-");
    if same(&info.name) != same(name) {
        return Err(SourceError::output(CARGO, format!("`{}` for `{name}`", info.name)));
    }
    let from = SourceRef::new(SourceKind::Cargo, &info.name)
        .map_err(|error| SourceError::output(CARGO, error))?;
    let page = info.homepage.as_deref().or(info.repository.as_deref());
    let mut candidate = Candidate::new(from, &info.version).described(
        Some(&info.description),
        page,
        info.license.as_deref(),
    );
    if let Some(programs) = crate_programs(&source) {
        candidate.unusable = programs.is_empty().then_some(Unusable::Library);
        candidate.binaries = programs;
    }
    Ok(Some(candidate))
}

pub(super) fn fetch(
    step: &FetchStep<'_>,
    partial: &mut PartialArtifact,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    let target = partial.part(step.part)?;
    let (clients, progress) = context.split();
    let rust = Rust::find(&clients)?;
    let mut sandbox =
        ClientSandbox::open(&clients, Some(&CONFIGURATION), rust.readable(), partial.directory())?;
    let (package, version) = (step.package, step.version);
    let found = rust.info(&format!("{package}@{version}"), &mut sandbox)?;
    let missing = || SourceError::not_found(SourceKind::Cargo, package, version);
    let Crate { source, archive, .. } = found.ok_or_else(missing)?;
    if crate_programs(&source).is_none_or(|programs| programs.is_empty()) {
        return Err(SourceError::unusable(SourceKind::Cargo, package, version, Unusable::Library));
    }
    let hash = file_sha256(&archive).map_err(SourceError::io(&archive))?;
    let own = target.join(PACKAGE);
    copy_tree(&source, &own).map_err(SourceError::io(&own))?;
    prepare_package(&own)?;
    let lock = own.join(LOCK);
    if let Some(locked) = step.locks.get(step.part) {
        let (first, rest) = locked.split_once('\n').unwrap_or_default();
        if first.strip_prefix(OWN_HASH) != Some(&hash) {
            return Err(SourceError::OtherBytes(format!("cargo:{package} {version}")));
        }
        fs::write(&lock, rest).map_err(SourceError::io(&lock))?;
    }
    sandbox.give(&target)?;
    let mut call = rust.call(&["vendor", "--versioned-dirs"]);
    call = call.arguments(lock.is_file().then_some("--locked"));
    call = call.arguments(["--manifest-path".into(), own.join("Cargo.toml").into_os_string()]);
    let mut downloaded = 0;
    let output = sandbox.run(call.arguments([target.join(VENDOR)]), &mut |line| {
        if let Some(what) = line.strip_prefix("Downloaded ") {
            downloaded += 1;
            progress.amount(downloaded, None, Unit::Items);
            progress.line(what);
        }
    })?;
    output.success(CARGO)?;
    drop(sandbox);
    // Without dependencies nothing is made.
    let vendor = target.join(VENDOR);
    fs::create_dir_all(&vendor).map_err(SourceError::io(&vendor))?;
    let text = fs::read_to_string(&lock).map_err(SourceError::io(&lock))?;
    partial.checksums.push((format!("{package}-{version}.crate"), format!("sha256:{hash}")));
    partial.locks.insert(step.part.to_owned(), format!("{OWN_HASH}{hash}\n{text}"));
    Ok(())
}

/// The crate as `cargo install NAME` sees it: without configuration of its own, in no workspace.
fn prepare_package(package: &Path) -> Result<(), SourceError> {
    for name in [".cargo", "rust-toolchain", "rust-toolchain.toml"] {
        let path = package.join(name);
        let removed =
            if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        if let Some(error) = removed.err().filter(|error| error.kind() != ErrorKind::NotFound) {
            return Err(SourceError::io(&path)(error));
        }
    }
    let manifest = package.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).map_err(SourceError::io(&manifest))?;
    if text.lines().any(|line| line.trim() == "[workspace]") {
        return Ok(());
    }
    fs::write(&manifest, format!("{text}\n[workspace]\n")).map_err(SourceError::io(&manifest))
}

pub(super) fn build(
    features: &[String],
    step: &BuildStep<'_>,
    built: &mut Built,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    let (install, directory) = (step.install, &step.fetched);
    let (clients, progress) = context.split();
    let rust = Rust::find(&clients)?;
    let readable = rust.readable().into_iter().chain([directory.clone()]).collect();
    let mut sandbox = ClientSandbox::open(&clients, None, readable, install)?;
    let work = sandbox.work();
    let vendor = directory.join(VENDOR);
    // A string of JSON is one of TOML too.
    let vendored = serde_json::Value::from(vendor.to_string_lossy().into_owned());
    let replaced = "source.crates-io.replace-with=\"vendored\"";
    let mut call = rust.call(&["install", "--offline", "--locked", "--no-track", "--config"]);
    call = call.arguments([replaced, "--config"]);
    call = call.arguments([format!("source.vendored.directory={vendored}")]);
    call = call.arguments(["--path".into(), directory.join(PACKAGE).into_os_string()]);
    call = call.arguments(["--root".into(), install.as_os_str().to_owned()]);
    if !features.is_empty() {
        call = call.arguments(["--features".into(), features.join(",")]);
    }
    call = call.variable("CARGO_HOME", work.join("cargo-home"));
    call = call.variable("CARGO_TARGET_DIR", work.join("target"));
    let mut compiled = 0;
    let output = sandbox.run(call, &mut |line| {
        if let Some(what) = line.strip_prefix("Compiling ") {
            compiled += 1;
            progress.amount(compiled, None, Unit::Items);
            progress.line(what);
        }
    })?;
    drop(sandbox);
    output.success(CARGO)?;
    add_directory(built, install, "bin")
}

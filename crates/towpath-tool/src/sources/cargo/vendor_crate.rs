//! Fetches a crate and everything that its offline build needs, with the versions of its own lock file.
//! A crate can only be had as the dependency of something, so a project of ours depends on it; then its
//! own dependencies are fetched by its own lock file, if it has one.

use super::super::artifact_cache::PartialArtifact;
use super::super::candidate::Unusable;
use super::super::registry_clients::{ClientCall, Clients, FETCH_TIME};
use super::super::source_context::{Progress, SourceContext, Unit};
use super::super::source_error::SourceError;
use super::super::source_ref::SourceKind;
use super::CARGO;
use super::crate_programs::crate_programs;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The crate itself, in the directory of its step.
pub(super) const PACKAGE: &str = "package";
/// Its dependencies.
pub(super) const VENDOR: &str = "vendor";

const CHECKSUM: &str = ".cargo-checksum.json";
/// What Cargo would read beside the crate, and what `cargo install NAME` would not have.
const NOT_PUBLISHED: &[&str] = &[".cargo", "rust-toolchain", "rust-toolchain.toml", CHECKSUM];

pub(in super::super) fn fetch(
    package: &str,
    version: &str,
    part: &str,
    partial: &mut PartialArtifact,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    let scratch = partial.scratch(part)?;
    let target = partial.part(part)?;
    let (clients, progress) = context.split();
    let stub = scratch.join("stub");
    write_stub(&stub, package, version)?;
    let first = scratch.join(VENDOR);
    if let Err(error) = vendor(&clients, &scratch, &stub, &first, false, progress) {
        let unknown = is_not_found(&error, package);
        return Err(if unknown {
            SourceError::not_found(SourceKind::Cargo, package, version)
        } else {
            error
        });
    }
    let directory = first.join(format!("{package}-{version}"));
    let programs = crate_programs(&directory);
    let programs = programs.ok_or_else(|| SourceError::output(CARGO, "no manifest"))?;
    if programs.is_empty() {
        return Err(SourceError::unusable(SourceKind::Cargo, package, version, Unusable::Library));
    }
    partial.checksums.extend(checksum(&directory, package, version));
    let own = target.join(PACKAGE);
    fs::rename(&directory, &own).map_err(SourceError::io(&own))?;
    prepare_package(&own)?;
    let locked = own.join("Cargo.lock").is_file();
    vendor(&clients, &scratch, &own, &target.join(VENDOR), locked, progress)?;
    empty_unused(&clients, &scratch, &own, &target.join(VENDOR))?;
    fs::remove_dir_all(&scratch).map_err(SourceError::io(&scratch))
}

/// Whether the registry has no such crate, or not this version.
fn is_not_found(error: &SourceError, package: &str) -> bool {
    let SourceError::Client { message, .. } = error else { return false };
    message.contains(&format!("no matching package named `{package}` found"))
        || message
            .contains(&format!("failed to select a version for the requirement `{package} = "))
}

/// A project of ours that depends on the crate.
fn write_stub(stub: &Path, package: &str, version: &str) -> Result<(), SourceError> {
    let manifest = format!(
        "[package]\nname = \"fetched\"\nversion = \"0.0.0\"\nedition = \"2021\"\npublish = false\n\n\
         [lib]\npath = \"lib.rs\"\n\n[workspace]\n\n\
         [dependencies]\npackage = {{ package = \"{package}\", version = \"={version}\" }}\n"
    );
    fs::create_dir_all(stub)
        .and_then(|()| fs::write(stub.join("Cargo.toml"), manifest))
        .and_then(|()| fs::write(stub.join("lib.rs"), ""))
        .map_err(SourceError::io(stub))
}

/// The crate as `cargo install NAME` sees it: without configuration of its own, in no workspace.
fn prepare_package(package: &Path) -> Result<(), SourceError> {
    for name in NOT_PUBLISHED {
        let path = package.join(name);
        let removed =
            if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        match removed {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(SourceError::io(&path)(error));
            }
            _ => {}
        }
    }
    let manifest = package.join("Cargo.toml");
    let text = fs::read_to_string(&manifest).map_err(SourceError::io(&manifest))?;
    if text.lines().any(|line| line.trim() == "[workspace]") {
        return Ok(());
    }
    fs::write(&manifest, format!("{text}\n[workspace]\n")).map_err(SourceError::io(&manifest))
}

fn vendor(
    clients: &Clients<'_>,
    directory: &Path,
    project: &Path,
    into: &Path,
    locked: bool,
    progress: &mut dyn Progress,
) -> Result<(), SourceError> {
    let mut call = clients.call(CARGO, directory, &["vendor", "--versioned-dirs"])?;
    if locked {
        call = call.argument("--locked");
    }
    let call = call.argument("--manifest-path").argument(project.join("Cargo.toml")).argument(into);
    // A version that this Rust can compile, where the crate does not decide.
    let call = call.variable("CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS", "fallback");
    let mut downloaded = 0;
    let output = clients.run(call.time_limit(FETCH_TIME), &mut |line| {
        if let Some(what) = line.strip_prefix("Downloaded ") {
            downloaded += 1;
            progress.amount(downloaded, None, Unit::Items);
            progress.line(what);
        }
    })?;
    output.success(CARGO)?;
    // Without dependencies nothing is made.
    fs::create_dir_all(into).map_err(SourceError::io(into))
}

/// The registry's checksum of a vendored crate.
fn checksum(directory: &Path, package: &str, version: &str) -> Option<(String, String)> {
    let text = fs::read(directory.join(CHECKSUM)).ok()?;
    let json: serde_json::Value = serde_json::from_slice(&text).ok()?;
    let sha256 = json.get("package")?.as_str()?;
    Some((format!("{package}-{version}.crate"), format!("sha256:{sha256}")))
}

/// Cargo fetches for all systems, and most of the bytes are for Windows. What this machine does not
/// compile keeps its manifest and the names of its files, which is all that resolving needs.
fn empty_unused(
    clients: &Clients<'_>,
    directory: &Path,
    package: &Path,
    vendor: &Path,
) -> Result<(), SourceError> {
    let arguments = ["tree", "--locked", "--offline", "--all-features", "--prefix", "none"];
    let call: ClientCall<'_> = clients.call(CARGO, directory, &arguments)?;
    let call =
        call.argument("--edges").argument("normal,build").argument("--format").argument("{p}");
    let call = call.argument("--manifest-path").argument(package.join("Cargo.toml"));
    let output = clients.run(call, &mut |_| {})?;
    if !output.succeeded() {
        // It only saves space.
        return Ok(());
    }
    let used = packages_of_tree(&output.stdout);
    for entry in fs::read_dir(vendor).map_err(SourceError::io(vendor))?.flatten() {
        if !used.contains(&*entry.file_name().to_string_lossy()) {
            empty_package(&entry.path()).map_err(SourceError::io(&entry.path()))?;
        }
    }
    Ok(())
}

/// The directories of the packages in the output of `cargo tree`: `libc v0.2.191 (proc-macro)`.
fn packages_of_tree(text: &str) -> BTreeSet<String> {
    let directory = |line: &str| {
        let mut words = line.split_whitespace();
        Some(format!("{}-{}", words.next()?, words.next()?.strip_prefix('v')?))
    };
    text.lines().filter_map(directory).collect()
}

/// How many packages will be compiled: those that were not emptied.
pub(super) fn compiled_packages(vendor: &Path) -> u64 {
    let has_files = |entry: &fs::DirEntry| {
        let text = fs::read(entry.path().join(CHECKSUM)).unwrap_or_default();
        let json: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
        json.get("files").and_then(|files| files.as_object()).is_some_and(|files| !files.is_empty())
    };
    fs::read_dir(vendor).into_iter().flatten().flatten().filter(has_files).count() as u64
}

fn empty_package(directory: &Path) -> std::io::Result<()> {
    let checksum = directory.join(CHECKSUM);
    let mut json: serde_json::Value = serde_json::from_slice(&fs::read(&checksum)?)?;
    for path in super::super::tree_hash::sorted_tree(directory)? {
        let keeps = path == checksum || path.ends_with("Cargo.toml");
        if path.symlink_metadata()?.is_file() && !keeps {
            fs::write(&path, "")?;
        }
    }
    if let Some(files) = json.get_mut("files") {
        *files = serde_json::json!({});
    }
    fs::write(&checksum, json.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_a_tree_are_read() {
        let text = "kibi v0.3.3 (/x)\nlibc v0.2.191\nserde_derive v1.0.0 (proc-macro)\nlibc v0.2.191 (*)\n\n[x]\n";
        let packages: Vec<String> = packages_of_tree(text).into_iter().collect();
        assert_eq!(packages, ["kibi-0.3.3", "libc-0.2.191", "serde_derive-1.0.0"]);
    }
}

//! Crates: looked up by `cargo info`, fetched with everything they need by `cargo vendor`, built by
//! `cargo install` without network and without the user's configuration. Cargo itself fetches; a crate's
//! own code, its build scripts too, first runs in the sandbox.

mod build_crate;
mod crate_info;
mod crate_programs;
mod vendor_crate;

pub(super) use build_crate::build;
pub(super) use vendor_crate::fetch;

use super::candidate::{Candidate, Unusable};
use super::registry_clients::Clients;
use super::source_error::SourceError;
use super::source_ref::{SourceKind, SourceRef, check_version};
use std::fs;
use std::path::{Path, PathBuf};

const CARGO: &str = "cargo";

pub(super) fn look_up(
    name: &str,
    version: Option<&str>,
    clients: &Clients<'_>,
    directory: &Path,
) -> Result<Option<Candidate>, SourceError> {
    let wanted = version.map_or_else(|| name.to_owned(), |version| format!("{name}@{version}"));
    let call = clients.call(CARGO, directory, &["info", "--color", "never", &wanted])?;
    let output = clients.run(call, &mut |_| {})?;
    if !output.succeeded() {
        let not_found = crate_info::is_not_found(&output.stderr);
        return if not_found { Ok(None) } else { Err(output.failure(CARGO)) };
    }
    let info = crate_info::read_crate_info(&output.stdout)
        .ok_or_else(|| SourceError::output(CARGO, "no version"))?;
    check_version(&info.version).map_err(|error| SourceError::output(CARGO, error))?;
    let source = SourceRef::new(SourceKind::Cargo, &info.name)
        .map_err(|error| SourceError::output(CARGO, error))?;
    let page = info.homepage.as_deref().or(info.repository.as_deref());
    let mut candidate = Candidate::new(source, &info.version)
        .described(Some(&info.description), page, info.license.as_deref())
        .with_repository(info.repository.as_deref());
    // Cargo takes `Serde` for `serde`, and `-` for `_`: they cannot be two crates.
    let same = |name: &str| name.to_ascii_lowercase().replace('_', "-");
    candidate.exact = same(&info.name) == same(name);
    if let Some(programs) = programs_of_downloaded(clients, &info.name, &info.version) {
        candidate.unusable = programs.is_empty().then_some(Unusable::Library);
        candidate.binaries = programs;
    }
    Ok(Some(candidate))
}

/// `cargo info` downloads the crate to print its readme; what it has unpacked can be read.
fn programs_of_downloaded(clients: &Clients<'_>, name: &str, version: &str) -> Option<Vec<String>> {
    let home = clients.variable("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(clients.variable("HOME")?).join(".cargo")))?;
    let registries = fs::read_dir(home.join("registry/src")).ok()?;
    let unpacked = registries.flatten().map(|entry| entry.path().join(format!("{name}-{version}")));
    unpacked.into_iter().find_map(|directory| crate_programs::crate_programs(&directory))
}

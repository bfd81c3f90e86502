//! Packages of npm: looked up by `npm view`, fetched by `npm install --ignore-scripts`, so that no script
//! of a package runs outside of the sandbox; the scripts of those that have some run in it.

mod build_package;
mod package_view;

pub(super) use build_package::build;

use super::artifact_cache::PartialArtifact;
use super::candidate::{Candidate, Unusable};
use super::registry_clients::{Clients, FETCH_TIME};
use super::source_context::{SourceContext, Unit};
use super::source_error::SourceError;
use super::source_ref::{SourceKind, SourceRef, check_version};
use package_view::{PackageView, View};
use std::fs;
use std::path::Path;

const NPM: &str = "npm";
const LOCK: &str = "package-lock.json";

/// What every call has: npm neither asks, nor reports, nor looks for a project around us.
const QUIET: &[&str] = &[
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--no-progress",
    "--no-color",
    "--logs-max=0",
    "--no-global",
];

/// Whatever the user's configuration has: all that a package needs on this machine, and none of its
/// scripts.
const INSTALL: &[&str] = &[
    "install",
    "--ignore-scripts",
    "--omit=dev",
    "--include=optional",
    "--package-lock=true",
    "--bin-links=true",
    "--install-strategy=hoisted",
    "--loglevel=http",
];

pub(super) fn look_up(
    name: &str,
    version: Option<&str>,
    clients: &Clients<'_>,
    directory: &Path,
) -> Result<Option<Candidate>, SourceError> {
    let wanted = version.map_or_else(|| name.to_owned(), |version| format!("{name}@{version}"));
    let call = clients.call(NPM, directory, &["view", "--json", &wanted])?;
    let call = call.arguments(PackageView::FIELDS).arguments(QUIET);
    let output = clients.run(call, &mut |_| {})?;
    let view = match package_view::read_view(&output.stdout) {
        Some(View::Found(view)) => view,
        Some(View::NotFound) => return Ok(None),
        None if output.succeeded() => return Err(SourceError::output(NPM, "no JSON")),
        None => return Err(output.failure(NPM)),
    };
    check_version(&view.version).map_err(|error| SourceError::output(NPM, error))?;
    let source = SourceRef::new(SourceKind::Npm, &view.name)
        .map_err(|error| SourceError::output(NPM, error))?;
    let mut candidate = Candidate::new(source, &view.version).described(
        view.description.as_deref(),
        view.homepage.as_deref(),
        view.license.as_deref(),
    );
    candidate = candidate.with_repository(view.repository.as_deref());
    candidate.exact = view.name == name;
    candidate.unusable = view.programs.is_empty().then_some(Unusable::Library);
    candidate.binaries = view.programs;
    Ok(Some(candidate))
}

pub(super) fn fetch(
    package: &str,
    version: &str,
    part: &str,
    partial: &mut PartialArtifact,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    let directory = partial.part(part)?;
    let manifest = serde_json::json!({ "private": true, "dependencies": { package: version } });
    let file = directory.join("package.json");
    fs::write(&file, manifest.to_string()).map_err(SourceError::io(&file))?;
    let (clients, progress) = context.split();
    let call = clients.call(NPM, &directory, INSTALL)?.arguments(QUIET);
    let call = call.argument("--prefix").argument(&directory);
    let mut fetched = 0;
    let output = clients.run(call.time_limit(FETCH_TIME), &mut |line| {
        if let Some((_, what)) = line.split_once("http fetch GET ") {
            fetched += 1;
            progress.amount(fetched, None, Unit::Items);
            progress.line(what);
        }
    })?;
    if !output.succeeded() && package_view::is_not_found(&output.stderr, package) {
        return Err(SourceError::not_found(SourceKind::Npm, package, version));
    }
    output.success(NPM)?;
    let lock = directory.join(LOCK);
    let text = fs::read_to_string(&lock).map_err(SourceError::io(&lock))?;
    partial.checksums.extend(package_view::checksums_of_lock(&text));
    Ok(())
}

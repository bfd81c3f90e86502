//! Packages of npm: looked up by `npm view`, fetched by `npm install --ignore-scripts`, locked by npm's own
//! lock file. The scripts of packages that have some run in the build, without network.

use super::artifact_cache::PartialArtifact;
use super::candidate::{Candidate, Unusable};
use super::client_sandbox::{Call, ClientSandbox, Clients, Configuration, LOOK_UP_TIME};
use super::copy_tree::copy_tree;
use super::installed_programs::{link_program, outside_of_system, real_directory};
use super::npm_view::{self, PackageView, View};
use super::source_context::{SourceContext, Unit};
use super::source_error::SourceError;
use super::source_ref::{SourceKind, SourceRef, check_version};
use super::{BuildStep, Built, FetchStep};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const NPM: &str = "npm";
const LOCK: &str = "package-lock.json";
/// Where the tree is in an install.
const LIBRARY: &str = "lib/npm";

const CONFIGURATION: Configuration = Configuration {
    variable: "NPM_CONFIG_USERCONFIG",
    below_home: &[".npmrc"],
    files: &[],
    variables: &["NPM_CONFIG_"],
};

/// Options of every call: npm neither asks, nor reports, nor looks for a project around us.
const QUIET: &[&str] = &[
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--no-progress",
    "--no-color",
    "--logs-max=0",
    "--no-global",
];

/// Whatever the user's configuration has: all that a package needs on this machine, none of its scripts, and
/// nothing from git repositories, whose configuration runs programs.
const INSTALL: &[&str] = &[
    "--ignore-scripts",
    "--allow-git=none",
    "--git=/bin/false",
    "--omit=dev",
    "--include=optional",
    "--package-lock=true",
    "--omit-lockfile-registry-resolved=false",
    "--bin-links=true",
    "--install-strategy=hoisted",
    "--loglevel=http",
];

/// The user's Node with its npm.
struct Node {
    /// The directory above `bin/`, which a version manager may have anywhere.
    prefix: PathBuf,
    /// `…/npm/bin/npm-cli.js`
    npm: PathBuf,
}

impl Node {
    fn find(clients: &Clients<'_>) -> Result<Node, SourceError> {
        let program = PathBuf::from(clients.ask("node", &["-p", "process.execPath"])?.trim());
        let prefix = program.parent().and_then(Path::parent).filter(|_| program.is_absolute());
        let prefix = prefix.ok_or(SourceError::MissingClient("node"))?.to_owned();
        let own = clients.find(NPM)?.canonicalize().ok();
        // The npm of a version manager on PATH may only start the real one.
        let beside = prefix.join("lib/node_modules/npm/bin/npm-cli.js");
        let is_script = |file: &PathBuf| file.extension().is_some_and(|end| end == "js");
        let npm = own.filter(is_script).or(Some(beside).filter(|file| file.is_file()));
        Ok(Node { prefix, npm: npm.ok_or(SourceError::MissingClient(NPM))? })
    }

    fn readable(&self) -> Vec<PathBuf> {
        let library = self.npm.ancestors().nth(2).unwrap_or(&self.npm).to_owned();
        outside_of_system([&self.prefix, &library])
    }

    fn call(&self, arguments: &[&str], sandbox: &ClientSandbox) -> Call {
        let mut call = Call::new(NPM, self.prefix.join("bin/node"), &[]);
        call = call.arguments([&self.npm]).arguments(arguments).arguments(QUIET);
        call =
            call.arguments(["--cache".into(), sandbox.work().join("npm-cache").into_os_string()]);
        call.path.push(self.prefix.join("bin"));
        call
    }
}

pub(super) fn look_up(
    name: &str,
    version: Option<&str>,
    clients: &Clients<'_>,
    directory: &Path,
) -> Result<Option<Candidate>, SourceError> {
    let node = Node::find(clients)?;
    let mut sandbox =
        ClientSandbox::open(clients, Some(&CONFIGURATION), node.readable(), directory)?;
    let wanted = version.map_or_else(|| name.to_owned(), |version| format!("{name}@{version}"));
    let mut call = node.call(&["view", "--json", &wanted], &sandbox);
    call = call.arguments(PackageView::FIELDS);
    call.time_limit = LOOK_UP_TIME;
    let output = sandbox.run(call, &mut |_| {})?;
    let view = match npm_view::read_view(&output.stdout) {
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
        view.homepage.as_deref().or(view.repository.as_deref()),
        view.license.as_deref(),
    );
    candidate.owner = view.owner;
    candidate.published = view.published;
    candidate.unusable = view.programs.is_empty().then_some(Unusable::Library);
    candidate.binaries = view.programs;
    Ok(Some(candidate))
}

pub(super) fn fetch(
    step: &FetchStep<'_>,
    partial: &mut PartialArtifact,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    let directory = partial.part(step.part)?;
    let manifest =
        serde_json::json!({ "private": true, "dependencies": { step.package: step.version } });
    let write = |name: &str, text: &str| {
        let file = directory.join(name);
        fs::write(&file, text).map_err(SourceError::io(&file))
    };
    write("package.json", &manifest.to_string())?;
    let locked = step.locks.get(step.part);
    if let Some(text) = locked {
        write(LOCK, text)?;
    }
    let (clients, progress) = context.split();
    let node = Node::find(&clients)?;
    let mut sandbox =
        ClientSandbox::open(&clients, Some(&CONFIGURATION), node.readable(), partial.directory())?;
    let mut call = node.call(&[if locked.is_some() { "ci" } else { "install" }], &sandbox);
    call =
        call.arguments(INSTALL).arguments(["--prefix".into(), directory.clone().into_os_string()]);
    call.directory = Some(directory.clone());
    let mut fetched = 0;
    let output = sandbox.run(call, &mut |line| {
        if let Some((_, what)) = line.split_once("http fetch GET ") {
            fetched += 1;
            progress.amount(fetched, None, Unit::Items);
            progress.line(what);
        }
    })?;
    drop(sandbox);
    if !output.succeeded() && npm_view::is_not_found(&output.stderr, step.package) {
        return Err(SourceError::not_found(SourceKind::Npm, step.package, step.version));
    }
    output.success(NPM)?;
    let lock = directory.join(LOCK);
    let text = fs::read_to_string(&lock).map_err(SourceError::io(&lock))?;
    let Some(checksums) = npm_view::checksums_of_lock(&text) else {
        let why = Unusable::NoHash;
        return Err(SourceError::unusable(SourceKind::Npm, step.package, step.version, why));
    };
    partial.checksums.extend(checksums);
    partial.locks.insert(step.part.to_owned(), text);
    Ok(())
}

/// The tree is copied, scripts run if there are any, and its programs are linked. They are scripts for
/// Node, which the user's PATH or the install's runtime has.
pub(super) fn build(
    package: &str,
    step: &BuildStep<'_>,
    built: &mut Built,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    let install = step.install;
    let (clients, progress) = context.split();
    let node = Node::find(&clients)?;
    let tree = real_directory(install, "lib")?.join(NPM);
    copy_tree(&step.fetched, &tree).map_err(SourceError::io(&tree))?;
    let lock = tree.join(LOCK);
    let text = fs::read_to_string(&lock).map_err(SourceError::io(&lock))?;
    if npm_view::has_install_scripts(&text) {
        let mut sandbox = ClientSandbox::open(&clients, None, node.readable(), install)?;
        let mut call = node.call(&["rebuild", "--offline", "--foreground-scripts"], &sandbox);
        call.directory = Some(tree.clone());
        sandbox.run(call, &mut |line| progress.line(line))?.success(NPM)?;
    }
    let manifest = tree.join("node_modules").join(package).join("package.json");
    let text = fs::read(&manifest).map_err(SourceError::io(&manifest))?;
    let json: Value =
        serde_json::from_slice(&text).map_err(|error| SourceError::output(NPM, error))?;
    for program in npm_view::programs_of(package, json.get("bin")) {
        link_program(built, install, &program, &format!("{LIBRARY}/node_modules/.bin/{program}"))?;
    }
    built.runtime.extend(outside_of_system([&node.prefix]));
    Ok(())
}

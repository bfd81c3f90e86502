//! Installs a fetched package: its tree is copied, scripts run in the sandbox if there are any, and its
//! programs are linked. They are scripts for Node, which the user's PATH or the install's runtime has.

use super::super::BuildStep;
use super::super::Built;
use super::super::build_sandbox::{BuildCommand, BuildSandbox};
use super::super::copy_tree::copy_tree;
use super::super::installed_programs::{link_program, outside_of_system, real_directory};
use super::super::registry_clients::Clients;
use super::super::source_context::SourceContext;
use super::super::source_error::SourceError;
use super::package_view::{has_install_scripts, programs_of};
use super::{LOCK, NPM, QUIET};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the tree is in an install.
const LIBRARIES: &str = "lib";
const LIBRARY: &str = "lib/npm";

pub(in super::super) fn build(
    package: &str,
    step: &BuildStep<'_>,
    built: &mut Built,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    let install = step.install;
    let node = node_prefix(&context.split().0)?;
    let tree = real_directory(install, LIBRARIES)?.join("npm");
    copy_tree(&step.fetched, &tree).map_err(SourceError::io(&tree))?;
    let lock = tree.join(LOCK);
    let text = fs::read_to_string(&lock).map_err(SourceError::io(&lock))?;
    if has_install_scripts(&text) {
        run_scripts(&node, &tree, install, context)?;
    }
    let manifest = tree.join("node_modules").join(package).join("package.json");
    let text = fs::read(&manifest).map_err(SourceError::io(&manifest))?;
    let json: Value =
        serde_json::from_slice(&text).map_err(|error| SourceError::output(NPM, error))?;
    for program in programs_of(package, json.get("bin")) {
        link_program(built, install, &program, &format!("{LIBRARY}/node_modules/.bin/{program}"))?;
    }
    built.runtime.extend(outside_of_system([&node]));
    Ok(())
}

/// `npm rebuild` runs the scripts that were left out before.
fn run_scripts(
    node: &Path,
    tree: &Path,
    install: &Path,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    let npm = context.split().0.find(NPM)?;
    let npm = npm.canonicalize().map_err(SourceError::io(&npm))?;
    // `…/lib/node_modules/npm/bin/npm-cli.js`
    let library = npm.ancestors().nth(2).unwrap_or(&npm).to_owned();
    let readable = outside_of_system([&node.to_owned(), &library]);
    let mut sandbox = BuildSandbox::open(context, readable, install, false)?;
    let cache = sandbox.work().join("npm-cache");
    let mut arguments: Vec<OsString> = vec![npm.into(), "rebuild".into(), "--offline".into()];
    arguments.extend(QUIET.iter().map(OsString::from));
    arguments.extend(["--foreground-scripts".into(), "--cache".into(), cache.into()]);
    let command = BuildCommand {
        name: NPM,
        program: node.join("bin/node"),
        arguments,
        variables: Vec::new(),
        path: vec![node.join("bin")],
        directory: Some(tree.to_owned()),
    };
    sandbox.run(command, |line, context| context.progress.line(line))?;
    Ok(())
}

/// The directory above Node's `bin/`, which a version manager may have anywhere.
fn node_prefix(clients: &Clients<'_>) -> Result<PathBuf, SourceError> {
    let node = clients.find("node")?;
    let call = clients.call("node", Path::new("/"), &["-p", "process.execPath"])?;
    let output = clients.run(call, &mut |_| {})?.success("node")?;
    let program = PathBuf::from(output.stdout.trim());
    let prefix = program.parent().and_then(Path::parent).filter(|_| program.is_absolute());
    prefix.map(Path::to_owned).ok_or(SourceError::NoFile(node.display().to_string()))
}

//! Builds a fetched crate by `cargo install`, with what was vendored and nothing else.

use super::super::BuildStep;
use super::super::Built;
use super::super::build_sandbox::{BuildCommand, BuildSandbox};
use super::super::installed_programs::{add_directory, outside_of_system};
use super::super::registry_clients::Clients;
use super::super::source_context::{SourceContext, Unit};
use super::super::source_error::SourceError;
use super::CARGO;
use super::vendor_crate::{PACKAGE, VENDOR, compiled_packages};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub(in super::super) fn build(
    features: &[String],
    step: &BuildStep<'_>,
    built: &mut Built,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    let install = step.install;
    let sysroot = sysroot(&context.split().0, install)?;
    let cargo = sysroot.join("bin/cargo");
    if !cargo.is_file() {
        return Err(SourceError::MissingClient(CARGO));
    }
    let directory = step.fetched.clone();
    let readable = outside_of_system([&sysroot]).into_iter().chain([directory.clone()]).collect();
    let mut sandbox = BuildSandbox::open(context, readable, install, false)?;
    let work = sandbox.work();
    let command = BuildCommand {
        name: CARGO,
        program: cargo,
        arguments: arguments(&directory, install, features),
        variables: vec![
            ("CARGO_HOME", work.join("cargo-home").into()),
            ("CARGO_TARGET_DIR", work.join("target").into()),
            ("CARGO_TERM_COLOR", "never".into()),
        ],
        path: vec![sysroot.join("bin")],
        directory: None,
    };
    let (mut compiled, total) = (0, compiled_packages(&directory.join(VENDOR)) + 1);
    sandbox.run(command, |line, context| {
        if let Some(what) = line.strip_prefix("Compiling ") {
            compiled += 1;
            context.progress.amount(compiled.min(total), Some(total), Unit::Items);
            context.progress.line(what);
        }
    })?;
    drop(sandbox);
    add_directory(built, install, "bin")
}

fn arguments(directory: &Path, install: &Path, features: &[String]) -> Vec<OsString> {
    let vendor = serde_json::Value::from(directory.join(VENDOR).to_string_lossy().into_owned());
    let mut arguments: Vec<OsString> =
        ["install", "--offline", "--locked", "--no-track", "--config"].map(OsString::from).into();
    arguments.push("source.crates-io.replace-with=\"vendored\"".into());
    arguments.push("--config".into());
    // A string of JSON is one of TOML too.
    arguments.push(format!("source.vendored.directory={vendor}").into());
    arguments.extend(["--path".into(), directory.join(PACKAGE).into()]);
    arguments.extend(["--root".into(), install.into()]);
    if !features.is_empty() {
        arguments.extend(["--features".into(), features.join(",").into()]);
    }
    arguments
}

/// Where the user's Rust is: rustup's own program cannot run without its configuration.
fn sysroot(clients: &Clients<'_>, directory: &Path) -> Result<PathBuf, SourceError> {
    let call = clients.call("rustc", directory, &["--print", "sysroot"])?;
    let output = clients.run(call, &mut |_| {})?.success("rustc")?;
    Ok(PathBuf::from(output.stdout.trim()))
}

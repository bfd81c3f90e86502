//! Installs wheels into a virtual environment of the install, without pip of its own: the user's pip
//! fills it, from the fetched files alone, and its programs are linked.

use super::super::BuildStep;
use super::super::Built;
use super::super::build_sandbox::{BuildCommand, BuildSandbox};
use super::super::installed_programs::{link_program, outside_of_system};
use super::super::source_context::SourceContext;
use super::super::source_error::SourceError;
use super::python::Python;
use super::{PIP, programs, requirement};
use std::ffi::OsString;
use std::path::PathBuf;

const ENVIRONMENT: &str = "venv";

pub(in super::super) fn build(
    package: &str,
    extras: &[String],
    step: &BuildStep<'_>,
    built: &mut Built,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    let install = step.install;
    let python = Python::find(&context.split().0, install)?;
    let wheels = step.fetched.clone();
    let outside = |path: &PathBuf| outside_of_system([path]);
    let runtime: Vec<PathBuf> = python.prefixes.iter().flat_map(outside).collect();
    let mut readable = runtime.clone();
    readable.push(wheels.clone());
    let pip_elsewhere = python.pip.as_ref().filter(|pip| {
        !outside_of_system([*pip]).is_empty()
            && !runtime.iter().any(|prefix| pip.starts_with(prefix))
    });
    readable.extend(pip_elsewhere.cloned());
    let environment = install.join(ENVIRONMENT);
    let mut sandbox = BuildSandbox::open(context, readable, install, false)?;
    let command = |name, arguments: Vec<OsString>| BuildCommand {
        name,
        program: python.program.clone(),
        arguments,
        variables: [("PIP_CONFIG_FILE", OsString::from("/dev/null"))]
            .into_iter()
            .chain(pip_elsewhere.map(|pip| ("PYTHONPATH", pip.into())))
            .collect(),
        path: Vec::new(),
        directory: None,
    };
    let make = ["-m", "venv", "--without-pip"].map(OsString::from);
    let make = make.into_iter().chain([environment.clone().into()]).collect();
    sandbox.run(command("python3", make), |line, context| context.progress.line(line))?;
    let fill = ["-m", "pip", "--python"].map(OsString::from);
    let options = ["install", "--no-index", "--no-cache-dir", "--no-input", "--no-color"];
    let more = ["--disable-pip-version-check", "--no-warn-script-location", "--find-links"];
    let fill = fill.into_iter().chain([environment.join("bin/python").into()]);
    let fill = fill.chain(options.map(OsString::from)).chain(more.map(OsString::from));
    let wanted = requirement(package, extras, step.version);
    let fill = fill.chain([wheels.clone().into(), wanted.into()]).collect();
    sandbox.run(command(PIP, fill), |line, context| context.progress.line(line))?;
    drop(sandbox);
    for program in programs(&wheels, package, extras)? {
        link_program(built, install, &program, &format!("{ENVIRONMENT}/bin/{program}"))?;
    }
    built.runtime.extend(runtime);
    Ok(())
}

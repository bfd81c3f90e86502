//! Installs wheels into a virtual environment of the install, without pip of its own: the user's pip
//! fills it, from the fetched files alone, and its programs are linked.

use super::super::BuildStep;
use super::super::Built;
use super::super::build_sandbox::{BuildCommand, BuildSandbox};
use super::super::installed_programs::{link_program, outside_of_system};
use super::super::source_context::SourceContext;
use super::super::source_error::SourceError;
use super::find_python::Python;
use super::{PIP, programs, requirement};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

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
    let outside = |path: &PathBuf| outside_of_system([path]);
    let runtime: Vec<PathBuf> = python.prefixes.iter().flat_map(outside).collect();
    // The user's own pip may be where nothing else of Python is.
    let pip = python.pip.as_ref().filter(|pip| {
        !outside(pip).is_empty() && !runtime.iter().any(|prefix| pip.starts_with(prefix))
    });
    let readable = runtime.iter().chain(pip).chain([&step.fetched]).cloned().collect();
    let environment = install.join(ENVIRONMENT);
    let mut sandbox = BuildSandbox::open(context, readable, install, false)?;
    let wanted = requirement(package, extras, step.version);
    let make = make_arguments(&environment);
    let fill = fill_arguments(&environment, &step.fetched, &wanted);
    for (name, arguments) in [("python3", make), (PIP, fill)] {
        let command = BuildCommand {
            name,
            program: python.program.clone(),
            arguments,
            variables: [("PIP_CONFIG_FILE", OsString::from("/dev/null"))]
                .into_iter()
                .chain(pip.map(|pip| ("PYTHONPATH", pip.into())))
                .collect(),
            path: Vec::new(),
            directory: None,
        };
        sandbox.run(command, |line, context| context.progress.line(line))?;
    }
    drop(sandbox);
    for program in programs(&step.fetched, package, extras)? {
        link_program(built, install, &program, &format!("{ENVIRONMENT}/bin/{program}"))?;
    }
    built.runtime.extend(runtime);
    Ok(())
}

fn make_arguments(environment: &Path) -> Vec<OsString> {
    let words = ["-m", "venv", "--without-pip"].map(OsString::from);
    words.into_iter().chain([environment.into()]).collect()
}

/// From the fetched wheels and nowhere else.
fn fill_arguments(environment: &Path, wheels: &Path, wanted: &str) -> Vec<OsString> {
    let mut words: Vec<OsString> = vec!["-m".into(), "pip".into(), "--python".into()];
    words.push(environment.join("bin/python").into());
    let options = ["install", "--no-index", "--no-cache-dir", "--no-input", "--no-color"];
    words.extend(options.map(OsString::from));
    words.extend(["--disable-pip-version-check", "--no-warn-script-location"].map(OsString::from));
    words.extend(["--find-links".into(), wheels.into(), wanted.into()]);
    words
}

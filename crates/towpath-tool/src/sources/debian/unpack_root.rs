//! Unpacks the fetched packages into one tree of the install and makes a program in `bin/` for each
//! program of the named packages.

use super::super::BuildStep;
use super::super::Built;
use super::super::build_sandbox::{BuildCommand, BuildSandbox};
use super::super::installed_programs::{is_program_name, new_program, real_directory};
use super::super::source_context::{SourceContext, Unit};
use super::super::source_error::SourceError;
use super::hardcoded_system_paths::fixed_paths;
use super::program_wrapper::{SearchPaths, rebase_links};
use super::{DPKG, packages_in, programs_in};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

const ROOT: &str = "root";

pub(in super::super) fn build(
    packages: &[String],
    step: &BuildStep<'_>,
    built: &mut Built,
    context: &mut SourceContext<'_>,
) -> Result<(), SourceError> {
    let dpkg = context.split().0.find(DPKG)?;
    let programs = programs_in(packages, &step.fetched, &context.split().0)?;
    let root = real_directory(step.install, ROOT)?;
    let files = packages_in(&step.fetched)?;
    let mut sandbox = BuildSandbox::open(context, vec![step.fetched.clone()], step.install, false)?;
    let total = files.len() as u64;
    for (done, file) in (1..).zip(files) {
        let command = BuildCommand {
            name: DPKG,
            program: dpkg.clone(),
            arguments: vec!["--extract".into(), file.into(), root.clone().into()],
            variables: Vec::new(),
            path: Vec::new(),
            directory: None,
        };
        sandbox.run(command, |line, context| context.progress.line(line))?;
        sandbox.progress().amount(done, Some(total), Unit::Items);
    }
    drop(sandbox);
    rebase_links(&root).map_err(SourceError::io(&root))?;
    let paths = SearchPaths::of(&root).map_err(SourceError::io(&root))?;
    for (name, program) in programs {
        // Links of packages may lead to what only their scripts would make.
        let exists = root.join(&program).metadata().is_ok_and(|file| file.is_file());
        if !exists
            || !is_program_name(&name)
            || built.binaries.iter().any(|(known, _)| *known == name)
        {
            continue;
        }
        for path in fixed_paths(&root, &program).map_err(SourceError::io(&root))? {
            built.missing_outside.push((name.clone(), path));
        }
        let text = paths.wrapper(&root, &program).map_err(SourceError::io(&root))?;
        new_program(built, step.install, &name, |path| {
            fs::write(path, text)?;
            fs::set_permissions(path, Permissions::from_mode(0o755))
        })?;
    }
    Ok(())
}

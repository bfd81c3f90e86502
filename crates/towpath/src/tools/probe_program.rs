//! A probe of any program of this machine, without a recipe: which of its files the sandbox shows.

use super::tool_session::{ToolSession, setup};
use crate::environment::Environment;
use crate::exit::CommandError;
use std::path::{Path, PathBuf};
use towpath_tool::verification::{ProbeReport, ProgramUnderTest, SandboxNote, SandboxSetup, probe};

/// The verdict on a program, and the sandbox that it ran in.
pub fn probe_program(
    session: &ToolSession<'_>,
    tested: &ProgramUnderTest,
) -> Result<(ProbeReport, SandboxNote), CommandError> {
    let setup_of_sandbox = sandbox_setup(session, &tested.program);
    let mut sandbox = setup_of_sandbox.open().map_err(setup)?;
    let report = probe(tested, &setup_of_sandbox, &mut sandbox).map_err(setup)?;
    Ok((report, setup_of_sandbox.note()))
}

/// The program's own directories are readable, and those of PATH for its interpreter.
fn sandbox_setup(session: &ToolSession<'_>, program: &Path) -> SandboxSetup {
    let env = session.env;
    let mut readable = Vec::new();
    let real = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    for file in [program, &real] {
        let shown = file.parent().map_or_else(Vec::new, |directory| beside(env, directory));
        match shown.is_empty() {
            true => readable.extend(file.exists().then(|| file.to_owned())),
            false => readable.extend(shown),
        }
    }
    let mut path: Vec<PathBuf> = env.paths("PATH");
    path.retain(|directory| directory.is_absolute() && directory.is_dir());
    readable.extend(path.iter().flat_map(|directory| beside(env, directory)));
    readable.retain(|directory| directory.exists());
    readable.sort();
    readable.dedup();
    let (confinement, own_program) = (session.confinement.clone(), session.own_program.clone());
    SandboxSetup { confinement, own_program, readable, path, install_path: Vec::new() }
}

/// Directories of everybody, or of all that the user has: a program in one gets its own file only.
fn is_shared(env: &Environment, directory: &Path) -> bool {
    const SHARED: &[&str] = &["/", "/tmp", "/var/tmp", "/run", "/home", "/root"];
    let home = env.home.as_deref().is_some_and(|home| home.starts_with(directory));
    home || SHARED.iter().any(|shared| directory == Path::new(shared))
        || ["/proc", "/dev", "/sys"].iter().any(|kernel| directory.starts_with(kernel))
}

/// A directory of programs with what belongs to them. Beside a `bin` directory that is all there is; in the
/// user's home, where keys and credentials may be beside it, only libraries.
fn beside(env: &Environment, directory: &Path) -> Vec<PathBuf> {
    let own = [directory.to_owned()].into_iter().filter(|own| !is_shared(env, own));
    let prefix = directory.parent().filter(|_| directory.file_name().is_some_and(|n| n == "bin"));
    let in_home = env.home.as_deref().is_some_and(|home| directory.starts_with(home));
    match prefix.filter(|prefix| !is_shared(env, prefix)) {
        Some(prefix) if !in_home => vec![prefix.to_owned()],
        Some(prefix) => {
            let libraries = ["lib", "lib64", "libexec"].map(|name| prefix.join(name));
            own.chain(libraries.into_iter().filter(|path| path.is_dir())).collect()
        }
        None => own.collect(),
    }
}

//! The sandbox of the steps that ask for one. A machine that cannot make one refuses the run before its
//! first step: nothing that should be confined runs without. What the sandbox of this machine leaves
//! open is reported.

use crate::environment::{Environment, own_program};
use crate::exit::CommandError;
use crate::terminal::out;
use towpath_engine::{Confinement, not_enforced};
use towpath_recipe::Program;

/// How the program's sandboxed steps are confined here; none where it has none.
pub fn find(
    env: &Environment,
    program: &Program,
    quiet: bool,
) -> Result<Option<Confinement>, CommandError> {
    let path = env.get("PATH").map(std::ffi::OsString::as_os_str);
    let found = towpath_engine::find_sandbox(program, &own_program()?, path)?;
    if let Some(confinement) = found.as_ref().filter(|_| !quiet) {
        let open = not_enforced(confinement);
        if !open.is_empty() {
            let (kind, open) = (confinement.as_str(), open.join("; "));
            out::note(format!(
                "warning: the sandbox of this machine, {kind}, does not limit: {open}"
            ));
        }
    }
    Ok(found)
}

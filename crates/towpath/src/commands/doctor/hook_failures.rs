//! What went wrong inside of the hooks that correct calls. A hook that fails lets the call run, so it is
//! seen only here.

use super::finding::Finding;
use crate::corrections::hook_errors;
use crate::environment::Environment;
use crate::terminal::format::{clean, count};
use towpath_corrections::hooks_directory::HooksDirectory;
use towpath_shell::bash::quote;

pub fn check(env: &Environment) -> Option<Finding> {
    let directory = HooksDirectory::of(&env.directories.state);
    let errors = hook_errors::recent(&directory);
    let last = errors.last()?;
    let text = format!("{}, the last one: {}", count(errors.len(), "failure"), clean(last));
    let remove = format!("rm {}", quote(&directory.file("errors.log").display().to_string()));
    Some(Finding::attention("hook", text, remove))
}

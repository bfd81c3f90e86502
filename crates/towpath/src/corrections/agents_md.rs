//! The rules as instructions in a file that agents read, such as AGENTS.md: between two markers, and
//! nothing else in the file changes.

use crate::environment::Environment;
use crate::exit::CommandError;
use std::fmt::Display;
use std::path::Path;
use towpath_core::files;
use towpath_corrections::{Rule, agents_md, with_agents_md};

/// Writes the rules into a file, which is made if it is not there. Whether it changed.
pub fn write(env: &Environment, file: &Path, rules: &[Rule]) -> Result<bool, CommandError> {
    let failed = |error: &dyn Display| CommandError::setup(format!("{}: {error}", file.display()));
    let path = env.current.join(env.expand_home(file));
    // A link, as of CLAUDE.md to AGENTS.md, stays one.
    let path = path.canonicalize().unwrap_or(path);
    let old = match path.exists() {
        true => files::read_text(&path, files::MOST_TEXT).map_err(|error| failed(&error))?,
        false => String::new(),
    };
    let new = with_agents_md(&old, &agents_md(rules)).map_err(|error| failed(&error))?;
    if new == old {
        return Ok(false);
    }
    files::write(&path, new.as_bytes()).map_err(|error| failed(&error))?;
    Ok(true)
}

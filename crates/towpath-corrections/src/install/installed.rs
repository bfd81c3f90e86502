//! Which of our hooks a host has, read from its settings. Nothing is changed.

use super::file_change::FileChange;
use super::host_files::{Form, HostFiles, Scope};
use super::program::program_in;
use super::settings_entries::own_entries;
use super::{opencode_plugin, user_path};
use crate::host::{HookEvent, Host};
use crate::{Error, User};
use std::path::{Path, PathBuf};
use towpath_core::files::is_program;

/// Our hooks in one settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    pub scope: Scope,
    pub file: PathBuf,
    pub events: Vec<HookEvent>,
    /// A program that the hooks name and that is not there.
    pub missing: Option<String>,
}

/// Where a host has our hooks, or why a file of it cannot be read.
pub fn installed(
    user: &dyn User,
    host: Host,
    root: &Path,
) -> Vec<Result<Installed, (Scope, Error)>> {
    let row = HostFiles::of(host);
    let user = user_path(row, user).ok().map(|path| (Scope::User, path));
    let files = user.into_iter().chain([(Scope::Project, row.project_path(root))]);
    let of = |(scope, path)| in_file(row, scope, path).map_err(|why| (scope, why)).transpose();
    files.filter_map(of).collect()
}

fn in_file(row: &HostFiles, scope: Scope, path: PathBuf) -> Result<Option<Installed>, Error> {
    let file = FileChange::read(&path)?;
    let Some(text) = file.text() else { return Ok(None) };
    let (events, programs): (Vec<HookEvent>, Vec<Option<String>>) = match row.form {
        Form::Plugin if !opencode_plugin::is_ours(text) => return Ok(None),
        Form::Plugin => {
            let program = opencode_plugin::program_in(text);
            row.events.iter().map(|event| (event.event, program.clone())).unzip()
        }
        _ => {
            let own = own_entries(text, row).map_err(|error| Error::file(&path)(error.message))?;
            own.into_iter().map(|own| (own.event, program_in(&own.command, row.host))).unzip()
        }
    };
    let gone = |name: &&String| Path::new(name).is_absolute() && !is_program(Path::new(name));
    let missing = programs.iter().flatten().find(gone).cloned();
    Ok((!events.is_empty()).then_some(Installed { scope, file: path, events, missing }))
}

//! Corrections of agents' calls, for the commands: what the crate needs of the environment, and its
//! values as users see them.

pub mod agents_md;
pub mod correction_view;
pub mod hook;
pub mod hook_errors;
pub mod install;
pub mod proposal_view;
pub mod record_failed_steps;
pub mod rule_view;

use crate::environment::{Environment, own_program};
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::settings::{Settings, SettingsError, USER_FILE};
use crate::terminal::diagnostics;
use crate::terminal::shown_path::shown_path;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use towpath_core::{Diagnostic, Source, Span};
use towpath_corrections::hook_rules::MOST_SOURCE;
use towpath_corrections::hooks_directory::HooksDirectory;
use towpath_corrections::{ActiveRules, Error, HookSettings, User, hook_log, stamped_file};
use towpath_store::Store;
use towpath_view::foreign_text::escaped;

impl User for Environment {
    fn state(&self) -> &Path {
        &self.directories.state
    }

    fn current(&self) -> &Path {
        &self.current
    }

    fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    fn variables(&self) -> &[(OsString, OsString)] {
        &self.variables
    }

    fn on_path(&self, program: &str) -> Option<PathBuf> {
        Environment::on_path(self, program)
    }

    fn own_program(&self) -> Result<PathBuf, Error> {
        own_program().map_err(|error| Error::Setup(error.message))
    }

    fn project_root(&self, directory: &Path) -> PathBuf {
        Environment::project_root(self, directory)
    }

    fn settings(&self) -> Result<HookSettings, Error> {
        let path = self.directories.config.join(USER_FILE);
        let failed = |why: String| Error::File { path: path.clone(), why };
        let (_, source) =
            stamped_file::read(&path, MOST_SOURCE).map_err(|error| failed(error.to_string()))?;
        let settings = Settings::gather(self, None).map_err(|error| match error {
            SettingsError::Other(error) => Error::Setup(error.message),
            SettingsError::Problems(problems) => {
                failed(problems.first().map_or(String::new(), |problem| problem.message.clone()))
            }
        })?;
        let (mode, permission) = (settings.mode.value, settings.permission.value);
        Ok(HookSettings { mode, permission, source })
    }
}

impl From<Error> for CommandError {
    fn from(error: Error) -> CommandError {
        match error {
            Error::Store(error) => error.into(),
            Error::State(message) => CommandError::new(Exit::Setup, ErrorKind::State, message),
            Error::BadInput(message) | Error::Problems { message, .. } => {
                CommandError::bad_input(message)
            }
            Error::NotUtf8(path) => CommandError::setup(format!(
                "{} is not UTF-8, so that no settings file can name it: install towpath elsewhere",
                escaped(&path)
            )),
            other => CommandError::setup(other.to_string()),
        }
    }
}

/// The error for a user at a terminal: files are named as the user knows them, and what is wrong with
/// a text is drawn.
pub fn shown(env: &Environment, error: Error) -> CommandError {
    match error {
        Error::HostFile { path, why } => {
            CommandError::setup(format!("{}{why}", shown_path(&path, env)))
        }
        Error::Malformed { path, text, at, message } => malformed(env, &path, &text, at, &message),
        Error::Problems { problems, message } => {
            diagnostics::draw(&problems, env.color);
            CommandError::bad_input(message)
        }
        other => other.into(),
    }
}

fn malformed(env: &Environment, path: &Path, text: &str, at: usize, message: &str) -> CommandError {
    let shown = shown_path(path, env);
    let source = Source::new(shown.clone(), text);
    let (line, column) = source.line_column(at);
    let end = text[at..].chars().next().map_or(at, |c| at + c.len_utf8());
    let problem = Diagnostic::error("malformed-settings", message)
        .at(&source, Span::new(at..end), "")
        .help("nothing was written; correct the file, then try again");
    diagnostics::draw(&[problem], env.color);
    let message = format!("{shown}:{line}:{column}: {message}; nothing was written");
    CommandError { shown: true, ..CommandError::setup(message) }
}

/// The rules in the project of a directory.
pub fn active_rules(
    env: &Environment,
    store: Option<&Store>,
    directory: &Path,
) -> Result<ActiveRules, CommandError> {
    Ok(ActiveRules::read(store, &env.project_root(directory))?)
}

/// The journal with everything that hooks have recorded; `None` while there is nothing.
pub fn folded_journal(env: &Environment) -> Result<Option<Store>, CommandError> {
    let state = &env.directories.state;
    let Some((store, folded)) = hook_log::fold(state)? else { return Ok(env.journal()?) };
    if let Some(problem) = folded.problem() {
        hook_errors::record(&HooksDirectory::of(state), "log", &problem);
    }
    Ok(Some(store))
}

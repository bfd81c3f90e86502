//! The settings in effect in a directory, with those of its project once the user trusts them.

use crate::environment::Environment;
use crate::exit::CommandError;
use crate::session::trust::{ConsentStatus, ConsentSubject};
use crate::settings::{PROJECT_FILE, Settings};
use crate::terminal::out::note_once;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use towpath_view::foreign_text::escaped;

/// The settings in effect in a directory: the user's own, and the project's once trusted.
pub fn settings_for(env: &Environment, directory: &Path) -> Result<Settings, CommandError> {
    let Some((path, text)) = project_settings(env, directory) else {
        return Settings::read(env, None);
    };
    let subject = ConsentSubject::of_settings(&path, &text);
    let store = env.journal()?;
    let status = subject.status(store.as_ref())?;
    if status == ConsentStatus::Trusted {
        return Settings::read(env, Some((&path, &text)));
    }
    let argument = subject.argument(env);
    note_once(format!(
        "warning: {} and is not used; to see it: towpath trust {argument}",
        match status {
            ConsentStatus::Changed { .. } => format!("{argument} has changed since it was trusted"),
            _ => format!("{argument} is not trusted"),
        }
    ));
    Settings::read(env, None)
}

/// No settings file is larger than this.
const MOST_SETTINGS: u64 = 1 << 20;

/// The project's settings file, trusted or not. An unreadable one is reported and ignored.
pub fn project_settings(env: &Environment, directory: &Path) -> Option<(PathBuf, String)> {
    let path = env.project_root(directory).join(PROJECT_FILE);
    match read_settings(&path) {
        Ok(text) => Some((path, text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => {
            note_once(format!("warning: {}: {error}; it is not used", escaped(&path)));
            None
        }
    }
}

pub fn read_settings(path: &Path) -> std::io::Result<String> {
    // A pipe or a device in the working tree must not block us.
    if !path.metadata()?.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    let mut text = String::new();
    let read = std::fs::File::open(path)?.take(MOST_SETTINGS + 1).read_to_string(&mut text)?;
    if read as u64 > MOST_SETTINGS {
        return Err(std::io::Error::other("larger than 1 MiB"));
    }
    Ok(text)
}

//! Where a backend's program is: as the caller names it, its variable, the settings, `PATH`, the
//! directories that installers use, in this order. The search is pure: everything it looks at is given,
//! also the test whether a file is a program. A path that the user named is never passed over in silence
//! for another one.

use crate::backend_row::BackendRow;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// Everything the search may look at.
pub struct ProgramSearch<'a> {
    /// A path of the caller, and what it was named by.
    pub named: Option<(PathBuf, &'a str)>,
    /// The value of the row's own variable.
    pub variable: Option<OsString>,
    pub setting: Option<PathBuf>,
    /// The entries of `PATH`, in order.
    pub path: Vec<PathBuf>,
    pub home: Option<PathBuf>,
    /// What relative paths are relative to.
    pub directory: PathBuf,
    /// Is this a file that can be executed?
    pub is_program: &'a dyn Fn(&Path) -> bool,
}

impl fmt::Debug for ProgramSearch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProgramSearch")
            .field("named", &self.named)
            .field("variable", &self.variable)
            .field("setting", &self.setting)
            .field("path", &self.path)
            .field("home", &self.home)
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

/// The program was not found; the text has where it was searched and how to get it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}; {hint}")]
pub struct NotFound {
    pub message: String,
    /// What to do next.
    pub hint: String,
}

/// Finds the program of a backend, as an absolute path if `given.directory` is one.
pub fn find_program(row: &BackendRow, given: &ProgramSearch<'_>) -> Result<PathBuf, NotFound> {
    let variable = given.variable.as_ref().filter(|v| !v.is_empty()).map(PathBuf::from);
    let named = [
        given.named.clone(),
        variable.map(|path| (path, row.variable.unwrap_or("the variable"))),
        given.setting.clone().map(|path| (path, "the settings")),
    ];
    if let Some((path, source)) = named.into_iter().flatten().next() {
        return given.program_at(&path).ok_or_else(|| NotFound {
            message: format!("{source} names `{}`, which is not a program", path.display()),
            hint: format!("name another there, or install {} with `{}`", row.title, row.install),
        });
    }
    let on_path = row.programs.iter().find_map(|name| given.on_path(Path::new(name)));
    let known = || row.known.iter().find_map(|path| given.program_at(Path::new(path)));
    on_path.or_else(known).ok_or_else(|| NotFound { message: missing(row), hint: hint(row) })
}

impl ProgramSearch<'_> {
    /// The program that a path means: a bare name is searched on `PATH`, anything else is a file.
    fn program_at(&self, path: &Path) -> Option<PathBuf> {
        if path.components().count() == 1 && path.is_relative() {
            return self.on_path(path);
        }
        let file = match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            (Ok(_), None) => return None,
            (Err(_), _) => self.directory.join(path),
        };
        (self.is_program)(&file).then_some(file)
    }

    fn on_path(&self, name: &Path) -> Option<PathBuf> {
        // A relative entry, or an empty one, is the directory of whatever project this is.
        let entries = self.path.iter().filter(|entry| entry.is_absolute());
        let mut files = entries.map(|entry| entry.join(name));
        files.find(|file| (self.is_program)(file))
    }
}

fn missing(row: &BackendRow) -> String {
    let mut searched = vec!["PATH"];
    searched.extend(row.known);
    format!("`{}` was not found in {}", row.programs.join("` or `"), searched.join(", "))
}

fn hint(row: &BackendRow) -> String {
    match row.variable {
        Some(variable) => {
            format!("install {} with `{}`, or set {variable}", row.title, row.install)
        }
        None => format!("install {} with `{}`", row.title, row.install),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends::backend_row;

    fn search(
        files: &[&str],
        change: impl FnOnce(&mut ProgramSearch<'_>),
    ) -> Result<String, String> {
        let is_program = |file: &Path| files.iter().any(|f| Path::new(f) == file);
        let mut given = ProgramSearch {
            named: None,
            variable: None,
            setting: None,
            path: vec!["".into(), "/usr/bin".into(), "bin".into()],
            home: Some("/home/ann".into()),
            directory: "/desk".into(),
            is_program: &is_program,
        };
        change(&mut given);
        let row = backend_row("claude-code").unwrap();
        let found = find_program(row, &given).map_err(|e| e.to_string())?;
        Ok(found.to_str().unwrap().to_owned())
    }

    const ALL: &[&str] = &[
        "/f/claude",
        "/v/claude",
        "/s/claude",
        "/usr/bin/claude",
        "/home/ann/.claude/local/claude",
    ];

    #[test]
    fn the_caller_beats_the_variable_beats_the_settings_beats_path_beats_known_locations() {
        let named = |p: &mut ProgramSearch<'_>| p.named = Some(("/f/claude".into(), "the caller"));
        let variable = |p: &mut ProgramSearch<'_>| p.variable = Some("/v/claude".into());
        let setting = |p: &mut ProgramSearch<'_>| p.setting = Some("/s/claude".into());
        let all = |p: &mut ProgramSearch<'_>| {
            named(p);
            variable(p);
            setting(p);
        };
        assert_eq!(search(ALL, all).unwrap(), "/f/claude");
        let two = |p: &mut ProgramSearch<'_>| {
            variable(p);
            setting(p);
        };
        assert_eq!(search(ALL, two).unwrap(), "/v/claude");
        assert_eq!(search(ALL, setting).unwrap(), "/s/claude");
        assert_eq!(search(ALL, |_| ()).unwrap(), "/usr/bin/claude");
        assert_eq!(search(&ALL[4..], |_| ()).unwrap(), "/home/ann/.claude/local/claude");
    }

    #[test]
    fn names_relative_paths_and_home() {
        let named = |text: &'static str| {
            move |p: &mut ProgramSearch<'_>| p.named = Some((text.into(), "the caller"))
        };
        assert_eq!(search(&["/usr/bin/beta"], named("beta")).unwrap(), "/usr/bin/beta");
        assert_eq!(search(&["/desk/./beta"], named("./beta")).unwrap(), "/desk/./beta");
        assert_eq!(search(&["/desk/x/beta"], named("x/beta")).unwrap(), "/desk/x/beta");
        assert_eq!(search(&["/home/ann/beta"], named("~/beta")).unwrap(), "/home/ann/beta");
        for inside in ["/desk/bin/claude", "/desk/claude"] {
            assert!(search(&[inside], |_| ()).is_err(), "a relative entry is not searched");
        }
        let empty = |p: &mut ProgramSearch<'_>| p.variable = Some("".into());
        assert_eq!(search(ALL, empty).unwrap(), "/usr/bin/claude");
    }

    #[test]
    fn a_named_path_that_is_wrong_is_an_error_though_others_exist() {
        let wrong = |p: &mut ProgramSearch<'_>| p.variable = Some("/gone/claude".into());
        assert_eq!(
            search(ALL, wrong).unwrap_err(),
            "CLAUDE_CLI_PATH names `/gone/claude`, which is not a program; name another there, or \
             install Claude Code with `npm install -g @anthropic-ai/claude-code`"
        );
        let homeless = |p: &mut ProgramSearch<'_>| p.home = None;
        assert_eq!(
            search(&ALL[4..], homeless).unwrap_err(),
            "`claude` was not found in PATH, ~/.claude/local/claude; install Claude Code with \
             `npm install -g @anthropic-ai/claude-code`, or set CLAUDE_CLI_PATH"
        );
    }
}

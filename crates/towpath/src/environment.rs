//! What the program gets from outside, read once: its arguments, the environment variables, the
//! directories and the terminals. No other module reads them.

use crate::exit::CommandError;
use jiff::tz::TimeZone;
use std::cell::{Cell, OnceCell};
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use towpath_core::files::is_program;
pub use towpath_recipe::is_project;
use towpath_store::{Store, StoreError};
use towpath_tool::install::ToolDirectories;

/// How the program was started. What may fail of its environment is read when a command needs it:
/// `--version` and `--help` work without a home directory.
#[derive(Debug)]
pub struct Invocation {
    /// The program's name first.
    pub arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    environment: OnceCell<Result<Environment, CommandError>>,
    color: Cell<ColorChoice>,
    /// The whole command line, for the manual and for completions.
    pub command_line: fn() -> clap::Command,
}

impl Invocation {
    pub fn read(command_line: fn() -> clap::Command) -> Invocation {
        Invocation {
            arguments: std::env::args_os().collect(),
            variables: std::env::vars_os().collect(),
            environment: OnceCell::new(),
            color: Cell::default(),
            command_line,
        }
    }

    /// The name under which the program was started.
    pub fn name(&self) -> &str {
        let name = self.arguments.first().and_then(|first| Path::new(first).file_name());
        name.and_then(|name| name.to_str()).unwrap_or_default()
    }

    /// The arguments after the program's name.
    pub fn rest(&self) -> &[OsString] {
        self.arguments.get(1..).unwrap_or_default()
    }

    pub fn variable(&self, name: &str) -> Option<&OsString> {
        find(&self.variables, name)
    }

    pub fn environment(&self) -> Result<&Environment, CommandError> {
        let read = self
            .environment
            .get_or_init(|| Environment::new(self.variables.clone(), self.color.get()));
        read.as_ref().map_err(Clone::clone)
    }

    /// Takes the user's choice, before the environment is asked for the first time.
    pub fn choose_color(&self, choice: ColorChoice) {
        self.color.set(choice);
    }

    /// Whether errors are coloured.
    pub fn color(&self) -> bool {
        self.environment().is_ok_and(|env| env.color)
    }
}

/// When our own text is coloured, as the user asks for it with `--color`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ColorChoice {
    /// As `NO_COLOR`, `CLICOLOR_FORCE` and the terminal want it, in this order.
    #[default]
    Auto,
    Always,
    Never,
}

impl ColorChoice {
    /// Whether a stream is coloured that leads to a terminal or elsewhere.
    fn allows(self, get: &dyn Fn(&str) -> Option<OsString>, terminal: bool) -> bool {
        let set = |name: &str| get(name).filter(|value| !value.is_empty());
        match self {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto if set("NO_COLOR").is_some() => false,
            ColorChoice::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
            ColorChoice::Auto => terminal && get("TERM").is_none_or(|kind| kind != "dumb"),
        }
    }
}

/// The system that this program was built for.
pub fn system() -> (&'static str, &'static str) {
    (std::env::consts::OS, std::env::consts::ARCH)
}

/// The time zone of this machine. Its rules are read from `/etc/localtime` alone: to find out its
/// name, which nothing shows, the whole database of time zones would be searched.
pub fn local_zone() -> TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    let from_file = || TimeZone::tzif("local", &std::fs::read("/etc/localtime").ok()?).ok();
    let found = || match std::env::var_os("TZ") {
        None => from_file().unwrap_or_else(TimeZone::system),
        Some(_) => TimeZone::system(),
    };
    ZONE.get_or_init(found).clone()
}

#[derive(Debug, Clone)]
pub struct Environment {
    pub variables: Vec<(OsString, OsString)>,
    pub current: PathBuf,
    pub home: Option<PathBuf>,
    pub directories: Directories,
    /// There is no user to ask.
    pub unattended: bool,
    pub stdout_terminal: bool,
    pub stderr_terminal: bool,
    /// Whether our own text on stderr is coloured.
    pub color: bool,
    /// The same for stdout.
    pub stdout_color: bool,
    pub color_choice: ColorChoice,
}

/// Where our own files live.
#[derive(Debug, Clone)]
pub struct Directories {
    pub state: PathBuf,
    pub data: PathBuf,
    pub config: PathBuf,
    pub cache: PathBuf,
}

/// PATH for programs that are ours to call: without its relative entries, and without the directory of
/// installed tools, which may have any name.
pub fn absolute_path_entries() -> Option<OsString> {
    let path = std::env::var_os("PATH")?;
    let has_tools =
        |entry: &Path| entry.parent().is_some_and(|p| p.join("tools/.installs").is_dir());
    let entries = std::env::split_paths(&path);
    let entries = entries.filter(|entry| entry.is_absolute() && !has_tools(entry));
    std::env::join_paths(entries).ok()
}

/// The value of PATH for these directories; none if one of them cannot be an entry.
pub fn path_of(directories: &[PathBuf]) -> Option<OsString> {
    std::env::join_paths(directories).ok()
}

impl Environment {
    /// The journal, for looking; `None` while there is none. One that an older towpath wrote is
    /// upgraded first, with a backup beside it.
    pub fn journal(&self) -> Result<Option<Store>, StoreError> {
        match Store::open_for_reading(&self.directories.state) {
            Err(StoreError::Older { .. }) => Store::open(&self.directories.state).map(Some),
            looked => looked,
        }
    }

    fn new(
        variables: Vec<(OsString, OsString)>,
        color_choice: ColorChoice,
    ) -> Result<Environment, CommandError> {
        let get = |name: &str| find(&variables, name).cloned();
        let home = get("HOME").map(PathBuf::from).filter(|h| h.is_absolute());
        let current = current_directory().map_err(|e| {
            CommandError::setup(format!("the current directory cannot be used: {e}"))
        })?;
        let directories = Directories::new(&get, home.as_deref(), &current)?;
        if directories.state.to_str().is_none() {
            let shown = directories.state.as_os_str().as_encoded_bytes().escape_ascii().to_string();
            return Err(CommandError::setup(format!(
                "{shown} is not UTF-8, and scripts must be able to name files below it: \
                 set TOWPATH_HOME to another directory"
            )));
        }
        let stderr_terminal = std::io::stderr().is_terminal();
        let dumb = get("TERM").is_some_and(|t| t == "dumb");
        let stdout_terminal = std::io::stdout().is_terminal();
        Ok(Environment {
            unattended: get("CI").is_some() || !std::io::stdin().is_terminal(),
            stdout_terminal,
            stderr_terminal: stderr_terminal && !dumb,
            color: color_choice.allows(&get, stderr_terminal),
            stdout_color: color_choice.allows(&get, stdout_terminal),
            color_choice,
            variables,
            current,
            home,
            directories,
        })
    }

    /// Where tools are installed.
    pub fn tools(&self) -> ToolDirectories {
        let own = &self.directories;
        ToolDirectories::new(&own.data, &own.cache, &own.config)
    }

    pub fn get(&self, name: &str) -> Option<&OsString> {
        find(&self.variables, name)
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.get(name).map(|v| v.to_string_lossy().into_owned())
    }

    /// The directories in a variable that separates them by colons.
    pub fn paths(&self, name: &str) -> Vec<PathBuf> {
        self.get(name).map(|paths| std::env::split_paths(paths).collect()).unwrap_or_default()
    }

    /// The file of a program on PATH. Relative entries are left out: a project could put its own there.
    pub fn on_path(&self, program: &str) -> Option<PathBuf> {
        let directories = self.paths("PATH").into_iter().filter(|dir| dir.is_absolute());
        directories.map(|dir| dir.join(program)).find(|file| is_program(file))
    }

    /// `~/x` as a shell reads it.
    pub fn expand_home(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), &self.home) {
            (Ok(rest), Some(home)) => home.join(rest),
            _ => path.to_owned(),
        }
    }

    /// The nearest directory upward with `.towpath` or `.git`, never above the home directory; else
    /// the directory itself.
    pub fn project_root(&self, start: &Path) -> PathBuf {
        towpath_recipe::project_root(start, self.home.as_deref())
    }
}

/// This program's file. After an upgrade it is the new one, because the old one was deleted.
pub fn own_program() -> Result<PathBuf, CommandError> {
    let path = std::env::current_exe().map_err(|e| {
        CommandError::setup(format!("this program's own file cannot be found: {e}"))
    })?;
    let named = path.to_str().and_then(|text| text.strip_suffix(" (deleted)")).map(PathBuf::from);
    Ok(named.filter(|named| !path.exists() && is_program(named)).unwrap_or(path))
}

fn find<'a>(variables: &'a [(OsString, OsString)], name: &str) -> Option<&'a OsString> {
    variables.iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

impl Directories {
    fn new(
        get: &dyn Fn(&str) -> Option<OsString>,
        home: Option<&Path>,
        current: &Path,
    ) -> Result<Directories, CommandError> {
        if let Some(root) = get("TOWPATH_HOME").filter(|v| !v.is_empty()) {
            let root = current.join(root);
            return Ok(Directories {
                state: root.join("state"),
                data: root.join("data"),
                config: root.join("config"),
                cache: root.join("cache"),
            });
        }
        let directory = |variable: &str, default: &str| -> Result<PathBuf, CommandError> {
            let given = get(variable).map(PathBuf::from).filter(|p| p.is_absolute());
            let base = given.or_else(|| home.map(|h| h.join(default)));
            let base = base.ok_or_else(|| {
                let given = get("HOME").filter(|home| !home.is_empty());
                let wrong = given.map_or("is not set", |_| "is not an absolute path");
                CommandError::setup(format!(
                    "HOME {wrong}: set it, or set TOWPATH_HOME to a directory for towpath's files"
                ))
            })?;
            Ok(base.join("towpath"))
        };
        Ok(Directories {
            state: directory("XDG_STATE_HOME", ".local/state")?,
            data: directory("XDG_DATA_HOME", ".local/share")?,
            config: directory("XDG_CONFIG_HOME", ".config")?,
            cache: directory("XDG_CACHE_HOME", ".cache")?,
        })
    }
}

pub fn current_directory() -> std::io::Result<PathBuf> {
    std::env::current_dir()
}

//! The directories of tools, the sandbox, the settings, and what the clients of registries are started
//! with: every `towpath tool` command works with these.

use super::progress_bar::ProgressBar;
use crate::environment::{Environment, own_program, path_of};
use crate::exit::{CommandError, ErrorKind, Exit};
use crate::session::project_settings::settings_for;
use crate::settings::Settings;
use crate::terminal::format::clean;
use jiff::{SignedDuration, Timestamp};
use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use towpath_process::sandbox::{Confinement, find_confinement};
use towpath_tool::install::{InstallError, ToolDirectories};
use towpath_tool::sources::{SourceContext, SourceError, TimeLimits};

/// Flags of every command that runs something of a tool.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ToolFlags {
    /// Run tools and their builds without a sandbox. They can then do what you can do.
    #[arg(long)]
    pub no_sandbox: bool,
    /// Take versions of tools that were published a moment ago, too.
    #[arg(long)]
    pub now: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug)]
pub struct ToolSession<'a> {
    pub env: &'a Environment,
    pub directories: ToolDirectories,
    pub settings: Settings,
    pub confinement: Confinement,
    pub own_program: PathBuf,
    /// Progress is shown.
    pub shows_progress: bool,
    /// Versions that were published later are not taken.
    pub released_before: Option<String>,
}

/// Something of this machine that cannot be used.
pub fn setup(error: impl Display) -> CommandError {
    CommandError::setup(error.to_string())
}

impl From<SourceError> for CommandError {
    fn from(error: SourceError) -> CommandError {
        let (exit, kind) = match error {
            SourceError::MissingClient(_) => (Exit::Setup, ErrorKind::MissingProgram),
            _ => (Exit::Failed, ErrorKind::Source),
        };
        CommandError::new(exit, kind, clean(&error.to_string()))
    }
}

impl From<InstallError> for CommandError {
    fn from(error: InstallError) -> CommandError {
        match error {
            InstallError::Source(error) => error.into(),
            InstallError::NoPrograms { .. } => {
                CommandError::new(Exit::Failed, ErrorKind::NotVerified, error.to_string())
            }
            error => setup(error),
        }
    }
}

/// The sandbox of this machine. Its program is never one of PATH, where a tool may have put its own.
fn confinement(own_program: &Path) -> Result<Confinement, CommandError> {
    const PROGRAMS: &str = "/usr/bin:/bin:/usr/local/bin:/usr/sbin:/run/current-system/sw/bin";
    let refused = |why: &dyn Display| {
        CommandError::setup(format!(
            "no sandbox can be used on this machine: {why}; install bubblewrap, or use --no-sandbox \
             and trust the tool with everything that you can do"
        ))
    };
    match find_confinement(own_program, Some(OsStr::new(PROGRAMS))) {
        Ok(Confinement::Landlock) if rustix::process::geteuid().is_root() => {
            Err(refused(&"Landlock does not keep root from changing modes and owners of files"))
        }
        found => found.map_err(|reasons| refused(&reasons)),
    }
}

impl<'a> ToolSession<'a> {
    /// Finds the sandbox of this machine. Without one nothing is run, unless the user allows it.
    pub fn open(env: &'a Environment, flags: &ToolFlags) -> Result<ToolSession<'a>, CommandError> {
        let own_program = own_program()?;
        let confinement = match flags.no_sandbox {
            true => Confinement::None,
            false => confinement(&own_program)?,
        };
        let settings = settings_for(env, &env.current)?;
        let days = settings.tools.cool_down.value;
        let bound = Timestamp::now().checked_sub(SignedDuration::from_hours(24 * i64::from(days)));
        let bound = bound.ok().filter(|_| days > 0 && !flags.now);
        Ok(ToolSession {
            env,
            directories: env.tools(),
            settings,
            confinement,
            own_program,
            shows_progress: !flags.json,
            released_before: bound.map(|bound| bound.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
        })
    }

    /// The user's environment, without our own tools on PATH: no tool is a client of a registry.
    fn client_environment(&self) -> Vec<(OsString, OsString)> {
        let own = [self.directories.bin(), self.directories.tools()];
        let mut path = self.env.paths("PATH");
        path.retain(|directory| !own.iter().any(|own| directory.starts_with(own)));
        let mut variables = self.env.variables.clone();
        for (_, value) in variables.iter_mut().filter(|(name, _)| name == "PATH") {
            *value = path_of(&path).unwrap_or_default();
        }
        variables
    }

    /// Calls a source with what it needs, and shows progress meanwhile.
    pub fn with_sources<T>(&self, call: impl FnOnce(&mut SourceContext<'_>) -> T) -> T {
        let progress = Mutex::new(ProgressBar::new(self.env, self.shows_progress));
        let mut context = SourceContext {
            environment: self.client_environment(),
            github_url: self.settings.tools.github_url.value.clone(),
            own_program: self.own_program.clone(),
            confinement: self.confinement.clone(),
            cache: self.directories.artifacts(),
            released_before: self.released_before.clone(),
            trust_root: self.env.directories.config.clone(),
            time_limits: TimeLimits::default(),
            progress: &progress,
        };
        let result = call(&mut context);
        progress.into_inner().unwrap_or_else(PoisonError::into_inner).clear();
        result
    }
}

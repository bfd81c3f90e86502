//! What every `towpath tool` command needs: the directories of tools, the sandbox, the settings, and what
//! the clients of registries are started with.

use crate::environment::{Environment, own_program};
use crate::exit_codes_and_errors::{CommandError, ErrorKind, Exit};
use crate::session::project_settings::settings_for;
use crate::settings::Settings;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use towpath_process::sandbox::{Confinement, find_confinement};
use towpath_tool::install::ToolDirectories;

/// Flags of every command that runs something of a tool.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct SandboxFlags {
    /// Run tools and their builds without a sandbox. They can then do what you can do.
    #[arg(long)]
    pub no_sandbox: bool,
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
}

pub fn directories(env: &Environment) -> ToolDirectories {
    let own = &env.directories;
    ToolDirectories::new(&own.data, &own.cache, &own.config)
}

/// The sandbox of this machine. Its program is never one of PATH, where a tool may have put its own.
fn confinement(own_program: &Path) -> Result<Confinement, CommandError> {
    const PROGRAMS: &str = "/usr/bin:/bin:/usr/local/bin:/usr/sbin:/run/current-system/sw/bin";
    let refused = |why: &dyn std::fmt::Display| {
        let message = format!(
            "no sandbox can be used on this machine: {why}; install bubblewrap, or use --no-sandbox \
             and trust the tool with everything that you can do"
        );
        CommandError::new(Exit::Setup, ErrorKind::Setup, message)
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
    pub fn open(
        env: &'a Environment,
        flags: &SandboxFlags,
        quiet: bool,
    ) -> Result<ToolSession<'a>, CommandError> {
        let own_program = own_program()?;
        let confinement = match flags.no_sandbox {
            true => Confinement::None,
            false => confinement(&own_program)?,
        };
        Ok(ToolSession {
            env,
            directories: directories(env),
            settings: settings_for(env, &env.current)?,
            confinement,
            own_program,
            shows_progress: !quiet,
        })
    }
}

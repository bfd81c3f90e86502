//! What every `towpath tool` command needs: the directories of tools, the sandbox, the settings, and what
//! the clients of registries are started with.

use crate::environment::{Environment, own_program};
use crate::exit_codes_and_errors::{CommandError, ErrorKind, Exit};
use crate::session::project_settings::settings_for;
use crate::settings::Settings;
use std::path::PathBuf;
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

impl<'a> ToolSession<'a> {
    /// Finds the sandbox of this machine. Without one nothing is run, unless the user allows it.
    pub fn open(
        env: &'a Environment,
        flags: &SandboxFlags,
        quiet: bool,
    ) -> Result<ToolSession<'a>, CommandError> {
        let own_program = own_program()?;
        let path = env.get("PATH").map(std::ffi::OsString::as_os_str);
        let confinement = match flags.no_sandbox {
            true => Confinement::None,
            false => find_confinement(&own_program, path).map_err(|reasons| {
                let message = format!(
                    "no sandbox can be used on this machine: {reasons}; install bubblewrap, or \
                     use --no-sandbox and trust the tool with everything that you can do"
                );
                CommandError::new(Exit::Setup, ErrorKind::Setup, message)
            })?,
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

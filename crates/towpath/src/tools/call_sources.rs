//! What the sources of tools are called with: the user's environment for the clients of registries, the
//! sandbox for builds, progress on the terminal.

use super::progress_bar::ProgressBar;
use super::tool_session::ToolSession;
use crate::environment::path_of;
use std::ffi::OsString;
use towpath_tool::sources::SourceContext;

impl ToolSession<'_> {
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
        let mut progress = ProgressBar::new(self.env, self.shows_progress);
        let mut context = SourceContext {
            environment: self.client_environment(),
            github_url: self.settings.tools.github_url.value.clone(),
            own_program: self.own_program.clone(),
            confinement: self.confinement.clone(),
            cache: self.directories.artifacts(),
            progress: &mut progress,
        };
        let result = call(&mut context);
        progress.clear();
        result
    }
}

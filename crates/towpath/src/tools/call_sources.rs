//! What the sources of tools are called with: the user's environment for the clients of registries, the
//! sandbox for builds, progress on the terminal.

use super::progress_bar::ProgressBar;
use super::tool_session::ToolSession;
use towpath_tool::sources::SourceContext;

impl ToolSession<'_> {
    /// Calls a source with what it needs, and shows progress meanwhile.
    pub fn with_sources<T>(&self, call: impl FnOnce(&mut SourceContext<'_>) -> T) -> T {
        let mut progress = ProgressBar::new(self.env, self.shows_progress);
        let mut context = SourceContext {
            environment: self.env.variables.clone(),
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

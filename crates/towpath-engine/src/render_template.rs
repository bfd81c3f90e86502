//! A text with placeholders, filled without a run.

use towpath_core::{Map, Template, lookup, text_of};
use towpath_shell::{FillError, ShellError, ShellText};

/// Fills the placeholders `{{name}}` of a text, for prompts and prose. A name without a value is empty; a
/// value that contains placeholders is not filled again. Commands are for [`render_shell`].
///
/// ```
/// use towpath_engine::{Map, render};
///
/// let mut context = Map::new();
/// context.insert("deploy".into(), serde_json::json!({ "target": "staging" }));
/// assert_eq!(render("to {{deploy.target}}{{unset}}", &context), "to staging");
/// ```
pub fn render(template: &str, context: &Map) -> String {
    Template::parse(template).render(context)
}

/// Why a command cannot be rendered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderShellError {
    /// The text is no bash, or has a placeholder where no value is safe.
    #[error(transparent)]
    Text(#[from] ShellError),
    /// A value is not possible for its placeholder.
    #[error(transparent)]
    Value(#[from] FillError),
}

/// Fills the placeholders of a bash command, so that every value is one piece of data and never code,
/// whatever quotes are around its placeholder. The result is a command for `bash -c`.
///
/// ```
/// use towpath_engine::{Map, render_shell};
///
/// let mut context = Map::new();
/// context.insert("file".into(), "a; rm -rf $HOME".into());
/// let command = render_shell("printf %s {{file}} '{{file}}'", &context)?;
/// let output = std::process::Command::new("bash").args(["-c", &command]).output()?;
/// assert_eq!(String::from_utf8(output.stdout)?, "a; rm -rf $HOMEa; rm -rf $HOME");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn render_shell(command: &str, context: &Map) -> Result<String, RenderShellError> {
    let text = ShellText::parse(command)?;
    let filled = text.fill(&mut |path| lookup(context, path).map(text_of))?;
    Ok(filled.command_with_values())
}

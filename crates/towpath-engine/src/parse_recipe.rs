//! The text of a recipe, read and checked without a run.

use std::fmt;
use towpath_core::{Diagnostic, Source};
use towpath_recipe::{Recipe, read};

/// What is wrong with a recipe, all of it at once. As text it has a line for each error, with its
/// location and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(pub Vec<Diagnostic>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors = self.0.iter().filter(|problem| problem.is_error());
        for (index, problem) in errors.enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            if let Some(label) = problem.labels.first() {
                let (line, column) = label.source.line_column(label.span.start);
                write!(f, "{}:{line}:{column}: ", label.source.name)?;
            }
            write!(f, "{}", problem.message)?;
            let under = problem.labels.first().map(|label| label.text.as_str());
            let more = [under, problem.help.as_deref()];
            for text in more.into_iter().flatten().filter(|text| !text.is_empty()) {
                write!(f, "; {text}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// Reads and checks the text of a recipe. `name` is what its problems call it, such as its path.
///
/// ```
/// use towpath_engine::parse_recipe;
///
/// let text = "name: hello\nsteps:\n  - id: greet\n    command: echo hello\n";
/// let recipe = parse_recipe("hello.yaml", text)?;
/// assert_eq!(recipe.steps[0].id, "greet");
///
/// let wrong = parse_recipe("hello.yaml", &text.replace("command", "comand")).unwrap_err();
/// assert!(wrong.to_string().starts_with("hello.yaml:4:5: unknown field `comand`"), "{wrong}");
/// # Ok::<(), towpath_engine::Problems>(())
/// ```
pub fn parse_recipe(name: &str, text: &str) -> Result<Recipe, Problems> {
    let read = read(&Source::new(name, text));
    read.recipe.ok_or(Problems(read.problems))
}

/// Everything that is reported about the text of a recipe, warnings and notes too. It is sound when
/// none of it [is an error](Diagnostic::is_error).
///
/// ```
/// let text = "name: hello\nsteps:\n  - id: greet\n    command: eval \"echo {{who}}\"\n";
/// let problems = towpath_engine::validate("hello.yaml", text);
/// assert!(problems.iter().all(|problem| !problem.is_error()));
/// assert!(!problems.is_empty(), "a value would become code here");
/// ```
pub fn validate(name: &str, text: &str) -> Vec<Diagnostic> {
    read(&Source::new(name, text)).problems
}

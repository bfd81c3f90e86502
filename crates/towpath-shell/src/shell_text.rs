//! A command's text, parsed once with the quoting context of every placeholder, filled purely.
//!
//! Nothing is run or read here, and no value is needed to parse. Text with placeholders is refused when
//! it cannot be understood for sure; text without placeholders runs as it is written.

use crate::bash::deep_stack;
use crate::integer_values;
use crate::mark::Region;
use crate::shell_text_analysis::{Scope, ShellTextAnalysis};
use crate::unfilled_script_types::{Piece, UnfilledScript, Variable};
use crate::{Filled, RecipeVariable, parsed_region, recipe_variable};
use std::collections::HashMap;
use std::ops::Range;
use towpath_core::{Placeholder, PlaceholderSyntax, VarPath};

/// The most bytes of a text with placeholders.
const LIMIT: usize = 4 * 1024 * 1024;

/// A command's text, parsed.
#[derive(Debug, Clone, PartialEq)]
pub struct ShellText {
    text: String,
    placeholders: Vec<ShellPlaceholder>,
    warnings: Vec<ShellWarning>,
    script: UnfilledScript,
    recipe_variables: Vec<RecipeVariable>,
}

/// One `{{name}}`, with how bash reads it there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellPlaceholder {
    pub path: VarPath,
    /// Bytes of the author's text, braces included.
    pub range: Range<usize>,
    pub kind: PlaceholderKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlaceholderKind {
    /// Unquoted: one word, or a part of one.
    Word,
    DoubleQuoted,
    SingleQuoted,
    /// Inside `$'…'`.
    AnsiQuoted,
    HereDoc,
    /// Matched literally: a `case` pattern, `[[ == ]]`, `${v#…}`, `${v/…/…}`.
    Pattern,
    /// Only an integer is accepted.
    Integer,
    /// The key of an associative array.
    Key,
    Comment,
}

/// Why a text is refused when the recipe is read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ShellError {
    pub range: Range<usize>,
    pub message: String,
    pub help: Option<String>,
}

/// Something the author should know; the text still runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellWarning {
    pub range: Range<usize>,
    pub code: &'static str,
    pub message: String,
    pub help: Option<String>,
    /// Only a note: most likely meant that way.
    pub note: bool,
}

/// Why a value is not possible for its placeholder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FillError {
    pub range: Range<usize>,
    pub path: VarPath,
    pub message: String,
}

impl ShellText {
    /// `text` is the author's text with its `{{placeholders}}`.
    pub fn parse(text: &str) -> Result<ShellText, ShellError> {
        ShellText::parse_where(text, &|_| true)
    }

    /// Only names that are known make a placeholder; every other `{{…}}` is the author's own text.
    pub fn parse_where(
        text: &str,
        known: &dyn Fn(&VarPath) -> bool,
    ) -> Result<ShellText, ShellError> {
        let recipe_variables = recipe_variable::find(text, known);
        let text = ShellText::parse_as(text, PlaceholderSyntax::Recipe, known)?;
        Ok(ShellText { recipe_variables, ..text })
    }

    /// As `parse_where`, for text that writes its placeholders in another way and expects no variables
    /// of a recipe.
    pub fn parse_as(
        text: &str,
        syntax: PlaceholderSyntax,
        known: &dyn Fn(&VarPath) -> bool,
    ) -> Result<ShellText, ShellError> {
        let whole = |message: &str| ShellError {
            range: 0..0,
            message: message.to_owned(),
            help: Some("move the long part into a script file, and give it the values".into()),
        };
        let Some((region, placeholders)) = Region::of(text, syntax, known) else {
            return Err(whole("the text uses every private-use character"));
        };
        let Some(first) = placeholders.first() else {
            return Ok(without_placeholders(text, region));
        };
        if text.len() > LIMIT {
            let range = first.range.clone();
            return Err(ShellError { range, ..whole("text with values is limited to 4 MB") });
        }
        deep_stack::run(text, || with_placeholders(text, &region, &placeholders))
            .unwrap_or_else(|| Err(whole("this text cannot be read")))
    }

    /// The author's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// In text order.
    pub fn placeholders(&self) -> &[ShellPlaceholder] {
        &self.placeholders
    }

    /// The variables of the environment that the text expects, in text order.
    pub fn recipe_variables(&self) -> &[RecipeVariable] {
        &self.recipe_variables
    }

    pub fn warnings(&self) -> &[ShellWarning] {
        &self.warnings
    }

    /// Puts the values in. `value` gives a placeholder's value as text; `None` is undefined: empty.
    pub fn fill(
        &self,
        value: &mut dyn FnMut(&VarPath) -> Option<String>,
    ) -> Result<Filled, FillError> {
        let mut known: HashMap<&VarPath, String> = HashMap::new();
        for placeholder in &self.placeholders {
            known
                .entry(&placeholder.path)
                .or_insert_with(|| value(&placeholder.path).unwrap_or_default());
        }
        self.fill_script(&self.script, &known)
    }

    fn fill_script(
        &self,
        script: &UnfilledScript,
        known: &HashMap<&VarPath, String>,
    ) -> Result<Filled, FillError> {
        let mut text = String::new();
        for piece in &script.pieces {
            match piece {
                Piece::Text(written) => text.push_str(written),
                Piece::Integer { placeholder, style } => {
                    let placeholder = &self.placeholders[*placeholder];
                    let value = &known[&placeholder.path];
                    let digits = integer_values::canonical(value, *style);
                    text.push_str(&digits.ok_or_else(|| no_integer(placeholder, value))?);
                }
            }
        }
        let values = script.variables.iter().map(|variable| match variable {
            Variable::Code(inner) => Ok(self.fill_script(inner, known)?.command_with_values()),
            Variable::Value(path) => match &known[path] {
                value if value.contains('\0') => Err(self.nul(path)),
                value => Ok(value.clone()),
            },
        });
        let values = values.collect::<Result<_, _>>()?;
        Ok(Filled { values, ..Filled::plain(text) })
    }

    fn nul(&self, path: &VarPath) -> FillError {
        let placeholder = self.placeholders.iter().find(|p| p.path == *path);
        FillError {
            range: placeholder.map_or(0..0, |p| p.range.clone()),
            path: path.clone(),
            message: format!("the value of `{path}` contains a NUL byte: no command can take it"),
        }
    }
}

fn no_integer(placeholder: &ShellPlaceholder, value: &str) -> FillError {
    let mut shown: String = value.chars().take(40).collect();
    if shown.len() < value.len() {
        shown.push('…');
    }
    FillError {
        range: placeholder.range.clone(),
        path: placeholder.path.clone(),
        message: format!(
            "bash calculates here: `{}` must be an integer of 64 bits, and is {shown:?}",
            placeholder.path
        ),
    }
}

fn without_placeholders(text: &str, region: Region) -> ShellText {
    let checked = deep_stack::run(text, || parsed_region::check(&region)).unwrap_or(Ok(()));
    let warnings = checked.err().map(|e| ShellWarning {
        range: region.author(e.range.clone()),
        code: "bash-syntax",
        message: format!("this text may not be valid bash: {e}"),
        help: None,
        note: false,
    });
    ShellText {
        text: text.to_owned(),
        placeholders: Vec::new(),
        warnings: warnings.into_iter().collect(),
        script: UnfilledScript { pieces: vec![Piece::Text(region.text)], variables: Vec::new() },
        recipe_variables: Vec::new(),
    }
}

fn with_placeholders(
    text: &str,
    region: &Region,
    placeholders: &[Placeholder],
) -> Result<ShellText, ShellError> {
    if let Some(at) = text.find('\0') {
        return Err(ShellError {
            range: at..at + 1,
            message: "the text contains a NUL byte".into(),
            help: None,
        });
    }
    let mut reader = ShellTextAnalysis::new(text, placeholders);
    let pieces = reader.region(region, Scope::default())?;
    let ShellTextAnalysis { kinds, variables, warnings, .. } = reader;
    let placeholders = placeholders
        .iter()
        .zip(kinds)
        .map(|(placeholder, kind)| ShellPlaceholder {
            path: placeholder.path.clone(),
            range: placeholder.range.clone(),
            kind: kind.expect("the reader refuses a text in which a placeholder was not met"),
        })
        .collect();
    let script = UnfilledScript { pieces, variables };
    Ok(ShellText {
        text: text.to_owned(),
        placeholders,
        warnings,
        script,
        recipe_variables: Vec::new(),
    })
}

//! A command's text, parsed once with the quoting context of every place, filled purely.
//!
//! Nothing is run or read here, and no value is needed to parse. Text with places is refused when
//! it cannot be understood for sure; text without places runs as it is written.

use crate::bash::deep_stack;
use crate::integer;
use crate::names::Names;
use crate::reader::{Reader, Scope};
use crate::region::Region;
use crate::rewrite::{Piece, Script, Variable};
use crate::{Filled, RecipeVariable, filled, reading, recipe_variables};
use std::collections::HashMap;
use std::ops::Range;
use towpath_core::{Place, VarPath};

/// The most bytes of a text with placeholders.
const LIMIT: usize = 4 * 1024 * 1024;

/// A command's text, parsed.
#[derive(Debug, Clone, PartialEq)]
pub struct ShellText {
    text: String,
    places: Vec<ShellPlace>,
    warnings: Vec<ShellWarning>,
    script: Script,
    recipe_variables: Vec<RecipeVariable>,
}

/// One `{{name}}`, with how bash reads it there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellPlace {
    pub path: VarPath,
    /// Bytes of the author's text, braces included.
    pub range: Range<usize>,
    pub kind: PlaceKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlaceKind {
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

/// Why a value cannot stand at its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FillError {
    pub range: Range<usize>,
    pub path: VarPath,
    pub message: String,
}

impl ShellText {
    /// `text` is the author's text with its `{{places}}`.
    pub fn parse(text: &str) -> Result<ShellText, ShellError> {
        ShellText::parse_where(text, &|_| true)
    }

    /// Only names that are known make a place; every other `{{…}}` is the author's own text.
    pub fn parse_where(
        text: &str,
        known: &dyn Fn(&VarPath) -> bool,
    ) -> Result<ShellText, ShellError> {
        let recipe_variables = recipe_variables::find(text, known);
        Ok(ShellText { recipe_variables, ..ShellText::read(text, known)? })
    }

    fn read(text: &str, known: &dyn Fn(&VarPath) -> bool) -> Result<ShellText, ShellError> {
        let whole = |message: &str| ShellError {
            range: 0..0,
            message: message.to_owned(),
            help: Some("move the long part into a script file, and give it the values".into()),
        };
        let Some((region, places)) = Region::of(text, known) else {
            return Err(whole("the text uses every private-use character"));
        };
        let Some(first) = places.first() else { return Ok(without_places(text, region)) };
        if text.len() > LIMIT {
            let range = first.range.clone();
            return Err(ShellError { range, ..whole("text with values is limited to 4 MB") });
        }
        deep_stack::run(text.len(), || with_places(text, &region, &places))
            .unwrap_or_else(|| Err(whole("this text is too deep to be understood")))
    }

    /// The author's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// In text order.
    pub fn places(&self) -> &[ShellPlace] {
        &self.places
    }

    /// The variables of the environment that the text expects, in text order.
    pub fn recipe_variables(&self) -> &[RecipeVariable] {
        &self.recipe_variables
    }

    pub fn warnings(&self) -> &[ShellWarning] {
        &self.warnings
    }

    /// Puts the values in. `value` gives a place's value as text; `None` is undefined: empty.
    pub fn fill(
        &self,
        value: &mut dyn FnMut(&VarPath) -> Option<String>,
    ) -> Result<Filled, FillError> {
        let mut known: HashMap<&VarPath, String> = HashMap::new();
        for place in &self.places {
            known.entry(&place.path).or_insert_with(|| value(&place.path).unwrap_or_default());
        }
        self.fill_script(&self.script, &known)
    }

    fn fill_script(
        &self,
        script: &Script,
        known: &HashMap<&VarPath, String>,
    ) -> Result<Filled, FillError> {
        let mut text = String::new();
        for piece in &script.pieces {
            match piece {
                Piece::Text(written) => text.push_str(written),
                Piece::Integer { place, style } => {
                    let place = &self.places[*place];
                    let value = &known[&place.path];
                    let digits = integer::canonical(value, *style);
                    text.push_str(&digits.ok_or_else(|| no_integer(place, value))?);
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
        Ok(Filled { script: text, values })
    }

    fn nul(&self, path: &VarPath) -> FillError {
        let place = self.places.iter().find(|p| p.path == *path);
        FillError {
            range: place.map_or(0..0, |p| p.range.clone()),
            path: path.clone(),
            message: format!("the value of `{path}` holds a NUL byte: no command can take it"),
        }
    }
}

fn no_integer(place: &ShellPlace, value: &str) -> FillError {
    let mut shown: String = value.chars().take(40).collect();
    if shown.len() < value.len() {
        shown.push('…');
    }
    FillError {
        range: place.range.clone(),
        path: place.path.clone(),
        message: format!(
            "bash calculates here: `{}` must be an integer of 64 bits, and is {shown:?}",
            place.path
        ),
    }
}

fn without_places(text: &str, region: Region) -> ShellText {
    let checked = deep_stack::run(text.len(), || reading::check(&region)).unwrap_or(Ok(()));
    let warnings = checked.err().map(|e| ShellWarning {
        range: region.author(e.range.clone()),
        code: "bash-syntax",
        message: format!("this text may not be valid bash: {e}"),
        help: None,
        note: false,
    });
    ShellText {
        text: text.to_owned(),
        places: Vec::new(),
        warnings: warnings.into_iter().collect(),
        script: Script { pieces: vec![Piece::Text(region.text)], variables: Vec::new() },
        recipe_variables: Vec::new(),
    }
}

fn with_places(text: &str, region: &Region, places: &[Place]) -> Result<ShellText, ShellError> {
    if let Some(at) = text.find('\0') {
        return Err(ShellError {
            range: at..at + 1,
            message: "the text holds a NUL byte".into(),
            help: None,
        });
    }
    let mut reader = Reader::new(places, filled::prefix_for(text));
    let pieces = reader.region(region, &Names::default(), Scope::default())?;
    let Reader { kinds, variables, warnings, .. } = reader;
    let places = places
        .iter()
        .zip(kinds)
        .map(|(place, kind)| ShellPlace {
            path: place.path.clone(),
            range: place.range.clone(),
            kind: kind.expect("the reader refuses a text in which a place was not met"),
        })
        .collect();
    let script = Script { pieces, variables };
    Ok(ShellText { text: text.to_owned(), places, warnings, script, recipe_variables: Vec::new() })
}

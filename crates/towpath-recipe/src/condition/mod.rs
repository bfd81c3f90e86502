//! The condition language of steps: a text such as `status == 'ok' and not skip` is read once,
//! when the recipe is read, and asked later against the values of a run. It reads values and
//! computes; it assigns nothing, calls nothing outside its own short list of functions and
//! methods, and does no arithmetic. What it does not understand is refused when read, with the
//! location and what to write instead; a variable that is not set is null and no error.

mod evaluate;
mod excerpt;
mod foresee;
mod function_calls;
mod functions;
pub(crate) mod lints;
mod numbers;
mod other_language_hints;
mod parse_errors;
mod parser;
mod tokens;
mod tree;
mod truthy;

pub use truthy::truthy;

use std::ops::Range;
use towpath_core::{Map, Template, Value, VarPath};

/// The longest text that is read.
const MAX_BYTES: usize = 8_192;

/// A condition that has been read and found sound.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    text: String,
    root: tree::Node,
}

/// One use of a variable in a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameUse {
    pub path: VarPath,
    /// Bytes in the condition's text.
    pub range: Range<usize>,
    /// It is compared with something that is no literal: a word whose quotes may be missing.
    pub compared: bool,
}

/// Why a text is no condition. The range counts bytes of that text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ConditionError {
    pub range: Range<usize>,
    pub message: String,
    pub help: Option<String>,
}

/// Why a sound condition has no value for the given variables.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvalError {
    pub range: Range<usize>,
    pub message: String,
}

impl Condition {
    pub fn parse(text: &str) -> Result<Condition, ConditionError> {
        refuse_whole(text)?;
        Ok(Condition { root: parser::parse(text)?, text: text.to_owned() })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Every variable that is read, in the order of the text. `none` is one of them: it is a name
    /// like any other that nobody sets.
    pub fn names(&self) -> Vec<NameUse> {
        let mut names = Vec::new();
        self.root.collect_names(&mut names);
        names
    }

    /// Whether a variable is only tested for being true, so that it may be unset.
    pub(crate) fn asks(&self, root: &str) -> bool {
        self.root.asks(root)
    }

    /// The value itself: `and` and `or` give the operand that decided.
    pub fn value(&self, scope: &Map) -> Result<Value, EvalError> {
        evaluate::evaluate(&self.text, &self.root, scope).map(std::borrow::Cow::into_owned)
    }

    pub fn is_true(&self, scope: &Map) -> Result<bool, EvalError> {
        evaluate::evaluate(&self.text, &self.root, scope).map(|value| truthy(&value))
    }
}

impl Condition {
    /// Whether it is true whatever the unknown variables turn out to be; none where that depends on
    /// them, or where that takes more than the small budget. An error is one that comes whatever they are.
    pub fn foresee(
        &self,
        known: &Map,
        unknown: &dyn Fn(&VarPath) -> bool,
    ) -> Result<Option<bool>, EvalError> {
        let evaluation = evaluate::Evaluation::new(&self.text, known, evaluate::LOOKING);
        let mut foresight = foresee::Foresight { evaluation, unknown };
        let certain = foresight.look(&self.root).map(|seen| seen.certain());
        if foresight.evaluation.exceeded() { Ok(None) } else { certain }
    }
}

impl ConditionError {
    fn new(range: Range<usize>, message: impl Into<String>) -> ConditionError {
        ConditionError { range, message: message.into(), help: None }
    }

    fn help(mut self, help: impl Into<String>) -> ConditionError {
        self.help = Some(help.into());
        self
    }
}

/// Refuses texts by their size and by parts that are allowed nowhere, also not inside quotes.
fn refuse_whole(text: &str) -> Result<(), ConditionError> {
    if text.len() > MAX_BYTES {
        let message =
            format!("this condition has {} bytes; at most {MAX_BYTES} are read", text.len());
        return Err(ConditionError::new(text.floor_char_boundary(MAX_BYTES)..text.len(), message)
            .help("let an earlier step decide, and test its output"));
    }
    if text.trim().is_empty() {
        return Err(ConditionError::new(0..text.len(), "the condition is empty")
            .help("leave the field out if the step should always run"));
    }
    if let Some(at) = text.find("__") {
        let length = text[at..].bytes().take_while(|b| *b == b'_').count();
        return Err(ConditionError::new(at..at + length, "`__` is not allowed in a condition")
            .help("a name with two underscores in a row cannot be read here: rename it"));
    }
    refuse_placeholders(text)
}

fn refuse_placeholders(text: &str) -> Result<(), ConditionError> {
    let message = "a condition has no `{{…}}` placeholders: it reads variables by their bare names";
    if let Some(placeholder) = Template::parse(text).placeholders().next() {
        let quoted = text[..placeholder.range.start].ends_with(['\'', '"'])
            && text[placeholder.range.end..].starts_with(['\'', '"']);
        let without = if quoted { ", without braces and quotes" } else { "" };
        return Err(ConditionError::new(placeholder.range.clone(), message)
            .help(format!("write `{}`{without}", placeholder.path)));
    }
    match text.find("{{") {
        Some(at) if text[..at].ends_with('$') => Err(ConditionError::new(at - 1..at + 2, message)
            .help("write the expression alone, without `${{` and `}}`")),
        Some(at) => Err(ConditionError::new(at..at + 2, message).help("write the bare name")),
        None => Ok(()),
    }
}

//! What a directive means, once it is read. A directive that could not be read has no meaning but the
//! name that it would have defined, so that one mistake is one problem.

use crate::interpolated::{Interpolated, Piece};
use std::ops::Range;
use std::sync::Arc;
use towpath_core::{Source, Span, Value, VarPath};
use towpath_shell::ShellText;

#[derive(Debug)]
pub struct Directive {
    /// The line that it begins on.
    pub line: usize,
    /// From its `@` to the end of its first line.
    pub head: Span,
    /// The ending of its last line; empty at the end of the file.
    pub ending: Range<usize>,
    pub kind: DirectiveKind,
}

#[derive(Debug)]
pub enum DirectiveKind {
    Run(Invocation),
    Define(Arc<Definition>),
    Text {
        name: String,
        value: TextValue,
    },
    Data {
        name: String,
        value: DataValue,
    },
    Path {
        name: String,
        value: Interpolated,
    },
    Embed(FileTarget),
    /// `@embed {{name}}`.
    EmbedValue(Interpolated),
    Import(Import),
    Broken(Defines),
}

impl DirectiveKind {
    /// The variable that it sets.
    pub fn variable(&self) -> Option<&str> {
        match self {
            DirectiveKind::Text { name, .. }
            | DirectiveKind::Data { name, .. }
            | DirectiveKind::Path { name, .. } => Some(name),
            _ => None,
        }
    }

    /// The directive's word.
    pub fn word(&self) -> &'static str {
        match self {
            DirectiveKind::Run(_) => "run",
            DirectiveKind::Define(_) => "define",
            DirectiveKind::Text { .. } => "text",
            DirectiveKind::Data { .. } => "data",
            DirectiveKind::Path { .. } => "path",
            DirectiveKind::Embed(_) | DirectiveKind::EmbedValue(_) => "embed",
            DirectiveKind::Import(_) => "import",
            DirectiveKind::Broken(_) => "broken",
        }
    }
}

/// What a directive that could not be read would have defined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Defines {
    Nothing,
    Variable(String),
    Command(String),
}

/// What runs.
#[derive(Debug, Clone)]
pub enum Invocation {
    Shell(ShellCommand),
    Call(Call),
    /// `[$name]`: a call where such a command is defined, else a variable of the shell.
    CallOrShell(Call, ShellCommand),
}

impl Invocation {
    pub fn span(&self) -> Span {
        match self {
            Invocation::Shell(command) => command.span,
            Invocation::Call(call) | Invocation::CallOrShell(call, _) => call.span,
        }
    }
}

#[derive(Debug, Clone)]
pub struct ShellCommand {
    pub text: Arc<ShellText>,
    /// The command in its document.
    pub span: Span,
    /// The text is in the document as it is, so that an offset there is one here.
    pub verbatim: bool,
}

impl ShellCommand {
    /// Where a range of the command is in its document.
    pub fn locate(&self, range: Range<usize>) -> Span {
        if !self.verbatim {
            return self.span;
        }
        Span { start: self.span.start + range.start, end: self.span.start + range.end }
    }
}

#[derive(Debug, Clone)]
pub struct Call {
    pub name: String,
    pub arguments: Vec<Interpolated>,
    pub span: Span,
}

#[derive(Debug)]
pub struct Definition {
    pub name: String,
    /// `None`: no list of parameters, so that any number of arguments is accepted.
    pub parameters: Option<Vec<String>>,
    pub body: Invocation,
    pub source: Arc<Source>,
    pub head: Span,
}

#[derive(Debug)]
pub enum TextValue {
    Written(Interpolated),
    Run(Invocation),
    Embed(FileTarget),
}

#[derive(Debug)]
pub enum DataValue {
    Written(Value),
    /// With references.
    Template(DataTemplate),
    Run(Invocation),
    Embed(FileTarget),
}

/// JSON in which values and strings may be references.
#[derive(Debug)]
pub enum DataTemplate {
    Value(Value),
    Text(Interpolated),
    Reference { path: VarPath, span: Span },
    List(Vec<DataTemplate>),
    Object(Vec<(Interpolated, DataTemplate)>),
}

impl DataTemplate {
    /// The value of a text that is one reference.
    pub(crate) fn of_reference(text: Interpolated) -> DataTemplate {
        match text.pieces.as_slice() {
            [Piece::Reference { path, span }] => {
                DataTemplate::Reference { path: path.clone(), span: *span }
            }
            _ => DataTemplate::Text(text),
        }
    }

    /// Its strings and references, as texts.
    pub(crate) fn texts(&self) -> Vec<Interpolated> {
        match self {
            DataTemplate::Value(_) => Vec::new(),
            DataTemplate::Text(text) => vec![text.clone()],
            DataTemplate::Reference { path, span } => {
                let mut text = Interpolated { pieces: Vec::new(), span: *span };
                text.push_reference(path.clone(), *span);
                vec![text]
            }
            DataTemplate::List(items) => items.iter().flat_map(DataTemplate::texts).collect(),
            DataTemplate::Object(entries) => {
                let texts = entries.iter().map(|(key, value)| (key.clone(), value.texts()));
                texts.flat_map(|(key, value)| std::iter::once(key).chain(value)).collect()
            }
        }
    }
}

/// A file, or one section of it.
#[derive(Debug)]
pub struct FileTarget {
    pub path: Interpolated,
    pub heading: Option<Interpolated>,
}

impl FileTarget {
    pub fn texts(&self) -> impl Iterator<Item = &Interpolated> {
        std::iter::once(&self.path).chain(&self.heading)
    }
}

/// The names that an import takes, and what they are called here; `None`: all.
pub type ImportedNames = Option<Vec<(String, String)>>;

#[derive(Debug)]
pub struct Import {
    pub names: ImportedNames,
    pub path: Interpolated,
}

//! What a directive means, once it is read. A directive that could not be read has no meaning but the
//! name that it would have defined, so that one mistake is one problem.

use crate::interpolated::Interpolated;
use std::ops::Range;
use std::sync::Arc;
use towpath_core::{Source, Span, Value};
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
    Text { name: String, value: TextValue },
    Data { name: String, value: DataValue },
    Path { name: String, value: Interpolated },
    Embed(FileTarget),
    Import(Import),
    Broken(Defines),
}

impl DirectiveKind {
    /// The directive's word.
    pub fn word(&self) -> &'static str {
        match self {
            DirectiveKind::Run(_) => "run",
            DirectiveKind::Define(_) => "define",
            DirectiveKind::Text { .. } => "text",
            DirectiveKind::Data { .. } => "data",
            DirectiveKind::Path { .. } => "path",
            DirectiveKind::Embed(_) => "embed",
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
    Run(Invocation),
    Embed(FileTarget),
}

/// A file, or one section of it.
#[derive(Debug)]
pub struct FileTarget {
    pub path: Interpolated,
    pub heading: Option<String>,
}

/// The names that an import takes, and what they are called here; `None`: all.
pub type ImportedNames = Option<Vec<(String, String)>>;

#[derive(Debug)]
pub struct Import {
    pub names: ImportedNames,
    pub path: Interpolated,
}

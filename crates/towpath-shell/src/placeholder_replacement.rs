//! How a placeholder is written for its context: the one table of forms.

use crate::PlaceholderKind;
use crate::integer_values::Style;
use crate::refusal_messages::Refusal;

/// How bash reads the text around a placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Unquoted.
    Word,
    /// Inside `"…"`.
    Double,
    /// The body of an expanding here-document.
    HereDoc,
    /// The word of `${u:-…}` inside `"…"` or a here-document: single quotes are text there.
    Operand {
        heredoc: bool,
    },
    Pattern,
    Regex,
    /// A subscript of an associative array.
    Key,
    Integer(Style),
    /// No value is possible here.
    Refuse(&'static Refusal),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Word,
    Double,
    Single,
    Ansi,
    HereDoc,
    Pattern,
    Key,
    Comment,
    Integer(Style),
}

impl Form {
    pub fn kind(self) -> PlaceholderKind {
        match self {
            Form::Word => PlaceholderKind::Word,
            Form::Double => PlaceholderKind::DoubleQuoted,
            Form::Single => PlaceholderKind::SingleQuoted,
            Form::Ansi => PlaceholderKind::AnsiQuoted,
            Form::HereDoc => PlaceholderKind::HereDoc,
            Form::Pattern => PlaceholderKind::Pattern,
            Form::Key => PlaceholderKind::Key,
            Form::Comment => PlaceholderKind::Comment,
            Form::Integer(_) => PlaceholderKind::Integer,
        }
    }

    /// The reference to `variable` for this context. A quoted reference is literal in patterns too.
    pub fn reference(self, variable: &str) -> Option<String> {
        match self {
            Form::Word | Form::Pattern | Form::Key => Some(format!("\"${variable}\"")),
            Form::Double | Form::HereDoc => Some(format!("${{{variable}}}")),
            Form::Single => Some(format!("'\"${variable}\"'")),
            Form::Ansi => Some(format!("'\"${variable}\"$'")),
            Form::Comment | Form::Integer(_) => None,
        }
    }
}

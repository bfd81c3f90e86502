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
    /// A function can be handed to another shell: there the variable is not set, and it fails.
    pub fn reference(self, variable: &str, in_function: bool) -> Option<String> {
        let quoted = match in_function {
            true => format!("\"${{{variable}?the value is not known in this shell}}\""),
            false => format!("\"${variable}\""),
        };
        match self {
            Form::Word | Form::Pattern | Form::Key => Some(quoted),
            Form::Double | Form::HereDoc if in_function => Some(quoted.trim_matches('"').into()),
            Form::Double | Form::HereDoc => Some(format!("${{{variable}}}")),
            Form::Single => Some(format!("'{quoted}'")),
            Form::Ansi => Some(format!("'{quoted}$'")),
            Form::Comment | Form::Integer(_) => None,
        }
    }
}

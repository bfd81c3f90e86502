//! What a field's value must look like.

use crate::spanned_tree::{Kind, Node};
use std::time::Duration;

/// The longest time that something may be given: a round number that every clock can still add.
pub const LONGEST_TIME: Duration = Duration::from_secs(1_000_000_000_000_000_000);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldType {
    /// A string as it is; a number or a boolean counts as the text it is written with.
    Text,
    /// A string with `{{name}}` placeholders.
    Template,
    /// A bash command with `{{name}}` placeholders.
    Shell,
    Condition,
    Bool,
    /// A whole number above zero.
    Count,
    /// A whole number, zero included.
    CountOrZero,
    /// Seconds above zero, fractions allowed.
    Seconds,
    /// The same, or a time with its unit, `s`, `m` or `h`.
    Time,
    TextList,
    /// A list of programs that must be there, each with a version or without.
    Requirements,
    Map,
    /// A list of things that have a name, such as `steps`.
    ListOf(&'static str),
    MapOf(&'static str),
    Choice(&'static [&'static str]),
    /// A map from names to strings.
    TextMap,
    /// A map from names to these words.
    ChoiceMap(&'static [&'static str]),
    /// A type of one kind of file, described for messages.
    Described(&'static str),
    Any,
}

impl FieldType {
    /// How messages name the type. `or` is what separates the words of a choice.
    pub fn describe(self, or: &str) -> String {
        match self {
            FieldType::Text | FieldType::Template => "a string".to_owned(),
            FieldType::Shell => "a bash command".to_owned(),
            FieldType::Condition => "a condition".to_owned(),
            FieldType::Bool => "true or false".to_owned(),
            FieldType::Count => "a whole number above 0".to_owned(),
            FieldType::CountOrZero => "a whole number".to_owned(),
            FieldType::Seconds => "a number of seconds above 0".to_owned(),
            FieldType::Time => "seconds above 0, such as `30` or `5m`".to_owned(),
            FieldType::TextList => "a list of strings".to_owned(),
            FieldType::Requirements => "a list such as `[git, \"jq>=1.6\"]`".to_owned(),
            FieldType::Map => "a map".to_owned(),
            FieldType::TextMap => "a map of names to strings".to_owned(),
            FieldType::ListOf(what) => format!("a list of {what}"),
            FieldType::MapOf(what) => format!("a map of {what}"),
            FieldType::Choice(words) => {
                words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(or)
            }
            FieldType::ChoiceMap(words) => {
                format!("a map of names to {}", FieldType::Choice(words).describe(or))
            }
            FieldType::Described(what) => what.to_owned(),
            FieldType::Any => "a value".to_owned(),
        }
    }

    /// What to write instead of `node`, where the slip is a common one.
    pub(super) fn help_for(self, node: &Node) -> Option<String> {
        let Kind::Text(text) = &node.kind else { return None };
        match self {
            FieldType::Bool => match text.to_lowercase().as_str() {
                "yes" | "on" | "true" | "y" => Some("write `true`, without quotes".to_owned()),
                "no" | "off" | "false" | "n" => Some("write `false`, without quotes".to_owned()),
                _ => None,
            },
            FieldType::Count | FieldType::CountOrZero | FieldType::Seconds | FieldType::Time
                if crate::number(text).is_some() =>
            {
                Some(format!("write `{text}`, without quotes"))
            }
            FieldType::TextList | FieldType::Requirements => Some(format!("write `[{text}]`")),
            _ => None,
        }
    }
}

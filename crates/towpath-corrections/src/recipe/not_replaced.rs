//! Why a recipe does not replace a command that it matches.

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Obstacle {
    #[error("its template is wrong")]
    Template,
    #[error("another rule changes a part of an argument")]
    PartOfAnArgument,
    #[error("only bash knows which arguments there are")]
    UnknownArguments,
    #[error("the command is corrected already")]
    Corrected,
    #[error("`{option}` would be dropped")]
    Careful { option: String },
    #[error("what `{word}` runs or sets would happen never, or more than once")]
    Effects { word: String },
    #[error("`{word}` would not expand as it does now")]
    Expansion { word: String },
    #[error("the arguments cannot be written into the script so that it stays the same")]
    Position,
    #[error("the script has no command")]
    NoCommand,
    #[error("assignments and wrappers such as sudo take one command, not a script")]
    NotOneCommand,
    #[error("xargs adds words at the end of the command")]
    MoreWords,
    #[error("the script changes what the rest of the line reads")]
    Leaks,
    #[error("a redirection is in the way")]
    Redirection,
    #[error("the script cannot be written inside of these quotes")]
    Quotes,
}

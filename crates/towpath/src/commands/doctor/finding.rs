//! A finding of `doctor`, with its level and, where something is wrong, the command that
//! fixes it.

use crate::terminal::screen::Tint;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Ok,
    Attention,
    Broken,
}

impl Level {
    pub fn word(self) -> &'static str {
        match self {
            Level::Ok => "ok",
            Level::Attention => "attention",
            Level::Broken => "broken",
        }
    }

    pub(super) fn tint(self) -> Tint {
        match self {
            Level::Ok => Tint::Good,
            Level::Attention => Tint::Attention,
            Level::Broken => Tint::Bad,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub level: Level,
    /// What it is about, in a word.
    pub name: String,
    pub text: String,
    /// A command.
    pub fix: Option<String>,
}

impl Finding {
    fn new(level: Level, name: impl Into<String>, text: impl Into<String>) -> Finding {
        Finding { level, name: name.into(), text: text.into(), fix: None }
    }

    pub fn ok(name: impl Into<String>, text: impl Into<String>) -> Finding {
        Finding::new(Level::Ok, name, text)
    }

    pub fn attention(
        name: impl Into<String>,
        text: impl Into<String>,
        fix: impl Into<String>,
    ) -> Finding {
        Finding { fix: Some(fix.into()), ..Finding::new(Level::Attention, name, text) }
    }

    pub fn broken(
        name: impl Into<String>,
        text: impl Into<String>,
        fix: impl Into<String>,
    ) -> Finding {
        Finding { fix: Some(fix.into()), ..Finding::new(Level::Broken, name, text) }
    }
}

//! A failed call that was a mistake: something was typed that does not exist.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What does not exist. Commands are the words that name them: `git remote`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "unknown", rename_all = "kebab-case")]
pub enum Mistake {
    /// A tool of the host.
    Tool {
        host: String,
        tool: String,
    },
    /// A program.
    Command {
        program: String,
    },
    Subcommand {
        command: String,
        subcommand: String,
    },
    /// An option, with its dashes.
    Flag {
        command: String,
        flag: String,
    },
}

impl Mistake {
    /// The words that a command with this mistake begins with, if the mistake is one of them or
    /// comes next.
    pub fn words(&self) -> Option<String> {
        match self {
            Mistake::Tool { .. } => None,
            Mistake::Command { program } => Some(program.clone()),
            Mistake::Subcommand { command, subcommand: word }
            | Mistake::Flag { command, flag: word } => Some(format!("{command} {word}")),
        }
    }
}

impl Mistake {
    /// What is unknown: a tool, a command, a subcommand or a flag.
    pub fn kind(&self) -> &'static str {
        match self {
            Mistake::Tool { .. } => "tool",
            Mistake::Command { .. } => "command",
            Mistake::Subcommand { .. } => "subcommand",
            Mistake::Flag { .. } => "flag",
        }
    }

    /// What was typed, with the command or the host that does not know it.
    pub fn subject(&self) -> String {
        match self {
            Mistake::Tool { host, tool } => format!("{tool} in {host}"),
            Mistake::Command { .. } | Mistake::Subcommand { .. } | Mistake::Flag { .. } => {
                self.words().unwrap_or_default()
            }
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {} {}", self.kind(), self.subject())
    }
}

//! A command that a document runs, and how it ended.

use std::time::Duration;
use towpath_shell::Filled;

/// A command that a document runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// The file that runs it, and the line there.
    pub file: String,
    pub line: usize,
    /// Unique in the document and its imports; see [`DocumentSet::line_number`](crate::DocumentSet::line_number).
    pub number: u32,
    /// The defined command that is called, if one is.
    pub name: Option<String>,
    /// The definition as it is written, and the arguments by the names of its parameters.
    pub definition: Option<String>,
    pub parameters: Vec<(String, String)>,
    /// The command as a user reads it, with the values that are known.
    pub shown: String,
    /// What the shell gets; `None` where a value is not known yet.
    pub filled: Option<Filled>,
}

/// The ends of what a command that failed has printed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Printed {
    pub stdout: String,
    pub stderr: String,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandEnd {
    /// With its standard output.
    Succeeded(Vec<u8>),
    /// It did not run: its output is not known.
    NotRun,
    Exited {
        code: i32,
        printed: Printed,
    },
    Signalled {
        signal: i32,
        printed: Printed,
    },
    TimedOut {
        after: Duration,
        printed: Printed,
    },
    NotStarted {
        error: String,
    },
    /// It printed more than a document may have.
    TooLarge {
        error: String,
    },
}

impl CommandEnd {
    /// Why the document fails, and what the command has printed.
    pub(crate) fn failure(&self) -> (String, Printed) {
        let nothing = Printed::default;
        match self {
            CommandEnd::Succeeded(_) | CommandEnd::NotRun => (String::new(), nothing()),
            CommandEnd::Exited { code, printed } => {
                (format!("the command failed with exit code {code}"), printed.clone())
            }
            CommandEnd::Signalled { signal, printed } => {
                (format!("the command was ended by signal {signal}"), printed.clone())
            }
            CommandEnd::TimedOut { after, printed } => {
                (format!("the command timed out after {} s", after.as_secs_f64()), printed.clone())
            }
            CommandEnd::NotStarted { error } => {
                (format!("the command could not be started: {error}"), nothing())
            }
            CommandEnd::TooLarge { error } => (error.clone(), nothing()),
        }
    }
}

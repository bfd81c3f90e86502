//! The commands that a document may run.

use crate::document_command::Command;

/// Which commands a document may run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Permitted {
    #[default]
    All,
    /// Calls of these commands, and commands that are written in the document if `shell` is set.
    Only { names: Vec<String>, shell: bool },
}

impl Permitted {
    pub fn allows(&self, command: &Command) -> bool {
        match (self, &command.name) {
            (Permitted::All, _) => true,
            (Permitted::Only { names, .. }, Some(name)) => names.contains(name),
            (Permitted::Only { shell, .. }, None) => *shell,
        }
    }
}

//! Who answers the agent steps of a run, as whoever starts it has chosen.

use std::path::PathBuf;
use std::sync::Arc;
use towpath_executor::{Backend, LocalAgents, Script};

#[derive(Debug)]
pub enum Agents {
    /// Answers from a file, for tests and demonstrations.
    Scripted {
        script: Script,
        calls: Option<PathBuf>,
        /// It replaces another script that the run began with.
        fresh: bool,
    },
    Program {
        backend: Arc<dyn Backend>,
        calls: Option<PathBuf>,
    },
    /// The plan has no agent step, or a check before the run would have refused it.
    None,
}

/// The parts of [`Agents`]: who answers, where calls are noted, the script, and whether it replaces
/// another.
pub(crate) type AgentParts = (LocalAgents, Option<PathBuf>, Option<Script>, bool);

impl Agents {
    pub(crate) fn into_parts(self) -> AgentParts {
        match self {
            Agents::None => (LocalAgents::None, None, None, false),
            Agents::Program { backend, calls } => {
                (LocalAgents::Program(backend), calls, None, false)
            }
            Agents::Scripted { script, calls, fresh } => {
                (LocalAgents::Scripted, calls, Some(script), fresh)
            }
        }
    }
}

//! One call of an agent, as it is asked for. No backend's own notions appear here.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;
use towpath_core::SessionId;

/// One agent call as the engine wants it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    pub prompt: String,
    /// As the backend's program spells it; `None` is the program's own default.
    pub model: Option<String>,
    /// With `resume` the session to continue. Without it the id of a new one, chosen by us, and
    /// passed over where the program chooses. A session that turned out to be unknown is opened
    /// again by the same call without `resume`; by which id depends on
    /// [`SessionIds`](crate::SessionIds).
    pub session: Option<SessionId>,
    /// Continue `session` instead of opening it.
    pub resume: bool,
    /// Where the agent works. The process is started there.
    #[serde(with = "towpath_core::os_text")]
    pub directory: PathBuf,
    /// Instructions above the prompt, for a new session. A program that cannot take
    /// them apart gets them before its first prompt.
    pub system: Option<String>,
    /// They are added to the program's own instructions, and do not replace them.
    pub appends_system: bool,
    /// What the agent may do: one of the backend's own modes. `None` lets it do everything without
    /// asking, since nobody is there to answer.
    pub mode: Option<String>,
    /// The directory of this call alone in which an invocation's files are; absolute.
    #[serde(with = "towpath_core::os_text")]
    pub private: PathBuf,
}

impl Call {
    /// The prompt for a program that has no other way for instructions: a new session's first
    /// prompt begins with them.
    pub fn prompt_with_system(&self) -> String {
        match &self.system {
            Some(system) if !self.resume => format!("{}\n\n{}", system.trim_end(), self.prompt),
            _ => self.prompt.clone(),
        }
    }

    /// `--model=NAME`, as most programs take it.
    pub(crate) fn model_argument(&self) -> Option<OsString> {
        self.model.as_ref().map(|model| format!("--model={model}").into())
    }
}

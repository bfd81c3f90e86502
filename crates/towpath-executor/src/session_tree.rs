//! The variables by which nested agents know how deep they are.

use std::ffi::OsString;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTree {
    pub depth: u32,
    pub max_depth: u32,
    pub max_sessions: u32,
    pub id: String,
}

impl SessionTree {
    /// What an agent's child environment gets.
    pub fn for_child(&self) -> Vec<(OsString, OsString)> {
        [
            ("AMPLIHACK_SESSION_DEPTH", (self.depth + 1).to_string()),
            ("AMPLIHACK_MAX_DEPTH", self.max_depth.to_string()),
            ("AMPLIHACK_MAX_SESSIONS", self.max_sessions.to_string()),
            ("AMPLIHACK_TREE_ID", self.id.clone()),
        ]
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect()
    }
}

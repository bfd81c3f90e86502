//! `[verify]` of a tool recipe, with the fields of the original design: `command`, `pattern`, `mode`,
//! `exit_code` and `reason`. Whether a run passes it is decided in one module, `verify_check`.

use crate::tool_recipe::is_default;
use serde::{Deserialize, Serialize};

/// The reason of a section that was repaired after the tool had not accepted `--version`.
pub const REPAIRED_REASON: &str = "verification repaired: tool does not support --version";

/// The placeholder for the installed version, in patterns and in the parameters of steps.
pub const VERSION: &str = "{version}";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifySection {
    pub command: String,
    /// A literal, or a regex between slashes. Without one a version has to be printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    pub mode: VerifyMode,
    #[serde(default, skip_serializing_if = "is_default")]
    pub exit_code: i32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VerifyMode {
    /// The output has the version.
    #[default]
    Version,
    /// The output has a text that only a working tool prints; `reason` describes why there is no
    /// version.
    Output,
}

impl VerifySection {
    /// What a generated recipe is verified with at first.
    pub fn by_version(program: &str) -> VerifySection {
        VerifySection {
            command: format!("{program} --version"),
            pattern: None,
            mode: VerifyMode::Version,
            exit_code: 0,
            reason: None,
        }
    }

    /// The pattern that counts: without one a version has to be printed.
    pub fn effective_pattern(&self) -> &str {
        self.pattern.as_deref().unwrap_or(VERSION)
    }
}

//! What a repair of a recipe's verify section changed, and how it was found. It is data for the result,
//! for the recipe's provenance and for telemetry; the repaired section itself is in the repaired copy.

use crate::verify_section::VerifySection;
use serde::{Deserialize, Serialize};

/// The only value of `type`.
pub const REPAIR_TYPE: &str = "verification_self_repair";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairMetadata {
    #[serde(rename = "type")]
    pub kind: String,
    /// The command of the original verify section.
    pub original: String,
    /// The command of the repaired one.
    pub repaired: String,
    pub method: RepairMethod,
    pub exit_code: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepairMethod {
    /// The output of the original command was enough.
    OutputDetection,
    /// `--help`, or a bare `help` that the tool advertises.
    FallbackHelp,
    /// `-h`
    FallbackH,
    /// Another way to ask for the version.
    FallbackVersionFlag,
    Model,
}

/// Methods by the arguments of the command that gave the evidence; all others ask for a version.
const BY_ARGUMENTS: &[(&str, RepairMethod)] = &[
    ("--help", RepairMethod::FallbackHelp),
    ("-help", RepairMethod::FallbackHelp),
    ("help", RepairMethod::FallbackHelp),
    ("-h", RepairMethod::FallbackH),
];

impl RepairMethod {
    /// How a check without a model was found: by what the original command printed, or by another one.
    pub fn of_commands(original: &str, repaired: &str) -> RepairMethod {
        if original == repaired {
            return RepairMethod::OutputDetection;
        }
        let arguments = repaired.split_once(' ').map_or("", |(_, arguments)| arguments.trim());
        let row = BY_ARGUMENTS.iter().find(|(known, _)| *known == arguments);
        row.map_or(RepairMethod::FallbackVersionFlag, |(_, method)| *method)
    }
}

impl RepairMetadata {
    pub fn new(
        original: &VerifySection,
        repaired: &VerifySection,
        method: RepairMethod,
    ) -> RepairMetadata {
        RepairMetadata {
            kind: REPAIR_TYPE.to_owned(),
            original: original.command.clone(),
            repaired: repaired.command.clone(),
            method,
            exit_code: repaired.exit_code,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_method_follows_from_the_command_and_has_its_word() {
        for (command, word) in [
            ("x --version", "output_detection"),
            ("x --help", "fallback_help"),
            ("x -h", "fallback_h"),
            ("x -V", "fallback_version_flag"),
            ("x version", "fallback_version_flag"),
        ] {
            let method = RepairMethod::of_commands("x --version", command);
            assert_eq!(serde_json::to_value(method).unwrap(), word);
        }
    }
}

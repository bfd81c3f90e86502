//! A program that works and is another one: asked for its version it prints one, which is not the expected
//! one, and nothing of what it prints has the tool's name.

use super::prepared_observation::Reading;
use crate::version_token::{is_dotted, same_version, tokens};

pub(super) fn is_other_program(reading: &Reading<'_>) -> bool {
    let Some(expected) = reading.observation.expected_version.as_deref() else { return false };
    let asks = |argument: &String| argument.to_lowercase().trim_matches('-').starts_with('v');
    reading.arguments.iter().any(asks)
        && !names_tool(reading)
        && has_only_other_versions(reading, expected)
}

pub(super) fn names_tool(reading: &Reading<'_>) -> bool {
    reading.own_lines().any(|(_, line)| reading.names.is_in(&line.lower))
}

fn has_only_other_versions(reading: &Reading<'_>, expected: &str) -> bool {
    let printed = |line: &str| -> Vec<String> {
        let found = tokens(line).into_iter().map(|range| line[range].to_owned());
        found.filter(|token| is_dotted(token)).collect()
    };
    let versions: Vec<String> =
        reading.own_lines().flat_map(|(_, line)| printed(&line.text)).collect();
    // `1.2` for 1.2.3 is the same version, printed shorter.
    let agrees =
        |version: &String| same_version(version, expected) || same_version(expected, version);
    !versions.is_empty() && !versions.iter().any(agrees)
}

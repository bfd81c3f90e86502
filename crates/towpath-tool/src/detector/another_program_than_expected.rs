//! A program that works and is another one: asked for its version it prints another than the expected one,
//! or help and messages under another name, and nothing of what it prints has the tool's name.

use super::answer_about_argument::{ANY_PROGRAM, is_of_another_program, is_related};
use super::prepared_observation::Reading;
use crate::clean_printed_text::Line;
use crate::version_token::{find_expected, is_dotted, same_version, tokens};

pub(super) fn is_other_program(reading: &Reading<'_>) -> bool {
    let Some(expected) = reading.observation.expected_version.as_deref() else { return false };
    let asks = |argument: &String| argument.to_lowercase().trim_matches('-').starts_with('v');
    reading.arguments.iter().any(asks)
        && !names_tool(reading)
        && (has_only_other_versions(reading, expected) || names_another(reading, expected))
}

/// `Usage: clear [options]` or `clear: invalid option`, without the expected version.
fn names_another(reading: &Reading<'_>, expected: &str) -> bool {
    let lines = || reading.own_lines().map(|(_, line)| line);
    let expected_is_there = lines().any(|line| find_expected(&line.text, expected).is_some());
    let complains = lines().any(|line| is_of_another_program(reading, line));
    let all: Vec<&Line> = lines().collect();
    let mut used = (0..all.len()).filter_map(|at| used_program(&all[at..]));
    !expected_is_there && (complains || used.any(|name| !is_related(reading, name)))
}

/// The program of a usage line, or of the line below it. A word for any program is no name.
fn used_program<'l>(lines: &[&'l Line]) -> Option<&'l str> {
    let rest = lines.first()?.lower.trim_start().strip_prefix("usage")?;
    let rest = rest.trim_start_matches([':', ' ', '\t']);
    let rest = if rest.is_empty() { lines.get(1)?.lower.as_str() } else { rest };
    let word = rest.split_whitespace().next()?;
    let name = word.rsplit('/').next().unwrap_or(word).trim_end_matches([':', ',', '.']);
    let letters = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    let is_name =
        name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(letters);
    (is_name && !ANY_PROGRAM.contains(&name)).then_some(name)
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

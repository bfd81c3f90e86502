//! A program that works and is another one: asked for its version it prints another than the expected one,
//! or help and messages under another name, and nothing of what it prints has the tool's name.

use super::answer_about_argument::{ANY_PROGRAM, is_of_another_program, is_related};
use super::prepared_observation::Reading;
use super::version_output;
use crate::clean_printed_text::Line;
use crate::version_token::{find_expected, is_dotted, same_version, tokens};

pub(super) fn is_other_program(reading: &Reading<'_>) -> bool {
    let Some(expected) = reading.observation.expected_version.as_deref() else { return false };
    let asks = |argument: &String| argument.to_lowercase().trim_matches('-').starts_with('v');
    let asked = reading.arguments.iter().any(asks);
    let complains = || reading.own_lines().any(|(_, line)| is_of_another_program(reading, line));
    let named = || !has_version(reading, expected) && (complains() || is_used_as_other(reading));
    let related = || version_output::find(reading).is_some_and(|found| found.related);
    let versions = || has_only_other_versions(reading, expected) && !related();
    !names_tool(reading) && (asked && versions() || named())
}

/// Whether a title with a version or a usage line is another program's. A program may print the name that
/// it was started by in its help and its messages, so that these do not outweigh it; a complaint under
/// another name may be that of a program which the tool has started.
pub(super) fn has_other_title(reading: &Reading<'_>) -> bool {
    let expected = reading.observation.expected_version.as_deref().unwrap_or_default();
    let titled = version_output::find(reading).is_some_and(|found| found.other);
    !has_version(reading, expected) && (titled || is_used_as_other(reading))
}

fn has_version(reading: &Reading<'_>, expected: &str) -> bool {
    reading.own_lines().any(|(_, line)| find_expected(&line.text, expected).is_some())
}

/// `Usage: clear [options]`
fn is_used_as_other(reading: &Reading<'_>) -> bool {
    let lines: Vec<&Line> = reading.own_lines().map(|(_, line)| line).collect();
    let mut used = (0..lines.len()).filter_map(|at| used_program(&lines[at..]));
    used.any(|name| !is_related(reading, name))
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

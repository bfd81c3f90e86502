//! Whether a name belongs to the tool, and whether a program that works is another one: asked for its version
//! it prints another than the expected one, or help and messages under another name, and nothing of what
//! it prints has the tool's name.

use super::line_table::words;
use super::reading::Reading;
use super::version;
use crate::printed_text::Line;
use crate::version_token::{find_expected, is_dotted, same_version, tokens};

pub(super) fn is_other_program(reading: &Reading<'_>) -> bool {
    let Some(expected) = reading.observation.expected_version.as_deref() else { return false };
    let complains = || reading.own_lines().any(|line| is_of_another_program(reading, line));
    let named = || !has_version(reading, expected) && (complains() || is_used_as_other(reading));
    // `/opt/afio: invalid option` and the usage line of another program below it.
    let prefixed = |line: &Line| {
        let first = line.lower.split_whitespace().next().unwrap_or("");
        first.ends_with(':') && reading.names.is_in(first)
    };
    let mut titles = reading.own_lines().filter(|line| !prefixed(line));
    if !titles.any(|line| reading.names.is_in(&line.lower)) && is_used_as_other(reading) {
        return !has_version(reading, expected);
    }
    let related = || version::find(reading).is_some_and(|found| found.related);
    let versions = || has_only_other_versions(reading, expected) && !related();
    !reading.names_tool() && (reading.asks_version() && versions() || named())
}

/// Whether a title with a version or a usage line is another program's. A program may print the name that
/// it was started by in its help and its messages, so that these do not outweigh it; a complaint under
/// another name may be that of a program which the tool has started.
pub(super) fn has_other_title(reading: &Reading<'_>) -> bool {
    let expected = reading.observation.expected_version.as_deref().unwrap_or_default();
    let titled = version::find(reading).is_some_and(|found| found.other);
    !has_version(reading, expected) && (titled || is_used_as_other(reading))
}

fn has_version(reading: &Reading<'_>, expected: &str) -> bool {
    reading.own_lines().any(|line| find_expected(&line.text, expected).is_some())
}

/// `Usage: clear [options]`
fn is_used_as_other(reading: &Reading<'_>) -> bool {
    let lines: Vec<&Line> = reading.own_lines().collect();
    let mut used = (0..lines.len()).filter_map(|at| used_program(&lines[at..]));
    used.any(|name| !is_related(reading, name))
}

/// The program of a usage line, or of the line below it.
fn used_program<'l>(lines: &[&'l Line]) -> Option<&'l str> {
    let rest = lines.first()?.lower.trim_start().strip_prefix("usage")?;
    let rest = rest.trim_start_matches([':', ' ', '\t']);
    let rest = if rest.is_empty() { lines.get(1)?.lower.as_str() } else { rest };
    let word = rest.split_whitespace().next()?;
    let name = base_name(word).trim_end_matches([':', ',', '.']);
    (name.starts_with(|c: char| c.is_ascii_alphanumeric()) && is_name(name)).then_some(name)
}

fn has_only_other_versions(reading: &Reading<'_>, expected: &str) -> bool {
    let mut versions = reading.own_lines().flat_map(|line| {
        let found = tokens(&line.text).into_iter().map(|range| &line.text[range]);
        found.filter(|token| is_dotted(token)).collect::<Vec<_>>()
    });
    // `1.2` for 1.2.3 is the same version, printed shorter.
    let differs = |version| !same_version(version, expected) && !same_version(expected, version);
    versions.next().is_some_and(differs) && versions.all(differs)
}

/// `bittern: invalid option` of a program that is never called by the tool's name.
pub(super) fn is_of_another_program(reading: &Reading<'_>, line: &Line) -> bool {
    let Some((before, _)) = line.lower.trim_start().split_once(": ") else { return false };
    let name = base_name(before);
    let exception = name.ends_with("error") || name.ends_with("exception");
    let is_number = name.chars().all(|c| c.is_ascii_digit());
    // `version: unknown flag`
    let argument = reading.arguments.iter().any(|given| given.trim_start_matches('-') == name);
    let other = exception || is_number || argument || words("no-name").contains(&name);
    is_name(name)
        && !other
        && !is_related(reading, name)
        && !reading.lines.iter().any(|line| reading.names.is_in(&line.lower))
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a word can be the name of one program. A word for any program is no name.
fn is_name(word: &str) -> bool {
    let letters = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    !word.is_empty() && word.chars().all(letters) && !words("any-program").contains(&word)
}

/// Shorter words are parts of unrelated names, too.
const SHORTEST_PART: usize = 4;

/// `llvm-mt` of `llvm-mt-14`, `pkgconf` of `pkg-config`, `getcaps` of `getpcaps`.
pub(super) fn is_related(reading: &Reading<'_>, name: &str) -> bool {
    let tool = reading.observation.tool.to_lowercase();
    let mut letters = tool.chars();
    let shortened = name.len() >= SHORTEST_PART
        && tool.get(..1) == name.get(..1)
        && name.chars().all(|wanted| letters.any(|letter| letter == wanted));
    reading.names.is_in(name)
        || shortened
        || tool.contains(name)
        || tool.replace('-', "").contains(name)
        || is_part_of_name(reading, name)
}

/// The last part of the tool's name, or a part of its package's: `nm` of `gcc-nm`, `postgresql` of
/// `postgresql-common`.
pub(super) fn is_part_of_name(reading: &Reading<'_>, word: &str) -> bool {
    let last = reading.observation.tool.rsplit_once('-').map(|(_, last)| last);
    let mut parts = reading.observation.aliases.iter().flat_map(|alias| alias.split('-'));
    let is_word =
        |part: &str| part.eq_ignore_ascii_case(word) && !words("any-program").contains(&word);
    last.is_some_and(is_word) || word.len() >= SHORTEST_PART && parts.any(is_word)
}

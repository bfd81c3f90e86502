//! Step 5: the program answered about our argument. Its own code ran, although it showed neither version
//! nor help.

use super::line_regex_table::LineTable;
use super::missing_from_environment;
use super::prepared_observation::Reading;
use crate::clean_printed_text::Line;
use crate::verdict_and_evidence::EvidenceKind::{self, *};
use crate::verdict_and_evidence::{Evidence, Judgement, Verdict};

static ANSWERS: LineTable<EvidenceKind> = LineTable::new("answer-about-argument");

/// Names that any program may print: words for a program, runtimes, and the files that these start.
pub(super) const ANY_PROGRAM: &[&str] = &[
    "program",
    "command",
    "prog",
    "cmd",
    "options",
    "main",
    "main.py",
    "__main__.py",
    "cli",
    "cli.py",
    "cli.js",
    "index.js",
    "node",
    "java",
    "python",
    "python3",
];

/// What a message may begin with that is no program's name.
const NO_NAMES: &[&str] =
    &["error", "fatal", "warning", "usage", "note", "hint", "info", "err", "exception", "getopt"];

pub(super) fn judge(reading: &Reading<'_>) -> Option<Judgement> {
    let lines = || reading.own_lines().map(|(_, line)| line);
    let alone = lines().count() == 1;
    let answers = |line: &&Line| !is_listed_option(line) || is_answer(reading, line, alone);
    let quoted = lines().filter(answers).find(|line| quotes_argument(reading, line));
    let quoted = quoted.map(|line| Evidence::new(ArgumentQuoted, line.text.trim()));
    let rejected = || rejection(reading);
    let evidence = quoted.or_else(rejected).or_else(|| title(reading))?;
    Some(Judgement::new(Verdict::Alive, evidence))
}

/// An entry of a list of options is no answer.
fn is_listed_option(line: &Line) -> bool {
    line.text.trim_start().starts_with('-')
}

/// `-V: not found`, or nothing but our argument, of a program that prints what it is given.
fn is_answer(reading: &Reading<'_>, line: &Line, alone: bool) -> bool {
    let rest = |argument: &String| line.text.strip_prefix(argument.as_str());
    let mut rests = reading.arguments.iter().filter_map(rest);
    rests.any(|rest| rest.starts_with(": ") || (alone && rest.is_empty()))
}

/// A bare word in the message of an uncaught exception may be a name of its code.
fn quotes_argument(reading: &Reading<'_>, line: &Line) -> bool {
    let options = reading.arguments.iter().any(|argument| argument.starts_with('-'));
    (options || !reading.exception.uncaught) && reading.quotes_argument(&line.text)
}

/// A rejection in the tool's own words. What comes behind a complaint about the terminal or the display
/// is a consequence of it.
fn rejection(reading: &Reading<'_>) -> Option<Evidence> {
    let lines = reading.own_lines().map(|(_, line)| line);
    let lines = lines.take_while(|line| !missing_from_environment::lacks_screen(line));
    let mut own =
        lines.filter(|line| !is_listed_option(line) && !is_of_another_program(reading, line));
    own.find_map(|line| Some(Evidence::new(ANSWERS.find(line)?, line.text.trim())))
}

/// `bittern: invalid option` of a program that is never called by the tool's name.
pub(super) fn is_of_another_program(reading: &Reading<'_>, line: &Line) -> bool {
    let Some((before, _)) = line.lower.trim_start().split_once(": ") else { return false };
    let name = before.rsplit('/').next().unwrap_or(before);
    let letters = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    let is_name = !name.is_empty() && name.chars().all(letters) && !NO_NAMES.contains(&name);
    let is_name = is_name && !ANY_PROGRAM.contains(&name);
    let exception = name.ends_with("error") || name.ends_with("exception");
    let is_number = name.chars().all(|c| c.is_ascii_digit());
    // `version: unknown flag`
    let argument = reading.arguments.iter().any(|given| given.trim_start_matches('-') == name);
    let related = argument || is_related(reading, name);
    is_name
        && !exception
        && !is_number
        && !related
        && !reading.lines.iter().any(|line| reading.names.is_in(&line.lower))
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
    let is_word = |part: &str| part.eq_ignore_ascii_case(word) && !ANY_PROGRAM.contains(&word);
    last.is_some_and(is_word) || word.len() >= SHORTEST_PART && parts.any(is_word)
}

/// The tool's own title with a copyright, without a version.
fn title(reading: &Reading<'_>) -> Option<Evidence> {
    let mut lines = reading.own_lines().map(|(_, line)| line);
    let first = lines.next()?;
    let begins = reading.names.word_in(&first.lower).is_some_and(|name| name.start == 0);
    let copyright = lines.any(|line| line.lower.starts_with("copyright "));
    (begins && copyright && reading.exit_code() == Some(0))
        .then(|| Evidence::new(Title, first.text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_used() {
        ANSWERS.compile_all();
    }
}

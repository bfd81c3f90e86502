//! Step 5: the program answered about our argument. Its own code ran, although it showed neither version
//! nor help.

use super::environment;
use super::identity::is_of_another_program;
use super::line_table::LineTable;
use super::reading::Reading;
use crate::printed_text::Line;
use crate::verdict::EvidenceKind::{self, *};
use crate::verdict::{Evidence, Judgement, Verdict};

static ANSWERS: LineTable<EvidenceKind> = LineTable::new("answer-about-argument");

pub(super) fn judge(reading: &Reading<'_>) -> Option<Judgement> {
    let alone = reading.own_lines().count() == 1;
    let answers = |line: &&Line| !is_listed_option(line) || is_answer(reading, line, alone);
    let mut lines = reading.own_lines().filter(answers);
    let quoted = lines.find(|line| quotes_argument(reading, line));
    let quoted = quoted.map(|line| line.evidence(ArgumentQuoted));
    let evidence = quoted.or_else(|| rejection(reading)).or_else(|| title(reading))?;
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
    (options || !reading.is_uncaught) && reading.quotes_argument(&line.text)
}

/// A rejection in the tool's own words. What comes behind a complaint about the terminal or the display
/// is a consequence of it. The message of an uncaught exception is about the code.
fn rejection(reading: &Reading<'_>) -> Option<Evidence> {
    if reading.is_uncaught {
        return None;
    }
    let lines = reading.own_lines().take_while(|line| !environment::lacks_screen(line));
    let mut own =
        lines.filter(|line| !is_listed_option(line) && !is_of_another_program(reading, line));
    own.find_map(|line| Some(line.evidence(rejects(line)?)))
}

pub(super) fn rejects(line: &Line) -> Option<EvidenceKind> {
    ANSWERS.find(line)
}

/// The tool's own title with a copyright, without a version.
fn title(reading: &Reading<'_>) -> Option<Evidence> {
    let mut lines = reading.own_lines();
    let first = lines.next()?;
    let begins = reading.names.word_in(&first.lower).is_some_and(|name| name.start == 0);
    let copyright = lines.any(|line| line.lower.starts_with("copyright "));
    (begins && copyright && reading.exit_code() == Some(0)).then(|| first.evidence(Title))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_used() {
        ANSWERS.compile_all();
    }
}

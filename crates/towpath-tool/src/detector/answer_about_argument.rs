//! Step 5: the program answered about our argument. Its own code ran, although it showed neither version
//! nor help.

use super::line_regex_table::{LineTable, Row, row};
use super::missing_from_environment;
use super::prepared_observation::Reading;
use crate::clean_printed_text::Line;
use crate::verdict_and_evidence::EvidenceKind::{self, *};
use crate::verdict_and_evidence::{Evidence, Judgement, Verdict};

static ANSWERS: LineTable<EvidenceKind> = LineTable::new(ROWS);

const ROWS: &[Row<EvidenceKind>] = &[
    row(
        Rejection,
        "option",
        r"\b(unknown|unrecogni[sz]ed|invalid|illegal|unsupported|unexpected|bad|undefined|no such|wrong|ambiguous|incorrect|not an?|not a valid|extra|conflicting|unhandled)\b[\w -]{0,24}\boptions?\b",
    ),
    row(
        Rejection,
        "option",
        r"\boptions?\b.{0,60}\b(unknown|unrecogni[sz]ed|invalid|illegal|not (recogni[sz]ed|known|supported|valid|allowed|understood)|unsupported|ambiguous|requires? an?)\b",
    ),
    row(
        Rejection,
        "flag",
        r"\b(unknown|unrecogni[sz]ed|invalid|illegal|unsupported|unexpected|bad|undefined|no such|not defined)\b[\w -]{0,24}\bflags?\b|flag provided but not defined",
    ),
    row(
        Rejection,
        "switch",
        r"\b(unknown|unrecogni[sz]ed|invalid|illegal|unsupported|unexpected|bad)\b[\w -]{0,24}\bswitch(es)?\b",
    ),
    row(
        Rejection,
        "argument",
        r"\b(unknown|unrecogni[sz]ed|invalid|illegal|unsupported|unexpected|bad|wrong|incorrect|extra|not a valid)\b[\w -]{0,24}\barguments?\b",
    ),
    row(
        Rejection,
        "parameter",
        r"\b(unknown|unrecogni[sz]ed|invalid|illegal|unsupported|unexpected|bad|wrong|incorrect)\b[\w -]{0,24}\bparameters?\b",
    ),
    row(
        Rejection,
        "command",
        r"\b(unknown|unrecogni[sz]ed|invalid|illegal|unsupported|unexpected|bad|no such|not a valid|not a)\b[\w -]{0,24}\b(sub-?)?commands?\b",
    ),
    row(
        Rejection,
        "action",
        r"\b(unknown|unrecogni[sz]ed|invalid|illegal|unsupported|bad|no such)\b[\w -]{0,24}\baction\b",
    ),
    row(
        Rejection,
        "operation",
        r"\b(unknown|unrecogni[sz]ed|invalid|illegal|unsupported|bad|no such)\b[\w -]{0,24}\boperation\b",
    ),
    row(Rejection, "could not find ", r"^could not find (an? )?(sub-?)?(command|option)\b"),
    row(Rejection, "there is no ", r"\bthere is no \S+ option\b"),
    row(Rejection, "getopt::", r"\bcalling Getopt::Std::getopts\b"),
    row(
        AsksForOperand,
        "operand",
        r"\b(missing|extra|no|requires?|needs?|expected|too (few|many))\b.{0,24}\boperands?\b",
    ),
    row(
        AsksForOperand,
        "argument",
        r"\b(missing|too (few|many)|not enough|insufficient|wrong number of|requires?|needs?|expect(s|ed|ing)?|no|incorrect number of|at least|exactly|one|two|required|without)\b.{0,32}\barguments?\b|\barguments?\b.{0,24}\b(expected|required|missing|needed)\b",
    ),
    row(
        AsksForOperand,
        "file",
        r"\b(missing|need|needs|requires?|specify|expected|give|must)\b.{0,24}\b(file ?names?|files?)\b.{0,16}(given|specified|missing|required|supplied|provided|needed|argument|$)|\bno (input |output |source |target )?(file ?names?|files?)( (given|specified|supplied|provided|arguments?)\b|[.!]?$)",
    ),
    row(
        AsksForOperand,
        "specif",
        r"\b(must|need to|should|please|have to|has to|not|no|nothing|neither|required)\b.{0,40}\bspecif(y|ied)\b",
    ),
    row(AsksForOperand, "suppl", r"\b(must|need to|should|please|not|no)\b.{0,24}\bsuppl(y|ied)\b"),
    row(AsksForOperand, "provide", r"\b(must|need to|should|please|not|no)\b.{0,32}\bprovided?\b"),
    row(AsksForOperand, "given", r"\b(no|not|must be|nothing)\b.{0,24}\bgiven\b"),
    row(
        AsksForOperand,
        "missing ",
        r"^\S+: missing (\w+ )?(pattern|command|expression|parameter|name|host\w*|url|path|destination|source|input)\b",
    ),
    row(AsksForOperand, "available ", r"^available (sub-?)?commands: \S"),
    row(AsksForOperand, "please use -", r"\bplease use --?[a-z]"),
    row(AsksForOperand, "input", r"^\S+(:| error:) (the |standard )?input (is )?(not|empty)\b"),
    row(
        Rejection,
        "not be ",
        r"\b(should|must|can) ?not be (run|called|executed|started|invoked) (like this|directly|this way|in this way|by hand)\b",
    ),
    row(AsksForOperand, "parameter", r"\bmissing( \w+)? parameters?\b"),
    row(AsksForOperand, "need", r"\bneeds? (at least|exactly) (one|two|\d+)\b"),
    row(AsksForOperand, "you need", r"\byou need (exactly one|at least one|to give)\b"),
    row(AsksForOperand, "nothing to do", r"\bnothing to do\b"),
    row(Rejection, "--help", r"\b(try|see|use|run|type)\b.{0,40}--help\b"),
    row(Rejection, "-h", r"\b(try|see|use|run|type)\b.{0,40}\s['\x22`‘]?-h\b"),
    row(Rejection, "-help", r"\b(try|see|use|run|type)\b.{0,40}\s['\x22`‘]?-help\b"),
    row(Rejection, "for help", r"\b(try|see|use|run|type|enter)\b.{0,40}\bfor help\b"),
    row(Rejection, "for usage", r"\b(try|see|use|run|type)\b.{0,60}\bfor usage\b"),
];

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

/// `llvm-mt` of `llvm-mt-14`, `pkgconf` of `pkg-config`.
pub(super) fn is_related(reading: &Reading<'_>, name: &str) -> bool {
    let tool = reading.observation.tool.to_lowercase();
    reading.names.is_in(name) || tool.contains(name) || tool.replace('-', "").contains(name)
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

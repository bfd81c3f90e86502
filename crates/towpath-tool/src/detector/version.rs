//! Step 3: the version that the tool printed, and the pattern that finds it again. The expected version
//! counts first, then one beside the tool's name, then one after the word "version", then a line that is
//! nothing but a version, then the first line of another name.

use super::identity::is_part_of_name;
use super::line_table::{LineTable, words};
use super::reading::Reading;
use super::{answer, broken, environment, help};
use crate::output_pattern::paths_in;
use crate::printed_text::Line;
use crate::verdict::{Evidence, EvidenceKind, Judgement, Verdict};
use crate::verify_section::VERSION;
use crate::version_token::{
    expected_spellings, find_expected, is_date, is_dotted, is_integer, same_version, tokens,
};
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// A version and where it is.
pub(super) struct FoundVersion {
    pub version: String,
    pub pattern: String,
    kind: EvidenceKind,
    line: String,
    /// The text names another program, and not the tool.
    pub other: bool,
    /// The title has a part of the tool's or its package's name.
    pub related: bool,
}

impl FoundVersion {
    pub fn is_expected(&self, reading: &Reading<'_>) -> bool {
        let expected = reading.observation.expected_version.as_deref();
        expected.is_some_and(|expected| same_version(&self.version, expected))
    }
}

/// One line that may have the version.
struct Candidate<'r> {
    line: &'r Line,
    /// The line with blanks for everything that is no version of the tool, its names with digits too.
    masked: String,
    /// The masked parts, but for the names.
    hidden: Vec<Range<usize>>,
    /// It is the first line of its stream.
    first: bool,
    /// It is among the first lines of its stream.
    early: bool,
}

static NOTICES: LineTable<&str> = LineTable::new("notice");
static FAILURES: LineTable<&str> = LineTable::new("failure");
static MEASURES: LineTable<&str> = LineTable::new("measure");
/// How many lines of a stream may have `version 1.2` in the middle of a sentence.
const EARLY_LINES: usize = 4;
/// How many words may be before the version in the first line of another name.
const MOST_WORDS: usize = 8;

pub(super) fn judge(reading: &Reading<'_>) -> Option<Judgement> {
    let found = find(reading)?;
    let failed = reading.exit_code() != Some(0);
    if failed && reading.is_uncaught {
        return None;
    }
    let expected = reading.observation.expected_version.as_deref();
    let expected = expected.filter(|expected| !expected_spellings(expected).is_empty());
    let differs = expected.is_some_and(|expected| !same_version(&found.version, expected));
    let identity = found.other.then_some("other");
    if found.other && differs {
        let evidence = Evidence::new(EvidenceKind::OtherProgram, found.line);
        return Some(Judgement { identity, ..Judgement::new(Verdict::Unknown, evidence) });
    }
    if failed && has_given_up(reading, &found) {
        return None;
    }
    let mut warnings = Vec::new();
    if found.other {
        warnings.push("the version is printed under another name".to_owned());
    }
    if let Some(expected) = expected.filter(|_| differs) {
        warnings.push(format!("version {expected} was expected, {} is printed", found.version));
    }
    let evidence = Evidence::new(found.kind, found.line);
    Some(Judgement {
        version_found: Some(found.version),
        pattern: Some(found.pattern),
        identity,
        warnings,
        ..Judgement::new(Verdict::WorksByVersion, evidence)
    })
}

/// Whether a program that failed could do no more than print its version. It could where it shows help, or
/// answers about our argument and complains of nothing else; and where the version is a title with
/// nothing or a notice below it. Complaints about the machine and its files do not count.
fn has_given_up(reading: &Reading<'_>, found: &FoundVersion) -> bool {
    let answers =
        |line: &Line| reading.quotes_argument(&line.text) || answer::rejects(line).is_some();
    let of_machine = |line: &Line| {
        environment::is_complaint_of_machine(line) || broken::is_missing_elsewhere(reading, line)
    };
    let own = || reading.own_lines().filter(|line| !answers(line) && !of_machine(line));
    let is_notice = |line: &Line| NOTICES.find(line).is_some();
    let mut below = own().skip_while(|line| line.text.trim() != found.line).skip(1);
    let is_title = is_title(reading, found) && below.next().is_none_or(is_notice);
    help::judge(reading).is_none()
        && (own().any(|line| FAILURES.find(line).is_some())
            || !reading.own_lines().any(answers) && !is_title)
}

/// How many words may be before or after the version of a title.
const TITLE_WORDS: usize = 3;

/// `iperf version 2.1.8 (12 August 2022) pthreads`, but not `tern 3.7.0 can be downloaded with get-tern`.
fn is_title(reading: &Reading<'_>, found: &FoundVersion) -> bool {
    let (before, after) = found.line.split_once(&found.version).unwrap_or_default();
    // `Client Version: v` is none.
    let label = before.trim_end_matches(['v', 'V']).trim_end();
    let sentence = label.contains(": ") && !is_own_prefix(reading, before);
    let notice = NOTICES.find(&Line::new(after)).is_some();
    !sentence
        && word_count(before) <= TITLE_WORDS
        && !after.starts_with([':', ')'])
        && (notice || word_count(after) <= TITLE_WORDS)
}

type Search = fn(&Reading<'_>, &Candidate<'_>) -> Option<Range<usize>>;

/// The searches in their order: each one goes through all lines before the next begins.
const SEARCHES: &[(EvidenceKind, Search)] = &[
    (EvidenceKind::ExpectedVersion, expected_version),
    (EvidenceKind::NamedVersion, beside_name),
    (EvidenceKind::BareVersion, |_, candidate| candidate.shaped("details")),
    (EvidenceKind::NamedVersion, beside_longer_name),
    (EvidenceKind::VersionWord, |_, candidate| candidate.shaped("word")),
    (EvidenceKind::BareVersion, |_, candidate| candidate.shaped("bare")),
    (EvidenceKind::FirstLineVersion, first_line),
    (EvidenceKind::VersionWord, |_, candidate| candidate.shaped("label")),
    (EvidenceKind::BareVersion, bare_below_title),
];

pub(super) fn find(reading: &Reading<'_>) -> Option<FoundVersion> {
    let candidates = candidates(reading);
    let (kind, candidate, range) = SEARCHES.iter().find_map(|(kind, search)| {
        // Behind a masked name there may be a number that belongs to it.
        let separate = |candidate: &Candidate<'_>, at: usize| {
            !candidate.line.text[..at].ends_with(|c: char| c.is_ascii_digit())
        };
        let found = candidates.iter().filter_map(|c| Some((c, search(reading, c)?)));
        let mut found = found.filter(|(candidate, range)| separate(candidate, range.start));
        found.next().map(|(candidate, range)| (*kind, candidate, range))
    })?;
    let named = reading.lines.iter().any(|line| {
        reading.names.is_in(&line.lower)
            && (std::ptr::eq(line, candidate.line) || !repeats_command(reading, line))
    });
    let bare = candidate.line.text[..range.start].trim().trim_end_matches(['v', 'V']).is_empty();
    let about = kind == EvidenceKind::VersionWord && !has_other_name(candidate, range.start);
    let abbreviated = reading.names.abbreviates(&candidate.line.lower);
    let mut title = candidate.line.lower[..range.start].split(|c: char| !c.is_alphanumeric());
    let related = title.any(|word| is_part_of_name(reading, word));
    Some(FoundVersion {
        version: candidate.line.text[range.clone()].to_owned(),
        pattern: pattern(reading, candidate, range.start),
        kind,
        line: candidate.line.text.trim().to_owned(),
        other: !named && !bare && !about && !abbreviated && !related,
        related,
    })
}

/// Whether a line has the name that the program was started by: a usage line, a synopsis, a message, a hint.
/// Any program prints the tool's name there.
fn repeats_command(reading: &Reading<'_>, line: &Line) -> bool {
    let text = line.lower.trim_start();
    let first = text.split_whitespace().next().unwrap_or("");
    let message = first.ends_with(':') && reading.names.is_in(first);
    message
        || first.starts_with("usage")
        || text.contains("--help")
        || reading.names.begins_synopsis(text)
}

fn candidates<'r>(reading: &'r Reading<'_>) -> Vec<Candidate<'r>> {
    let streams = [0..reading.of_stdout, reading.of_stdout..reading.lines.len()];
    let own = streams.into_iter().flat_map(|stream| reading.own_lines_of(stream).enumerate());
    let versioned = own.filter(|(_, line)| WHOLE_LINES.find(line).is_none());
    let candidate = |(position, line): (usize, &'r Line)| {
        let (first, early) = (position == 0, position < EARLY_LINES);
        let (masked, hidden) = masked(reading, line);
        Candidate { line, masked, hidden, first, early }
    };
    versioned.map(candidate).collect()
}

fn expected_version(reading: &Reading<'_>, candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let expected = reading.observation.expected_version.as_deref()?;
    find_expected(&candidate.masked, expected)
}

/// `less 590 (GNU …)`, `nstat utility, iproute2-6.1.0`: a version after the tool's own name.
fn beside_name(reading: &Reading<'_>, candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let mut names = reading.names.words_in(&candidate.line.lower);
    names.find_map(|name| after_name(reading, candidate, name))
}

/// `OpenSSH_9.2p1` of `ssh`.
fn beside_longer_name(reading: &Reading<'_>, candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let name = reading.names.part_in(&candidate.line.lower)?;
    let rest = &candidate.line.lower[name.end..];
    let letters = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    let digit = rest[letters..].starts_with(|c: char| c.is_ascii_digit());
    (!digit).then(|| after_name(reading, candidate, name.start..name.end + letters))?
}

fn after_name(
    reading: &Reading<'_>,
    candidate: &Candidate<'_>,
    name: Range<usize>,
) -> Option<Range<usize>> {
    let rest = &candidate.masked[name.end..];
    let before = candidate.line.text[..name.start].trim();
    let indented = candidate.line.text.starts_with([' ', '\t']);
    let title = candidate.early || !indented;
    // `ansible [core 2.14.3]` is none.
    let versioned = rest.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let versioned = versioned.is_some_and(|(inside, _)| best_token(inside, 0).is_some());
    let synopsis = !versioned && reading.names.begins_synopsis(&candidate.line.lower);
    if !title || synopsis || word_count(before) > MOST_WORDS {
        return None;
    }
    let masked = &candidate.masked;
    let direct = directly_after(masked, name.end);
    if before.ends_with(':') || is_own_message(reading, before) {
        let ends = |range: &Range<usize>| {
            matches!(masked[range.end..].trim_start().get(..1), None | Some("("))
        };
        return direct.filter(|range| is_own_prefix(reading, before) && ends(range));
    }
    if direct.is_some() {
        return direct;
    }
    // `tool: cannot open 1.2`: a message, not a title.
    let message = rest.starts_with(':') || rest.starts_with(';') || rest.starts_with("'s ");
    if message || RUNTIME_LINES.find(candidate.line).is_some() {
        return None;
    }
    best_token(masked, name.end)
}

/// `tool: cannot find ` of `tool: cannot find tool 1.2`.
fn is_own_message(reading: &Reading<'_>, before: &str) -> bool {
    let own = before.split_whitespace().next().and_then(|word| word.strip_suffix(':'));
    own.is_some_and(|word| reading.names.is_in(&word.to_ascii_lowercase()))
}

/// `sox: ` of `sox: SoX v14.4.2`, also with the keywords of SCCS and RCS: `tool: @(#) $Suite: `.
fn is_own_prefix(reading: &Reading<'_>, before: &str) -> bool {
    let keyword = |word: &str| word == "@(#)" || word.starts_with('$');
    is_own_message(reading, before) && before.split_whitespace().skip(1).all(keyword)
}

/// A version, a whole number or a date right after a name: ` 590`, `-1.6`, `, version 3`, `: v2.0`.
fn directly_after(text: &str, at: usize) -> Option<Range<usize>> {
    static BETWEEN: LazyLock<Regex> = LazyLock::new(|| {
        let between = r"(?i)^(?: from [a-z][\w.+-]*| \([a-z][^()\d]*\))?[\s,:/_@(-]*(?:(?:version|ver|release|rev|v)\b[.:=]?[\s:=]*)?[\s\x22'(-]*(?:v|go)?";
        Regex::new(between).expect("a test uses it")
    });
    let start = at + BETWEEN.find(&text[at..])?.end();
    let range = tokens_after(text, at).find(|range| range.start == start)?;
    let after = text[range.end..].trim_start();
    // `gdk-pixbuf-csource-3.0 version 2.42.10`: the first number is a part of the name.
    if after.get(..7).is_some_and(|word| word.eq_ignore_ascii_case("version"))
        && let Some(next) = directly_after(text, range.end)
    {
        return Some(next);
    }
    let token = &text[range.clone()];
    let right = is_dotted(token) || is_date(token) || is_integer(token) && is_final(token, after);
    // `tool-3.0 [options]`
    let synopsis = ["[-", "[o", "--"].iter().any(|start| after.starts_with(start));
    (right && !synopsis).then_some(range)
}

/// Whether a whole number is the end of a title: `590 (GNU`, `20221122`, `252,`, `(379)`.
fn is_final(number: &str, after: &str) -> bool {
    let more = after.starts_with([',', ';', '-', '[', '.']) && !after.contains("version");
    // `NAME(1)` is the title of a manual page.
    let enclosed = after == ")" && number.len() > 1;
    after.is_empty() || enclosed || after.starts_with('(') || more
}

/// The first version outside of parentheses, else the first one inside.
fn best_token(text: &str, at: usize) -> Option<Range<usize>> {
    let dotted: Vec<Range<usize>> =
        tokens_after(text, at).filter(|range| is_dotted(&text[range.clone()])).collect();
    let depth = |end: usize| {
        let before = &text[at..end];
        before.matches(['(', '[']).count() > before.matches([')', ']']).count()
    };
    let outside = dotted.iter().take(8).find(|range| !depth(range.start)).cloned();
    outside.or_else(|| dotted.into_iter().next())
}

/// The tokens of a text from a position on.
fn tokens_after(text: &str, at: usize) -> impl Iterator<Item = Range<usize>> {
    tokens(&text[at..]).into_iter().map(move |range| at + range.start..at + range.end)
}

/// Lines with a version, which begins where the group `version` does and is not shorter.
static SHAPES: LineTable<&str> = LineTable::new("version-shape");

/// A dotted version in a shape of this kind, behind where the shape begins.
fn shapes<'l>(
    line: &'l Line,
    text: &'l str,
    masked: &'l str,
    wanted: &'l str,
) -> impl Iterator<Item = (usize, Range<usize>)> {
    let rows = SHAPES.candidates(line).filter(move |(kind, _)| *kind == wanted);
    rows.flat_map(move |(_, regex)| regex.captures_iter(text)).filter_map(|captures| {
        let (whole, group) = (captures.get(0)?, captures.name("version")?);
        let token = tokens(masked).into_iter().find(|token| token.start == group.start())?;
        let dotted = token.end >= group.end() && is_dotted(&masked[token.clone()]);
        dotted.then_some((whole.start(), token))
    })
}

/// How far from its beginning a line that is not early may have `version 1.2`.
const BEGINNING: usize = 20;

impl Candidate<'_> {
    fn shaped(&self, wanted: &str) -> Option<Range<usize>> {
        let masked = &self.masked;
        let of_tool = || RUNTIME_LINES.find(self.line).is_none();
        let (placed, text) = match wanted {
            "bare" | "details" => (self.first, &self.line.text),
            "label" => (self.early && of_tool(), masked),
            _ => (of_tool(), masked),
        };
        let begins = |at: usize| self.early || masked[..at].trim().len() < BEGINNING;
        let mut found = shapes(self.line, text, masked, wanted).filter(|(at, _)| begins(*at));
        found.next().filter(|_| placed).map(|(_, range)| range)
    }
}

/// A line that is nothing but a version, perhaps in a frame, below the tool's title. Of several such
/// lines none is known to be the version.
fn bare_below_title(reading: &Reading<'_>, candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let framed = |line: &Line, text: &str| shapes(line, text, text, "framed").next();
    let (_, range) = framed(candidate.line, &candidate.masked)?;
    let others = reading.own_lines().filter(|line| framed(line, &line.text).is_some());
    (reading.asks_version()
        && others.count() == 1
        && reading.names_tool()
        && reading.exit_code() == Some(0))
    .then_some(range)
}

/// How many words there are outside of parentheses.
fn word_count(text: &str) -> usize {
    let outside = text.split('(').map(|part| part.split_once(')').map_or(part, |(_, rest)| rest));
    let words = outside.flat_map(str::split_whitespace);
    words.filter(|word| word.contains(char::is_alphanumeric)).count()
}

/// Whether the words before `version` name something: `BusyBox version 1`, but not `Client Version`.
fn has_other_name(candidate: &Candidate<'_>, at: usize) -> bool {
    let before = candidate.line.lower[..at].split(|c: char| !c.is_ascii_alphabetic());
    let mut before = before.filter(|word| !word.is_empty() && *word != "v");
    before.any(|word| !words("plain-title").contains(&word))
}

/// The line as far as the version, from its beginning or from behind what changes with the install or
/// with the version of another component.
fn pattern(reading: &Reading<'_>, candidate: &Candidate<'_>, at: usize) -> String {
    let ends = candidate.hidden.iter().map(|range| range.end).filter(|end| *end <= at);
    let start = ends.max().unwrap_or(0);
    let others = tokens(&candidate.masked[..at]);
    let other = others.last().map_or(start, |range| range.end.max(start));
    let before = &candidate.line.text[other..at];
    let paths = paths_in(before, reading.observation.install_path.as_deref());
    let before = &before[paths.last().map_or(0, |path| path.end)..];
    let prefix = before.trim_start_matches(|c: char| !c.is_alphanumeric());
    format!("{prefix}{VERSION}")
}

/// `openjdk 17.0.15 2025-04-15`, `systemd 252 (252.38-1)`: a title with another name.
fn first_line(reading: &Reading<'_>, candidate: &Candidate<'_>) -> Option<Range<usize>> {
    let synopsis = reading.names.begins_synopsis(&candidate.line.lower);
    let runtime = RUNTIME_LINES.find(candidate.line).is_some();
    if !candidate.first || !begins_title(candidate) || synopsis || runtime {
        return None;
    }
    // `info: kotlinc-jvm 1.3.31`
    let level = if candidate.line.lower.starts_with(LOG_LEVEL) { LOG_LEVEL.len() } else { 0 };
    let (masked, line) = (&candidate.masked, &candidate.line.text);
    let letters = |b: &u8| b.is_ascii_alphanumeric() || *b == b'-';
    let name = masked.bytes().skip(level).take_while(letters).count();
    let direct = if name == 0 { None } else { directly_after(masked, level + name) };
    let range = direct.or_else(|| best_token(masked, level))?;
    let before = &line[level..range.start];
    let title = !before.contains(": ") && !before.contains(['=', '\'', '"', '`', '<', '|']);
    let right = title && !is_measure(candidate, &range) && word_count(before) <= MOST_WORDS;
    right.then_some(range)
}

/// `Files 12`, `Score 9.81`, `took 1.234s`, `read 3.5 MB`: a number that is no version of another name.
fn is_measure(candidate: &Candidate<'_>, range: &Range<usize>) -> bool {
    let line = &candidate.line.text;
    let token = &line[range.clone()];
    let after = line[range.end..].trim_start();
    let glued = token.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let next = after.split_whitespace().next().unwrap_or("");
    let unit =
        [glued, next].iter().any(|word| words("unit").contains(&&*word.to_ascii_lowercase()));
    unit || MEASURES.find(candidate.line).is_some() || is_integer(token) && !after.starts_with('(')
}

/// Before a title, where a program prints it through its log.
const LOG_LEVEL: &str = "info: ";

fn begins_title(candidate: &Candidate<'_>) -> bool {
    let letters = |c: char| !c.is_ascii_alphanumeric() && c != '\'';
    let line = candidate.line.lower.strip_prefix(LOG_LEVEL).unwrap_or(&candidate.line.lower);
    let first = line.split(letters).find(|word| !word.is_empty()).unwrap_or("");
    !words("no-title").contains(&first)
}

/// Lines without a version of the tool.
static WHOLE_LINES: LineTable<&str> = LineTable::new("line-without-version");

/// Lines about what the tool runs on or was built with; the tool itself may be one of these.
static RUNTIME_LINES: LineTable<&str> = LineTable::new("runtime-line");

/// Parts of lines.
static PARTS: LineTable<&str> = LineTable::new("part-without-version");

fn masked(reading: &Reading<'_>, line: &Line) -> (String, Vec<Range<usize>>) {
    let parts = PARTS.candidates(line).flat_map(|(kind, regex)| {
        regex.find_iter(&line.text).map(move |part| {
            // Before a path is its separator, which stays.
            let separator = part.as_str().find(['/', '~']).filter(|_| kind == "path");
            part.start() + separator.unwrap_or(0)..part.end()
        })
    });
    let ranges = |(at, text): (usize, &str)| at..at + text.len();
    let install = reading.observation.install_path.iter().filter(|path| path.len() > 1);
    let installs = install.flat_map(|path| line.text.match_indices(path.as_str()).map(ranges));
    let hidden: Vec<Range<usize>> = parts.chain(installs).collect();
    let names = reading.names.with_digits();
    let names = names.flat_map(|name| line.lower.match_indices(name).map(ranges));
    let mut bytes = line.text.clone().into_bytes();
    for range in hidden.iter().cloned().chain(names) {
        bytes[range].fill(b' ');
    }
    let text = String::from_utf8(bytes).expect("whole matches of the text were replaced by blanks");
    (text, hidden)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_used() {
        for table in [&WHOLE_LINES, &RUNTIME_LINES, &PARTS, &FAILURES, &NOTICES, &SHAPES, &MEASURES]
        {
            table.compile_all();
        }
    }
}

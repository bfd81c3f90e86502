//! Step 2: what was printed shows that the program cannot work, whatever its exit code is.

use super::environment;
use super::line_table::{LineTable, words};
use super::reading::Reading;
use crate::output_pattern::paths_in;
use crate::printed_text::Line;
use crate::verdict::{Evidence, EvidenceKind, Judgement, Verdict};

/// Exit codes of a shell that could not start what it was asked to.
const CANNOT_RUN: [i32; 2] = [126, 127];

/// Lines of a program that cannot work.
static BROKEN: LineTable<EvidenceKind> = LineTable::new("broken-install");

/// `tool: PATH: No such file or directory`, and the same in more words.
static MISSING_PATH: LineTable<EvidenceKind> = LineTable::new("missing-path");

/// How a program answers that it does not know one of its subcommands.
static NO_SUBCOMMAND: LineTable<&str> = LineTable::new("no-subcommand");

/// What means a broken install only where the program has also failed.
static FAILED: LineTable<EvidenceKind> = LineTable::new("failed-install");

/// What graphics drivers and the loader report on the side, and the program works without.
static DRIVER_NOISE: LineTable<&str> = LineTable::new("driver-noise");

/// Shows that a line is of a broken install.
type Sign = fn(&Reading<'_>, &Line) -> Option<EvidenceKind>;

/// The signs in their order, and whether they count in what an uncaught exception quotes.
const SIGNS: [(Sign, bool); 5] = [
    (host_lacks_subcommand, true),
    (signature, true),
    (missing_path, true),
    (failed, false),
    (own_file, false),
];

pub(super) fn judge(reading: &Reading<'_>) -> Option<Judgement> {
    let found = SIGNS.iter().find_map(|(sign, quoted)| {
        let mut all = reading.lines.iter().filter(|_| *quoted);
        let mut own = reading.own_lines().filter(|_| !*quoted);
        let evidence = |line: &Line| Some(line.evidence(sign(reading, line)?));
        all.find_map(evidence).or_else(|| own.find_map(evidence))
    });
    let evidence = found.or_else(|| cannot_run(reading))?;
    Some(Judgement::new(Verdict::Broken, evidence))
}

fn signature(reading: &Reading<'_>, line: &Line) -> Option<EvidenceKind> {
    let noise = reading.exit_code() == Some(0) && DRIVER_NOISE.find(line).is_some();
    if noise || is_help_of_option(line) {
        return None;
    }
    let mut found = BROKEN.matches(line).filter(|(kind, captures)| {
        let missing = captures.name("missing").map(|missing| missing.as_str());
        // A library is a part of the program, wherever it should be.
        let library = *kind == EvidenceKind::MissingLibrary;
        let is_fault =
            |path| !reading.is_argument(path) && (library || !is_elsewhere(reading, path));
        missing.is_none_or(is_fault)
    });
    found.next().map(|(kind, _)| kind)
}

/// `cargo x` where `cargo` does not find `cargo-x`: the host works, the tool is not there.
fn host_lacks_subcommand(reading: &Reading<'_>, line: &Line) -> Option<EvidenceKind> {
    let host = reading.observation.command.split_whitespace().next()?.rsplit('/').next()?;
    let subcommand = reading.arguments.first()?;
    let separate = reading.observation.tool.strip_prefix(host)?.strip_prefix('-')? == subcommand;
    let quotes = |quote| line.text.contains(&format!("{quote}{subcommand}{quote}"));
    let named = ["'", "\"", "`"].into_iter().any(quotes);
    let unknown = separate && named && reading.exit_code() != Some(0);
    NO_SUBCOMMAND.find(line).filter(|_| unknown).map(|_| EvidenceKind::MissingProgram)
}

/// A path of an install that the tool itself reports as missing. With exit code 0 it may be a note.
fn missing_path(reading: &Reading<'_>, line: &Line) -> Option<EvidenceKind> {
    if reading.exit_code() == Some(0) || reading.is_uncaught {
        return None;
    }
    let mut found = MISSING_PATH.matches(line).filter(|(_, captures)| {
        let group = |name| captures.name(name).map_or("", |group| group.as_str());
        let program = group("program").rsplit('/').next().unwrap_or("");
        let missing = group("missing");
        reading.names.is_name(program)
            && !reading.is_argument(missing)
            && !is_elsewhere(reading, missing)
    });
    found.next().map(|(kind, _)| kind)
}

/// A failure in words that is neither about our argument nor about the environment.
fn failed(reading: &Reading<'_>, line: &Line) -> Option<EvidenceKind> {
    if reading.exit_code() == Some(0) || reading.quotes_argument(&line.text) {
        return None;
    }
    let mut found = FAILED.matches(line).filter(|(_, captures)| {
        let is_own =
            |tool: regex::Match<'_>| reading.names.is_in(&tool.as_str().to_ascii_lowercase());
        captures.name("missing").is_none_or(|path| !is_elsewhere(reading, path.as_str()))
            && captures.name("tool").is_none_or(is_own)
    });
    let (kind, _) = found.next()?;
    // A help text may name the runtime that the program needs.
    let mut lines = reading.own_lines().map(|line| line.lower.trim_start());
    let help = kind == EvidenceKind::LibraryVersion && lines.any(|line| line.starts_with("usage"));
    (!help && !environment::is_complaint(line)).then_some(kind)
}

/// A file of the install itself that is not there, however that is worded.
fn own_file(reading: &Reading<'_>, line: &Line) -> Option<EvidenceKind> {
    let install = reading.observation.install_path.as_deref()?;
    let inside = format!("{}/", install.trim_end_matches('/'));
    let missing = words("not-there").iter().any(|words| line.lower.contains(words));
    if reading.exit_code() == Some(0) || !missing || reading.quotes_argument(&line.text) {
        return None;
    }
    // At the beginning of a line it is who complains, not what about.
    let named = line.text.match_indices(&inside).any(|(at, _)| at > 0);
    named.then_some(EvidenceKind::MissingPath)
}

/// A path of the machine or the user; what is in the install is not, wherever that is.
fn is_elsewhere(reading: &Reading<'_>, path: &str) -> bool {
    let install = reading.observation.install_path.as_deref();
    let inside = install.is_some_and(|install| path.starts_with(install));
    !inside && words("not-of-an-install").iter().any(|start| path.starts_with(start))
}

/// Whether a line is about a file of the machine or the user that is not there.
pub(super) fn is_missing_elsewhere(reading: &Reading<'_>, line: &Line) -> bool {
    let install = reading.observation.install_path.as_deref();
    let mut paths = paths_in(&line.text, install).into_iter().map(|path| &line.text[path]);
    words("not-there").iter().any(|words| line.lower.contains(words))
        && paths.any(|path| path.starts_with("/etc/") || is_elsewhere(reading, path))
}

/// A shell's codes for "cannot start it", unless the program complains about our argument.
fn cannot_run(reading: &Reading<'_>) -> Option<Evidence> {
    let code = reading.exit_code().filter(|code| CANNOT_RUN.contains(code))?;
    let quoted = reading.lines.iter().any(|line| reading.quotes_argument(&line.text));
    (!quoted).then(|| Evidence::new(EvidenceKind::CannotRun, format!("exit code {code}")))
}

/// `  --check   report whether it is not properly installed`
fn is_help_of_option(line: &Line) -> bool {
    let trimmed = line.text.trim_start();
    trimmed.starts_with("--") || (trimmed.starts_with('-') && trimmed.len() < line.text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_used() {
        BROKEN.compile_all();
        DRIVER_NOISE.compile_all();
        FAILED.compile_all();
        NO_SUBCOMMAND.compile_all();
        MISSING_PATH.compile_all();
    }
}

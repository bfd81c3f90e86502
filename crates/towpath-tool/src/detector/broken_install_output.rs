//! Step 2: what was printed shows that the program cannot work, whatever its exit code is.

use super::line_regex_table::{Any, LineTable};
use super::missing_from_environment;
use super::prepared_observation::Reading;
use crate::clean_printed_text::Line;
use crate::verdict_and_evidence::{Evidence, EvidenceKind, Judgement, Verdict};

/// Exit codes of a shell that could not start what it was asked to.
const CANNOT_RUN: [i32; 2] = [126, 127];

/// Lines of a program that cannot work.
static BROKEN: LineTable<EvidenceKind> = LineTable::new("broken-install");

/// `tool: PATH: No such file or directory`, and the same in more words.
static MISSING_PATH: LineTable<EvidenceKind> = LineTable::new("missing-path");

/// How a program answers that it does not know one of its subcommands.
static NO_SUBCOMMAND: LineTable<Any> = LineTable::new("no-subcommand");

/// What means a broken install only where the program has also failed.
static FAILED: LineTable<EvidenceKind> = LineTable::new("failed-install");

/// What graphics drivers and the loader report on the side, and the program works without.
static DRIVER_NOISE: LineTable<Any> = LineTable::new("driver-noise");

/// Directories that belong to the machine or the user, not to an install.
const NOT_OF_AN_INSTALL: &[&str] = &[
    "/proc/",
    "/sys/",
    "/dev/",
    "/run/",
    "/tmp/",
    "/home/",
    "/root/",
    "/var/",
    "/boot/",
    "/lib/modules/",
];

pub(super) fn judge(reading: &Reading<'_>) -> Option<Judgement> {
    let found = host_lacks_subcommand(reading);
    let found = found.or_else(|| reading.lines.iter().find_map(|line| signature(reading, line)));
    let found = found.or_else(|| reading.lines.iter().find_map(|line| missing_path(reading, line)));
    let found = found.or_else(|| reading.own_lines().find_map(|(_, line)| failed(reading, line)));
    let found = found.or_else(|| reading.own_lines().find_map(|(_, line)| own_file(reading, line)));
    let evidence = found.or_else(|| cannot_run(reading))?;
    Some(Judgement::new(Verdict::Broken, evidence))
}

fn signature(reading: &Reading<'_>, line: &Line) -> Option<Evidence> {
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
    found.next().map(|(kind, _)| Evidence::new(kind, line.text.trim()))
}

/// `cargo x` where `cargo` does not find `cargo-x`: the host works, the tool is not there.
fn host_lacks_subcommand(reading: &Reading<'_>) -> Option<Evidence> {
    let host = reading.observation.command.split_whitespace().next()?.rsplit('/').next()?;
    let subcommand = reading.arguments.first()?;
    let separate = reading.observation.tool.strip_prefix(host)?.strip_prefix('-')? == subcommand;
    if !separate || reading.exit_code() == Some(0) {
        return None;
    }
    let quoted = ["'", "\"", "`"].map(|quote| format!("{quote}{subcommand}{quote}"));
    let unknown = |line: &&Line| {
        let named = quoted.iter().any(|quoted| line.text.contains(quoted.as_str()));
        named && NO_SUBCOMMAND.find(line).is_some()
    };
    let line = reading.lines.iter().find(unknown)?;
    Some(Evidence::new(EvidenceKind::MissingProgram, line.text.trim()))
}

/// A path of an install that the tool itself reports as missing. With exit code 0 it may be a note.
fn missing_path(reading: &Reading<'_>, line: &Line) -> Option<Evidence> {
    if reading.exit_code() == Some(0) || reading.exception.uncaught {
        return None;
    }
    let mut found = MISSING_PATH.matches(line).filter(|(_, captures)| {
        let group = |name| captures.name(name).map_or("", |group| group.as_str());
        let program = group("program").to_ascii_lowercase();
        let program = program.rsplit('/').next().unwrap_or("");
        let missing = group("missing");
        let own = reading.names.word_in(program).is_some_and(|range| range.len() == program.len());
        own && !reading.is_argument(missing) && !is_elsewhere(reading, missing)
    });
    found.next().map(|(kind, _)| Evidence::new(kind, line.text.trim()))
}

/// A failure in words that is neither about our argument nor about the environment.
fn failed(reading: &Reading<'_>, line: &Line) -> Option<Evidence> {
    if reading.exit_code() == Some(0) || reading.quotes_argument(&line.text) {
        return None;
    }
    let mut found = FAILED.matches(line).filter(|(_, captures)| {
        captures.name("missing").is_none_or(|path| !is_elsewhere(reading, path.as_str()))
    });
    let (kind, _) = found.next()?;
    // A help text may name the runtime that the program needs.
    let mut lines = reading.own_lines().map(|(_, line)| line.lower.trim_start());
    if kind == EvidenceKind::LibraryVersion && lines.any(|line| line.starts_with("usage")) {
        return None;
    }
    (!missing_from_environment::is_complaint(line)).then(|| Evidence::new(kind, line.text.trim()))
}

/// A file of the install itself that is not there, however that is worded.
fn own_file(reading: &Reading<'_>, line: &Line) -> Option<Evidence> {
    const NOT_THERE: &[&str] =
        &["no such file or directory", "does not exist", "not found", "enoent"];
    let install = reading.observation.install_path.as_deref()?;
    let inside = format!("{}/", install.trim_end_matches('/'));
    let missing = NOT_THERE.iter().any(|words| line.lower.contains(words));
    if reading.exit_code() == Some(0) || !missing || reading.quotes_argument(&line.text) {
        return None;
    }
    // At the beginning of a line it is who complains, not what about.
    let named = line.text.match_indices(&inside).any(|(at, _)| at > 0);
    named.then(|| Evidence::new(EvidenceKind::MissingPath, line.text.trim()))
}

/// A path of the machine or the user; what is in the install is not, wherever that is.
fn is_elsewhere(reading: &Reading<'_>, path: &str) -> bool {
    let install = reading.observation.install_path.as_deref();
    let inside = install.is_some_and(|install| path.starts_with(install));
    !inside && NOT_OF_AN_INSTALL.iter().any(|start| path.starts_with(start))
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

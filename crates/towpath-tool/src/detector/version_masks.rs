//! What looks like a version and is none: paths, addresses, protocol names, licenses, and the versions of
//! runtimes, libraries and the kernel. Masked text is replaced by blanks of the same length, so that
//! offsets stay those of the line.

use super::line_regex_table::{LineTable, row};
use super::prepared_observation::Reading;
use crate::clean_printed_text::Line;
use std::ops::Range;

/// What a masked line is, for the reader of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mask {
    Usage,
    Option,
    License,
    Runtime,
    Address,
    Path,
    Library,
    Protocol,
    Time,
    Platform,
    Requirement,
}

/// Lines without a version of the tool.
pub(super) static WHOLE_LINES: LineTable<Mask> = LineTable::new(&[
    row(Mask::Usage, "usage", r"^\s*\W{0,3}usage\b"),
    row(Mask::Usage, "synopsis", r"^\s*synopsis\b"),
    row(Mask::Usage, "syntax", r"^\s*syntax\b"),
    row(Mask::Option, "-", r"^\s*(or )?--?[a-z0-9?]"),
    row(Mask::Runtime, "node.js v", r"^node\.js v\d"),
    row(Mask::Runtime, "under perl", r"running under perl"),
    row(Mask::Runtime, "<?xml", r"<\?xml version"),
    row(Mask::License, "licen", r"^\s*(licen[sc]e|licensed)\b"),
    row(Mask::License, "this program is", r"^\s*this program is\b"),
    row(Mask::License, "free software", r"^\s*free software\b"),
]);

/// Lines about what the tool runs on or was built with; the tool itself may be one of these.
pub(super) static RUNTIME_LINES: LineTable<Mask> = LineTable::new(&[
    row(Mask::Runtime, "java", r"^\W*java\b[ ,]*(version|home|runtime)?[ :=,]*v?\d"),
    row(Mask::Runtime, "python", r"^\W*python\b[ ,]*(version)?[ :=,]*v?\d"),
    row(Mask::Runtime, "perl", r"^\W*perl\b[ ,]*(version)?[ :=,]*v?\d"),
    row(Mask::Runtime, "ruby", r"^\W*ruby\b[ ,]*(version)?[ :=,]*v?\d"),
    row(Mask::Runtime, "go", r"^\W*(go|golang)( ?version)?\b ?:? ?(go)?\d|\bgo version\b"),
    row(Mask::Runtime, "kernel", r"\bkernel\b"),
    row(Mask::Runtime, "linux", r"^\W*linux\b"),
    row(Mask::Runtime, "os", r"^\W*(os|host)( name| version)?\s*[:=]"),
    row(Mask::Runtime, "operating system", r"^\W*operating system( name| version)?\s*[:=]"),
    row(Mask::Runtime, "platform", r"^\W*platform( name| version)?\s*[:=]"),
    row(Mask::Runtime, "default locale", r"^\W*default locale\s*[:=]"),
    row(Mask::Runtime, "compile", r"^\W*compil(ed|er)\b"),
    row(Mask::Runtime, "built", r"^\W*built (with|using|against|on|by|for)\b"),
    row(Mask::Runtime, "linked", r"^\W*linked (with|against|to)\b"),
    row(Mask::Runtime, "using", r"^\W*using\b"),
    row(Mask::Runtime, "lib", r"^\W*(?-i:lib)[\w-]+(\.so)?( version)?[ ,(/:-]+v?\d"),
    row(Mask::Runtime, "features", r"^\W*features\s*:"),
    row(Mask::Runtime, "protocols", r"^\W*protocols\s*:"),
    row(Mask::Runtime, "gcc version", r"^\W*gcc version\b"),
    row(Mask::Requirement, "require", r"\brequires?d?\b"),
    row(Mask::Requirement, "at least", r"\bat least\b"),
    row(Mask::Requirement, ">=", r">="),
    row(Mask::Requirement, "or ", r"\bor (later|newer|higher|above)\b"),
    row(Mask::Requirement, "default", r"\(?default\b"),
    row(Mask::Requirement, "e.g", r"\be\.g\.?"),
    row(Mask::Requirement, "example", r"\bexamples?\b"),
    row(Mask::Requirement, "deprecated", r"\bdeprecated\b"),
    row(Mask::Requirement, "since", r"\bsince\b"),
]);

/// Parts of lines.
static PARTS: LineTable<Mask> = LineTable::new(&[
    // What a log puts before its lines: the time since the start, or a day and a time.
    row(Mask::Time, "[", r"^\s*\[\s*\d+\.\d+\]"),
    row(Mask::Time, "s]", r"\[\s*\d+(\.\d+)?[mu]?s\]"),
    row(Mask::Time, "[", r"^\s*\[\d+:[\d:]*\d+/\d+\.\d+:[^\]]*\]"),
    row(Mask::Address, "://", r"[a-z][a-z0-9+.-]*://[^\s\x22'<>]+"),
    row(Mask::Address, "@", r"(?:^|[\s<(:\x22'])[^\s@]+@[a-z]\S*"),
    row(Mask::Address, "www.", r"www\.\S+"),
    row(Mask::Path, "/", r"(?:^|[\s\x22'`‘“(=:<\[])(?:~|\.{1,2})?/[^\s:,;)\x22'`’”>\]]+"),
    row(Mask::Library, ".so", r"\S+\.so(\.\d+)*\b"),
    row(Mask::License, "gpl", r"\b[al]?gpl\S*.*"),
    row(Mask::License, "licen", r"\blicen[sc]e.*"),
    row(Mask::License, "copyright", r"\bcopyright.*"),
    row(Mask::License, "(c)", r"\(c\) ?(\d|[a-z]).*"),
    row(Mask::License, "©", r"©.*"),
    row(Mask::Protocol, "ssl", r"\bsslv?[ -]?\d(\.\d)?\b"),
    row(Mask::Protocol, "tls", r"\btlsv?[ -]?\d(\.\d)?\b"),
    row(Mask::Protocol, "http/", r"\bhttp/\d(\.\d)?"),
    row(Mask::Protocol, "iso", r"\biso[ -]?\d+(-\d+)*"),
    row(Mask::Protocol, "rfc", r"\brfc ?\d+"),
    row(Mask::Protocol, "utf-", r"\butf-\d+"),
    row(Mask::Protocol, "usb", r"\busb ?\d\.\d"),
    row(Mask::Protocol, "posix", r"\bposix[.\w-]*( \d[\d.]*)?"),
    row(Mask::Protocol, "format", r"\b(file )?format (version )?v?\d+(\.\d+)*"),
    row(Mask::Protocol, "protocol", r"\bprotocol (version )?v?\d+(\.\d+)*"),
    row(Mask::Runtime, "perl", r"\b(and|with|under|\() ?perl (version )?v?\d[\d.]*\)?"),
    row(Mask::Runtime, "getopt::", r"\bcalling getopt::.*"),
    row(Mask::Runtime, "python", r"\(python \d[\d.]*\)"),
    row(Mask::Platform, "linux", r"(?:^|[\s(])linux[ -]v?\d[\w.-]*"),
    row(Mask::Platform, "86", r"\b(x86|i\d86)[\w.-]*"),
    row(Mask::Platform, "-bit", r"\b(32|64)-bit\b"),
]);

/// A line with blanks for everything that is no version of the tool.
pub(super) struct Masked {
    /// Its names with digits are blanks, too.
    pub text: String,
    /// What was masked, but for the names.
    hidden: Vec<Range<usize>>,
}

impl Masked {
    /// Where the text begins that is the same in every install, before a position.
    pub fn stable_from(&self, before: usize) -> usize {
        let ends = self.hidden.iter().map(|range| range.end).filter(|end| *end <= before);
        ends.max().unwrap_or(0)
    }
}

pub(super) fn masked(reading: &Reading<'_>, line: &Line) -> Masked {
    let mut hidden: Vec<Range<usize>> = PARTS
        .all_ranges(line)
        .into_iter()
        .map(|(mask, part)| match mask {
            // Before a path is its separator, which stays.
            Mask::Path => {
                let slash = line.text[part.clone()].find(['/', '~']).unwrap_or(0);
                part.start + slash..part.end
            }
            _ => part,
        })
        .collect();
    if let Some(path) = reading.observation.install_path.as_deref().filter(|path| path.len() > 1) {
        hidden.extend(line.text.match_indices(path).map(|(at, _)| at..at + path.len()));
    }
    let names = reading
        .names
        .with_digits()
        .flat_map(|name| line.lower.match_indices(name).map(|(at, name)| at..at + name.len()));
    let mut bytes = line.text.clone().into_bytes();
    for range in hidden.iter().cloned().chain(names) {
        bytes[range].fill(b' ');
    }
    let text = String::from_utf8(bytes).expect("whole matches of the text were replaced by blanks");
    Masked { text, hidden }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_used() {
        for table in [&WHOLE_LINES, &RUNTIME_LINES, &PARTS] {
            table.compile_all();
        }
    }
}

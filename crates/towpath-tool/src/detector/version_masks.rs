//! What looks like a version and is none: paths, addresses, protocol names, licenses, and the versions of
//! runtimes, libraries and the kernel. Masked text is replaced by blanks of the same length, so that
//! offsets stay those of the line.

use super::line_regex_table::LineTable;
use super::prepared_observation::Reading;
use crate::clean_printed_text::Line;
use serde::Deserialize;
use std::ops::Range;

/// What a masked line is, for the reader of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
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
pub(super) static WHOLE_LINES: LineTable<Mask> = LineTable::new("line-without-version");

/// Lines about what the tool runs on or was built with; the tool itself may be one of these.
pub(super) static RUNTIME_LINES: LineTable<Mask> = LineTable::new("runtime-line");

/// Parts of lines.
static PARTS: LineTable<Mask> = LineTable::new("part-without-version");

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

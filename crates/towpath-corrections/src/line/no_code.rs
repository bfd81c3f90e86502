//! Which parts of a line are text for a program and no code: quotes, here-documents, comments.

use std::ops::Range;
use towpath_shell::bash::Script;
use towpath_shell::bash::tree::{Part, Statement, Target};
use towpath_shell::bash::visit::{self, Visitor};

/// Ranges, each with whether it is data. A substitution inside of data is code.
pub(super) struct DataRanges(Vec<(Range<usize>, bool)>);

pub(super) fn find(script: &Script) -> DataRanges {
    let mut ranges = DataRanges(Vec::new());
    visit::block(script.body(), &mut ranges);
    ranges
}

pub(super) fn is_data(ranges: &DataRanges, at: usize) -> bool {
    let around = ranges.0.iter().filter(|(range, _)| range.contains(&at));
    around.min_by_key(|(range, _)| range.len()).is_some_and(|(_, data)| *data)
}

impl Visitor for DataRanges {
    fn comments(&mut self, comments: &[Range<usize>]) {
        self.0.extend(comments.iter().map(|comment| (comment.clone(), true)));
    }

    fn statement(&mut self, statement: &Statement) {
        for redirect in &statement.redirects {
            if let Target::HereDoc(doc) = &redirect.target {
                self.0.push((doc.body.clone(), true));
            }
        }
    }

    fn part(&mut self, part: &Part) {
        match part {
            // The opening quote itself is not inside.
            Part::Single(range) | Part::Ansi(range) | Part::Double { range, .. } => {
                self.0.push((range.start + 1..range.end, true));
            }
            Part::Substitution { range, .. } => self.0.push((range.clone(), false)),
            _ => {}
        }
    }
}

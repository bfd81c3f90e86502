//! Whether two scripts are the same outside of the edits between them.
//!
//! Every word, quote, expansion, redirection, comment and command that an edit does not cover must be
//! found again where the edits have moved it. What covers an edit must still end where it did.

use crate::correction::Edit;
use std::borrow::Cow;
use std::ops::Range;
use towpath_shell::bash::tree::{
    Assignment, Command, Part, Statement, SubstitutionKind, Target, Word,
};
use towpath_shell::bash::visit::{self, Visitor};
use towpath_shell::bash::{Nesting, Script, SimpleCommand};

/// One thing of a script, and where it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    range: (usize, usize),
    label: Cow<'static, str>,
}

/// Ranges of the text before and after, in order.
pub(crate) struct Moves {
    pairs: Vec<(Range<usize>, Range<usize>)>,
}

impl Moves {
    /// The edits are in order and do not overlap.
    pub fn new(edits: &[Edit]) -> Moves {
        let mut moved = 0isize;
        let pairs = edits
            .iter()
            .map(|edit| {
                let start = edit.range.start.saturating_add_signed(moved);
                moved += edit.text.len() as isize - edit.range.len() as isize;
                (edit.range.clone(), start..start + edit.text.len())
            })
            .collect();
        Moves { pairs }
    }

    /// Where a range that covers its edits completely is afterwards.
    pub fn moved(&self, range: &Range<usize>) -> Range<usize> {
        let shift = |count: usize| match count.checked_sub(1) {
            None => 0,
            Some(last) => {
                let (old, new) = &self.pairs[last];
                new.end as isize - old.end as isize
            }
        };
        let before = self.pairs.partition_point(|(old, _)| old.end <= range.start);
        let within = self.pairs.partition_point(|(old, _)| old.end <= range.end);
        range.start.saturating_add_signed(shift(before))
            ..range.end.saturating_add_signed(shift(within))
    }

    /// The new range of the edit with this index.
    pub fn new_range(&self, index: usize) -> Range<usize> {
        self.pairs[index].1.clone()
    }
}

/// Whether an edit covers a range or a part of it. One that is inside of the range does not.
fn is_covered<'a>(range: &Range<usize>, edits: impl Iterator<Item = &'a Range<usize>>) -> bool {
    edits.take_while(|edit| edit.start <= range.end).any(|edit| {
        if edit == range {
            return true;
        }
        let apart = edit.end <= range.start || range.end <= edit.start;
        let inside = range.start <= edit.start && edit.end <= range.end;
        !apart && !inside
    })
}

/// Whether `after` is `before` but for the edits. Commands that a rule replaced as a whole have the
/// ranges `replaced` in `before`; what is there instead is checked by the caller.
pub(crate) fn is_same_outside(
    before: &Script,
    after: &Script,
    edits: &[Edit],
    replaced: &[Range<usize>],
) -> bool {
    let moves = Moves::new(edits);
    let within = |item: &Item, ranges: &[Range<usize>]| {
        item.label.starts_with("command ")
            && ranges.iter().any(|r| r.start <= item.range.0 && item.range.1 <= r.end)
    };
    let range = |item: &Item| item.range.0..item.range.1;
    let olds = || moves.pairs.iter().map(|(old, _)| old);
    let news = || moves.pairs.iter().map(|(_, new)| new);
    let mut expected: Vec<Item> = items(before)
        .into_iter()
        .filter(|item| !is_covered(&range(item), olds()) && !within(item, replaced))
        .map(|item| {
            let moved = moves.moved(&range(&item));
            Item { range: (moved.start, moved.end), label: item.label }
        })
        .collect();
    let there: Vec<Range<usize>> = replaced.iter().map(|range| moves.moved(range)).collect();
    let after = items(after);
    // A new thing that begins or ends inside of an edit covers something around it as well.
    if after.iter().any(|item| crosses(&range(item), news())) {
        return false;
    }
    let mut found: Vec<Item> = after
        .into_iter()
        .filter(|item| {
            let inside = news().any(|edit| {
                edit.start <= item.range.0 && item.range.1 <= edit.end && !edit.is_empty()
            });
            !inside && !is_covered(&range(item), news()) && !within(item, &there)
        })
        .collect();
    expected.sort();
    found.sort();
    expected == found
}

/// Whether a range has one end inside of an edit and the other one outside.
fn crosses<'a>(range: &Range<usize>, edits: impl Iterator<Item = &'a Range<usize>>) -> bool {
    edits.take_while(|edit| edit.start <= range.end).any(|edit| {
        let apart = edit.end <= range.start || range.end <= edit.start;
        let inside = edit.start <= range.start && range.end <= edit.end;
        let around = range.start <= edit.start && edit.end <= range.end;
        !apart && !inside && !around
    })
}

fn items(script: &Script) -> Vec<Item> {
    let mut collector = Collector { items: Vec::new() };
    visit::block(script.body(), &mut collector);
    for command in script.commands() {
        collector
            .add(&command.range, format!("command {}", nesting_labels(&command.nesting).join(" ")));
    }
    collector.items
}

struct Collector {
    items: Vec<Item>,
}

impl Collector {
    fn add(&mut self, range: &Range<usize>, label: impl Into<Cow<'static, str>>) {
        self.items.push(Item { range: (range.start, range.end), label: label.into() });
    }
}

impl Visitor for Collector {
    fn comments(&mut self, comments: &[Range<usize>]) {
        for comment in comments {
            self.add(comment, "comment");
        }
    }

    fn statement(&mut self, statement: &Statement) {
        for redirect in &statement.redirects {
            self.add(&redirect.range, "redirect");
            if let Target::HereDoc(doc) = &redirect.target {
                self.add(&doc.body, format!("here-document {} {}", doc.quoted, doc.closed));
            }
        }
        if let Command::Function { names, .. } = &statement.command {
            for name in names {
                self.add(&name.range, "function");
            }
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.add(&assignment.range, format!("assignment {}", assignment.target.name));
    }

    fn word(&mut self, word: &Word) {
        if !word.range.is_empty() {
            self.add(&word.range, "word");
        }
    }

    fn part(&mut self, part: &Part) {
        match part {
            Part::Single(range) => self.add(range, "single"),
            Part::Ansi(range) => self.add(range, "ansi"),
            Part::Double { range, .. } => self.add(range, "double"),
            Part::Variable { range, name } => self.add(range, format!("variable {name}")),
            Part::Parameter(parameter) => self.add(&parameter.range, "parameter"),
            Part::Substitution { range, kind, .. } => self.add(range, format!("{kind:?}")),
            Part::Arithmetic(arithmetic) => self.add(&arithmetic.range, "arithmetic"),
            Part::Unclear(range) => self.add(range, "unclear"),
            Part::Literal(_) | Part::Class(_) => {}
        }
    }
}

/// What a command is part of, without where that is.
pub(crate) fn nesting_labels(nesting: &[Nesting]) -> Vec<String> {
    let label = |nesting: &Nesting| match nesting {
        Nesting::Substitution { kind, quoted, .. } => format!("{kind:?}-{quoted}"),
        Nesting::ShellCode { .. } => "shell-code".to_owned(),
        other => format!("{other:?}"),
    };
    nesting.iter().map(label).collect()
}

/// Whether a command is in text that another reader unquotes first.
pub(crate) fn is_requoted(command: &SimpleCommand) -> bool {
    command.nesting.iter().any(|nesting| match nesting {
        Nesting::ShellCode { .. } => true,
        Nesting::Substitution { kind, .. } => *kind == SubstitutionKind::Backtick,
        _ => false,
    })
}

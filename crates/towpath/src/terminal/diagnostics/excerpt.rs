//! A source as it is drawn for one problem: the lines of its labels, each cut to the terminal's width
//! with the labelled text still visible. Line and column stay those of the file. A control character
//! of the file never reaches the terminal.

use codespan_reporting::files::{Error, Files, line_starts};
use std::ops::Range;
use std::sync::Arc;
use towpath_core::{Label, Source};
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Less than this is useless, however narrow the terminal is.
const NARROWEST: usize = 16;
/// The widest that a tab can be.
const TAB: usize = 4;
const CUT: char = '…';
/// What marks a label that goes over several lines, left of the text.
const BRACKET: usize = 2;

/// The sources of one problem.
pub struct Excerpts {
    files: Vec<Excerpt>,
}

struct Excerpt {
    source: Arc<Source>,
    /// Where the lines of the source begin.
    starts: Vec<usize>,
    /// The index of the first line that is shown.
    first: usize,
    text: String,
    lines: Vec<ExcerptLine>,
    /// The true columns of the labels, by their offset here.
    columns: Vec<(usize, usize)>,
}

/// A line that is shown.
struct ExcerptLine {
    /// In the source, and here; with the line's end.
    from: Range<usize>,
    to: Range<usize>,
    /// Of a line that was changed: the offset of each character that was kept, there and here.
    kept: Option<Vec<(usize, usize)>>,
}

impl Excerpts {
    pub fn of(labels: &[Label], width: usize) -> Excerpts {
        let mut files: Vec<Excerpt> = Vec::new();
        for label in labels {
            if !files.iter().any(|file| Arc::ptr_eq(&file.source, &label.source)) {
                let same = |other: &&Label| Arc::ptr_eq(&other.source, &label.source);
                let own: Vec<&Label> = labels.iter().filter(same).collect();
                files.push(Excerpt::of(&label.source, &own, width));
            }
        }
        Excerpts { files }
    }

    /// The file and the range of a label, as they are drawn.
    pub fn locate(&self, label: &Label) -> (usize, Range<usize>) {
        let file = self.files.iter().position(|f| Arc::ptr_eq(&f.source, &label.source));
        let file = file.expect("every label's source is among them");
        let Range { start, end } = label.span.range();
        let start = self.files[file].here(start);
        (file, start..self.files[file].here(end).max(start))
    }
}

impl Excerpt {
    fn of(source: &Arc<Source>, labels: &[&Label], width: usize) -> Excerpt {
        let starts: Vec<usize> = line_starts(&source.text).collect();
        let line_of = |offset: usize| starts.partition_point(|start| *start <= offset) - 1;
        let lines_of = |label: &Label| (line_of(label.span.start), line_of(label.span.end));
        let located: Vec<LocatedLabel<'_>> =
            labels.iter().map(|label| LocatedLabel { label, lines: lines_of(label) }).collect();
        let first = located.iter().map(|label| label.lines.0).min().unwrap_or(0);
        let last = located.iter().map(|label| label.lines.1).max().unwrap_or(0);
        let long = located.iter().filter(|label| label.lines.0 != label.lines.1).count();
        let frame = (last + 1).ilog10() as usize + 1 + " │ ".chars().count() + long * BRACKET;
        let room = width.saturating_sub(frame).max(NARROWEST);
        let mut excerpt = Excerpt {
            source: Arc::clone(source),
            first,
            text: String::new(),
            lines: Vec::new(),
            columns: Vec::new(),
            starts,
        };
        for line in first..=last {
            excerpt.add(line, &located, room);
        }
        for label in labels {
            let (_, column) = source.line_column(label.span.start);
            excerpt.columns.push((excerpt.here(label.span.start), column));
        }
        excerpt
    }

    fn add(&mut self, line: usize, labels: &[LocatedLabel<'_>], room: usize) {
        let source = Arc::clone(&self.source);
        let end = self.starts.get(line + 1).copied().unwrap_or(source.text.len());
        let from = self.starts[line]..end;
        let whole = &source.text[from.clone()];
        let text = whole.trim_end_matches(['\n', '\r']);
        let inside = |offset: usize| offset.clamp(from.start, from.start + text.len()) - from.start;
        let marks = labels.iter().filter_map(|label| label.mark(line, &inside));
        let begin = self.text.len();
        let kept = Cut { text, marks: marks.collect(), room }.write(&mut self.text);
        let kept = kept.map(|kept| {
            let there_and_here = |(there, here)| (from.start + there, begin + here);
            kept.into_iter().map(there_and_here).collect()
        });
        self.text.push_str(&whole[text.len()..]);
        self.lines.push(ExcerptLine { from, to: begin..self.text.len(), kept });
    }

    /// An offset of the source as an offset here; for what was cut away, where that was.
    fn here(&self, offset: usize) -> usize {
        let offset = self.source.text.floor_char_boundary(offset);
        let at = self.lines.partition_point(|line| line.from.start <= offset).max(1) - 1;
        let line = &self.lines[at];
        match &line.kept {
            None => (line.to.start + (offset - line.from.start)).min(line.to.end),
            Some(kept) => {
                let next = kept.get(kept.partition_point(|(there, _)| *there < offset));
                let text = self.text[line.to.clone()].trim_end_matches(['\n', '\r']);
                next.map_or(line.to.start + text.len(), |(_, here)| *here)
            }
        }
    }
}

/// A label with its first and its last line.
struct LocatedLabel<'a> {
    label: &'a Label,
    lines: (usize, usize),
}

impl LocatedLabel<'_> {
    /// What must be visible of it in a line; `inside` gives the offset within that line.
    fn mark(&self, line: usize, inside: &dyn Fn(usize) -> usize) -> Option<Mark> {
        let Range { start, end } = self.label.span.range();
        let range = match self.lines {
            (first, _) if first == line => inside(start)..inside(end),
            (_, last) if last == line => inside(end)..inside(end),
            _ => return None,
        };
        Some(Mark { range, text_width: self.label.text.width() + 1 })
    }
}

/// A marked range of a line.
struct Mark {
    range: Range<usize>,
    /// How wide the text under it is.
    text_width: usize,
}

/// One line that is to fit.
struct Cut<'a> {
    text: &'a str,
    marks: Vec<Mark>,
    room: usize,
}

impl Cut<'_> {
    /// Writes the line. Returns the offsets of the characters if it was changed.
    fn write(&self, out: &mut String) -> Option<Vec<(usize, usize)>> {
        let shown = |c: char| if c == '\t' { TAB } else { c.width().unwrap_or(0) };
        let fits = self.text.len() <= self.room
            || self.text.chars().map(shown).sum::<usize>() <= self.room;
        if fits && !self.text.chars().any(|c| c.is_control() && c != '\t') {
            out.push_str(self.text);
            return None;
        }
        let chars: Vec<(usize, char)> =
            self.text.char_indices().map(|(i, c)| (i, plain(c))).collect();
        let windows = match fits {
            true => std::iter::once(0..chars.len()).collect(),
            false => self.windows(&chars),
        };
        let begin = out.len();
        let mut kept = Vec::new();
        let mut last = 0;
        for window in windows {
            if window.start > last {
                out.push(CUT);
            }
            for (there, c) in &chars[window.clone()] {
                kept.push((*there, out.len() - begin));
                out.push(*c);
            }
            last = window.end;
        }
        if last < chars.len() {
            out.push(CUT);
        }
        Some(kept)
    }

    /// What is kept, as ranges of characters: something around every mark.
    fn windows(&self, chars: &[(usize, char)]) -> Vec<Range<usize>> {
        let share = self.room / self.marks.len().max(1);
        let share = share.saturating_sub(2).max(NARROWEST / 2);
        let at = |offset: usize| chars.partition_point(|(there, _)| *there < offset);
        let mut windows: Vec<Range<usize>> = self
            .marks
            .iter()
            .map(|mark| {
                let (start, end) = (at(mark.range.start), at(mark.range.end));
                let carets = width(&chars[start..end.min(start + share)]).min(share);
                let free = share - carets;
                around(chars, start, (free / 2).min(free.saturating_sub(mark.text_width)), share)
            })
            .collect();
        if windows.is_empty() {
            windows.push(around(chars, 0, 0, share));
        }
        windows.sort_by_key(|window| window.start);
        let mut joined: Vec<Range<usize>> = Vec::new();
        for window in windows {
            match joined.last_mut() {
                // A cut of one character would save nothing.
                Some(last) if window.start <= last.end + 1 => last.end = last.end.max(window.end),
                _ => joined.push(window),
            }
        }
        joined
    }
}

/// As many characters around one of them as fit, `lead` columns of them before it.
fn around(chars: &[(usize, char)], at: usize, lead: usize, room: usize) -> Range<usize> {
    let columns = |index: usize| chars[index].1.width().unwrap_or(0);
    let (mut start, mut used) = (at, 0);
    while start > 0 && used + columns(start - 1) <= lead {
        start -= 1;
        used += columns(start);
    }
    let mut end = at;
    while end < chars.len() && used + columns(end) <= room {
        used += columns(end);
        end += 1;
    }
    while end == chars.len() && start > 0 && used + columns(start - 1) <= room {
        start -= 1;
        used += columns(start);
    }
    start..end
}

fn width(chars: &[(usize, char)]) -> usize {
    chars.iter().map(|(_, c)| c.width().unwrap_or(0)).sum()
}

/// A character that is one column wide, or as wide as it is, and moves no cursor.
fn plain(c: char) -> char {
    match c {
        '\t' => ' ',
        c if c.is_control() => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

impl<'a> Files<'a> for Excerpts {
    type FileId = usize;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: usize) -> Result<&'a str, Error> {
        self.files.get(id).map(|file| file.source.name.as_str()).ok_or(Error::FileMissing)
    }

    fn source(&'a self, id: usize) -> Result<&'a str, Error> {
        self.files.get(id).map(|file| file.text.as_str()).ok_or(Error::FileMissing)
    }

    fn line_index(&'a self, id: usize, offset: usize) -> Result<usize, Error> {
        let file = self.files.get(id).ok_or(Error::FileMissing)?;
        Ok(file.lines.partition_point(|line| line.to.start <= offset).max(1) - 1)
    }

    fn line_number(&'a self, id: usize, index: usize) -> Result<usize, Error> {
        let file = self.files.get(id).ok_or(Error::FileMissing)?;
        Ok(file.first + index + 1)
    }

    fn column_number(&'a self, id: usize, index: usize, offset: usize) -> Result<usize, Error> {
        let file = self.files.get(id).ok_or(Error::FileMissing)?;
        match file.columns.iter().find(|(here, _)| *here == offset) {
            Some((_, column)) => Ok(*column),
            None => {
                let start = self.line_range(id, index)?.start;
                Ok(file.text.get(start..offset).map_or(0, |before| before.chars().count()) + 1)
            }
        }
    }

    fn line_range(&'a self, id: usize, index: usize) -> Result<Range<usize>, Error> {
        let file = self.files.get(id).ok_or(Error::FileMissing)?;
        let max = file.lines.len().saturating_sub(1);
        let line = file.lines.get(index).ok_or(Error::LineTooLarge { given: index, max })?;
        Ok(line.to.clone())
    }
}

#[cfg(test)]
mod tests;

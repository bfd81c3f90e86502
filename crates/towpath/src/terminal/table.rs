//! Tables: columns as wide as their widest cell, cut to the terminal's width, never cut where stdout
//! is a file or a pipe. Widths are in terminal columns, not bytes.

use crate::terminal::out;
use crate::terminal::screen::{Screen, Tint, cut};
use std::collections::{HashMap, HashSet};
use towpath_view::foreign_text::first_line;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

#[derive(Debug, Clone, Default)]
pub struct Cell {
    text: String,
    tint: Tint,
}

impl Cell {
    pub fn tinted(text: impl AsRef<str>, tint: Tint) -> Cell {
        Cell { text: first_line(text.as_ref()), tint }
    }

    pub fn width(&self) -> usize {
        self.text.width()
    }

    pub fn into_parts(self) -> (String, Tint) {
        (self.text, self.tint)
    }

    /// Text of our own, with the blanks it begins with.
    pub fn own(text: impl Into<String>, tint: Tint) -> Cell {
        Cell { text: text.into(), tint }
    }
}

impl<T: AsRef<str>> From<T> for Cell {
    fn from(text: T) -> Cell {
        Cell::tinted(text, Tint::None)
    }
}

#[derive(Debug)]
pub struct Table {
    indent: usize,
    header: Vec<&'static str>,
    rows: Vec<TableRow>,
    /// The one column that is cut, if only one may be.
    cut_only: Option<usize>,
}

#[derive(Debug)]
enum TableRow {
    Cells(Vec<Cell>),
    /// Across all columns.
    Line(Cell),
}

/// Cells are never cut below this, so that a cut one is still useful.
const NARROWEST: usize = 8;
const GAP: usize = 2;

impl Table {
    pub fn new(header: &[&'static str]) -> Table {
        Table { indent: 0, header: header.to_vec(), rows: Vec::new(), cut_only: None }
    }

    /// A table without a header, moved in from the left.
    pub fn plain(indent: usize) -> Table {
        Table { indent, header: Vec::new(), rows: Vec::new(), cut_only: None }
    }

    /// Cuts the cells of this column first, and those of others only where that is not enough.
    pub fn cut_only(mut self, column: usize) -> Table {
        self.cut_only = Some(column);
        self
    }

    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(TableRow::Cells(cells));
    }

    /// A line of our own that belongs to the row above it.
    pub fn below(&mut self, text: String, tint: Tint) {
        self.rows.push(TableRow::Line(Cell::own(text, tint)));
    }

    pub fn print(&self, screen: &Screen) {
        let lines = self.lines(screen);
        if !lines.is_empty() {
            out::line(lines.join("\n"));
        }
    }

    fn lines(&self, screen: &Screen) -> Vec<String> {
        let header = self.header.iter().map(|h| Cell::tinted(h, Tint::Dim)).collect();
        let header = TableRow::Cells(header);
        let head = (!self.header.is_empty()).then_some(&header);
        let all: Vec<&TableRow> = head.into_iter().chain(&self.rows).collect();
        let mut widths = widths(&all);
        let room = screen.width.map(|width| width.saturating_sub(self.indent));
        if let Some(room) = room {
            if let Some(column) = self.cut_only.filter(|column| *column < widths.len()) {
                shrink_one(&mut widths, column, room);
            }
            shrink(&mut widths, room);
        }
        let alike = alike(&all, &widths);
        let drawn = |row: &&TableRow| match row {
            TableRow::Cells(cells) => self.drawn(cells, &widths, &alike, screen),
            TableRow::Line(cell) => {
                let text = room.map_or_else(|| cell.text.clone(), |room| cut(&cell.text, room));
                " ".repeat(self.indent) + &screen.paint(cell.tint, &text)
            }
        };
        all.iter().map(drawn).collect()
    }

    fn drawn(
        &self,
        cells: &[Cell],
        widths: &[usize],
        alike: &HashSet<&str>,
        screen: &Screen,
    ) -> String {
        let mut line = " ".repeat(self.indent);
        let mut room = screen.width.map(|w| w.saturating_sub(self.indent));
        let last = cells.iter().rposition(|c| !c.text.is_empty()).unwrap_or(0);
        for (index, cell) in cells.iter().enumerate().take(last + 1) {
            let width = room.map_or(widths[index], |room| widths[index].min(room));
            let text = match alike.contains(cell.text.as_str()) {
                true => cut_inside(&cell.text, width),
                false => cut(&cell.text, width),
            };
            line.push_str(&screen.paint(cell.tint, &text));
            let space = if index < last { width.saturating_sub(text.width()) + GAP } else { 0 };
            let space = room.map_or(space, |room| space.min(room.saturating_sub(text.width())));
            line.push_str(&" ".repeat(space));
            room = room.map(|room| room.saturating_sub(width + GAP));
        }
        line
    }
}

fn widths(rows: &[&TableRow]) -> Vec<usize> {
    let mut widths = Vec::new();
    for row in rows {
        let TableRow::Cells(cells) = row else { continue };
        widths.resize(widths.len().max(cells.len()), 0);
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = cell.text.width().max(*width);
        }
    }
    widths
}

/// A longer text is prose, whose beginning is enough.
const LONGEST_NAME: usize = 48;

/// The names that would look like others in their column when their ends were cut.
fn alike<'a>(rows: &[&'a TableRow], widths: &[usize]) -> HashSet<&'a str> {
    let mut alike = HashSet::new();
    for (column, width) in widths.iter().enumerate() {
        let mut first: HashMap<String, &str> = HashMap::new();
        for row in rows {
            let TableRow::Cells(cells) = row else { continue };
            let Some(text) = cells.get(column).map(|cell| cell.text.as_str()) else { continue };
            if text.width() <= *width || text.width() > LONGEST_NAME {
                continue;
            }
            let known = *first.entry(cut(text, *width)).or_insert(text);
            if known != text {
                alike.extend([known, text]);
            }
        }
    }
    alike
}

/// Takes from one column what is too much, as far as it can give.
fn shrink_one(widths: &mut [usize], column: usize, width: usize) {
    let gaps = widths.len().saturating_sub(1) * GAP;
    let too_much = (widths.iter().sum::<usize>() + gaps).saturating_sub(width);
    let least = widths[column].min(NARROWEST);
    widths[column] = widths[column].saturating_sub(too_much).max(least);
}

/// Takes from the widest column until all fit, or none can give more.
fn shrink(widths: &mut [usize], width: usize) {
    let gaps = widths.len().saturating_sub(1) * GAP;
    while widths.iter().sum::<usize>() + gaps > width {
        let widest = widths.iter_mut().rev().max_by_key(|w| **w);
        match widest.filter(|w| **w > NARROWEST) {
            Some(widest) => *widest -= 1,
            None => return,
        }
    }
}

/// The beginning and the end of a text that is `width` columns wide at most, with `…` between them.
pub fn cut_inside(text: &str, width: usize) -> String {
    if text.width() <= width || width < 3 {
        return cut(text, width);
    }
    let tail = (width - 1) / 2;
    let (mut start, mut used) = (text.len(), 0);
    for (at, c) in text.char_indices().rev() {
        used += c.width().unwrap_or(0);
        if used > tail {
            break;
        }
        start = at;
    }
    cut(text, width - text[start..].width()) + &text[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(width: Option<usize>) -> Vec<String> {
        let mut table = Table::new(&["RUN", "WHAT", "WHERE"]);
        table.row(vec!["7f3k".into(), "a long text with much in it".into(), "deploy".into()]);
        table.row(vec!["5a2m".into(), "日本語のとても長い説明です".into(), Cell::default()]);
        table.lines(&Screen { width, color: false })
    }

    #[test]
    fn a_pipe_gets_everything() {
        assert_eq!(
            lines(None),
            [
                "RUN   WHAT                         WHERE",
                "7f3k  a long text with much in it  deploy",
                "5a2m  日本語のとても長い説明です",
            ]
        );
    }

    #[test]
    fn a_terminal_gets_what_fits_by_what_is_seen() {
        assert_eq!(
            lines(Some(30)),
            [
                "RUN   WHAT              WHERE",
                "7f3k  a long text wit…  deploy",
                "5a2m  日本語のとても…",
            ]
        );
        for width in 0..60 {
            for line in lines(Some(width)) {
                assert!(line.width() <= width, "{width}: {line:?}");
            }
        }
    }

    #[test]
    fn names_that_only_differ_at_their_ends_stay_apart() {
        let mut table = Table::plain(0);
        for name in ["review-completeness", "review-consistency", "locate-the-design"] {
            table.row(vec![name.into(), "what it does, in quite a few words".into()]);
        }
        assert_eq!(
            table.lines(&Screen { width: Some(21), color: false }),
            ["revi…ness  what it d…", "revi…ency  what it d…", "locate-t…  what it d…"]
        );
        for width in 0..60 {
            let wide = ["日本語日本語一", "日本語日本語二"].map(|name| cut_inside(name, width));
            assert!(wide.iter().all(|name| name.width() <= width), "{width}: {wide:?}");
        }
    }
}

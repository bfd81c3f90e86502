//! A line of ours: pieces of text, each with its tone. It is cut by what it takes on the screen,
//! so that it never wraps, and loses its colours where nobody wants them.

use super::fit_text::{beginning, width, wrapped};
use anstyle::{AnsiColor, Style};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Strong,
    Good,
    Bad,
    /// The user should look.
    Attention,
    /// What has not happened.
    Faint,
}

impl Tone {
    fn style(self) -> Style {
        match self {
            Tone::Plain => Style::new(),
            Tone::Strong => Style::new().bold(),
            Tone::Good => AnsiColor::Green.on_default(),
            Tone::Bad => AnsiColor::Red.on_default(),
            Tone::Attention => AnsiColor::Yellow.on_default(),
            Tone::Faint => Style::new().dimmed(),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    pieces: Vec<(Tone, String)>,
}

impl Line {
    pub fn new() -> Line {
        Line::default()
    }

    pub fn plain(text: impl Into<String>) -> Line {
        Line::new().with(Tone::Plain, text)
    }

    pub fn with(mut self, tone: Tone, text: impl Into<String>) -> Line {
        self.pieces.push((tone, text.into()));
        self
    }

    pub fn text(self, text: impl Into<String>) -> Line {
        self.with(Tone::Plain, text)
    }

    pub fn append(&mut self, other: Line) {
        self.pieces.extend(other.pieces);
    }

    pub fn width(&self) -> usize {
        self.pieces.iter().map(|(_, text)| width(text)).sum()
    }

    /// At most `limit` columns; what is lost shows as `…`.
    pub fn cut(self, limit: usize) -> Line {
        if self.width() <= limit {
            return self;
        }
        let mut left = limit.saturating_sub(1);
        let mut pieces = Vec::new();
        for (tone, text) in self.pieces {
            let kept = beginning(&text, left);
            left -= width(kept);
            let whole = kept.len() == text.len();
            pieces.push((tone, kept.to_owned()));
            if !whole {
                break;
            }
        }
        if limit > 0 {
            pieces.push((Tone::Plain, "…".to_owned()));
        }
        Line { pieces }
    }

    /// Lines of at most `room` columns. A line of several tones stays whole.
    fn broken(self, room: usize) -> Vec<Line> {
        match self.pieces.as_slice() {
            [(tone, text)] => {
                wrapped(text, room).into_iter().map(|text| Line::new().with(*tone, text)).collect()
            }
            _ => vec![self],
        }
    }

    pub fn render(&self, color: bool) -> String {
        let mut out = String::new();
        for (tone, text) in &self.pieces {
            if color && *tone != Tone::Plain && !text.is_empty() {
                let style = tone.style();
                out.push_str(&format!("{style}{text}{style:#}"));
            } else {
                out.push_str(text);
            }
        }
        out
    }
}

/// Parts joined by ` · `, broken between parts where the width asks for it.
pub fn joined(first: &str, indent: &str, parts: Vec<Line>, limit: Option<usize>) -> Vec<Line> {
    let limit = limit.unwrap_or(usize::MAX);
    let mut lines = vec![Line::plain(first)];
    let mut fresh = true;
    for part in parts {
        let last = lines.last_mut().expect("there is always a line");
        if fresh {
            last.append(part);
        } else if last.width() + 3 + part.width() <= limit {
            last.append(Line::plain(" · "));
            last.append(part);
        } else {
            for piece in part.broken(limit.saturating_sub(width(indent))) {
                let mut next = Line::plain(indent);
                next.append(piece);
                lines.push(next);
            }
        }
        fresh = false;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_by_columns_not_by_characters() {
        let line = Line::new().with(Tone::Good, "✓ ").text("日本語 abc");
        assert_eq!(line.width(), 12);
        for (limit, text) in [(12, "✓ 日本語 abc"), (11, "✓ 日本語 a…"), (6, "✓ 日…"), (0, "")]
        {
            let cut = line.clone().cut(limit);
            assert_eq!(cut.render(false), text);
            assert!(cut.width() <= limit);
        }
    }

    #[test]
    fn colour_is_only_there_when_wanted() {
        let line = Line::new().with(Tone::Bad, "failed").text(" test");
        assert_eq!(line.render(true), "\u{1b}[31mfailed\u{1b}[0m test");
        assert_eq!(line.render(false), "failed test");
    }

    #[test]
    fn parts_break_between_parts() {
        let parts = || ["4 of 6 steps ran", "1 skipped", "$0.42"].map(Line::plain).to_vec();
        let text = |limit| {
            let lines = joined("  ", "    ", parts(), limit);
            lines.iter().map(|l| l.render(false)).collect::<Vec<_>>()
        };
        assert_eq!(text(None), ["  4 of 6 steps ran · 1 skipped · $0.42"]);
        assert_eq!(text(Some(30)), ["  4 of 6 steps ran · 1 skipped", "    $0.42"]);
        let long = vec![Line::plain("a"), Line::plain("1 skipped (docs: condition false)")];
        let lines = joined("", "  ", long, Some(24));
        let lines: Vec<_> = lines.iter().map(|l| l.render(false)).collect();
        assert_eq!(lines, ["a", "  1 skipped (docs:", "  condition false)"]);
    }
}

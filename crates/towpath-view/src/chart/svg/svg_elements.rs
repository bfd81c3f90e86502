//! The few things that the image is made of, and how each is written. Texts are escaped here and
//! nowhere else; what XML cannot contain becomes U+FFFD.

use crate::chart::Card;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// Sizes of letters, by what a text is for. All but titles are set in a font of one width, so that
/// their width is known without the font.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Title,
    About,
    Name,
    Detail,
    Code,
    Label,
    Pill,
    Note,
}

impl Style {
    fn class(self) -> &'static str {
        match self {
            Style::Title => "title",
            Style::About => "about",
            Style::Name => "name",
            Style::Detail => "detail",
            Style::Code => "code",
            Style::Label => "label",
            Style::Pill => "end",
            Style::Note => "note",
        }
    }

    /// How wide a column is, in tenths of a pixel; a little more than in any usual font.
    fn column(self) -> usize {
        match self {
            Style::Title => 118,
            Style::Name => 87,
            Style::Pill => 75,
            Style::About => 76,
            Style::Detail | Style::Code | Style::Label | Style::Note => 69,
        }
    }

    pub fn width(self, text: &str) -> i64 {
        (text.width() * self.column()).div_ceil(10) as i64
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    End,
}

#[derive(Debug, Clone)]
pub enum Ink {
    Card {
        x: i64,
        y: i64,
        w: i64,
        h: i64,
        tip: String,
        /// Its step.
        card: Box<Card>,
    },
    Pill {
        x: i64,
        y: i64,
        w: i64,
        h: i64,
        restart: bool,
        tip: String,
    },
    Frame {
        x: i64,
        y: i64,
        w: i64,
        h: i64,
    },
    Text {
        x: i64,
        y: i64,
        style: Style,
        anchor: Anchor,
        text: String,
    },
    /// A way with round corners and, at its end, the tip of an arrow.
    Way {
        points: Vec<(i64, i64)>,
    },
    Dot {
        x: i64,
        y: i64,
    },
}

const ROUND: i64 = 8;

impl Ink {
    pub fn text(x: i64, y: i64, style: Style, text: impl Into<String>) -> Ink {
        Ink::Text { x, y, style, anchor: Anchor::Start, text: text.into() }
    }

    /// With `named`, a card has its step's name, for a page that finds it by that.
    pub fn write(&self, svg: &mut String, named: bool) {
        let _ = match self {
            Ink::Card { x, y, w, h, tip, card } => {
                let (class, idle) = (card.kind.word(), card.idle.is_some());
                let name = if named { name_attributes(card) } else { String::new() };
                let idle = if idle { " idle" } else { "" };
                let (top, low) = (y + 12, h - 24);
                writeln!(
                    svg,
                    "<g{name}><title>{}</title>\
                     <rect class=\"card{idle}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"8\"/>\
                     <rect class=\"{class}{idle}\" x=\"{}\" y=\"{top}\" width=\"4\" height=\"{low}\" rx=\"2\"/></g>",
                    escaped(tip),
                    x + 8
                )
            }
            Ink::Pill { x, y, w, h, restart, tip } => {
                let class = if *restart { "pill restart" } else { "pill" };
                writeln!(
                    svg,
                    "<g><title>{}</title><rect class=\"{class}\" x=\"{x}\" y=\"{y}\" \
                     width=\"{w}\" height=\"{h}\" rx=\"{}\"/></g>",
                    escaped(tip),
                    h / 2
                )
            }
            Ink::Frame { x, y, w, h } => writeln!(
                svg,
                "<rect class=\"frame\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"12\"/>"
            ),
            Ink::Text { x, y, style, anchor, text } => {
                let end = if *anchor == Anchor::End { " text-anchor=\"end\"" } else { "" };
                let (class, text) = (style.class(), escaped(text));
                writeln!(svg, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{end}>{text}</text>")
            }
            Ink::Way { points } => {
                let tip = tip(points);
                writeln!(svg, "<path class=\"way\" d=\"{}\"/>{tip}", rounded(points))
            }
            Ink::Dot { x, y } => {
                writeln!(svg, "<circle class=\"dot\" cx=\"{x}\" cy=\"{y}\" r=\"5\"/>")
            }
        };
    }
}

/// The step, the steps of a folded card, and the part that they call.
fn name_attributes(card: &Card) -> String {
    let calls = card.calls.map_or(String::new(), |part| format!(" data-calls=\"{part}\""));
    if card.steps.is_empty() {
        return format!(" data-step=\"{}\"{calls}", escaped(&card.name));
    }
    let steps = serde_json::json!(card.steps).to_string();
    format!(" data-steps=\"{}\"{calls}", escaped(&steps))
}

fn rounded(points: &[(i64, i64)]) -> String {
    let mut path = String::new();
    for (at, point) in points.iter().enumerate() {
        let (x, y) = *point;
        let _ = match (at.checked_sub(1).map(|before| points[before]), points.get(at + 1)) {
            (None, _) => write!(path, "M{x} {y}"),
            (Some(_), None) => write!(path, "L{x} {y}"),
            (Some(before), Some(after)) => {
                let from = towards(*point, before);
                let to = towards(*point, *after);
                write!(path, "L{} {}Q{x} {y} {} {}", from.0, from.1, to.0, to.1)
            }
        };
    }
    path
}

/// A little way from a corner to the next point; ways are level or upright.
fn towards(corner: (i64, i64), point: (i64, i64)) -> (i64, i64) {
    let part = |from: i64, to: i64| from + (to - from).clamp(-ROUND, ROUND);
    let half = |from: i64, to: i64| {
        if (to - from).abs() < 2 * ROUND { (from + to) / 2 } else { part(from, to) }
    };
    (half(corner.0, point.0), half(corner.1, point.1))
}

fn tip(points: &[(i64, i64)]) -> String {
    let [.., (fx, fy), (x, y)] = points else { return String::new() };
    let (dx, dy) = ((x - fx).signum(), (y - fy).signum());
    let (bx, by) = (x - 8 * dx, y - 8 * dy);
    format!(
        "<path class=\"tip\" d=\"M{x} {y}L{} {}L{} {}Z\"/>",
        bx + 4 * dy,
        by + 4 * dx,
        bx - 4 * dy,
        by - 4 * dx
    )
}

pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\t' | '\n' | '\r' => safe.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

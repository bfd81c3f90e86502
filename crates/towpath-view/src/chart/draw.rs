//! A state machine drawn with characters, its steps one below the other. It is as wide as its longest line;
//! whether that fits is for the caller to judge.

use super::arrange_rows::{Row, Side, arrange};
use super::{Card, Part, To};
use unicode_width::UnicodeWidthStr as _;

/// A line of the drawing; the end of it, from `dim` on, matters less than the rest.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Line {
    pub text: String,
    pub dim: String,
}

impl Line {
    pub fn width(&self) -> usize {
        self.text.width() + self.dim.width()
    }
}

pub fn draw(part: &Part) -> Vec<Line> {
    let arranged = arrange(part);
    let mut lines = Vec::new();
    for (at, row) in arranged.rows.iter().enumerate() {
        let jumps = arranged.jumps.iter().filter(|jump| jump.from == at);
        let jumps = jumps.map(|jump| {
            let where_to = if jump.to > at { "below" } else { "above" };
            let card = &part.cards[arranged.rows[jump.to].card];
            Branch::plain(jump.label, format!("{} ({where_to})", card.name))
        });
        let mut branches: Vec<Branch> =
            row.sides.iter().map(|side| side_branch(part, side)).collect();
        branches.extend(jumps);
        lines.push(head(&part.cards[row.card]));
        draw_row(row, &branches, &mut lines);
        if row.down.is_empty() && at + 1 < arranged.rows.len() {
            lines.push(Line::default());
        }
    }
    lines
}

fn head(card: &Card) -> Line {
    let words = card.words(card.unusual());
    let dim = words.map_or(String::new(), |words| format!("  {words}"));
    Line { text: card.name.clone(), dim }
}

/// One line out of a step, and what comes back.
struct Branch {
    labels: Vec<String>,
    target: String,
    detail: String,
    ends: Vec<(String, String)>,
    back: Vec<String>,
}

impl Branch {
    fn plain(label: &str, target: String) -> Branch {
        let labels = vec![label.to_owned()];
        Branch { labels, target, detail: String::new(), ends: Vec::new(), back: Vec::new() }
    }
}

fn side_branch(part: &Part, side: &Side<'_>) -> Branch {
    match side {
        Side::End { label, to } => Branch::plain(label, ending(to)),
        Side::Again { label } => Branch::plain(label, "again".to_owned()),
        Side::Loop { card, out, back, ends } => Branch {
            labels: out.iter().map(|label| (*label).to_owned()).collect(),
            target: part.cards[*card].name.clone(),
            detail: head(&part.cards[*card]).dim,
            ends: ends.iter().map(|(label, to)| ((*label).to_owned(), ending(to))).collect(),
            back: back.iter().map(|label| (*label).to_owned()).collect(),
        },
    }
}

fn ending(to: &To) -> String {
    to.ending().unwrap_or_default()
}

fn draw_row(row: &Row<'_>, branches: &[Branch], lines: &mut Vec<Line>) {
    let labels = branches.iter().flat_map(|b| b.labels.iter().chain(&b.back));
    let widest = labels.map(|label| label.width()).max().unwrap_or(0);
    let rule = |label: &str, more: usize| "─".repeat(widest - label.width() + more);
    for (index, branch) in branches.iter().enumerate() {
        let last = index + 1 == branches.len() && row.down.is_empty();
        let (begin, trunk) = match last && branch.back.is_empty() {
            true => ("╰", " "),
            false => ("├", "│"),
        };
        let (label, more) = branch.labels.split_first().expect("a branch has a label");
        let text = format!("  {begin}─ {label} {}▶ {}", rule(label, 1), branch.target);
        lines.push(Line { text, dim: branch.detail.clone() });
        for label in more {
            let text = format!("  ├─ {label} {}╯", rule(label, 3));
            lines.push(Line { text, dim: String::new() });
        }
        let margin = format!("  {trunk}{}", " ".repeat(widest + 6));
        let inner = branch.ends.iter().map(|(label, _)| label.width()).max().unwrap_or(0);
        for (at, (label, target)) in branch.ends.iter().enumerate() {
            let end = at + 1 == branch.ends.len() && branch.back.is_empty();
            let begin = if end { "╰" } else { "├" };
            let rule = "─".repeat(inner - label.width() + 1);
            let text = format!("{margin}{begin}─ {label} {rule}▶ {target}");
            lines.push(Line { text, dim: String::new() });
        }
        for (at, label) in branch.back.iter().enumerate() {
            let corner = if at + 1 == branch.back.len() { "╯" } else { "┤" };
            let text = format!("  ◀─ {label} {}{corner}", rule(label, 3));
            lines.push(Line { text, dim: String::new() });
        }
    }
    if !row.down.is_empty() {
        lines.push(Line { text: format!("  ▼ {}", row.down.join(" or ")), dim: String::new() });
    }
}

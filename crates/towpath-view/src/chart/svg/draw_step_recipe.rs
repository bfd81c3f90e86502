//! A step recipe, drawn: one batch below the other, a group as a frame around its steps, and a way
//! round each step that has a condition. A long recipe continues in the next column, so that it can be
//! seen as a whole.

use super::svg_elements::{Anchor, Ink, Style};
use super::{Drawing, draw_state_machine};
use crate::chart::{Batch, Card, Part, fit};

const GAP: i64 = 34;
/// Above a step with a condition: room for the end of one way round and the beginning of the next.
const GAP_BEFORE_CONDITION: i64 = 54;
/// How far above a step the way round it begins, how far below it ends, and how far left it is.
const AROUND: (i64, i64, i64) = (24, 10, 14);
const BETWEEN: i64 = 16;
const HEADER: i64 = 26;
/// The height that a single column may have.
const COLUMN: i64 = 1500;
const TEXT: usize = 44;

pub fn draw(part: &Part, batches: &[Batch], top: i64) -> Drawing {
    let alone = batches.iter().filter(|batch| batch.cards.len() == 1);
    let alone = alone.map(|batch| width(&part.cards[batch.cards[0]])).max().unwrap_or(0);
    let blocks: Vec<Block> = batches.iter().map(|batch| block(part, batch, alone)).collect();
    let column_height = column_height(&blocks);
    let mut pen = Pen::default();
    let (mut x, mut begin) = (0, 0);
    while begin < blocks.len() {
        let (mut end, mut height) = (begin, 0);
        while end < blocks.len() && (end == begin || height < column_height) {
            height += blocks[end].room();
            end += 1;
        }
        let right = pen.column(&blocks[begin..end], x, top);
        x = right + 2 * BETWEEN + 16;
        begin = end;
    }
    if blocks.last().is_some_and(|block| block.condition.is_some()) {
        pen.end();
    }
    pen.drawing
}

#[derive(Default)]
struct Pen {
    drawing: Drawing,
    /// Where the last block ends.
    before: Option<(i64, i64)>,
}

impl Pen {
    /// Draws blocks below each other; gives their right edge.
    fn column(&mut self, blocks: &[Block], left: i64, top: i64) -> i64 {
        let widest = blocks.iter().map(|block| block.width).max().unwrap_or(0);
        let conditional = blocks.iter().any(|block| block.condition.is_some());
        let x = left + if conditional { AROUND.2 + 6 } else { 0 };
        let center = x + widest / 2;
        let (mut y, mut right) = (top, x + widest);
        for (at, block) in blocks.iter().enumerate() {
            if at > 0 || block.condition.is_some() {
                y += block.gap();
            }
            if let Some(condition) = &block.condition {
                right = right.max(center + 10 + Style::Label.width(condition));
            }
            self.lead_in(block, (center, y), left);
            let at = (center - block.width / 2, y);
            self.drawing.ink.extend(block.ink.iter().map(|ink| moved(ink, at)));
            self.drawing.grow(right, y + block.height + AROUND.1);
            y += block.height;
            self.before = Some((center, y));
        }
        right
    }

    /// What leads to a block and, where it has a condition, the way round it.
    fn lead_in(&mut self, block: &Block, (x, y): (i64, i64), column: i64) {
        let condition = block.condition.as_ref();
        if let (None, Some(_)) = (self.before, condition) {
            self.drawing.ink.push(Ink::Dot { x, y: y - GAP_BEFORE_CONDITION + 5 });
            self.before = Some((x, y - GAP_BEFORE_CONDITION + 10));
        }
        if let Some(from) = self.before {
            let enters = if condition.is_some() { GAP_BEFORE_CONDITION - 8 } else { 16 };
            self.drawing.ink.push(Ink::Way { points: way(from, (x, y), (column, enters)) });
        }
        let Some(condition) = condition else { return };
        self.drawing.ink.push(Ink::text(x + 10, y - 13, Style::Label, condition.clone()));
        let (above, below, beside) = AROUND;
        let (begin, end, rail) =
            (y - above, y + block.height + below, x - block.width / 2 - beside);
        let points = vec![(x, begin), (rail, begin), (rail, end), (x, end)];
        self.drawing.ink.push(Ink::Way { points });
        let (anchor, text) = (Anchor::End, "else".to_owned());
        let (x, y) = (x - 10, begin - 4);
        self.drawing.ink.push(Ink::Text { x, y, style: Style::Label, anchor, text });
    }

    /// The end, where the way round the last step needs one.
    fn end(&mut self) {
        let Some((x, y)) = self.before else { return };
        self.drawing.ink.push(Ink::Way { points: vec![(x, y), (x, y + GAP)] });
        self.drawing.ink.push(Ink::Dot { x, y: y + GAP + 5 });
        self.drawing.grow(x, y + GAP + 10);
    }
}

/// So that a long sequence is about one and a half times as wide as it is high.
fn column_height(blocks: &[Block]) -> i64 {
    let whole: i64 = blocks.iter().map(Block::room).sum();
    let widest = blocks.iter().map(|block| block.width + 3 * BETWEEN).max().unwrap_or(1);
    let columns = ((whole as f64 * 1.5 / widest as f64).sqrt().round() as i64).max(1);
    if whole <= COLUMN { whole } else { whole / columns }
}

/// Straight down, or around to the head of the next column, which it enters so far above the block.
fn way((fx, fy): (i64, i64), (tx, ty): (i64, i64), (left, enters): (i64, i64)) -> Vec<(i64, i64)> {
    if fx == tx {
        return vec![(fx, fy), (tx, ty)];
    }
    let (aisle, head) = (left - BETWEEN, ty - enters);
    vec![(fx, fy), (fx, fy + 14), (aisle, fy + 14), (aisle, head), (tx, head), (tx, ty)]
}

struct Block {
    ink: Vec<Ink>,
    width: i64,
    height: i64,
    condition: Option<String>,
}

impl Block {
    fn gap(&self) -> i64 {
        if self.condition.is_some() { GAP_BEFORE_CONDITION } else { GAP }
    }

    fn room(&self) -> i64 {
        self.height + self.gap()
    }
}

fn block(part: &Part, batch: &Batch, alone: i64) -> Block {
    let condition = batch.condition.as_ref().map(|text| format!("if {}", fit(text, TEXT)));
    let cards: Vec<&Card> = batch.cards.iter().map(|at| &part.cards[*at]).collect();
    let width = cards.iter().map(|card| width(card)).max().unwrap_or(0).max(200);
    let heights: Vec<i64> = cards.iter().map(|card| height(card)).collect();
    let tallest = heights.iter().copied().max().unwrap_or(0);
    if let [card] = cards[..] {
        let width = width.max(alone);
        let ink = draw_state_machine::card_ink(card, (0, 0), (width, tallest), &rest(card));
        return Block { ink, width, height: tallest, condition };
    }
    let across = if cards.len() == 4 { 2 } else { cards.len().min(3) };
    let down = cards.len().div_ceil(across);
    let (step_x, step_y) = (width + BETWEEN, tallest + BETWEEN);
    let frame_w = across as i64 * step_x + BETWEEN;
    let frame_h = down as i64 * step_y + BETWEEN + HEADER;
    let mut ink = vec![Ink::Frame { x: 0, y: 0, w: frame_w, h: frame_h }];
    let group = batch.group.as_deref().unwrap_or("");
    let title = format!("{} · at the same time", fit(group, 40));
    ink.push(Ink::text(BETWEEN, 24, Style::Detail, title));
    for (at, card) in cards.iter().enumerate() {
        let (column, row) = ((at % across) as i64, (at / across) as i64);
        let corner = (BETWEEN + column * step_x, HEADER + BETWEEN + row * step_y);
        ink.extend(draw_state_machine::card_ink(card, corner, (width, tallest), &rest(card)));
    }
    Block { ink, width: frame_w, height: frame_h, condition }
}

/// The lines of a card below its name.
fn rest(card: &Card) -> Vec<(Style, String)> {
    let mut lines = Vec::new();
    if !card.text.is_empty() {
        lines.push((Style::Code, fit(&card.text, TEXT)));
    }
    lines.extend(draw_state_machine::about(card));
    lines
}

fn width(card: &Card) -> i64 {
    let rest = rest(card);
    let rest = rest.iter().map(|(style, text)| style.width(text));
    rest.chain([draw_state_machine::name_width(card)]).max().unwrap_or(0)
        + draw_state_machine::PADDING
}

fn height(card: &Card) -> i64 {
    34 + 17 * rest(card).len() as i64
}

fn moved(ink: &Ink, (dx, dy): (i64, i64)) -> Ink {
    let mut ink = ink.clone();
    match &mut ink {
        Ink::Card { x, y, .. }
        | Ink::Pill { x, y, .. }
        | Ink::Frame { x, y, .. }
        | Ink::Text { x, y, .. }
        | Ink::Dot { x, y } => (*x, *y) = (*x + dx, *y + dy),
        Ink::Way { points } => points.iter_mut().for_each(|p| *p = (p.0 + dx, p.1 + dy)),
    }
    ink
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::Shape;

    /// How many ways are drawn for three steps, of which this one has a condition.
    fn ways(conditional: Option<usize>) -> usize {
        let card = |name: &str| Card { name: name.to_owned(), ..Card::default() };
        let batch = |at: usize| Batch {
            cards: vec![at],
            group: None,
            condition: (conditional == Some(at)).then(|| "x".to_owned()),
        };
        let batches: Vec<Batch> = (0..3).map(batch).collect();
        let part = Part {
            title: String::new(),
            about: String::new(),
            notes: Vec::new(),
            cards: ["a", "b", "c"].map(card).into(),
            shape: Shape::Line(Vec::new()),
        };
        let drawing = draw(&part, &batches, 0);
        drawing.ink.iter().filter(|ink| matches!(ink, Ink::Way { .. })).count()
    }

    #[test]
    fn a_step_with_a_condition_has_a_way_round_it() {
        assert_eq!(ways(None), 2);
        assert_eq!(ways(Some(1)), 3, "from the step before to the way to the next");
        assert_eq!(ways(Some(0)), 4, "also from the beginning to the first step");
        assert_eq!(ways(Some(2)), 4, "also from the last step to the end");
    }
}

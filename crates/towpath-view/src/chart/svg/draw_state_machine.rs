//! A state machine, drawn: its rows from top to bottom, ends and loops beside their step, and the ways
//! between distant rows along rails at the left. A label is in a strip of its own between a
//! step and what is beside it; rails are outside of it.

use super::Drawing;
use super::svg_elements::{Anchor, Ink, Style};
use crate::chart::arrange_rows::{Jump, Row, Rows, Side, arrange};
use crate::chart::{Card, Part, To, fit};

pub const PADDING: i64 = 38;
const NAME: usize = 40;
const LABEL: usize = 32;
const ENDING: usize = 48;
/// From one way beside a step to the next.
const PITCH: i64 = 34;
/// From one way of a loop to the next.
const NEAR: i64 = 26;
const CARD: i64 = 52;
const PILL: i64 = 26;
const PORT: i64 = 24;
const RAIL: i64 = 14;
const BELOW: i64 = 50;
/// With more ways than this along the left, each names its step instead.
const MOST_JUMPS: usize = 30;

pub fn draw(part: &Part, top: i64) -> Drawing {
    let rows = arrange(part);
    let crowded = rows.jumps.len() > MOST_JUMPS;
    let mut plan = Plan::new(part, &rows, crowded);
    plan.put_rows(top + 28);
    plan.draw()
}

struct Plan<'a> {
    part: &'a Part,
    rows: &'a Rows<'a>,
    crowded: bool,
    card_w: i64,
    beside_w: i64,
    /// How wide the strips for labels are: left of the steps, right of them, right of loops.
    left: i64,
    strip: i64,
    strip_beside: i64,
    /// Top and height of each row's card.
    tops: Vec<(i64, i64)>,
}

impl<'a> Plan<'a> {
    fn new(part: &'a Part, rows: &'a Rows<'a>, crowded: bool) -> Plan<'a> {
        let width = |card: usize| card_width(&part.cards[card]);
        let card_w = rows.rows.iter().map(|row| width(row.card)).max().unwrap_or(0).max(170);
        let (mut labels, mut inner, mut beside_w) = (Vec::new(), Vec::new(), 120);
        for side in rows.rows.iter().flat_map(|row| &row.sides) {
            match side {
                Side::End { label, .. } | Side::Again { label } => labels.push(*label),
                Side::Loop { card, out, back, ends } => {
                    labels.extend(out.iter().chain(back));
                    inner.extend(ends.iter().map(|(label, _)| *label));
                    beside_w = beside_w.max(width(*card));
                }
            }
        }
        let jumps = rows.jumps.iter().map(|jump| jump.label);
        let left = if crowded || rows.jumps.is_empty() { 0 } else { strip(jumps.clone()) };
        if crowded {
            labels.extend(jumps);
        }
        let (strip, strip_beside) = (strip(labels.into_iter()), strip(inner.into_iter()));
        let tops = Vec::new();
        Plan { part, rows, crowded, card_w, beside_w, left, strip, strip_beside, tops }
    }

    fn put_rows(&mut self, top: i64) {
        let mut y = top;
        for (at, row) in self.rows.rows.iter().enumerate() {
            let sides: i64 = self.heights(at, row).iter().sum();
            let height = CARD.max(sides).max(self.ports(at).len() as i64 * PORT + 4);
            self.tops.push((y, height));
            y += height + if row.down.is_empty() { 36 } else { BELOW };
        }
    }

    /// The heights of what is beside a row, in order; the ways that name their step come last.
    fn heights(&self, at: usize, row: &Row<'_>) -> Vec<i64> {
        let sides = row.sides.iter().map(|side| match side {
            Side::End { .. } => PITCH,
            Side::Again { .. } => 2 * NEAR,
            Side::Loop { out, back, ends, .. } => {
                let ways = (out.len() + back.len()) as i64 * NEAR;
                CARD.max(ways).max(ends.len() as i64 * PITCH) + 8
            }
        });
        sides.chain(self.named(at).map(|_| PITCH)).collect()
    }

    /// The jumps of a row that are not drawn as ways.
    fn named(&self, at: usize) -> impl Iterator<Item = &Jump<'a>> {
        self.rows.jumps.iter().filter(move |jump| self.crowded && jump.from == at)
    }

    /// The ends of jumps at a row's left, from top to bottom: what comes from above, what goes up,
    /// what comes from below, what goes down. Each is a jump and whether it begins here.
    fn ports(&self, at: usize) -> Vec<(usize, bool)> {
        if self.crowded {
            return Vec::new();
        }
        let mut ports: Vec<(usize, bool)> = Vec::new();
        for (index, jump) in self.rows.jumps.iter().enumerate() {
            if jump.to == at {
                ports.push((index, false));
            }
            if jump.from == at {
                ports.push((index, true));
            }
        }
        let order = |(index, begins): &(usize, bool)| {
            let jump = &self.rows.jumps[*index];
            (*begins, if *begins { jump.to } else { jump.from })
        };
        ports.sort_by_key(order);
        ports
    }

    fn port_y(&self, at: usize, jump: usize, begins: bool) -> i64 {
        let ports = self.ports(at);
        let number = ports.iter().position(|port| *port == (jump, begins)).unwrap_or(0) as i64;
        let (y, height) = self.tops[at];
        let all = (ports.len() as i64 - 1) * PORT;
        y + (height - all) / 2 + number * PORT
    }

    fn draw(&self) -> Drawing {
        let mut drawing = Drawing::default();
        let rails = self.rails();
        let tracks = rails.iter().map(|(track, ..)| track + 1).max().unwrap_or(0);
        let x = self.left + tracks * RAIL;
        for (jump, (track, from, to)) in self.rows.jumps.iter().zip(&rails) {
            let rail = (tracks - track - 1) * RAIL + 4;
            let points = vec![(x, *from), (rail, *from), (rail, *to), (x, *to)];
            drawing.ink.push(Ink::Way { points });
            let text = fit(jump.label, LABEL);
            let (x, y) = (x - 10, from - 5);
            drawing.ink.push(Ink::Text { x, y, style: Style::Label, anchor: Anchor::End, text });
        }
        if let Some((y, _)) = self.tops.first() {
            let center = x + self.card_w / 2;
            drawing.ink.push(Ink::Dot { x: center, y: y - 28 });
            drawing.ink.push(Ink::Way { points: vec![(center, y - 23), (center, *y)] });
        }
        for (at, row) in self.rows.rows.iter().enumerate() {
            self.draw_row(at, row, x, &mut drawing);
        }
        drawing
    }

    fn draw_row(&self, at: usize, row: &Row<'_>, x: i64, drawing: &mut Drawing) {
        let (y, height) = self.tops[at];
        let card = &self.part.cards[row.card];
        drawing.ink.extend(card_ink(card, (x, y), (self.card_w, height), &about(card)));
        drawing.grow(x + self.card_w, y + height);
        let right = x + self.card_w;
        let heights = self.heights(at, row);
        let mut top = y + (height - heights.iter().sum::<i64>()) / 2;
        for (side, height) in row.sides.iter().zip(&heights) {
            match side {
                Side::End { label, to } => {
                    self.end(label, to, (right, self.strip), top + height / 2, drawing);
                }
                Side::Again { label } => self.again(label, right, top + height / 2, drawing),
                Side::Loop { card, out, back, ends } => {
                    let ways = (&out[..], &back[..]);
                    self.there_and_back(*card, ways, ends, (right, top, *height), drawing);
                }
            }
            top += height;
        }
        for jump in self.named(at) {
            let name = &self.part.cards[self.rows.rows[jump.to].card].name;
            let middle = top + PITCH / 2;
            pill(jump.label, name, false, (right, self.strip), middle, drawing);
            top += PITCH;
        }
        if !row.down.is_empty() {
            let (center, bottom) = (x + self.card_w / 2, y + height);
            let next = self.tops[at + 1].0;
            drawing.ink.push(Ink::Way { points: vec![(center, bottom), (center, next)] });
            let text = fit(&row.down.join(" or "), 2 * LABEL);
            let middle = (bottom + next) / 2 + 1;
            drawing.grow(center + 10 + Style::Label.width(&text), next);
            drawing.ink.push(Ink::text(center + 10, middle, Style::Label, text));
        }
    }

    fn end(&self, label: &str, to: &To, strip: (i64, i64), y: i64, drawing: &mut Drawing) {
        let words = to.ending().unwrap_or_default();
        pill(label, &words, matches!(to, To::Restart(_)), strip, y, drawing);
    }

    fn again(&self, label: &str, right: i64, y: i64, drawing: &mut Drawing) {
        let (out, back, far) = (y - NEAR / 2 + 6, y + NEAR / 2 + 2, right + self.strip - 8);
        let points = vec![(right, out), (far, out), (far, back), (right, back)];
        drawing.ink.push(Ink::Way { points });
        drawing.ink.push(Ink::text(right + 12, out - 5, Style::Label, fit(label, LABEL)));
        drawing.grow(far + 4, back + 4);
    }

    fn there_and_back(
        &self,
        card: usize,
        (out, back): (&[&str], &[&str]),
        ends: &[(&str, &To)],
        (right, top, height): (i64, i64, i64),
        drawing: &mut Drawing,
    ) {
        let (x, card) = (right + self.strip, &self.part.cards[card]);
        let tall = height - 8;
        drawing.ink.extend(card_ink(card, (x, top + 4), (self.beside_w, tall), &about(card)));
        let count = (out.len() + back.len()) as i64;
        let mut y = top + height / 2 - (count - 1) * NEAR / 2 + 4;
        for (at, label) in out.iter().chain(back).enumerate() {
            let (from, to) = if at < out.len() { (right, x) } else { (x, right) };
            drawing.ink.push(Ink::Way { points: vec![(from, y), (to, y)] });
            drawing.ink.push(Ink::text(right + 12, y - 5, Style::Label, fit(label, LABEL)));
            y += NEAR;
        }
        let mut y = top + height / 2 - (ends.len() as i64 - 1) * PITCH / 2;
        for (label, to) in ends {
            self.end(label, to, (x + self.beside_w, self.strip_beside), y, drawing);
            y += PITCH;
        }
        drawing.grow(x + self.beside_w, top + height);
    }

    /// For each jump its rail, counted from the steps to the left, and where it begins and ends.
    fn rails(&self) -> Vec<(i64, i64, i64)> {
        if self.crowded {
            return Vec::new();
        }
        let ends = self.rows.jumps.iter().enumerate().map(|(index, jump)| {
            (self.port_y(jump.from, index, true), self.port_y(jump.to, index, false))
        });
        let ends: Vec<(i64, i64)> = ends.collect();
        let mut order: Vec<usize> = (0..ends.len()).collect();
        order.sort_by_key(|at| (ends[*at].0 - ends[*at].1).abs());
        let mut tracks: Vec<Vec<(i64, i64)>> = Vec::new();
        let mut rails = vec![(0, 0, 0); ends.len()];
        for at in order {
            let (low, high) = (ends[at].0.min(ends[at].1), ends[at].0.max(ends[at].1));
            let free = |track: &Vec<(i64, i64)>| track.iter().all(|(l, h)| high < *l || low > *h);
            let track = tracks.iter().position(free).unwrap_or_else(|| {
                tracks.push(Vec::new());
                tracks.len() - 1
            });
            tracks[track].push((low, high));
            rails[at] = (track as i64, ends[at].0, ends[at].1);
        }
        rails
    }
}

fn pill(
    label: &str,
    words: &str,
    restart: bool,
    (right, strip): (i64, i64),
    y: i64,
    drawing: &mut Drawing,
) {
    let (x, text) = (right + strip, fit(words, ENDING));
    let w = Style::Pill.width(&text) + 26;
    drawing.ink.push(Ink::Way { points: vec![(right, y), (x, y)] });
    drawing.ink.push(Ink::text(right + 12, y - 5, Style::Label, fit(label, LABEL)));
    let tip = words.to_owned();
    drawing.ink.push(Ink::Pill { x, y: y - PILL / 2, w, h: PILL, restart, tip });
    drawing.ink.push(Ink::text(x + 13, y + 4, Style::Pill, text));
    drawing.grow(x + w, y + PILL / 2);
}

fn strip<'a>(labels: impl Iterator<Item = &'a str>) -> i64 {
    labels.map(|label| Style::Label.width(&fit(label, LABEL))).max().map_or(0, |w| w + 34)
}

/// A step's card, with the lines below its name.
pub fn card_ink(
    card: &Card,
    (x, y): (i64, i64),
    (w, h): (i64, i64),
    lines: &[(Style, String)],
) -> Vec<Ink> {
    let tip = [card.name.as_str(), &card.text, card.idle.as_deref().unwrap_or("")];
    let tip = tip.into_iter().filter(|t| !t.is_empty()).collect::<Vec<_>>().join(": ");
    let tip = fit(&tip, 400);
    let mut ink = vec![Ink::Card { x, y, w, h, tip, card: Box::new(card.clone()) }];
    let text_height = 14 + 17 * lines.len() as i64;
    let mut base = y + (h - text_height) / 2 + 12;
    ink.push(Ink::text(x + 22, base, Style::Name, fit(&card.name, NAME)));
    for (style, text) in lines {
        base += 17;
        ink.push(Ink::text(x + 22, base, *style, text.clone()));
    }
    ink
}

/// The line of a card with the kind of its step.
pub fn about(card: &Card) -> Vec<(Style, String)> {
    let words = card.words(card.kind.word());
    words.into_iter().map(|words| (Style::Detail, fit(&words, ENDING))).collect()
}

pub fn name_width(card: &Card) -> i64 {
    Style::Name.width(&fit(&card.name, NAME))
}

fn card_width(card: &Card) -> i64 {
    let about = about(card).iter().map(|(style, text)| style.width(text)).max().unwrap_or(0);
    name_width(card).max(about) + PADDING
}

//! A group of many equal steps, as one card with their number: two hundred cards are no picture.

use super::{Batch, Card, Chart, Part, Shape};

/// More equal steps than this at the same time become one card.
const MOST: usize = 8;

impl Chart {
    /// The chart with its large groups folded.
    pub fn folded(mut self) -> Chart {
        self.parts.iter_mut().for_each(fold);
        self
    }
}

fn fold(part: &mut Part) {
    let Part { cards, shape: Shape::Line(batches), .. } = part else { return };
    for batch in batches {
        fold_batch(cards, batch);
    }
}

/// Replaces every set of more than eight equal cards by a new one, where its first was.
fn fold_batch(cards: &mut Vec<Card>, batch: &mut Batch) {
    let mut kept = Vec::new();
    let mut left = batch.cards.clone();
    while let Some(first) = left.first().copied() {
        let same = |at: &usize| is_equal(&cards[*at], &cards[first]);
        let (equal, others): (Vec<usize>, Vec<usize>) = left.iter().partition(|at| same(at));
        if equal.len() > MOST {
            let card = folded(equal.iter().map(|at| &cards[*at]));
            kept.push(cards.len());
            cards.push(card);
        } else {
            kept.extend(equal);
        }
        left = others;
    }
    batch.cards = kept;
}

/// They do the same kind of work; only what it is done to differs.
fn is_equal(one: &Card, other: &Card) -> bool {
    let same = |card: &Card| (card.kind, card.detail.clone(), card.calls, card.idle.clone());
    same(one) == same(other)
}

fn folded<'a>(equal: impl Iterator<Item = &'a Card>) -> Card {
    let equal: Vec<&Card> = equal.collect();
    let first = equal[0];
    let last = equal[equal.len() - 1];
    let count = format!("{} steps", equal.len());
    let detail =
        if first.detail.is_empty() { count } else { format!("{count} · {}", first.detail) };
    Card {
        name: format!("{} … {}", first.name, last.name),
        detail,
        text: if equal.iter().all(|card| card.text == first.text) {
            first.text.clone()
        } else {
            String::new()
        },
        steps: equal.iter().map(|card| card.name.clone()).collect(),
        ..first.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Kind, svg};
    use super::*;

    fn chart(equal: usize) -> Chart {
        let card = |name: String, kind| Card { name, kind, ..Card::default() };
        let mut cards: Vec<Card> =
            (0..equal).map(|at| card(format!("review-{at}"), Kind::Agent)).collect();
        cards.push(card("lint".to_owned(), Kind::Command));
        let batch =
            Batch { cards: (0..=equal).collect(), group: Some("all".into()), condition: None };
        let part = Part {
            title: "r".into(),
            about: String::new(),
            notes: Vec::new(),
            cards,
            shape: Shape::Line(vec![batch]),
        };
        Chart { parts: vec![part] }
    }

    #[test]
    fn more_than_eight_equal_steps_are_one_card_with_their_number() {
        let count = |equal| svg::write_for_page(&chart(equal)).matches("class=\"card").count();
        assert_eq!((count(8), count(9), count(200)), (9, 2, 2));
        let image = svg::write_for_page(&chart(200));
        assert!(image.contains("200 steps"), "{image}");
        assert!(image.contains("data-steps=\"[&quot;review-0&quot;,&quot;review-1&quot;,"));
        assert!(image.contains("data-step=\"lint\""));
        assert_eq!(svg::write(&chart(200)).matches("class=\"card").count(), 201);
    }
}

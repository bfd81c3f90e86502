//! The order in which a state machine is drawn: its steps one below the other, each as near as possible to
//! what follows. A step that is only entered from one other and only leads back to it, such as a fix
//! after a review, is beside that one. Text and image are drawn from the same arrangement.

use super::{Part, Shape, To, Way};

/// A state machine, row by row.
#[derive(Debug, Default)]
pub struct Rows<'a> {
    pub rows: Vec<Row<'a>>,
    /// Ways between rows that are not next to each other, or that lead up.
    pub jumps: Vec<Jump<'a>>,
}

#[derive(Debug)]
pub struct Row<'a> {
    pub card: usize,
    pub sides: Vec<Side<'a>>,
    /// What the step reports when the next row follows.
    pub down: Vec<&'a str>,
}

#[derive(Debug)]
pub struct Jump<'a> {
    /// Rows, not steps.
    pub from: usize,
    pub to: usize,
    pub label: &'a str,
}

/// What is drawn beside a step.
#[derive(Debug)]
pub enum Side<'a> {
    End {
        label: &'a str,
        to: &'a To,
    },
    /// It leads to itself.
    Again {
        label: &'a str,
    },
    /// There and back again.
    Loop {
        card: usize,
        out: Vec<&'a str>,
        back: Vec<&'a str>,
        ends: Vec<(&'a str, &'a To)>,
    },
}

pub fn arrange(part: &Part) -> Rows<'_> {
    let Shape::Machine { first, ways } = &part.shape else { return Rows::default() };
    let hosts = hosts(part.cards.len(), *first, ways);
    let order = order(part.cards.len(), *first, ways, &hosts);
    let mut row_of = vec![None; part.cards.len()];
    for (row, card) in order.iter().enumerate() {
        row_of[*card] = Some(row);
    }
    let mut jumps = Vec::new();
    let mut rows: Vec<Row<'_>> = Vec::new();
    for (at, card) in order.iter().enumerate() {
        let mut row = Row { card: *card, sides: Vec::new(), down: Vec::new() };
        for way in ways.iter().filter(|way| way.from == *card) {
            match &way.to {
                To::Card(next) if next == card => row.sides.push(Side::Again { label: &way.label }),
                To::Card(next) if hosts[*next] == Some(*card) => beside(&mut row, *next, way, ways),
                To::Card(next) => match row_of[*next] {
                    Some(to) if to == at + 1 => row.down.push(&way.label),
                    Some(to) => jumps.push(Jump { from: at, to, label: &way.label }),
                    None => {}
                },
                to => row.sides.push(Side::End { label: &way.label, to }),
            }
        }
        rows.push(row);
    }
    Rows { rows, jumps }
}

fn beside<'a>(row: &mut Row<'a>, card: usize, way: &'a Way, ways: &'a [Way]) {
    let known = row.sides.iter_mut().find_map(|side| match side {
        Side::Loop { card: there, out, .. } if *there == card => Some(out),
        _ => None,
    });
    if let Some(out) = known {
        return out.push(&way.label);
    }
    let (mut back, mut ends) = (Vec::new(), Vec::new());
    for own in ways.iter().filter(|own| own.from == card) {
        match &own.to {
            To::Card(_) => back.push(own.label.as_str()),
            to => ends.push((own.label.as_str(), to)),
        }
    }
    row.sides.push(Side::Loop { card, out: vec![&way.label], back, ends });
}

/// For each step that is beside another one, that one.
fn hosts(cards: usize, first: usize, ways: &[Way]) -> Vec<Option<usize>> {
    let (mut before, mut after) = (vec![Vec::new(); cards], vec![Vec::new(); cards]);
    for way in ways {
        if let To::Card(to) = way.to {
            before[to].push(way.from);
            after[way.from].push(to);
        }
    }
    before.iter_mut().chain(&mut after).for_each(|steps| {
        steps.sort_unstable();
        steps.dedup();
    });
    let mut hosts: Vec<Option<usize>> = vec![None; cards];
    for card in (0..cards).filter(|card| *card != first) {
        if let ([from], [to]) = (&before[card][..], &after[card][..])
            && from == to
            && *from != card
            && hosts[*from].is_none()
        {
            hosts[card] = Some(*from);
        }
    }
    hosts
}

/// What is reached comes after what leads to it, as far as loops allow; what is never reached comes
/// last, in the file's order.
fn order(cards: usize, first: usize, ways: &[Way], hosts: &[Option<usize>]) -> Vec<usize> {
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); cards];
    for way in ways {
        if let To::Card(to) = way.to {
            next[way.from].push(to);
        }
    }
    let mut seen: Vec<bool> = hosts.iter().map(Option::is_some).collect();
    let mut order = Vec::new();
    for root in std::iter::once(first).chain(0..cards) {
        let mut left = Vec::new();
        let mut open = Vec::new();
        if !std::mem::replace(&mut seen[root], true) {
            // From the last to the first, so that the first outcome's step ends up next.
            open.push((root, next[root].len()));
        }
        while let Some((card, rest)) = open.pop() {
            let Some(rest) = rest.checked_sub(1) else {
                left.push(card);
                continue;
            };
            open.push((card, rest));
            let follower = next[card][rest];
            if !std::mem::replace(&mut seen[follower], true) {
                open.push((follower, next[follower].len()));
            }
        }
        order.extend(left.into_iter().rev());
    }
    order
}

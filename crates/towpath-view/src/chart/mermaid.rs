//! A chart in Mermaid's flowchart language, as GitHub and many editors draw it in Markdown. Every
//! text is in quotes with all that Mermaid or HTML could read as their own written as codes.

use super::step_recipe_edges::{Edge, Node, edges};
use super::{Batch, Card, Chart, Kind, Part, Shape, To, Way};
use std::fmt::Write as _;

pub fn write(chart: &Chart) -> String {
    let mut text = "flowchart TD\n".to_owned();
    let several = chart.parts.len() > 1;
    for (index, part) in chart.parts.iter().enumerate() {
        if several {
            let _ = writeln!(text, "  subgraph p{index}[{}]", quoted(&part.title));
        }
        for note in &part.notes {
            let _ = writeln!(text, "  %% {}", comment(note));
        }
        for (at, card) in part.cards.iter().enumerate() {
            let _ = writeln!(text, "  {}{}", id(index, at), node(card));
        }
        match &part.shape {
            Shape::Line(batches) => line(&mut text, index, batches),
            Shape::Machine { first, ways } => machine(&mut text, index, *first, ways),
        }
        if several {
            text.push_str("  end\n");
        }
    }
    calls(&mut text, chart);
    let idle = chart.parts.iter().enumerate().flat_map(|(p, part)| idle(p, part));
    let idle: Vec<String> = idle.collect();
    if !idle.is_empty() {
        text.push_str("  classDef idle stroke-dasharray: 4 3, opacity: 0.6\n");
        let _ = writeln!(text, "  class {} idle", idle.join(","));
    }
    text
}

fn id(part: usize, card: usize) -> String {
    format!("p{part}s{card}")
}

fn node(card: &Card) -> String {
    let more = card.words(card.unusual()).map_or(String::new(), |words| format!(" · {words}"));
    let words = format!("{}{more}", card.name);
    match card.kind {
        Kind::Agent => format!("[{}]", quoted(&words)),
        Kind::Command => format!("[/{}/]", quoted(&words)),
        Kind::Recipe => format!("[[{}]]", quoted(&words)),
    }
}

fn line(text: &mut String, part: usize, batches: &[Batch]) {
    for (at, batch) in batches.iter().enumerate() {
        if batch.cards.len() > 1 {
            let title = batch.group.as_deref().unwrap_or("at the same time");
            let _ = writeln!(text, "  subgraph p{part}g{at}[{}]", quoted(title));
            for card in &batch.cards {
                let _ = writeln!(text, "    {}", id(part, *card));
            }
            text.push_str("  end\n");
        }
    }
    let end = |at: usize| match &batches[at].cards[..] {
        [card] => id(part, *card),
        _ => format!("p{part}g{at}"),
    };
    for (at, batch) in batches.iter().enumerate() {
        if let Some(condition) = &batch.condition {
            let label = quoted(&format!("if {condition}"));
            let _ = writeln!(text, "  p{part}c{at}{{{label}}}");
        }
    }
    let node = |node: Node| match node {
        Node::Batch(at) => end(at),
        Node::Condition(at) => format!("p{part}c{at}"),
        Node::End => format!("p{part}end(( ))"),
    };
    for Edge { from, to, label } in edges(batches) {
        let label = label.map_or(String::new(), |label| format!("|{label}|"));
        let _ = writeln!(text, "  {} -->{label} {}", node(from), node(to));
    }
}

fn machine(text: &mut String, part: usize, first: usize, ways: &[Way]) {
    let _ = writeln!(text, "  p{part}begin(( )) --> {}", id(part, first));
    let mut ends: Vec<&To> = Vec::new();
    for way in ways {
        let to = match &way.to {
            To::Card(card) => id(part, *card),
            end => {
                let known = ends.iter().position(|known| *known == end);
                let number = known.unwrap_or_else(|| {
                    ends.push(end);
                    let words = quoted(&end.ending().unwrap_or_default());
                    let _ = writeln!(text, "  p{part}e{}([{words}])", ends.len() - 1);
                    ends.len() - 1
                });
                format!("p{part}e{number}")
            }
        };
        let _ = writeln!(text, "  {} -->|{}| {to}", id(part, way.from), quoted(&way.label));
    }
}

fn calls(text: &mut String, chart: &Chart) {
    for (index, part) in chart.parts.iter().enumerate() {
        for (at, card) in part.cards.iter().enumerate() {
            if let Some(callee) = card.calls.filter(|callee| *callee != index) {
                let _ = writeln!(text, "  {} -.-> p{callee}", id(index, at));
            }
        }
    }
}

fn idle(index: usize, part: &Part) -> impl Iterator<Item = String> {
    let cards = part.cards.iter().enumerate().filter(|(_, card)| card.idle.is_some());
    cards.map(move |(at, _)| id(index, at))
}

/// A comment ends with its line; with braces it would be read as a directive.
fn comment(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || matches!(c, '{' | '}') { ' ' } else { c }).collect()
}

/// In quotes only a quote ends a text, but Mermaid reads `#…;` as a character's code, a leading
/// backtick, dash or number with a dot as Markdown and, where it is drawn, tags as HTML.
fn quoted(text: &str) -> String {
    let mut quoted = "\"".to_owned();
    let mut before = None;
    for c in text.chars() {
        let list = matches!((before, c), (None, '-')) || c == '.' && before.is_some_and(is_digit);
        match c {
            ' ' | '-' | '_' | '.' | ',' if !list => quoted.push(c),
            c if c.is_control() => quoted.push(' '),
            c if c.is_alphanumeric() || !c.is_ascii() => quoted.push(c),
            c => {
                let _ = write!(quoted, "#{};", u32::from(c));
            }
        }
        before = Some(c);
    }
    quoted + "\""
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

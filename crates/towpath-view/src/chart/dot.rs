//! A chart in the language of Graphviz: `dot -Tsvg`. Every text is in quotes.

use super::{Batch, Card, Chart, Kind, Shape, To, Way};
use std::fmt::Write as _;

pub fn write(chart: &Chart) -> String {
    let title = chart.parts.first().map_or("", |part| part.title.as_str());
    let mut text = format!("digraph {} {{\n", quoted(title));
    text.push_str("  compound=true;\n  node [shape=box, style=\"rounded\"];\n");
    text.push_str(
        "  node [fontname=\"Helvetica\"];\n  edge [fontname=\"Helvetica\", fontsize=11];\n",
    );
    let several = chart.parts.len() > 1;
    for (index, part) in chart.parts.iter().enumerate() {
        if several {
            let label = quoted(&part.title);
            let _ = writeln!(text, "  subgraph cluster_p{index} {{\n  label={label};");
        }
        for note in &part.notes {
            let _ = writeln!(text, "  // {}", lines(note));
        }
        for (at, card) in part.cards.iter().enumerate() {
            let _ = writeln!(text, "  p{index}s{at} [{}];", attributes(card));
        }
        match &part.shape {
            Shape::Line(batches) => line(&mut text, index, batches),
            Shape::Machine { first, ways } => machine(&mut text, index, *first, ways),
        }
        if several {
            text.push_str("  }\n");
        }
    }
    calls(&mut text, chart);
    text + "}\n"
}

fn attributes(card: &Card) -> String {
    let more = card.words(card.unusual());
    let more = more.map_or(String::new(), |words| format!("\\n{}", lines(&words)));
    let label = format!("{}{more}", lines(&card.name));
    let shape = match card.kind {
        Kind::Agent => "",
        Kind::Command => ", shape=note, style=\"\"",
        Kind::Recipe => ", peripheries=2",
    };
    let idle = if card.idle.is_some() { ", style=\"rounded,dashed\"" } else { "" };
    format!("label=\"{label}\"{shape}{idle}")
}

/// A group is joined to its neighbours by its first step; the edge is cut at the group's frame.
fn line(text: &mut String, part: usize, batches: &[Batch]) {
    let group = |at: usize| batches[at].cards.len() > 1;
    for (at, batch) in batches.iter().enumerate().filter(|(at, _)| group(*at)) {
        let title = batch.group.as_deref().unwrap_or("at the same time");
        let _ = write!(text, "  subgraph cluster_p{part}g{at} {{ style=dashed; ");
        let _ = write!(text, "label={}; ", quoted(title));
        for card in &batch.cards {
            let _ = write!(text, "p{part}s{card}; ");
        }
        text.push_str("}\n");
    }
    for at in 1..batches.len() {
        let (from, to) = (batches[at - 1].cards[0], batches[at].cards[0]);
        let mut attributes = Vec::new();
        if let Some(condition) = &batches[at].condition {
            attributes.push(format!("label={}", quoted(&format!("if {condition}"))));
        }
        if group(at - 1) {
            attributes.push(format!("ltail=cluster_p{part}g{}", at - 1));
        }
        if group(at) {
            attributes.push(format!("lhead=cluster_p{part}g{at}"));
        }
        let attributes = attributes.join(", ");
        let _ = writeln!(text, "  p{part}s{from} -> p{part}s{to} [{attributes}];");
    }
}

fn machine(text: &mut String, part: usize, first: usize, ways: &[Way]) {
    let _ = writeln!(text, "  p{part}begin [shape=point, width=0.12];");
    let _ = writeln!(text, "  p{part}begin -> p{part}s{first};");
    let mut ends: Vec<&To> = Vec::new();
    for way in ways {
        let to = match &way.to {
            To::Card(card) => format!("s{card}"),
            end => {
                let known = ends.iter().position(|known| *known == end);
                let number = known.unwrap_or_else(|| {
                    ends.push(end);
                    let words = quoted(&end.ending().unwrap_or_default());
                    let number = ends.len() - 1;
                    let _ = writeln!(text, "  p{part}e{number} [shape=plaintext, label={words}];");
                    number
                });
                format!("e{number}")
            }
        };
        let label = quoted(&way.label);
        let _ = writeln!(text, "  p{part}s{} -> p{part}{to} [label={label}];", way.from);
    }
}

fn calls(text: &mut String, chart: &Chart) {
    for (index, part) in chart.parts.iter().enumerate() {
        for (at, card) in part.cards.iter().enumerate() {
            let callee = card.calls.filter(|callee| *callee != index);
            let begins = callee.filter(|callee| !chart.parts[*callee].cards.is_empty());
            if let Some(callee) = begins {
                let first = match &chart.parts[callee].shape {
                    Shape::Machine { first, .. } => *first,
                    Shape::Line(_) => 0,
                };
                let _ = writeln!(
                    text,
                    "  p{index}s{at} -> p{callee}s{first} [style=dashed, lhead=cluster_p{callee}];"
                );
            }
        }
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", lines(text))
}

/// Inside quotes a backslash begins an escape, also one of Graphviz's own such as `\N`, and `&` an
/// HTML entity.
fn lines(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        match c {
            '"' => safe.push_str("\\\""),
            '\\' => safe.push_str("\\\\"),
            '&' => safe.push_str("&amp;"),
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

//! A chart in the language of Graphviz: `dot -Tsvg`. Every text is in quotes.

use super::step_recipe_edges::{Edge, Node, edges};
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
    for (at, batch) in batches.iter().enumerate() {
        if let Some(condition) = &batch.condition {
            let label = quoted(&format!("if {condition}"));
            let _ = writeln!(text, "  p{part}c{at} [shape=diamond, style=\"\", label={label}];");
        }
    }
    let edges = edges(batches);
    if edges.iter().any(|edge| edge.to == Node::End) {
        let _ = writeln!(text, "  p{part}end [shape=point, width=0.12];");
    }
    let node = |node: Node| match node {
        Node::Batch(at) => format!("p{part}s{}", batches[at].cards[0]),
        Node::Condition(at) => format!("p{part}c{at}"),
        Node::End => format!("p{part}end"),
    };
    let frame = |node: Node| match node {
        Node::Batch(at) if group(at) => Some(format!("cluster_p{part}g{at}")),
        _ => None,
    };
    for Edge { from, to, label } in edges {
        let label = label.map(|label| format!("label={label}"));
        let tail = frame(from).map(|frame| format!("ltail={frame}"));
        let head = frame(to).map(|frame| format!("lhead={frame}"));
        let attributes = [label, tail, head].into_iter().flatten().collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "  {} -> {} [{attributes}];", node(from), node(to));
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

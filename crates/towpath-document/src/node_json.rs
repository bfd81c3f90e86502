//! The nodes of a document as JSON: where each is, what it is, and what it gave.

use crate::directive::{DirectiveKind, Invocation};
use crate::document::{NodeKind, RegionText};
use crate::evaluate::Evaluation;
use serde_json::{Value, json};

/// The nodes of an evaluated document, in order. Bytes that are not UTF-8 are replaced in `output`.
pub fn tree_json(evaluation: &Evaluation) -> Value {
    let document = evaluation.set().entry();
    let mut line = 1;
    let mut counted = 0;
    let mut commands = evaluation.commands().iter().peekable();
    let nodes = document.nodes.iter().enumerate().map(|(index, node)| {
        let before = &document.bytes()[counted..node.range.start];
        line += memchr::memchr_iter(b'\n', before).count();
        counted = node.range.start;
        let output = &evaluation.output()[evaluation.output_of(index)];
        let mut json = described(&node.kind);
        json["span"] = json!({ "start": node.range.start, "end": node.range.end });
        json["line"] = line.into();
        json["output"] = String::from_utf8_lossy(output).into();
        // Commands are in the order of the nodes that ran them.
        let ran = std::iter::from_fn(|| commands.next_if(|(at, _)| *at == index));
        let ran: Vec<Value> = ran.map(|(_, command)| command_json(command)).collect();
        if !ran.is_empty() {
            json["commands"] = ran.into();
        }
        json
    });
    nodes.collect()
}

/// One command, for other programs.
fn command_json(command: &crate::Command) -> Value {
    json!({
        "file": command.file,
        "line": command.line,
        "name": command.name,
        "parameters": command.parameters,
        "command": command.shown,
    })
}

fn described(kind: &NodeKind) -> Value {
    match kind {
        NodeKind::Text => json!({ "type": "text" }),
        NodeKind::Reference { path, .. } => json!({ "type": "reference", "name": path.as_str() }),
        NodeKind::Escape => json!({ "type": "escape" }),
        NodeKind::Comment => json!({ "type": "comment" }),
        NodeKind::Region(region) => match &region.shows {
            RegionText::Name(name) => json!({ "type": "region", "name": name }),
            RegionText::Directive(kind) => {
                json!({ "type": "region", "directive": kind.word(), "name": defined(kind) })
            }
        },
        NodeKind::Directive(directive) => {
            let mut json = json!({ "type": "directive", "directive": directive.kind.word() });
            if let Some(name) = defined(&directive.kind) {
                json["name"] = name.into();
            }
            json
        }
    }
}

/// The name that a directive defines or calls.
fn defined(kind: &DirectiveKind) -> Option<String> {
    match kind {
        DirectiveKind::Define(definition) => Some(definition.name.clone()),
        DirectiveKind::Run(Invocation::Call(call) | Invocation::CallOrShell(call, _)) => {
            Some(call.name.clone())
        }
        kind => kind.variable().map(str::to_owned),
    }
}

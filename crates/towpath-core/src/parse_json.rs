//! JSON as a tree of nodes. `serde_json` decides what is JSON; a text that it accepts is read a second
//! time for the spans of its keys and values.

use crate::spanned_tree::{Entry, Kind, Node, Tree};
use crate::{Diagnostic, Source, Span, Value};
use std::sync::Arc;

/// Reads a text as a tree. A key that is there twice is refused.
pub fn parse_json(source: &Arc<Source>) -> Tree {
    if let Err(error) = serde_json::from_str::<Value>(&source.text) {
        let start = offset(&source.text, error.line(), error.column());
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default();
        let span = source.line_from(start);
        return Tree::refused(Diagnostic::error("bad-json", message).at(source, span, ""));
    }
    let mut walk = Walk { source, at: 0, problems: Vec::new() };
    let root = walk.node();
    Tree { root: Some(root), problems: walk.problems }
}

/// The byte offset of a line and a column as `serde_json` counts them: from 1, columns in bytes.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let mut at = (before + column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Where we are in a text that is known to be JSON.
struct Walk<'a> {
    source: &'a Arc<Source>,
    at: usize,
    problems: Vec<Diagnostic>,
}

impl Walk<'_> {
    fn node(&mut self) -> Node {
        let next = self.next();
        let start = self.at;
        let kind = match next {
            b'{' => Kind::Map(self.entries()),
            b'[' => Kind::List(self.items()),
            _ => self.scalar(),
        };
        let span = Span { start, end: self.at };
        Node { span, defined: span, kind }
    }

    /// The next byte that is not blank.
    fn next(&mut self) -> u8 {
        let rest = &self.source.text.as_bytes()[self.at..];
        let blanks = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.at += blanks;
        rest.get(blanks).copied().unwrap_or_default()
    }

    /// Reads what is between a pair of brackets, item by item.
    fn each(&mut self, mut item: impl FnMut(&mut Self)) {
        self.at += 1;
        while !matches!(self.next(), b']' | b'}' | 0) {
            item(self);
            if self.next() == b',' {
                self.at += 1;
            }
        }
        self.at += 1;
    }

    fn items(&mut self) -> Vec<Node> {
        let mut items = Vec::new();
        self.each(|walk| items.push(walk.node()));
        items
    }

    fn entries(&mut self) -> Vec<Entry> {
        let mut entries = Vec::new();
        self.each(|walk| {
            let entry = walk.entry();
            let same = |other: &&Entry| other.key == entry.key;
            if let Some(first) = entries.iter().find(same) {
                let message = format!("`{}` is set twice", entry.key);
                let problem = Diagnostic::error("duplicate-key", message)
                    .at(walk.source, entry.key_defined, "again here")
                    .at(walk.source, first.key_defined, "first here");
                walk.problems.push(problem);
            }
            entries.push(entry);
        });
        entries
    }

    fn entry(&mut self) -> Entry {
        let start = self.at;
        let key = match self.scalar() {
            Kind::Text(text) => text,
            _ => String::new(),
        };
        let span = Span { start, end: self.at };
        // The colon.
        self.next();
        self.at += 1;
        Entry { key, key_span: span, key_defined: span, value: self.node() }
    }

    fn scalar(&mut self) -> Kind {
        let rest = &self.source.text[self.at..];
        let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let value = stream.next().and_then(Result::ok).unwrap_or_default();
        self.at += stream.byte_offset();
        match value {
            Value::Bool(value) => Kind::Bool(value),
            Value::String(text) => Kind::Text(text),
            number @ Value::Number(_) => Kind::Number(number),
            _ => Kind::Null,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Tree {
        parse_json(&Source::new("x.json", text))
    }

    #[test]
    fn keys_and_values_know_where_they_are() {
        let text = " {\"a\" : [1, \"\\u00e9\\\"\", {} ,[]],\n\"b\":{\"c\": null}}";
        let root = parsed(text).root.expect("this is JSON");
        assert_eq!(root.value(), serde_json::from_str::<Value>(text).unwrap());
        let Kind::Map(entries) = root.kind else { panic!("a map") };
        let written = |span: Span| &text[span.range()];
        assert_eq!(written(entries[1].key_defined), "\"b\"");
        assert_eq!(written(entries[1].value.defined), "{\"c\": null}");
        let Kind::List(items) = &entries[0].value.kind else { panic!("a list") };
        assert_eq!(written(items[1].defined), "\"\\u00e9\\\"\"");
    }

    #[test]
    fn what_is_no_json_and_a_key_twice_are_refused_at_their_location() {
        for (text, line, column) in
            [("{\n \"a\": }", 2, 7), ("{\"a\":1,\n \"a\":2}", 2, 2), ("", 1, 1), ("[1", 1, 2)]
        {
            let source = Source::new("x.json", text);
            let label = &parse_json(&source).problems[0].labels[0];
            assert_eq!(source.line_column(label.span.start), (line, column), "{text}");
        }
        assert!(parsed(&"[".repeat(100_000)).root.is_none());
    }

    proptest! {
        #[test]
        fn any_text_gets_an_answer(text in "[\\[\\]{}:,\"a1 \\\\é\n-]{0,20}") {
            let expected = serde_json::from_str::<Value>(&text).ok();
            prop_assert_eq!(parsed(&text).root.is_some(), expected.is_some());
        }

        #[test]
        fn the_tree_has_the_values(keys in prop::collection::btree_map("\\PC{0,4}", "\\PC{0,6}", 0..4)) {
            let value = serde_json::json!({ "list": [keys, 1.50, true], "map": keys });
            let text = serde_json::to_string_pretty(&value).unwrap();
            prop_assert_eq!(parsed(&text).root.expect("this is JSON").value(), value);
        }
    }
}

//! TOML as a tree of nodes. What the parser refuses, duplicate keys included, is reported in
//! the parser's words.

use crate::spanned_tree::{Entry, Kind, Node, Tree};
use crate::{Diagnostic, Source, Span, number};
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

/// Reads a text as a tree; an empty one is an empty map.
pub fn parse_toml(source: &Arc<Source>) -> Tree {
    match DeTable::parse(&source.text) {
        Ok(table) => {
            let span = Span::new(table.span());
            let kind = Kind::Map(entries(table.into_inner()));
            Tree { root: Some(Node { span, defined: span, kind }), problems: Vec::new() }
        }
        Err(error) => {
            let span = Span::new(error.span().unwrap_or(0..0));
            let message = error.message().lines().next().unwrap_or("not valid");
            Tree::refused(Diagnostic::error("bad-toml", message).at(source, span, ""))
        }
    }
}

/// In the order of the file.
fn entries(table: DeTable<'_>) -> Vec<Entry> {
    let entry = |(key, value): (Spanned<_>, _)| {
        let key_span = Span::new(key.span());
        let key: std::borrow::Cow<'_, str> = key.into_inner();
        Entry { key: key.into_owned(), key_span, key_defined: key_span, value: node(value) }
    };
    let mut entries: Vec<Entry> = table.into_iter().map(entry).collect();
    entries.sort_by_key(|entry| entry.key_span.start);
    entries
}

fn node(value: Spanned<DeValue<'_>>) -> Node {
    let span = Span::new(value.span());
    let kind = match value.into_inner() {
        DeValue::String(text) => Kind::Text(text.into_owned()),
        DeValue::Integer(integer) => number_or_text(&decimal(&integer)),
        DeValue::Float(float) => number_or_text(float.as_str()),
        DeValue::Boolean(value) => Kind::Bool(value),
        DeValue::Datetime(time) => Kind::Text(time.to_string()),
        DeValue::Array(items) => Kind::List(items.into_iter().map(node).collect()),
        DeValue::Table(table) => Kind::Map(entries(table)),
    };
    Node { span, defined: span, kind }
}

/// `inf` and `nan` are not numbers in JSON.
fn number_or_text(text: &str) -> Kind {
    let text = text.trim_start_matches('+');
    number(text).map_or_else(|| Kind::Text(text.to_owned()), Kind::Number)
}

fn decimal(integer: &DeInteger<'_>) -> String {
    match i128::from_str_radix(integer.as_str(), integer.radix()) {
        Ok(number) => number.to_string(),
        Err(_) => integer.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn root(text: &str) -> Node {
        parse_toml(&Source::new("x.toml", text)).root.expect("this is TOML")
    }

    #[test]
    fn values_are_those_of_json_and_numbers_keep_their_text() {
        let text = "a = 1_000\nb = 0x10\nc = 1.10\nd = +5\ne = inf\n[t.u]\nlist = [true, 'x']\n";
        let json = json!({
            "a": 1000, "b": 16, "d": 5, "e": "inf", "t": { "u": { "list": [true, "x"] } },
        });
        let mut value = root(text).value();
        assert_eq!(value["c"].to_string(), "1.10");
        value.as_object_mut().unwrap().remove("c");
        assert_eq!(value, json);
    }

    #[test]
    fn keys_and_values_know_where_they_are() {
        let text = "one = 1\n[two]\nthree = \"é\"\n";
        let Kind::Map(entries) = root(text).kind else { panic!("a map") };
        let written = |span: Span| &text[span.range()];
        assert_eq!(written(entries[0].key_defined), "one");
        assert_eq!(written(entries[1].key_defined), "two");
        let Kind::Map(inner) = &entries[1].value.kind else { panic!("a map") };
        assert_eq!(written(inner[0].value.defined), "\"é\"");
    }

    #[test]
    fn what_is_no_toml_and_a_key_twice_are_refused_at_their_location() {
        for (text, line) in [("a = \n", 1), ("a = 1\na = 2\n", 2)] {
            let source = Source::new("x.toml", text);
            let tree = parse_toml(&source);
            assert!(tree.root.is_none());
            let label = &tree.problems[0].labels[0];
            assert_eq!(source.line_column(label.span.start).0, line, "{text}");
        }
        assert!(root("").value().as_object().unwrap().is_empty());
    }
}

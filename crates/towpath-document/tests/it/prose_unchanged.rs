//! A document without directives, and without references to anything defined, renders to itself byte
//! for byte.

use crate::any_bytes_are_read::TOKENS;
use proptest::prelude::*;
use std::path::Path;
use towpath_core::Map;
use towpath_document::{
    DocumentSet, Evaluation, FileKind, Files, Found, Inputs, Next, NodeKind, Roots, check, read,
};

/// Nothing may be asked for.
struct NoFiles;

impl Files for NoFiles {
    fn import(&self, path: &str) -> Result<Found, String> {
        panic!("{path} is imported")
    }

    fn embed(&self, path: &str) -> Result<Vec<u8>, String> {
        panic!("{path} is embedded")
    }
}

fn rendered(bytes: &[u8]) -> Vec<u8> {
    let set = DocumentSet::new("main.md", read("main.md", bytes.to_vec(), FileKind::Markdown));
    let checked = check(set, &Roots::default(), &Inputs::default(), &NoFiles);
    assert!(!checked.has_errors(), "{:?}", checked.problems);
    let mut evaluation = Evaluation::new(checked.set, Roots::default(), Map::new());
    assert_eq!(evaluation.advance(), Next::Done);
    evaluation.into_output()
}

#[test]
fn the_corpus_is_unchanged() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut count = 0;
    for entry in std::fs::read_dir(corpus).expect("the corpus is there") {
        let path = entry.expect("an entry can be read").path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let bytes = std::fs::read(&path).expect("a file can be read");
            assert!(rendered(&bytes) == bytes, "{} is changed", path.display());
            count += 1;
        }
    }
    assert_eq!(count, 26);
}

/// Line endings and a byte order mark are no part of the Markdown: the corpus has them all.
#[test]
fn the_corpus_is_unchanged_with_other_line_endings() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    for entry in std::fs::read_dir(corpus).expect("the corpus is there") {
        let path = entry.expect("an entry can be read").path();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let other = format!("\u{feff}{}", text.replace("\r\n", "\n").replace('\n', "\r\n"));
        assert!(rendered(other.as_bytes()) == other.as_bytes(), "{}", path.display());
        let indented = text.replace('\n', "\n   ");
        assert!(rendered(indented.as_bytes()) == indented.as_bytes(), "{}", path.display());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is a directive begins its line with `@`, and is kept from it by a character before.
    #[test]
    fn tokens_inside_of_lines_are_unchanged(
        lines in prop::collection::vec(prop::collection::vec(prop::sample::select(TOKENS), 0..6), 0..8),
    ) {
        let line = |tokens: Vec<&str>| format!("a{}", tokens.concat().replace('\n', " "));
        let text = lines.into_iter().map(line).collect::<Vec<_>>().join("\n");
        let document = read("main.md", text.clone().into_bytes(), FileKind::Markdown);
        prop_assert!(document.directives().next().is_none());
        prop_assert_eq!(String::from_utf8(rendered(text.as_bytes())).expect("text"), text);
    }

    /// About half of such texts have no directive.
    #[test]
    fn tokens_without_directives_are_unchanged(text in crate::any_bytes_are_read::token_text()) {
        let document = read("main.md", text.clone().into_bytes(), FileKind::Markdown);
        let as_written =
            |kind: &NodeKind| matches!(kind, NodeKind::Text | NodeKind::Reference { .. });
        if document.nodes.iter().all(|node| as_written(&node.kind)) {
            prop_assert_eq!(String::from_utf8(rendered(text.as_bytes())).expect("text"), text);
        }
    }
}

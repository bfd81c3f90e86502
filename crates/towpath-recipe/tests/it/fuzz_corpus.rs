//! What fuzzing kept is tried again: every text of `fuzz/corpus/` against the checks that found it.
//! Looking for new ones is `fuzz/run`'s business.

use crate::checks;
use std::fs;
use std::path::Path;

/// A kept text is one line: a JSON string whose characters are its bytes.
fn replay(target: &str, check: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let corpus = corpus.join(target).with_extension("jsonl");
    let lines = fs::read_to_string(&corpus).expect("the corpus is there");
    let mut count = 0;
    for (number, line) in lines.lines().enumerate() {
        let text: String = serde_json::from_str(line).expect("a line is a JSON string");
        let bytes =
            text.chars().map(|c| u8::try_from(u32::from(c)).expect("a character is a byte"));
        let bytes: Vec<u8> = bytes.collect();
        let survived = std::panic::catch_unwind(|| check(&bytes));
        assert!(survived.is_ok(), "{}:{} breaks the check", corpus.display(), number + 1);
        count += 1;
    }
    assert!(count >= 50, "only {count} texts in {}", corpus.display());
}

#[test]
fn recipes_that_were_found() {
    replay("recipe_reader", checks::recipe_reader::check);
}

#[test]
fn conditions_that_were_found() {
    replay("condition", checks::condition::check);
}

#[test]
fn outputs_that_were_found() {
    replay("extract_json", checks::extract_json::check);
}

#[test]
fn shell_texts_that_were_found() {
    replay("shell_placeholders", checks::shell_placeholders::check);
}

#[test]
fn corrected_lines_that_were_found() {
    replay("correction_rules", checks::correction_rules::check);
}

#[test]
fn documents_that_were_found() {
    replay("document", checks::document::check);
}

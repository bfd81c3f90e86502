//! What fuzzing kept is tried again: every text of `fuzz/corpus/` against the checks that found it.
//! Looking for new ones is `fuzz/run`'s business.

use crate::checks;
use std::fs;
use std::path::Path;

fn replay(target: &str, check: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut count = 0;
    for entry in fs::read_dir(&corpus).expect("the corpus is there") {
        let path = entry.expect("an entry can be read").path();
        let bytes = fs::read(&path).expect("a text can be read");
        let survived = std::panic::catch_unwind(|| check(&bytes));
        assert!(survived.is_ok(), "{} breaks the check", path.display());
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

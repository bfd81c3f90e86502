//! Checks the table of principles in docs/machines.md: every test that it names is in the file that it
//! names.

use std::fs;
use std::path::Path;

#[test]
fn every_principle_names_tests_that_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/machines.md")).expect("the page of machines");
    let (_, below) = page.split_once("\n## The principles\n").expect("the section");
    let table = below.split("\n## ").next().unwrap_or(below);
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| **")).collect();
    assert_eq!(rows.len(), 10, "as many as there are");
    for row in rows {
        let (_, holders) = row.trim_end_matches(" |").rsplit_once(" | ").expect("two cells");
        let mut file = None;
        let mut named = 0;
        for word in holders.split('`').skip(1).step_by(2) {
            if word.contains('/') {
                let text = fs::read_to_string(root.join(word));
                file = Some(text.unwrap_or_else(|error| panic!("{word}: {error}")));
                continue;
            }
            let text = file.as_ref().unwrap_or_else(|| panic!("`{word}` is in no file: {row}"));
            assert!(text.contains(&format!("fn {word}(")), "no test {word}: {row}");
            named += 1;
        }
        assert!(named > 0, "no test checks: {row}");
    }
}

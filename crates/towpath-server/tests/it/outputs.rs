//! What jobs printed, by byte range and by search, while they run and afterwards.

use crate::support::{Running, finished};
use std::fs;

const PATH: &str = "/api/v1/runs/7f3k/logs/2.stdout";

#[test]
fn bytes_come_from_any_offset_also_of_a_job_that_runs() {
    let server = Running::new();
    let run = server.add_run("7f3k");
    let directory = server.store().ensure_run_directory(&run).expect("a directory");
    let empty = server.get(PATH);
    assert_eq!((empty.status, empty.header("towpath-size")), (200, Some("0")));
    fs::write(directory.join("2.stdout"), "0123456789").expect("an output");
    for (query, from, text) in [
        ("", "0", "0123456789"),
        ("?from=4", "4", "456789"),
        ("?from=2&to=5", "2", "234"),
        ("?from=-3", "7", "789"),
        ("?from=-30", "0", "0123456789"),
        ("?from=20", "10", ""),
        ("?from=5&to=2", "5", ""),
        ("?to=99999999999", "0", "0123456789"),
    ] {
        let answer = server.get(&format!("{PATH}{query}"));
        assert_eq!(answer.text(), text, "{query}");
        assert_eq!(answer.header("towpath-from"), Some(from), "{query}");
        assert_eq!(answer.header("towpath-size"), Some("10"), "{query}");
        assert_eq!(answer.header("towpath-live"), Some("true"), "{query}");
    }
    server.get(&format!("{PATH}?from=x")).refused(400, "bad-input");
    server.store().append(&run, &[finished("whole")], None).expect("a fact");
    let answer = server.get(&format!("{PATH}?from=-2"));
    assert_eq!((answer.text().as_str(), answer.header("towpath-live")), ("le", Some("false")));
}

#[test]
fn an_answer_has_at_most_a_mebibyte() {
    let server = Running::new();
    let run = server.add_run("7f3k");
    let directory = server.store().ensure_run_directory(&run).expect("a directory");
    let file = fs::File::create(directory.join("2.stdout")).expect("an output");
    // A sparse file: it takes no room.
    file.set_len(1 << 30).expect("a large file");
    let answer = server.get(&format!("{PATH}?from=5"));
    assert_eq!(answer.body.len(), 1024 * 1024);
    let end = server.get(&format!("{PATH}?from=-10"));
    assert_eq!((end.body.len(), end.header("towpath-from")), (10, Some("1073741814")));
}

#[test]
fn a_search_counts_every_match() {
    let server = Running::new();
    let run = server.add_run("7f3k");
    let directory = server.store().ensure_run_directory(&run).expect("a directory");
    let text = "one warning\nline\n".repeat(50_000) + "Warning: last\n";
    fs::write(directory.join("2.stdout"), &text).expect("an output");
    let found = server.get(&format!("{PATH}?search=warning")).json();
    assert_eq!(found["count"], 50_000);
    assert_eq!(found["size"], text.len());
    assert_eq!(found["matches"].as_array().map(Vec::len), Some(1000));
    assert_eq!(found["matches"][999]["line"], 1999);
    let found = server.get(&format!("{PATH}?search=WARNING&ignore_case=true")).json();
    assert_eq!(found["count"], 50_001);
    let found = server.get(&format!("{PATH}?search=%3A%20last")).json();
    assert_eq!(found["matches"][0]["text"], "Warning: last");
    assert_eq!(found["matches"][0]["line"], 100_001);
}

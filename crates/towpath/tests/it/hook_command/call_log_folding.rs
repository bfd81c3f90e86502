//! The log of calls: nothing that was written completely is lost, whatever was killed.

use super::{GREP, Hooked};
use serde_json::{Value, json};
use std::fs::{self, OpenOptions};
use std::io::Write as _;

fn done(hooked: &Hooked, number: usize) {
    let id = format!("c{number}");
    let payload = hooked.payload("PostToolUse", &id, &format!("ls {number}"));
    assert_eq!(hooked.answer("post", &payload), Value::Null);
}

fn inputs(hooked: &Hooked) -> Vec<String> {
    hooked.recorded().0.into_iter().map(|call| call.input).collect()
}

#[test]
fn a_line_that_was_not_completed_costs_only_itself() {
    let hooked = Hooked::new(&[GREP]);
    done(&hooked, 1);
    let mut log = OpenOptions::new().append(true).open(hooked.file("calls.log")).expect("a log");
    log.write_all(b"{\"called\":{\"origin\":{\"id\":\"x\n").expect("written");
    done(&hooked, 2);
    assert_eq!(inputs(&hooked), ["ls 1", "ls 2"]);
    let errors = hooked.errors();
    assert!(errors.len() == 1 && errors[0].contains("1 line"), "{errors:?}");
}

#[test]
fn a_fold_that_was_interrupted_is_done_again_and_counts_nothing_twice() {
    let hooked = Hooked::new(&[GREP]);
    hooked.before("grep a");
    done(&hooked, 1);
    let records = fs::read(hooked.file("calls.log")).expect("a log");
    assert_eq!(inputs(&hooked), ["ls 1"]);
    // The fold was killed after its commit: what it had taken is still there.
    fs::write(hooked.file("calls.folding"), records).expect("written");
    done(&hooked, 2);
    assert_eq!(inputs(&hooked), ["ls 1", "ls 2"]);
    assert_eq!(hooked.recorded().1.len(), 1);
    assert_eq!(hooked.user.store().rules().expect("rules")[0].hits, 1);
    assert!(!hooked.file("calls.folding").exists());
}

#[test]
fn a_long_log_is_folded_by_a_hook() {
    let hooked = Hooked::new(&[GREP]);
    let line = |number: usize| {
        let origin = json!({ "id": format!("id{number}"), "at_ms": number, "host": "codex" });
        let called = json!({
            "origin": origin, "tool": "Bash", "input": "x".repeat(16_000), "shell": true,
            "failed": false,
        });
        format!("{}\n", json!({ "called": called }))
    };
    done(&hooked, 1);
    let mut log = OpenOptions::new().append(true).open(hooked.file("calls.log")).expect("a log");
    log.write_all((0..280).map(line).collect::<String>().as_bytes()).expect("written");
    done(&hooked, 2);
    assert!(!hooked.file("calls.log").exists(), "it was folded");
    let filter = towpath_store::ToolCallFilter::default();
    assert_eq!(hooked.user.store().tool_calls(&filter).expect("calls").len(), 282);
    assert_eq!(hooked.errors(), [""; 0]);
}

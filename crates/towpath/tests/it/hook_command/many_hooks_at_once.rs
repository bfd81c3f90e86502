//! Two hundred hooks at once, while a run writes and others fold the log: no lock error, no lost
//! record, no wrong answer.

use super::{GREP, Hooked, fed};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const HOOKS: usize = 200;

#[test]
fn two_hundred_hooks_while_a_run_writes() {
    let hooked = Hooked::new(&[GREP]);
    let steps: String = (0..300).map(|n| format!("  - id: s{n}\n    command: ':'\n")).collect();
    hooked.user.write(
        "busy.yaml",
        &format!("name: busy\nrecursion:\n  max_total_steps: 310\nsteps:\n{steps}"),
    );
    let mut run = hooked.user.start(&["run", "busy.yaml", "-q"]);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let fold = scope.spawn(|| {
            // Other commands fold the log at the same time.
            while !done.load(Ordering::Relaxed) {
                hooked.user.towpath(&["rules", "log"]).exits(0);
            }
        });
        let hooked = &hooked;
        let hooks: Vec<_> =
            (0..HOOKS).map(|number| scope.spawn(move || one(hooked, number))).collect();
        let ended: Vec<_> = hooks.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        done.store(true, Ordering::Relaxed);
        fold.join().expect("the log is folded");
        assert!(ended.into_iter().all(|hook| hook.is_ok()), "a hook failed");
    });
    assert!(run.wait().expect("the run ends").success(), "the run is not disturbed");
    assert_eq!(hooked.errors(), [""; 0]);
    let (calls, corrections) = hooked.recorded();
    let numbers = |texts: Vec<&str>| -> BTreeSet<usize> {
        texts.into_iter().filter_map(|text| text.split(' ').nth(1)?.parse().ok()).collect()
    };
    let all: BTreeSet<usize> = (0..HOOKS).collect();
    assert_eq!(numbers(corrections.iter().map(|c| &*c.before).collect()), all);
    assert_eq!(corrections.len(), HOOKS);
    assert_eq!(numbers(calls.iter().map(|c| &*c.input).collect()), all);
    assert_eq!(calls.len(), HOOKS);
    assert!(corrections.iter().all(|c| c.ran.as_deref() == Some(&*c.after)), "what ran is known");
    assert_eq!(hooked.user.store().rules().expect("rules")[0].hits, HOOKS as u64);
}

/// Before and after one call.
fn one(hooked: &Hooked, number: usize) {
    let id = format!("c{number}");
    let hook = |event: &str, payload: &serde_json::Value| {
        let mut command = hooked.command(&["hook", event, "--host", "claude-code"]);
        let printed = fed(&mut command, &payload.to_string());
        assert_eq!((printed.code, &*printed.stderr), (Some(0), ""), "{printed:?}");
        printed.stdout
    };
    let printed = hook("pre", &hooked.payload("PreToolUse", &id, &format!("grep {number}")));
    assert!(printed.contains(&format!("\"command\":\"rg {number}\"")), "{printed:?}");
    assert_eq!(hook("post", &hooked.payload("PostToolUse", &id, &format!("rg {number}"))), "");
}

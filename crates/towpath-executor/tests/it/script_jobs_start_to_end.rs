//! Jobs from their start to their end.

use crate::support::Run;
use std::fs;
use towpath_executor::{EndStatus, Executor as _, JobSpec, Work};
use towpath_shell::{Filled, ShellText};

pub fn an_end_has_its_code_its_output_and_its_files() {
    let mut run = Run::new();
    let mut job = run.job(1, "echo out; echo \"$NAME\" >&2; pwd; exit 3");
    job.environment = vec![("NAME".into(), "ann".into())];
    run.start(job);
    let end = run.end_of(1);
    assert_eq!(end.status, EndStatus::Exited(3));
    let directory = run.directory.path().canonicalize().unwrap();
    let expected = format!("out\n{}\n", directory.display());
    assert_eq!(run.seen.stdout_of("s1"), expected);
    assert_eq!(run.seen.stderr["s1"], "ann\n");
    assert_eq!(fs::read_to_string(run.path(&end.stdout)).unwrap(), expected);
    assert_eq!(fs::read_to_string(run.path(&end.stderr)).unwrap(), "ann\n");
    assert!(end.ended.is_empty() && end.left.is_empty() && end.answer.is_none());
}

pub fn values_arrive_and_do_not_run() {
    let mut run = Run::new();
    let value = "$(touch ran) 'a\" b";
    let text = ShellText::parse("printf '[%s]' {{v}}").unwrap();
    let script = text.fill(&mut |_| Some(value.into())).unwrap();
    let job = JobSpec { work: Work::Script { script, substitute: false }, ..run.job(1, "") };
    run.start(job);
    assert_eq!(run.end_of(1).status, EndStatus::Exited(0));
    assert_eq!(run.seen.stdout_of("s1"), format!("[{value}]"));
    assert!(!run.path("ran").exists());
    assert!(!run.path("1.values").exists(), "what a job was started with is removed");
}

pub fn a_signal_is_an_end() {
    let mut run = Run::new();
    assert_eq!(run.finish(1, "kill -USR1 $$").status, EndStatus::Signalled(libc::SIGUSR1));
}

pub fn what_cannot_start_has_an_end() {
    let mut run = Run::new();
    let job = JobSpec { directory: run.path("missing"), ..run.job(1, "echo never") };
    run.start(job);
    let end = run.end_of(1);
    assert_eq!(end.status, EndStatus::NotStarted);
    assert!(end.message.is_some_and(|text| text.contains("missing")));
    assert_eq!(run.finish(2, "exit 4").status, EndStatus::Exited(4), "the next one starts");
}

/// Each waits for the other.
pub fn jobs_run_at_the_same_time() {
    let mut run = Run::new();
    for (id, own, other) in [(1, "a", "b"), (2, "b", "a")] {
        let job = run.job(id, &format!("touch {own}; until [ -e {other} ]; do sleep 0.01; done"));
        run.start(job);
    }
    assert_eq!(
        (run.end_of(1).status, run.end_of(2).status),
        (EndStatus::Exited(0), EndStatus::Exited(0))
    );
}

pub fn what_a_job_leaves_running_is_swept_at_the_close() {
    let mut run = Run::new();
    let end = run.finish(1, "setsid sleep 1001 & until grep -q sleep /proc/$!/comm; do :; done");
    assert_eq!(end.status, EndStatus::Exited(0));
    let left: Vec<&str> = end.left.iter().map(|l| l.command.as_str()).collect();
    assert_eq!(left, ["sleep 1001"]);
    run.executor.close(&mut run.seen).unwrap();
    let swept = run.seen.swept.expect("a sweep is reported");
    assert_eq!((swept.ended, swept.left), (end.left, Vec::new()));
}

pub fn the_first_failing_line_ends_a_script_that_fails_fast() {
    let mut run = Run::new();
    let long = format!("false | cat\necho after; : {}", "x".repeat(200_000));
    for (id, script) in [(1, "false | cat\necho after"), (3, long.as_str())] {
        for (id, fail_fast, code, printed) in [(id, true, 1, ""), (id + 1, false, 0, "after\n")] {
            let script = Filled { fail_fast, ..Filled::plain(script) };
            let work = Work::Script { script, substitute: false };
            run.start(JobSpec { work, ..run.job(id, "") });
            assert_eq!(run.end_of(id).status, EndStatus::Exited(code));
            assert_eq!(run.seen.stdout_of(&format!("s{id}")), printed);
        }
    }
}

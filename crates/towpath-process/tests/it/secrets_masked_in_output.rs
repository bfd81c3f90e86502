//! Secrets on their way from a job: no file and no report about a process ever contains one.

use crate::support::*;
use std::time::Duration;
use towpath_core::Secrets;

const SECRET: &str = "correct-horse-battery";

fn hide(run: &Run) {
    let secrets = Secrets::new(vec![("KEY".into(), SECRET.into())]).expect("long enough");
    run.warden.hide(&secrets).expect("a warden that listens");
}

pub fn a_secret_is_masked_wherever_its_writes_are_cut() {
    for mut run in [Run::forked(), Run::spawned()] {
        hide(&run);
        let pieces: String = SECRET.chars().map(|c| format!("printf {c}; sleep 0.002; ")).collect();
        let end = run.finish(1, &format!("printf '<'; {pieces} echo '>'; echo {SECRET} >&2"));
        assert_eq!(end.status, code(0));
        assert_eq!(run.output(1), "<***>\n");
        assert_eq!(run.errors(1), "***\n");
    }
}

pub fn what_only_begins_as_a_secret_is_kept_and_an_interrupted_one_is_not() {
    let mut run = Run::forked();
    hide(&run);
    run.finish(1, "printf 'correct'");
    assert_eq!(run.output(1), "correct");
    run.finish(2, "printf 'correct-horse-batt'");
    assert_eq!(run.output(2), "***");
    run.finish(3, "printf 'correct-horse-'; sleep 0.01; printf 'race'");
    assert_eq!(run.output(3), "correct-horse-race");
}

pub fn a_secret_that_a_background_child_completes_is_masked() {
    let mut run = Run::forked();
    hide(&run);
    // The child continues when the end of the job is known.
    let script = "printf 'x correct'; (until [ -e go ]; do sleep 0.01; done; \
                  printf -- '-horse-battery y'; touch done) & :";
    run.finish(1, script);
    assert_eq!(run.output(1), "x correct", "all that the job itself has written");
    std::fs::write(run.path("go"), "").expect("a file");
    let done = run.path("done");
    until("the child has written", || done.exists());
    run.warden.sweep(Duration::from_secs(1)).expect("a warden that listens");
    run.events.next();
    assert_eq!(run.output(1), "x correct*** y");
}

pub fn command_lines_are_reported_without_secrets() {
    let mut run = Run::forked();
    hide(&run);
    let padding = "x".repeat(190);
    let server = format!("exec -a 'server {padding} {SECRET}' sleep 1000");
    let end = run.finish(1, &format!("({server}) & {IS_EXECUTED}"));
    let masked = format!("server {padding} **");
    assert_eq!(end.left.iter().map(|l| l.command.as_str()).collect::<Vec<_>>(), [masked.as_str()]);
    run.warden.sweep(Duration::from_secs(1)).expect("a warden that listens");
    assert_eq!(
        run.swept().iter().map(|l| l.command.as_str()).collect::<Vec<_>>(),
        [masked.as_str()]
    );
}

pub fn what_a_killed_engine_leaves_of_an_output_is_masked() {
    let mut run = Run::forked();
    hide(&run);
    let script = format!("printf 'a {SECRET} b correct-horse-bat'; touch written; sleep 1000");
    run.start(&run.job(1, &script));
    let written = run.path("written");
    until("the job has written", || written.exists());
    let Run { warden, mut events, directory, .. } = run;
    drop(warden);
    assert_eq!(events.next(), None);
    let left = std::fs::read_to_string(directory.path().join("1.out")).expect("an output file");
    assert_eq!(left, "a *** b ***");
}

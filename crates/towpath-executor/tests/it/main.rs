//! The executors with real parts: a warden, bash, files, signals, and programs that print what agents'
//! programs have printed. Each test is a process of its own, killed by an alarm; whatever it started
//! ends with it. The same program is also the warden, and the owner of a run that a test kills.

#![allow(clippy::print_stdout)]

mod agent_answers;
mod embedder_adapter_jobs;
mod jobs_as_json;
mod recovered_answers;
mod sandboxed_jobs;
mod script_jobs_start_to_end;
mod support;
mod timeout_stop_pause;

use std::ffi::OsString;
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use towpath_process::sandbox::{SERVER_ARGUMENT, server_main};

type Test = (&'static str, fn());

macro_rules! tests {
    ($($module:ident :: $name:ident),* $(,)?) => {
        &[$((concat!(stringify!($module), "::", stringify!($name)), $module::$name as fn())),*]
    };
}

const TESTS: &[Test] = tests![
    script_jobs_start_to_end::an_end_has_its_code_its_output_and_its_files,
    script_jobs_start_to_end::values_arrive_and_do_not_run,
    script_jobs_start_to_end::the_first_failing_line_ends_a_script_that_fails_fast,
    script_jobs_start_to_end::a_signal_is_an_end,
    script_jobs_start_to_end::what_cannot_start_has_an_end,
    script_jobs_start_to_end::jobs_run_at_the_same_time,
    script_jobs_start_to_end::what_a_job_leaves_running_is_swept_at_the_close,
    sandboxed_jobs::a_sandboxed_script_gets_its_values_and_nothing_else,
    sandboxed_jobs::a_timeout_and_a_kill_end_a_sandboxed_job,
    sandboxed_jobs::no_adapter_is_asked_about_a_sandboxed_command,
    sandboxed_jobs::a_job_of_an_earlier_version_has_no_sandbox,
    timeout_stop_pause::a_timeout_ends_every_descendant,
    timeout_stop_pause::silence_ends_a_job,
    timeout_stop_pause::stop_asks_and_kill_does_not,
    timeout_stop_pause::the_first_cause_counts,
    timeout_stop_pause::an_unknown_job_is_no_error,
    timeout_stop_pause::paused_time_counts_against_no_timeout,
    timeout_stop_pause::a_wait_ends_when_it_is_woken,
    agent_answers::recorded_lines_are_an_answer,
    agent_answers::what_is_seen_on_the_way,
    agent_answers::a_program_that_dies_is_a_fault_with_its_last_words,
    agent_answers::without_a_backend_no_call_is_made,
    recovered_answers::a_complete_answer_of_a_killed_owner_is_recovered,
    recovered_answers::an_incomplete_answer_is_not,
    embedder_adapter_jobs::a_panic_is_a_failed_call_and_the_rest_continues,
    embedder_adapter_jobs::what_an_adapter_leaves_is_run_by_the_other_executor,
    embedder_adapter_jobs::a_call_that_never_returns_is_abandoned,
    jobs_as_json::a_job_and_its_end_travel_as_json,
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some(support::WARDEN) => towpath_executor::warden_main(),
        Some(SERVER_ARGUMENT) => {
            let arguments: Vec<OsString> = std::env::args_os().skip(2).collect();
            server_main(&arguments)
        }
        Some(recovered_answers::OWNER) => return recovered_answers::own(&arguments[1]),
        _ => {}
    }
    let has = |flag: &str| arguments.iter().any(|a| a == flag);
    let filters: Vec<&String> = arguments.iter().filter(|a| !a.starts_with('-')).collect();
    let wanted = |name: &str| {
        let matches = |f: &&String| if has("--exact") { *f == name } else { name.contains(&***f) };
        filters.is_empty() || filters.iter().any(matches)
    };
    let tests: Vec<&Test> = TESTS.iter().filter(|(name, _)| wanted(name)).collect();
    if has("--list") {
        // Nothing here is ignored, so a list of the ignored is empty.
        for (name, _) in tests.iter().filter(|_| !has("--ignored")) {
            println!("{name}: test");
        }
        return ExitCode::SUCCESS;
    }
    match tests[..] {
        [(_, test)] if has("--exact") => {
            support::alarm();
            test();
            ExitCode::SUCCESS
        }
        _ => run_all(&tests),
    }
}

/// Each in a process of its own, a few at a time.
fn run_all(tests: &[&Test]) -> ExitCode {
    let queue = Mutex::new(tests.iter());
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while let Some((name, _)) = { queue.lock().expect("queue").next() } {
                    if let Err(text) = run_one(name) {
                        println!("---- {name} failed ----\n{text}");
                        failed.lock().expect("list").push(*name);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("list");
    println!("{} tests, {} failed {failed:?}", tests.len(), failed.len());
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run_one(name: &str) -> Result<(), String> {
    let own = std::env::current_exe().expect("own path");
    let out = Command::new(own).args(["--exact", name]).output().expect("a test process");
    if out.status.success() {
        return Ok(());
    }
    Err(format!("{}\n{}", out.status, String::from_utf8_lossy(&out.stderr)))
}

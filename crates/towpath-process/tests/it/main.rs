//! Real processes. Each test runs in a process of its own with a single thread, so that it can fork
//! a warden, and is killed by an alarm; whatever it started then ends with it.
//! The same executable is also the engine that a test kills, and the warden that it executes.

#![allow(clippy::print_stdout)]

mod killed_engine_or_warden;
mod lock_shared_with_warden;
mod output_and_input_files;
mod output_pipes;
mod sandbox;
mod secrets_masked_in_output;
mod start_jobs;
mod start_warden_and_await_events;
mod stop_and_pause_jobs;
mod support;
mod sweep_at_run_end;

use std::process::{Command, ExitCode};
use std::sync::Mutex;

type Test = (&'static str, fn());

macro_rules! tests {
    ($($module:ident :: $name:ident),* $(,)?) => {
        &[$((concat!(stringify!($module), "::", stringify!($name)), $module::$name as fn())),*]
    };
}

const TESTS: &[Test] = tests![
    start_jobs::codes_and_signals_arrive,
    start_jobs::what_cannot_start_reports_why,
    start_jobs::a_job_inherits_nothing,
    start_jobs::arguments_and_environment_arrive_byte_for_byte,
    start_jobs::a_large_environment_arrives_and_a_too_large_one_is_refused,
    start_jobs::a_path_is_searched_in_the_jobs_environment,
    start_warden_and_await_events::a_process_with_threads_cannot_fork_a_warden,
    start_warden_and_await_events::a_program_can_be_the_warden,
    start_warden_and_await_events::a_program_that_is_no_warden_is_refused,
    start_warden_and_await_events::a_wait_for_an_event_ends_in_time_and_when_it_is_woken,
    start_warden_and_await_events::a_stopped_warden_is_continued_by_short_waits_too,
    start_jobs::a_thousand_jobs_one_after_another,
    start_jobs::a_hundred_jobs_at_once,
    output_and_input_files::files_are_private_and_emptied,
    output_and_input_files::one_file_for_both_streams_keeps_the_order,
    output_and_input_files::the_end_does_not_wait_for_who_keeps_the_output_open,
    output_and_input_files::a_fifo_without_a_reader_does_not_block_the_warden,
    output_and_input_files::stdin_is_empty_or_a_file,
    output_pipes::an_output_opened_again_loses_nothing,
    output_pipes::a_job_that_fills_its_pipe_and_exits_loses_nothing,
    output_pipes::what_is_still_in_the_pipe_when_the_end_is_seen_is_kept,
    output_pipes::what_comes_after_the_end_is_kept_and_blocks_nobody,
    output_pipes::an_endless_background_writer_blocks_neither_the_end_nor_other_jobs,
    output_pipes::a_stopped_job_keeps_what_it_has_written,
    output_pipes::a_hundred_outputs_at_once_with_few_files_allowed,
    output_pipes::a_full_disk_is_reported_and_does_not_block_the_job,
    output_pipes::a_file_at_its_limit_is_reported,
    output_pipes::what_an_output_lost_before_it_was_closed_is_reported,
    output_pipes::what_a_server_writes_in_the_sweep_is_kept,
    secrets_masked_in_output::a_secret_is_masked_wherever_its_writes_are_cut,
    secrets_masked_in_output::what_only_begins_as_a_secret_is_kept_and_an_interrupted_one_is_not,
    secrets_masked_in_output::a_secret_that_a_background_child_completes_is_masked,
    secrets_masked_in_output::command_lines_are_reported_without_secrets,
    secrets_masked_in_output::what_a_killed_engine_leaves_of_an_output_is_masked,
    stop_and_pause_jobs::stop_asks_first,
    stop_and_pause_jobs::stop_ends_every_kind_of_descendant,
    stop_and_pause_jobs::stop_ends_a_chain_that_forks_and_exits,
    stop_and_pause_jobs::stop_ends_two_hundred_forks,
    stop_and_pause_jobs::stop_spares_other_jobs,
    stop_and_pause_jobs::stop_reaches_a_stopped_job,
    stop_and_pause_jobs::the_rest_is_asked_when_the_leader_has_gone,
    stop_and_pause_jobs::a_second_stop_shortens_the_grace,
    stop_and_pause_jobs::kill_now_does_not_ask,
    stop_and_pause_jobs::stop_of_an_ended_job_is_nothing,
    stop_and_pause_jobs::pause_and_continue,
    stop_and_pause_jobs::continue_leaves_stopped_what_the_job_stopped,
    sweep_at_run_end::background_children_live_until_the_sweep,
    sweep_at_run_end::sweep_with_nothing_left,
    sweep_at_run_end::sweep_ends_running_jobs_too,
    sweep_at_run_end::sweep_kills_what_does_not_listen,
    sweep_at_run_end::nothing_starts_during_a_sweep,
    sweep_at_run_end::term_to_the_warden_ends_everything,
    sweep_at_run_end::an_engine_that_does_not_read_does_not_stop_the_killing,
    killed_engine_or_warden::a_killed_engine_leaves_nothing,
    killed_engine_or_warden::a_dropped_handle_leaves_nothing,
    killed_engine_or_warden::an_engine_whose_socket_leaked_leaves_nothing,
    killed_engine_or_warden::a_killed_engine_with_paused_jobs_leaves_nothing,
    killed_engine_or_warden::a_killed_warden_is_noticed_and_its_jobs_die,
    killed_engine_or_warden::leftovers_of_a_killed_warden_are_found_and_ended,
    killed_engine_or_warden::ending_leftovers_spares_ourselves,
    killed_engine_or_warden::a_nested_run_ends_with_the_outer_one,
    lock_shared_with_warden::the_warden_keeps_the_lock_of_a_dead_engine,
    lock_shared_with_warden::no_job_gets_the_lock,
];

fn main() -> ExitCode {
    if let Some(code) = support::role() {
        return code;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|a| a == flag);
    let filters: Vec<&String> = arguments.iter().filter(|a| !a.starts_with('-')).collect();
    let wanted = |name: &str| {
        let matches = |f: &&String| if has("--exact") { *f == name } else { name.contains(&***f) };
        filters.is_empty() || filters.iter().any(matches)
    };
    let tests: Vec<&Test> =
        TESTS.iter().chain(sandbox::TESTS).filter(|(name, _)| wanted(name)).collect();
    if has("--list") {
        // Nothing here is ignored, so a list of the ignored is empty.
        for (name, _) in tests.iter().filter(|_| !has("--ignored")) {
            println!("{name}: test");
        }
        return ExitCode::SUCCESS;
    }
    match tests[..] {
        [(_, test)] if has("--exact") => {
            support::alarm(support::DEADLINE);
            test();
            sandbox::remove_copied_program();
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

//! Engine or warden die without a word; nothing of the run lives on.

use crate::support::*;
use rustix::process::Signal;
use towpath_core::Secrets;
use towpath_process::{end_marked, marked};

fn crash(mode: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    let (token, run) = (run_id(), run_id());
    let mut engine = engine(&token, mode, directory.path(), &run);
    until_escaped(&token);
    engine.kill();
    let own = std::env::current_exe().expect("own path").display().to_string();
    until("nothing of the run lives", || {
        // The leaking helper is no job: it has the engine's environment, not a job's.
        let jobs =
            |(pid, command): &(u32, String)| !command.contains(&own) && *pid != engine.process.id();
        !alive(&token).iter().any(jobs) && state(engine.warden()) == 'Z'
    });
    assert_eq!(marked(&run), []);
}

pub fn a_killed_engine_leaves_nothing() {
    crash("engine");
}

pub fn a_killed_engine_with_paused_jobs_leaves_nothing() {
    crash("paused");
}

pub fn an_engine_whose_socket_leaked_leaves_nothing() {
    crash("leaky");
}

pub fn a_dropped_handle_leaves_nothing() {
    let mut run = Run::forked();
    run.start_escapists(1);
    let Run { warden, mut events, token, .. } = run;
    drop(warden);
    while events.next().is_some() {}
    assert_eq!(alive(&token), []);
}

pub fn a_killed_warden_is_noticed_and_its_jobs_die() {
    let mut run = Run::forked();
    let job = run.start(&run.job(1, "exec sleep 1000"));
    kill(run.warden.pid(), Signal::KILL);
    assert_eq!(run.events.next(), None);
    until("the job dies with its parent", || state(job) == 'Z');
    assert!(run.warden.start(&run.job(2, "true")).is_err());
}

pub fn leftovers_of_a_killed_warden_are_found_and_ended() {
    let directory = tempfile::tempdir().expect("a directory");
    let (token, run, other) = (run_id(), run_id(), run_id());
    let mut bystander = Run::forked();
    bystander.start_and_see(1, "(setsid sleep 1001 &); sleep 1002", 2);
    let mut engine = engine(&token, "engine", directory.path(), &run);
    until_escaped(&token);
    kill(engine.warden(), Signal::KILL);
    engine.kill();

    let seen = marked(&run);
    let found = |command: &str| seen.iter().find(|l| l.command.starts_with(command));
    let job = |command: &str| found(command).map(|l| l.job.as_deref());
    assert_eq!(job("sleep 1001"), Some(Some("step1#1.1.1:bash")));
    assert_eq!(job("/bin/bash -c sleep 1007"), Some(None), "without environment");
    assert_eq!(end_marked(&other, &Secrets::default()).expect("nothing to end"), []);
    let ended = end_marked(&run, &Secrets::default()).expect("all ended");
    assert!(ended.iter().any(|l| l.command == "sleep 1001"), "{ended:?}");
    assert_eq!(alive(&token), []);
    assert_eq!(marked(&run), []);
    assert_eq!(end_marked(&run, &Secrets::default()).expect("nothing to end"), []);
    assert!(alive(&bystander.token).len() >= 2, "another run is not touched");
}

/// A job of a run ends that same run's leftovers: from inside, where it carries the marker itself.
pub fn ending_leftovers_spares_ourselves() {
    let id = "TEST_INSIDE";
    if let Ok(run) = std::env::var(id) {
        let mut child = std::process::Command::new("sleep").arg("1003").spawn().expect("sleep");
        let ended = end_marked(&run, &Secrets::default()).expect("all ended");
        let commands: Vec<_> = ended.iter().map(|l| l.command.as_str()).collect();
        assert_eq!(commands, ["sleep 1002"], "neither this process nor parent nor child");
        assert_eq!(child.try_wait().expect("own child"), None);
        child.kill().expect("own child");
        return;
    }
    let mut run = Run::forked();
    let own = std::env::current_exe().expect("own path");
    let script = r#"
        (setsid sleep 1002 & IS_EXECUTED)
        export TEST_INSIDE=${TOWPATH_RUN_MARKER%%.*}
        "$1" --exact killed_engine_or_warden::ending_leftovers_spares_ourselves; echo $?
    "#;
    let mut spec = run.job(1, &script.replace("IS_EXECUTED", IS_EXECUTED));
    spec.arguments.extend(["_".into(), own.into()]);
    run.start(&spec);
    let end = run.ended(1);
    assert_eq!(run.output(1), "0\n", "{}", run.errors(1));
    assert_eq!(end.status, code(0), "the job's own shell lives to its end");
    run.assert_nothing_lives();
}

pub fn a_nested_run_ends_with_the_outer_one() {
    let mut outer = Run::forked();
    let (inner, token) = (run_id(), outer.token.clone());
    let own = std::env::current_exe().expect("own path");
    let mut spec = outer.job(1, r#"exec "$1" </dev/null"#);
    spec.arguments.extend(["_".into(), own.into()]);
    spec.environment.extend([
        ("TEST_ROLE".into(), "nested".into()),
        ("TEST_ENGINE_TOKEN".into(), token.clone().into()),
        ("TEST_RUN".into(), inner.clone().into()),
        ("TEST_DIRECTORY".into(), outer.directory.path().into()),
    ]);
    outer.start(&spec);
    // The inner engine, its warden, its job and that job's two sleeps.
    until("the inner run is there", || alive(&token).len() >= 5);
    outer.warden.kill_now(1).expect("a warden that listens");
    outer.ended(1);
    outer.assert_nothing_lives();
    assert_eq!(marked(&inner), []);
}

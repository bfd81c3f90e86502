//! Script jobs in a sandbox.

use crate::embedder_adapter_jobs::{Demo, adapted};
use crate::support::{Run, is_locked};
use std::fs;
use std::time::Duration;
use towpath_executor::{
    Confinement, EndStatus, Executor as _, JobId, JobSpec, Policy, Sandbox, Work, own_executable,
};
use towpath_process::sandbox::find_confinement;
use towpath_shell::ShellText;

/// A job in a directory below the run's, which is all that it may write.
fn sandboxed(run: &Run, id: u32, script: &str) -> JobSpec {
    let path = std::env::var_os("PATH");
    let confinement: Confinement =
        find_confinement(own_executable(), path.as_deref()).expect("a sandbox can be made here");
    let directory = run.path("work");
    fs::create_dir_all(&directory).expect("a directory");
    let policy = Policy { writable: vec![directory.clone()], ..Policy::default() };
    JobSpec { directory, sandbox: Sandbox::Confined { confinement, policy }, ..run.job(id, script) }
}

pub fn a_sandboxed_script_gets_its_values_and_nothing_else() {
    let mut run = Run::new();
    fs::write(run.path("secret"), "do not read this").unwrap();
    let value = "$(touch ran) 'a\" b";
    let text = "printf '[%s]' {{v}}; cat ../secret; ls -A ..; echo made >made; exit 6";
    let script = ShellText::parse(text).unwrap().fill(&mut |_| Some(value.into())).unwrap();
    let work = Work::Script { script, substitute: false };
    run.start(JobSpec { work, ..sandboxed(&run, 1, "") });
    assert_eq!(run.end_of(1).status, EndStatus::Exited(6));
    let printed = run.seen.stdout_of("s1");
    assert!(printed.starts_with(&format!("[{value}]")), "{printed}");
    assert!(!printed.contains("do not read") && !printed.contains("lock"), "{printed}");
    assert_eq!(fs::read_to_string(run.path("work/made")).unwrap(), "made\n");
    // Longer than an argument: bash reads it from a file of the run.
    let long = format!("echo long; : {}", "x".repeat(200_000));
    let job = sandboxed(&run, 2, &long);
    run.start(job);
    assert_eq!(run.end_of(2).status, EndStatus::Exited(0));
    assert_eq!(run.seen.stdout_of("s2"), "long\n");
}

pub fn a_timeout_and_a_kill_end_a_sandboxed_job() {
    let mut run = Run::new();
    let script = "exec 5>lock; flock 5; (setsid sleep 1001 &); echo begun; sleep 1002";
    let mut job = sandboxed(&run, 1, script);
    job.timeout = Some(Duration::from_secs(1));
    // On a busy machine the job may not have come to that.
    fs::write(run.path("work/lock"), "").unwrap();
    run.start(job);
    assert_eq!(run.end_of(1).status, EndStatus::TimedOut);
    assert!(!is_locked(&run.path("work/lock")));
    let job = sandboxed(&run, 2, &format!("trap '' TERM; {script}; sleep 1003"));
    run.start(job);
    run.wait_for_output("s2", "begun");
    assert!(is_locked(&run.path("work/lock")));
    run.executor.kill(JobId(2)).unwrap();
    assert_eq!(run.end_of(2).status, EndStatus::Stopped);
    assert!(!is_locked(&run.path("work/lock")));
}

pub fn no_adapter_is_asked_about_a_sandboxed_command() {
    let mut run = Run::new();
    // The adapter answers this command with 7 by itself.
    let (job, plain) = (sandboxed(&run, 1, "mine"), run.job(2, "mine"));
    let mut seen = std::mem::take(&mut run.seen);
    let mut executor = adapted(&mut run, Demo::default());
    for job in [job, plain] {
        executor.start(job).unwrap();
    }
    assert_eq!(seen.end_of(&mut executor, 1).status, EndStatus::Exited(127));
    assert_eq!(seen.end_of(&mut executor, 2).status, EndStatus::Exited(7));
}

pub fn a_job_of_an_earlier_version_has_no_sandbox() {
    let run = Run::new();
    let job = run.job(1, "true");
    let mut json = serde_json::to_value(&job).unwrap();
    assert_eq!(json.as_object_mut().unwrap().remove("sandbox"), None, "nor does it mention one");
    assert_eq!(serde_json::from_value::<JobSpec>(json).unwrap(), job);
}

//! Jobs of a run in a sandbox: the warden starts, stops and reports them as any other.

use super::*;
use crate::support::{ESCAPISTS, LONG, Run, code, signal, until, until_escaped};
use rustix::process::Signal;
use towpath_process::{ChildSpec, Event, Sandbox};

/// A job whose own directory is all that it may write.
fn confined(kind: Kind, run: &Run, id: u64, script: &str) -> ChildSpec {
    let limits = policy().limits;
    let writable = vec![run.directory.path().to_owned()];
    let policy = Policy { writable, limits, ..Policy::default() };
    let sandbox = Sandbox::Confined { confinement: kind.confinement(), policy };
    ChildSpec { sandbox, ..run.job(id, script) }
}

pub fn ends_and_output_are_exact(kind: Kind) {
    let mut run = Run::forked();
    for (id, script, expected) in [
        (1, "echo out; echo err >&2; exit 0", code(0)),
        (2, "exit 7", code(7)),
        (3, "kill -SEGV $$", signal(Signal::SEGV)),
        (4, "kill -KILL $$", signal(Signal::KILL)),
    ] {
        let job = confined(kind, &run, id, script);
        run.start(&job);
        let end = run.ended(id);
        assert_eq!(end.status, expected, "{script}: {}", run.errors(id));
        assert!(end.left.is_empty() && end.lost.is_none(), "{end:?}");
    }
    assert_eq!((run.output(1).as_str(), run.errors(1).as_str()), ("out\n", "err\n"));
    run.assert_nothing_lives();
}

pub fn what_cannot_run_is_reported_in_the_log(kind: Kind) {
    let mut run = Run::forked();
    let base = confined(kind, &run, 1, "exit 0");
    let hidden = outside();
    let with = |id, change: &dyn Fn(&mut ChildSpec)| {
        let (stdout, stderr) = (run.path(&format!("{id}.out")), run.path(&format!("{id}.err")));
        let mut spec = ChildSpec { id, stdout, stderr, ..base.clone() };
        change(&mut spec);
        spec
    };
    let broken = |policy| Sandbox::Confined {
        confinement: Confinement::Bubblewrap { program: "/bin/false".into() },
        policy,
    };
    let missing = || Policy { readable: vec!["/no/such".into()], ..policy() };
    let mut cases = vec![
        (with(2, &|spec| spec.program = "/no/such".into()), 127, "`/no/such`: ENOENT"),
        (with(3, &|spec| spec.program = "/etc/passwd".into()), 126, "EACCES"),
        (with(4, &|spec| spec.program = "no-such-program".into()), 127, "ENOENT"),
        (with(5, &|spec| spec.sandbox = broken(missing())), 125, "/no/such"),
        (with(6, &|spec| spec.sandbox = broken(policy())), 125, "cannot be set up"),
    ];
    if kind != Kind::Landlock {
        // Landlock hides nothing: there it can be entered, and nothing in it be used.
        let hidden = hidden.path().to_owned();
        cases.push((with(7, &move |spec| spec.directory = hidden.clone()), 125, "directory"));
    }
    for (spec, expected, text) in cases {
        run.start(&spec);
        assert_eq!(run.ended(spec.id).status, code(expected), "{}", run.errors(spec.id));
        assert!(run.errors(spec.id).contains(text), "{}", run.errors(spec.id));
    }
}

pub fn a_job_reaches_only_what_its_policy_names(kind: Kind) {
    let mut run = Run::forked();
    let home = outside();
    let secret = home.path().join("secret");
    std::fs::write(&secret, "do not read this").expect("a file");
    std::fs::write(run.path("input"), "from stdin").expect("a file");
    let script = format!(
        "cat; cat '{0}'; echo changed >'{0}'; echo made >made; ls -l /proc/self/fd >&2; id -u; env | grep TOWPATH_JOB",
        secret.display()
    );
    let mut job = confined(kind, &run, 1, &script);
    job.stdin = Some(run.path("input"));
    run.start(&job);
    assert_eq!(run.ended(1).status, code(0), "{}", run.errors(1));
    let user = rustix::process::geteuid().as_raw();
    let expected = format!("from stdin{user}\nTOWPATH_JOB=step1#1.1.1:bash\n");
    assert_eq!(run.output(1), expected, "{}", run.errors(1));
    assert_eq!(std::fs::read_to_string(secret).expect("a file"), "do not read this");
    assert_eq!(std::fs::read_to_string(run.path("made")).expect("a file"), "made\n");
    let files = run.errors(1).lines().filter(|line| line.contains(" -> ")).count();
    assert_eq!(files, 4, "its three, and the directory: {}", run.errors(1));
}

/// The engine gives steps the private `/tmp` as their home.
pub fn a_job_has_a_home_of_its_own(kind: Kind) {
    let mut run = Run::forked();
    let mut job = confined(kind, &run, 1, "cd && echo kept >towpath-new && ls -A && echo .*");
    job.environment.retain(|(name, _)| name != "HOME");
    job.environment.push(("HOME".into(), "/tmp".into()));
    run.start(&job);
    assert_eq!(run.ended(1).status, code(0), "{}", run.errors(1));
    assert!(run.output(1).contains("towpath-new\n"), "{}", run.output(1));
    assert!(!Path::new("/tmp/towpath-new").exists());
}

/// Unlike a job without a sandbox: its processes cannot be outside of it.
pub fn what_a_job_leaves_ends_with_it(kind: Kind) {
    let mut run = Run::forked();
    let job = confined(kind, &run, 1, "(setsid sleep 1001 &); sleep 1002 & exit 3");
    run.start(&job);
    assert_eq!(run.ended(1).status, code(3));
    run.assert_nothing_lives();
}

pub fn a_request_to_end_reaches_the_job(kind: Kind) {
    let mut run = Run::forked();
    let script = "trap 'echo asked; exit 9' TERM; echo begun >begun; while :; do sleep 0.1; done";
    let job = confined(kind, &run, 1, script);
    run.start(&job);
    until("the job has begun", || run.path("begun").exists());
    run.warden.stop(1, LONG).expect("a warden that listens");
    assert_eq!(run.ended(1).status, code(9), "{}", run.errors(1));
    assert_eq!(run.output(1), "asked\n");
    std::fs::remove_file(run.path("begun")).expect("a file");
    let job = confined(kind, &run, 2, "echo begun >begun; sleep 1000");
    run.start(&job);
    until("the job has begun", || run.path("begun").exists());
    run.warden.stop(2, LONG).expect("a warden that listens");
    assert_eq!(run.ended(2).status, signal(Signal::TERM), "{}", run.errors(2));
    run.assert_nothing_lives();
}

pub fn a_killed_job_leaves_nothing(kind: Kind) {
    let mut run = Run::forked();
    let script = ESCAPISTS.replace("$TEST_TOKEN", &run.token);
    let job = confined(kind, &run, 1, &script);
    run.start(&job);
    until_escaped(&run.token);
    run.warden.kill_now(1).expect("a warden that listens");
    run.ended(1);
    run.assert_nothing_lives();
    let job = confined(kind, &run, 2, &script);
    run.start(&job);
    until_escaped(&run.token);
    run.warden.close();
    while let Some(event) = run.events.next() {
        assert!(matches!(event, Event::Ended { .. } | Event::Swept { .. }), "{event:?}");
    }
    run.assert_nothing_lives();
}

pub fn memory_of_a_job_is_limited(kind: Kind) {
    let mut run = Run::forked();
    let job =
        confined(kind, &run, 1, "head -c 400000000 /dev/zero | tail -c 400000000 | sleep 1000");
    run.start(&job);
    assert_eq!(run.ended(1).status, code(137));
    assert!(run.errors(1).contains("memory"), "{}", run.errors(1));
    run.assert_nothing_lives();
}

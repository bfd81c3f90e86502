//! What jobs print reaches their files, all of it, however and whenever they print it.

use crate::support::*;
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use std::fs;
use towpath_process::{Event, Lost, Stream};

fn limit(resource: Resource, current: u64) {
    let maximum = getrlimit(resource).maximum;
    setrlimit(resource, Rlimit { current: Some(current), maximum }).expect("a lower limit");
}

pub fn an_output_opened_again_loses_nothing() {
    let mut run = Run::forked();
    for (id, script, out, errors) in [
        (1, "echo a > /dev/stderr; echo b > /dev/stderr; echo c >&2", "", "a\nb\nc\n"),
        (2, "echo a; echo b > /dev/stdout; echo c > /proc/self/fd/1", "a\nb\nc\n", ""),
        (3, "echo 0 >&2; seq 3 | tee /dev/stderr", "1\n2\n3\n", "0\n1\n2\n3\n"),
        (4, "echo a; : > /dev/stdout; (echo b; echo c >> /dev/stderr) 2>&1", "a\nb\nc\n", ""),
    ] {
        let end = run.finish(id, script);
        assert_eq!((end.status, end.lost), (code(0), None), "{script}");
        assert_eq!((&*run.output(id), &*run.errors(id)), (out, errors), "{script}");
    }
    let mut both = run.job(5, "echo a; echo b > /dev/stderr; echo c > /dev/stdout; echo d >&2");
    both.stderr = both.stdout.clone();
    run.start(&both);
    run.ended(5);
    assert_eq!(run.output(5), "a\nb\nc\nd\n");
}

pub fn a_job_that_fills_its_pipe_and_exits_loses_nothing() {
    let mut run = Run::forked();
    let sizes = [10_000_000, 65_535, 65_536, 65_537, 1];
    for (id, size) in (0..).zip(sizes.into_iter().cycle().take(50)) {
        let mut spec = run.job(id, "");
        spec.program = "head".into();
        spec.arguments = os(&["-c", &size.to_string(), "/dev/zero"]);
        run.start(&spec);
        let end = run.ended(id);
        let written = fs::metadata(&spec.stdout).expect("an output file").len();
        assert_eq!((end.status, written), (code(0), size), "job {id}");
        fs::remove_file(&spec.stdout).expect("an output file");
    }
    run.finish(99, "seq 1000000 | tee /dev/stderr");
    let expected: String = (1..=1_000_000).map(|n| format!("{n}\n")).collect();
    assert!(run.output(99) == expected && run.errors(99) == expected, "every byte in its order");
}

pub fn what_is_still_in_the_pipe_when_the_end_is_seen_is_kept() {
    let mut run = Run::forked();
    let script = "until [ -e go ]; do :; done; head -c 60000 /dev/zero; echo last words >&2";
    let job = run.start(&run.job(1, script));
    kill(run.warden.pid(), Signal::STOP);
    until("the warden is stopped", || state(run.warden.pid()) == 'T');
    fs::write(run.path("go"), "").expect("write");
    until("the job has ended", || state(job) == 'Z');
    assert_eq!(run.output(1), "", "nobody has moved it yet");
    kill(run.warden.pid(), Signal::CONT);
    assert_eq!(run.ended(1).status, code(0));
    assert_eq!(run.output(1).len(), 60_000);
    assert_eq!(run.errors(1), "last words\n");
}

pub fn what_comes_after_the_end_is_kept_and_blocks_nobody() {
    let mut run = Run::forked();
    let wait = "until [ -e go ]; do sleep 0.01; done";
    let late = "echo later; head -c 1000000 /dev/zero; echo last > /dev/stdout; touch done";
    let end = run.finish(1, &format!("({wait}; {late}) & echo now"));
    assert_eq!(end.status, code(0));
    assert_eq!(run.output(1), "now\n");
    fs::write(run.path("go"), "").expect("write");
    until("the writer comes to its end", || run.path("done").exists());
    let expected = ["now\nlater\n", &"\0".repeat(1_000_000), "last\n"].concat();
    until("all of it is in the file", || run.output(1) == expected);
    until("the warden forgets what is closed", || {
        let files = fs::read_dir(format!("/proc/{}/fd", run.warden.pid())).expect("fds");
        files.count() < 10
    });
}

pub fn an_endless_background_writer_blocks_neither_the_end_nor_other_jobs() {
    let mut run = Run::forked();
    let end = run.finish(1, "yes & yes >&2 & exit 3");
    assert_eq!(end.status, code(3));
    assert_eq!(end.left.len(), 2, "{end:?}");
    let end = run.finish(2, "echo between; exit 4");
    assert_eq!((end.status, &*run.output(2)), (code(4), "between\n"));
    run.start(&run.job(3, "exec yes"));
    run.warden.kill_now(3).expect("a warden that listens");
    assert_eq!(run.ended(3).status, signal(Signal::KILL));

    run.warden.sweep(LONG).expect("a warden that listens");
    let commands: Vec<_> = run.swept().into_iter().map(|l| l.command).collect();
    assert_eq!(commands, ["yes", "yes"]);
    run.assert_nothing_lives();
    assert_eq!(run.events.next(), None);
}

pub fn a_stopped_job_keeps_what_it_has_written() {
    let mut run = Run::forked();
    run.start(&run.job(1, "echo begin; trap 'echo end; exit 9' TERM; while :; do echo y; done"));
    until("it writes", || run.output(1).len() > 100);
    run.warden.stop(1, LONG).expect("a warden that listens");
    assert_eq!(run.ended(1).status, code(9));
    let output = run.output(1);
    let middle = output.strip_prefix("begin\n").and_then(|o| o.strip_suffix("end\n"));
    assert!(middle.expect("both ends").lines().all(|line| line == "y"));
}

pub fn a_hundred_outputs_at_once_with_few_files_allowed() {
    limit(Resource::Nofile, 64);
    let mut run = Run::forked();
    for id in 0..100 {
        let script = format!("until [ -e go ]; do sleep 0.05; done; seq {id} 20000; ulimit -n >&2");
        run.warden.start(&run.job(id, &script)).expect("a warden that listens");
    }
    let mut running = 0;
    while running > 0 || !run.path("go").exists() {
        match run.events.next().expect("a living warden") {
            Event::Started { .. } => running += 1,
            Event::Ended { id, status, lost, .. } => {
                running -= 1;
                assert_eq!((status, lost), (code(0), None));
                let expected: String = (id..=20_000).map(|n| format!("{n}\n")).collect();
                assert!(run.output(id) == expected, "the output of job {id}");
                assert_eq!(run.errors(id), "64\n", "the job has what the engine had");
            }
            other => panic!("{other:?}"),
        }
        if running == 100 {
            fs::write(run.path("go"), "").expect("write");
        }
    }
}

pub fn a_full_disk_is_reported_and_does_not_block_the_job() {
    let mut run = Run::forked();
    let mut spec = run.job(1, "head -c 1000000 /dev/zero; echo fine >&2; exit 5");
    spec.stdout = "/dev/full".into();
    run.start(&spec);
    let end = run.ended(1);
    assert_eq!(end.status, code(5), "nobody gets SIGPIPE or waits for ever");
    let lost = end.lost.expect("reported");
    assert_eq!(lost, Lost { stream: Stream::Stdout, errno: Errno::NOSPC.raw_os_error() });
    assert!(lost.to_string().starts_with("stdout: No space left on device"), "{lost}");
    assert_eq!(lost.error().kind(), std::io::ErrorKind::StorageFull);
    assert_eq!(run.errors(1), "fine\n");
    assert_eq!(run.finish(2, "echo next").lost, None, "of the next job nothing is lost");
}

pub fn a_file_at_its_limit_is_reported() {
    limit(Resource::Fsize, 100_000);
    let mut run = Run::forked();
    let end = run.finish(1, "head -c 1000000 /dev/zero >&2; echo out");
    assert_eq!(end.status, code(0), "the job itself writes into no file");
    let lost = Lost { stream: Stream::Stderr, errno: Errno::FBIG.raw_os_error() };
    assert_eq!(end.lost, Some(lost));
    assert_eq!(run.errors(1).len(), 100_000, "what fits is kept");
    assert_eq!(run.output(1), "out\n");
    assert_eq!(run.finish(2, "exit 2").status, code(2), "the warden continues");
}

pub fn what_an_output_lost_before_it_was_closed_is_reported() {
    let mut run = Run::forked();
    let mut spec = run.job(1, "echo x >&2; exec 2>&-; echo closed; until [ -e go ]; do :; done");
    spec.stderr = "/dev/full".into();
    run.start(&spec);
    until("it is closed", || run.output(1) == "closed\n");
    run.finish(2, "true");
    fs::write(run.path("go"), "").expect("write");
    assert_eq!(run.ended(1).lost.map(|lost| lost.stream), Some(Stream::Stderr));
}

pub fn what_a_server_writes_in_the_sweep_is_kept() {
    let mut run = Run::forked();
    let server = "trap 'echo bye; exit' TERM; echo hello; while :; do sleep 0.01; done";
    run.finish(1, &format!("({server}) & until [ -s 1.out ]; do :; done"));
    run.warden.sweep(LONG).expect("a warden that listens");
    run.swept();
    assert_eq!(run.output(1), "hello\nbye\n");
}

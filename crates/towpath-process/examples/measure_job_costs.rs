//! What a job and its output cost through the warden, beside a plain start and wait, on this machine
//! and now:
//! `cargo run --release --example measure_job_costs`.

#![allow(clippy::print_stdout)]

use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use towpath_process::{ChildSpec, Event, Marker, Sandbox, Warden, WardenEvents};

const ROUNDS: u32 = 500;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let begin = Instant::now();
    let (warden, mut events) = Warden::fork(None, &Marker::new("cost"))?;
    println!("fork of the warden              {:>8.1?}", begin.elapsed());
    let directory = tempfile::tempdir()?;
    let mut spec = ChildSpec {
        id: 0,
        job: "true#1.1.1:bash".into(),
        program: "/bin/true".into(),
        arguments: Vec::new(),
        environment: std::env::vars_os().collect(),
        directory: directory.path().to_owned(),
        stdin: None,
        stdout: directory.path().join("out"),
        stderr: directory.path().join("err"),
        report_start: true,
        sandbox: Sandbox::None,
    };
    let plain = plain(directory.path());
    let mut fastest = [Duration::MAX; 4];
    // Interleaved, so that a busy moment of the machine hits all alike; the best of each counts.
    for _ in 0..5 {
        let through = |program: &str, spec: &mut ChildSpec, events: &mut WardenEvents| {
            spec.program = program.into();
            spec.arguments =
                if program == "/bin/bash" { vec!["-c".into(), ":".into()] } else { vec![] };
            average(|| through(&warden, events, spec))
        };
        let round = [
            average(|| plain("/bin/true", &[])),
            through("/bin/true", &mut spec, &mut events),
            average(|| plain("/bin/bash", &["-c", ":"])),
            through("/bin/bash", &mut spec, &mut events),
        ];
        fastest = std::array::from_fn(|n| fastest[n].min(round[n]));
    }
    let [true_plain, true_warden, bash_plain, bash_warden] = fastest;
    let ratio = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64();
    println!("/bin/true: fork, exec, wait     {true_plain:>8.1?}");
    println!(
        "/bin/true: through the warden   {true_warden:>8.1?}  {:.2}x",
        ratio(true_warden, true_plain)
    );
    println!("bash -c : : fork, exec, wait    {bash_plain:>8.1?}");
    println!(
        "bash -c : : through the warden  {bash_warden:>8.1?}  {:.2}x",
        ratio(bash_warden, bash_plain)
    );
    gigabyte(&plain, &warden, &mut events, &mut spec)?;
    let begin = Instant::now();
    warden.sweep(Duration::from_secs(1))?;
    events.next();
    println!("sweep with nothing left, report {:>8.1?}", begin.elapsed());
    while events.next().is_some() {}
    println!("  and the warden gone           {:>8.1?}", begin.elapsed());
    engine_gone(&mut spec)
}

fn gigabyte(
    plain: &impl Fn(&str, &[&str]),
    warden: &Warden,
    events: &mut WardenEvents,
    spec: &mut ChildSpec,
) -> Result<(), Box<dyn std::error::Error>> {
    let arguments = ["-c", "1073741824", "/dev/zero"];
    spec.program = "/usr/bin/head".into();
    spec.arguments = arguments.map(Into::into).to_vec();
    let mut fastest = [Duration::MAX; 2];
    for _ in 0..3 {
        let begin = Instant::now();
        plain("/usr/bin/head", &arguments);
        let between = Instant::now();
        through(warden, events, spec);
        fastest = [fastest[0].min(between - begin), fastest[1].min(between.elapsed())];
        assert_eq!(std::fs::metadata(&spec.stdout)?.len(), 1 << 30, "all of it arrives");
    }
    println!("1 GiB of output: into a file    {:>8.1?}", fastest[0]);
    println!("1 GiB of output: by the warden  {:>8.1?}", fastest[1]);
    let status = std::fs::read_to_string(format!("/proc/{}/status", warden.pid()))?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("unknown");
    println!("  the warden's memory at most   {}", peak.trim());
    Ok(())
}

/// As after `kill -9` of the engine: from the closing of its end to the end of the warden.
fn engine_gone(spec: &mut ChildSpec) -> Result<(), Box<dyn std::error::Error>> {
    let (warden, mut events) = Warden::fork(None, &Marker::new("cost"))?;
    spec.program = "/bin/bash".into();
    spec.arguments = vec!["-c".into(), "(setsid sleep 1000 &); sleep 1000; true".into()];
    for id in 0..20 {
        spec.id = id;
        warden.start(spec)?;
        events.next();
    }
    std::thread::sleep(Duration::from_millis(300));
    let begin = Instant::now();
    drop(warden);
    while events.next().is_some() {}
    println!("20 jobs, 60 processes, all gone {:>8.1?}", begin.elapsed());
    Ok(())
}

fn average(mut once: impl FnMut()) -> Duration {
    let begin = Instant::now();
    for _ in 0..ROUNDS {
        once();
    }
    begin.elapsed() / ROUNDS
}

/// With output files and a session of its own, as every job has.
fn plain(directory: &std::path::Path) -> impl Fn(&str, &[&str]) + use<'_> {
    move |program, arguments| {
        let file = |name| std::fs::File::create(directory.join(name)).expect("an output file");
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(file("out")).stderr(file("err"));
        // SAFETY: one system call.
        unsafe { command.pre_exec(|| Ok(rustix::process::setsid().map(drop)?)) };
        command.status().expect("a program that starts");
    }
}

fn through(warden: &Warden, events: &mut WardenEvents, spec: &mut ChildSpec) {
    spec.id += 1;
    warden.start(spec).expect("a warden that listens");
    loop {
        match events.next().expect("a living warden") {
            Event::Started { .. } => {}
            Event::Ended { .. } => return,
            other => panic!("{other:?}"),
        }
    }
}

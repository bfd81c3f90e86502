//! What a sandbox costs: to open one, and for each command in it. `--release`, on a machine that does
//! nothing else. An argument is the program to serve in it, rather than this one.

#![allow(clippy::print_stdout)]

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use towpath_process::own_executable;
use towpath_process::sandbox::{
    CommandDirectory, Confinement, Policy, SERVER_ARGUMENT, SandboxCommand, SandboxSession,
    find_confinement, server_main,
};

const ROUNDS: usize = 50;

fn main() {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|first| first == SERVER_ARGUMENT) {
        server_main(&arguments[2..]);
    }
    let own = arguments.get(1).map_or_else(|| own_executable().to_owned(), PathBuf::from);
    let path = std::env::var_os("PATH");
    println!("found: {:?}", find_confinement(&own, path.as_deref()));
    let bubblewrap = Confinement::Bubblewrap { program: "/usr/bin/bwrap".into() };
    for confinement in
        [bubblewrap, Confinement::Namespaces, Confinement::Landlock, Confinement::None]
    {
        let policy = Policy { drop_user: true, ..Policy::default() };
        let open = || SandboxSession::open(&confinement, &policy, &own).expect("a sandbox");
        let opening = median(|| drop(open()));
        let mut session = open();
        let running = median(|| {
            session.run(&command(), &mut |_, _| {}).expect("an end");
        });
        println!("{:>10}: open and close {opening:?}, a command {running:?}", confinement.as_str());
    }
}

fn command() -> SandboxCommand {
    SandboxCommand {
        program: "/bin/true".into(),
        arguments: Vec::new(),
        environment: Vec::new(),
        directory: CommandDirectory::Fresh,
        terminal: false,
        time_limit: Duration::from_secs(10),
        output_limit: 1000,
    }
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[ROUNDS / 2]
}

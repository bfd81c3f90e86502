//! A reader of our output that goes away, or does not read.

use crate::bad_input::with;
use crate::support::{Printed, Signal, signal, until};

#[test]
fn a_closed_pipe_ends_the_output_and_not_the_run() {
    let user = with(
        "name: x\nsteps:\n  - id: a\n    command: seq 100000\n  - id: b\n    command: touch ran; seq 10\n",
    );
    let script =
        format!("{} run r.yaml | head -1; echo ${{PIPESTATUS[0]}}", env!("CARGO_BIN_EXE_towpath"));
    let mut command = std::process::Command::new("bash");
    command
        .args(["-c", &script])
        .current_dir(user.path("work"))
        .env("TOWPATH_HOME", user.path("home"));
    let printed = Printed::from(command.output().expect("bash starts"));
    assert_eq!(printed.stdout, "1\n0\n", "{}", printed.stderr);
    assert!(user.path("work/ran").exists());
    assert!(!printed.stderr.contains("panic"), "{}", printed.stderr);
}

#[test]
fn a_reader_that_does_not_read_delays_neither_timeouts_nor_signals() {
    let flood = "while :; do head -c 200000 /dev/zero; sleep 0.01; done";
    let recipe = format!(
        "name: x\nsteps:\n  - {{id: flood, command: '{flood}', timeout: 1, continue_on_error: true}}\n  - {{id: next, command: 'touch reached; {flood}'}}\n"
    );
    let user = with(&recipe);
    let mut runner = user.command(&["run", "r.yaml"]).spawn().expect("towpath starts");
    // Nobody reads its stdout. The first step ends by its timeout all the same.
    until("the second step", || user.path("work/reached").exists());
    signal(&runner, Signal::INT);
    until("the children are gone", || towpath_process::marked(user.run().as_str()).is_empty());
    // What was printed can still be read; then the runner ends.
    let mut output = runner.stdout.take().expect("its output");
    let read = std::io::copy(&mut output, &mut std::io::sink()).expect("it can be read");
    assert!(read > 1 << 20, "{read}");
    assert_eq!(runner.wait().expect("the runner ends").code(), Some(130));
}

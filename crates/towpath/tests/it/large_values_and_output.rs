//! Large values and outputs arrive whole, or are refused.

use crate::bad_input::with;
use crate::support::Printed;
use std::fmt::Write as _;

#[test]
fn large_values_arrive_whole() {
    let user = with(
        "name: x\nsteps:\n  - id: a\n    command: head -c 300000 /dev/zero | tr '\\0' \"'\"\n    output: v\n  - id: b\n    command: printf %s {{v}} \"{{v}}\" '{{v}}' | wc -c\n",
    );
    let printed = user.towpath(&["run", "r.yaml", "-q"]).exits(0);
    assert!(printed.stdout.ends_with("900000\n"));
}

#[test]
fn thirty_values_of_100_kb_fit_into_one_step() {
    let mut recipe = "name: x\nsteps:\n".to_owned();
    let mut reads = String::new();
    for n in 0..30 {
        let _ =
            writeln!(recipe, "  - id: v{n}\n    command: head -c 100000 /dev/zero | tr '\\0' x");
        let _ = write!(reads, " {{{{v{n}}}}}");
    }
    let _ = writeln!(recipe, "  - id: all\n    command: printf %s{reads} | wc -c");
    let printed = with(&recipe).towpath(&["run", "r.yaml", "-q"]).exits(0);
    assert!(printed.stdout.ends_with("3000000\n"));
}

#[test]
fn a_gigabyte_of_output_costs_no_memory_and_is_no_value() {
    let recipe = "name: x\nsteps:\n  - id: big\n    command: head -c 1073741824 /dev/zero\n  - id: read\n    command: echo {{big}}\n";
    let user = with(recipe);
    // Half of the output does not fit into the memory that the runner may have.
    let shell = format!(
        "( ulimit -v 500000; exec {} run r.yaml -q ) 2> err | wc -c",
        env!("CARGO_BIN_EXE_towpath")
    );
    let mut command = std::process::Command::new("bash");
    command
        .args(["-c", &shell])
        .current_dir(user.path("work"))
        .env("TOWPATH_HOME", user.path("home"));
    let printed = Printed::from(command.output().expect("bash starts"));
    assert_eq!(printed.stdout.trim(), "1073741824", "{printed:?}");
    let errors = user.read("err");
    assert!(errors.contains("too large to be a value"), "{errors}");
}

#[test]
fn a_named_output_over_16_mib_fails_its_step() {
    let recipe =
        "name: x\nsteps:\n  - id: big\n    command: head -c 17000000 /dev/zero\n    output: v\n";
    with(recipe).towpath(&["run", "r.yaml", "-q"]).exits(1).reports("over the limit of 16 MiB");
}

//! `towpath doctor --report`: a bug report to read, without secrets.

use crate::support::{Printed, User};

const SHIP: &str = "name: ship\nsteps:\n  - id: push\n    \
                    command: echo \"refused for $API_TOKEN\" >&2; echo key sk-ant-api03-$KEY >&2; exit 7\n";

fn reported(user: &User, words: &[&str]) -> Printed {
    let mut command = user.command(words);
    command.env("API_TOKEN", "hunter2-hunter2").env("KEY", "abcdefghijklmnopqrstuvwxyz0123456789");
    Printed::from(command.output().expect("it starts"))
}

#[test]
fn a_report_has_what_a_maintainer_needs_and_no_secret() {
    let user = User::new().file("ship.yaml", SHIP);
    std::fs::create_dir_all(user.path("home/config")).expect("a folder");
    std::fs::write(user.path("home/config/settings.toml"), "max_agents = 3\n").expect("a file");
    reported(&user, &["run", "ship.yaml"]).exits(1);
    let run = user.run();
    let report = reported(&user, &["doctor", "--report"])
        .exits(0)
        .reports(&format!("run {run} of ship, failed"));

    for text in [
        "# Towpath bug report\n",
        concat!("- towpath ", env!("CARGO_PKG_VERSION"), "\n"),
        "- linux ",
        "- max_agents: 3 (",
        "## towpath doctor\n\n- ",
        &format!("## Run {run}\n\n- recipe: ship\n- status: failed\n"),
        "- failed step: push (bash): exit 7\n\n    refused for ",
    ] {
        assert!(report.stdout.contains(text), "no {text:?} in:\n{}", report.stdout);
    }
    let home = user.path("").display().to_string();
    for secret in ["hunter2", "abcdefghijklmnop", home.trim_end_matches('/')] {
        assert!(!report.stdout.contains(secret), "{secret} is in:\n{}", report.stdout);
    }
    assert_eq!(
        reported(&user, &["doctor", "--report", run.as_str()]).exits(0).stdout,
        report.stdout
    );
}

#[test]
fn a_report_needs_no_run() {
    let user = User::new();
    let report = user.towpath(&["doctor", "--report"]).exits(0).stdout;
    assert!(report.contains("# Towpath bug report") && !report.contains("## Run"), "{report}");
    user.towpath(&["doctor", "--report", "7f3k"]).exits(2).reports("there is no run 7f3k");
}

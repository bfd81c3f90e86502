//! How long a command or an agent may take, and how long it may print nothing.

use crate::support::{Signal, User, signal, until};

const SLOW: &str = "name: slow\nsteps:\n  - {id: slow, command: 'test -e ready || sleep 60'}\n";

#[test]
fn a_step_without_a_timeout_gets_that_of_the_run() {
    let recipe = "name: two\nsteps:\n  - {id: own, command: 'sleep 0.5', timeout: 60}\n  - {id: other, command: 'sleep 60'}\n";
    let user = User::new().file("r.yaml", recipe);
    let printed = user.towpath(&["run", "r.yaml", "--step-timeout", "0.3"]).exits(1);
    printed.reports("done own").reports("timed out after 0.3 s (--step-timeout)");
    let shown = user.towpath(&["show", user.run().as_str()]).exits(0);
    assert!(shown.stdout.contains("timed out after 0.3 s (--step-timeout)"), "{}", shown.stdout);
}

#[test]
fn an_agent_call_without_a_timeout_gets_that_of_the_run() {
    let user = User::new()
        .file("r.yaml", "name: r\nsteps:\n  - {id: ask, prompt: why}\n")
        .file("s.jsonl", "{\"text\": \"late\", \"delay_ms\": 60000}\n");
    let flags = ["run", "r.yaml", "--script", "s.jsonl", "--step-timeout", "0.3"];
    user.towpath(&flags).exits(1).reports("timed out after 0.3 s (--step-timeout)");
}

#[test]
fn a_resume_keeps_the_runs_timeout_unless_it_is_given_another() {
    let user = User::new().file("r.yaml", SLOW);
    user.towpath(&["run", "r.yaml", "--step-timeout", "0.3"]).exits(1);
    user.towpath(&["resume", "--last"]).exits(1).reports("timed out after 0.3 s");
    user.towpath(&["resume", "--last", "--step-timeout", "0.4"]).exits(1).reports("after 0.4 s");
    user.towpath(&["resume", "--last"]).exits(1).reports("timed out after 0.4 s");
    user.write("ready", "");
    user.towpath(&["resume", "--last", "--step-timeout", "60"]).exits(0);
}

#[test]
fn a_step_that_prints_nothing_for_too_long_is_ended() {
    let recipe = "name: q\nsteps:\n  - {id: quiet, command: 'echo first; sleep 60'}\n";
    let user = User::new().file("r.yaml", recipe);
    let printed = user.towpath(&["run", "r.yaml", "--idle-timeout", "0.5"]).exits(1);
    printed.reports("timed out: it printed nothing for 0.5 s").prints("first\n");
    let printed = user.towpath(&["resume", "--last"]).exits(1);
    printed.reports("it printed nothing for 0.5 s");
    let object = user.towpath(&["show", user.run().as_str(), "--json"]).exits(0).json();
    let error = object["steps"][0]["error"].as_str().unwrap_or_default().to_owned();
    assert!(error.contains("it printed nothing for 0.5 s"), "{object}");
    let agent = user
        .file("a.yaml", "name: a\nsteps:\n  - {id: ask, prompt: why}\n")
        .file("s.jsonl", "{\"text\": \"late\", \"delay_ms\": 60000}\n");
    let flags = ["run", "a.yaml", "--script", "s.jsonl", "--idle-timeout", "0.5"];
    agent.towpath(&flags).exits(1).reports("it printed nothing for 0.5 s");
}

#[test]
fn a_step_that_keeps_printing_is_not_ended() {
    let loud = "for i in 1 2 3 4 5 6 7 8; do echo $i >&2; sleep 0.5; done";
    let text = format!("name: l\nsteps:\n  - {{id: loud, command: '{loud}'}}\n");
    let user = User::new().file("r.yaml", &text);
    user.towpath(&["run", "r.yaml", "--idle-timeout", "3"]).exits(0);
}

#[test]
fn time_while_stopped_does_not_count_as_silence() {
    let recipe = "name: z\nsteps:\n  - {id: a, command: 'touch began; sleep 1; until [ -e go ]; do sleep 0.1; done'}\n";
    let user = User::new().file("z.yaml", recipe);
    let mut runner = user.start(&["run", "z.yaml", "--idle-timeout", "4"]);
    until("it has begun", || user.path("work/began").exists());
    signal(&runner, Signal::TSTP);
    std::thread::sleep(std::time::Duration::from_millis(4500));
    user.write("go", "");
    signal(&runner, Signal::CONT);
    assert_eq!(runner.wait().expect("the runner ends").code(), Some(0), "no timeout fired");
}

#[test]
fn settings_have_timeouts_for_every_run() {
    let user = User::new().file("r.yaml", SLOW);
    let file = user.path("home/config/settings.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "step_timeout = 0.3\n").unwrap();
    user.towpath(&["run", "r.yaml"]).exits(1).reports("timed out after 0.3 s");
    user.towpath(&["run", "r.yaml", "--step-timeout", "0.4"]).exits(1).reports("after 0.4 s");
    std::fs::write(&file, "idle_timeout = 0.3\n").unwrap();
    user.towpath(&["run", "r.yaml"]).exits(1).reports("it printed nothing for 0.3 s");
    for bad in ["step_timeout = 0", "idle_timeout = -1.5", "idle_timeout = \"1h\""] {
        std::fs::write(&file, bad).unwrap();
        user.towpath(&["run", "r.yaml"]).exits(5).reports("settings.toml:1");
    }
}

#[test]
fn a_timeout_that_is_no_duration_is_refused() {
    let user = User::new().file("r.yaml", SLOW);
    for flag in ["--step-timeout=0", "--idle-timeout=-1", "--step-timeout=1d"] {
        user.towpath(&["run", "r.yaml", flag]).exits(2).reports("expected seconds, more than 0");
    }
    // Far beyond every clock, and no panic.
    user.write("ready", "");
    let far = ["run", "r.yaml", "--step-timeout", "1e18", "--idle-timeout", "1e18"];
    user.towpath(&far).exits(0);
}

//! Nothing outlives its command, and nothing its owner.

use super::*;
use crate::support::{ESCAPISTS, Guard, TOKEN, alive, run_id, until, until_escaped};
use std::process::{Child, Command, Stdio};

fn marked(script: &str, token: &str) -> SandboxCommand {
    let mut command = bash(&script.replace("$TEST_TOKEN", token));
    command.environment.push((TOKEN.into(), token.into()));
    command
}

/// Those that stay when their parent ends, each in its own way; the command itself ends.
const LEFT: &str = "
    (setsid sleep 1001 &)
    (setsid bash -c 'trap \"\" TERM HUP INT; sleep 1002 & while :; do wait; sleep 1003; done' &)
    nohup sleep 1004 >/dev/null 2>&1 &
    setsid bash -c '(setsid bash -c \"(setsid sleep 1005 &) ; sleep 1006\" &)' &
    env -i /bin/bash -c \"sleep 1007; : $TEST_TOKEN\" &
    sleep 1008 | cat &
    sleep 0.2
    exit 6
";

pub fn nothing_outlives_its_command(kind: Kind) {
    let token = run_id();
    let _guard = Guard(token.clone());
    for policy in policies() {
        let mut session = open_with(kind, &policy);
        let end = run(&mut session, &marked(LEFT, &token));
        assert_eq!(end.status, EndStatus::Exited(6));
        assert_eq!(alive(&token), []);
        let mut endless = marked(ESCAPISTS, &token);
        endless.time_limit = Duration::from_secs(1);
        assert_eq!(run(&mut session, &endless).status, EndStatus::TimedOut);
        assert_eq!(alive(&token), []);
    }
}

pub fn a_background_child_is_not_waited_for(kind: Kind) {
    let mut session = open(kind);
    // It keeps both outputs open, for longer than the test may take.
    let end = run(&mut session, &bash("echo before; sleep 1000 & echo after; exit 0"));
    assert_eq!(texts(end), (EndStatus::Exited(0), "before\nafter\n".into(), String::new()));
}

pub fn a_dropped_session_leaves_nothing(kind: Kind) {
    let before = scratch_directories();
    let mut session = open(kind);
    run(&mut session, &bash("echo x >$HOME/file"));
    let server = children();
    assert!(!server.is_empty());
    drop(session);
    assert_eq!(children(), Vec::<String>::new());
    assert_eq!(own(scratch_directories(), &before), Vec::<PathBuf>::new());
}

/// Of this process, as the kernel lists them.
fn children() -> Vec<String> {
    let text = std::fs::read_to_string("/proc/thread-self/children").expect("a list");
    text.split_whitespace().map(str::to_owned).collect()
}

/// Other tests have theirs at the same time: only those with the number of this process count.
fn scratch_directories() -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/tmp").expect("/tmp").flatten();
    let prefix = "towpath-sandbox-";
    entries.map(|e| e.path()).filter(|p| p.to_string_lossy().contains(prefix)).collect()
}

fn own(mut found: Vec<PathBuf>, before: &[PathBuf]) -> Vec<PathBuf> {
    let mark = format!("-{}-", std::process::id());
    found.retain(|path| !before.contains(path) && path.to_string_lossy().contains(&mark));
    found
}

fn owner(kind: Kind, token: &str, mode: &str) -> Child {
    let kind = format!("{kind:?}");
    Command::new(own_program())
        .args([escape_attempts_run_inside::ARGUMENT, "owner", &kind, token, mode])
        .stdin(Stdio::null())
        .spawn()
        .expect("an owner")
}

fn killed_owner(kind: Kind, mode: &str) {
    let token = run_id();
    let _guard = Guard(token.clone());
    let mut owner = owner(kind, &token, mode);
    until_escaped(&token);
    let mark = format!("/tmp/towpath-sandbox-{}-", owner.id());
    let scratch = || {
        scratch_directories().into_iter().filter(|p| p.to_string_lossy().starts_with(&mark)).count()
    };
    assert_eq!(scratch(), usize::from(matches!(kind, Kind::Landlock | Kind::None)));
    owner.kill().expect("an owner to kill");
    owner.wait().expect("its end");
    let is_command = |command: &str| !command.contains(escape_attempts_run_inside::ARGUMENT);
    until("everything in the sandbox has ended", || {
        !alive(&token).iter().any(|(_, command)| is_command(command))
    });
    until("its files are gone", || scratch() == 0);
}

pub fn a_killed_owner_leaves_nothing(kind: Kind) {
    killed_owner(kind, "plain");
}

pub fn a_killed_owner_whose_socket_leaked_leaves_nothing(kind: Kind) {
    killed_owner(kind, "leaky");
}

pub fn the_owners_thread_may_end(kind: Kind) {
    let mut session = std::thread::spawn(move || open(kind)).join().expect("a session");
    assert_eq!(run(&mut session, &bash("exit 4")).status, EndStatus::Exited(4));
}

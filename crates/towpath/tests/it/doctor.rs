//! `towpath doctor`: each broken thing is reported with what fixes it, and looking for it has no
//! effects but questions for a version.

use crate::support::strace::{Traced, is_side_file, traced};
use crate::support::{Printed, Signal, User, kill_hard, lives, signal_to, until};
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

const OK: &str = "name: ok\nsteps:\n  - {id: a, command: echo hello}\n";

/// A user whose agent is installed.
fn user() -> User {
    let user = User::new().file("ok.yaml", OK);
    let text = "#!/bin/sh\necho \"$0 $*\" >> \"$HOME/asked\"\necho '9.8.7 (agent)'\n";
    user.program(".claude/local/claude", text);
    user
}

/// A PATH without any agent.
fn doctor(user: &User, arguments: &[&str]) -> Printed {
    let arguments = [&["doctor"], arguments].concat();
    let mut command = user.command(&arguments);
    command.env("PATH", "/usr/bin:/bin").env_remove("CLAUDE_CLI_PATH");
    Printed::from(command.output().expect("towpath starts"))
}

/// The findings that are not fine: level, name, text, fix.
fn wrong(user: &User) -> Vec<[String; 4]> {
    let reported = doctor(user, &["--json"]).json();
    let each = reported["findings"].as_array().expect("a list").iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    each.filter(|finding| finding["status"] != "ok" && finding["name"] != "git")
        .map(|f| ["status", "name", "text", "fix"].map(|key| text(&f[key])))
        .collect()
}

/// Exactly one thing is wrong: this.
#[track_caller]
fn finds(user: &User, level: &str, name: &str, text: &str, fix: &str) {
    let found = wrong(user);
    assert_eq!(found.len(), 1, "{found:#?}");
    let [was, about, reported, shown_fix] = &found[0];
    assert_eq!((was.as_str(), about.as_str()), (level, name), "{found:?}");
    assert!(reported.contains(text), "no {text:?} in {reported:?}");
    assert!(shown_fix.contains(fix), "no {fix:?} in {shown_fix:?}");
    let printed = doctor(user, &[]).exits(i32::from(level == "broken"));
    assert!(printed.stdout.contains(&format!("fix: {shown_fix}")), "{}", printed.stdout);
}

#[test]
fn a_healthy_installation_is_reported_and_not_changed() {
    let user = user();
    let printed = doctor(&user, &[]).exits(0);
    for line in [
        "  ok         journal  none yet: nothing has run\n",
        "  ok         backend                 claude-code (default)\n",
        "  ok         scripted        built in; answers come from --script FILE\n",
        "                  session id  resume    tiers     system prompt  tokens   cost\n",
        "  claude-code     ours        anywhere  yes       yes            call     yes\n",
        "  codex           its own     anywhere  settings  yes            session  no\n",
        " recipes, including built-in ones\n",
    ] {
        assert!(printed.stdout.contains(line), "no {line:?} in\n{}", printed.stdout);
    }
    let agent = user.path(".claude/local/claude").display().to_string();
    assert!(printed.stdout.contains(&format!("claude-code     {agent}: 9.8.7 (agent)\n")));
    assert_eq!(printed.stderr, "");
    assert!(!user.path("home").exists());
    assert_eq!(
        fs::read_to_string(user.path("asked")).expect("asked"),
        format!("{agent} --version\n")
    );

    let reported = doctor(&user, &["--json"]).exits(0).json();
    assert_eq!(reported["schema"], 1);
    assert_eq!(reported["agents"][0]["version"], "9.8.7 (agent)");
    assert_eq!(reported["agents"][0]["path"], agent);
    let can = |id: &str| {
        let agents = reported["agents"].as_array().expect("agents");
        agents.iter().find(|agent| agent["id"] == id).expect("an agent")["can"].clone()
    };
    assert_eq!(can("gemini")["resume_elsewhere"], false);
    assert_eq!(
        (&can("codex")["session_id"], &can("codex")["cost"]),
        (&"returned".into(), &false.into())
    );
    assert_eq!(can("codex")["modes"][0], "read-only");
    assert_eq!(reported["places"]["state"]["exists"], false);
    assert_eq!(wrong(&user), [[""; 4]; 0].map(|x| x.map(str::to_owned)));
    user.towpath(&["run", "ok.yaml", "-q"]).exits(0);
    let printed = doctor(&user, &[]).exits(0);
    assert!(printed.stdout.contains("journal  undamaged, schema 5, 1 run, "), "{}", printed.stdout);
}

#[test]
fn doctor_only_asks_for_versions_and_writes_nothing() {
    let works = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    if !works.is_ok_and(|output| output.status.success()) {
        let _ = writeln!(std::io::stderr(), "SKIPPED it_only_asks_for_versions: no strace here");
        return;
    }
    let user = user().file("recipes/ok.yaml", OK).file(".towpath/settings.toml", "");
    // This agent notes nothing.
    let agent = user.path(".claude/local/claude");
    fs::write(&agent, "#!/bin/sh\necho 1.0\n").expect("a program");
    for round in 0..2 {
        let Traced { started, changed } = traced(&user, &["doctor"]);
        let programs: Vec<&String> = started.iter().filter(|c| c.starts_with("exec")).collect();
        assert!(programs.len() >= 3, "bash, git and an agent: {started:?}");
        for call in &programs {
            assert!(call.contains(", \"--version\"]"), "{call}");
        }
        let others = started.iter().filter(|c| c.starts_with("socket") || c.starts_with("kill"));
        assert_eq!(others.collect::<Vec<_>>(), [""; 0]);
        let state = user.path("home/state");
        // The programs that are asked open devices of their own accord.
        let device =
            |call: &str| ["null", "tty"].iter().any(|d| call.contains(&format!("\"/dev/{d}\"")));
        let elsewhere = changed.iter().filter(|call| !is_side_file(call, &state) && !device(call));
        assert_eq!(elsewhere.collect::<Vec<_>>(), [""; 0], "round {round}");
        if round == 0 {
            assert!(!user.path("home").exists());
            user.towpath(&["run", "./recipes/ok.yaml", "-q"]).exits(0);
        }
    }
}

#[test]
fn a_damaged_record_is_broken_and_stays_as_it_is() {
    let user = user();
    user.towpath(&["run", "ok.yaml", "-q"]).exits(0);
    let journal = user.path("home/state/journal.db");
    fs::write(&journal, "this is no database at all, and was never one".repeat(99)).expect("write");
    let _ = fs::remove_file(user.path("home/state/journal.db-wal"));
    finds(&user, "broken", "journal", "damaged: file is not a database", "home/state.damaged");
    assert!(fs::read_to_string(&journal).expect("text").starts_with("this is no"));
}

/// A relative entry of PATH leads into whatever project this is.
#[test]
fn no_program_of_the_working_directory_is_asked_for_its_version() {
    let user = user();
    for name in ["git", "claude"] {
        user.write(name, "#!/bin/sh\ntouch ran\n");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(user.path("work").join(name), mode).expect("a program");
    }
    let mut command = user.command(&["doctor"]);
    command.env("PATH", ".::bin:/usr/bin:/bin").env_remove("CLAUDE_CLI_PATH");
    Printed::from(command.output().expect("towpath starts")).shows("journal");
    assert!(!user.path("work/ran").exists());
}

/// An archive can bring a pipe, which never ends.
#[test]
fn a_pipe_instead_of_git_is_not_waited_for() {
    let user = user();
    let made = std::process::Command::new("mkfifo").arg(user.path("work/.git")).status();
    assert!(made.expect("mkfifo starts").success());
    user.towpath(&["runs"]).exits(0);
}

#[test]
fn a_damaged_page_is_found() {
    let user = user();
    for _ in 0..3 {
        user.towpath(&["run", "ok.yaml", "-q"]).exits(0);
    }
    let journal = user.path("home/state/journal.db");
    let conn = rusqlite::Connection::open(&journal).expect("it opens");
    conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE); DELETE FROM plans WHERE run = 2")
        .expect("a row goes");
    drop(conn);
    let found = wrong(&user);
    assert!(found.iter().all(|[level, name, ..]| level == "broken" && name == "journal"));
    for text in ["has no plan", "fact 1 is not as it was recorded"] {
        assert!(found.iter().any(|[_, _, reported, _]| reported.contains(text)), "{found:#?}");
    }
}

#[test]
fn a_newer_record_is_broken_and_an_open_one_needs_attention() {
    let user = user();
    user.towpath(&["run", "ok.yaml", "-q"]).exits(0);
    let state = user.path("home/state");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).expect("a mode");
    finds(&user, "attention", "journal", "is open to other users (mode 755)", "chmod -R go= ");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).expect("a mode");
    let conn = rusqlite::Connection::open(state.join("journal.db")).expect("it opens");
    conn.pragma_update(None, "user_version", 99).expect("a version");
    drop(conn);
    let text = "written by a newer towpath (schema 99, this one knows 5)";
    finds(&user, "broken", "journal", text, "export TOWPATH_HOME=");
}

#[test]
fn a_file_instead_of_a_state_directory_is_broken() {
    let user = user();
    fs::write(user.path("home"), "a file").expect("a file");
    let found = wrong(&user);
    let state = &found[0];
    assert_eq!((state[0].as_str(), state[1].as_str()), ("broken", "state"), "{found:?}");
    assert!(state[2].ends_with("home is not a directory"), "{found:?}");
    doctor(&user, &[]).exits(1);
}

/// Runs a command in a mount namespace of its own; None where the machine allows none.
fn in_namespace(user: &User, mount: &str, path: &str) -> Option<Printed> {
    let script = format!("{mount} && exec \"$@\"");
    let towpath = user.command(&["doctor", "--json"]);
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", &script, "sh"]).arg(towpath.get_program());
    command.args(["doctor", "--json"]).current_dir(user.path("work"));
    for (name, value) in towpath.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let tried = command.env("PATH", path).stdin(Stdio::null()).output().expect("unshare starts");
    if tried.stdout.is_empty() {
        let why = String::from_utf8_lossy(&tried.stderr);
        let _ = writeln!(std::io::stderr(), "SKIPPED a test in a namespace: {why}");
        return None;
    }
    Some(Printed::from(tried))
}

#[track_caller]
fn has_broken(printed: Printed, name: &str, text: &str) {
    let reported = printed.exits(1).json();
    let all = reported["findings"].as_array().expect("a list");
    let found = all.iter().find(|f| f["name"] == name).expect("it is reported");
    assert_eq!(found["status"], "broken", "{found}");
    assert!(found["text"].as_str().expect("a text").contains(text), "{found}");
}

#[test]
fn a_state_directory_that_cannot_be_written_is_broken() {
    let user = user();
    user.towpath(&["run", "ok.yaml", "-q"]).exits(0);
    let state = user.path("home/state").display().to_string();
    let mount = format!("mount --bind {state} {state} && mount -o remount,bind,ro {state}");
    if let Some(printed) = in_namespace(&user, &mount, "/usr/sbin:/sbin:/usr/bin:/bin") {
        has_broken(printed, "state", "cannot be written (read-only");
    }
}

#[test]
fn a_missing_bash_is_broken() {
    let user = user();
    let programs = ["/bin/bash", "/usr/bin/bash"].map(Path::new).map(Path::canonicalize);
    let mounts: Vec<String> = programs
        .into_iter()
        .flatten()
        .map(|bash| format!("mount --bind /dev/null {}", bash.display()))
        .collect();
    let path = "/usr/sbin:/sbin:/usr/bin:/bin";
    if let Some(printed) = in_namespace(&user, &mounts.join(" && "), path) {
        has_broken(printed, "bash", "bash is needed and is neither /bin/bash nor on PATH");
    }
}

#[test]
fn a_bad_settings_file_is_broken_and_the_rest_is_still_reported() {
    let user = user();
    fs::create_dir_all(user.path("home/config")).expect("a folder");
    let file = user.path("home/config/settings.toml");
    fs::write(&file, "max_agents = 3\nbackends = \"x\"\n").expect("a file");
    finds(
        &user,
        "broken",
        "settings",
        "settings.toml:2:1: unknown field `backends`",
        "settings.toml",
    );
    let printed = doctor(&user, &[]).exits(1);
    assert_eq!(printed.stderr, "", "nothing is drawn beside it");
    fs::write(&file, "backend = \"claud-code\"\n").expect("a file");
    finds(&user, "broken", "settings", "no agent backend `claud-code`", "settings.toml");
    fs::write(&file, "max_agents = 0\n").expect("a file");
    finds(&user, "broken", "settings", "max_agents is 0", "settings.toml");
    fs::write(&file, "[programs]\nclaude-code = \"/gone/claude\"\n").expect("a file");
    finds(&user, "broken", "claude-code", "the settings names `/gone/claude`", "npm install");
}

#[test]
fn a_missing_agent_needs_attention_and_one_that_fails_is_reported() {
    let user = user();
    let agent = user.path(".claude/local/claude");
    fs::write(&agent, "#!/bin/sh\necho no node >&2; exit 127\n").expect("a program");
    finds(&user, "attention", "claude-code", "it fails (exit status: 127): no node", "npm install");
    fs::remove_file(&agent).expect("it goes");
    finds(&user, "attention", "claude-code", "was not found in PATH", "npm install -g");
}

#[test]
fn broken_and_untrusted_recipes_are_reported() {
    let user = user().file("recipes/bad.yaml", "name: bad\nsteps:\n  - {id: a, comand: x}\n");
    finds(
        &user,
        "broken",
        "recipe",
        "recipes/bad.yaml: unknown field `comand`",
        "towpath validate recipes/bad.yaml",
    );
    user.write("recipes/bad.yaml", OK);
    finds(&user, "attention", "not trusted", "bad will not run until trusted", "towpath trust");
    user.towpath(&["trust", "--yes"]).exits(0);
    assert!(wrong(&user).is_empty());
    user.write(".towpath/settings.toml", "max_agents = 3\n");
    finds(
        &user,
        "attention",
        "project's",
        "is not trusted and is not used",
        "towpath trust .towpath/settings.toml",
    );
    user.towpath(&["trust", "--yes"]).exits(0);
    let printed = doctor(&user, &[]).exits(0);
    assert!(
        printed.stdout.contains("max_agents              3 (.towpath/settings.toml)"),
        "{}",
        printed.stdout
    );
    let mut command = user.command(&["doctor"]);
    command.env("PATH", "/usr/bin:/bin").env("TOWPATH_RECIPE_DIRS", "gone");
    let printed = Printed::from(command.output().expect("towpath starts")).exits(0);
    assert!(printed.stdout.contains("gone is named in a variable and does not exist"));
    assert!(printed.stdout.contains("fix: mkdir -p gone"), "{}", printed.stdout);
}

#[test]
fn waiting_interrupted_and_asking_runs_are_reported() {
    let user = user()
        .file(
            "once.yaml",
            "name: once\nsteps:\n  - {id: pay, effect: once, command: 'touch began; sleep 60'}\n",
        )
        .file("l.yaml", "name: l\nsteps:\n  - {id: a, prompt: x}\n")
        .file("s.jsonl", "{\"error\":\"limit\",\"until\":1}\n");
    user.towpath(&["run", "l.yaml", "--script", "s.jsonl"]).exits(75);
    finds(&user, "attention", "waiting", "l (run ", "towpath resume --due");
    user.towpath(&["cancel", user.run().as_str()]).exits(0);
    let mut runner = user.start(&["run", "once.yaml"]);
    until("the step runs", || user.path("work/began").exists());
    assert!(wrong(&user).is_empty(), "an active run is left alone");
    kill_hard(&mut runner);
    let id = user.run().to_string();
    until("the warden has ended", || wrong(&user).len() == 1);
    finds(&user, "attention", "interrupted", "was interrupted", &format!("towpath resume {id}"));
    user.towpath(&["resume", &id]).exits(10);
    finds(
        &user,
        "attention",
        "asking",
        "asks whether pay did its work",
        &format!("towpath show {id}"),
    );
}

#[test]
fn what_a_dead_runner_left_is_broken_until_it_is_ended() {
    let user = user().file(
        "slow.yaml",
        "name: slow\nsteps:\n  - {id: a, command: 'sleep 61 & echo $! > pid; wait'}\n",
    );
    let mut runner = user.start(&["run", "slow.yaml"]);
    until("the step runs", || user.read("pid").ends_with('\n'));
    let pid = user.read("pid").trim().to_owned();
    // Before that it is still a copy of bash, with its command line.
    let name = || fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    until("the child is sleep", || name() == "sleep\n");
    let warden = parent(&parent(&pid));
    assert_eq!(parent(&warden), runner.id().to_string());
    // Both are stopped first, so that neither can end the step when the other is gone.
    let [runner_pid, warden_pid] = [runner.id(), warden.parse().expect("a process number")];
    for (pid, sent) in [
        (runner_pid, Signal::STOP),
        (warden_pid, Signal::STOP),
        (warden_pid, Signal::KILL),
        (runner_pid, Signal::KILL),
    ] {
        signal_to(pid, sent);
    }
    runner.wait().expect("the runner is gone");
    until("the warden is gone", || !lives(&warden));
    assert!(lives(&pid));
    let id = user.run().to_string();
    let found = wrong(&user);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!((found[0][0].as_str(), found[0][1].as_str()), ("broken", "processes"));
    assert!(found[0][2].contains(&format!("sleep 61 ({pid})")), "{found:?}");
    assert_eq!(found[0][3], format!("towpath cancel {id}"));
    user.towpath(&["cancel", &id]).exits(0);
    assert!(!lives(&pid));
    assert!(wrong(&user).is_empty());
}

fn parent(pid: &str) -> String {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it lives");
    let rest = stat.rsplit(')').next().expect("a name");
    rest.split_whitespace().nth(1).expect("a parent").to_owned()
}

#[test]
fn doctor_shows_what_keeps_rules_from_being_used() {
    let rules = "[[rule]]\nkind = 'command'\nfrom = 'npm'\nto = 'pnpm'\n";
    let user = User::new().file(".towpath/rules.toml", rules);
    user.towpath(&["doctor"]).shows(".towpath/rules.toml is not trusted: its rules are not used");
    user.towpath(&["trust", "--yes"]).exits(0);
    user.towpath(&["doctor"]).shows("1 correction rule used here");
    user.towpath(&["rules", "pause"]).exits(0);
    user.towpath(&["doctor"]).shows("corrections are paused").shows("towpath rules continue");
    user.write(".towpath/rules.toml", "[[rule]]\nkind = 'x'\n");
    user.towpath(&["doctor"]).exits(1).shows(".towpath/rules.toml:2:8: ");
}

/// The advice is one that works: only the owner of a directory can change its permissions.
#[test]
fn a_directory_of_another_user_is_not_to_be_changed() {
    let user = User::new();
    let doctor = user.command(&["doctor"]);
    let mut command = Command::new("setpriv");
    let mut home = Path::new("/nonexistent").to_owned();
    if rustix::process::geteuid().is_root() {
        // Root without its privileges, before a directory that is not root's.
        command.arg("--bounding-set=-all");
        home = user.path("others");
        fs::create_dir(&home).expect("a directory");
        std::os::unix::fs::chown(&home, Some(54321), None).expect("root gives files away");
    }
    command.arg("--").arg(doctor.get_program()).args(doctor.get_args());
    command.current_dir(user.path("work")).env_remove("TOWPATH_HOME").env("HOME", home);
    let printed = Printed::from(command.stdin(Stdio::null()).output().expect("it starts"));
    let printed = printed.shows("cannot be written").shows("export TOWPATH_HOME=");
    assert!(!printed.stdout.contains("chmod"), "{}", printed.stdout);
}

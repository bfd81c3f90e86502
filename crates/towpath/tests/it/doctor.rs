//! `towpath doctor`: each broken thing is told with what mends it, and looking for it has no
//! effects but questions for a version.

use crate::support::trace::{Traced, is_side_file, traced};
use crate::support::{Person, Said, kill_hard, lives, until};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

const OK: &str = "name: ok\nsteps:\n  - {id: a, command: echo hello}\n";

/// A person whose agent is installed.
fn person() -> Person {
    let person = Person::new().file("ok.yaml", OK);
    let agent = person.path(".claude/local/claude");
    fs::create_dir_all(agent.parent().expect("a folder")).expect("a folder");
    let text = "#!/bin/sh\necho \"$0 $*\" >> \"$HOME/asked\"\necho '9.8.7 (agent)'\n";
    fs::write(&agent, text).expect("a program");
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).expect("a mode");
    person
}

/// A PATH without any agent.
fn doctor(person: &Person, arguments: &[&str]) -> Said {
    let arguments = [&["doctor"], arguments].concat();
    let mut command = person.command(&arguments);
    command.env("PATH", "/usr/bin:/bin").env_remove("CLAUDE_CLI_PATH");
    Said::from(command.output().expect("towpath starts"))
}

/// The findings that are not fine: level, name, text, fix.
fn wrong(person: &Person) -> Vec<[String; 4]> {
    let told = doctor(person, &["--json"]).json();
    let each = told["findings"].as_array().expect("a list").iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    each.filter(|finding| finding["status"] != "ok" && finding["name"] != "git")
        .map(|f| ["status", "name", "text", "fix"].map(|key| text(&f[key])))
        .collect()
}

/// Exactly one thing is wrong: this.
#[track_caller]
fn finds(person: &Person, level: &str, name: &str, text: &str, fix: &str) {
    let found = wrong(person);
    assert_eq!(found.len(), 1, "{found:#?}");
    let [was, about, told, mends] = &found[0];
    assert_eq!((was.as_str(), about.as_str()), (level, name), "{found:?}");
    assert!(told.contains(text), "no {text:?} in {told:?}");
    assert!(mends.contains(fix), "no {fix:?} in {mends:?}");
    let said = doctor(person, &[]).exits(i32::from(level == "broken"));
    assert!(said.stdout.contains(&format!("fix: {mends}")), "{}", said.stdout);
}

#[test]
fn a_healthy_machine_is_told_so_and_stays_as_it_is() {
    let person = person();
    let said = doctor(&person, &[]).exits(0);
    for line in [
        "  ok         journal  not there yet: nothing has run\n",
        "  ok         backend       claude-code (default)\n",
        "  ok         scripted        built in; answers come from --script FILE\n",
        "                  session id  resume    tiers     system prompt  tokens   cost\n",
        "  claude-code     ours        anywhere  yes       yes            call     yes\n",
        "  codex           its own     anywhere  settings  yes            session  no\n",
        " recipes, built-in ones included\n",
    ] {
        assert!(said.stdout.contains(line), "no {line:?} in\n{}", said.stdout);
    }
    let agent = person.path(".claude/local/claude").display().to_string();
    assert!(said.stdout.contains(&format!("claude-code     {agent}: 9.8.7 (agent)\n")));
    assert_eq!(said.stderr, "");
    assert!(!person.path("home").exists());
    assert_eq!(
        fs::read_to_string(person.path("asked")).expect("asked"),
        format!("{agent} --version\n")
    );

    let told = doctor(&person, &["--json"]).exits(0).json();
    assert_eq!(told["schema"], 1);
    assert_eq!(told["agents"][0]["version"], "9.8.7 (agent)");
    assert_eq!(told["agents"][0]["path"], agent);
    let can = |id: &str| {
        let agents = told["agents"].as_array().expect("agents");
        agents.iter().find(|agent| agent["id"] == id).expect("an agent")["can"].clone()
    };
    assert_eq!(can("gemini")["resume_elsewhere"], false);
    assert_eq!(
        (&can("codex")["session_id"], &can("codex")["cost"]),
        (&"returned".into(), &false.into())
    );
    assert_eq!(can("codex")["modes"][0], "read-only");
    assert_eq!(told["places"]["state"]["exists"], false);
    assert_eq!(wrong(&person), [[""; 4]; 0].map(|x| x.map(str::to_owned)));
    person.towpath(&["run", "ok.yaml", "-q"]).exits(0);
    let said = doctor(&person, &[]).exits(0);
    assert!(said.stdout.contains("journal  whole, schema 2, 1 run, "), "{}", said.stdout);
}

#[test]
fn it_only_asks_for_versions_and_writes_nothing() {
    let works = Command::new("strace").args(["-o", "/dev/null", "true"]).output();
    if !works.is_ok_and(|output| output.status.success()) {
        let _ = writeln!(std::io::stderr(), "SKIPPED it_only_asks_for_versions: no strace here");
        return;
    }
    let person = person().file("recipes/ok.yaml", OK).file(".towpath/settings.toml", "");
    // This agent notes nothing.
    let agent = person.path(".claude/local/claude");
    fs::write(&agent, "#!/bin/sh\necho 1.0\n").expect("a program");
    for round in 0..2 {
        let Traced { started, changed } = traced(&person, &["doctor"]);
        let programs: Vec<&String> = started.iter().filter(|c| c.starts_with("exec")).collect();
        assert!(programs.len() >= 3, "bash, git and an agent: {started:?}");
        for call in &programs {
            assert!(call.contains(", \"--version\"]"), "{call}");
        }
        let others = started.iter().filter(|c| c.starts_with("socket") || c.starts_with("kill"));
        assert_eq!(others.collect::<Vec<_>>(), [""; 0]);
        let state = person.path("home/state");
        // The programs that are asked open devices of their own accord.
        let device =
            |call: &str| ["null", "tty"].iter().any(|d| call.contains(&format!("\"/dev/{d}\"")));
        let elsewhere = changed.iter().filter(|call| !is_side_file(call, &state) && !device(call));
        assert_eq!(elsewhere.collect::<Vec<_>>(), [""; 0], "round {round}");
        if round == 0 {
            assert!(!person.path("home").exists());
            person.towpath(&["run", "./recipes/ok.yaml", "-q"]).exits(0);
        }
    }
}

#[test]
fn a_damaged_record_is_broken_and_stays_as_it_is() {
    let person = person();
    person.towpath(&["run", "ok.yaml", "-q"]).exits(0);
    let journal = person.path("home/state/journal.db");
    fs::write(&journal, "this is no database at all, and was never one".repeat(99)).expect("write");
    let _ = fs::remove_file(person.path("home/state/journal.db-wal"));
    finds(&person, "broken", "journal", "damaged: file is not a database", "home/state.damaged");
    assert!(fs::read_to_string(&journal).expect("text").starts_with("this is no"));
}

#[test]
fn a_damaged_page_is_found() {
    let person = person();
    for _ in 0..3 {
        person.towpath(&["run", "ok.yaml", "-q"]).exits(0);
    }
    let journal = person.path("home/state/journal.db");
    let conn = rusqlite::Connection::open(&journal).expect("it opens");
    conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE); DELETE FROM plans WHERE run = 2")
        .expect("a row goes");
    drop(conn);
    finds(&person, "broken", "journal", "has no plan", "mv ");
}

#[test]
fn a_newer_record_is_broken_and_an_open_one_needs_attention() {
    let person = person();
    person.towpath(&["run", "ok.yaml", "-q"]).exits(0);
    let state = person.path("home/state");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).expect("a mode");
    finds(&person, "attention", "journal", "is open to other users (mode 755)", "chmod -R go= ");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).expect("a mode");
    let conn = rusqlite::Connection::open(state.join("journal.db")).expect("it opens");
    conn.pragma_update(None, "user_version", 99).expect("a version");
    drop(conn);
    let text = "written by a newer towpath (schema 99, this one knows 2)";
    finds(&person, "broken", "journal", text, "export TOWPATH_HOME=");
}

#[test]
fn a_state_directory_that_is_none_is_broken() {
    let person = person();
    fs::write(person.path("home"), "a file").expect("a file");
    let found = wrong(&person);
    let state = &found[0];
    assert_eq!((state[0].as_str(), state[1].as_str()), ("broken", "state"), "{found:?}");
    assert!(state[2].ends_with("home is not a directory"), "{found:?}");
    doctor(&person, &[]).exits(1);
}

/// Runs a command in a mount namespace of its own; None where the machine allows none.
fn in_namespace(person: &Person, mount: &str, path: &str) -> Option<Said> {
    let script = format!("{mount} && exec \"$@\"");
    let towpath = person.command(&["doctor", "--json"]);
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh", "-c", &script, "sh"]).arg(towpath.get_program());
    command.args(["doctor", "--json"]).current_dir(person.path("work"));
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
    Some(Said::from(tried))
}

#[track_caller]
fn has_broken(said: Said, name: &str, text: &str) {
    let told = said.exits(1).json();
    let all = told["findings"].as_array().expect("a list");
    let found = all.iter().find(|f| f["name"] == name).expect("it is told");
    assert_eq!(found["status"], "broken", "{found}");
    assert!(found["text"].as_str().expect("a text").contains(text), "{found}");
}

#[test]
fn a_state_directory_that_cannot_be_written_is_broken() {
    let person = person();
    person.towpath(&["run", "ok.yaml", "-q"]).exits(0);
    let state = person.path("home/state").display().to_string();
    let mount = format!("mount --bind {state} {state} && mount -o remount,bind,ro {state}");
    if let Some(said) = in_namespace(&person, &mount, "/usr/sbin:/sbin:/usr/bin:/bin") {
        has_broken(said, "state", "cannot be written (read-only");
    }
}

#[test]
fn without_bash_it_is_broken() {
    let person = person();
    let places = ["/bin/bash", "/usr/bin/bash"].map(Path::new).map(|p| p.canonicalize());
    let mounts: Vec<String> = places
        .into_iter()
        .flatten()
        .map(|place| format!("mount --bind /dev/null {}", place.display()))
        .collect();
    let path = "/usr/sbin:/sbin:/usr/bin:/bin";
    if let Some(said) = in_namespace(&person, &mounts.join(" && "), path) {
        has_broken(said, "bash", "bash is needed and is neither /bin/bash nor on PATH");
    }
}

#[test]
fn a_bad_settings_file_is_broken_and_the_rest_is_still_told() {
    let person = person();
    fs::create_dir_all(person.path("home/config")).expect("a folder");
    let file = person.path("home/config/settings.toml");
    fs::write(&file, "max_agents = 3\nbackends = \"x\"\n").expect("a file");
    finds(
        &person,
        "broken",
        "settings",
        "settings.toml:2:1: unknown field `backends`",
        "settings.toml",
    );
    let said = doctor(&person, &[]).exits(1);
    assert_eq!(said.stderr, "", "nothing is drawn beside it");
    fs::write(&file, "backend = \"claud-code\"\n").expect("a file");
    finds(&person, "broken", "backend", "there is no such backend", "towpath settings");
    fs::write(&file, "max_agents = 0\n").expect("a file");
    finds(&person, "broken", "settings", "max_agents is 0", "settings.toml");
    fs::write(&file, "[programs]\nclaude-code = \"/gone/claude\"\n").expect("a file");
    finds(&person, "broken", "claude-code", "the settings names `/gone/claude`", "npm install");
}

#[test]
fn a_missing_agent_needs_attention_and_one_that_fails_is_told() {
    let person = person();
    let agent = person.path(".claude/local/claude");
    fs::write(&agent, "#!/bin/sh\necho no node >&2; exit 127\n").expect("a program");
    finds(
        &person,
        "attention",
        "claude-code",
        "it fails (exit status: 127): no node",
        "npm install",
    );
    fs::remove_file(&agent).expect("it goes");
    finds(&person, "attention", "claude-code", "was not found in PATH", "npm install -g");
}

#[test]
fn broken_and_untrusted_recipes_are_told() {
    let person = person().file("recipes/bad.yaml", "name: bad\nsteps:\n  - {id: a, comand: x}\n");
    finds(
        &person,
        "broken",
        "recipe",
        "recipes/bad.yaml: unknown field `comand`",
        "towpath validate recipes/bad.yaml",
    );
    person.write("recipes/bad.yaml", OK);
    finds(&person, "attention", "not trusted", "bad would be found here", "towpath trust");
    person.towpath(&["trust", "--yes"]).exits(0);
    assert!(wrong(&person).is_empty());
    person.write(".towpath/settings.toml", "max_agents = 3\n");
    finds(
        &person,
        "attention",
        "project's",
        "is not trusted and is not used",
        "towpath trust .towpath/settings.toml",
    );
    person.towpath(&["trust", "--yes"]).exits(0);
    let said = doctor(&person, &[]).exits(0);
    assert!(said.stdout.contains("max_agents    3 (.towpath/settings.toml)"), "{}", said.stdout);
    let mut command = person.command(&["doctor"]);
    command.env("PATH", "/usr/bin:/bin").env("TOWPATH_RECIPE_DIRS", "gone");
    let said = Said::from(command.output().expect("towpath starts")).exits(0);
    assert!(said.stdout.contains("gone is named in a variable and is not there"));
    assert!(said.stdout.contains("fix: mkdir -p gone"), "{}", said.stdout);
}

#[test]
fn runs_that_want_something_are_told() {
    let person = person()
        .file(
            "once.yaml",
            "name: once\nsteps:\n  - {id: pay, effect: once, command: 'touch began; sleep 60'}\n",
        )
        .file("l.yaml", "name: l\nsteps:\n  - {id: a, prompt: x}\n")
        .file("s.jsonl", "{\"error\":\"limit\",\"until\":1}\n");
    person.towpath(&["run", "l.yaml", "--script", "s.jsonl"]).exits(75);
    finds(&person, "attention", "waiting", "l (run ", "towpath resume --due");
    person.towpath(&["cancel", person.run().as_str()]).exits(0);
    let mut runner = person.start(&["run", "once.yaml"]);
    until("the step runs", || person.path("work/began").exists());
    assert!(wrong(&person).is_empty(), "what goes on is left alone");
    kill_hard(&mut runner);
    let id = person.run().to_string();
    until("the warden has ended", || wrong(&person).len() == 1);
    finds(&person, "attention", "cut off", "was cut off", &format!("towpath resume {id}"));
    person.towpath(&["resume", &id]).exits(10);
    finds(&person, "attention", "asking", "asks what became of pay", &format!("towpath show {id}"));
}

#[test]
fn what_a_dead_runner_left_is_broken_until_it_is_ended() {
    let person = person().file(
        "slow.yaml",
        "name: slow\nsteps:\n  - {id: a, command: 'sleep 61 & echo $! > pid; wait'}\n",
    );
    let mut runner = person.start(&["run", "slow.yaml"]);
    until("the step runs", || person.read("pid").ends_with('\n'));
    let pid = person.read("pid").trim().to_owned();
    let warden = parent(&parent(&pid));
    assert_eq!(parent(&warden), runner.id().to_string());
    // Both are stopped first, so that neither can end the step when the other is gone.
    let runner_pid = runner.id().to_string();
    for (signal, pid) in
        [("-STOP", &runner_pid), ("-STOP", &warden), ("-KILL", &warden), ("-KILL", &runner_pid)]
    {
        assert!(Command::new("kill").args([signal, pid]).status().expect("kill").success());
    }
    runner.wait().expect("the runner is gone");
    until("the warden is gone", || !lives(&warden));
    assert!(lives(&pid));
    let id = person.run().to_string();
    let found = wrong(&person);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!((found[0][0].as_str(), found[0][1].as_str()), ("broken", "processes"));
    assert!(found[0][2].contains(&format!("sleep 61 ({pid})")), "{found:?}");
    assert_eq!(found[0][3], format!("towpath cancel {id}"));
    person.towpath(&["cancel", &id]).exits(0);
    assert!(!lives(&pid));
    assert!(wrong(&person).is_empty());
}

fn parent(pid: &str) -> String {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it lives");
    let rest = stat.rsplit(')').next().expect("a name");
    rest.split_whitespace().nth(1).expect("a parent").to_owned()
}

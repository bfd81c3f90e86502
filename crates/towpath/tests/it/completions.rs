//! Completing as a user does it: a real shell in a real terminal, the line typed, Tab pressed.
//! What is asked of the program by a Tab starts no process and offers nothing that a shell would
//! take for code.

use crate::support::User;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SHIP: &str = "name: ship\nsteps:\n  - id: compile\n    command: echo hi\n";

/// A shell that has read our script, ready to be typed into.
struct Typing<'p> {
    user: &'p User,
}

impl<'p> Typing<'p> {
    fn into(user: &'p User, shell: &str, start: &str) -> Typing<'p> {
        let typing = Typing { user };
        let work = user.path("work");
        let work = work.to_str().expect("a path");
        typing.tmux(&["new-session", "-d", "-x", "80", "-y", "30", "-c", work, shell]);
        typing.types(start);
        typing.press("Enter");
        typing.types("echo rea''dy");
        typing.press("Enter");
        typing.sees("\nready");
        typing.press("C-l");
        typing
    }

    fn types(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    fn press(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    /// Types a beginning, presses Tab, and waits for what the line should become.
    #[track_caller]
    fn completes(&self, begun: &str, whole: &str) {
        self.types(begun);
        self.press("Tab");
        self.sees(whole);
        self.press("C-u");
        self.press("C-l");
    }

    #[track_caller]
    fn sees(&self, text: &str) {
        let began = Instant::now();
        loop {
            let screen = self.tmux(&["capture-pane", "-p"]);
            if screen.contains(text) {
                return;
            }
            assert!(began.elapsed() < Duration::from_secs(20), "no {text:?} in:\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let bin = Path::new(env!("CARGO_BIN_EXE_towpath")).parent().expect("a folder");
        let path = std::env::var("PATH").expect("a PATH");
        let output = Command::new("tmux")
            .args(["-u", "-f", "/dev/null"])
            .args(arguments)
            .env_clear()
            .env("TMUX_TMPDIR", self.user.path(""))
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("HOME", self.user.path(""))
            .env("TOWPATH_HOME", self.user.path("home"))
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null())
            .output()
            .expect("tmux starts (./test installs it)");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}

impl Drop for Typing<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

fn user() -> User {
    let user = User::new().file("recipes/ship.yaml", SHIP).file("build.yaml", SHIP);
    user.towpath(&["run", "build.yaml"]).exits(0);
    user
}

fn everything_completes(shell: &str, start: &str) {
    let user = user();
    let run = user.run();
    let typing = Typing::into(&user, shell, start);
    typing.completes("towpath vali", "towpath validate");
    typing.completes("towpath run sh", "towpath run ship");
    typing.completes("towpath explain demo-", "towpath explain demo-checks");
    typing.completes("towpath validate bu", "towpath validate build.yaml");
    typing.completes("towpath show ", &format!("towpath show {run}"));
    typing.completes(&format!("towpath logs {run} comp"), &format!("towpath logs {run} compile"));
    typing.completes("towpath run --with-c", "towpath run --with-context");
}

#[test]
fn bash_completes_what_is_typed() {
    everything_completes("bash --norc --noprofile", "source <(towpath completions bash)");
}

#[test]
fn zsh_completes_what_is_typed_where_there_is_one() {
    if there_is("zsh") {
        let start = "autoload -U compinit && compinit -u && source <(towpath completions zsh)";
        everything_completes("zsh -f", start);
    }
}

#[test]
fn fish_completes_what_is_typed_where_there_is_one() {
    if there_is("fish") {
        everything_completes("fish --no-config", "towpath completions fish | source");
    }
}

fn there_is(shell: &str) -> bool {
    let found = Command::new(shell).arg("--version").stdout(Stdio::null()).status();
    found.is_ok_and(|status| status.success())
}

/// What the program answers to bash for a line whose last word is being typed.
fn asked(user: &User, words: &[&str]) -> Command {
    let mut arguments = vec!["--", "towpath"];
    arguments.extend(words);
    let mut command = user.command(&arguments);
    command
        .env("TOWPATH_COMPLETE", "bash")
        .env("_CLAP_IFS", "\n")
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    command
}

fn answers(user: &User, words: &[&str]) -> Vec<String> {
    let printed =
        crate::support::Printed::from(asked(user, words).output().expect("towpath starts"))
            .exits(0);
    assert_eq!(printed.stderr, "", "nothing is printed into the line");
    printed.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn only_what_fits_is_offered() {
    let user = user().file("team/deploy.yaml", SHIP).file("build.test.yaml", "cases: []\n");
    let all = answers(&user, &["run", ""]);
    let bundled = |name: &str| towpath_recipe::builtin(name).is_some();
    let here: Vec<&str> = all.iter().map(String::as_str).filter(|name| !bundled(name)).collect();
    assert_eq!(here, ["ship", "build.yaml", "recipes/", "team/"]);
    assert!(all.iter().any(|name| name == "demo") && all.iter().any(|name| name == "guide"));
    assert!(!all.iter().any(|name| name == "cascade-level"), "parts are not offered");
    let also = answers(&user, &["run", "-R", "team", "de"]);
    assert_eq!(also, ["deploy", "demo", "demo-checks", "default-workflow", "debate-workflow"]);
    let run = user.run().to_string();
    assert_eq!(answers(&user, &["show", ""]), [run.as_str()]);
    assert_eq!(answers(&user, &["logs", &run, ""]), ["compile"]);
    assert_eq!(answers(&user, &["logs", "nope", "x"]), [""; 0]);
    let to_cancel = answers(&user, &["cancel", ""]);
    assert!(!to_cancel.contains(&run), "it is done: {to_cancel:?}");
    assert!(answers(&user, &["run", "--"]).contains(&"--with-context".to_owned()));
}

#[test]
fn names_for_set_come_from_the_recipe_and_backends_from_the_table() {
    let recipe = "name: ship\ncontext: {mode: debug, more: 1}\nrequired_context: [version]\n\
                  steps:\n  - {id: a, command: \"echo {{version}}\"}\n";
    let user = User::new().file("recipes/ship.yaml", recipe).file("x.yaml", recipe);
    assert_eq!(answers(&user, &["run", "ship", "--set", ""]), ["mode=", "more=", "version="]);
    assert_eq!(answers(&user, &["run", "x.yaml", "--set", "mo"]), ["mode=", "more="]);
    let again = ["run", "-q", "ship", "--set", "mode=x", "--set", "v"];
    assert_eq!(answers(&user, &again), ["version="]);
    assert_eq!(answers(&user, &["run", "nope", "--set", ""]), [""; 0]);
    // As bash hands `mode=` over: only the user knows the value.
    assert_eq!(answers(&user, &["run", "ship", "--set", "mode", "=", ""]), [""; 0]);
    let backends = answers(&user, &["run", "ship", "--backend", ""]);
    let known: Vec<&str> = towpath_agent::BACKENDS.iter().map(|row| row.id).collect();
    assert_eq!(backends, known);
}

#[test]
fn rules_are_offered_by_number_and_starter_rules_by_name() {
    let user = user();
    for arguments in [&["add", "command", "grep", "rg"][..], &["add", "flag", "scp", "-r", "-R"]] {
        let all: Vec<&str> = ["rules"].iter().chain(arguments).copied().collect();
        user.towpath(&all).exits(0);
    }
    user.towpath(&["rules", "disable", "2"]).exits(0);
    assert_eq!(answers(&user, &["rules", "remove", ""]), ["1", "2"]);
    assert_eq!(answers(&user, &["rules", "disable", ""]), ["1"]);
    assert_eq!(answers(&user, &["rules", "enable", ""]), ["2"]);
    assert_eq!(answers(&user, &["rules", "starter", "docker-c"]), ["docker-compose"]);
}

#[test]
fn a_name_that_bash_would_take_for_code_is_not_offered() {
    let user = User::new().file("x$(touch gotcha).yaml", SHIP).file("x;y/z.yaml", SHIP);
    let user = user.file("x.yaml", SHIP);
    assert_eq!(answers(&user, &["run", "x"]), ["x.yaml"]);
    assert_eq!(answers(&user, &["run", "-C", "x"]), [""; 0]);
}

#[test]
fn broken_recipes_print_nothing_into_a_completion() {
    let user = user();
    fs::create_dir_all(user.path("home/config")).expect("a folder");
    fs::write(user.path("home/config/settings.toml"), "nonsense = \n").expect("a file");
    assert_eq!(answers(&user, &["run", "build"]), ["build.yaml"]);
    fs::write(user.path("home/state/journal.db"), "no database").expect("a file");
    answers(&user, &["show", "x"]);
}

#[test]
fn a_tab_starts_no_process_and_leaves_nothing() {
    let user = user();
    let before = listing(&user.path("home"));
    let trace = user.path("trace");
    let asked = asked(&user, &["logs", user.run().as_str(), ""]);
    let mut traced = Command::new("strace");
    traced.args(["-f", "-e", "trace=execve,fork,vfork,clone,clone3", "-o"]).arg(&trace);
    traced.arg(asked.get_program()).args(asked.get_args());
    traced.current_dir(user.path("work"));
    for (name, value) in asked.get_envs() {
        traced.env(name, value.unwrap_or_default());
    }
    let output = traced.output().expect("strace starts (./test installs it)");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "compile");
    let calls = fs::read_to_string(&trace).expect("a trace");
    let calls: Vec<&str> = calls.lines().filter(|line| line.contains('(')).collect();
    assert_eq!(calls.len(), 1, "only itself: {calls:?}");
    assert!(calls[0].contains("execve"), "{calls:?}");
    assert_eq!(listing(&user.path("home")), before);
}

fn listing(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        names.push(path.display().to_string());
        if path.is_dir() {
            names.extend(listing(&path));
        }
    }
    names.sort();
    names
}

//! What a terminal shows, and a pipe: messages that wrap, names that are not cut, lines of steps that run at the
//! same time, the cursor after a kill.

use crate::support::{User, until};
use std::fs;
use std::process::{Command, Stdio};

/// The words of a text, in their order.
fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[track_caller]
fn fits(screen: &str, columns: usize) {
    for line in screen.lines() {
        let is_long_word = !line.trim().contains(' ');
        // A command is copied: it stays whole.
        let is_command = line.trim_start().starts_with("towpath ");
        let width = line.chars().count();
        assert!(width <= columns || is_long_word || is_command, "{width}: {line:?}\n{screen}");
    }
}

#[test]
fn messages_wrap_at_the_width_and_never_inside_a_word() {
    let recipe = "name: ci\nsteps:\n  - {id: a, command: echo one}\n";
    let user = User::new().file(".towpath/recipes/ci.yaml", recipe);
    let mut whole = user.command(&["run", "ci"]);
    let whole = crate::support::Printed::from(whole.output().expect("it starts")).exits(5).stderr;
    assert_eq!(whole.lines().count(), 1, "a pipe gets it in one line: {whole}");
    for columns in [40, 80] {
        // stdin is no terminal there, so nothing is asked.
        let line = format!(
            "stty rows 50 cols {columns}; '{}' run ci < /dev/null",
            user.command(&[]).get_program().display()
        );
        let screen = in_terminal(&user, &line);
        fits(&screen, columns);
        assert_eq!(words(&screen), words(&whole), "{screen}");
        assert!(screen.lines().count() > 2, "{screen}");
    }
}

#[test]
fn the_last_lines_of_a_run_and_show_wrap_between_words() {
    let recipe = "name: build\nsteps:\n  - {id: a-step-with-a-long-name, command: \"echo a long line that is no \
                  word for a terminal of forty columns >&2; false\"}\n";
    let user = User::new().file("build.yaml", recipe);
    let run = user.on_terminal(&["run", "build.yaml"], 40, "");
    let (_, last) = run.split_once("✗ build failed").expect("it fails");
    fits(last, 40);
    let change =
        format!("\n  after changing the recipe:\n  towpath resume {} --edited", user.run());
    assert!(last.contains(&change), "{last}");
    let shown = user.on_terminal(&["show"], 40, "");
    fits(&shown, 40);
    assert!(shown.contains(&change), "{shown}");
}

#[test]
fn problems_of_a_recipe_wrap_too() {
    let user = User::new().file(
        "long.yaml",
        "name: long\nsteps:\n  - {id: a, command: \"echo {{undefined_value}}\"}\n",
    );
    for columns in [40, 80] {
        let screen = user.on_terminal(&["run", "long.yaml", "--set", "one=1"], columns, "");
        let ours: Vec<&str> = screen.lines().filter(|line| !line.contains('│')).collect();
        fits(&ours.join("\n"), columns);
    }
}

/// What a command line shows on a terminal.
fn in_terminal(user: &User, line: &str) -> String {
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", line, "/dev/null"]);
    command.current_dir(user.path("work")).env_remove("CI").env("SHELL", "/bin/bash");
    command.env("TOWPATH_HOME", user.path("home")).env("HOME", user.path(""));
    command.env("TERM", "xterm").env("NO_COLOR", "1").stdin(Stdio::null());
    let output = command.output().expect("script starts (./test installs it)");
    String::from_utf8_lossy(&output.stdout).replace('\r', "")
}

#[test]
fn the_first_line_of_show_breaks_between_words() {
    let recipe = "name: a-recipe-with-a-long-name\nsteps:\n  - {id: a, command: echo}\n";
    let user = User::new().file("r.yaml", recipe);
    user.towpath(&["run", "r.yaml"]).exits(0);
    let wide = user.on_terminal(&["show"], 200, "");
    for columns in [30, 34, 40, 50] {
        let screen = user.on_terminal(&["show"], columns, "");
        fits(&screen, columns.max("a-recipe-with-a-long-name".len()));
        assert_eq!(words(&screen)[..8], words(&wide)[..8], "{columns}:\n{screen}");
    }
}

#[test]
fn list_never_cuts_names_and_gives_the_description_its_room() {
    let name = "a-recipe-with-quite-a-long-name-that-people-type";
    let description = "Builds all of it, tests what was built and publishes what has passed";
    let recipe =
        format!("name: {name}\ndescription: {description}\nsteps:\n  - {{id: a, command: echo}}\n");
    let user = User::new().file(&format!("recipes/{name}.yaml"), &recipe);
    for columns in [30, 40, 60, 80, 100, 140, 200] {
        let screen = user.on_terminal(&["list"], columns, "");
        for builtin in towpath_recipe::builtin_names().chain([name]) {
            let whole = screen.lines().any(|line| line.split(' ').next() == Some(builtin));
            assert!(whole, "{columns}: {builtin} is cut:\n{screen}");
        }
        fits(&screen, columns.max(name.len()));
        let shown = words(&screen).join(" ");
        assert!(shown.contains("Builds all of it, tests"), "{columns}:\n{screen}");
    }
    let narrow = user.on_terminal(&["list"], 40, "");
    let shown = words(&narrow).join(" ");
    assert!(shown.contains(description), "all of it is there, in lines:\n{narrow}");
    let pipe = user.towpath(&["list"]).exits(0).stdout;
    assert!(pipe.starts_with("NAME ") && pipe.contains("VERSION") && pipe.contains(description));
}

const TOGETHER: &str = "
name: together
steps:
  - {id: first, command: echo alone}
  - {id: a, parallel_group: g, command: 'echo one; until [ -e b ]; do sleep 0.01; done; touch a; echo two; echo bad >&2'}
  - {id: b, parallel_group: g, command: 'touch b; until [ -e a ]; do sleep 0.01; done; printf three'}
  - {id: last, command: echo alone again}
";

#[test]
fn in_a_pipe_lines_of_parallel_steps_carry_their_names() {
    let user = User::new().file("together.yaml", TOGETHER);
    let printed = user.towpath(&["run", "together.yaml"]).exits(0);
    let mut lines: Vec<&str> = printed.stdout.lines().collect();
    assert_eq!((lines.remove(0), lines.pop()), ("alone", Some("alone again")), "{printed:?}");
    lines.sort_unstable();
    assert_eq!(lines, ["a: one", "a: two", "b: three"]);
    assert!(printed.stderr.contains("\na: bad\n"), "{}", printed.stderr);
    fs::remove_file(user.path("work/a")).expect("a file");
    fs::remove_file(user.path("work/b")).expect("a file");
    let quiet = user.towpath(&["run", "together.yaml", "--quiet"]).exits(0).stdout;
    assert!(
        quiet.contains("one\ntwo\n") && !quiet.contains("a: "),
        "only what they print: {quiet}"
    );
}

#[test]
fn after_a_kill_of_the_runner_the_cursor_is_there_again() {
    let user = User::new().file(
        "slow.yaml",
        "name: slow\nsteps:\n  - {id: a, command: \"echo $PPID > warden; sleep 600\"}\n",
    );
    let program = user.command(&[]).get_program().display().to_string();
    // The shell waits for the runner, is killed by nobody, and leaves when the warden is gone.
    let line = format!(
        "'{program}' run slow.yaml & runner=$!; until [ -s warden ]; do sleep 0.05; done; sleep 0.5; \
         kill -9 $runner; while [ -d /proc/$(cat warden) ]; do sleep 0.05; done; echo over"
    );
    let screen = in_terminal(&user, &format!("bash -c {}", towpath_shell::bash::quote(&line)));
    let hidden = screen.rfind("\u{1b}[?25l").expect("the live view hides the cursor");
    let shown = screen.rfind("\u{1b}[?25h").unwrap_or_else(|| panic!("no cursor in {screen:?}"));
    assert!(shown > hidden && screen.contains("over"), "{screen:?}");
    until("the run is over", || user.towpath(&["runs"]).stdout.contains("interrupted"));
}

#[test]
fn after_a_kill_nothing_is_written_to_what_is_no_terminal() {
    let user = User::new().file(
        "slow.yaml",
        "name: slow\nsteps:\n  - {id: a, command: \"echo $PPID > warden; sleep 600\"}\n",
    );
    let output = fs::File::create(user.path("output")).expect("a file");
    let mut command = user.command(&["run", "slow.yaml"]);
    command.stdout(output.try_clone().expect("a file")).stderr(output);
    let mut runner = command.spawn().expect("it starts");
    until("the step runs", || !user.read("warden").trim().is_empty());
    crate::support::kill_hard(&mut runner);
    let warden = user.read("warden");
    until("the warden is gone", || !crate::support::lives(&warden));
    assert!(!fs::read_to_string(user.path("output")).expect("text").contains('\u{1b}'));
}

//! What people type: `help`, a file instead of a command, `NAME=VALUE` without its flag, `run` without a
//! name, `--color`, the version as JSON.

use crate::support::{Printed, User};
use std::fs;

const HELLO: &str = "name: hello\ndescription: Greets\ncontext: {name: you}\nsteps:\n  \
                     - {id: greet, command: \"echo Hello {{name}}\"}\n";

fn user() -> User {
    let user = User::new().file("hello.yaml", HELLO).file(".towpath/recipes/hello.yaml", HELLO);
    user.towpath(&["trust", "--yes", ".towpath/recipes/hello.yaml"]).exits(0);
    user
}

#[test]
fn help_prints_what_the_flag_prints() {
    let user = User::new();
    for command in [&[][..], &["run"], &["tool", "install"], &["help"]] {
        let words: Vec<&str> = ["help"].iter().chain(command).copied().collect();
        let flag: Vec<&str> = command.iter().chain(&["--help"]).copied().collect();
        let expected = user.towpath(&flag).exits(0).stdout;
        assert!(expected.contains("Usage: towpath"), "{expected}");
        assert_eq!(user.towpath(&words).exits(0).stdout, expected, "{command:?}");
    }
    user.towpath(&["help", "rum"])
        .exits(2)
        .reports("error: `towpath` has no command `rum`: did you mean `run`?");
    user.towpath(&["help", "tool", "xyzzy"]).exits(2).reports("`towpath tool` has no command");
}

#[test]
fn a_file_as_the_command_is_answered_with_the_line_that_runs_it() {
    let user = user();
    user.towpath(&["hello.yaml"])
        .exits(2)
        .reports("error: `hello.yaml` is no command; to run it: towpath run hello.yaml\n");
    user.towpath(&["./my recipe.yaml", "--quiet"])
        .exits(2)
        .reports("to run it: towpath run './my recipe.yaml' --quiet\n");
    user.towpath(&["hello.yaml", "name=Ann"])
        .exits(2)
        .reports("to run it: towpath run hello.yaml --set name=Ann\n");
    user.towpath(&["rum"]).exits(2).reports("unrecognized subcommand 'rum'");
}

#[test]
fn a_recipe_or_another_programs_word_as_the_command_is_answered_with_ours() {
    let user = user();
    for (typed, answer) in [
        ("hello", "`hello` is a recipe and no command; to run it: towpath run hello\n"),
        ("demo", "`demo` is a recipe and no command; to run it: towpath run demo\n"),
        ("check", "`check` is no command; did you mean `towpath validate`?\n"),
        ("status", "`status` is no command; did you mean `towpath runs`?\n"),
        ("retry", "`retry` is no command; did you mean `towpath resume`?\n"),
        ("create", "did you mean `towpath new`?\n"),
        ("config", "did you mean `towpath settings`?\n"),
        ("docs", "did you mean `towpath help`?\n"),
        ("edit", "`edit` is no command; a recipe is a file: towpath list shows where each is\n"),
        ("rm", "to delete old runs: towpath runs prune\n"),
        ("delete", "to delete old runs: towpath runs prune\n"),
        ("clean", "to delete old runs: towpath runs prune\n"),
        ("watch", "to watch runs: towpath ui"),
        ("fmt", "recipes have no formatter"),
        ("update", "install the new version over this one\n"),
        ("init", "for a new recipe: towpath new NAME\n"),
    ] {
        user.towpath(&[typed]).exits(2).reports(answer);
    }
}

#[test]
fn other_programs_flags_for_values_are_answered_with_ours() {
    let user = user();
    for typed in [
        &["--var", "n=4"][..],
        &["-s", "n=4"],
        &["--param", "n", "4"],
        &["--set", "n", "4"],
        &["--n=4"],
        &["--n", "4"],
        &["--", "n=4"],
    ] {
        let words = [&["run", "hello.yaml"], typed].concat();
        let line = "variables are set with --set NAME=VALUE: towpath run hello.yaml --set n=4\n";
        user.towpath(&words).exits(2).reports(line);
    }
    let known = user.towpath(&["run", "hello.yaml", "--dry-rum=1"]).exits(2);
    known.reports("a similar argument exists: '--dry-run'");
}

#[test]
fn a_value_without_its_flag_is_answered_with_the_line_that_sets_it() {
    let user = user();
    let line = "error: variables are set with --set NAME=VALUE: towpath run hello.yaml --set name=Ann \
                --set 'who=you two' --set x=1 --quiet\n";
    let typed = ["run", "hello.yaml", "name=Ann", "who=you two", "--set", "x=1", "--quiet"];
    user.towpath(&typed).exits(2).reports(line);
    user.towpath(&["run", "hello.yaml", "Ann"]).exits(2).reports("unexpected argument 'Ann'");
    let unknown = user.towpath(&["doctor", "name=Ann"]).exits(2).reports("unexpected argument");
    assert!(!unknown.stderr.contains("--set"), "{}", unknown.stderr);
}

#[test]
fn without_a_name_a_user_on_a_terminal_chooses() {
    let user = user();
    let screen = user.on_terminal(&["run", "--quiet"], 80, "1\n");
    assert!(screen.contains("   1  hello\n      Greets\n"), "{screen}");
    assert!(screen.contains("built-in ones, by their names: towpath list"), "{screen}");
    assert!(screen.contains("Which one (Enter for none)? "), "{screen}");
    assert!(screen.ends_with("Hello you\n"), "{screen}");
    assert!(user.on_terminal(&["run", "--quiet"], 80, "hello\n").ends_with("Hello you\n"));
    assert_eq!(user.runs(), 2);
    let none = user.on_terminal(&["run"], 80, "\n");
    let wrong = user.on_terminal(&["run"], 80, "999\n");
    assert!(none.contains("Which one") && wrong.contains("`999` is no number from 1"));
    assert_eq!(user.runs(), 2, "nothing was run");
    let long = User::new().file("recipes/a.yaml", &HELLO.replace("Greets", &"word ".repeat(30)));
    for line in long.on_terminal(&["run"], 40, "\n").lines() {
        assert!(line.chars().count() <= 40 || line.contains("Which one"), "{line:?}");
    }
}

#[test]
fn without_a_name_and_a_terminal_the_recipes_are_listed() {
    let printed = user().towpath(&["run", "--set", "name=Ann"]).exits(2);
    let printed =
        printed.reports("error: no recipe was named; to run one of these: towpath run NAME\n");
    assert!(printed.stdout.starts_with("NAME "), "{}", printed.stdout);
    assert!(!printed.stderr.contains("Which one"));
}

#[test]
fn with_json_one_object_is_alone_on_stdout() {
    let user = user();
    for (typed, kind, message) in [
        (&["run", "--json"][..], "bad-input", "no recipe was named"),
        (&["validate", "--json"], "bad-input", "were not provided: <RECIPE>"),
        (&["run", "hello", "--json", "--frobnicate"], "bad-input", "--frobnicate"),
        (&["frobnicate", "--json"], "bad-input", "unrecognized subcommand 'frobnicate'"),
        (&["show", "zzz", "--json"], "not-found", "no run zzz"),
        (&["resume", "zzz", "--json"], "not-found", "no run zzz"),
    ] {
        let printed = user.towpath(typed).exits(2);
        let object = printed.json();
        assert_eq!(object["success"], false, "{object}");
        assert_eq!(object["error"]["kind"], kind, "{object}");
        assert!(object["error"]["message"].as_str().unwrap().contains(message), "{object}");
        assert!(!printed.stderr.is_empty());
    }
}

#[test]
fn only_what_is_near_is_suggested() {
    let user = user();
    user.towpath(&["rn"]).exits(2).reports("a similar subcommand exists: 'run'");
    user.towpath(&["ls"])
        .exits(2)
        .reports("`towpath list`, which lists recipes, or `towpath runs`");
    user.towpath(&["install", "ripgrep"]).exits(2).reports("towpath tool install ripgrep\n");
    let far = user.towpath(&["build"]).exits(2).reports("unrecognized subcommand 'build'");
    assert!(!far.stderr.contains("similar"), "{}", far.stderr);
    let flag = user.towpath(&["run", "hello.yaml", "-n"]).exits(2).reports("unexpected argument");
    assert!(!flag.stderr.contains("-- -n"), "{}", flag.stderr);
    user.towpath(&["run", "hello.yaml", "--ticket=5"])
        .exits(2)
        .reports("towpath run hello.yaml --set ticket=5\n");
    user.towpath(&["rules", "test", "grep", "foo"])
        .exits(2)
        .reports("the command is one argument: towpath rules test 'grep foo'\n");
    fs::create_dir_all(user.path("work/deep")).expect("a folder");
    let typed = user.command(&["hello.yaml"]).current_dir(user.path("work/deep")).output();
    Printed::from(typed.expect("it starts"))
        .exits(2)
        .reports("to run the recipe: towpath run hello\n");
}

#[test]
fn a_file_that_is_no_recipe_is_named_as_what_it_is() {
    let user = User::new().file("ok.md", "# Hi\n").file("publish.txt", HELLO);
    user.towpath(&["run", "ok.md"])
        .exits(2)
        .reports("`ok.md` is a document, not a recipe's name")
        .reports("to render it: towpath render ok.md");
    user.towpath(&["run", "publish.txt"]).exits(2).reports("named by its path: ./publish.txt");
}

/// Whether what is printed on stderr for a broken recipe is coloured.
fn is_coloured(user: &User, flags: &[&str], variables: &[(&str, &str)]) -> bool {
    let words: Vec<&str> = flags.iter().chain(&["run", "broken.yaml"]).copied().collect();
    let mut command = user.command(&words);
    command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE").envs(variables.iter().copied());
    Printed::from(command.output().expect("it starts")).exits(2).stderr.contains('\u{1b}')
}

#[test]
fn colour_follows_the_flag_then_no_color_then_clicolor_force_then_the_terminal() {
    let user = User::new().file("broken.yaml", "name: x\nstep: 1\n");
    let (no, force) = (("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1"));
    let always = &["--color", "always"][..];
    let never = &["--color", "never"][..];
    for (flags, variables, coloured) in [
        (&[][..], &[][..], false),
        (&[], &[force], true),
        (&[], &[("CLICOLOR_FORCE", "0")], false),
        (&[], &[no, force], false),
        (&[], &[("NO_COLOR", ""), force], true),
        (&["--color=auto"], &[force], true),
        (always, &[], true),
        (always, &[no], true),
        (never, &[force], false),
    ] {
        assert_eq!(is_coloured(&user, flags, variables), coloured, "{flags:?} {variables:?}");
    }
    user.towpath(&["run", "broken.yaml", "--color", "sometimes"]).exits(2);
    let after = user.towpath(&["run", "broken.yaml", "--color", "always"]).exits(2);
    assert!(after.stderr.contains('\u{1b}'), "the flag may come after the command");
}

#[test]
fn colour_on_stdout_follows_the_flag_too() {
    let user = user();
    user.towpath(&["run", "hello"]).exits(0);
    let coloured = |words: &[&str]| user.towpath(words).exits(0).stdout.contains('\u{1b}');
    assert!(!coloured(&["runs"]));
    assert!(coloured(&["runs", "--color", "always"]));
    assert!(coloured(&["--color", "always", "show"]));
}

#[test]
fn steps_are_asked_for_colour_only_with_always() {
    let recipe = "name: env\nsteps:\n  - {id: a, command: \"env | grep -c COLOR || true\"}\n";
    let user = User::new().file("env.yaml", recipe);
    let count = |flags: &[&str]| {
        let words: Vec<&str> = flags.iter().chain(&["run", "env.yaml", "-q"]).copied().collect();
        let mut command = user.command(&words);
        for name in ["NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLORTERM", "CLICOLOR"] {
            command.env_remove(name);
        }
        Printed::from(command.output().expect("it starts")).exits(0).stdout
    };
    assert_eq!(count(&[]), "0\n");
    assert_eq!(count(&["--color", "auto"]), "0\n");
    assert_eq!(count(&["--color", "never"]), "0\n");
    assert_eq!(count(&["--color", "always"]), "2\n", "FORCE_COLOR and CLICOLOR_FORCE");
}

#[test]
fn the_version_is_there_as_json() {
    let user = User::new();
    for words in [["--version", "--json"], ["--json", "--version"], ["-V", "--json"]] {
        let json = user.towpath(&words).exits(0).json();
        assert_eq!(json["name"], "towpath");
        assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
        assert!(json["os"] == "linux" && json["arch"].is_string(), "{json}");
    }
    user.towpath(&["--version"]).exits(0).prints(concat!(
        "towpath ",
        env!("CARGO_PKG_VERSION"),
        "\n"
    ));
}

#[test]
fn a_value_with_blanks_around_its_sign_is_refused_as_it_was_typed() {
    let user = user();
    let words = ["run", "hello.yaml", "--set", "who = Ann", "--nope"];
    let printed = user.towpath(&words).exits(2);
    assert!(!printed.stderr.contains("Ann=--"), "{}", printed.stderr);
    user.towpath(&words[..4]).exits(2).reports("write NAME=VALUE, without a blank before `=`");
    let far = user.towpath(&["run", "hello.yaml", "--who"]).exits(2);
    assert!(!far.stderr.contains("tip:"), "{}", far.stderr);
}

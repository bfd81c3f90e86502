//! Bad input of any kind gets a clear error with its location and the right exit code, or the right
//! result; never a panic, a hang or a loss.

use crate::support::User;
use std::fmt::Write as _;
use std::process::Command;

pub fn with(recipe: &str) -> User {
    User::new().file("r.yaml", recipe)
}

#[test]
fn invalid_yaml_is_shown_with_its_location_and_nothing_is_recorded() {
    let user = with("name: x\nsteps:\n  - id: a\n    command: [unclosed\n");
    let printed = user.towpath(&["run", "r.yaml"]).exits(2).reports("r.yaml:");
    assert!(printed.stderr.contains('^'), "{}", printed.stderr);
    assert!(!user.has_journal());
}

#[test]
fn all_problems_of_a_file_come_at_once() {
    let user = with(
        "name: x\nstep: 1\nsteps:\n  - id: a\n    comand: ls\n  - id: a\n    command: ls\n    timeout: soon\n",
    );
    let printed = user.towpath(&["run", "r.yaml"]).exits(2);
    for text in ["`step`", "did you mean `command`", "timeout", "Nothing was run"] {
        assert!(printed.stderr.contains(text), "no {text} in\n{}", printed.stderr);
    }
}

#[test]
fn all_problems_are_in_the_json_of_a_refused_run_too() {
    let user =
        with("name: x\nsteps:\n  - {id: a, comand: ls}\n  - {id: b, command: ls, timeout: soon}\n");
    let validated = user.towpath(&["validate", "r.yaml", "--json"]).exits(2).json();
    assert_eq!(validated["problems"].as_array().unwrap().len(), 2, "{validated}");
    for typed in [
        &["run", "r.yaml", "--json"][..],
        &["run", "r.yaml", "--dry-run", "--json"],
        &["explain", "r.yaml", "--json"],
    ] {
        let refused = user.towpath(typed).exits(2).json();
        assert_eq!(refused["problems"], validated["problems"], "{typed:?}");
        assert_eq!(refused["error"]["kind"], "bad-recipe");
    }
}

#[test]
fn notes_are_counted_and_strict_is_named() {
    let notes =
        with("name: x\ncontext: {a: \"{{b}}\"}\nsteps:\n  - {id: s, command: 'echo {{a}}'}\n");
    let printed = notes.towpath(&["validate", "r.yaml", "--strict"]).exits(0);
    assert!(printed.stdout.ends_with("1 note in r.yaml\n"), "{}", printed.stdout);
    let warned = with("name: x\nsteps:\n  - {id: s, command: ls, condition: 1 == 2}\n");
    warned.towpath(&["validate", "r.yaml"]).exits(0).shows("1 warning in r.yaml\n");
    warned
        .towpath(&["validate", "r.yaml", "--strict"])
        .exits(2)
        .shows("1 warning in r.yaml: with --strict a warning is an error\n");
}

#[test]
fn test_files_are_read_by_validate() {
    let user =
        with("name: x\nsteps:\n  - {id: s, command: ls}\n").file("r.test.yaml", "cases: [\n");
    user.towpath(&["validate", "--strict", "ghost.test.yaml"]).exits(2).reports("ghost.test.yaml");
    user.towpath(&["validate", "r.yaml", "r.test.yaml"]).exits(2).shows("error in r.test.yaml");
    user.write("r.test.yaml", "cases:\n  - {name: t, stubs: {s: echo hi}, expect: {exit: 0}}\n");
    let printed = user.towpath(&["validate", "r.yaml", "r.test.yaml"]);
    printed.exits(0).reports("is a test file, not a recipe");
}

#[test]
fn a_missing_recipe_reports_where_it_was_looked_for() {
    let user = User::new();
    user.towpath(&["run", "nope"]).exits(2).reports("nope");
    user.towpath(&["run", "./nope.yaml"]).exits(2).reports("nope.yaml");
    user.towpath(&["resume", "zzzz"]).exits(2).reports("no run zzzz");
    user.towpath(&["show", "zzzz"]).exits(2);
    user.towpath(&["frobnicate"]).exits(2);
}

#[test]
fn an_unconditional_cycle_is_refused_and_a_conditional_one_is_bounded() {
    let user = with("name: a\nsteps:\n  - id: b\n    recipe: r\n");
    user.towpath(&["run", "r.yaml"]).exits(2).reports("r.yaml");
    let user = with("name: a\nsteps:\n  - id: b\n    recipe: r\n    condition: 'true'\n");
    user.towpath(&["run", "r.yaml"]).exits(3).reports("max_depth");
}

#[test]
fn a_recipe_name_never_leaves_its_directory() {
    let user = User::new().file("../outside.yaml", "name: o\nsteps:\n  - id: a\n    command: ls\n");
    user.write("r.yaml", "name: r\nsteps:\n  - id: a\n    recipe: ../../outside\n");
    user.towpath(&["run", "r.yaml"]).exits(2);
    user.write("s.yaml", "name: r\nsteps:\n  - id: a\n    recipe: ../outside\n");
    user.towpath(&["run", "s.yaml"]).exits(2);
}

#[test]
fn a_nul_in_a_value_is_refused_and_invalid_utf_8_is_replaced() {
    let user = with(
        "name: x\nsteps:\n  - id: a\n    command: printf 'a\\xffb\\000c'\n  - id: b\n    command: echo {{a}}\n",
    );
    user.towpath(&["run", "r.yaml"]).exits(1).reports("NUL");
    let user = with(
        "name: x\nsteps:\n  - id: a\n    command: printf 'a\\xffb'\n  - id: b\n    command: printf %s {{a}} | wc -c\n",
    );
    let printed = user.towpath(&["run", "r.yaml"]).exits(0);
    assert!(
        printed.stdout.ends_with("5\n"),
        "a replacement character has three bytes: {printed:?}"
    );
}

#[test]
fn thousands_of_brackets_in_a_condition_are_refused() {
    let brackets = "(".repeat(3000);
    let user = with(&format!(
        "name: x\nsteps:\n  - id: a\n    condition: \"{brackets}\"\n    command: ls\n"
    ));
    user.towpath(&["run", "r.yaml"]).exits(2);
    let brackets = "[".repeat(10_000);
    let user = with(&format!("name: x\ncontext: {brackets}\nsteps:\n  - id: a\n    command: ls\n"));
    user.towpath(&["run", "r.yaml"]).exits(2);
}

#[test]
fn type_errors_of_a_condition_fail_the_step_and_never_skip_it() {
    let user = with(
        "name: x\ncontext:\n  n: 5\nsteps:\n  - id: a\n    condition: n.strip() == '5'\n    command: echo ran\n",
    );
    let printed = user.towpath(&["run", "r.yaml"]).exits(1).reports("condition");
    assert_eq!(printed.stdout, "");
}

#[test]
fn a_directory_that_cannot_be_read_is_named() {
    let user = User::new().file("recipes/x.yaml", "name: x\nsteps: []\n");
    // Root reads everything; a file instead of a directory can be read as one by nobody.
    user.write("file", "");
    let printed = user.towpath(&["run", "y", "-R", "file"]).exits(2);
    assert!(printed.stderr.contains("file"), "{}", printed.stderr);
    user.towpath(&["run", "x.yaml", "-C", "nowhere"]).exits(2).reports("nowhere");
}

#[test]
fn bad_settings_are_shown_with_their_location() {
    let user = with("name: x\nsteps:\n  - id: a\n    command: echo ok\n");
    std::fs::create_dir_all(user.path("home/config")).expect("a directory");
    std::fs::write(user.path("home/config/settings.toml"), "backnd = 1\n").expect("a file");
    user.towpath(&["run", "r.yaml"]).exits(5).reports("settings.toml:1:1");
}

#[test]
fn bad_flags_are_usage_errors() {
    let user = with("name: x\nsteps:\n  - id: a\n    command: echo {{v?}}\n");
    user.towpath(&["run", "r.yaml", "--set", "v"]).exits(2).reports("--set NAME=VALUE");
    user.towpath(&["run", "r.yaml", "--set", "=v"]).exits(2);
    user.towpath(&["run", "r.yaml", "--backend", "claud-code"]).exits(5).reports("claude-code");
    user.towpath(&["run", "r.yaml", "--set", "w=1", "--set", "v=2"]).exits(0).reports("w");
}

#[test]
fn an_error_before_the_first_step_is_an_object_in_json() {
    let user = with("name: x\nsteps: 5\n");
    let printed = user.towpath(&["run", "r.yaml", "--json"]).exits(2);
    let value = printed.json();
    assert_eq!(value["success"], false);
    assert!(value["error"]["message"].is_string() && value["error"]["kind"].is_string(), "{value}");
}

#[test]
fn a_recipe_given_by_its_path_makes_no_other_tree_trusted() {
    let user = User::new()
        .file(
            ".towpath/recipes/lint.yaml",
            "name: lint\nsteps:\n  - {id: a, command: touch hostile}\n",
        )
        .file("../mine/my.yaml", "name: my\nsteps:\n  - {id: l, recipe: lint}\n");
    user.towpath(&["run", "../mine/my.yaml"]).exits(5).reports("trust");
    assert!(!user.path("work/hostile").exists());
    // A file of the tree itself vouches for what it reaches there.
    user.write("own.yaml", "name: own\nsteps:\n  - {id: l, recipe: lint}\n");
    user.towpath(&["run", "own.yaml"]).exits(0);
}

#[test]
fn limits_that_no_run_could_meet_are_refused_before_it() {
    let mut recipe = "name: x\nsteps:\n".to_owned();
    for n in 0..201 {
        let _ = writeln!(recipe, "  - {{id: s{n}, command: touch ran}}");
    }
    let user = with(&recipe);
    user.towpath(&["run", "r.yaml"]).exits(2).reports("default limit of 200");
    assert!(!user.path("work/ran").exists());
    std::fs::create_dir_all(user.path("home/config")).expect("a directory");
    std::fs::write(user.path("home/config/settings.toml"), "max_agents = 0\n").expect("a file");
    user.towpath(&["run", "r.yaml"]).exits(5).reports("max_agents is 0");
}

const ASKING: &str = "id: m\nlabel: L\ndescription: d\nguardrails: {}\ninitialStep: a\nsteps:\n  a: {prompt: x, outcomes: [ok, other], onOutcome: {ok: {action: exit, reason: r}, other: {action: exit, reason: o}}}\n";

#[test]
fn a_file_without_an_end_is_refused_and_a_pipe_is_read() {
    let user = User::new()
        .file("m.yaml", ASKING)
        .file("answers.jsonl", "{\"text\": \"{\\\"outcome\\\": \\\"ok\\\"}\"}\n")
        .file("r.yaml", "name: r\nsteps:\n  - {id: a, command: 'exit 1'}\n");
    let run = ["run", "m.yaml", "--script"];
    user.towpath(&[&run[..], &["/dev/zero"]].concat())
        .exits(2)
        .reports("--script /dev/zero: larger than 64 MiB");
    user.towpath(&[&run[..], &["answers.jsonl", "--context-file", "/dev/full"]].concat())
        .exits(2)
        .reports("--context-file /dev/full: larger than 16 MiB");
    user.towpath(&["run", "r.yaml"]).exits(1);
    user.towpath(&["resume", "--last", "--done", "a", "--output", "@/dev/zero"])
        .exits(2)
        .reports("--output @/dev/zero: larger than 16 MiB");
    user.towpath(&["test", "/dev/zero"]).exits(2);

    let pipes = "exec \"$0\" run m.yaml --script <(cat answers.jsonl) --context-file <(echo about) --calls c.jsonl";
    let mut command = std::process::Command::new("bash");
    command.args(["-c", pipes, env!("CARGO_BIN_EXE_towpath")]).current_dir(user.path("work"));
    command.env("TOWPATH_HOME", user.path("home")).stdin(std::process::Stdio::null());
    assert!(command.status().expect("bash").success());
    assert!(user.read("c.jsonl").contains("about"));
    user.towpath(&["resume", "--last", "--done", "a", "--outcome", "zzz"])
        .exits(2)
        .reports("is done, so --done has no effect");
    user.towpath(&["resume", "--last", "--max-visits", "9"]).exits(2).reports("is done");
    user.towpath(&["resume", "--last"]).exits(0);
}

#[test]
fn a_thousand_problems_on_one_line_are_reported_in_little_space() {
    let step = |n: usize| {
        format!(
            "\"s{n}\":{{\"promt\":\"x\",\"outcomes\":[\"a\"],\"onOutcome\":{{\"a\":{{\"nextStep\":\"gone{n}\"}}}}}}"
        )
    };
    let steps: Vec<String> = (0..1_000).map(step).collect();
    let machine = format!(
        "{{\"id\":\"m\",\"label\":\"L\",\"description\":\"d\",\"guardrails\":{{}},\"initialStep\":\"s0\",\"steps\":{{{}}}}}",
        steps.join(",")
    );
    let user = User::new().file("m.json", &machine);
    let printed = user.towpath(&["validate", "m.json"]).exits(2).stdout;
    assert!(printed.len() < 40_000, "{} bytes", printed.len());
    assert!(printed.contains("1950 more problems: --json lists all of them"), "{printed}");
    assert!(printed.ends_with("2000 errors in m.json. Nothing was run.\n"), "{printed}");
    let widest = printed.lines().map(|line| line.chars().count()).max();
    assert!(widest.is_some_and(|columns| columns <= 80), "{widest:?}");
    let json = user.towpath(&["validate", "m.json", "--json"]).exits(2).json();
    assert_eq!(json["problems"].as_array().map(Vec::len), Some(2_000));
}

#[test]
fn a_slip_in_a_condition_is_refused() {
    let user = with(
        "name: x\ncontext: {environment: staging}\nsteps:\n  - {id: a, command: echo ran, condition: \"enviroment == 'staging'\"}\n  - {id: b, command: echo b, condition: optional_feature}\n",
    );
    let printed = user.towpath(&["run", "r.yaml"]).exits(2).reports("did you mean `environment`?");
    assert!(!printed.stderr.contains("optional_feature"), "{}", printed.stderr);
    let looked = user.towpath(&["validate", "r.yaml"]).exits(2).stdout;
    assert!(looked.contains("note: the condition of step `b`"), "{looked}");
}

/// What is only found is read only if it is a file: a pipe would block every command that lists.
#[test]
fn a_pipe_among_recipes_and_tests_blocks_no_command() {
    let user = User::new().file("recipes/a.yaml", "name: a\nsteps: [{id: x, command: ls}]\n");
    user.write("recipes/a.test.yaml", "cases: [{name: runs, expect: {ran: [x]}}]\n");
    for pipe in ["recipes/p.yaml", "recipes/p.test.yaml"] {
        let made = Command::new("mkfifo").arg(user.path("work").join(pipe)).status();
        assert!(made.expect("mkfifo starts").success());
    }
    for looking in [&["list"][..], &["doctor"], &["as", "agent-recipes", "--list"], &["test"]] {
        let mut command = Command::new("timeout");
        command.arg("60").arg(env!("CARGO_BIN_EXE_towpath")).args(looking);
        command.current_dir(user.path("work")).env("HOME", user.path(""));
        command.env("TOWPATH_HOME", user.path("home"));
        let ended = command.output().expect("it starts");
        assert_ne!(ended.status.code(), Some(124), "{looking:?} waits for a pipe");
    }
}

#[test]
fn a_condition_that_is_silently_false_is_reported_by_validate_and_run() {
    let steps =
        "name: r\ncontext: {a: dev}\nsteps:\n  - {id: build, command: 'echo {}', output: o}\n";
    for (condition, hint, exit) in [
        ("a == prod", "did you mean 'prod'?", 2),
        ("'yes'", "did you mean `true`?", 0),
        ("steps.biuld.status == 'completed'", "did you mean `build`?", 2),
        ("steps.build.status == 'success'", "did you mean 'completed'?", 0),
        ("o.a", "`parse_json: true` on step `build`", 2),
    ] {
        let step = format!("{steps}  - {{id: gate, condition: {condition}, command: echo ran}}\n");
        let user = with(&step);
        let strict = user.towpath(&["validate", "--strict", "r.yaml"]).exits(2);
        assert!(strict.stdout.contains(hint) && strict.stdout.contains("r.yaml:5:"), "{strict:?}");
        user.towpath(&["validate", "r.yaml"]).exits(exit);
        let runner = ["as", "recipe-runner-rs", "r.yaml", "--validate-only"];
        for (arguments, exit) in [
            (&["run", "r.yaml"][..], exit),
            (&["run", "r.yaml", "--dry-run"], exit),
            (&["explain", "r.yaml"], exit),
            (&runner, 0),
        ] {
            let printed = user.towpath(arguments).exits(exit);
            assert!(printed.stderr.contains(hint), "{arguments:?} {condition}: {}", printed.stderr);
        }
    }
    let user = with(
        "name: r\ncontext: {items: [1]}\nsteps:\n  - {id: x, condition: 'items[-1]', command: ls}\n",
    );
    user.towpath(&["run", "r.yaml"]).exits(2).reports("`-1` is never the index of an element");
}

#[test]
fn every_command_reports_all_problems_at_once() {
    let user = with(
        "name: r\nrequired_context: [task]\nsteps:\n  - {id: a, comand: ls}\n  - {id: b, recipe: nowhere}\n  - {id: c, agent: nobody, prompt: x}\n  - {id: d, condition: 'x ==', command: 'cat <<{{x}}'}\n  - {id: e, recipe: ./sub}\n",
    );
    user.write("sub.yaml", "name: sub\nsteps:\n  - {id: a, recipe: lost, timout: 1}\n");
    let all = [
        "unknown field `comand`",
        "there is no recipe `nowhere`",
        "there is no agent `nobody`",
        "a value is expected after `==`",
        "a value cannot be the delimiter of a here-document",
        "there is no recipe `lost`",
        "unknown field `timout`",
        "needs a value for `task`",
    ];
    for arguments in [
        &["validate", "r.yaml"][..],
        &["run", "r.yaml"],
        &["run", "r.yaml", "--dry-run"],
        &["as", "recipe-runner-rs", "r.yaml"],
        &["as", "recipe-runner-rs", "r.yaml", "--validate-only"],
    ] {
        let printed = user.towpath(arguments).exits(2);
        let reported = printed.stdout.clone() + &printed.stderr;
        let looks = !arguments.contains(&"run") && arguments.len() != 3;
        // Who only looks need not give the values yet: that is a note.
        for problem in all.iter().filter(|problem| !(looks && problem.starts_with("needs"))) {
            assert!(reported.contains(problem), "{arguments:?}: no {problem:?} in\n{reported}");
        }
        assert!(!reported.contains("which nothing sets"), "no follow-up noise: {reported}");
    }
}

#[test]
fn missing_inputs_are_reported_all_at_once_before_anything_runs() {
    let recipe = "name: r\nrequired_context: [task, branch]\nsteps:\n  - {id: a, command: 'echo {{task}} > ran'}\n";
    let user = User::new().file("r.yaml", recipe);
    let printed = user.towpath(&["run", "r.yaml"]).exits(2);
    printed.reports("needs a value for `task`, `branch`").reports("--set task=… --set branch=…");
    assert!(!user.path("work/ran").exists());
    user.towpath(&["validate", "r.yaml"]).exits(0);
    user.towpath(&["run", "r.yaml", "--set", "task=x", "--set", "branch=y"]).exits(0);
}

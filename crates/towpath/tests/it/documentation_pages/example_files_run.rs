//! Every file under `examples/` runs by the commands in the comment on its top, from a copy, and
//! does what is asserted here: exit code, exact stdout, files.

use super::root;
use crate::support::{User, kill_hard, until};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What a command of an example must do.
struct Row {
    command: &'static str,
    code: i32,
    stdout: &'static str,
    /// Files that must be there after it, with their text.
    files: &'static [(&'static str, &'static str)],
    /// Lines may come in any order.
    any_order: bool,
}

const fn row(command: &'static str, stdout: &'static str) -> Row {
    Row { command, code: 0, stdout, files: &[], any_order: false }
}

const MOTTO: &str = "double: It's \"$HOME\" & more\nsingle: It's \"$HOME\" & more\n\
                     bare: It's \"$HOME\" & more\nlocalhost:443\n\
                     all of it: {\"host\":\"localhost\",\"ports\":[80,443]}\n";

fn rows() -> Vec<Row> {
    let variables = |name: &str, version: &str| -> &'static str {
        format!("Hello, {name}\n{MOTTO}version {version} keeps its zero\n").leak()
    };
    vec![
        row("run examples/tutorials/01-hello-world.yaml", "Hello, world\n"),
        row("run examples/tutorials/02-variables.yaml", variables("world", "1.10")),
        row(
            "run examples/tutorials/02-variables.yaml --set name=Ann --set version=2.0",
            variables("Ann", "2.0"),
        ),
        row("run examples/tutorials/03-conditions.yaml", "testing\ndeploying to staging\n"),
        row(
            "run examples/tutorials/03-conditions.yaml --set environment=production --set tests=false",
            "deploying to production\ncareful, nothing was tested\n",
        ),
        Row {
            files: &[("report.txt", "3 kinds of fruit:\napple\nfig\npear\n")],
            ..row(
                "run examples/tutorials/04-multi-step-pipeline.yaml",
                "pear\napple\nfig\napple\napple\nfig\npear\n3\n\
                 3 kinds of fruit:\napple\nfig\npear\n",
            )
        },
        Row {
            files: &[("build/api/result.txt", "built\n"), ("build/web/result.txt", "built\n")],
            ..row(
                "run examples/tutorials/05-working-directories.yaml",
                "api\nweb\nbuild/api/result.txt\nbuild/web/result.txt\n",
            )
        },
        row(
            "run examples/tutorials/06-parse-json.yaml",
            "The service answered:\n{\"name\": \"shop\", \"healthy\": true, \"ports\": [80, 443], \
             \"load\": {\"cpu\": 0.25}}\nshop listens on 443, cpu 0.25\nno JSON in here\n\
             words is degraded, its text is kept: no JSON in here\n",
        ),
        row(
            "run examples/tutorials/09-tags.yaml --include-tags fast",
            "preparing, always\nunit tests\nsmoke test\n\
             unit completed, browser skipped, smoke completed\n",
        ),
        row(
            "run examples/tutorials/09-tags.yaml --include-tags fast,slow",
            "preparing, always\nunit tests\nbrowser tests\nsmoke test\n\
             unit completed, browser completed, smoke completed\n",
        ),
        row(
            "run examples/tutorials/09-tags.yaml --exclude-tags slow",
            "preparing, always\nunit tests\nunit completed, browser skipped, smoke skipped\n",
        ),
        row(
            "run examples/tutorials/09-tags.yaml",
            "preparing, always\nunit skipped, browser skipped, smoke skipped\n",
        ),
        row(
            "run examples/tutorials/11-extends.yaml",
            "building shop as final\nchecking links and spelling\npublishing shop\n",
        ),
        row(
            "run examples/tutorials/11-extends.yaml --set site=blog",
            "building blog as final\nchecking links and spelling\npublishing blog\n",
        ),
        row("run examples/tutorials/base.yaml", "building shop as draft\nchecking links\n"),
        row(
            "run examples/tutorials/14-dry-run.yaml --dry-run",
            concat!(
                "dry-run · dry run · work\n\n",
                "  runs     clean     bash  rm -rf ./published\n",
                "  runs     build     bash  mkdir -p published …\n",
                "  skipped  announce  bash  echo \"everybody will see this\"\n",
                "           condition false\n",
                "  may run  warn      bash  echo \"that is a large page\"\n",
                "           depends on ‹size›\n",
                "  runs     done      bash  echo \"published ‹size› bytes to staging\"\n\n",
                "3 of 5 steps would run · 1 may run (warn) · 1 skipped (announce) · ",
                "nothing was run\n",
            ),
        ),
        row(
            "run examples/tutorials/14-dry-run.yaml --dry-run --set target=production",
            concat!(
                "dry-run · dry run · work\n\n",
                "  runs     clean     bash  rm -rf ./published\n",
                "  runs     build     bash  mkdir -p published …\n",
                "  runs     announce  bash  echo \"everybody will see this\"\n",
                "  may run  warn      bash  echo \"that is a large page\"\n",
                "           depends on ‹size›\n",
                "  runs     done      bash  echo \"published ‹size› bytes to production\"\n\n",
                "4 of 5 steps would run · 1 may run (warn) · nothing was run\n",
            ),
        ),
        row("run examples/tutorials/14-dry-run.yaml", "17\npublished 17 bytes to staging\n"),
        row(
            "run examples/tutorials/07-error-handling.yaml",
            "2 warnings\nlint ended with 3 and printed: 2 warnings\nbuilt anyway\n",
        ),
        Row {
            files: &[(
                "hooks.log",
                "begin build\nend build, completed\nbegin lint\nerror in lint, exit 2\n",
            )],
            ..row("run examples/tutorials/08-hooks.yaml", "building\n")
        },
        Row {
            any_order: true,
            ..row(
                "run examples/tutorials/10-parallel-groups.yaml",
                "left met right, right met left\nleft: left met right\nright: right met left\n",
            )
        },
        row("run examples/tutorials/12-recursion-limits.yaml", "2\n1\n1\n0\n"),
        Row {
            code: 3,
            ..row(
                "run examples/tutorials/12-recursion-limits.yaml --set n=9",
                "9\n8\n8\n7\n7\n6\n6\n5\n",
            )
        },
        row(
            "run examples/tutorials/13-timeouts.yaml",
            "started\nslow failed; it printed: started\n",
        ),
        Row {
            files: &[("published.txt", "one\ntwo\n")],
            ..row("run examples/release.yaml", "2\nPASS\npublished notes.txt with 2 lines\n")
        },
        row(
            "run examples/release-checks.yaml --set path=examples/release-checks.yaml",
            "16\nPASS\n",
        ),
        Row {
            files: &[("ledger.txt", "ordered for 12.50\ncharged 12.50\nreceipt for 12.50\n")],
            ..row("run examples/once.yaml", "ordered for 12.50\ncharged 12.50\nreceipt for 12.50\n")
        },
        Row {
            files: &[("greeting.txt", "Hello\n"), ("message.txt", "Fix the greeting\n")],
            ..row(
                "run examples/agent.yaml --backend scripted --script examples/agent-answers.jsonl",
                "Fix the greeting\nthe agent answered: Fix the greeting\nYes\n",
            )
        },
    ]
}

fn files_below(folder: &Path, into: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder of examples") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files_below(&path, into);
        } else {
            let name = path.strip_prefix(root()).expect("below the root");
            into.push(name.to_string_lossy().into_owned());
        }
    }
}

/// The examples that run as they are. Patterns need a repository of one's own; their tests, and
/// those of every other example, are run by `towpath test` in `shipped_recipes_are_tested.rs`.
pub fn all_examples() -> Vec<String> {
    let mut files = Vec::new();
    files_below(&root().join("examples"), &mut files);
    files.retain(|file| !file.ends_with(".test.yaml") && !file.contains("/patterns/"));
    files
}

/// A user with a copy of the examples.
fn user() -> User {
    let user = User::new();
    for file in all_examples() {
        user.write(&file, &fs::read_to_string(root().join(&file)).expect("an example"));
    }
    user
}

/// The `towpath run` commands in the comment on top of an example.
fn commands_on_top(file: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(file)).expect("an example");
    let top = text.lines().map_while(|line| line.strip_prefix('#'));
    let commands = top.filter_map(|line| line.trim().strip_prefix("towpath "));
    commands.filter(|c| c.starts_with("run ")).map(str::to_owned).collect()
}

#[test]
fn every_example_prints_what_is_expected() {
    for row in rows() {
        let user = user();
        let arguments: Vec<&str> = row.command.split(' ').collect();
        let printed = user.towpath(&arguments).exits(row.code);
        if row.any_order {
            let mut lines: Vec<&str> = printed.stdout.lines().collect();
            lines.sort_unstable();
            assert_eq!(lines.join("\n") + "\n", row.stdout, "{}", row.command);
        } else {
            assert_eq!(printed.stdout, row.stdout, "{}\n{}", row.command, printed.stderr);
        }
        for (file, text) in row.files {
            assert_eq!(user.read(file), *text, "{}: {file}", row.command);
        }
        assert!(!printed.stderr.contains("warning"), "{}\n{}", row.command, printed.stderr);
    }
}

#[test]
fn every_example_has_its_commands_on_top_and_each_is_run() {
    let written: BTreeSet<String> =
        all_examples().iter().flat_map(|f| commands_on_top(f)).collect();
    let run: BTreeSet<String> = rows().iter().map(|row| row.command.to_owned()).collect();
    assert_eq!(written, run);
    for file in all_examples() {
        assert!(run.iter().any(|command| command.contains(&file)), "{file} is never run");
    }
}

#[test]
fn an_effect_that_may_happen_once_is_asked_about() {
    for (answer, charged) in [("--done", 1), ("--again", 2)] {
        let user = user();
        let mut runner = user.start(&["run", "examples/once.yaml", "--set", "seconds=60"]);
        until("it charges", || user.count("ledger.txt", "charged 12.50") == 1);
        kill_hard(&mut runner);
        let printed = user.towpath(&["resume", "--last"]).exits(10);
        assert!(printed.stderr.contains("--done charge"), "{}", printed.stderr);
        assert_eq!(user.count("ledger.txt", "charged 12.50"), 1, "asking has no effect");
        let mut command = user.command(&["resume", "--last", answer, "charge"]);
        if answer == "--again" {
            // The step waits a minute for this test's sake: end it as soon as it has charged.
            let mut resumed = command.spawn().expect("towpath starts");
            until("it charges again", || user.count("ledger.txt", "charged 12.50") == 2);
            kill_hard(&mut resumed);
            command = user.command(&["resume", "--last", "--done", "charge"]);
        }
        let printed =
            crate::support::Printed::from(command.output().expect("towpath starts")).exits(0);
        assert_eq!(printed.stdout, "receipt for 12.50\n");
        assert_eq!(user.count("ledger.txt", "charged 12.50"), charged);
        assert_eq!(user.count("ledger.txt", "ordered for 12.50"), 1, "what is done stays done");
    }
}

//! The command lines that the pages print, typed into bash as they are: the program under its other
//! name on the path, and a project whose recipes have the names that the pages use. Absolute paths of
//! the pages are below `$HOME` here.

use crate::support::{Printed, User};
use std::os::unix::fs::symlink;
use std::process::Stdio;

const DEPLOY: &str = "name: deploy
version: 1.2.0
context: {environment: staging, replicas: 1, debug: true, version: 0.1.0, branch: '', message: ''}
steps:
  - {id: build, command: 'echo building for {{environment}}'}
  - {id: check, command: 'echo not ready; exit 4', continue_on_error: true}
  - {id: scale, condition: replicas > 2 and not debug, command: 'echo {{replicas}} replicas'}
  - {id: deploy, command: 'echo deployed {{version}} to {{environment}} from $PWD {{branch}} {{message}}'}
";

const CI: &str = "name: ci
steps:
  - {id: always, command: echo always}
  - {id: unit, command: echo unit, when_tags: [test, unit]}
  - {id: lint, command: echo lint, when_tags: [lint]}
  - {id: slow, command: echo slow, when_tags: [test, slow, integration]}
";

/// A recipe of one step that prints what its variables are.
fn prints(name: &str, context: &str, text: &str) -> String {
    format!("name: {name}\ncontext: {context}\nsteps:\n  - {{id: a, command: 'echo \"{text}\"'}}\n")
}

fn project() -> User {
    let user = User::new()
        .file("deploy.yaml", DEPLOY)
        .file("ci.yaml", CI)
        .file("full-pipeline.yaml", &CI.replace("name: ci", "name: full-pipeline"))
        .file("build.yaml", &CI.replace("name: ci", "name: build").replace("lint]", "frontend]"))
        .file(
            "recipe.yaml",
            &prints(
                "recipe",
                "{task_description: '', repo_path: /}",
                "{{task_description}} in {{repo_path}}",
            ),
        )
        .file(
            "scale.yaml",
            &prints(
                "scale",
                "{replicas: 1, workers: 1, retries: 3}",
                "{{replicas}} {{workers}} {{retries}}",
            ),
        )
        .file(
            "tune.yaml",
            &prints(
                "tune",
                "{ratio: 1, threshold: 1, learning_rate: 1}",
                "{{ratio}} {{threshold}} {{learning_rate}}",
            ),
        )
        .file("config.yaml", &prints("config", "{data: {}}", "{{data.host}}:{{data.port}}"))
        .file(
            "setup.yaml",
            &prints("setup", "{config: {}, tags: []}", "{{config.host}} {{tags.1}}"),
        )
        .file("codegen.yaml", &prints("codegen", "{}", "generated"))
        .file(
            "refactor.yaml",
            &prints(
                "refactor",
                "{target_module: all, aggressive: false}",
                "{{target_module}} {{aggressive}}",
            ),
        )
        .file("analyze.yaml", &prints("analyze", "{}", "analysed"))
        .file("broken.yaml", "name: broken\nsteps:\n  - {id: a, comand: x}\n")
        .file("failing.yaml", "name: failing\nsteps:\n  - {id: a, command: exit 9}\n");
    for folder in [
        "recipes",
        "custom-recipes",
        "team-recipes",
        "personal-recipes",
        "project-recipes",
        "local-recipes",
        "../shared",
        "../.config/recipes",
        "../team-recipes",
        "../opt/recipes",
        "../opt/shared-recipes",
        "../opt/global-recipes",
    ] {
        let own = folder.trim_start_matches(['.', '/']).replace('/', "-");
        user.write(
            &format!("{folder}/my-recipe.yaml"),
            &prints("my-recipe", "{}", &format!("from {own}")),
        );
        user.write(
            &format!("{folder}/only-{own}.yaml"),
            &prints(&format!("only-{own}"), "{}", "x"),
        );
    }
    user.write("recipes/build.yaml", &prints("build", "{}", "build from recipes"));
    user.write("../my-project/x", "");
    user.write("../other-repo/x", "");
    std::fs::create_dir(user.path("bin")).expect("a folder for programs");
    symlink(env!("CARGO_BIN_EXE_towpath"), user.path("bin/recipe-runner-rs")).expect("a link");
    user
}

fn types(user: &User, line: &str) -> Printed {
    let plain = user.command(&[]);
    let mut bash = std::process::Command::new("bash");
    bash.args(["-c", line]).current_dir(user.path("work")).stdin(Stdio::null());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => bash.env(name, value),
            None => bash.env_remove(name),
        };
    }
    let path = std::env::var("PATH").unwrap_or_default();
    bash.env("PATH", format!("{}:{path}", user.path("bin").display()));
    bash.env("HOME", user.path(""));
    Printed::from(bash.output().expect("bash starts"))
}

/// A line, its exit code, and what must be among what it shows, on stdout or stderr.
type Row = (&'static str, i32, &'static [&'static str]);

fn walk(rows: &[Row]) {
    let user = project();
    for (line, code, shown) in rows {
        let printed = types(&user, line);
        assert_eq!(printed.code, Some(*code), "{line}\n{}\n--\n{}", printed.stdout, printed.stderr);
        for text in *shown {
            let is_there = printed.stdout.contains(text) || printed.stderr.contains(text);
            assert!(is_there, "{line}\nno {text:?} in\n{}\n--\n{}", printed.stdout, printed.stderr);
        }
    }
}

#[test]
fn directories_and_searching() {
    walk(&[
        ("recipe-runner-rs list", 0, &["NAME ", "recipe(s) found."]),
        ("recipe-runner-rs list --recipe-dir ./custom-recipes", 0, &["only-custom-recipes "]),
        (
            "recipe-runner-rs list --recipe-dir ./team-recipes --recipe-dir ./personal-recipes",
            0,
            &["only-team-recipes ", "only-personal-recipes "],
        ),
        ("recipe-runner-rs deploy.yaml --working-dir $HOME/my-project", 0, &["/my-project  \n"]),
        ("recipe-runner-rs deploy.yaml -C $HOME/my-project", 0, &["/my-project  \n"]),
        ("recipe-runner-rs build.yaml -C ../other-repo --dry-run", 0, &["nothing was run"]),
        ("recipe-runner-rs my-recipe --recipe-dir ./recipes", 0, &["\nfrom recipes\n"]),
        (
            "recipe-runner-rs my-recipe \\\n  --recipe-dir ./project-recipes \\\n  --recipe-dir ~/.config/recipes \\\n  --recipe-dir $HOME/opt/shared-recipes",
            0,
            &["\nfrom project-recipes\n"],
        ),
        ("recipe-runner-rs my-recipe -R ./recipes -R ../shared", 0, &["\nfrom recipes\n"]),
        (
            "recipe-runner-rs list -R ./recipes -R $HOME/opt/shared-recipes",
            0,
            &["only-recipes ", "only-opt-shared-recipes "],
        ),
        (
            "export RECIPE_RUNNER_RECIPE_DIRS=\"$HOME/opt/recipes:$HOME/.config/recipes\"\nrecipe-runner-rs my-recipe",
            0,
            &["\nfrom opt-recipes\n"],
        ),
        ("RECIPE_RUNNER_RECIPE_DIRS=./recipes recipe-runner-rs list", 0, &["only-recipes "]),
        (
            "export RECIPE_RUNNER_RECIPE_DIRS=\"$HOME/opt/shared-recipes\"\nrecipe-runner-rs my-recipe --recipe-dir ./local-recipes\nrecipe-runner-rs only-opt-shared-recipes --recipe-dir ./local-recipes",
            0,
            &["\nfrom local-recipes\n", "\nx\n"],
        ),
        ("recipe-runner-rs ./recipes/build.yaml", 0, &["\nbuild from recipes\n"]),
        ("recipe-runner-rs build", 0, &["\nbuild from recipes\n"]),
        (
            "recipe-runner-rs list \\\n  -R ./recipes \\\n  -R ~/team-recipes \\\n  -R $HOME/opt/global-recipes",
            0,
            &["only-recipes ", "only-team-recipes ", "only-opt-global-recipes "],
        ),
        (
            "export RECIPE_RUNNER_RECIPE_DIRS='./recipes:~/team-recipes:'$HOME/opt/global-recipes\nrecipe-runner-rs list",
            0,
            &["only-recipes ", "only-team-recipes ", "only-opt-global-recipes "],
        ),
    ]);
}

#[test]
fn values_on_the_command_line() {
    walk(&[
        (
            "recipe-runner-rs recipe.yaml --set task_description=\"Add auth\" --set repo_path=\".\"",
            0,
            &["\nAdd auth in .\n"],
        ),
        ("recipe-runner-rs deploy.yaml --set environment=production", 0, &[" to production from"]),
        ("recipe-runner-rs scale.yaml --set replicas=5", 0, &["\n5 1 3\n"]),
        ("recipe-runner-rs tune.yaml --set ratio=0.75", 0, &["\n0.75 1 1\n"]),
        ("recipe-runner-rs build.yaml --set verbose=true", 0, &["\nalways\n"]),
        (
            "recipe-runner-rs config.yaml --set data='{\"host\": \"localhost\", \"port\": 8080}'",
            0,
            &["\nlocalhost:8080\n"],
        ),
        (
            "recipe-runner-rs deploy.yaml \\\n  --set environment=production \\\n  --set replicas=3 \\\n  --set debug=false \\\n  --set version=2.1.0",
            0,
            &["\n3 replicas\n", "\ndeployed 2.1.0 to production from"],
        ),
        (
            "recipe-runner-rs setup.yaml --set config='{\"host\": \"localhost\", \"port\": 8080}'",
            0,
            &["\nlocalhost \n"],
        ),
        ("recipe-runner-rs setup.yaml --set tags='[\"web\", \"api\"]'", 0, &["\n api\n"]),
        ("recipe-runner-rs scale.yaml --set workers=8", 0, &["\n1 8 3\n"]),
        ("recipe-runner-rs scale.yaml --set retries=0", 0, &["\n1 1 0\n"]),
        ("recipe-runner-rs tune.yaml --set threshold=0.95", 0, &["\n1 0.95 1\n"]),
        ("recipe-runner-rs tune.yaml --set learning_rate=0.001", 0, &["\n1 1 0.001\n"]),
        ("recipe-runner-rs deploy.yaml --set branch=main", 0, &[" main \n"]),
        (
            "recipe-runner-rs deploy.yaml --set message=\"deploy to production\"",
            0,
            &[" deploy to production\n"],
        ),
    ]);
}

#[test]
fn looking_before_running() {
    walk(&[
        ("recipe-runner-rs recipe.yaml --dry-run", 0, &["nothing was run"]),
        ("recipe-runner-rs deploy.yaml --dry-run", 0, &["nothing was run"]),
        (
            "recipe-runner-rs deploy.yaml --dry-run --set environment=staging",
            0,
            &["[runs] build -- echo building for staging"],
        ),
        (
            "recipe-runner-rs deploy.yaml --dry-run --progress",
            0,
            &["[step:start] build (1/4)\n", "[step:complete] scale (3/4) — skipped"],
        ),
        (
            "recipe-runner-rs deploy.yaml --validate-only",
            0,
            &["Recipe 'deploy' is valid (4 steps)"],
        ),
        ("recipe-runner-rs my-recipe --validate-only -R ./recipes", 0, &["'my-recipe' is valid"]),
        (
            "recipe-runner-rs deploy.yaml --validate-only --set environment=production",
            0,
            &["is valid"],
        ),
        (
            "recipe-runner-rs deploy.yaml --explain",
            0,
            &["Recipe: deploy\nVersion: 1.2.0\nSteps:\n  1. build\n     Command: echo building"],
        ),
        ("recipe-runner-rs my-recipe --explain -R ./recipes", 0, &["Recipe: my-recipe\n"]),
        ("recipe-runner-rs refactor.yaml --explain", 0, &["Recipe: refactor\n"]),
        (
            "recipe-runner-rs refactor.yaml --dry-run \\\n  --set target_module=auth \\\n  --set aggressive=true",
            0,
            &["echo \"auth true\"", "nothing was run"],
        ),
        (
            "recipe-runner-rs deploy.yaml --validate-only && recipe-runner-rs deploy.yaml",
            0,
            &["is valid", "Recipe 'deploy': SUCCESS"],
        ),
        (
            "recipe-runner-rs broken.yaml --validate-only && touch ran",
            2,
            &["did you mean `command`?"],
        ),
        ("test ! -e ran", 0, &[]),
    ]);
}

#[test]
fn steps_chosen_by_tags() {
    walk(&[
        ("recipe-runner-rs build.yaml --include-tags frontend", 0, &["\nalways\nlint\n\n"]),
        (
            "recipe-runner-rs ci.yaml --include-tags test,lint",
            0,
            &["\nalways\nunit\nlint\nslow\n\n"],
        ),
        (
            "recipe-runner-rs ci.yaml --include-tags test --explain",
            0,
            &["Tags: lint (left out: needs tag lint)", "Tags: test, unit\n"],
        ),
        ("recipe-runner-rs ci.yaml --exclude-tags slow", 0, &["\nalways\nunit\nlint\n\n"]),
        (
            "recipe-runner-rs full-pipeline.yaml --exclude-tags slow,experimental,deprecated",
            0,
            &["\nalways\nunit\nlint\n\n"],
        ),
        (
            "recipe-runner-rs ci.yaml --include-tags test --exclude-tags slow",
            0,
            &["\nalways\nunit\n\n", "excluded by tag slow"],
        ),
        ("recipe-runner-rs ci.yaml --include-tags unit", 0, &["\nalways\nunit\n\n"]),
        (
            "recipe-runner-rs ci.yaml --exclude-tags slow,integration",
            0,
            &["\nalways\nunit\nlint\n\n"],
        ),
        (
            "recipe-runner-rs ci.yaml --include-tags unit --explain",
            0,
            &["(left out: needs tag lint)", "(left out: needs tag test or slow or integration)"],
        ),
    ]);
}

#[test]
fn results_for_scripts() {
    walk(&[
        ("recipe-runner-rs codegen.yaml --no-auto-stage", 0, &["\ngenerated\n"]),
        (
            "recipe-runner-rs refactor.yaml --no-auto-stage -C $HOME/other-repo",
            0,
            &["\nall false\n"],
        ),
        (
            "recipe-runner-rs refactor.yaml \\\n  --set target_module=auth \\\n  --no-auto-stage",
            0,
            &["\nauth false\n"],
        ),
        (
            "recipe-runner-rs deploy.yaml --progress",
            0,
            &["[step:start] build (1/4)\n[step:complete] build (1/4) — ok\n"],
        ),
        (
            "recipe-runner-rs deploy.yaml --progress 2>progress.log; head -n 2 progress.log",
            0,
            &["[step:start] build (1/4)\n[step:complete] build (1/4) — ok\n"],
        ),
        (
            "recipe-runner-rs deploy.yaml --progress --output-format json",
            0,
            &["[step:start] build", "\"recipe_name\": \"deploy\""],
        ),
        (
            "recipe-runner-rs deploy.yaml --audit-dir ./audit-logs; cat audit-logs/deploy_*.jsonl",
            0,
            &["\"step_id\":\"build\"", "\"status\":\"Completed\""],
        ),
        (
            "recipe-runner-rs deploy.yaml \\\n  --audit-dir $HOME/log/recipe-runner \\\n  --set environment=production \\\n  --progress",
            0,
            &["[step:complete] deploy (4/4) — ok"],
        ),
        (
            "recipe-runner-rs deploy.yaml --output-format json --progress 2>/dev/null",
            0,
            &["\"success\": true"],
        ),
        (
            "recipe-runner-rs build.yaml && recipe-runner-rs deploy.yaml",
            0,
            &["'build': SUCCESS", "'deploy': SUCCESS"],
        ),
        (
            "recipe-runner-rs deploy.yaml --validate-only \\\n  && recipe-runner-rs deploy.yaml \\\n  --set environment=production \\\n  --set version=\"$(echo v2)\" \\\n  --output-format json \\\n  --audit-dir $HOME/log/deploys \\\n  --progress",
            0,
            &["\"output\": \"building for production\""],
        ),
        (
            "recipe-runner-rs deploy.yaml \\\n  --output-format json \\\n  --progress \\\n  --audit-dir ./audit \\\n  --set environment=production \\\n  2>progress.log \\\n  1>result.json; tail -n 1 progress.log; head -c 1 result.json; ls audit",
            0,
            &["[step:complete] deploy (4/4) — ok\n{deploy_2"],
        ),
        (
            "for recipe in deploy failing broken; do recipe-runner-rs $recipe.yaml > /dev/null 2>&1; echo $recipe $?; done",
            0,
            &["deploy 0\nfailing 1\nbroken 2\n"],
        ),
    ]);
}

#[test]
fn results_are_read_with_jq() {
    if !std::process::Command::new("jq").arg("--version").output().is_ok_and(|o| o.status.success())
    {
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), "SKIPPED results_are_read_with_jq: there is no jq");
        return;
    }
    walk(&[
        (
            "recipe-runner-rs deploy.yaml --output-format json | jq '.steps[] | select(.status == \"failed\")'",
            0,
            &["\"step_id\": \"check\"", "\"output\": \"not ready\""],
        ),
        (
            "output=$(recipe-runner-rs analyze.yaml --output-format json)\necho \"$output\" | jq '.summary'",
            0,
            &["\"ran\": 1"],
        ),
    ]);
}

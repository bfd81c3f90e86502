//! What is refused before a run because the backend cannot do it.

use crate::misbehaving_agent_programs::{MACHINE, program};
use crate::support::{Printed, User};
use std::fs;

#[test]
fn a_conversation_continues_with_the_program_that_has_had_it() {
    let user = User::new().file("two.yaml", MACHINE);
    user.write("answers.jsonl", "\"{\\\"outcome\\\": \\\"ok\\\"}\"\n{\"error\": \"crash\"}\n");
    user.towpath(&["run", "two.yaml", "--script", "answers.jsonl"]).exits(4);
    let printed = user.towpath(&["resume", "--last", "--backend", "codex"]).exits(5);
    printed.reports("the conversation of this run is scripted's, and codex does not know it");
    user.write("more.jsonl", "\"{\\\"outcome\\\": \\\"ok\\\"}\"\n");
    user.towpath(&["resume", "--last", "--script", "more.jsonl"]).exits(0);
}

#[test]
fn what_a_backend_cannot_do_is_refused_before_anything_runs() {
    let user = User::new().file("two.yaml", MACHINE);
    for (arguments, codes, words) in [
        (
            &["--backend", "gemini", "--system-prompt", "Be brief."][..],
            (5, 5),
            "gemini does not support --system-prompt; claude-code and codex do",
        ),
        (
            &["--backend", "claude-code", "--session", "my review"],
            (2, 5),
            "--session: `my review` is not a session id of claude-code: its ids are UUIDs",
        ),
    ] {
        let run = [&["run", "two.yaml"], arguments].concat();
        user.towpath(&run).exits(codes.0).reports(words);
        let other = [&["as", "agent-recipes", "two.yaml"], arguments].concat();
        user.towpath(&other).exits(codes.1).reports(words);
    }
    let moving = ["run", "two.yaml", "--session", "s", "--worktree", "auto", "--backend", "gemini"];
    let mut command = user.command(&moving);
    command.env("GEMINI_CLI_PATH", "/bin/true");
    let printed = Printed::from(command.output().expect("towpath starts")).exits(5);
    printed.reports("gemini finds a session only in the directory where it began");
    assert_eq!(user.runs(), 0);
}

/// A command of a user with the number 0, on any machine that lets one be.
fn as_root(user: &User, arguments: &[&str]) -> Option<std::process::Command> {
    let mut command = user.command(arguments);
    if !rustix::process::getuid().is_root() {
        let mapped =
            std::process::Command::new("unshare").args(["--map-root-user", "true"]).status();
        if !mapped.is_ok_and(|status| status.success()) {
            return None;
        }
        let towpath = command.get_program().to_owned();
        let mut inside = user.command(&[]);
        std::mem::swap(&mut inside, &mut command);
        let mut outer = std::process::Command::new("unshare");
        outer.arg("--map-root-user").arg(towpath).args(arguments);
        outer.current_dir(user.path("work"));
        for (name, value) in inside.get_envs() {
            match value {
                Some(value) => outer.env(name, value),
                None => outer.env_remove(name),
            };
        }
        command = outer;
    }
    command.env_remove("IS_SANDBOX").env_remove("CLAUDE_CONFIG_DIR");
    Some(command)
}

/// Known before the start, so refused there: nothing of the recipe runs.
#[test]
fn claude_code_as_root_outside_a_sandbox_is_refused_before_anything_runs() {
    const ADVICE: &str = "run as another user, or set IS_SANDBOX=1 if this machine is a sandbox";
    let recipe = |mode: &str| {
        format!(
            "name: r\nsteps:\n  - {{id: a, command: touch ran}}\n  - {{id: b, prompt: x{mode}}}\n"
        )
    };
    let user = User::new().file("two.yaml", MACHINE);
    user.write("all.yaml", &recipe(""));
    user.write("bypass.yaml", &recipe(", mode: bypassPermissions"));
    user.write("plan.yaml", &recipe(", mode: plan"));
    user.write("skipped.yaml", &recipe(", condition: \"'a' == 'b'\""));
    let agent = program(
        &user,
        "#!/bin/bash\n[ \"$1\" = --version ] && exec echo 2.1.325\ncat > /dev/null; exit 9\n",
    );
    let run = |recipe: &str, sandbox: Option<&str>| {
        let mut command = as_root(&user, &["run", recipe, "--agent-path", &agent])?;
        command.envs(sandbox.map(|value| ("IS_SANDBOX", value)));
        Some(Printed::from(command.output().expect("towpath starts")))
    };
    let Some(printed) = run("two.yaml", None) else { return };
    printed.exits(5).reports(ADVICE);
    for (recipe, sandbox) in [("all.yaml", None), ("bypass.yaml", None), ("all.yaml", Some("yes"))]
    {
        run(recipe, sandbox).expect("as before").exits(5).reports(ADVICE);
    }
    assert!(!user.path("work/ran").exists());
    let mut looked = as_root(&user, &["run", "all.yaml", "--dry-run", "--agent-path", &agent])
        .expect("as before");
    let looked = Printed::from(looked.output().expect("towpath starts"));
    assert!((looked.stdout + &looked.stderr).contains(ADVICE));
    let mut doctor = as_root(&user, &["doctor"]).expect("as before");
    let reported =
        Printed::from(doctor.env("CLAUDE_CLI_PATH", &agent).output().expect("it starts"));
    assert!(reported.stdout.contains("export IS_SANDBOX=1"), "{}", reported.stdout);
    // Only where a call would really work without asking, and nobody has reported that it may.
    run("plan.yaml", None).expect("as before").exits(4);
    run("skipped.yaml", None).expect("as before").exits(0);
    run("all.yaml", Some("1")).expect("as before").exits(4);
    let settings = user.path(".claude/settings.json");
    fs::create_dir_all(settings.parent().expect("a folder")).expect("a folder");
    fs::write(settings, r#"{"env": {"IS_SANDBOX": "1"}}"#).expect("settings");
    run("all.yaml", None).expect("as before").exits(4);
}

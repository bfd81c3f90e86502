//! What is staged in git after an agent step.

use crate::support::{User, until, with_script};

/// A git repository with one commit in the user's directory.
fn repository(user: &User) {
    user.git("work", &["init", "-q", "-b", "main"]);
    user.write(".gitignore", "*.log\n");
    user.write("clean.txt", "clean\n");
    user.write("dirty.txt", "clean\n");
    user.git("work", &["add", "clean.txt", "dirty.txt", ".gitignore"]);
    user.git("work", &["commit", "-qm", "first"]);
}

#[test]
fn only_what_the_agent_changed_is_staged() {
    let recipe = "name: r\nsteps:\n  - {id: one, prompt: first}\n  - {id: two, prompt: second}\n";
    let first = r#"{"text":"ok","run":"echo x >> clean.txt; echo x >> dirty.txt; echo x > 'new \"é\" file.txt'; echo x > noise.log; mkdir -p sub; echo x > sub/a"}"#;
    let second = r#"{"text":"ok","run":"echo y >> clean.txt; rm sub/a; echo y > sub/b"}"#;
    let user =
        User::new().file("r.yaml", recipe).file("answers.jsonl", &format!("{first}\n{second}\n"));
    repository(&user);
    user.write("dirty.txt", "mine\n");
    let staged = "A\t\"new \\\"\\303\\251\\\" file.txt\"\n";
    let printed = user.towpath(&with_script(&["run", "r.yaml"])).exits(0);
    assert_eq!(printed.stdout, "ok\nok\n", "only what the agents answered");
    printed.reports("staged \"new \\\"\\303\\251\\\" file.txt\" and 2 more (one)");
    let index = user.git("work", &["diff", "--cached", "--name-status"]);
    assert_eq!(index, format!("M\tclean.txt\n{staged}A\tsub/b"));
    assert_eq!(user.git("work", &["show", ":clean.txt"]), "clean\nx\ny", "both steps' changes");
    assert_eq!(
        user.git("work", &["show", ":dirty.txt"]),
        "clean",
        "a user's own changes are not touched"
    );
    let untracked = user.git("work", &["ls-files", "--others", "--exclude-standard"]);
    assert_eq!(untracked, "answers.jsonl\nr.yaml", "what was new before stays so");
}

#[test]
fn staging_waits_while_another_program_has_locked_the_index() {
    let recipe = "name: r\nsteps:\n  - {id: one, prompt: first}\n";
    let locking = r#"{"text":"ok","run":"echo x >> clean.txt; touch .git/index.lock"}"#;
    let user = User::new().file("r.yaml", recipe).file("answers.jsonl", locking);
    repository(&user);
    let adds = user.path("adds");
    let counting = "#!/bin/sh\ncase \" $* \" in *\" add \"*) echo add >> ADDS;; esac\n\
                    PATH=${PATH#*:} exec git \"$@\"\n";
    user.program("bin/git", &counting.replace("ADDS", adds.to_str().expect("a path in UTF-8")));
    let path = std::env::var("PATH").expect("a search path");
    let mut command = user.command(&with_script(&["run", "r.yaml"]));
    command.env("PATH", format!("{}:{path}", user.path("bin").display()));
    let mut runner = command.spawn().expect("towpath starts");
    let lock = user.path("work/.git/index.lock");
    let tries = || std::fs::read_to_string(&adds).unwrap_or_default().lines().count();
    until("the staging is tried again", || tries() > 1);
    std::fs::remove_file(&lock).expect("the other program ends");
    assert!(runner.wait().expect("the run ends").success());
    assert_eq!(user.git("work", &["diff", "--cached", "--name-only"]), "clean.txt");
}

#[test]
fn staging_is_turned_off_for_a_run_whatever_the_steps_set() {
    let recipe = "name: r\nsteps:\n  - {id: one, prompt: first, auto_stage: true}\n";
    let user = User::new()
        .file("r.yaml", recipe)
        .file("answers.jsonl", "{\"text\":\"ok\",\"run\":\"echo x >> clean.txt\"}\n");
    repository(&user);
    user.towpath(&with_script(&["run", "r.yaml", "--no-auto-stage"])).exits(0);
    assert_eq!(user.git("work", &["diff", "--cached", "--name-only"]), "");
    assert_eq!(user.git("work", &["diff", "--name-only"]), "clean.txt");
}

#[test]
fn variables_about_another_repository_do_not_lead_staging_astray() {
    let recipe = "name: r\nsteps:\n  - {id: one, prompt: first}\n";
    let user = User::new()
        .file("r.yaml", recipe)
        .file("answers.jsonl", "{\"text\":\"ok\",\"run\":\"echo x >> clean.txt\"}\n");
    repository(&user);
    let mut command = user.command(&with_script(&["run", "r.yaml"]));
    command.env("GIT_INDEX_FILE", user.path("work/other-index")).env("GIT_DIR", "/nowhere");
    assert!(command.status().expect("it starts").success());
    assert_eq!(user.git("work", &["diff", "--cached", "--name-only"]), "clean.txt");
    assert!(!user.path("work/other-index").exists());
}

//! `prompt_file`: prompts and instructions that are documents, as part of a run.

use crate::support::{User, kill_hard, until, with_script};
use serde_json::Value;

const RECIPE: &str =
    "name: r\ncontext: {who: you}\nsteps:\n  - {id: ask, prompt_file: prompts/ask.md}\n";

fn user() -> User {
    User::new().file("r.yaml", RECIPE).file("answers.jsonl", "\"ok\"\n\"ok\"\n")
}

/// What the agent was asked, call by call.
fn calls(user: &User) -> Vec<Value> {
    user.read("calls.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("a call"))
        .collect()
}

fn run(user: &User, more: &[&str]) -> crate::support::Printed {
    let arguments = [&["run", "r.yaml", "--calls", "calls.jsonl"], more].concat();
    user.towpath(&with_script(&arguments))
}

#[test]
fn a_prompt_is_rendered_with_the_variables_of_the_run() {
    let document = "@import [defs.md]\nHello {{who}}{{nobody?}}, {{.Names}} stays.\n@run $shout({{who}})\n@embed [part.txt]\n\
        @run [pwd -P]\n@text n = @run [echo 7]\nn={{n}}\n";
    let user = user()
        .file("prompts/ask.md", document)
        .file("prompts/defs.md", "@define shout(x) = @run [echo \"$1!\" | tr a-z A-Z]\n")
        .file("prompts/part.txt", "{{who}} is not read again\n");
    run(&user, &["--set", "who=it's $(me)"]).exits(0);
    let prompt = calls(&user)[0]["prompt"].as_str().expect("a prompt").to_owned();
    let here = user.path("work").canonicalize().expect("a directory");
    let expected = format!(
        "Hello it's $(me), {{{{.Names}}}} stays.\nIT'S $(ME)!\n{{{{who}}}} is not read again\n{}\nn=7\n",
        here.display()
    );
    assert!(prompt.starts_with(expected.trim_end()), "{prompt}");
    let keys: Vec<String> = user
        .facts(&user.run())
        .iter()
        .filter(|fact| fact.kind() == "job-finished")
        .filter_map(|fact| fact.key().map(ToString::to_string))
        .collect();
    let lines: Vec<&str> = keys.iter().filter_map(|key| key.strip_suffix(":document")).collect();
    assert_eq!(lines, ["ask#1.0.3", "ask#1.0.4", "ask#1.0.5", "ask#1.0.6"], "{keys:?}");
}

#[test]
fn a_document_is_checked_with_its_recipe_and_frozen_in_the_plan() {
    let user = user().file("prompts/ask.md", "fine\n@run $none\n@import [gone.md]\n");
    let printed = run(&user, &[]).exits(2);
    printed
        .reports("Command 'none' not found")
        .reports("prompts/ask.md:2")
        .reports("cannot import gone.md");
    assert!(!user.path("work/calls.jsonl").exists());
    user.towpath(&["validate", "r.yaml"]).exits(2).shows("Command 'none' not found");
    user.write("r.yaml", &RECIPE.replace("prompts/ask.md", "../out.md"));
    run(&user, &[]).exits(2).reports("out.md");
    user.write(
        "r.yaml",
        "name: r\nsteps:\n  - {id: ask, prompt: x, prompt_file: prompts/ask.md}\n",
    );
    run(&user, &[]).exits(2).reports("both `prompt` and `prompt_file`");
    user.write("r.yaml", &RECIPE.replace("prompts/ask.md", "prompts/none.md"));
    run(&user, &[]).exits(2).reports("prompts/none.md");
}

#[test]
fn what_it_reads_and_nothing_sets_is_refused_before_anything_runs() {
    let user = user().file("prompts/ask.md", "@run [echo x > made]\n@run [echo {{nobody}}]\n");
    run(&user, &[]).exits(2).reports("{{nobody}}, which nothing sets").reports("prompts/ask.md:2");
    assert!(!user.path("work/made").exists());
}

#[test]
fn a_failing_command_fails_the_step_and_a_resume_runs_no_finished_one_again() {
    let document = "@run [echo a >> first]\n@run [test -e fixed || { echo why >&2; exit 3; }]\n@run [echo c >> third]\nprompt\n";
    let user = user().file("prompts/ask.md", document);
    let printed = run(&user, &[]).exits(1);
    printed.reports("prompts/ask.md:2: exit 3").reports("why");
    user.write("fixed", "");
    user.towpath(&["resume", "--last"]).exits(0);
    assert_eq!((user.count("first", "a"), user.count("third", "c")), (1, 1));
    assert_eq!(calls(&user).len(), 1);
}

#[test]
fn a_killed_run_continues_with_the_interrupted_command() {
    let document =
        "@run [echo a >> first]\n@run [echo b >> second; test -e go || sleep 60]\nprompt {{who}}\n";
    let user = user().file("prompts/ask.md", document);
    let arguments = ["run", "r.yaml", "--calls", "calls.jsonl"];
    let mut runner = user.start(&with_script(&arguments));
    until("the second command runs", || user.count("second", "b") == 1);
    kill_hard(&mut runner);
    user.write("go", "");
    user.write("prompts/ask.md", "edited meanwhile\n");
    user.towpath(&["resume", "--last"]).exits(0);
    assert_eq!((user.count("first", "a"), user.count("second", "b")), (1, 2));
    assert!(
        calls(&user)[0]["prompt"].as_str().is_some_and(|prompt| prompt.starts_with("prompt you"))
    );
}

#[test]
fn a_step_that_may_run_once_asks_after_an_interrupted_command() {
    let user = user().file("prompts/ask.md", "@run [echo a >> first; sleep 60]\nprompt\n");
    user.write(
        "r.yaml",
        "name: r\nsteps:\n  - {id: ask, prompt_file: prompts/ask.md, effect: once}\n",
    );
    let mut runner = user.start(&with_script(&["run", "r.yaml"]));
    until("the command runs", || user.count("first", "a") == 1);
    kill_hard(&mut runner);
    user.towpath(&["resume", "--last"]).exits(10);
    assert_eq!(user.count("first", "a"), 1);
}

#[test]
fn consent_shows_every_file_that_a_prompt_imports() {
    let user = User::new()
        .file(
            ".towpath/recipes/found.yaml",
            "name: found\nsteps:\n  - {id: ask, prompt_file: ask.md}\n",
        )
        .file(".towpath/recipes/ask.md", "@import [lib.mld]\nHi\n")
        .file(".towpath/recipes/lib.mld", "@text z = @run [touch pwned]\n");
    let found = ".towpath/recipes/found.yaml";
    user.towpath(&["trust", found]).exits(5).shows("touch pwned");
    user.towpath(&["trust", "--yes", found]).exits(0);
    user.towpath(&["trust", found]).exits(0).shows("everything is trusted");
    user.write(".towpath/recipes/lib.mld", "@text z = @run [touch other]\n");
    user.towpath(&["trust", found]).exits(5).shows("touch other");
}

#[test]
fn what_gives_no_prompt_fails_the_step() {
    let user = user().file("prompts/ask.md", "@run [true]\n");
    run(&user, &[]).exits(1).reports("the prompt file gives no text");
    user.write("prompts/ask.md", "@embed [none.txt]\n");
    run(&user, &[]).exits(1).reports("none.txt: there is no such file");
    let validated = user.towpath(&["validate", "r.yaml"]).exits(0);
    assert!(!validated.stdout.contains("will be empty"));
    user.write("prompts/ask.md", "{{a}}\n@run [echo {{b}}]\n");
    let runner = user.towpath(&["as", "recipe-runner-rs", "r.yaml", "--validate-only"]).exits(0);
    let text = format!("{}{}", runner.stdout, runner.stderr);
    assert!(text.contains("{{a}}, which nothing sets: it stays as it is written"), "{text}");
    assert!(text.contains("{{b}}, which nothing sets: the step will fail"), "{text}");
}

#[test]
fn a_step_of_a_state_machine_has_a_prompt_file_too() {
    let machine = "id: m\nlabel: M\ndescription: d\ninitialStep: ask\nguardrails: {}\ncontext: {who: you}\nsteps:\n  ask:\n    \
        prompt_file: ask.mld\n    outcomes: [fine, other]\n    onOutcome:\n      fine: {action: exit, reason: good}\n      \
        other: {action: exit, reason: bad}\n";
    let user = User::new()
        .file("r.yaml", machine)
        .file("ask.mld", ">> a note\nHi {{who}}\n@run [echo from bash]\n")
        .file("answers.jsonl", "\"Done.\\n\\n{\\\"outcome\\\": \\\"fine\\\"}\"\n");
    run(&user, &[]).exits(0);
    let prompt = calls(&user)[0]["prompt"].as_str().expect("a prompt").to_owned();
    assert!(prompt.contains("Hi you\nfrom bash") && !prompt.contains("a note"), "{prompt}");
}

#[test]
fn an_agent_definition_is_rendered_only_if_it_asks_for_it() {
    let recipe = "name: r\ncontext: {who: you}\nsteps:\n  - {id: a, agent: plain, prompt: go}\n  \
        - {id: b, agent: rendered, prompt: go}\n  - {id: c, agent: meld, prompt_file: p.md}\n";
    let text = "@run [echo strict]\nFor {{who}}.\n";
    let user = User::new()
        .file("r.yaml", recipe)
        .file("p.md", "@run [echo asked]\n")
        .file(".towpath/agents/plain.md", text)
        .file(".towpath/agents/rendered.md", &format!("---\nrender: true\n---\n{text}"))
        .file(".towpath/agents/meld.mld", &format!(">> note\n@import [more.md]\n{text}{{{{m}}}}\n"))
        .file(".towpath/agents/more.md", "@text m = @run [echo more]\n")
        .file("answers.jsonl", "\"ok\"\n\"ok\"\n\"ok\"\n");
    run(&user, &[]).exits(0);
    let calls = calls(&user);
    let systems: Vec<&str> = calls.iter().filter_map(|call| call["system"].as_str()).collect();
    assert_eq!(systems, [text.trim(), "strict\nFor you.", "strict\nFor you.\nmore"]);
    assert!(calls[2]["prompt"].as_str().is_some_and(|prompt| prompt.starts_with("asked")));
}

#[test]
fn a_path_means_what_it_means_where_the_prompt_is_rendered_by_itself() {
    let document = "@embed [../up.txt]\n@embed [.hidden/x]\n@embed [$PROJECTPATH/p.txt]\n@embed [$./p.txt]\n\
        @embed [$HOMEPATH/h.txt]\n@path q = \"$~/q\"\n{{q}}\n@run [echo $PROJECTPATH]\n@run [echo $HOMEPATH]\n";
    let user = User::new()
        .file("project/.towpath/keep", "")
        .file("project/rec/r.yaml", "name: r\nsteps:\n  - {id: ask, prompt_file: prompts/ask.md}\n")
        .file("project/rec/prompts/ask.md", document)
        .file("project/rec/prompts/.hidden/x", "hidden\n")
        .file("project/rec/up.txt", "right\n")
        .file("project/p.txt", "project\n")
        .file("up.txt", "WRONG\n")
        .file("p.txt", "WRONG\n")
        .file(".hidden/x", "WRONG\n")
        .file("answers.jsonl", "\"ok\"\n");
    let alone = user.towpath(&["render", "project/rec/prompts/ask.md"]);
    let home = std::path::PathBuf::from(
        alone
            .stderr
            .split("cannot embed ")
            .nth(1)
            .map_or("", |rest| rest.split("/h.txt").next().unwrap_or_default()),
    );
    std::fs::write(home.join("h.txt"), "home\n").expect("the home directory is the test's");
    let alone = user.towpath(&["render", "project/rec/prompts/ask.md"]).exits(0).stdout;
    assert!(alone.starts_with("right\nhidden\nproject\nproject\nhome\n"), "{alone}");
    user.towpath(&with_script(&["run", "project/rec/r.yaml", "--calls", "calls.jsonl"])).exits(0);
    let prompt = calls(&user)[0]["prompt"].as_str().expect("a prompt").to_owned();
    assert!(prompt.starts_with(alone.trim_end()), "{prompt}");
}

#[test]
fn a_failure_names_the_file_and_the_line_that_have_the_command() {
    let user = user()
        .file("prompts/ask.md", "@import [defs.md]\nprompt\n")
        .file("prompts/defs.md", "\n\n@text x = @run [echo 'FAILED test_x'; exit 3]\n");
    run(&user, &[]).exits(1).reports("defs.md:3: exit 3").reports("FAILED test_x");
}

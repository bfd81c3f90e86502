//! Names that nothing sets: a recipe that reads one does not run, under another name it warns.

use crate::support::User;

const RM: &str =
    "name: rm\ncontext: {dir: x}\nsteps:\n  - {id: clean, command: \"echo rm -rf {{dri}}/\"}\n";

#[test]
fn a_command_with_a_misspelt_name_does_not_run() {
    let user = User::new().file("rm.yaml", RM);
    for line in
        [&["run", "rm.yaml"][..], &["validate", "rm.yaml"], &["run", "rm.yaml", "--dry-run"]]
    {
        let printed = user.towpath(line).exits(2);
        let all = format!("{}{}", printed.stdout, printed.stderr);
        assert!(all.contains("did you mean `dir`?") && !all.contains("rm -rf /\n"), "{all}");
    }
    user.towpath(&["run", "rm.yaml", "-q", "--set", "dri=y"]).exits(0).prints("rm -rf y/\n");
    let warned = user.towpath(&["as", "recipe-runner-rs", "rm.yaml"]).exits(0).shows("rm -rf /");
    warned.reports("which nothing sets: it will be empty");
}

#[test]
fn what_may_be_missing_is_empty() {
    let text = "name: r\nsteps:\n  - {id: a, command: 'echo [{{who?}}] {{ who? }}.'}\n  - {id: b, prompt: 'Hello {{who?}}!'}\n";
    let user = User::new().file("r.yaml", text).file("a.jsonl", "{\"text\": \"seen\"}\n");
    let printed = user.towpath(&["run", "r.yaml", "--script", "a.jsonl"]).exits(0);
    assert!(!printed.stderr.contains("warning"), "{}", printed.stderr);
    printed.shows("[] .\n");
    let run = user.run().to_string();
    user.towpath(&["show", &run, "--prompt", "b"]).exits(0).shows("Hello !");
    let given = ["run", "r.yaml", "--script", "a.jsonl", "--set", "who=Ann"];
    user.towpath(&given).exits(0).shows("[Ann] Ann.\n");
}

/// Documents have the same form, in prose and in commands.
#[test]
fn in_a_document_too() {
    let user = User::new().file("d.md", "Hi {{who?}}!\n\n@run [echo {{who?}}.]\n");
    user.towpath(&["render", "d.md"]).exits(0).prints("Hi !\n\n.\n");
    user.towpath(&["render", "d.md", "--set", "who=Ann"]).exits(0).prints("Hi Ann!\n\nAnn.\n");
}

#[test]
fn a_called_recipe_gets_its_names_from_its_caller() {
    let user = User::new()
        .file("called.yaml", "name: called\nsteps:\n  - {id: in, command: 'echo {{who}}'}\n")
        .file("r.yaml", "name: r\ncontext: {who: Ann}\nsteps:\n  - {id: a, recipe: called}\n");
    user.towpath(&["run", "r.yaml", "-q"]).exits(0).prints("Ann\n");
    user.towpath(&["run", "called.yaml"]).exits(2).reports("or give --set who=…");
    user.towpath(&["run", "called.yaml", "-q", "--set", "who=Bo"]).exits(0).prints("Bo\n");
}

#[test]
fn in_a_state_machine_too() {
    let machine = "id: m\nlabel: M\ndescription: m\ninitialStep: a\nguardrails: {}\ncontext: {task: x}\nsteps:\n  a:\n    prompt: Do {{taks}}\n    outcomes: [done, other]\n    onOutcome:\n      done: {action: exit, reason: done}\n      other: {action: exit, reason: other}\n";
    let user = User::new().file("m.yaml", machine);
    user.towpath(&["run", "m.yaml"]).exits(2).reports("did you mean `task`?");
}

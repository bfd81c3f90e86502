//! `towpath show`: inputs, commands and the error text; `--prompt` and `--diff` of agent steps.

use crate::support::{User, with_script};

const BUILD: &str = "
name: build
context: {mode: debug}
steps:
  - id: compile
    command: echo compiling {{mode}}
  - id: test
    command: |
      echo one >&2; echo two failed >&2
      exit 3
  - id: publish
    command: echo never
";

#[test]
fn show_has_inputs_commands_and_the_error_text() {
    let user = User::new().file("build.yaml", BUILD);
    user.towpath(&["run", "build.yaml", "--set", "mode=release", "--set", "n=2"]).exits(1);
    let run = user.run();
    let shown = user.towpath(&["show", run.as_str()]).exits(0).stdout;
    for text in [
        "\ninputs mode=release, n=2\n",
        "  echo compiling {{mode}}\n",
        "\n  test  one\n        two failed\n        command: echo one >&2; echo two failed >&2 …\n",
        &format!("        full output: towpath logs {run} test\n"),
    ] {
        assert!(shown.contains(text), "no {text:?} in:\n{shown}");
    }
    assert!(!shown.contains("echo never"), "what was not reached has run no command:\n{shown}");
    let json = user.towpath(&["show", "--json"]).exits(0).json();
    assert_eq!(json["inputs"], serde_json::json!({"mode": "release", "n": 2}));
    assert_eq!(json["steps"][0]["text"], "echo compiling {{mode}}");
    assert!(json["steps"][1]["error"].as_str().is_some_and(|text| text.contains("two failed")));
}

const EDIT: &str = "
name: edit
steps:
  - id: words
    command: printf 'three words here'
  - id: ask
    prompt: Put {{words}} for {{who}} into a file.
  - id: again
    prompt: Now remove it.
    condition: who == 'nobody'
";

fn edited(answer: &str, flags: &[&str]) -> User {
    let user = User::new().file("edit.yaml", EDIT).file("answers.jsonl", &format!("{answer}\n"));
    user.git("work", &["init", "-q", "-b", "main"]);
    user.write("clean.txt", "clean\n");
    user.write("dirty.txt", "clean\n");
    user.git("work", &["add", "."]);
    user.git("work", &["commit", "-qm", "first"]);
    user.write("dirty.txt", "mine\n");
    let mut words = with_script(&["run", "edit.yaml", "--set", "who=Ann"]);
    words.extend(flags);
    user.towpath(&words);
    user
}

#[test]
fn show_prompt_prints_the_prompt_with_its_values() {
    let user = edited(r#"{"text":"ok"}"#, &[]);
    user.towpath(&["show", "--prompt", "ask"])
        .exits(0)
        .shows("Put three words here for Ann into a file.\n");
    user.towpath(&["show", "--prompt", "words"])
        .exits(2)
        .reports("words runs a command: it calls no agent");
    user.towpath(&["show", "--prompt", "again"]).exits(2).reports("again has not run");
    user.towpath(&["show", "--prompt", "nope"]).exits(2).reports("nope");
}

#[test]
fn show_diff_prints_what_the_agent_step_changed() {
    let run =
        r#"{"text":"ok","run":"echo x >> clean.txt; echo x >> dirty.txt; echo new > new.txt"}"#;
    let user = edited(run, &[]);
    // What is changed later is not the step's.
    user.write("clean.txt", "later\n");
    user.git("work", &["add", "clean.txt"]);
    let shown = user.towpath(&["show", "--diff", "ask"]).exits(0);
    for text in ["--- a/clean.txt\n", "\n+x\n", "+++ b/new.txt\n", "\n+new\n"] {
        assert!(shown.stdout.contains(text), "no {text:?} in:\n{}", shown.stdout);
    }
    assert!(!shown.stdout.contains("later") && !shown.stdout.contains("mine"), "{}", shown.stdout);
    shown.reports("note: not shown: files with changes before the step: dirty.txt\n");
}

#[test]
fn show_diff_has_what_the_agent_committed_itself() {
    let run = r#"{"text":"ok","run":"echo x >> clean.txt; git -c user.name=a -c user.email=b@c commit -qam mine"}"#;
    let user = edited(run, &[]);
    user.towpath(&["show", "--diff", "ask"]).exits(0).shows("\n+x\n");
    user.towpath(&["show", "--diff"]).exits(0).shows("\n+x\n");
}

#[test]
fn show_diff_reports_why_it_cannot_know() {
    let changes = r#"{"text":"ok","run":"echo x >> clean.txt"}"#;
    let off = edited(changes, &["--no-auto-stage"]);
    off.towpath(&["show", "--diff", "ask"])
        .exits(2)
        .reports("what ask changed is not known: nothing is staged after it, so git was not asked");
    off.towpath(&["show", "--diff"]).exits(2).reports("what the run changed is not known");
    let failed = edited(r#"{"error":"broken","run":"echo x >> clean.txt"}"#, &[]);
    failed.towpath(&["show", "--diff", "ask"]).exits(2).reports("it has not ended well");
    failed.towpath(&["show", "--diff", "again"]).exits(2).reports("it has not run");
    let outside = User::new()
        .file("edit.yaml", EDIT)
        .file("answers.jsonl", &format!("{changes}\n"))
        .file("clean.txt", "");
    outside.towpath(&with_script(&["run", "edit.yaml", "--set", "who=Ann"])).exits(0);
    outside
        .towpath(&["show", "--diff", "ask"])
        .exits(2)
        .reports("it did not work in a git repository");
    let nothing = edited(r#"{"text":"ok"}"#, &[]);
    nothing
        .towpath(&["show", "--diff", "ask"])
        .exits(0)
        .reports("ask changed nothing that git knows of")
        .prints("");
}

#[test]
fn show_diff_names_agents_that_worked_at_the_same_time() {
    let recipe = "name: two\nsteps:\n  - {id: a, prompt: a, parallel_group: g}\n  \
                  - {id: b, prompt: b, parallel_group: g}\n";
    let wait = |own: &str, other: &str| {
        format!(
            r#"{{"step":"{own}","text":"ok","run":"echo x > {own}.txt; until [ -e {other}.txt ]; do sleep 0.01; done"}}"#
        )
    };
    let answers = format!("{}\n{}\n", wait("a", "b"), wait("b", "a"));
    let user = User::new().file("two.yaml", recipe).file("answers.jsonl", &answers);
    user.git("work", &["init", "-q", "-b", "main"]);
    user.git("work", &["add", "."]);
    user.git("work", &["commit", "-qm", "first"]);
    user.towpath(&with_script(&["run", "two.yaml"])).exits(0);
    user.towpath(&["show", "--diff", "a"])
        .exits(0)
        .reports("note: b worked at the same time; its changes are shown too\n")
        .shows("+++ b/a.txt");
}

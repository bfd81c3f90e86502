//! Agents: which program is started, how, where and how often.

use super::{runner, scripted};
use crate::support::{Printed, User, lives};

const ASK: &str = "name: ask\nsteps:\n  - {id: ask, prompt: What now, auto_stage: false}\n";

/// A `claude` of the user's own, first on their path.
fn with_claude(user: &User, body: &str, arguments: &[&str]) -> Printed {
    user.program("work/bin/claude", &format!("#!/bin/sh\n{body}\n"));
    let mut command = user.command(arguments);
    let old = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{old}", user.path("work/bin").display()));
    command.env("CLAUDECODE", "1").env_remove("CLAUDE_CLI_PATH");
    Printed::from(command.output().expect("it starts"))
}

#[test]
fn claude_itself_is_started_in_the_working_directory_with_the_prompt() {
    let user = User::new().file("ask.yaml", ASK).file("project/x", "");
    let body = "cat > prompt; echo \"$*\" > arguments; env > environment
echo '{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"answered\",\"session_id\":\"s\"}'";
    let arguments = ["as", "recipe-runner-rs", "ask.yaml", "-C", "project"];
    with_claude(&user, body, &arguments).exits(0).shows("\nanswered\n");
    let prompt = user.read("project/prompt");
    assert_eq!(prompt, "What now\n\nProceed autonomously. Do not ask questions.");
    let flags = user.read("project/arguments");
    assert!(flags.contains("--print") && !flags.contains("What now"), "{flags}");
    assert!(!user.read("project/environment").contains("CLAUDECODE="));
}

#[test]
fn words_about_limits_in_a_failed_answer_do_not_ask_again() {
    let user = User::new().file("ask.yaml", ASK);
    let body = "cat > /dev/null; echo asked >> asked
echo 'see issue 429: rate limit, reset in 5 minutes' >&2; exit 1";
    let printed = with_claude(&user, body, &["run", "ask.yaml"]).exits(4);
    printed.reports("see issue 429");
    assert_eq!(user.read("asked"), "asked\n");
}

#[test]
fn what_an_agent_started_ends_with_its_timeout() {
    let recipe = "name: r\nsteps:\n  - {id: a, prompt: go, timeout: 1, auto_stage: false}\n";
    let user = User::new().file("r.yaml", recipe);
    let answers = r#"{"text":"never","run":"setsid sleep 600 & echo $! > one; bash -c 'sleep 601 & echo $! > two; wait'"}"#;
    scripted(&user, "r.yaml", answers).exits(1).reports("timed out after 1 s");
    for pid in ["one", "two"] {
        assert!(user.read(pid).ends_with('\n') && !lives(&user.read(pid)), "{pid}");
    }
}

#[test]
fn an_agent_that_answers_at_once_delays_no_step() {
    let mut inner = "name: inner\nsteps:\n".to_owned();
    for n in 0..20 {
        inner.push_str(&format!("  - {{id: a{n}, prompt: go, auto_stage: false}}\n"));
    }
    // A second for each is much, and half of what waiting two seconds for every one would take.
    let user = User::new()
        .file("inner.yaml", &inner)
        .file("r.yaml", "name: r\nsteps:\n  - {id: all, recipe: inner, timeout: 20}\n");
    scripted(&user, "r.yaml", &"\"ok\"\n".repeat(20)).exits(0);
}

#[test]
fn agents_that_start_agents_are_counted_and_belong_to_one_tree() {
    let recipe = "name: r\nsteps:\n  - {id: a, prompt: go, auto_stage: false}\n  - {id: b, prompt: go, auto_stage: false}\n";
    let answer =
        r#"{"text":"ok","run":"echo $AMPLIHACK_TREE_ID $AMPLIHACK_SESSION_DEPTH >> tree"}"#;
    let user = User::new().file("r.yaml", recipe);
    scripted(&user, "r.yaml", &format!("{answer}\n{answer}\n")).exits(0);
    let tree = user.read("tree");
    let lines: Vec<&str> = tree.lines().collect();
    assert!(lines.len() == 2 && lines[0] == lines[1] && lines[0].len() > 30, "{tree}");
    let deep = |arguments: &[&str]| {
        let mut command = user.command(arguments);
        command.env("AMPLIHACK_SESSION_DEPTH", "99").env("AMPLIHACK_MAX_DEPTH", "3");
        Printed::from(command.output().expect("it starts"))
    };
    let script = ["run", "r.yaml", "--backend", "scripted", "--script", "answers.jsonl"];
    deep(&script).exits(3).reports("nested 99 deep, and the limit is 3");
    deep(&["as", "recipe-runner-rs", "r.yaml", "--agent-binary", "/bin/true"]).exits(1);
    assert_eq!(user.read("tree"), tree, "no agent was started");
}

#[test]
fn an_agent_that_is_not_there_or_has_nothing_to_do_is_refused_before_anything_runs() {
    let recipe = "name: r\nsteps:\n  - {id: first, command: touch ran}\n";
    for (step, reported) in [
        ("{id: a, agent: nobody, prompt: x}", "nobody"),
        ("{id: a, agent: reviewer}", "give it a `prompt`"),
        ("{id: a}", "give it a `command`"),
    ] {
        let user = User::new().file("r.yaml", &format!("{recipe}  - {step}\n"));
        user.towpath(&["run", "r.yaml"]).exits(2).reports(reported);
        // Under the other name an agent that nobody has described works without instructions.
        if reported != "nobody" {
            runner(&user, &["r.yaml"]).exits(2).reports(reported);
        }
        assert!(!user.path("work/ran").exists());
    }
    let user = User::new().file("r.yaml", &format!("context_validation: {{a: x}}\n{recipe}"));
    user.towpath(&["run", "r.yaml"]).exits(2).reports("`a` must be `nonempty` or");
}

//! Claude Code in full: its hooks from a run of ours, from its settings, under its own permissions, and
//! in an old version that ignores what a hook rewrites.

use super::{CONTEXT, Hooked, RECIPE_CONTEXT, calls, has_corrected, with_prompt};
use crate::set_up_real_program::model_server::{Answer, ModelServer};
use crate::set_up_real_program::{CLAUDE_CODE, finish, programs};
use serde_json::Value;

const ASK: &str = "name: ask\nsteps:\n  - {id: a, prompt: Do it.}\n";

/// A run brings the hooks along: nothing was installed.
#[test]
fn a_run_brings_the_hooks_to_claude_code() {
    let hooked = Hooked::without_hooks(&CLAUDE_CODE, "claude-code", Some(("read_fil", "Read")));
    hooked.user.write("ask.yaml", ASK);
    hooked.server.now(calls(&CLAUDE_CODE));
    hooked.towpath(&["run", "ask.yaml"]).exits(0);
    has_corrected(&hooked);
    hooked.is_shown(CONTEXT);
    hooked.is_shown(RECIPE_CONTEXT);
    hooked.is_shown("There is no tool \"read_fil\". Use \"Read\" instead.");
    let corrections = hooked.corrections();
    assert_eq!(corrections.len(), 4, "{corrections:#?}");
    assert_eq!(corrections[0]["host"], "claude-code");
    assert_eq!(corrections[0]["version"], "2.1.325");
    assert_eq!(corrections[0]["ran"], "echo hello > corrected.txt");
}

/// A rewritten line is judged by the program's own permissions, unless rules wrote every word of it.
#[test]
fn a_permission_is_not_waved_through_for_the_agents_own_words() {
    let hooked = Hooked::new(&CLAUDE_CODE, "claude-code", Some(("read_fil", "Read")));
    let program = hooked.command(CLAUDE_CODE.path(), &["-p", "--output-format", "json"]);
    let printed = hooked.talk(program, calls(&CLAUDE_CODE)).exits(0);
    assert_eq!(hooked.file("recipe.txt"), "waited\n", "{}", hooked.shown());
    assert!(!hooked.user.path("work/corrected.txt").exists());
    assert!(!hooked.user.path("work/forbidden").exists());
    let denied = &printed.json()["permission_denials"];
    assert_eq!(denied[0]["tool_input"]["command"], "echo hello > corrected.txt", "{denied:#}");
    hooked.is_shown("write allowed.txt instead");
    hooked.no_error_in_the_hook();
}

/// A server for a version that also asks about each command, in requests without tools.
fn for_old_version(mut answers: std::vec::IntoIter<Answer>) -> impl FnMut(&Value) -> Answer {
    move |request| match request["tools"].as_array() {
        Some(tools) if !tools.is_empty() => {
            answers.next().unwrap_or(Answer::Error(403, &[], "nothing scripted"))
        }
        _ => Answer::Text("ok"),
    }
}

/// An old version runs the original. Twice it may; then the agent is shown the right line instead.
#[test]
fn an_old_version_that_drops_rewrites_is_noticed() {
    let mut hooked = Hooked::without_hooks(&CLAUDE_CODE, "claude-code", None);
    let rule = ["rules", "add", "command", "seq", "echo", "--message", "print it"];
    hooked.towpath(&rule).exits(0);
    // Newer events would turn all hooks off in this version: they are left out.
    let old = programs().join("../claude-code-1.0/cli.js");
    hooked.towpath.env("CLAUDE_CLI_PATH", &old);
    hooked.towpath(&["init", "claude-code"]).exits(0);
    let answers = vec![
        CLAUDE_CODE.tool("seq 1 >> out.txt"),
        CLAUDE_CODE.tool("seq 2 >> out.txt"),
        CLAUDE_CODE.tool("seq 3 >> out.txt"),
        CLAUDE_CODE.tool("echo 3 >> out.txt"),
        Answer::Text("Done."),
    ];
    hooked.server = ModelServer::by(for_old_version(answers.into_iter()));
    let arguments = ["-p", "--output-format", "json", "--dangerously-skip-permissions"];
    let mut command = hooked.command(old, &arguments);
    command.env("ANTHROPIC_BASE_URL", hooked.server.root());
    finish(with_prompt(command, &hooked.user)).exits(0);
    assert_eq!(hooked.file("out.txt"), "1\n1\n2\n3\n", "{}", hooked.shown());
    hooked.is_shown("Corrected: seq → echo (print it)");
    hooked.towpath(&["doctor"]).exits(0).shows("did not run the corrected command of 2 calls");
    hooked.no_error_in_the_hook();
}

/// Another hook that rewrites commands finishes last, and the program takes its answer. Twice it may;
/// then the agent is shown the corrected command, and both hooks do their work on it.
#[test]
fn beside_another_rewriting_hook_the_corrected_command_is_refused_with() {
    let hooked = Hooked::without_hooks(&CLAUDE_CODE, "claude-code", None);
    hooked.towpath(&["rules", "add", "command", "seq", "echo"]).exits(0);
    let saver = "#!/bin/sh\ncommand=$(sed 's/.*\"command\":\"\\([^\"]*\\)\".*/\\1/')\nsleep 1\n\
        printf '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"updatedInput\":\
        {\"command\":\"true; %s\"}}}' \"$command\"\n";
    hooked.user.program("bin/saver", saver);
    let settings = r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"saver"}]}]}}"#;
    let file = hooked.user.path(".claude/settings.json");
    std::fs::create_dir_all(file.parent().expect("a directory")).expect("a directory");
    std::fs::write(&file, settings).expect("settings");
    hooked.towpath(&["init", "claude-code"]).exits(0).shows("note: `saver` runs before calls too");
    let answers = ["seq 1 >> out.txt", "seq 2 >> out.txt", "seq 3 >> out.txt", "echo 3 >> out.txt"];
    let mut answers: Vec<Answer> = answers.iter().map(|line| CLAUDE_CODE.tool(line)).collect();
    answers.push(Answer::Text("Done."));
    let arguments = ["-p", "--output-format", "json", "--dangerously-skip-permissions"];
    let program = hooked.command(CLAUDE_CODE.path(), &arguments);
    hooked.talk(program, answers).exits(0);
    assert_eq!(hooked.file("out.txt"), "1\n1\n2\n3\n", "{}", hooked.shown());
    hooked.is_shown("The correction was not used: another hook or the agent program ran");
    hooked.is_shown("Use this command instead:\necho 3 >> out.txt");
    let ran: Vec<Value> = hooked.corrections().iter().map(|c| c["ran"].clone()).collect();
    assert_eq!(ran[0], "true; seq 1 >> out.txt", "{ran:?}");
    hooked
        .towpath(&["doctor"])
        .exits(0)
        .shows("did not run the corrected command of 2 calls")
        .shows("`saver` runs before calls too");
    hooked.no_error_in_the_hook();
}

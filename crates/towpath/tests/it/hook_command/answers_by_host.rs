//! Hosts that are answered in a way of their own.

use super::{GREP, GREP_CONTEXT, Hooked};
use serde_json::{Value, json};

#[test]
fn a_host_without_a_channel_before_the_call_gets_the_context_after_it() {
    let hooked = Hooked::new(&[GREP]).host("gemini");
    let payload = |event: &str, command: &str| {
        json!({
            "session_id": "s", "cwd": "/", "hook_event_name": event, "tool_name": "run_shell_command",
            "tool_input": { "command": command }, "tool_response": { "llmContent": "x" },
        })
    };
    let expected = json!({ "hookSpecificOutput": {
        "hookEventName": "BeforeTool", "tool_input": { "command": "rg a" },
    }});
    assert_eq!(hooked.answer("pre", &payload("BeforeTool", "grep a")), expected);
    let context = json!({ "hookSpecificOutput": {
        "hookEventName": "AfterTool", "additionalContext": GREP_CONTEXT,
    }});
    assert_eq!(hooked.answer("post", &payload("AfterTool", "rg a")), context);
    // Once.
    assert_eq!(hooked.answer("post", &payload("AfterTool", "rg a")), Value::Null);
    let opencode = Hooked::new(&[GREP]).host("opencode");
    let before = json!({ "session": "s", "directory": "/", "call": "c", "tool": "bash", "input": { "command": "grep a" } });
    assert_eq!(opencode.answer("pre", &before), json!({ "input": { "command": "rg a" } }));
    let after = json!({
        "session": "s", "directory": "/", "call": "c", "tool": "bash", "input": { "command": "rg a" },
        "output": "o", "exit": 0,
    });
    assert_eq!(opencode.answer("post", &after), json!({ "context": GREP_CONTEXT }));
}

#[test]
fn codex_is_denied_an_unvouched_line_and_may_write_it_itself() {
    let hooked = Hooked::new(&[GREP, &["recipe", "gt wait", "sleep 1"]]).host("codex");
    let answer = hooked.before("grep a");
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");
    assert_eq!(hooked.before("rg a"), Value::Null);
    let answer = hooked.before("gt wait");
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "allow");
    assert_eq!(answer["hookSpecificOutput"]["updatedInput"]["command"], "sleep 1");
    // It does not show how a call ended: what the shell prints does.
    let mut ended = hooked.payload("PostToolUse", "d", "nosuchcmd x");
    ended["tool_response"] = json!("bash: line 1: nosuchcmd: command not found\n");
    hooked.answer("post", &ended);
    let mut ended = hooked.payload("PostToolUse", "e", "ls");
    ended["tool_response"] = json!("a\nb\n");
    hooked.answer("post", &ended);
    let failed: Vec<bool> = hooked.recorded().0.iter().map(|call| call.failed).collect();
    assert_eq!(failed, [true, false]);
}

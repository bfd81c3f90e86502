//! Every host's hooks: what they are given, and the answer to the byte, in the host's own dialect.

use crate::support::*;
use serde_json::{Value, json};
use towpath_corrections::host::{
    AnswerOptions, BatchCall, Decision, HookEvent, HookPayload, Host, Mode, PayloadError,
    Permission,
};
use towpath_corrections::{Correction, RuleIndex, correct};

/// The payload of a shell command in each host, as observed (Cursor's as documented).
fn before(host: Host, command: &str) -> Value {
    let input = json!({ "command": command, "description": "d" });
    match host {
        Host::ClaudeCode => json!({
            "session_id": "s", "transcript_path": "/t", "cwd": "/w", "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": { "command": command, "description": "d", "timeout": 5000 },
            "tool_use_id": "toolu_1",
        }),
        Host::Codex => json!({
            "session_id": "s", "turn_id": "t", "cwd": "/w", "hook_event_name": "PreToolUse",
            "model": "m", "permission_mode": "bypassPermissions", "tool_name": "Bash",
            "tool_input": { "command": command }, "tool_use_id": "call_1_0",
        }),
        Host::Cursor => json!({
            "conversation_id": "s", "hook_event_name": "preToolUse", "cursor_version": "2026.09.10",
            "workspace_roots": ["/w"], "tool_name": "Shell", "tool_input": input,
            "tool_use_id": "call",
        }),
        Host::Gemini => json!({
            "session_id": "s", "cwd": "/w", "hook_event_name": "BeforeTool", "timestamp": "t",
            "tool_name": "run_shell_command", "tool_input": input,
        }),
        Host::Copilot => json!({
            "sessionId": "s", "timestamp": 1, "cwd": "/w", "toolName": "bash", "toolArgs": input,
        }),
        Host::OpenCode => json!({
            "session": "s", "directory": "/w", "call": "c", "tool": "bash", "input": input,
        }),
    }
}

fn read(host: Host, event: HookEvent, payload: &Value) -> HookPayload {
    host.read(event, payload).expect("a payload of this host")
}

/// What the hook prints for a corrected command.
fn printed(
    payload: &HookPayload,
    kinds: &[towpath_corrections::RuleKind],
    options: AnswerOptions,
) -> String {
    let correction = correct(&payload.call, &RuleIndex::new(numbered(kinds)));
    payload.answer(&payload.decide(&correction, &options)).stdout
}

fn printed_by(
    host: Host,
    command: &str,
    kinds: &[towpath_corrections::RuleKind],
    permission: Permission,
) -> Value {
    let payload = read(host, HookEvent::Pre, &before(host, command));
    let text = printed(&payload, kinds, AnswerOptions { permission, ..AnswerOptions::default() });
    assert!(text.is_empty() || text.ends_with('\n') && !text.trim_end().contains('\n'), "{text:?}");
    match text.is_empty() {
        true => Value::Null,
        false => serde_json::from_str(&text).expect("one JSON object"),
    }
}

#[test]
fn every_payload_is_read() {
    for host in Host::ALL {
        assert_eq!(Host::from_name(host.name()), Some(host));
        let payload = read(host, HookEvent::Pre, &before(host, "grep a"));
        assert_eq!(payload.session.as_deref(), Some("s"), "{host:?}");
        assert_eq!(payload.call.directory.as_deref(), Some("/w"), "{host:?}");
        assert_eq!(payload.call.host, host.name());
        assert_eq!(payload.call.input["command"], "grep a", "{host:?}");
        let shell = payload.call.shell.as_ref().expect("its shell tool");
        assert_eq!(shell.command, "command");
        assert_eq!(
            shell.timeout.is_some(),
            matches!(host, Host::ClaudeCode | Host::OpenCode),
            "{host:?}"
        );
        let id = !matches!(host, Host::Gemini | Host::Copilot);
        assert_eq!(payload.call_id.is_some(), id, "{host:?}");
    }
    let cursor = read(Host::Cursor, HookEvent::Pre, &before(Host::Cursor, "x"));
    assert_eq!(cursor.version.as_deref(), Some("2026.09.10"));
}

#[test]
fn a_version_is_in_the_environment_of_some() {
    let variable =
        |name: &str| (name == "AI_AGENT").then(|| "claude-code_2-1-325_harness".to_owned());
    assert_eq!(Host::ClaudeCode.version_of_environment(&variable).as_deref(), Some("2.1.325"));
    assert_eq!(Host::Codex.version_of_environment(&variable), None);
    assert_eq!(Host::ClaudeCode.version_of_environment(&|_| None), None);
}

#[test]
fn an_unvouched_line_is_rewritten_without_a_decision() {
    let rules = &[command("grep", "rg")];
    let context = "Corrected: grep → rg";
    let input = json!({ "command": "rg a", "description": "d" });
    let rows = [
        (
            Host::ClaudeCode,
            json!({ "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "updatedInput": { "command": "rg a", "description": "d", "timeout": 5000 },
                "additionalContext": context,
            }}),
        ),
        // It uses another input only together with a permission.
        (
            Host::Codex,
            json!({ "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": format!("{context}. Use this command instead:\nrg a\n"),
            }}),
        ),
        (Host::Cursor, json!({ "updated_input": input })),
        (
            Host::Gemini,
            json!({ "hookSpecificOutput": { "hookEventName": "BeforeTool", "tool_input": input } }),
        ),
        (Host::Copilot, json!({ "modifiedArgs": input, "additionalContext": context })),
        (Host::OpenCode, json!({ "input": input })),
    ];
    for (host, expected) in rows {
        for permission in [Permission::Vouched, Permission::Never] {
            let found = printed_by(host, "grep a", rules, permission);
            assert_eq!(found.to_string(), expected.to_string(), "{host:?}");
        }
    }
}

#[test]
fn a_vouched_line_is_allowed() {
    let rules = &[recipe("gt wait", "sleep 1")];
    let input = json!({ "command": "sleep 1", "description": "d" });
    let context = "Corrected: gt wait → [recipe]\nThis runs instead:\nsleep 1";
    let rows = [
        (
            Host::ClaudeCode,
            json!({ "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "allow",
                "updatedInput": { "command": "sleep 1", "description": "d", "timeout": 5000 },
                "additionalContext": context,
            }}),
        ),
        (
            Host::Codex,
            json!({ "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "allow",
                "updatedInput": { "command": "sleep 1" },
                "additionalContext": context,
            }}),
        ),
        (Host::Cursor, json!({ "permission": "allow", "updated_input": input })),
        (
            Host::Gemini,
            json!({
                "hookSpecificOutput": { "hookEventName": "BeforeTool", "tool_input": input },
                "decision": "allow",
            }),
        ),
        (
            Host::Copilot,
            json!({ "permissionDecision": "allow", "modifiedArgs": input, "additionalContext": context }),
        ),
        (Host::OpenCode, json!({ "input": input })),
    ];
    for (host, expected) in rows {
        let found = printed_by(host, "gt wait", rules, Permission::Vouched);
        assert_eq!(found.to_string(), expected.to_string(), "{host:?}");
        let never = printed_by(host, "gt wait", rules, Permission::Never).to_string();
        assert!(!never.contains("\"allow\""), "{host:?}: {never}");
        let always = printed_by(host, "gt wait; date", rules, Permission::Always).to_string();
        assert_eq!(always.contains("\"allow\""), host != Host::OpenCode, "{host:?}: {always}");
        let mixed = printed_by(host, "gt wait; date", rules, Permission::Vouched).to_string();
        assert!(!mixed.contains("\"allow\""), "{host:?}: {mixed}");
    }
}

#[test]
fn a_refused_command_is_denied_with_the_message() {
    let mut rule = rule(1, refuse("gt deacon"));
    rule.message = Some("There is no `gt deacon`: use `gt mayor`.".to_owned());
    let reason = "`gt deacon pending` is refused: There is no `gt deacon`: use `gt mayor`.";
    let rules = RuleIndex::new(vec![rule]);
    for host in Host::ALL {
        let payload = read(host, HookEvent::Pre, &before(host, "cd x && gt deacon pending"));
        let correction = correct(&payload.call, &rules);
        let decision = payload.decide(&correction, &AnswerOptions::default());
        let answer: Value = serde_json::from_str(&payload.answer(&decision).stdout).unwrap();
        let expected = match host {
            Host::ClaudeCode | Host::Codex => json!({ "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            }}),
            Host::Cursor => {
                json!({ "permission": "deny", "user_message": reason, "agent_message": reason })
            }
            Host::Gemini => json!({ "decision": "deny", "reason": reason }),
            Host::Copilot => {
                json!({ "permissionDecision": "deny", "permissionDecisionReason": reason })
            }
            Host::OpenCode => json!({ "deny": reason }),
        };
        assert_eq!(answer.to_string(), expected.to_string(), "{host:?}");
    }
}

#[test]
fn no_opinion_is_nothing_or_an_empty_object() {
    for host in Host::ALL {
        let payload = read(host, HookEvent::Pre, &before(host, "ls"));
        let expected = if host == Host::Cursor { "{}\n" } else { "" };
        assert_eq!(payload.answer(&Decision::Pass).stdout, expected, "{host:?}");
        assert_eq!(payload.answer_after(None).stdout, expected, "{host:?}");
    }
}

#[test]
fn copilot_has_two_dialects() {
    let claude = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "timestamp": "2026-11-17T00:00:00Z",
        "cwd": "/w", "tool_name": "Bash", "tool_input": { "command": "grep a" },
    });
    let payload = read(Host::Copilot, HookEvent::Pre, &claude);
    let answer = printed(&payload, &[command("grep", "rg")], AnswerOptions::default());
    let expected = json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "updatedInput": { "command": "rg a" },
        "additionalContext": "Corrected: grep → rg",
    }});
    assert_eq!(answer, format!("{expected}\n"));
    // Arguments that are a text come back as an object.
    let text =
        json!({ "sessionId": "s", "toolName": "bash", "toolArgs": "{\"command\":\"grep a\"}" });
    let payload = read(Host::Copilot, HookEvent::Pre, &text);
    let answer = printed(&payload, &[command("grep", "rg")], AnswerOptions::default());
    assert!(answer.starts_with("{\"modifiedArgs\":{\"command\":\"rg a\"}"), "{answer}");
}

#[test]
fn a_host_that_drops_rewrites_gets_the_corrected_command_as_the_reason() {
    for host in Host::ALL {
        for kinds in [[command("grep", "rg")], [recipe("grep", "sleep 1")]] {
            let payload = read(host, HookEvent::Pre, &before(host, "grep a"));
            let options = AnswerOptions { drops_rewrites: true, ..AnswerOptions::default() };
            let answer = printed(&payload, &kinds, options);
            let command = if kinds[0] == command("grep", "rg") { "rg a" } else { "sleep 1" };
            assert!(
                answer.contains(&format!("Use this command instead:\\n{command}\\nIt is not run")),
                "{answer}"
            );
        }
    }
    // Cursor's event before a shell command documents no other input.
    let shell =
        json!({ "hook_event_name": "beforeShellExecution", "command": "grep a", "cwd": "/w" });
    let payload = read(Host::Cursor, HookEvent::Pre, &shell);
    assert_eq!(
        (payload.call.tool.as_str(), &payload.call.input["command"]),
        ("Shell", &json!("grep a"))
    );
    let answer = printed(&payload, &[command("grep", "rg")], AnswerOptions::default());
    assert!(answer.starts_with("{\"permission\":\"deny\""), "{answer}");
}

#[test]
fn report_mode_changes_nothing() {
    let options = AnswerOptions { mode: Mode::Report, ..AnswerOptions::default() };
    for host in Host::ALL {
        for kind in [command("grep", "rg"), refuse("grep")] {
            let payload = read(host, HookEvent::Pre, &before(host, "grep a"));
            let answer = printed(&payload, &[kind], options);
            for word in ["nput", "rgs\"", "deny\"", "ontext", "allow\""] {
                assert!(!answer.contains(word), "{host:?}: {answer}");
            }
        }
    }
    let payload = read(Host::ClaudeCode, HookEvent::Pre, &before(Host::ClaudeCode, "grep a"));
    let answer = printed(&payload, &[command("grep", "rg")], options);
    let expected = "towpath would correct: Corrected: grep → rg: rg a";
    assert_eq!(answer, format!("{}\n", json!({ "systemMessage": expected })));
}

#[test]
fn after_a_call_the_context_is_written_for_the_host() {
    let rows = [
        (
            Host::ClaudeCode,
            HookEvent::Post,
            json!({ "hook_event_name": "PostToolUse", "tool_name": "Bash" }),
        ),
        (
            Host::ClaudeCode,
            HookEvent::Failure,
            json!({ "hook_event_name": "PostToolUseFailure", "tool_name": "Bash" }),
        ),
        (
            Host::ClaudeCode,
            HookEvent::Batch,
            json!({ "hook_event_name": "PostToolBatch", "tool_calls": [] }),
        ),
        (
            Host::Codex,
            HookEvent::Post,
            json!({ "hook_event_name": "PostToolUse", "tool_name": "Bash" }),
        ),
    ];
    for (host, event, payload) in rows {
        let name = &payload["hook_event_name"];
        let expected =
            json!({ "hookSpecificOutput": { "hookEventName": name, "additionalContext": "C" } });
        let answer = read(host, event, &payload).answer_after(Some("C")).stdout;
        assert_eq!(answer, format!("{expected}\n"));
    }
    let rows = [
        (
            Host::Gemini,
            json!({ "tool_name": "t" }),
            json!({ "hookSpecificOutput": { "hookEventName": "AfterTool", "additionalContext": "C" } }),
        ),
        (Host::Copilot, json!({ "toolName": "t" }), json!({ "additionalContext": "C" })),
        (Host::Cursor, json!({ "tool_name": "t" }), json!({ "additional_context": "C" })),
        (Host::OpenCode, json!({ "tool": "t" }), json!({ "context": "C" })),
    ];
    for (host, payload, expected) in rows {
        let answer = read(host, HookEvent::Post, &payload).answer_after(Some("C")).stdout;
        assert_eq!(answer, format!("{expected}\n"), "{host:?}");
    }
}

/// A payload, whether the call failed, its exit code and its text.
type EndRow<'a> = (Host, HookEvent, Value, Option<bool>, Option<i64>, &'a str);

#[test]
fn how_a_call_ended_is_read_from_each_host() {
    let rows: &[EndRow] = &[
        (
            Host::ClaudeCode,
            HookEvent::Post,
            json!({ "tool_name": "Bash", "tool_response": { "stdout": "hi", "stderr": "", "interrupted": false } }),
            Some(false),
            None,
            "hi",
        ),
        (
            Host::ClaudeCode,
            HookEvent::Failure,
            json!({ "tool_name": "Bash", "error": "Exit code 127\n/bin/bash: line 1: x: command not found" }),
            Some(true),
            Some(127),
            "Exit code 127\n/bin/bash: line 1: x: command not found",
        ),
        (
            Host::Codex,
            HookEvent::Post,
            json!({ "tool_name": "Bash", "tool_response": "hi\n" }),
            None,
            None,
            "hi\n",
        ),
        (
            Host::Gemini,
            HookEvent::Post,
            json!({ "tool_name": "run_shell_command", "tool_response": { "llmContent": "Output: exit code 9\nExit Code: 3", "returnDisplay": "" } }),
            Some(true),
            Some(3),
            "Output: exit code 9\nExit Code: 3",
        ),
        (
            Host::Gemini,
            HookEvent::Post,
            json!({ "tool_name": "x", "tool_response": { "llmContent": "no", "error": { "message": "m" } } }),
            Some(true),
            None,
            "no",
        ),
        (
            Host::Copilot,
            HookEvent::Post,
            json!({ "toolName": "bash", "toolResult": { "resultType": "success", "textResultForLlm": "hi\n<shellId: 0 completed with exit code 0>" } }),
            Some(false),
            Some(0),
            "hi\n<shellId: 0 completed with exit code 0>",
        ),
        (
            Host::Copilot,
            HookEvent::Post,
            json!({ "toolName": "bash", "toolResult": { "resultType": "success", "textResultForLlm": "<shellId: 0 completed with exit code 127>" } }),
            Some(true),
            Some(127),
            "<shellId: 0 completed with exit code 127>",
        ),
        (
            Host::Copilot,
            HookEvent::Failure,
            json!({ "toolName": "view", "error": "no file" }),
            Some(true),
            None,
            "no file",
        ),
        (
            Host::Cursor,
            HookEvent::Failure,
            json!({ "tool_name": "Shell", "error_message": "e" }),
            Some(true),
            None,
            "e",
        ),
        (
            Host::OpenCode,
            HookEvent::Post,
            json!({ "tool": "bash", "output": "o", "exit": 2 }),
            Some(true),
            Some(2),
            "o",
        ),
        (
            Host::OpenCode,
            HookEvent::Post,
            json!({ "tool": "bash", "output": "o", "exit": 0 }),
            Some(false),
            Some(0),
            "o",
        ),
    ];
    for (host, event, payload, failed, code, text) in rows {
        let outcome = read(*host, *event, payload).outcome.expect("an outcome");
        assert_eq!(
            (outcome.failed, outcome.exit_code, outcome.text.as_str()),
            (*failed, *code, *text),
            "{host:?}"
        );
    }
}

#[test]
fn a_batch_shows_the_tools_that_do_not_exist() {
    let payload = json!({
        "session_id": "s", "cwd": "/w", "hook_event_name": "PostToolBatch",
        "tool_calls": [
            { "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": "1", "tool_response": "a" },
            { "tool_name": "read_file", "tool_input": {}, "tool_use_id": "2",
              "tool_response": "<tool_use_error>Error: No such tool available: read_file</tool_use_error>" },
            "odd",
        ],
    });
    let batch = read(Host::ClaudeCode, HookEvent::Batch, &payload).batch;
    let unknown: Vec<bool> = batch.iter().map(BatchCall::is_unknown_tool).collect();
    assert_eq!(unknown, [false, true]);
    assert!(batch[1].is_refused_by_host() && !batch[0].is_refused_by_host());
    assert_eq!(
        (batch[1].call.tool.as_str(), batch[1].call_id.as_deref()),
        ("read_file", Some("2"))
    );
}

#[test]
fn opencode_shows_a_tool_that_does_not_exist_as_an_invalid_one() {
    let payload = json!({ "tool": "invalid", "input": { "tool": "read_file", "error": "e" } });
    let payload = read(Host::OpenCode, HookEvent::Pre, &payload);
    let kind = towpath_corrections::RuleKind::ToolName {
        from: "read_file".into(),
        to: "read".into(),
        host: "opencode".into(),
    };
    let Correction::Denied(denial) = correct(&payload.call, &RuleIndex::new(numbered(&[kind])))
    else {
        panic!()
    };
    assert_eq!(denial.reason, "There is no tool \"read_file\". Use \"read\" instead.");
}

#[test]
fn what_is_no_payload_is_refused() {
    for host in Host::ALL {
        assert_eq!(host.read(HookEvent::Pre, &json!([])), Err(PayloadError::NotAnObject));
        assert_eq!(host.read(HookEvent::Pre, &json!({})), Err(PayloadError::NoTool));
        let other = json!({ "hook_event_name": "SessionStart", "tool_name": "x", "toolName": "x" });
        let refused = host.read(HookEvent::Pre, &other);
        assert!(matches!(refused, Err(PayloadError::OtherEvent { .. })), "{host:?}");
    }
    let post = json!({ "hook_event_name": "PostToolUse", "tool_name": "Bash" });
    assert!(Host::ClaudeCode.read(HookEvent::Pre, &post).is_err());
    assert!(Host::ClaudeCode.read(HookEvent::Post, &post).is_ok());
}

/// In a trusted folder Copilot also runs what a project has installed for Claude Code.
#[test]
fn claude_codes_hook_run_by_copilot_is_a_hook_of_copilot() {
    let payload = json!({
        "hook_event_name": "PostToolUse", "session_id": "s", "timestamp": "2026-11-17T10:23:58.799Z",
        "cwd": "/w", "tool_name": "Bash", "tool_input": { "command": "x" },
        "tool_result": {
            "result_type": "success",
            "text_result_for_llm": "x: not found\n<shellId: 1 completed with exit code 127>",
        },
    });
    let read = read(Host::ClaudeCode, HookEvent::Post, &payload);
    assert_eq!((read.host, read.session.as_deref()), (Host::Copilot, Some("s")));
    let outcome = read.outcome.expect("it has ended");
    assert_eq!((outcome.failed, outcome.exit_code), (Some(true), Some(127)));
    assert!(outcome.text.starts_with("x: not found"));
}

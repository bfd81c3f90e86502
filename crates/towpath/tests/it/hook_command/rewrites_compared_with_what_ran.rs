//! A rewrite must have worked: a line is corrected once, what ran is compared, and a host that drops
//! rewrites is answered another way.

use super::{GREP, GREP_CONTEXT, Hooked, fed};
use serde_json::{Value, json};

#[test]
fn a_line_is_corrected_once_in_a_call() {
    // What the first rule writes, the second one would change.
    let hooked = Hooked::new(&[GREP, &["command", "rg", "ugrep"]]);
    let pre =
        |call: &str, line: &str| hooked.answer("pre", &hooked.payload("PreToolUse", call, line));
    let answer = pre("c", "grep a");
    assert_eq!(answer["hookSpecificOutput"]["updatedInput"]["command"], "rg a");
    // The host runs the hook again, with what the first one wrote.
    assert_eq!(pre("c", "rg a"), Value::Null);
    // The agent types it itself.
    let answer = pre("d", "rg a");
    assert_eq!(answer["hookSpecificOutput"]["updatedInput"]["command"], "ugrep a");
    // Another session has not got that line from us.
    let mut other = hooked.payload("PreToolUse", "c", "rg a");
    other["session_id"] = json!("t");
    let answer = hooked.answer("pre", &other);
    assert_eq!(answer["hookSpecificOutput"]["updatedInput"]["command"], "ugrep a");
}

#[test]
fn a_host_that_runs_the_original_twice_is_denied_instead() {
    let hooked = Hooked::new(&[GREP]);
    let denied = json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": format!(
            "{GREP_CONTEXT}. Use this command instead:\nrg 3\n\
             It is not run for you: what towpath corrected was not used here.\n"
        ),
    }});
    let pre = |call: &str, command: &str| {
        hooked.answer("pre", &hooked.payload("PreToolUse", call, command))
    };
    let post =
        |call: &str, ran: &str| hooked.answer("post", &hooked.payload("PostToolUse", call, ran));
    let rewritten = |answer: &Value| answer.pointer("/hookSpecificOutput/updatedInput").is_some();
    // One that ran as it was written takes back one that did not.
    assert!(rewritten(&pre("1", "grep 1")));
    post("1", "grep 1");
    assert!(rewritten(&pre("2", "grep 2")));
    post("2", "rg 2");
    for call in ["3", "4"] {
        assert!(rewritten(&pre(call, &format!("grep {call}"))), "{call}");
        // Another call, and a second hook for the same one, count nothing.
        post("x", "ls");
        post(call, &format!("grep {call}"));
        post(call, &format!("grep {call}"));
    }
    assert_eq!(pre("5", "grep 3"), denied);
    // The agent writes the corrected command itself.
    assert_eq!(pre("6", "rg 3"), Value::Null);
    post("6", "rg 3");
    assert_eq!(pre("7", "grep 3"), denied);
    let doctor = hooked.user.towpath(&["doctor"]).stdout;
    assert!(
        doctor.contains("claude-code")
            && doctor.contains("did not run the corrected command of 2 calls"),
        "{doctor}"
    );
    let (_, corrections) = hooked.recorded();
    let rows: Vec<_> = corrections.iter().map(|c| (&*c.decision, c.ran.as_deref())).collect();
    let expected = [
        ("rewritten", Some("grep 1")),
        ("rewritten", Some("rg 2")),
        ("rewritten", Some("grep 3")),
        ("rewritten", Some("grep 4")),
        ("suggested", None),
        ("suggested", None),
    ];
    assert_eq!(rows, expected);
    // Another version is tried again.
    let payload = hooked.payload("PreToolUse", "8", "grep 8").to_string();
    let mut command = hooked.command(&["hook", "pre", "--host", "claude-code"]);
    let printed = fed(command.env("AI_AGENT", "claude-code_2-1-325_harness"), &payload);
    assert!(printed.stdout.contains("updatedInput"), "{printed:?}");
}

#[test]
fn without_call_ids_what_ran_is_found_by_its_text() {
    let hooked = Hooked::new(&[GREP]);
    for number in 0..2 {
        let mut payload = hooked.payload("PreToolUse", "", &format!("grep {number}"));
        payload.as_object_mut().expect("an object").remove("tool_use_id");
        assert!(
            hooked.answer("pre", &payload).pointer("/hookSpecificOutput/updatedInput").is_some()
        );
        payload["hook_event_name"] = json!("PostToolUse");
        hooked.answer("post", &payload);
    }
    let answer = hooked.before("grep 2");
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");
}

/// Where two hooks write a call, a host takes one of them.
#[test]
fn what_another_hook_wrote_counts_as_dropped_and_the_agent_reads_it() {
    let hooked = Hooked::new(&[GREP]);
    for call in ["1", "2"] {
        let line = format!("grep {call}");
        hooked.answer("pre", &hooked.payload("PreToolUse", call, &line));
        let ran = hooked.payload("PostToolUse", call, &format!("saver {line}"));
        let answer = hooked.answer("post", &ran);
        assert_eq!(
            answer["hookSpecificOutput"]["additionalContext"],
            format!(
                "The correction was not used: another hook or the agent program ran \
                 `saver grep {call}` instead."
            )
        );
    }
    let answer = hooked.before("grep 3");
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny");
    let log = hooked.user.towpath(&["rules", "log"]).exits(0).stdout;
    assert_eq!(log.matches("something else ran").count(), 2, "{log}");
}

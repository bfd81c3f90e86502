//! `towpath hook` as hosts run it: real processes and a real state directory. Whatever happens, it
//! exits with 0 and prints nothing or one JSON object.

use crate::support::{Printed, User};
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use towpath_store::{CorrectionFilter, CorrectionRow, Order, Store, ToolCallFilter, ToolCallRow};

mod answers_by_host;
mod call_log_folding;
mod many_hooks_at_once;
mod rewrites_compared_with_what_ran;
mod trusted_project_rules;

/// A user with rules, and the hooks of a host.
pub struct Hooked {
    pub user: User,
    host: &'static str,
    /// How many calls there were.
    calls: AtomicUsize,
}

impl Hooked {
    pub fn new(rules: &[&[&str]]) -> Hooked {
        let hooked = Hooked { user: User::new(), host: "claude-code", calls: AtomicUsize::new(0) };
        for rule in rules {
            hooked.user.towpath(&[&["rules", "add"], *rule].concat()).exits(0);
        }
        hooked
    }

    pub fn host(self, host: &'static str) -> Hooked {
        Hooked { host, ..self }
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.user.command(arguments);
        command.env_remove("AI_AGENT").env_remove("TOWPATH_CORRECTIONS");
        command
    }

    /// Runs a hook; it must have succeeded.
    #[track_caller]
    pub fn hook(&self, event: &str, payload: &str) -> String {
        let printed = fed(&mut self.command(&["hook", event, "--host", self.host]), payload);
        assert_eq!((printed.code, printed.stderr.as_str()), (Some(0), ""), "{printed:?}");
        printed.stdout
    }

    #[track_caller]
    pub fn before(&self, command: &str) -> Value {
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        self.answer("pre", &self.payload("PreToolUse", &format!("call{number}"), command))
    }

    /// A payload of Claude Code for a shell command.
    pub fn payload(&self, event: &str, call: &str, command: &str) -> Value {
        json!({
            "session_id": "s", "cwd": self.user.path("work"), "hook_event_name": event,
            "tool_name": "Bash", "tool_input": { "command": command, "timeout": 5000 },
            "tool_use_id": call, "tool_response": { "stdout": "out", "stderr": "" },
        })
    }

    #[track_caller]
    pub fn answer(&self, event: &str, payload: &Value) -> Value {
        let printed = self.hook(event, &payload.to_string());
        match printed.is_empty() {
            true => Value::Null,
            false => serde_json::from_str(&printed).expect("one JSON object"),
        }
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.user.path("home/state/hooks").join(name)
    }

    pub fn errors(&self) -> Vec<String> {
        let text = fs::read_to_string(self.file("errors.log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Everything that was recorded, after the log was folded.
    pub fn recorded(&self) -> (Vec<ToolCallRow>, Vec<CorrectionRow>) {
        self.user.towpath(&["rules", "log"]).exits(0);
        let store = Store::open_for_reading(&self.user.path("home/state")).expect("it opens");
        let store = store.expect("a journal");
        let calls = ToolCallFilter { order: Order::OldestFirst, ..ToolCallFilter::default() };
        let all = CorrectionFilter { order: Order::OldestFirst, ..CorrectionFilter::default() };
        (store.tool_calls(&calls).expect("calls"), store.corrections(&all).expect("corrections"))
    }
}

/// Runs a command with this text as its input.
pub fn fed(command: &mut Command, input: &str) -> Printed {
    let mut child = command.stdin(Stdio::piped()).spawn().expect("towpath starts");
    // A hook that is off may not read all of it.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    Printed::from(child.wait_with_output().expect("it ends"))
}

const GREP: &[&str] = &["command", "grep", "rg"];
const GREP_CONTEXT: &str = "Corrected: grep → rg";

#[test]
fn a_wrong_command_is_rewritten_and_the_rest_is_sent_back() {
    let hooked = Hooked::new(&[GREP]);
    let expected = json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "updatedInput": { "command": "rg -n a f", "timeout": 5000 },
        "additionalContext": GREP_CONTEXT,
    }});
    assert_eq!(hooked.before("grep -n a f").to_string(), expected.to_string());
    assert_eq!(hooked.before("ls -l"), Value::Null);
    // The second answer comes from the snapshot that the first one wrote.
    assert!(hooked.file("rules.snapshot").exists());
    assert_eq!(
        hooked.before("grep b").pointer("/hookSpecificOutput/updatedInput/command"),
        Some(&json!("rg b"))
    );
    assert_eq!(hooked.errors(), [""; 0]);
    let (_, corrections) = hooked.recorded();
    let rows: Vec<_> = corrections.iter().map(|c| (&*c.before, &*c.after, &*c.decision)).collect();
    assert_eq!(rows, [("grep -n a f", "rg -n a f", "rewritten"), ("grep b", "rg b", "rewritten")]);
    assert_eq!(hooked.user.store().rules().expect("rules")[0].hits, 2);
}

#[test]
fn a_change_of_a_rule_is_seen_by_the_next_call() {
    let hooked = Hooked::new(&[GREP]);
    let after = |hooked: &Hooked| {
        let answer = hooked.before("grep a");
        answer.pointer("/hookSpecificOutput/updatedInput/command").cloned()
    };
    assert_eq!(after(&hooked), Some(json!("rg a")));
    hooked.user.towpath(&["rules", "add", "command", "grep", "ugrep"]).exits(0);
    assert_eq!(after(&hooked), Some(json!("ugrep a")));
    hooked.user.towpath(&["rules", "disable", "1"]).exits(0);
    assert_eq!(after(&hooked), None);
    hooked.user.towpath(&["rules", "enable", "1"]).exits(0);
    assert_eq!(after(&hooked), Some(json!("ugrep a")));
    hooked.user.towpath(&["rules", "pause"]).exits(0);
    assert_eq!(after(&hooked), None);
    hooked.user.towpath(&["rules", "continue"]).exits(0);
    assert_eq!(after(&hooked), Some(json!("ugrep a")));
    hooked.user.towpath(&["rules", "remove", "1"]).exits(0);
    assert_eq!(after(&hooked), None);
    assert_eq!(hooked.errors(), [""; 0]);
}

#[test]
fn settings_choose_the_permission_and_the_mode() {
    let hooked = Hooked::new(&[GREP]);
    let settings = hooked.user.path("home/config/settings.toml");
    fs::create_dir_all(settings.parent().expect("a folder")).expect("a folder");
    let with = |text: &str| {
        fs::write(&settings, text).expect("settings");
        hooked.before("grep a")
    };
    let decision =
        |answer: &Value| answer.pointer("/hookSpecificOutput/permissionDecision").cloned();
    assert_eq!(decision(&hooked.before("grep a")), None);
    assert_eq!(decision(&with("corrections.permission = \"always\"\n")), Some(json!("allow")));
    assert_eq!(decision(&with("corrections.permission = \"never\"\n")), None);
    let reported = with("corrections.mode = \"report\"\n");
    assert_eq!(
        reported,
        json!({ "systemMessage": "towpath would correct: Corrected: grep → rg: rg a" })
    );
    let (_, corrections) = hooked.recorded();
    assert_eq!(corrections.last().map(|c| c.decision.as_str()), Some("reported"));
    // A file that cannot be read corrects nothing, and is reported.
    assert_eq!(with("corrections.mode = 7\n"), Value::Null);
    assert!(hooked.errors().last().is_some_and(|line| line.contains("settings.toml")));
}

#[test]
fn a_rule_may_be_for_a_directory_only() {
    let hooked = Hooked::new(&[]);
    let shop = hooked.user.path("work/shop");
    fs::create_dir_all(shop.join("deep")).expect("a folder");
    let directory = shop.display().to_string();
    hooked.user.towpath(&["rules", "add", "command", "grep", "rg", "--dir", &directory]).exits(0);
    let mut payload = hooked.payload("PreToolUse", "c", "grep a");
    assert_eq!(hooked.answer("pre", &payload), Value::Null);
    payload["cwd"] = json!(shop.join("deep"));
    assert!(hooked.answer("pre", &payload).is_object());
    // A link to it is the same directory, for hooks and for `rules test`.
    let link = hooked.user.path("work/link");
    std::os::unix::fs::symlink(&shop, &link).expect("a link");
    payload["cwd"] = json!(link.join("deep"));
    assert!(hooked.answer("pre", &payload).is_object());
    let dir = link.join("deep").display().to_string();
    let tested = hooked.user.towpath(&["rules", "test", "grep a", "--dir", &dir, "--json"]).json();
    assert_eq!(tested["after"], "rg a", "{tested}");
}

#[test]
fn a_rule_whose_directory_became_a_link_is_for_where_it_leads() {
    let hooked = Hooked::new(&[]);
    let (old, new) = (hooked.user.path("work/old"), hooked.user.path("work/new"));
    fs::create_dir_all(&old).expect("a folder");
    let directory = old.display().to_string();
    hooked.user.towpath(&["rules", "add", "command", "grep", "rg", "--dir", &directory]).exits(0);
    fs::rename(&old, &new).expect("moved");
    std::os::unix::fs::symlink(&new, &old).expect("a link");
    let mut payload = hooked.payload("PreToolUse", "c", "grep a");
    for cwd in [&old, &new] {
        payload["cwd"] = json!(cwd);
        assert!(hooked.answer("pre", &payload).is_object(), "{cwd:?}");
        let dir = cwd.display().to_string();
        let test = ["rules", "test", "grep a", "--dir", &dir, "--json"];
        assert_eq!(hooked.user.towpath(&test).json()["after"], "rg a", "{cwd:?}");
    }
}

#[test]
fn turned_off_it_does_nothing() {
    let hooked = Hooked::new(&[GREP]);
    let payload = hooked.payload("PreToolUse", "c", "grep a").to_string();
    for event in ["pre", "post"] {
        let mut command = hooked.command(&["hook", event, "--host", "claude-code"]);
        let printed = fed(command.env("TOWPATH_CORRECTIONS", "off"), &payload);
        assert_eq!((printed.code, &*printed.stdout, &*printed.stderr), (Some(0), "", ""));
    }
    assert!(!hooked.file("calls.log").exists() && hooked.errors().is_empty());
}

#[test]
fn a_refused_command_is_denied_by_json() {
    let message = "There is no `gt deacon`: use `gt mayor`.";
    let hooked = Hooked::new(&[&["refuse", "gt deacon", "--message", message]]);
    let expected = json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": format!("`gt deacon pending` is refused: {message}"),
    }});
    assert_eq!(hooked.before("cd x && gt deacon pending").to_string(), expected.to_string());
    let (_, corrections) = hooked.recorded();
    assert_eq!((&*corrections[0].decision, &*corrections[0].after), ("denied", ""));
}

#[test]
fn whatever_comes_in_the_call_runs_and_the_failure_is_shown() {
    let hooked = Hooked::new(&[GREP]);
    let odd = [
        "",
        "{",
        "[]",
        "null",
        "{}",
        "{\"tool_name\":7}",
        "\u{0}",
        "{\"hook_event_name\":\"Stop\",\"tool_name\":\"x\"}",
    ];
    for payload in odd {
        for event in ["pre", "post", "failure", "batch"] {
            assert_eq!(hooked.hook(event, payload), "", "{event} {payload:?}");
        }
        let cursor = fed(&mut hooked.command(&["hook", "pre", "--host", "cursor"]), payload);
        assert_eq!((cursor.code, &*cursor.stdout), (Some(0), "{}\n"), "{payload:?}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(hooked.hook("pre", &deep), "");
    for arguments in [
        &["hook"][..],
        &["hook", "pre"],
        &["hook", "pre", "--host", "vim"],
        &["hook", "x", "--host", "codex"],
    ] {
        let printed = fed(&mut hooked.command(arguments), "{}");
        assert_eq!((printed.code, &*printed.stdout), (Some(0), ""), "{arguments:?}");
    }
    assert!(hooked.errors().len() > 30);
    let doctor = hooked.user.towpath(&["doctor"]);
    assert!(doctor.stdout.contains("failures, the last one: "), "{}", doctor.stdout);
    // It still works afterwards.
    assert!(hooked.before("grep a").is_object());
}

/// This text takes the parser longer than a minute.
#[test]
fn a_line_that_takes_too_long_runs_as_it_is() {
    let hooked = Hooked::new(&[&["command", "foo", "bar"]]);
    let line = format!("foo; (({}))", ";;#".repeat(20_000));
    let payload = hooked.payload("PreToolUse", "c1", &line).to_string();
    assert_eq!(hooked.hook("pre", &payload), "");
    let errors = hooked.errors();
    assert!(errors.iter().any(|error| error.contains("no answer after 2 s")), "{errors:?}");
}

#[test]
fn a_state_that_cannot_be_used_lets_the_call_run() {
    let hooked = Hooked::new(&[GREP]);
    assert!(hooked.before("grep a").is_object());
    // A damaged snapshot is made again.
    fs::write(hooked.file("rules.snapshot"), "towpath rules 1\nnonsense").expect("written");
    assert!(hooked.before("grep a").is_object());
    // So is one that is a directory now, as far as that can be.
    fs::remove_file(hooked.file("rules.snapshot")).expect("removed");
    fs::create_dir(hooked.file("rules.snapshot")).expect("a directory");
    assert!(hooked.before("grep b").is_object());
    fs::remove_dir(hooked.file("rules.snapshot")).expect("removed");
    // A damaged journal cannot be read.
    fs::write(hooked.user.path("home/state/journal.db"), "nonsense".repeat(1_000))
        .expect("written");
    for name in ["journal.db-wal", "journal.db-shm"] {
        let _ = fs::remove_file(hooked.user.path("home/state").join(name));
    }
    assert_eq!(hooked.before("grep c"), Value::Null);
    assert!(hooked.errors().last().is_some_and(|line| line.contains("pre claude-code")));
    // Without a home there is no state at all.
    let payload = hooked.payload("PreToolUse", "c", "grep a").to_string();
    let mut command = hooked.command(&["hook", "pre", "--host", "claude-code"]);
    let printed = fed(command.env_remove("HOME").env_remove("TOWPATH_HOME"), &payload);
    assert_eq!((printed.code, &*printed.stdout, &*printed.stderr), (Some(0), "", ""));
}

#[test]
fn what_cannot_be_written_does_not_change_the_answer() {
    let hooked = Hooked::new(&[GREP]);
    let expected = hooked.before("grep a");
    // As on a full disk: nothing can be appended.
    for name in ["calls.log", "errors.log", "sessions"] {
        let path = hooked.file(name);
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
    }
    for name in ["calls.log", "errors.log"] {
        fs::create_dir(hooked.file(name)).expect("a directory instead of a file");
    }
    fs::write(hooked.file("sessions"), "").expect("a file instead of a directory");
    assert_eq!(hooked.before("grep a"), expected);
}

#[test]
fn a_failure_is_recorded_without_secrets() {
    let hooked = Hooked::new(&[]);
    let mut failed =
        hooked.payload("PostToolUseFailure", "c1", "git pussh --password=hunter22 origin");
    failed["error"] = json!("Exit code 1\ngit: 'pussh' is not a git command. See 'git --help'.");
    assert_eq!(hooked.answer("failure", &failed), Value::Null);
    // The host may run the hook twice.
    assert_eq!(hooked.answer("failure", &failed), Value::Null);
    let done = hooked.payload("PostToolUse", "c2", "git push origin");
    assert_eq!(hooked.answer("post", &done), Value::Null);
    let log = fs::read_to_string(hooked.file("calls.log")).expect("a log");
    assert!(!log.contains("hunter22"), "{log}");
    let (calls, _) = hooked.recorded();
    assert!(!hooked.file("calls.log").exists(), "it was folded");
    assert_eq!(calls.len(), 2);
    let call = &calls[0];
    assert_eq!((call.program.as_deref(), call.subcommand.as_deref()), (Some("git"), Some("pussh")));
    assert_eq!((call.failed, call.exit_code, call.host.as_str()), (true, Some(1), "claude-code"));
    assert!(call.error.as_deref().is_some_and(|error| error.contains("not a git command")));
    assert_eq!((calls[1].failed, calls[1].error.as_deref()), (false, None));
}

#[test]
fn an_invented_tool_is_answered_by_the_hook_that_fires() {
    let hooked = Hooked::new(&[&["tool", "read_file", "Read"]]);
    let payload = json!({
        "session_id": "s", "cwd": "/", "hook_event_name": "PostToolBatch",
        "tool_calls": [
            { "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": "1", "tool_response": "a" },
            { "tool_name": "read_file", "tool_input": { "path": "x" }, "tool_use_id": "2",
              "tool_response": "<tool_use_error>Error: No such tool available: read_file</tool_use_error>" },
            { "tool_name": "other", "tool_input": {}, "tool_use_id": "3",
              "tool_response": "<tool_use_error>Error: No such tool available: other</tool_use_error>" },
        ],
    });
    let expected = json!({ "hookSpecificOutput": {
        "hookEventName": "PostToolBatch",
        "additionalContext": "There is no tool \"read_file\". Use \"Read\" instead.",
    }});
    assert_eq!(hooked.answer("batch", &payload).to_string(), expected.to_string());
    let (calls, _) = hooked.recorded();
    let tools: Vec<&str> = calls.iter().map(|call| call.tool.as_str()).collect();
    assert_eq!(tools, ["read_file", "other"]);
    let (_, corrections) = hooked.recorded();
    let rows: Vec<_> = corrections.iter().map(|c| (&*c.before, &*c.decision)).collect();
    assert_eq!(rows, [("read_file", "denied")]);
    let rules = hooked.user.towpath(&["rules", "list", "--json"]).exits(0).json();
    assert_eq!(rules["rules"][0]["hits"], 1, "{rules:#}");
}

#[test]
fn its_help_is_for_users() {
    let user = User::new();
    let help = user.towpath(&["hook", "--help"]).exits(0).stdout;
    assert!(help.contains("towpath init HOST"), "{help}");
}

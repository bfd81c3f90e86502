//! The flags as a user finds and types them: grouped in the help, reported by their own names where they
//! are wrong, and the same under the name `agent-recipes`.

use super::{run, shown, under_the_name, user};

/// The flags below each heading of a help.
fn grouped(help: &str) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for line in help.lines() {
        match line.strip_suffix(':').filter(|title| !title.starts_with(' ')) {
            Some(title) => groups.push((title.to_owned(), Vec::new())),
            None => {
                let flag = line.split_whitespace().find(|word| word.starts_with("--"));
                let own = line.starts_with("      --") || line.starts_with("  -");
                if let (Some(flag), true, Some((_, flags))) = (flag, own, groups.last_mut()) {
                    flags.push(flag.to_owned());
                }
            }
        }
    }
    groups
}

#[test]
fn every_flag_of_the_help_is_under_its_own_heading() {
    let user = user(&[]);
    let machines = ["--max-visits", "--max-steps", "--max-restarts"];
    let more = ["--model", "--session", "--context", "--context-file", "--system-prompt"];
    let of_run = [&more[..], &["--conversation"]].concat();
    let output = ["--json", "--verbose", "--events", "--events-file"];
    for (arguments, more) in [
        (&["run", "--help"][..], &of_run[..]),
        (&["resume", "--help"], &[]),
        (&["as", "agent-recipes", "--help"], &more),
    ] {
        let help = user.towpath(arguments).exits(0).stdout;
        let groups = grouped(&help);
        let of = |title: &str| {
            let group = groups.iter().find(|(known, _)| known == title);
            let mut flags = group.unwrap_or_else(|| panic!("no {title} in {help}")).1.clone();
            flags.sort();
            flags
        };
        let sorted = |flags: &[&str]| {
            let mut flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
            flags.sort();
            flags
        };
        assert_eq!(of("State machines"), sorted(&[&machines[..], more].concat()), "{arguments:?}");
        assert_eq!(of("Agents"), ["--agent-path", "--backend", "--calls", "--script"]);
        assert_eq!(of("Time"), ["--idle-timeout", "--step-timeout"]);
        assert!(output.iter().all(|flag| of("Output").iter().any(|known| known == flag)), "{help}");
        assert!(!of("Options").iter().any(|flag| flag.contains("timeout")), "{help}");
    }
}

#[test]
fn a_dry_run_under_the_name_is_one_object_with_json() {
    let user = user(&[]);
    let printed = under_the_name(&user, &["fix.yaml", "--dry-run", "--json"]).exits(0);
    let look = printed.json();
    assert_eq!((&look["dry_run"], &look["recipe_name"]), (&true.into(), &"fix".into()));
    let text = under_the_name(&user, &["fix.yaml", "--dry-run"]).exits(0).stdout;
    assert!(text.starts_with("Recipe: fix\n"), "{text}");
}

#[test]
fn a_wrong_directory_is_reported_by_the_flag() {
    let user = user(&[]);
    let wrong = ["fix.yaml", "--working-dir", "/no/such"];
    let printed = under_the_name(&user, &wrong).exits(5);
    assert!(printed.stderr.starts_with("error: --working-dir /no/such: "), "{}", printed.stderr);
}

#[test]
fn timeout_flags_apply_under_the_name_too() {
    let user = user(&[]);
    user.write("answers.jsonl", "{\"text\": \"late\", \"delay_ms\": 60000}\n");
    for (flag, reported) in [("--step-timeout", "timed out after 1 s"), ("--idle-timeout", "1 s")] {
        let printed = under_the_name(&user, &["fix.yaml", flag, "1"]).exits(4);
        assert!(printed.stderr.contains(reported), "{flag}: {}", printed.stderr);
        assert_eq!(printed.stdout, "Exit: backend-error\n");
    }
}

#[test]
fn a_programs_path_given_by_a_flag_wins_and_a_resume_keeps_it() {
    let user = user(&[]);
    let answer = |text: &str| {
        let line = serde_json::json!({ "type": "result", "subtype": "success", "is_error": false,
            "session_id": "s1", "result": text });
        format!("#!/bin/sh\ncat > asked\ncat <<'END'\n{line}\nEND\n")
    };
    let program = |name: &str, text: &str| {
        user.program(&format!("work/{name}"), &answer(text));
    };
    program("own/agent", "Hm.");
    program("other", "{\"outcome\": \"broken\"}");
    let with = ["fix.yaml", "--agent-path", "own/agent", "--backend", "claude-code"];
    let variable = user.path("work/other");
    let mut command = user.command(&[&["run"], &with[..]].concat());
    let printed = command.env("CLAUDE_CLI_PATH", &variable).output().expect("it starts");
    assert_eq!(printed.status.code(), Some(1), "its answers report nothing: {printed:?}");
    program("own/agent", "{\"outcome\": \"fine\"}");
    let id = user.run();
    user.towpath(&["resume", id.as_str()]).exits(0);
    assert_eq!(shown(&user)["machine"]["reason"], "all-fine");
    program("third", "{\"outcome\": \"fine\"}");
    let with = ["as", "agent-recipes", "fix.yaml", "--agent-path", "./third"];
    let printed = user.towpath(&with).exits(0);
    assert!(printed.stdout.ends_with("\nExit: all-fine\n"), "{}", printed.stdout);
    let none = ["run", "fix.yaml", "--agent-path", "no/such"];
    user.towpath(&none).exits(5).reports("--agent-path names `");
    run(&user, &["fix.yaml", "--agent-path", "own/agent"]).exits(2);
}

#[test]
fn a_conversation_gets_the_id_that_it_is_given() {
    let sessions = |user: &crate::support::User| -> Vec<(String, String)> {
        let lines = user.read("calls.jsonl");
        let call = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("JSON");
        let text = |call: &serde_json::Value, key: &str| call[key].as_str().expect(key).to_owned();
        let calls = lines.lines().map(call);
        calls.map(|call| (text(&call, "how"), text(&call, "session"))).collect()
    };
    let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(how, id)| ((*how).to_owned(), (*id).to_owned())).collect()
    };
    let user = user(&["broken", "fixed", "fine"]);
    run(&user, &["fix.yaml", "--conversation", "c1"]).exits(0);
    assert_eq!(sessions(&user), pairs(&[("new", "c1"), ("resume", "c1"), ("resume", "c1")]));
    user.write("calls.jsonl", "");
    super::script(&user, &["fine"]);
    run(&user, &["fix.yaml", "--conversation", "c1", "--session", "s7"]).exits(0);
    assert_eq!(sessions(&user), pairs(&[("resume", "s7")]));
    run(&user, &["fix.yaml", "--conversation", " "]).exits(2).reports("--conversation has no id");
    user.write("list.yaml", "name: list\nsteps:\n  - {id: a, command: echo}\n");
    let refused = run(&user, &["list.yaml", "--conversation", "c1"]).exits(2);
    refused.reports("--conversation is for state machines, and list is a step recipe");
}

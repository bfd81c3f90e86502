//! Checks that are repaired, and those that must not be.

use super::release_server::{ReleaseServer, archive};
use super::{GREET, create, installs, visible};
use crate::support::User;
use serde_json::Value;
use std::fs;

/// Answers to arguments; everything else is unknown to it.
fn answers(cases: &[(&str, &str)], otherwise: &str) -> String {
    let cases: String =
        cases.iter().map(|(argument, answer)| format!("  {argument}) {answer};;\n")).collect();
    format!("#!/bin/sh\ncase \"$1\" in\n{cases}  *) {otherwise};;\nesac\n")
}

fn created(script: &str) -> Value {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let url = server.tool(&user, "odd", "2.0.0", script);
    let json = create(&user, "odd", &url, &["--json"]).exits(0).json();
    let recipe = fs::read_to_string(user.path("home/config/tools/odd.toml")).expect("it is saved");
    let method = json["repair_metadata"]["method"].as_str().unwrap_or_default();
    assert_eq!(recipe.contains("[provenance.repair]"), !method.is_empty(), "{recipe}");
    // The stored check passes again.
    user.towpath(&["tool", "verify"]).exits(0);
    json
}

#[test]
fn each_way_to_repair_a_check_is_recorded() {
    const USAGE: &str = "{ echo 'usage: odd [-x] FILE' >&2; exit 2; }";
    for (script, method, command, exit_code) in [
        (answers(&[("--version", "echo odd 2.0.0")], "exit 1"), "", "odd --version", 0),
        (answers(&[], USAGE), "output_detection", "odd --version", 2),
        (answers(&[("-V", "echo odd 2.0.0")], "exit 1"), "fallback_version_flag", "odd -V", 0),
        (
            answers(&[("--help", "echo 'Usage: odd FILE'")], "exit 1"),
            "fallback_help",
            "odd --help",
            0,
        ),
        (answers(&[("-h", "echo 'Usage: odd FILE'")], "exit 1"), "fallback_h", "odd -h", 0),
    ] {
        let json = created(&script);
        let repair = &json["repair_metadata"];
        assert_eq!(json["verify"]["command"], command, "{json}");
        if method.is_empty() {
            assert!(json.get("repair_metadata").is_none(), "{json}");
            continue;
        }
        assert_eq!(repair["type"], "verification_self_repair");
        assert_eq!(repair["method"], method, "{json}");
        assert_eq!(
            (&repair["original"], &repair["repaired"]),
            (&"odd --version".into(), &command.into())
        );
        assert_eq!(repair["exit_code"], exit_code);
        let reason = "verification repaired: tool does not support --version";
        assert_eq!(json["verify"]["reason"], reason, "{json}");
    }
}

#[test]
fn broken_hanging_and_silent_tools_are_not_installed() {
    for (script, verdict) in [
        ("#!/bin/sh\nexec /opt/nowhere/odd \"$@\"\n", "broken"),
        ("#!/opt/nowhere/interpreter\n", "broken"),
        ("#!/bin/sh\necho odd 2.0.0\nkill -SEGV $$\n", "broken"),
        ("#!/bin/sh\nexit 0\n", "unknown"),
    ] {
        let (user, server) = (User::on_disk(), ReleaseServer::start());
        let url = server.tool(&user, "odd", "2.0.0", script);
        let json = create(&user, "odd", &url, &["--json"]).exits(1).json();
        assert_eq!((&json["status"], &json["verdict"]), (&"not-verified".into(), &verdict.into()));
        assert_eq!(visible(&user), Vec::<String>::new(), "{script}");
        assert_eq!(installs(&user, "odd"), 0, "{script}");
        assert!(!user.path("home/config/tools/odd.toml").exists(), "{script}");
    }
}

#[test]
fn a_command_that_hangs_is_ended_and_the_next_one_is_tried() {
    let cases = [("--help", "sleep 300"), ("-h", "echo 'Usage: odd FILE'")];
    let json = created(&answers(&cases, "exit 1"));
    assert_eq!(json["repair_metadata"]["method"], "fallback_h", "{json}");
}

#[test]
fn a_working_but_wrong_tool_is_not_installed() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let url = server.tool(&user, "odd", "2.0.0", "#!/bin/sh\necho bittern 7.0.3\n");
    let json = create(&user, "odd", &url, &["--json"]).exits(1).json();
    assert_eq!(json["verdict"], "unknown", "{json}");
    assert_eq!(visible(&user), Vec::<String>::new());
    // A bare version that is not the expected one, and help that never has the tool's name.
    let script = answers(
        &[("--version", "echo 7.0.3")],
        "echo 'Options:'; echo '  -x, --extra  more'; echo '  -h, --help  this'",
    );
    let json = create(&user, "odd", &server.tool(&user, "odd", "2.0.0", &script), &["--json"])
        .exits(1)
        .json();
    assert_eq!(json["verdict"], "unknown", "{json}");
    // With its name it is the tool, in another version.
    let script = answers(&[("--version", "echo odd 7.0.3")], "exit 1");
    create(&user, "odd", &server.tool(&user, "odd", "2.0.0", &script), &[]).exits(0);
}

#[test]
fn a_program_that_prints_only_the_name_it_was_started_by_is_not_the_tool() {
    const USAGE: &str = "echo \"usage: ${0##*/} [-x] FILE\" >&2; exit 2\n";
    const VERSION: &str = "echo \"${0##*/} 7.0.3\"\n";
    const OLD: &str = "echo '7.0.3'; exit 0\n";
    const NEW: &str = "echo \"${0##*/} 2.0.0\"\n";
    for (script, works) in [
        (USAGE.to_owned(), false),
        (VERSION.to_owned(), false),
        (format!("[ $1 = -V ] || {{ {USAGE}}}\n{OLD}"), false),
        // The version that it should have, its own name in its file, and one that has its own file beside it.
        (NEW.to_owned(), true),
        (format!("# The odd program.\n{USAGE}"), true),
        (format!("[ -d ${{0%/*}}/../bin ] || exit 3\n{USAGE}"), true),
    ] {
        let (user, server) = (User::on_disk(), ReleaseServer::start());
        let url = server.tool(&user, "odd", "2.0.0", &format!("#!/bin/sh\n{script}"));
        let exit = if works { 0 } else { 1 };
        let json = create(&user, "odd", &url, &["--json"]).exits(exit).json();
        assert_eq!(json["verdict"] == "unknown", !works, "{script}: {json}");
    }
}

#[test]
fn a_program_of_the_package_is_not_the_interpreter_of_another_one() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let programs = [
        ("greet", "#!/usr/bin/env sh\necho greet 1.2.0\n"),
        ("sh", "#!/bin/sh\necho 'no shell' >&2\nexit 1\n"),
    ];
    server.put("greet-1.2.0.tar.gz", archive(&user, "greet", "1.2.0", &programs));
    create(&user, "greet", &server.url("greet-1.2.0.tar.gz"), &[]).exits(0);
    user.towpath(&["tool", "verify"]).exits(0);
}

#[test]
fn a_recipe_that_the_user_wrote_or_edited_is_never_repaired() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let usage = answers(&[], "{ echo 'usage: odd [-x] FILE' >&2; exit 2; }");
    create(&user, "odd", &server.tool(&user, "odd", "2.0.0", &usage), &[]).exits(0);
    user.towpath(&["tool", "remove", "odd"]).exits(0);
    let path = user.path("home/config/tools/odd.toml");
    let recipe = fs::read_to_string(&path).expect("it is saved");
    let edited = recipe.replace("exit_code = 2", "exit_code = 3");
    assert_ne!(edited, recipe);
    fs::write(&path, &edited).expect("it can be edited");
    let printed = user.towpath(&["tool", "install", "odd"]).exits(1);
    assert!(printed.stdout.contains("exit code 3 was expected, it was 2"), "{}", printed.stdout);
    assert_eq!(fs::read_to_string(&path).expect("it is there"), edited);
    assert_eq!(visible(&user), Vec::<String>::new());
    let url = server.url("odd-2.0.0.tar.gz");
    create(&user, "odd", &url, &[]).exits(2).reports("is your own recipe and stays as it is");
}

#[test]
fn every_program_is_probed_and_the_named_one_decides() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let programs = [("greet", GREET), ("broken-one", "#!/opt/nowhere/x\n")];
    server.put("greet-1.2.0.tar.gz", archive(&user, "greet", "1.2.0", &programs));
    let url = server.url("greet-1.2.0.tar.gz");
    let json = create(&user, "greet", &url, &["--json"]).exits(0).json();
    let verdicts: Vec<(&str, &str)> = json["programs"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|program| {
            let text = |name: &str| program[name].as_str().unwrap_or_default();
            (text("name"), text("verdict"))
        })
        .collect();
    assert!(verdicts.contains(&("greet", "works-by-version")), "{verdicts:?}");
    assert!(verdicts.contains(&("broken-one", "broken")), "{verdicts:?}");
}

#[test]
fn what_a_tool_does_while_it_is_verified_stays_in_the_sandbox() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let work = user.path("work/written");
    let script = format!(
        "#!/bin/sh\necho odd > \"$HOME/was-here\"; echo odd > {} 2>/dev/null\n\
         printf '\\033[2J\\033]0;title\\007odd 2.0.0\\n'\n(sleep 300 &)\n",
        work.display()
    );
    let printed = create(&user, "odd", &server.tool(&user, "odd", "2.0.0", &script), &[]).exits(0);
    assert!(!printed.stdout.contains('\u{1b}'), "{:?}", printed.stdout);
    assert!(!work.exists());
    assert!(!user.path("home/was-here").exists());
}

#[test]
fn another_version_than_the_expected_one_is_a_warning() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let script = answers(&[("--version", "echo odd 1.9.9")], "exit 1");
    let printed = create(&user, "odd", &server.tool(&user, "odd", "2.0.0", &script), &[]).exits(0);
    let warning = "version 2.0.0 was expected, 1.9.9 is printed";
    assert!(printed.stdout.contains(warning), "{}", printed.stdout);
}

#[test]
fn repairs_are_counted_and_sent_only_where_the_user_wants() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let usage = answers(&[], "{ echo 'usage: odd [-x] FILE' >&2; exit 2; }");
    let url = server.tool(&user, "odd", "2.0.0", &usage);
    create(&user, "odd", &url, &[]).exits(0);
    let events = user.store().telemetry().expect("events can be read");
    assert_eq!(events.len(), 1);
    let body: Value = serde_json::from_str(&events[0].body).expect("JSON");
    assert_eq!((&body["event"], &body["tool"]), (&"verify_self_repair".into(), &"odd".into()));
    assert_eq!((&body["method"], &body["success"]), (&"output_detection".into(), &true.into()));
    assert_eq!(body["time_saved_ms"], 30_000, "no model was ever asked on this machine");
    assert!(!server.requests().iter().any(|(path, _)| path == "/events"));
    fs::write(
        user.path("home/config/settings.toml"),
        format!("[tools]\ntelemetry_url = \"{}\"\n", server.url("events")),
    )
    .expect("settings");
    server.put("events", b"{}".to_vec());
    let silent = server.tool(&user, "silent", "1.0.0", "#!/bin/sh\nexit 0\n");
    create(&user, "silent", &silent, &[]).exits(1);
    let sent: Vec<(String, String)> =
        server.requests().into_iter().filter(|(path, _)| path == "/events").collect();
    assert_eq!(sent.len(), 1, "{sent:?}");
    let body: Value = serde_json::from_str(&sent[0].1).expect("JSON");
    assert_eq!((&body["tool"], &body["success"]), (&"silent".into(), &false.into()));
    assert_eq!((&body["method"], &body["time_saved_ms"]), (&Value::Null, &0.into()));
    let lines = user.towpath(&["tool", "events"]).exits(0).stdout;
    let rows: Vec<Vec<&str>> = lines.lines().map(|l| l.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["WHEN", "TOOL", "METHOD", "SUCCESS", "SAVED"]);
    assert_eq!(rows[1], ["just", "now", "silent", "–", "no", "–"]);
    assert_eq!(rows[2], ["just", "now", "odd", "output_detection", "yes", "30", "s"]);
    let json = user.towpath(&["tool", "events", "--json"]).exits(0).json();
    assert_eq!(
        (&json["events"][0]["tool"], &json["events"][1]["tool"]),
        (&"silent".into(), &"odd".into())
    );
    assert!(json["events"][1]["at"].as_str().is_some_and(|at| at.contains('T')), "{json}");
}

#[test]
fn without_a_repair_there_is_no_event() {
    User::new().towpath(&["tool", "events"]).exits(0).shows("no check was repaired\n");
}

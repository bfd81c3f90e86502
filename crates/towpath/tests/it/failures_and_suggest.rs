//! `towpath failures` and `towpath rules suggest` over one fixture: the calls of a few sessions in
//! three hosts, and a failed step. What each prints is compared as a whole.

use crate::support::User;
use snapbox::{assert_data_eq, file};
use std::io::Write as _;
use std::process::Stdio;
use std::time::{SystemTime, UNIX_EPOCH};
use towpath_store::{Store, ToolCallRow};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

struct Fixture {
    rows: Vec<ToolCallRow>,
    now: i64,
}

impl Fixture {
    /// A call this long ago, of a shell unless the input is JSON. A text is what it failed with.
    fn add(
        &mut self,
        age: i64,
        host: &str,
        session: &str,
        call: (&str, &str),
        exit: i64,
        error: &str,
    ) {
        let (tool, input) = call;
        let shell = !input.starts_with('{');
        let words: Vec<&str> = input.split(' ').collect();
        let name = |at: usize| words.get(at).filter(|_| shell).map(|word| (*word).to_owned());
        let failed = exit != 0 || !error.is_empty();
        self.rows.push(ToolCallRow {
            id: format!("{:04}", self.rows.len()),
            at_ms: self.now - age,
            host: host.to_owned(),
            version: (host == "claude-code").then(|| "2.1.325".to_owned()),
            session: Some(session.to_owned()),
            directory: Some("/shop".to_owned()),
            tool: tool.to_owned(),
            program: name(0),
            subcommand: name(1).filter(|word| !word.starts_with('-')),
            input: input.to_owned(),
            failed,
            exit_code: (failed && shell).then_some(exit),
            error: failed.then(|| error.to_owned()),
        });
    }
}

fn fixture() -> User {
    let user = User::new();
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock after 1970");
    let mut all = Fixture { rows: Vec::new(), now: since.as_millis() as i64 };
    let flag = "Exit code 129\nerror: unknown option `mesage'\nusage: git commit [-a]";
    let tool = "<tool_use_error>Error: No such tool available: read_file</tool_use_error>";
    for (age, session) in [(4 * DAY, "s1"), (2 * DAY + HOUR, "s2"), (5 * HOUR + MINUTE, "s3")] {
        let mut add = |more, call, exit, error| {
            all.add(age + HOUR / 2 - more, "claude-code", session, call, exit, error);
        };
        add(0, ("Bash", "git status"), 0, "");
        add(MINUTE, ("Bash", "git commit --mesage 'a fix'"), 129, flag);
        add(2 * MINUTE, ("Bash", "git commit --message 'a fix'"), 0, "");
        add(3 * MINUTE, ("read_file", "{\"file_path\":\"a.txt\"}"), 0, tool);
        add(4 * MINUTE, ("Read", "{\"file_path\":\"a.txt\"}"), 0, "");
        add(5 * MINUTE, ("Bash", "cargo test"), 101, "Exit code 101\ntest a ... FAILED");
    }
    let deacon = "Error: unknown command \"deacon\" for \"gt\"";
    let missing = "bash: line 1: fd: command not found";
    for (age, session) in [(DAY + HOUR, "g1"), (4 * HOUR, "g2"), (3 * HOUR, "g3")] {
        let shell = "run_shell_command";
        all.add(age + HOUR / 2, "gemini", session, (shell, "gt deacon pending"), 1, deacon);
        all.add(age + HOUR / 3, "gemini", session, (shell, "fd main"), 127, missing);
        all.add(age + HOUR / 4, "gemini", session, (shell, "fdfind main"), 0, "");
    }
    all.add(2 * HOUR + MINUTE, "codex", "c1", ("Bash", "fd --hidden"), 0, "");
    all.add(90 * MINUTE, "towpath", "7f3k", ("Bash", "make deploy"), 2, "make: *** No rule");
    let mut store = Store::open(&user.path("home/state")).expect("a journal");
    store.tool_calls_add(&all.rows).expect("rows");
    user
}

/// What a command prints, without the times of this run.
fn printed(user: &User, arguments: &[&str]) -> String {
    let printed = user.towpath(arguments).exits(0).stdout;
    let mut text = String::new();
    for line in printed.lines() {
        text.push_str(&without_times(line));
        text.push('\n');
    }
    text
}

/// `2026-01-31T12:00:00.000+01:00` and `2026-01-31` are different in every run.
fn without_times(line: &str) -> String {
    let pattern = r"\d{4}-\d\d-\d\d(T[0-9:.]+(Z|[+-]\d\d:\d\d))?";
    let times = regex::Regex::new(pattern).expect("a pattern");
    times.replace_all(line, "[TIME]").into_owned()
}

#[test]
fn every_view_over_the_fixture() {
    let user = fixture();
    let see = |arguments: &[&str]| printed(&user, arguments);
    assert_data_eq!(see(&["failures"]), file!["failures_and_suggest/list.txt"].raw());
    assert_data_eq!(see(&["failures", "paths"]), file!["failures_and_suggest/paths.txt"].raw());
    assert_data_eq!(see(&["failures", "stats"]), file!["failures_and_suggest/stats.txt"].raw());
    let inspect = ["failures", "inspect", "git %"];
    assert_data_eq!(see(&inspect), file!["failures_and_suggest/inspect.txt"].raw());
    let similar = ["failures", "similar", "read_file"];
    assert_data_eq!(see(&similar), file!["failures_and_suggest/similar.txt"].raw());
    let csv = ["failures", "export", "--format", "csv"];
    assert_data_eq!(see(&csv), file!["failures_and_suggest/export.csv"].raw());
    assert_data_eq!(see(&["rules", "suggest"]), file!["failures_and_suggest/suggest.txt"].raw());
}

#[test]
fn every_view_as_json() {
    let user = fixture();
    let see = |arguments: &[&str]| printed(&user, arguments);
    let list = ["failures", "list", "--limit", "2", "--json"];
    assert_data_eq!(see(&list), file!["failures_and_suggest/list.json"].raw());
    let paths = ["failures", "paths", "--mistakes", "--host", "gemini", "--json"];
    assert_data_eq!(see(&paths), file!["failures_and_suggest/paths.json"].raw());
    let stats = ["failures", "stats", "--limit", "1", "--json"];
    assert_data_eq!(see(&stats), file!["failures_and_suggest/stats.json"].raw());
    let inspect = ["failures", "inspect", "--tool", "Bash", "mesage", "--json"];
    assert_data_eq!(see(&inspect), file!["failures_and_suggest/inspect.json"].raw());
    let similar = ["failures", "similar", "run_command", "--json"];
    assert_data_eq!(see(&similar), file!["failures_and_suggest/similar.json"].raw());
    let export = ["failures", "export", "--host", "towpath"];
    assert_data_eq!(see(&export), file!["failures_and_suggest/export.jsonl"].raw());
    let suggest = ["rules", "suggest", "--json"];
    assert_data_eq!(see(&suggest), file!["failures_and_suggest/suggest.json"].raw());
}

#[test]
fn failures_are_narrowed_and_missed() {
    let user = fixture();
    let count = |arguments: &[&str]| {
        let all: Vec<&str> =
            ["failures", "list", "--json", "-n", "99"].iter().chain(arguments).copied().collect();
        user.towpath(&all).exits(0).json()["failures"].as_array().expect("a list").len()
    };
    assert_eq!(count(&[]), 16);
    assert_eq!(count(&["--host", "gemini"]), 6);
    assert_eq!(count(&["--tool", "read_file"]), 3);
    assert_eq!(count(&["--since", "4h"]), 3);
    user.towpath(&["failures", "inspect", "nothing"])
        .exits(2)
        .reports("no recorded failure fits `nothing`");
    user.towpath(&["failures", "similar", "deploy_rocket"])
        .exits(0)
        .prints("no known name is similar to deploy_rocket\n");
    user.towpath(&["failures", "list", "--host", "vim"]).exits(2);
}

#[test]
fn looking_at_no_failures_creates_nothing() {
    let user = User::new();
    user.towpath(&["failures"]).exits(0).shows("no failures are recorded");
    user.towpath(&["failures", "stats"]).exits(0).shows("no calls are recorded");
    user.towpath(&["rules", "suggest"]).exits(0).shows("no rules to propose");
    user.towpath(&["failures", "export"]).exits(0).prints("");
    user.towpath(&["failures", "similar", "read_file"]).exits(0).shows("Read");
    assert!(!user.path("home").exists(), "looking created something");
}

#[test]
fn an_agent_writes_the_rule_for_what_has_no_recovery() {
    let user = User::new();
    let mut all = Fixture { rows: Vec::new(), now: 1_000_000_000 };
    let error = "Error: unknown command \"deacon\" for \"gt\"";
    for at in [1, 2] {
        all.add(at, "claude-code", "s1", ("Bash", "gt deacon pending"), 1, error);
    }
    let mut store = Store::open(&user.path("home/state")).expect("a journal");
    store.tool_calls_add(&all.rows).expect("rows");
    let suggest = |answer: &str| {
        user.write("answers.jsonl", &format!("{}\n", serde_json::json!({ "text": answer })));
        let arguments = ["rules", "suggest", "--json", "--model", "--script", "answers.jsonl"];
        user.towpath(&arguments).exits(0)
    };
    let json = user.towpath(&["rules", "suggest", "--json"]).exits(0).json();
    assert_eq!(json["unanswered"][0]["mistake"]["subcommand"], "deacon");
    let good = r#"[{"mistake":1,"rule":{"kind":"command","from":"gt deacon","to":"gt mol"}}]"#;
    let json = suggest(&format!("Sure:\n```json\n{good}\n```")).json();
    assert_eq!(json["proposals"][0]["rule"]["to"], "gt mol");
    assert_eq!(json["proposals"][0]["back_test"]["prevented"], 2);
    assert_eq!(json["unanswered"], serde_json::json!([]));
    for (bad, why) in [
        (
            r#"[{"mistake":1,"rule":{"kind":"command","from":"gt deacon","to":"gt deacon"}}]"#,
            "already",
        ),
        (r#"[{"mistake":1,"rule":{"kind":"refuse","from":"gt deacon"}}]"#, "message is empty"),
        (
            r#"[{"mistake":1,"rule":{"kind":"command","from":"gt x","to":"gt mol"}}]"#,
            "does not change",
        ),
        (r#"[{"mistake":1,"rule":"rm -rf /"}]"#, "is no good"),
    ] {
        let printed = suggest(bad).reports(why);
        assert_eq!(printed.json()["proposals"], serde_json::json!([]), "{bad}");
    }
    assert_eq!(user.towpath(&["rules", "--json"]).json()["rules"], serde_json::json!([]));
}

#[test]
fn a_failed_step_of_a_run_is_recorded_without_its_secrets() {
    let recipe = "name: build\nsteps:\n  - id: fine\n    command: 'true'\n  - id: all\n    \
                  command: API_TOKEN=s3cr3t-s3cr3t gti --verbose\n";
    let user = User::new().file("build.yaml", recipe);
    user.towpath(&["run", "build.yaml"]).exits(1);
    let json = user.towpath(&["failures", "--json"]).exits(0).json();
    let [failure] = &json["failures"].as_array().expect("a list")[..] else { panic!("{json}") };
    assert_eq!(failure["host"], "towpath");
    assert_eq!(failure["session"], user.run().to_string());
    assert_eq!(failure["input"], "API_TOKEN=*** gti --verbose");
    assert_eq!(failure["exit_code"], 127);
    assert_eq!(failure["mistake"], serde_json::json!({ "unknown": "command", "program": "gti" }));
    assert_eq!(failure["program"], "gti");
}

#[test]
fn a_run_does_not_fail_because_nothing_can_be_recorded() {
    let recipe =
        "name: build\nsteps:\n  - id: all\n    command: gti status\n    continue_on_error: true\n";
    let user = User::new().file("build.yaml", recipe);
    std::fs::create_dir_all(user.path("home/state")).expect("a directory");
    std::fs::write(user.path("home/state/hooks"), "no directory").expect("a file");
    user.towpath(&["run", "build.yaml"]).exits(0);
}

/// What `rules suggest` prints on a terminal where a user types these answers.
fn typed(user: &User, answers: &str) -> String {
    let own = user.command(&["rules", "suggest"]);
    let mut command = std::process::Command::new("script");
    command.args(["--quiet", "--return", "--command"]);
    command.arg(format!("{} rules suggest", own.get_program().display())).arg("/dev/null");
    command.current_dir(user.path("work")).env_remove("CI").env("SHELL", "/bin/sh");
    command.env("TOWPATH_HOME", user.path("home")).env("TERM", "dumb");
    command.env("EDITOR", "sed -i s/--message/--reuse-message/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("script starts");
    let mut keyboard = child.stdin.take().expect("a pipe");
    keyboard.write_all(answers.as_bytes()).expect("the answers are read");
    let output = child.wait_with_output().expect("it ends");
    drop(keyboard);
    String::from_utf8(output.stdout).expect("text").replace('\r', "")
}

#[test]
fn on_a_terminal_a_rule_is_accepted_edited_or_dismissed() {
    let user = fixture();
    // The tool's rule is skipped, the refusal dismissed, the flag edited and then accepted.
    let printed = typed(&user, "s\nd\nwhat\ne\na\n");
    assert!(printed.contains("dismissed; it is not proposed again"), "{printed}");
    assert!(printed.contains("rule 1 added: git commit --mesage → --reuse-message"), "{printed}");
    let json = user.towpath(&["rules", "suggest", "--json"]).exits(0).json();
    let proposals = json["proposals"].as_array().expect("a list");
    let kinds: Vec<_> = proposals.iter().map(|p| &p["rule"]["kind"]).collect();
    assert_eq!(kinds, ["tool-name"], "neither the dismissed nor the accepted one returns");
    let tested = user.towpath(&["rules", "test", "git commit --mesage x", "--json"]).json();
    assert_eq!(tested["after"], "git commit --reuse-message x");
    let quit = typed(&user, "q\n");
    assert!(!quit.contains("added") && !quit.contains("dismissed;"), "{quit}");
}

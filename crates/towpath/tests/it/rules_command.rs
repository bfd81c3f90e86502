//! `towpath rules`: rules added, listed, tested, removed and paused by a user.

use crate::support::{Printed, User};
use serde_json::json;

#[track_caller]
fn rules(user: &User, arguments: &[&str]) -> Printed {
    let all: Vec<&str> = ["rules"].iter().chain(arguments).copied().collect();
    user.towpath(&all)
}

#[test]
fn looking_at_no_rules_creates_nothing() {
    let user = User::new();
    rules(&user, &[])
        .exits(0)
        .shows("no rules yet; to add one: towpath rules add command python python3\n");
    rules(&user, &["test", "ls"]).exits(0).prints("  no rule changes this command\n");
    rules(&user, &["log"]).exits(0).shows("nothing was corrected");
    rules(&user, &["continue"]).exits(0).prints("corrections were not paused\n");
    rules(&user, &["remove", "1"]).exits(2).reports("there is no rule 1");
    rules(&user, &["disable", "1"]).exits(2).reports("there is no rule 1");
    assert!(!user.path("home").exists(), "looking created something");
}

#[test]
fn every_kind_is_added_and_corrects() {
    let user = User::new();
    let added = |arguments: &[&str], shown: &str| {
        let all: Vec<&str> = ["add"].iter().chain(arguments).copied().collect();
        rules(&user, &all).exits(0).shows(shown);
    };
    added(&["command", "grep", "rg"], "rule 1 added: grep → rg\n");
    added(&["flag", "scp", "-r", "-R"], "rule 2 added: scp -r → -R\n");
    added(&["flag", "ls", "--drop", "-Z"], "rule 3 added: ls -Z → (dropped)\n");
    added(&["flag", "gh", "--", "--json", "--format"], "rule 4 added: gh --json → --format\n");
    added(&["tool", "read_file", "Read"], "rule 5 added: read_file → Read\n");
    added(
        &["refuse", "git push -f", "--message", "use --force-with-lease"],
        "rule 6 added: git push -f → refused: use --force-with-lease\n",
    );
    added(
        &["recipe", "gt wait", "gt status; echo \"{{.Arg 1}}\"", "--timeout", "600"],
        "rule 7 added: gt wait → gt status; echo \"{{.Arg 1}}\"\n",
    );
    added(
        &["literal", "--command", "curl", "http:", "https:"],
        "rule 8 added: curl http: → https:\n",
    );
    added(
        &["literal", "--tool", "Read", "--param", "file_path", "/old", "/new"],
        "rule 9 added: Read.file_path: /old → /new\n",
    );
    added(&["regex", r"wget (\S+)", "curl -O $1"], "rule 10 added: wget (\\S+) → curl -O $1\n");
    added(&["tool-recipe", "wait_for", "sleep 5"], "rule 11 added: wait_for → sleep 5\n");

    let corrected = |line: &str, after: &str| {
        let json = rules(&user, &["test", line, "--json"]).exits(0).json();
        assert_eq!(json["after"], after, "{line}");
    };
    corrected("cd a && grep -n x f | head", "cd a && rg -n x f | head");
    corrected("scp -qr a h:", "scp -qR a h:");
    corrected("ls -Z /", "ls /");
    corrected("gh pr list --json url", "gh pr list --format url");
    corrected("gt wait \"a b\"", "gt status; echo \"a b\"");
    corrected("curl 'http://x'", "curl 'https://x'");
    corrected("wget http://y", "curl -O http://y");
    let input = r#"{"file_path": "/old/f", "limit": 3}"#;
    let json = rules(&user, &["test", "--tool", "Read", "--input", input, "--json"]).json();
    assert_eq!(json["input"], json!({ "file_path": "/new/f", "limit": 3 }));
    let tool = rules(&user, &["test", "--tool", "wait_for"]).exits(0);
    tool.shows("refused by rule 11").shows("sleep 5");
    let timeout = rules(&user, &["test", "gt wait x", "--json"]).json();
    assert_eq!(timeout["input"]["timeout"], 600_000);
}

#[test]
fn the_same_mistake_again_replaces_and_reports_it() {
    let user = User::new();
    rules(&user, &["add", "flag", "scp", "-r", "-R"]).exits(0);
    rules(&user, &["disable", "1"]).exits(0).prints("rule 1 disabled\n");
    rules(&user, &["test", "ls; scp -r a b"])
        .prints("  no rule changes this command\n  rule 1 is not applied: it is disabled\n");
    rules(&user, &["test", "echo scp"])
        .prints("  no rule changes this command\n  rules about its programs: 1\n");
    rules(&user, &["test", "scp 'a"]).shows("the line is not understood as bash");
    rules(&user, &["add", "flag", "scp", "-r", "--message", "No -r", "-R"])
        .exits(0)
        .prints("rule 1 replaced: scp -r → -R\n  message was: none\n  it was disabled\n");
    let json = rules(&user, &["--json"]).exits(0).json();
    assert_eq!(json["rules"].as_array().map(Vec::len), Some(1));
    assert_eq!(json["rules"][0]["message"], "No -r");
    assert_eq!(json["rules"][0]["enabled"], true);
    rules(&user, &["remove", "1"]).exits(0).prints("rule 1 removed: scp -r → -R\n");
    rules(&user, &["add", "command", "grep", "rg"]).exits(0).shows("rule 2 added");
}

#[test]
fn a_test_shows_before_and_after_and_who_decides() {
    let user = User::new();
    let message = "Poll in a loop";
    let script = "while true; do\n  gt mol && break\ndone";
    rules(&user, &["add", "recipe", "gt await", script, "--message", message]).exits(0);
    rules(&user, &["test", "echo start && gt await --timeout 30"]).exits(0).prints(
        "  - echo start && gt await --timeout 30\n\
         \x20 + echo start && while true; do\n\
         \x20 +   gt mol && break\n\
         \x20 + done\n\
         \x20 rule 1: gt await → [recipe] (Poll in a loop)\n\
         \x20 dropped: --timeout 30\n\
         \x20 permission: claude-code decides, as for any other command\n",
    );
    rules(&user, &["test", "gt await"]).shows("permission: allowed, because every word");
    let codex = rules(&user, &["test", "echo a; gt await", "--host", "codex"]).exits(0);
    codex.shows("codex: denied, with the corrected command as the reason");
    std::fs::create_dir_all(user.path("home/config")).expect("a directory");
    let settings = "[corrections]\npermission = 'never'\n";
    std::fs::write(user.path("home/config/settings.toml"), settings).expect("settings");
    rules(&user, &["test", "gt await"]).shows("permission: claude-code decides");
    let settings = "[corrections]\nmode = 'report'\n";
    std::fs::write(user.path("home/config/settings.toml"), settings).expect("settings");
    rules(&user, &["test", "gt await"]).shows("only reported, by your setting corrections.mode");
    let settings = "[corrections]\nmode = 'reprt'\n";
    std::fs::write(user.path("home/config/settings.toml"), settings).expect("settings");
    rules(&user, &["test", "gt await"]).exits(5).reports("did you mean `report`?");
}

#[test]
fn a_rule_is_tried_before_it_is_saved() {
    let user = User::new();
    let add = ["add", "command", "egrep", "grep", "--dry-run", "--test", "egrep x; agrep y"];
    rules(&user, &add).exits(0).prints(
        "this rule can be added: egrep → grep\n\
         \x20 - egrep x; agrep y\n\
         \x20 + grep x; agrep y\n\
         \x20 rule 0: egrep → grep\n",
    );
    assert!(!user.has_journal(), "a dry run saves nothing");
    rules(&user, &["add", "command", "egrep", "grep"]).exits(0);
    rules(&user, &["add", "command", "egrep", "grep -E", "--dry-run"])
        .exits(0)
        .prints("this rule would replace rule 1: egrep → grep -E\n  it was: egrep → grep\n");
    let json = rules(&user, &["add", "tool", "a", "B", "--json", "--test", "a"]).exits(0).json();
    assert_eq!(json["action"], "added");
    assert_eq!(json["test"]["decision"], "denied");
}

#[test]
fn a_script_comes_from_a_file_or_from_stdin() {
    let user = User::new().file("wait.sh", "sleep 1\necho done\n");
    rules(&user, &["add", "recipe", "gt wait", "--file", "wait.sh"]).exits(0);
    let json = rules(&user, &["--json"]).json();
    assert_eq!(json["rules"][0]["to"], "sleep 1\necho done");
    rules(&user, &["add", "recipe", "gt wait", "--file", "gone.sh"]).exits(2).reports("gone.sh");
    rules(&user, &["add", "recipe", "gt wait", "--file", "-"]).exits(2).reports("is empty");
}

#[test]
fn a_wrong_rule_is_refused_with_what_to_do() {
    let user = User::new();
    let refused = |arguments: &[&str], reports: &str| {
        let all: Vec<&str> = ["add"].iter().chain(arguments).copied().collect();
        let printed = rules(&user, &all).exits(2).reports(reports);
        assert_eq!(printed.stdout, "", "{arguments:?}");
    };
    refused(&["command", "grep", "grep"], "already what it would become");
    refused(&["command", "", "grep"], "is empty");
    refused(&["command", "grep $x", "rg"], "must be plain words");
    refused(&["flag", "scp", "-r"], "<NEW>");
    refused(&["flag", "scp", "---", "-R"], "write it as -r or as --recursive");
    refused(&["flag", "scp", "-r", "-R", "--valued", "1"], "must be letters");
    refused(&["regex", "(", "x"], "is no regular expression");
    refused(&["recipe", "gt x", "if true; then"], "if bash accepts it, add --force");
    refused(&["recipe", "gt x", "echo {{.Foo}}"], "add --no-template");
    refused(&["refuse", "git push"], "with --message");
    refused(&["literal", "a", "b"], "--command <COMMAND>");
    refused(&["tool", "a", "b", "--host", "emacs"], "claude-code");
    refused(&["command", "a", "b", "--dir", "gone"], "gone is no directory");
    rules(&user, &["add", "recipe", "gt x", "echo '{{.Foo}}'", "--no-template"]).exits(0);
    rules(&user, &["add", "recipe", "gt y", "if true; then", "--force"]).exits(0);
    let json = rules(&user, &["add", "regex", "(", "x", "--json"]).exits(2).json();
    assert_eq!(json["success"], false);
}

#[test]
fn cycles_and_scripts_that_change_the_shell_are_warned_about() {
    let user = User::new();
    rules(&user, &["add", "command", "grep", "rg"]).exits(0);
    rules(&user, &["add", "command", "rg", "grep"])
        .exits(0)
        .shows("warning: rules [2, 1] lead back");
    let script = "cd /tmp; exit 3";
    rules(&user, &["add", "recipe", "gt x", script])
        .exits(0)
        .shows("warning: the recipe calls `cd`");
}

#[test]
fn a_rule_may_be_for_one_directory() {
    let user = User::new().file("shop/src/a", "").file("farm/a", "");
    rules(&user, &["add", "command", "npm", "pnpm", "--dir", "shop"]).exits(0);
    let changed = |dir| rules(&user, &["test", "npm ci", "--dir", dir, "--json"]).json();
    assert_eq!(changed("shop")["decision"], "rewritten");
    assert_eq!(changed("shop/src")["decision"], "rewritten");
    assert_eq!(changed("farm")["decision"], "unchanged");
    assert_eq!(changed(".")["decision"], "unchanged");
    rules(&user, &[]).exits(0).shows("npm → pnpm").shows("\n  only in shop\n");
    rules(&user, &["add", "command", "npm", "yarn"]).exits(0).shows(
        "rule 1 replaced: npm → yarn\n\
         \x20 it was: npm → pnpm\n\
         \x20 directory was: only in shop; is: everywhere\n",
    );
    let again = rules(&user, &["add", "command", "npm", "yarn"]).exits(0);
    again.shows("rule 1 replaced: npm → yarn\n  nothing has changed\n");
}

#[test]
fn corrections_are_paused_for_a_time_or_until_continued() {
    let user = User::new();
    rules(&user, &["add", "command", "grep", "rg"])
        .exits(0)
        .reports("no agent program applies rules yet; install the hook: towpath init claude-code");
    for arguments in [&["rules"][..], &["doctor"]] {
        let mut wrong = user.command(arguments);
        let wrong = wrong.env("TOWPATH_CORRECTIONS", "of").output().expect("towpath starts");
        Printed::from(wrong).shows("TOWPATH_CORRECTIONS=of means nothing");
    }
    rules(&user, &["pause", "--for", "1x"]).exits(2).reports("write a number and its unit");
    rules(&user, &["pause"]).exits(0).shows("corrections are paused; to continue");
    rules(&user, &[]).shows("corrections are paused; to continue: towpath rules continue\n");
    rules(&user, &["test", "grep x"]).shows("+ rg x").shows("corrections are paused");
    let mut off = user.command(&["rules", "test", "grep x"]);
    let off = off.env("TOWPATH_CORRECTIONS", "off").output().expect("towpath starts");
    Printed::from(off).exits(0).shows("corrections are off here: TOWPATH_CORRECTIONS=off");
    let json = rules(&user, &["pause", "--for", "10m", "--json"]).exits(0).json();
    assert!(json["until"].is_string(), "{json}");
    rules(&user, &["continue"]).exits(0).prints("corrections continue\n");
    assert_eq!(rules(&user, &["--json"]).json()["pause"], json!(null));
    rules(&user, &["pause", "--for", "0s"]).exits(2).reports("write more than no time");
    for long in ["99999999d", "3651d"] {
        rules(&user, &["pause", "--for", long]).exits(2).reports("the longest pause is 3650d");
    }
    assert_eq!(rules(&user, &["--json"]).json()["pause"], json!(null));
    let longest = rules(&user, &["pause", "--for", "3650d"]).exits(0);
    assert!(!longest.stdout.contains("1970"), "{}", longest.stdout);
}

#[test]
fn every_change_removes_the_snapshot_of_the_hooks() {
    let user = User::new();
    rules(&user, &["add", "command", "grep", "rg"]).exits(0);
    let snapshot = user.path("home/state/hooks/rules.snapshot");
    let changes: &[&[&str]] = &[
        &["add", "command", "find", "fd"],
        &["disable", "1"],
        &["enable", "1"],
        &["pause"],
        &["continue"],
        &["remove", "1"],
    ];
    for change in changes {
        std::fs::write(&snapshot, "stale").expect("a snapshot");
        rules(&user, change).exits(0);
        let left = std::fs::read(&snapshot).unwrap_or_default();
        assert_ne!(left, b"stale", "{change:?}");
    }
}

#[test]
fn the_help_of_every_command_has_an_example() {
    let user = User::new();
    let kinds = ["command", "flag", "tool", "refuse", "recipe", "tool-recipe", "literal", "regex"];
    for kind in kinds {
        rules(&user, &["add", kind, "--help"]).exits(0).shows("Example: towpath rules add ");
    }
    for command in
        ["list", "add", "test", "remove", "enable", "disable", "log", "pause", "continue"]
    {
        let help = rules(&user, &[command, "--help"]).exits(0);
        help.shows(&format!("Example: towpath rules {command}"));
    }
}

#[test]
fn control_characters_of_a_message_are_not_printed() {
    let user = User::new();
    let add = ["rules", "add", "command", "grep", "rg", "--message", "why\u{1b}[2J\nnot"];
    user.towpath(&add).exits(0);
    let printed = user.towpath(&["rules", "test", "grep a"]).exits(0);
    assert!(!printed.stdout.contains('\u{1b}'), "{:?}", printed.stdout);
    assert!(printed.stdout.contains("grep → rg (why"), "{:?}", printed.stdout);
}

#[test]
fn a_rule_that_would_break_something_is_warned_about() {
    let user = User::new();
    let add = |arguments: &[&str]| user.towpath(&[&["rules", "add"], arguments].concat());
    add(&["command", "ls", "nosuchprog_b"])
        .exits(0)
        .shows("warning: `nosuchprog_b` is not installed here");
    let both = add(&["command", "grep", "rg", "--json"]).exits(0).json();
    let warnings = both["warnings"].to_string();
    assert!(warnings.contains("in `rg`, -r, -E"), "{warnings}");
    add(&["recipe", "gt push", "git push"]).exits(0).shows("warning: it runs without a question");
    add(&["tool", "a_b", "Read", "--host", "codex"]).exits(2).reports("codex runs no hook");
    add(&["refuse", "git push", "--option", "--force,-f", "--message", "no"]).exits(0);
    user.towpath(&["rules", "test", "git -C sub push -fu"]).exits(0).shows("is refused: no");
    add(&["regex", "localhost:3000", "localhost:4000"]).exits(0);
    user.towpath(&["rules", "test", "curl \"http://localhost:3000/x\""])
        .exits(0)
        .shows("is not applied: what it matches is in quotes");
}

//! The rules of a project: in a file, used once they are trusted, disabled by a user.

use crate::support::User;
use serde_json::{Value, json};

const RULES: &str = "# ours\n[[rule]]\nkind = \"command\"\nfrom = \"npm\"\nto = \"pnpm\"\n\
                     message = \"this repository uses pnpm\"\n";
const FILE: &str = ".towpath/rules.toml";

fn test(user: &User, line: &str) -> Value {
    user.towpath(&["rules", "test", line, "--json"]).exits(0).json()
}

#[test]
fn they_are_used_once_they_are_trusted_and_until_they_change() {
    let user = User::new().file(FILE, RULES);
    assert_eq!(test(&user, "npm ci")["decision"], "unchanged");
    let listed = user.towpath(&["rules"]).exits(0);
    listed
        .shows("not trusted")
        .shows("to see and use its rules: towpath trust .towpath/rules.toml");
    let shown = user.towpath(&["trust", FILE]).exits(5);
    shown
        .shows(".towpath/rules.toml: 1 correction rule\n")
        .shows("  command: npm becomes\n      pnpm\n    message: this repository uses pnpm\n")
        .reports("to trust it: towpath trust --yes .towpath/rules.toml");

    user.towpath(&["trust", "--yes", FILE]).exits(0);
    let corrected = test(&user, "npm ci");
    assert_eq!(
        (&corrected["after"], &corrected["rules"][0]["rule"]),
        (&json!("pnpm ci"), &json!(1))
    );
    user.towpath(&["trust"]).exits(0).prints("everything is trusted\n");
    user.towpath(&["trust", "--list"]).exits(0).shows("1 correction rule");

    user.write(FILE, &RULES.replace("\"pnpm\"", "\"rm -rf\""));
    assert_eq!(test(&user, "npm ci")["decision"], "unchanged");
    user.towpath(&["rules"]).shows("has changed; to see and use its rules");
    user.towpath(&["trust", FILE]).exits(5).shows("changed since it was trusted");
    user.write(FILE, RULES);
    assert_eq!(test(&user, "npm ci")["after"], "pnpm ci");
    user.towpath(&["trust", "--revoke", FILE]).exits(0);
    assert_eq!(test(&user, "npm ci")["decision"], "unchanged");
}

#[test]
fn trust_and_its_end_remove_the_snapshot_of_the_hooks() {
    let user = User::new().file(FILE, RULES);
    user.towpath(&["trust", "--yes"]).exits(0);
    let snapshot = user.path("home/state/hooks/rules.snapshot");
    for change in [&["trust", "--revoke", FILE][..], &["trust", "--yes", FILE]] {
        std::fs::write(&snapshot, "stale").expect("a snapshot");
        user.towpath(change).exits(0);
        assert_ne!(std::fs::read(&snapshot).unwrap_or_default(), b"stale", "{change:?}");
    }
}

#[test]
fn they_win_over_the_users_and_a_user_may_disable_them() {
    let user = User::new().file(FILE, RULES).file("elsewhere/.git/x", "");
    user.towpath(&["rules", "add", "command", "npm", "yarn"]).exits(0);
    user.towpath(&["trust", "--yes", FILE]).exits(0);
    assert_eq!(test(&user, "npm ci")["after"], "pnpm ci");
    user.towpath(&["rules"])
        .shows("1     command  npm → yarn  0     replaced\n")
        .shows(".towpath/rules.toml:\n2     command  npm → pnpm  0     enabled\n");
    user.towpath(&["rules", "disable", "2"]).exits(0).prints("rule 2 disabled\n");
    assert_eq!(test(&user, "npm ci")["after"], "yarn ci");
    user.towpath(&["rules", "enable", "2"]).exits(0);
    assert_eq!(test(&user, "npm ci")["after"], "pnpm ci");
    let other = ["rules", "test", "npm ci", "--dir", "elsewhere", "--json"];
    assert_eq!(user.towpath(&other).json()["after"], "yarn ci");
    user.towpath(&["rules", "remove", "2"]).exits(2).reports(
        "rule 2 is in .towpath/rules.toml: remove it there, or for you alone: \
                  towpath rules disable 2",
    );
}

#[test]
fn a_broken_file_is_reported_and_the_users_rules_work() {
    let user = User::new().file(FILE, "[[rule]]\nkind = \"comand\"\nfrom = \"a\"\nto = \"b\"\n");
    user.towpath(&["rules", "add", "command", "grep", "rg"]).exits(0);
    let printed = user.towpath(&["rules", "test", "grep x"]).exits(0);
    printed.shows("+ rg x").reports("rules.toml:2:8").reports("are not used until it is fixed");
    user.towpath(&["trust", "--yes", FILE]).exits(2).reports("rules.toml:2:8");
    user.towpath(&["trust", "--list"]).prints("nothing is trusted yet\n");
}

#[test]
fn a_rule_is_added_to_the_file_and_trusted_with_it() {
    let user = User::new().file(".git/x", "").file("web/x", "");
    let add = ["rules", "add", "command", "npm", "pnpm", "--project", "--dir", "web"];
    let added = "rule 1 added to .towpath/rules.toml: npm → pnpm\n  only in web\n";
    user.towpath(&add).exits(0).shows(added);
    let text = user.read(FILE);
    assert!(text.contains("directory = \"web\"\n"), "{text}");
    let web = ["rules", "test", "npm ci", "--dir", "web", "--json"];
    assert_eq!(user.towpath(&web).json()["after"], "pnpm ci");
    assert_eq!(test(&user, "npm ci")["decision"], "unchanged");

    let commented = format!("# by hand\n{text}");
    user.write(FILE, &commented);
    let again = ["rules", "add", "command", "npm", "bun", "--project"];
    let printed = user.towpath(&again).exits(0);
    printed
        .shows("rule 1 replaced in .towpath/rules.toml: npm → bun\n")
        .shows(".towpath/rules.toml is not trusted; to see and use its rules");
    let text = user.read(FILE);
    assert!(text.starts_with("# by hand\n") && text.contains("\"bun\""), "{text}");
    assert_eq!(test(&user, "npm ci")["decision"], "unchanged", "a change by hand was not seen");
}

#[test]
fn a_dry_run_writes_no_file_and_no_project_gets_none() {
    let user = User::new();
    let add = ["rules", "add", "command", "npm", "pnpm", "--project"];
    user.towpath(&add).exits(2).reports("to make it one: mkdir .towpath");
    std::fs::create_dir(user.path("work/.towpath")).expect("a directory");
    let dry: Vec<&str> = add.iter().copied().chain(["--dry-run", "--test", "npm ci"]).collect();
    user.towpath(&dry)
        .exits(0)
        .shows("this rule can be added to .towpath/rules.toml")
        .shows("pnpm ci");
    assert!(!user.path("work").join(FILE).exists());
    let outside = user.path("").display().to_string();
    let far: Vec<&str> = add.iter().copied().chain(["--dir", &outside]).collect();
    user.towpath(&far).exits(2).reports("is not in the project");
}

#[test]
fn nothing_is_written_through_a_link() {
    let user = User::new().file("elsewhere.toml", RULES).file(".towpath/x", "");
    let link = user.path("work").join(FILE);
    std::os::unix::fs::symlink("../elsewhere.toml", link).expect("a link");
    let add = ["rules", "add", "command", "a", "b", "--project"];
    user.towpath(&add).exits(2).reports("is a symbolic link");
    assert_eq!(user.read("elsewhere.toml"), RULES);
}

//! The rules of a project count once they are trusted, and only while they are what was trusted.

use super::{GREP, Hooked};
use serde_json::{Value, json};

fn rules(to: &str) -> String {
    format!("[[rule]]\nkind = \"command\"\nfrom = \"grep\"\nto = \"{to}\"\n")
}

fn after(hooked: &Hooked) -> Value {
    let answer = hooked.before("grep a");
    answer.pointer("/hookSpecificOutput/updatedInput/command").cloned().unwrap_or(Value::Null)
}

#[test]
fn a_projects_file_is_never_used_as_it_was_or_before_it_is_trusted() {
    let hooked = Hooked::new(&[GREP]);
    let file = ".towpath/rules.toml";
    hooked.user.write(file, &rules("ugrep"));
    assert_eq!(after(&hooked), json!("rg a"), "not trusted yet");
    hooked.user.towpath(&["trust", "--yes", file]).exits(0);
    assert_eq!(after(&hooked), json!("ugrep a"));
    assert_eq!(after(&hooked), json!("ugrep a"), "from the snapshot");
    // The same size, right after the last change.
    hooked.user.write(file, &rules("agrep"));
    assert_eq!(after(&hooked), json!("rg a"), "changed, so it is not trusted");
    hooked.user.write(file, &rules("ugrep"));
    assert_eq!(after(&hooked), json!("ugrep a"), "it is what was trusted again");
    hooked.user.towpath(&["trust", "--revoke", file]).exits(0);
    assert_eq!(after(&hooked), json!("rg a"));
    hooked.user.towpath(&["trust", "--yes", file]).exits(0);
    assert_eq!(after(&hooked), json!("ugrep a"));
    std::fs::remove_file(hooked.user.path("work").join(file)).expect("removed");
    assert_eq!(after(&hooked), json!("rg a"));
    assert_eq!(hooked.errors(), [""; 0]);
}

#[test]
fn a_payload_without_a_directory_is_of_the_directory_that_the_hook_runs_in() {
    let hooked = Hooked::new(&[]);
    hooked.user.write(".towpath/rules.toml", &rules("ugrep"));
    hooked.user.towpath(&["trust", "--yes", ".towpath/rules.toml"]).exits(0);
    let mut payload = hooked.payload("PreToolUse", "call", "grep a");
    payload.as_object_mut().expect("an object").remove("cwd");
    let answer = hooked.answer("pre", &payload);
    let command = answer.pointer("/hookSpecificOutput/updatedInput/command");
    assert_eq!(command, Some(&json!("ugrep a")), "{answer}");
}

#[test]
fn a_file_that_has_settled_is_read_from_the_snapshot_until_it_changes() {
    let hooked = Hooked::new(&[GREP]);
    let path = hooked.user.path("work/.towpath/rules.toml");
    hooked.user.write(".towpath/rules.toml", &rules("ugrep"));
    hooked.user.towpath(&["trust", "--yes", ".towpath/rules.toml"]).exits(0);
    // The time of a file's last change of any kind cannot be set: wait until it is old enough.
    let began = std::time::Instant::now();
    let snapshot = || std::fs::metadata(hooked.file("rules.snapshot")).and_then(|f| f.modified());
    loop {
        assert_eq!(after(&hooked), json!("ugrep a"));
        let before = snapshot().expect("a snapshot");
        assert_eq!(after(&hooked), json!("ugrep a"));
        if snapshot().expect("a snapshot") == before {
            break;
        }
        assert!(began.elapsed().as_secs() < 60, "it is written again and again");
    }
    std::fs::write(&path, rules("agrep")).expect("written");
    assert_eq!(after(&hooked), json!("rg a"), "changed, so it is not trusted");
}

#[test]
fn with_the_journal_its_rules_and_its_trust_are_gone() {
    let hooked = Hooked::new(&[&["command", "egrep", "rg"]]);
    let path = hooked.user.path("work/.towpath/rules.toml");
    hooked.user.write(".towpath/rules.toml", &rules("ugrep"));
    hooked.user.towpath(&["trust", "--yes", ".towpath/rules.toml"]).exits(0);
    until_settled(&path);
    assert_eq!(after(&hooked), json!("ugrep a"));
    let journal = |name: &str| hooked.user.path("home/state").join(name);
    for name in ["journal.db", "journal.db-wal", "journal.db-shm"] {
        let _ = std::fs::remove_file(journal(name));
    }
    assert!(hooked.file("rules.snapshot").exists());
    // A hook elsewhere makes the snapshot again.
    let mut elsewhere = hooked.payload("PreToolUse", "elsewhere", "egrep a");
    elsewhere["cwd"] = json!("/");
    assert_eq!(hooked.answer("pre", &elsewhere), Value::Null);
    assert_eq!(after(&hooked), Value::Null, "it is not trusted");
    assert_eq!(hooked.before("egrep a"), Value::Null);
    assert_eq!(hooked.errors(), [""; 0]);
}

/// The time of a file's last change of any kind cannot be set: waits until it is old enough for a
/// snapshot.
fn until_settled(path: &std::path::Path) {
    let changed = std::fs::metadata(path).and_then(|file| file.modified()).expect("a file");
    while changed.elapsed().is_ok_and(|age| age.as_millis() < 1_100) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn a_projects_file_that_cannot_be_read_leaves_the_users_rules() {
    let hooked = Hooked::new(&[GREP]);
    std::fs::create_dir_all(hooked.user.path("work/.towpath/rules.toml")).expect("a directory");
    assert_eq!(after(&hooked), json!("rg a"));
    assert!(hooked.errors()[0].contains("rules.toml"), "{:?}", hooked.errors());
}

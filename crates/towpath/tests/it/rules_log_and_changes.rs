//! What hooks did, as a user sees it later: the log of corrections, the hits of rules, and changes of
//! rules that hooks see.

use crate::support::{Printed, User};
use serde_json::json;
use std::io::Write as _;
use std::process::Stdio;

/// A call of a hook of Claude Code.
fn hook(user: &User, event: &str, payload: &serde_json::Value) -> Printed {
    let mut command = user.command(&["hook", event, "--host", "claude-code"]);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("towpath starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(payload.to_string().as_bytes()).expect("a payload");
    drop(stdin);
    Printed::from(child.wait_with_output().expect("it ends")).exits(0)
}

fn call(user: &User, id: &str, line: &str) -> serde_json::Value {
    json!({
        "session_id": "s1",
        "cwd": user.path("work").display().to_string(),
        "tool_name": "Bash",
        "tool_use_id": id,
        "tool_input": { "command": line },
        "tool_response": { "stdout": "" },
    })
}

#[test]
fn a_correction_is_logged_with_what_ran() {
    let user = User::new();
    user.towpath(&["rules", "add", "command", "grep", "rg"]).exits(0);
    user.towpath(&["rules", "add", "refuse", "git push -f", "--message", "no"]).exits(0);
    for (id, line) in [("a", "grep x"), ("b", "grep y\ngrep z"), ("c", "git push -f"), ("d", "ls")]
    {
        hook(&user, "pre", &call(&user, id, line));
    }
    hook(&user, "post", &call(&user, "a", "rg x"));
    hook(&user, "post", &call(&user, "b", "grep y\ngrep z"));

    let log = user.towpath(&["rules", "log"]).exits(0);
    let steady = log.stdout.replace("just now", "now");
    assert_eq!(
        steady,
        "now · claude-code · rule 2 · denied\n\
         \x20 - git push -f\n\
         now · claude-code · rule 1 · rewritten, but the original ran\n\
         \x20 - grep y\n\
         \x20 - grep z\n\
         \x20 + rg y\n\
         \x20 + rg z\n\
         now · claude-code · rule 1 · rewritten, and that ran\n\
         \x20 - grep x\n\
         \x20 + rg x\n"
    );
    let first = user.towpath(&["rules", "log", "-n", "2"]).exits(0);
    first.shows("there are more; to see them: towpath rules log -n 20\n");
    let json = user.towpath(&["rules", "log", "--rule", "1", "-n", "1", "--json"]).exits(0).json();
    assert_eq!(json["more"], true);
    let rows = json["corrections"].as_array().expect("a list");
    assert_eq!((rows.len(), &rows[0]["ran"]), (1, &json!("grep y\ngrep z")));
    assert_eq!(
        user.towpath(&["rules", "log", "--host", "codex", "--json"]).json()["corrections"],
        json!([])
    );

    let rules = user.towpath(&["rules", "--json"]).exits(0).json();
    let hits: Vec<_> =
        rules["rules"].as_array().expect("rules").iter().map(|r| &r["hits"]).collect();
    assert_eq!(hits, [&json!(2), &json!(1)]);
}

#[test]
fn a_change_of_the_rules_is_seen_by_the_next_hook() {
    let rules = "[[rule]]\nkind = 'command'\nfrom = 'npm'\nto = 'pnpm'\n";
    let user = User::new().file(".towpath/rules.toml", rules);
    let corrected = |expected: bool, what: &str| {
        let printed = hook(&user, "pre", &call(&user, what, "npm ci"));
        assert_eq!(printed.stdout.contains("pnpm ci"), expected, "{what}: {}", printed.stdout);
    };
    corrected(false, "not trusted");
    user.towpath(&["trust", "--yes"]).exits(0);
    corrected(true, "trusted");
    corrected(true, "from the snapshot");
    user.towpath(&["rules", "pause"]).exits(0);
    corrected(false, "paused");
    user.towpath(&["rules", "continue"]).exits(0);
    corrected(true, "continued");
    user.towpath(&["rules", "disable", "1"]).exits(0);
    corrected(false, "disabled");
    user.towpath(&["rules", "enable", "1"]).exits(0);
    corrected(true, "enabled");
    user.write(".towpath/rules.toml", &rules.replace("pnpm", "yarn"));
    corrected(false, "changed");
    user.write(".towpath/rules.toml", rules);
    corrected(true, "as it was");
    user.towpath(&["trust", "--revoke", ".towpath/rules.toml"]).exits(0);
    corrected(false, "revoked");
    user.towpath(&["rules", "add", "command", "npm", "pnpm"]).exits(0);
    corrected(true, "added");
    user.towpath(&["rules", "remove", "2"]).exits(0);
    corrected(false, "removed");
}

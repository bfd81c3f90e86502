//! Many tools from one file.

use super::GREET;
use super::release_server::ReleaseServer;
use crate::support::User;

#[test]
fn a_batch_reports_each_tool_and_continues_where_it_was() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    let usage = "#!/bin/sh\necho 'usage: odd FILE' >&2; exit 2\n";
    let lines = [
        format!("greet url:{}", server.tool(&user, "greet", "1.2.0", GREET)),
        format!("odd url:{}  # prints usage", server.tool(&user, "odd", "1.0.0", usage)),
        format!("broken url:{}", server.tool(&user, "broken", "1.0.0", "#!/opt/nowhere/x\n")),
    ];
    user.write("tools.txt", &lines.join("\n"));
    let json = user.towpath(&["tool", "create", "--batch", "tools.txt", "--json"]).exits(1).json();
    assert_eq!((&json["works"], &json["failed"]), (&2.into(), &1.into()), "{json}");
    assert_eq!(json["repaired"]["output_detection"], 1);
    assert_eq!((&json["model_calls"], &json["model_calls_avoided"]), (&0.into(), &1.into()));
    // Those that work are not created again; the one that failed is tried again.
    let before = server.requests().len();
    let printed = user.towpath(&["tool", "create", "--batch", "tools.txt"]).exits(1);
    assert!(printed.stdout.contains("2 of 3 tools work"), "{}", printed.stdout);
    assert_eq!(printed.stdout.matches("earlier").count(), 2, "{}", printed.stdout);
    user.towpath(&["tool", "remove", "odd"]).exits(0);
    let fixed = lines[..2].join("\n");
    user.write("tools.txt", &fixed);
    // One that was removed meanwhile is created again.
    let printed = user.towpath(&["tool", "create", "--batch", "tools.txt"]).exits(0);
    assert_eq!(printed.stdout.matches("earlier").count(), 1, "{}", printed.stdout);
    user.towpath(&["tool", "which", "odd"]).exits(0);
    assert!(server.requests().len() <= before + 3, "{:?}", server.requests());
}

#[test]
fn all_wrong_lines_are_reported_at_once() {
    let user = User::on_disk();
    user.write("tools.txt", "one two three\n../x\ngreet\ngreet carg:x\n");
    user.towpath(&["tool", "create", "--batch", "tools.txt"])
        .exits(2)
        .reports("tools.txt:1")
        .reports("tools.txt:2")
        .reports("tools.txt:4");
}

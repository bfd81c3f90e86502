//! Installs whose record cannot be used: each is named, and the others are left alone.

use super::release_server::ReleaseServer;
use super::{GREET, create, installs, visible};
use crate::support::User;
use std::fs;

#[test]
fn a_damaged_record_is_named_and_stops_no_other_tool() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    for name in ["greet", "other"] {
        let url = server.tool(&user, name, "1.2.0", &GREET.replace("greet", name));
        create(&user, name, &url, &[]).exits(0);
    }
    let path = user.path("home/data/tools/greet/1.2.0/towpath-tool.json");
    let record = fs::read_to_string(&path).expect("a record");
    let wrong = [
        record[..20].to_owned(),
        record.replace("\"version\": \"1.2.0\"", "\"version\": \"9.9.9\""),
        record.replace("\"tool\": \"greet\"", "\"tool\": \"other\""),
        record.replace("\"path\": \"", "\"path\": \"../"),
        record.replace("\"path\": \"", "\"path\": \"/"),
    ];
    for text in wrong {
        assert_ne!(text, record);
        fs::write(&path, &text).expect("it can be written");
        let list = user.towpath(&["tool", "list"]).exits(0).shows("other");
        list.reports("greet 1.2.0: damaged (towpath-tool.json: ")
            .reports("to install it again: towpath tool install greet@1.2.0");
        let printed = user.towpath(&["tool", "verify"]).exits(1).shows("other 1.2.0 works");
        assert!(printed.stdout.contains("✗ greet 1.2.0: damaged"), "{}", printed.stdout);
        user.towpath(&["tool", "run", "greet"]).exits(2).reports("no installed tool");
        user.towpath(&["tool", "run", "other"]).exits(0).prints("hello\n");
    }
    let json = user.towpath(&["tool", "list", "--json"]).exits(0).json();
    assert_eq!(json["tools"].as_array().map(Vec::len), Some(1), "{json}");
    assert_eq!(json["damaged"][0]["tool"], "greet");
    let update = user.towpath(&["tool", "update"]).exits(5);
    update.reports("greet: damaged (").shows("other 1.2.0 is the only version");
    let doctor = user.towpath(&["doctor"]);
    assert!(doctor.stdout.contains("1.2.0 is damaged (towpath-tool.json"), "{}", doctor.stdout);
    user.towpath(&["tool", "install", "greet@1.2.0"]).exits(0).shows("greet 1.2.0 installed");
    user.towpath(&["tool", "verify"]).exits(0);
    fs::write(&path, "{").expect("it can be written");
    user.towpath(&["tool", "remove", "greet"]).exits(0).shows("removed greet 1.2.0");
    assert_eq!(visible(&user), ["other", "other", "other/1.2.0"]);
    assert_eq!(installs(&user, "greet"), 0);
}

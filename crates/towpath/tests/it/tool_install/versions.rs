//! Several versions side by side, newer ones found and installed.

use super::release_server::{ReleaseServer, archive};
use super::{create, visible};
use crate::support::User;
use serde_json::json;
use std::fs;

fn greet(version: &str) -> String {
    format!("#!/bin/sh\necho greet {version}\n")
}

fn used(user: &User) -> String {
    let output = std::process::Command::new(user.path("home/data/bin/greet")).output();
    String::from_utf8_lossy(&output.expect("it starts").stdout).trim().to_owned()
}

#[test]
fn versions_are_side_by_side_and_one_is_used() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    for version in ["1.2.0", "1.3.0"] {
        let url = server.tool(&user, "greet", version, &greet(version));
        create(&user, "greet", &url, &[]).exits(0);
        assert_eq!(used(&user), format!("greet {version}"));
    }
    assert_eq!(visible(&user), ["greet", "greet", "greet/1.2.0", "greet/1.3.0"]);
    user.towpath(&["tool", "remove", "greet"]).exits(2).reports("name one as greet@1.3.0");
    user.towpath(&["tool", "remove", "greet@1.3.0"]).exits(0).shows("1.2.0 is used now");
    assert_eq!(used(&user), "greet 1.2.0");
    user.towpath(&["tool", "remove", "greet", "--all"]).exits(0);
    assert_eq!(visible(&user), Vec::<String>::new());
}

/// A release of GitHub, as far as it is read.
fn release(server: &ReleaseServer, user: &User, version: &str) {
    let name = format!("greet-{version}-x86_64-unknown-linux-musl.tar.gz");
    let name = if cfg!(target_arch = "aarch64") { name.replace("x86_64", "aarch64") } else { name };
    server.put(&name, archive(user, "greet", version, &[("greet", &greet(version))]));
    let release = json!({
        "tag_name": format!("v{version}"),
        "draft": false,
        "prerelease": false,
        "assets": [
            { "name": name, "browser_download_url": server.url(&name), "size": 1000 },
        ],
    });
    for path in
        ["repos/me/greet/releases/latest", &format!("repos/me/greet/releases/tags/v{version}")]
    {
        server.put(path, release.to_string().into_bytes());
    }
}

#[test]
fn newer_releases_are_listed_and_installed() {
    let (user, server) = (User::on_disk(), ReleaseServer::start());
    fs::create_dir_all(user.path("home/config")).expect("a folder");
    let settings = format!("[tools]\ngithub_url = \"{}\"\n", server.url(""));
    fs::write(user.path("home/config/settings.toml"), settings).expect("settings");
    release(&server, &user, "1.2.0");
    user.towpath(&["tool", "create", "greet", "--from", "github:me/greet"]).exits(0);
    assert_eq!(used(&user), "greet 1.2.0");
    user.towpath(&["tool", "outdated"]).exits(0).shows("every tool is the newest version");
    release(&server, &user, "1.3.0");
    let json = user.towpath(&["tool", "outdated", "--json"]).exits(0).json();
    assert_eq!(json["outdated"][0]["newest"], "1.3.0");
    user.towpath(&["tool", "update"]).exits(0).shows("greet 1.3.0 installed");
    assert_eq!(used(&user), "greet 1.3.0");
    user.towpath(&["tool", "update", "greet"]).exits(0).shows("greet 1.3.0 is the newest");
    // The saved recipe has the checksums of the newest one.
    user.towpath(&["tool", "remove", "greet", "--all"]).exits(0);
    user.towpath(&["tool", "install", "greet@1.2.0"]).exits(0).shows("greet 1.2.0 installed");
    assert_eq!(used(&user), "greet 1.2.0");
}
